"""The GitLab Code Quality report: one issue for each obligation that somebody must look at.

GitLab compares the issues of two branches by their fingerprints, so that a merge request shows
what became worse and what became better. An obligation that conforms, is not specified or does not
apply is no issue.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TextIO

from assay.judging.verdict import Standing
from assay.report.pipeline import FilePlaces, faults_to_show, fingerprint, observation
from assay.report.sanitize import bounded, one_line
from assay.report.values import Report, ReportedResult
from assay.report.views import reason_of

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
#: The severity of a violation of what is not a `must`, and that of a harness fault.
NOT_MUST = "major"
FAULT = "blocker"
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
    for number, fault in enumerate(faults_to_show(report), start=1):
        yield _issue(
            description=f"harness fault: {fault.where}: {fault.what}",
            check="assay/harness",
            print_=fingerprint(report, f"fault {number}: {fault.where}"),
            severity=FAULT,
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
