"""A text that was taken out of a record, with what could be said of it before."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self


class Masked(str):
    """Stands for a private text; `forms` are the formats that the text itself had.

    Equal to another one if the texts were the same. Its own letters mean nothing.
    """

    __slots__ = ("forms",)

    forms: frozenset[str]

    def __new__(cls, text: str, forms: Collection[str] = ()) -> Self:
        """Make one of a pseudonym."""
        made = super().__new__(cls, text)
        made.forms = frozenset(forms)
        return made
