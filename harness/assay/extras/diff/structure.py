"""Comparison of everything in two contracts but the rules: names, hosts, operations, resources, statements.

Entries are matched by their names. One that has another name and is otherwise the same is
renamed. What is nested in an entry that only one version has is part of one change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Json
from assay.extras.diff.effects import CONTRACT, OPERATION, RESOURCE, STATEMENT
from assay.extras.diff.values import Compared, ContractChange, action
from assay.files.document import Pointer
from assay.rules.comparisons import ABSENT, Comparison, Versions, canonical, same, undirected
from assay.rules.consequences import (
    NAMING,
    PROMISE,
    SERVE_LESS,
    SERVE_MORE,
    TEST_ONLY,
    UNDECIDED,
    Consequence,
)

Raw: TypeAlias = Mapping[str, Any]
#: New names by noun and old name.
Renamed: TypeAlias = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionEntry:
    """One named entry of a section, with its place and its content."""

    name: str
    at: Pointer
    raw: Raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The entries of a section in two versions: pairs in the new order, and those of one version."""

    pairs: tuple[tuple[SectionEntry, SectionEntry], ...]
    removed: tuple[SectionEntry, ...]
    added: tuple[SectionEntry, ...]

    @property
    def renamed(self) -> Mapping[str, str]:
        """The new name of each entry that has another one."""
        return {old.name: new.name for old, new in self.pairs if old.name != new.name}


def mapped(data: Raw, section: str) -> list[SectionEntry]:
    """Return the entries of a section that is a mapping."""
    raws = cast("Mapping[str, Raw]", data.get(section) or {})
    return [SectionEntry(name=name, at=(section, name), raw=raw) for name, raw in raws.items()]


def listed(data: Raw, section: str) -> list[SectionEntry]:
    """Return the entries of a section that is a list, which have ids."""
    raws = cast("Sequence[Raw]", data.get(section) or ())
    return [
        SectionEntry(name=str(raw["id"]), at=(section, index), raw=raw)
        for index, raw in enumerate(raws)
    ]


def match(
    old: Sequence[SectionEntry], new: Sequence[SectionEntry], *, ignored: frozenset[str]
) -> Matched:
    """Match entries by name, then those that only one version has by their content.

    The content is compared without the `ignored` keys; among several the first is taken.
    """
    before, after = {each.name: each for each in old}, {each.name: each for each in new}
    gone: dict[str, list[SectionEntry]] = {}
    for entry in old:
        if entry.name not in after:
            gone.setdefault(_content(entry, ignored), []).append(entry)
    pairs: list[tuple[SectionEntry, SectionEntry]] = []
    added: list[SectionEntry] = []
    for entry in new:
        if entry.name in before:
            pairs.append((before[entry.name], entry))
        elif alike := gone.get(_content(entry, ignored)):
            pairs.append((alike.pop(0), entry))
        else:
            added.append(entry)
    kept = {id(pair[0]) for pair in pairs}
    removed = tuple(entry for entry in old if id(entry) not in kept)
    return Matched(pairs=tuple(pairs), removed=removed, added=tuple(added))


def _content(entry: SectionEntry, ignored: frozenset[str]) -> str:
    return canonical({key: value for key, value in entry.raw.items() if key not in ignored})


def differences(
    compared: Compared,
    noun: str,
    entries: tuple[SectionEntry, SectionEntry],
    comparisons: Mapping[str, Comparison],
    versions: Versions,
) -> Iterator[ContractChange]:
    """Yield the changes of each key of an entry that both versions have."""
    old, new = entries
    for key in (*old.raw, *(key for key in new.raw if key not in old.raw)):
        for each in comparisons.get(key, undirected)(key, versions):
            yield compared.change(
                f"{noun}.{key}-{action(each.old, each.new, each.moved_from)}",
                (*_section(new), *each.path),
                (each.old, each.new),
                ((*old.at, *each.old_at), (*new.at, *each.new_at)),
                each.consequence,
                statement=str(new.raw.get("says", "")),
                moved_from=each.moved_from,
            )


def _section(entry: SectionEntry) -> tuple[str, ...]:
    return (str(entry.at[0]), entry.name) if entry.at else ()


def whole(
    compared: Compared, noun: str, entry: SectionEntry, consequence: Consequence, *, added: bool
) -> ContractChange:
    """Return the change of an entry that only one version has."""
    values = (ABSENT, entry.raw) if added else (entry.raw, ABSENT)
    parent = entry.at[:1]
    return compared.change(
        f"{noun}-{'added' if added else 'removed'}",
        _section(entry),
        values,
        (parent, entry.at) if added else (entry.at, parent),
        consequence,
        statement=str(entry.raw.get("says", "")),
    )


def renamings(compared: Compared, noun: str, matched: Matched) -> Iterator[ContractChange]:
    """Yield the entries that have another name."""
    for old, new in matched.pairs:
        if old.name != new.name:
            yield compared.change(
                f"{noun}-renamed",
                _section(new),
                (old.name, new.name),
                (old.at, new.at),
                NAMING,
                statement=str(new.raw.get("says", "")),
            )


# -- the sections ---------------------------------------------------------------------
#: What says of an entry where it stands and how it is worded, but not what it says.
WORDS: Final = frozenset({"id", "says", "source"})


def names_and_hosts(compared: Compared) -> Iterator[ContractChange]:
    """Yield the changes of the keys that stand alone."""
    old, new = (
        {key: value for key, value in document.data.items() if key in CONTRACT}
        for document in (compared.old, compared.new)
    )
    entries = SectionEntry(name="", at=(), raw=old), SectionEntry(name="", at=(), raw=new)
    versions = Versions(old=old, new=new)
    yield from differences(compared, "contract", entries, CONTRACT, versions)


def operations(compared: Compared, matched: Matched, renamed: Renamed) -> Iterator[ContractChange]:
    """Yield the changes of operations."""
    yield from renamings(compared, "operation", matched)
    for entry in matched.removed:
        yield whole(compared, "operation", entry, _offered(entry, SERVE_LESS), added=False)
    yield from _inside(compared, "operation", matched, OPERATION, renamed)
    for entry in matched.added:
        yield whole(compared, "operation", entry, _offered(entry, SERVE_MORE), added=True)


def _offered(entry: SectionEntry, consequence: Consequence) -> Consequence:
    """Return the consequence of an operation that is offered, or not even that."""
    return consequence if entry.raw.get("available", True) else TEST_ONLY


def resources(compared: Compared, matched: Matched, renamed: Renamed) -> Iterator[ContractChange]:
    """Yield the changes of resources; what lists one is a change of its own."""
    yield from renamings(compared, "resource", matched)
    for entry in matched.removed:
        yield whole(compared, "resource", entry, TEST_ONLY, added=False)
    yield from _inside(compared, "resource", matched, RESOURCE, renamed)
    for entry in matched.added:
        yield whole(compared, "resource", entry, TEST_ONLY, added=True)


def _inside(
    compared: Compared,
    noun: str,
    matched: Matched,
    comparisons: Mapping[str, Comparison],
    renamed: Renamed,
) -> Iterator[ContractChange]:
    for old, new in matched.pairs:
        if old.raw is not new.raw:
            versions = Versions(old=old.raw, new=new.raw, purpose=PROMISE, renamed=renamed)
            yield from differences(compared, noun, (old, new), comparisons, versions)


def statements(
    compared: Compared, noun: str, section: str, settled: frozenset[str]
) -> Iterator[ContractChange]:
    """Yield the changes of the statements of a section, but for those that are rules now or were."""
    old, new = (
        [each for each in listed(document.data, section) if each.name not in settled]
        for document in (compared.old, compared.new)
    )
    matched = match(old, new, ignored=frozenset({"id"}))
    yield from renamings(compared, noun, matched)
    for entry in matched.removed:
        yield whole(compared, noun, entry, UNDECIDED, added=False)
    for pair in matched.pairs:
        if not same(pair[0].raw, pair[1].raw):
            versions = Versions(old=_said(pair[0].raw), new=_said(pair[1].raw))
            said = tuple(
                SectionEntry(name=each.name, at=each.at, raw=_said(each.raw)) for each in pair
            )
            yield from differences(compared, noun, (said[0], said[1]), STATEMENT, versions)
    for entry in matched.added:
        yield whole(compared, noun, entry, UNDECIDED, added=True)


def _said(raw: Raw) -> dict[str, Json]:
    return {key: value for key, value in raw.items() if key != "id"}
