"""The output formats of a comparison, and those for programs: JSON, GitHub, code quality, SARIF.

`contract/schema/diff.json` is the schema of the JSON output. In the others a change belongs to
the new file: to its line, or to that of the nearest parent of what was removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Final, TextIO, TypeAlias
from urllib.parse import quote

from assay import __version__
from assay.contract.model import Party
from assay.contract_diff.text import (
    PARTIES,
    headline,
    impacts,
    render_markdown,
    render_text,
    title,
)
from assay.contract_diff.values import ContractChange, ContractDiff, ContractVersion
from assay.report.github_annotations import Annotation, command_line
from assay.report.pipeline import FilePlace, repository_root
from assay.report.sanitize import bounded, clean, one_line
from assay.report.sarif import SCHEMA as SARIF_SCHEMA
from assay.report.wording import counted
from assay.rules.comparisons import ABSENT
from assay.rules.consequences import Impact

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
_SARIF: Final = {
    Impact.BREAKING: "error",
    Impact.ADJUST: "warning",
    Impact.REVIEW: "warning",
    Impact.EASIER: "note",
}
_CODE_QUALITY: Final = {
    Impact.BREAKING: "critical",
    Impact.ADJUST: "major",
    Impact.REVIEW: "major",
    Impact.EASIER: "info",
}
#: The greatest length of a description, in characters.
DESCRIPTION: Final = 1_000


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
        **({"moved_from": change.moved_from} if change.moved_from else {}),
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


def render_code_quality(diff: ContractDiff, out: TextIO) -> None:
    """Write a code quality report of GitLab; an issue for each change that concerns a party."""
    issues: list[_Values] = []
    for change in diff.by_severity:
        if change.worst in _CODE_QUALITY:
            place = _place(diff.new.path, change.new_line)
            issues.append(
                {
                    "type": "issue",
                    "description": one_line(bounded(_message(change), DESCRIPTION)),
                    "check_name": change.id,
                    "fingerprint": change.fingerprint,
                    "severity": _CODE_QUALITY[change.worst],
                    "location": {"path": place.path, "lines": {"begin": place.line}},
                }
            )
    _dump(issues, out)


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
    "code-quality": render_code_quality,
    "sarif": render_sarif,
}
