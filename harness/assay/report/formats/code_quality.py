"""The GitLab Code Quality report: one issue for each obligation that somebody must look at.

GitLab compares the issues of two branches by their fingerprints, so that a merge request shows
what became worse and what became better. An obligation that conforms, is not specified or does not
apply is no issue.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TextIO

from assay.report.formats.pipeline import (
    FilePlaces,
    expiring_waivers,
    fingerprint,
    observation,
    run_errors,
)
from assay.report.sanitize import bounded, one_line
from assay.report.values import Report, ReportedResult
from assay.report.views import reason_of
from assay.report.waivers import waiver_sentence
from assay.rules.verdict import Standing

#: The severity of an issue by verdict; a verdict without one makes no issue.
SEVERITIES: Mapping[Standing, str] = {
    Standing.CONFORMS: "",
    Standing.VIOLATES: "critical",
    Standing.INDETERMINATE: "minor",
    Standing.UNVERIFIED: "info",
    Standing.UNSPECIFIED: "",
    Standing.NOT_APPLICABLE: "",
    Standing.WAIVED: "info",
}
#: The severities of a violation of what is not a `must`, of an error of the run itself, such as a
#: harness fault, and of a waiver that expires soon.
NOT_MUST = "major"
RUN_ERROR = "blocker"
EXPIRING = "minor"
#: The length of a description, in characters.
DESCRIPTION = 500

Values = dict[str, object]


def render(report: Report, out: TextIO) -> None:
    """Write the report as GitLab Code Quality JSON."""
    json.dump([*_issues(report)], out, ensure_ascii=False, indent=1)
    out.write("\n")


def _issues(report: Report) -> Iterator[Values]:
    places = FilePlaces(report)
    for result in report.results:
        if severity := _severity(result):
            planned = result.planned
            place = places.of(planned)
            yield _issue(
                description=f"{planned.id} {result.standing.value}: {_description(result)}",
                check=f"{planned.contract}/{planned.clause}",
                print_=fingerprint(report, planned.id),
                severity=severity,
                path=place.path,
                line=place.line,
            )
    for number, error in enumerate(run_errors(report), start=1):
        name = f"{number} {error.title}"
        yield _run_issue(report, name, f"{error.title}: {error.what}", RUN_ERROR)
    for waiver in expiring_waivers(report):
        yield _run_issue(report, f"expires {waiver.name}", waiver_sentence(waiver), EXPIRING)


def _run_issue(report: Report, name: str, description: str, severity: str) -> Values:
    """Return an issue of the run itself, which has no place in a file."""
    return _issue(
        description=description,
        check="assay/run",
        print_=fingerprint(report, name),
        severity=severity,
        path="assay",
        line=1,
    )


def _severity(result: ReportedResult) -> str:
    if result.standing is Standing.VIOLATES and result.planned.level != "must":
        return NOT_MUST
    return SEVERITIES[result.standing]


def _description(result: ReportedResult) -> str:
    if result.standing is Standing.VIOLATES:
        return f"{result.planned.says} {observation(result)}"
    return reason_of(result)


def _issue(
    *, description: str, check: str, print_: str, severity: str, path: str, line: int
) -> Values:
    return {
        "type": "issue",
        "description": one_line(bounded(description, DESCRIPTION)),
        "check_name": check,
        "fingerprint": print_,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }
