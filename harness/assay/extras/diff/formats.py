"""The output formats of a comparison: text, Markdown, JSON, GitHub annotations, SARIF.

`contract/schema/diff.json` is the schema of the JSON output. In the others a change belongs to
the new file: to its line, or to that of the nearest parent of what was removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias, cast
from urllib.parse import quote

from assay import __version__
from assay.contract.model import Json, Party
from assay.extras.diff import ABSENT, ContractChange, ContractDiff, ContractVersion, Impact
from assay.report.formats.github_annotations import Annotation, command_line
from assay.report.formats.pipeline import FilePlace, repository_root
from assay.report.formats.sarif import SCHEMA as SARIF_SCHEMA
from assay.report.sanitize import clean, code, markdown, one_line
from assay.report.wording import counted

# -- A comparison of two contracts as text for a terminal, and as Markdown -----------------------
# The most severe changes come first. Texts of the contracts are bounded, and whatever a
# terminal or a Markdown reader would act on is escaped.
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


# -- The formats for programs: JSON, GitHub annotations, SARIF ------------------------------------
SCHEMA: Final = "assay-diff/1"
#: GitHub shows no more annotations of a step.
ANNOTATIONS: Final = 10

_Values: TypeAlias = dict[str, object]
Render: TypeAlias = Callable[[ContractDiff, TextIO], None]

#: The words of each format for the worse impact of a change; what concerns no party has none.
_GITHUB: Final = {
    Impact.BREAKING: "error",
    Impact.ADJUST: "warning",
    Impact.REVIEW: "warning",
    Impact.EASIER: "notice",
}
_SARIF: Final = {**_GITHUB, Impact.EASIER: "note"}


def _dump(value: object, out: TextIO) -> None:
    json.dump(value, out, ensure_ascii=False, indent=1, default=_number)
    out.write("\n")


def _number(value: object) -> object:
    if isinstance(value, Decimal):
        number = float(value)
        return number if isfinite(number) else str(value)
    raise TypeError(f"no JSON: {type(value).__name__}")


# -- JSON -----------------------------------------------------------------------------
def render_json(diff: ContractDiff, out: TextIO) -> None:
    """Write a comparison for programs, complete."""
    _dump(as_values(diff), out)


def as_values(diff: ContractDiff) -> _Values:
    """Return a comparison as JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "assay", "version": __version__},
        "old": _version(diff.old),
        "new": _version(diff.new),
        "counts": {
            party.value: {impact.value: number for impact, number in diff.counts(party).items()}
            for party in PARTIES
        },
        "changes": [_change(change) for change in diff.by_severity],
    }


def _version(version: ContractVersion) -> _Values:
    return {
        "file": version.path,
        "contract": version.contract,
        "version": version.version,
        "digest": version.digest,
    }


def _change(change: ContractChange) -> _Values:
    values = {"old": change.old, "new": change.new}
    return {
        "id": change.id,
        "fingerprint": change.fingerprint,
        "path": list(change.path),
        "tpp": change.impact(Party.TPP).value,
        "bank": change.impact(Party.BANK).value,
        "why": change.consequence.why,
        "title": title(change),
        **{key: value for key, value in values.items() if value is not ABSENT},
        **({"statement": change.statement} if change.statement else {}),
        "old_line": change.old_line,
        "new_line": change.new_line,
    }


# -- for build servers ----------------------------------------------------------------
def _place(path: str, line: int) -> FilePlace:
    """Return a place with a path from the root of the repository, if the file is in it."""
    resolved, root = Path(path).resolve(), repository_root(Path.cwd())
    inside = resolved.is_relative_to(root)
    shown = resolved.relative_to(root).as_posix() if inside else clean(path)
    return FilePlace(path=shown, line=max(line, 1), exists=inside)


def _message(change: ContractChange) -> str:
    return f"{title(change)} ({impacts(change)})"


def render_github(diff: ContractDiff, out: TextIO) -> None:
    """Write the ten most severe changes as commands that GitHub shows beside the lines."""
    concerned = [change for change in diff.by_severity if change.worst in _GITHUB]
    for change in concerned[:ANNOTATIONS]:
        place = _place(diff.new.path, change.new_line)
        annotation = Annotation(
            command=_GITHUB[change.worst],
            title=change.id,
            message=_message(change),
            place=place if place.exists else None,
        )
        out.write(command_line(annotation))
    rest = len(concerned) - ANNOTATIONS
    remainder = f", {counted(rest, 'more annotation')}" if rest > 0 else ""
    closing = Annotation(command="notice", title="Assay", message=headline(diff) + remainder)
    out.write(command_line(closing))


def render_sarif(diff: ContractDiff, out: TextIO) -> None:
    """Write a SARIF 2.1.0 log; a result for each change that concerns a party."""
    changes = [change for change in diff.by_severity if change.worst in _SARIF]
    rules = sorted({change.id for change in changes})
    driver = {
        "name": "Assay diff",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": name}} for name in rules],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"assay-diff/{diff.new.contract}/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(change, diff) for change in changes],
    }
    _dump({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, out)


def _result(change: ContractChange, diff: ContractDiff) -> _Values:
    return {
        "ruleId": change.id,
        "level": _SARIF[change.worst],
        "message": {"text": _message(change)},
        "locations": [_location(diff.new.path, change.new_line)],
        "relatedLocations": [{"id": 1, **_location(diff.old.path, change.old_line)}],
        "partialFingerprints": {"assayContractChange/v1": change.fingerprint},
        "properties": {party.value: change.impact(party).value for party in PARTIES},
    }


def _location(path: str, line: int) -> _Values:
    place = _place(path, line)
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(place.path)},
            "region": {"startLine": place.line},
        }
    }


#: The output formats.
FORMATS: Mapping[str, Render] = {
    "text": render_text,
    "json": render_json,
    "markdown": render_markdown,
    "github": render_github,
    "sarif": render_sarif,
}
