"""Writer of a target file: keys and values with their comments.

A guess has `# guessed: <why>` on its line, and a gap is a comment line of its own,
`# TODO: <what>`. Certain lines have neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.binding.model.features import describe
from assay.contract.model import Json
from assay.files.edits import flow, flow_key
from assay.onboarding.init.openapi_operations import printable

__all__ = ["YamlEntry", "gap", "nested", "render"]

#: What the example of a gap leaves open.
OPEN = "…"
_PATH = re.compile(r"/[A-Za-z0-9/_.{}-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlEntry:
    """A key with its value, or with entries `below` it; or a gap.

    `why` is the reason for a guess. `says` are comment lines above the key; an empty one is
    an empty line.
    """

    key: str
    value: Json = None
    below: tuple[YamlEntry, ...] | None = None
    why: str = ""
    missing: str = ""
    says: tuple[str, ...] = ()


def gap(*key: str, what: str = "", example: str = "") -> YamlEntry:
    """Return the comment for a key that is missing, by default in the words of its schema."""
    what = what or describe(*key).title
    example = example or flow(describe(*key).example)
    return YamlEntry(key=key[-1], missing=f"{what}, for example `{key[-1]}: {example}`")


def render(entries: Sequence[YamlEntry], indent: int = 0) -> Iterator[str]:
    """Yield the lines of a file, without line breaks."""
    space = " " * indent
    for entry in entries:
        for line in entry.says:
            yield f"{space}# {line}" if line else ""
        why = f"  # guessed: {printable(entry.why)}" if entry.why else ""
        if entry.missing:
            yield f"{space}# TODO: {entry.missing}"
        elif entry.below is None:
            value = entry.value
            # Outside brackets, a text with braces needs no quotes.
            plain = isinstance(value, str) and _PATH.fullmatch(value)
            yield f"{space}{flow_key(entry.key)}: {value if plain else flow(value)}{why}"
        elif _holds(entry):
            yield f"{space}{flow_key(entry.key)}:{why}"
            yield from render(entry.below, indent + 2)
        else:
            # A key with only comments below it must be a comment, too.
            yield f"{space}# {flow_key(entry.key)}:"
            yield from render(entry.below, indent + 2)


def nested(placed: Iterable[tuple[tuple[str, ...], YamlEntry]]) -> tuple[YamlEntry, ...]:
    """Return entries below their sections; a section is where its first entry is."""
    sections: dict[str, list[tuple[tuple[str, ...], YamlEntry]]] = {}
    entries: list[YamlEntry] = []
    for section, entry in placed:
        if not section:
            entries.append(entry)
            continue
        if section[0] not in sections:
            sections[section[0]] = []
            entries.append(YamlEntry(key=section[0], below=()))
        sections[section[0]].append((section[1:], entry))
    return tuple(
        replace(entry, below=nested(sections[entry.key])) if entry.below == () else entry
        for entry in entries
    )


def _holds(entry: YamlEntry) -> bool:
    """Whether an entry has anything but comments."""
    return not entry.missing and (entry.below is None or any(_holds(part) for part in entry.below))
