"""The CTRF report (ctrf.io): one test for each obligation, in the Common Test Report Format.

CTRF has five statuses, so `rawStatus` has the verdict. What is wrong with the run itself, such as a
harness fault, is a failed test in a suite of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TextIO

from assay.report.formats.pipeline import FilePlaces, RunError, expiring_waivers, in_utc, run_errors
from assay.report.journal_exchanges import trial_seconds, trials_of
from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedResult
from assay.report.views import card_lines, reason_of
from assay.report.wording import fault_count, headline, search_summary, waiver_sentence
from assay.rules.verdict import Standing

#: The version of the specification that the file follows.
SPECIFICATION = "1.0.0"
#: The status of a test with each verdict.
STATUSES: Mapping[Standing, str] = {
    Standing.CONFORMS: "passed",
    Standing.VIOLATES: "failed",
    Standing.INDETERMINATE: "other",
    Standing.UNVERIFIED: "skipped",
    Standing.UNSPECIFIED: "skipped",
    Standing.NOT_APPLICABLE: "skipped",
    Standing.WAIVED: "other",
}
#: The size of all cards together, in characters.
BUDGET = 16_000_000
#: The length of a message, in characters.
MESSAGE = 600

Values = dict[str, object]


def render(report: Report, out: TextIO) -> None:
    """Write the report as CTRF."""
    json.dump(_document(report), out, ensure_ascii=False, indent=1)
    out.write("\n")


def _document(report: Report) -> Values:
    header = report.header
    tests = [*_tests(report), *map(_error, run_errors(report))]
    return {
        "reportFormat": "CTRF",
        "specVersion": SPECIFICATION,
        **_timestamp(header.started),
        "generatedBy": f"{header.tool} {header.version}".strip(),
        "results": {
            "tool": {"name": header.tool or "assay", "version": header.version},
            "summary": _summary(report, tests),
            "tests": tests,
            "environment": {
                "appName": header.target.name,
                "testEnvironment": header.target.base_url,
                "healthy": report.complete and not fault_count(report),
                "extra": {
                    "headline": headline(report),
                    "verdicts": report.counts,
                    "seed": header.seed,
                    "contracts": {each.id: each.digest for each in header.contracts},
                    "searches": [*map(search_summary, report.searches)],
                    "waivers": [*map(waiver_sentence, expiring_waivers(report))],
                },
            },
        },
    }


def _timestamp(text: str) -> Values:
    at = in_utc(text)
    return {"timestamp": at.isoformat().replace("+00:00", "Z")} if at else {}


def _milliseconds(text: str) -> int:
    at = in_utc(text)
    return round(at.timestamp() * 1000) if at else 0


def _summary(report: Report, tests: list[Values]) -> Values:
    statuses = Counter(test["status"] for test in tests)
    start = _milliseconds(report.header.started)
    return {
        "tests": len(tests),
        **{name: statuses[name] for name in ("passed", "failed", "skipped", "pending", "other")},
        "suites": len({json.dumps(test["suite"]) for test in tests}),
        "start": start,
        "stop": start + round((report.seconds or 0.0) * 1000),
        "duration": round((report.seconds or 0.0) * 1000),
    }


def _tests(report: Report) -> list[Values]:
    places, seconds, budget = FilePlaces(report), trial_seconds(report), BUDGET
    tests: list[Values] = []
    for result in report.results:
        took = sum(seconds.get(trial, 0.0) for trial in trials_of(result))
        test = _test(result, took, places)
        if result.standing is Standing.VIOLATES:
            trace = "\n".join(card_lines(result))
            budget -= len(trace)
            test["trace"] = trace if budget > 0 else "(left out; the JSON report has it)"
        tests.append(test)
    return tests


def _test(result: ReportedResult, took: float, places: FilePlaces) -> Values:
    planned, place = result.planned, places.of(result.planned)
    conforms = result.standing is Standing.CONFORMS
    return {
        "name": planned.id or "?",
        "status": STATUSES[result.standing],
        "rawStatus": result.standing.value,
        "duration": round(took * 1000),
        "suite": [planned.contract, planned.clause],
        **({} if conforms else {"message": bounded(reason_of(result), MESSAGE)}),
        **({"filePath": place.path, "line": place.line} if place.exists else {}),
        "tags": [*filter(None, (planned.kind, planned.level))],
        "extra": {
            "statement": planned.says,
            "observations": result.observations,
            "calls": result.calls,
            "reproduce": result.reproduce,
        },
    }


def _error(error: RunError) -> Values:
    return {
        "name": error.title,
        "status": "failed",
        "rawStatus": error.kind.value,
        "duration": 0,
        "suite": ["assay.run"],
        "message": bounded(error.what, MESSAGE),
    }
