"""What becomes of an accepted answer: a body of the dialect, and perhaps more headers.

The bank's JSON is taken member by member. What is missing stays missing, and what the
dialect has no word for is passed on as it is: a bank that shows too little or too much
must not look right only because it was translated.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

from assay.sandbox.dialects.stet.trees import Content

__all__ = ["Show", "Shown", "others", "renamed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An answer of the dialect; without a body it is 204."""

    body: Content | None
    headers: tuple[tuple[str, str], ...] = ()


#: Turns the bank's accepted answer into one of the dialect.
Show: TypeAlias = Callable[[Content], Shown]


def others(content: Content, known: Collection[str]) -> Content:
    """Take the members that the dialect has no word for."""
    return {name: value for name, value in content.items() if name not in known}


def renamed(content: Content, **names: str) -> Content:
    """Take some members under other names; those that are missing stay missing."""
    return {to: content[name] for to, name in names.items() if name in content}
