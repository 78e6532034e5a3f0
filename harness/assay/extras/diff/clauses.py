"""Comparison of the rules of two contracts, with what their kinds say of each parameter.

Rules are matched by id. One that has another id and the same kind, level and parameters is
renamed. An open point that became a rule with its id is settled, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assay.contract.model import Level
from assay.extras.diff.effects import STATEMENT
from assay.extras.diff.structure import (
    WORDS,
    Matched,
    Raw,
    Renamed,
    SectionEntry,
    differences,
    renamings,
    whole,
)
from assay.extras.diff.values import SEVERITY, Compared, ContractChange
from assay.rules.comparisons import Comparison, Versions, same, undirected
from assay.rules.consequences import UNSTATED, Consequence, Impact, Purpose
from assay.rules.kinds import find_kind

#: The level of a rule that names none.
_DEFAULT = Level.MUST.value


def purpose_of(raw: Raw) -> Purpose:
    """Return what a rule is for; a rule that need not hold still does the same if it does."""
    kind = find_kind(str(raw["kind"]))
    return kind.purpose if kind is not None else UNSTATED


def rules(
    compared: Compared,
    matched: Matched,
    renamed: Renamed,
    points: tuple[frozenset[str], frozenset[str]],
) -> Iterator[ContractChange]:
    """Yield the changes of rules; `points` are the open points of the old and the new version."""
    yield from renamings(compared, "rule", matched)
    for entry in matched.removed:
        noun = "rule-opened" if entry.name in points[1] else "rule"
        consequence = purpose_of(entry.raw).removed
        yield whole(compared, noun, entry, consequence, added=False)
    for old, new in matched.pairs:
        if old.raw is not new.raw and not same(old.raw, new.raw):
            yield from _pair(compared, old, new, renamed)
    for entry in matched.added:
        noun = "rule-settled" if entry.name in points[0] else "rule"
        yield whole(compared, noun, entry, purpose_of(entry.raw).added, added=True)


def _pair(
    compared: Compared, old: SectionEntry, new: SectionEntry, renamed: Renamed
) -> Iterator[ContractChange]:
    """Yield the changes of a rule that both versions have."""
    before, after = (_entry(each, STATEMENT) for each in (old, new))
    versions = Versions(old=before.raw, new=after.raw)
    yield from differences(compared, "rule", (before, after), STATEMENT, versions)
    if not same(old.raw["kind"], new.raw["kind"]):
        gone, come = purpose_of(old.raw).removed, purpose_of(new.raw).added
        yield _at_key(compared, old, new, "kind", both(gone, come))
        return
    if old.raw.get("level", _DEFAULT) != new.raw.get("level", _DEFAULT):
        purpose = purpose_of(new.raw)
        must = new.raw.get("level", _DEFAULT) == _DEFAULT
        yield _at_key(compared, old, new, "level", purpose.added if must else purpose.removed)
    kind = find_kind(str(new.raw["kind"]))
    purpose = kind.purpose if kind is not None else UNSTATED
    comparisons = _comparisons(kind)
    if kind is not None:
        ways = (*kind.exactly_one_of, *kind.at_most_one_of)
        swapped = [key for key in ways if (key in old.raw) != (key in new.raw)]
        comparisons = {**comparisons, **dict.fromkeys(swapped, undirected)}
    before, after = (_parameters(each) for each in (old, new))
    versions = Versions(old=before.raw, new=after.raw, purpose=purpose, renamed=renamed)
    noun, statement = str(new.raw["kind"]), str(new.raw["says"])
    for each in differences(compared, noun, (before, after), comparisons, versions):
        yield replace(each, statement=statement)


def both(first: Consequence, second: Consequence) -> Consequence:
    """Return the worse of two consequences for each party."""

    def worst(*impacts: Impact) -> Impact:
        return min(impacts, key=SEVERITY.index)

    return Consequence(
        tpp=worst(first.tpp, second.tpp),
        bank=worst(first.bank, second.bank),
        why=f"{first.why}; {second.why}",
    )


def _at_key(
    compared: Compared, old: SectionEntry, new: SectionEntry, key: str, consequence: Consequence
) -> ContractChange:
    default = _DEFAULT if key == "level" else ""
    return compared.change(
        f"rule.{key}-changed",
        ("rules", new.name, key),
        (old.raw.get(key, default), new.raw.get(key, default)),
        ((*old.at, key), (*new.at, key)),
        consequence,
        statement=str(new.raw.get("says", "")),
    )


def _comparisons(kind: Any) -> Mapping[str, Comparison]:
    """Return the comparison of each parameter of a kind by its key."""
    if kind is None:
        return {}
    return {each.key: each.compare or undirected for each in kind.declared().values() if each.key}


def _entry(entry: SectionEntry, keys: Mapping[str, object]) -> SectionEntry:
    raw = {key: value for key, value in entry.raw.items() if key in keys}
    return SectionEntry(name=entry.name, at=entry.at, raw=raw)


def _parameters(entry: SectionEntry) -> SectionEntry:
    raw = {
        key: value
        for key, value in entry.raw.items()
        if key not in WORDS and key not in {"kind", "level"}
    }
    return SectionEntry(name=entry.name, at=entry.at, raw=raw)
