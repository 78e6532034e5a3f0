"""A comparison of two contracts as text for a terminal, and as Markdown.

The most severe changes come first. Texts of the contracts are bounded, and whatever a
terminal or a Markdown reader would act on is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final, TextIO, cast

from assay.contract.model import Json, Party
from assay.contract_diff.values import ContractChange, ContractDiff
from assay.report.sanitize import clean, code, markdown, one_line
from assay.report.wording import counted
from assay.rules.comparisons import ABSENT
from assay.rules.consequences import Impact

#: How the parties are written.
PARTIES: Final[Mapping[Party, str]] = {Party.TPP: "TPP", Party.BANK: "bank"}
#: What each impact means.
MEANINGS: Final[Mapping[Impact, str]] = {
    Impact.BREAKING: "it must do more or can do less; it may fail unless it changes",
    Impact.ADJUST: "it must refuse or withhold more; a small change, but a required one",
    Impact.REVIEW: "depends on the case; needs a decision",
    Impact.EASIER: "it can do more or must do less; no change is required",
    Impact.NONE: "not affected",
}
#: The greatest length of a value and of a sentence, in characters.
VALUE: Final = 160
STATEMENT: Final = 400
#: The greatest size of the Markdown page, in bytes; GitHub drops a step summary over 1 MiB.
PAGE: Final = 900_000


def shown(value: Json) -> str:
    """Return a value of a contract as one short line."""
    if value is ABSENT:
        return "none"
    if isinstance(value, str) and value:
        return one_line(clean(value, VALUE))
    return one_line(clean(json.dumps(value, ensure_ascii=False, default=str), VALUE))


def event(change: ContractChange) -> str:
    """Return what changed, without the path: `4 → 3`, `added date`."""
    for value, word in ((change.new, "added"), (change.old, "removed")):
        other = change.old if value is change.new else change.new
        if other is ABSENT:
            return f"{word} {_entry(value)}"
    if change.id.endswith("-renamed"):
        return f"renamed from {shown(change.old)}"
    if change.moved_from:
        return f"{shown(change.new)} moved from {shown(change.moved_from)}"
    return f"{shown(change.old)} → {shown(change.new)}"


def _entry(value: Json) -> str:
    """Return what identifies an entry that was added or removed."""
    if not isinstance(value, Mapping):
        return shown(value)
    raw = cast("Mapping[str, Any]", value)
    if "method" in raw and "path" in raw:
        return f"{shown(raw['method'])} {shown(raw['path'])}"
    if "kind" in raw:
        return f"({shown(raw['kind'])})"
    return f"({shown(raw['says'])})" if "says" in raw else shown(value)


def title(change: ContractChange) -> str:
    """Return the path and what changed, as one line."""
    return f"{shown(change.name)}: {event(change)}"


def impacts(change: ContractChange) -> str:
    """Return what the change means for each party, and why."""
    parties = ", ".join(f"{PARTIES[party]} {change.impact(party).value}" for party in PARTIES)
    return f"{parties}: {change.consequence.why}"


def places(change: ContractChange, diff: ContractDiff) -> str:
    """Return the places of a change in both files."""
    return f"{diff.old.path}:{change.old_line}, {diff.new.path}:{change.new_line}"


def headline(diff: ContractDiff) -> str:
    """Return what is compared, and how many changes there are."""
    old, new = (
        f"{shown(version.contract)} {shown(version.version)}" for version in (diff.old, diff.new)
    )
    number = counted(len(diff.changes), "change") if diff.changes else "no changes"
    return f"{old} → {new}: {number}"


def summary(diff: ContractDiff, party: Party) -> str:
    """Return how many changes have each impact on a party."""
    counts = diff.counts(party).items()
    return ", ".join(f"{number:,} {impact.value}" for impact, number in counts if number)


def render_text(diff: ContractDiff, out: TextIO) -> None:
    """Write a comparison for a terminal."""
    out.writelines(line + "\n" for line in _text(diff))


def _text(diff: ContractDiff) -> Iterator[str]:
    yield headline(diff)
    if not diff.changes:
        return
    for party, name in PARTIES.items():
        yield f"  {name:<5}{summary(diff, party)}"
    for worst, group in groupby(diff.by_severity, key=lambda change: change.worst):
        changes = list(group)
        yield f"\n{worst.value.capitalize()} ({len(changes):,})"
        for change in changes:
            yield f"  {title(change)}"
            yield f"      {impacts(change)}"
            if change.statement:
                yield f"      {one_line(clean(change.statement, STATEMENT))}"
            yield f"      {clean(places(change, diff))}  [{change.id}]"


def render_markdown(diff: ContractDiff, out: TextIO) -> None:
    """Write a comparison as Markdown of less than 1 MiB."""
    out.writelines(line + "\n" for line in _markdown(diff))


def _markdown(diff: ContractDiff) -> Iterator[str]:
    yield f"# {markdown(headline(diff))}\n"
    yield f"{code(clean(diff.old.path))} → {code(clean(diff.new.path))}\n"
    if not diff.changes:
        return
    yield "| | TPP | Bank | Meaning |\n| --- | ---: | ---: | --- |"
    tpp, bank = (diff.counts(party) for party in PARTIES)
    for impact, meaning in MEANINGS.items():
        yield f"| {impact.value} | {tpp[impact]:,} | {bank[impact]:,} | {meaning} |"
    yield "\n| Change | TPP | Bank | Why | Lines |\n| --- | --- | --- | --- | --- |"
    left, omitted = PAGE, 0
    for change in diff.by_severity:
        row = _row(change)
        left -= len(row.encode()) + 1
        if left < 0:
            omitted += 1
        else:
            yield row
    if omitted:
        yield f"\n*{omitted:,} more changes are left out; the JSON output has all of them.*"


def _row(change: ContractChange) -> str:
    statement = f" <br>{markdown(clean(change.statement, STATEMENT))}" if change.statement else ""
    return (
        f"| {code(shown(change.name))} {markdown(event(change))}{statement} "
        f"| {_strong(change.impact(Party.TPP))} | {_strong(change.impact(Party.BANK))} "
        f"| {markdown(change.consequence.why)} | {change.old_line} → {change.new_line} |"
    )


def _strong(impact: Impact) -> str:
    return f"**{impact.value}**" if impact is Impact.BREAKING else impact.value
