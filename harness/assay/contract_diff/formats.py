"""The output formats of a comparison, and those for programs: JSON, GitHub, GitLab and SARIF.

`contract/schema/diff.json` is the schema of the JSON output. In the others a change is an
annotation of the new file: at its line, or at that of the nearest parent of what was removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final, TextIO, TypeAlias
from urllib.parse import quote

from assay import __version__
from assay.contract.model import Party
from assay.contract_diff.text import (
    PARTIES,
    headline,
    impacts,
    places,
    render_markdown,
    render_text,
    title,
)
from assay.contract_diff.values import ContractChange, ContractDiff, ContractVersion
from assay.report.sanitize import clean
from assay.rules.comparisons import ABSENT
from assay.rules.consequences import Impact

SCHEMA: Final = "assay-diff/1"
#: GitHub shows no more annotations of a step.
ANNOTATIONS: Final = 10

_Values: TypeAlias = dict[str, object]
Render: TypeAlias = Callable[[ContractDiff, TextIO], None]

#: The words of GitHub, SARIF and GitLab for the worse impact of a change.
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
    Impact.NONE: "none",
}
_GITLAB: Final = {
    Impact.BREAKING: "critical",
    Impact.ADJUST: "major",
    Impact.REVIEW: "major",
    Impact.EASIER: "minor",
    Impact.NONE: "info",
}


def _dump(value: object, out: TextIO) -> None:
    json.dump(value, out, ensure_ascii=False, indent=1, default=_number)
    out.write("\n")


def _number(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
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


# -- annotations ----------------------------------------------------------------------
def render_github(diff: ContractDiff, out: TextIO) -> None:
    """Write the ten most severe changes as commands that GitHub shows beside the lines."""
    concerned = [change for change in diff.by_severity if change.worst in _GITHUB]
    for change in concerned[:ANNOTATIONS]:
        properties = (
            f"file={_property(diff.new.path)},line={change.new_line},title={_property(change.id)}"
        )
        message = _data(f"{title(change)} ({impacts(change)})")
        out.write(f"::{_GITHUB[change.worst]} {properties}::{message}\n")
    rest = len(concerned) - ANNOTATIONS
    more = f" ({rest:,} more than are annotated)" if rest > 0 else ""
    out.write(f"{headline(diff)}{more}\n")


def _data(text: str) -> str:
    return clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def render_gitlab(diff: ContractDiff, out: TextIO) -> None:
    """Write a code quality report of GitLab."""
    _dump(
        [
            {
                "description": f"{title(change)} ({impacts(change)})",
                "check_name": change.id,
                "fingerprint": change.fingerprint,
                "severity": _GITLAB[change.worst],
                "location": {"path": diff.new.path, "lines": {"begin": max(1, change.new_line)}},
            }
            for change in diff.by_severity
        ],
        out,
    )


def render_sarif(diff: ContractDiff, out: TextIO) -> None:
    """Write a SARIF 2.1.0 log."""
    rules = sorted({change.id for change in diff.changes})
    driver = {
        "name": "assay diff",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": name}} for name in rules],
    }
    results = [_result(change, diff) for change in diff.by_severity]
    _dump(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "results": results}],
        },
        out,
    )


def _result(change: ContractChange, diff: ContractDiff) -> _Values:
    return {
        "ruleId": change.id,
        "level": _SARIF[change.worst],
        "message": {"text": f"{title(change)} ({impacts(change)}; {places(change, diff)})"},
        "locations": [_location(diff.new.path, change.new_line)],
        "relatedLocations": [_location(diff.old.path, change.old_line)],
        "partialFingerprints": {"assayContractChange/v1": change.fingerprint},
        "properties": {party.value: change.impact(party).value for party in PARTIES},
    }


def _location(path: str, line: int) -> _Values:
    uri = Path(path).as_uri() if Path(path).is_absolute() else quote(path)
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": max(1, line)},
        }
    }


#: The output formats.
FORMATS: Mapping[str, Render] = {
    "text": render_text,
    "json": render_json,
    "markdown": render_markdown,
    "github": render_github,
    "gitlab": render_gitlab,
    "sarif": render_sarif,
}
