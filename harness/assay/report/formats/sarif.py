"""The SARIF 2.1.0 report: violations at the line of their clause, for code scanning.

A rule is a clause. GitHub shows every result as an alert, whatever its `kind`; so only violations
are results, and those that are waived, which are suppressed. Each other verdict, and each error
of the run itself, is a notification. Fingerprints depend on the target and the obligation alone: an
alert stays the same when the contract is edited.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TextIO
from urllib.parse import quote

from assay.report.formats.pipeline import (
    FilePlace,
    FilePlaces,
    expiring_waivers,
    fingerprint,
    in_utc,
    observation,
    run_errors,
)
from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedExchange, ReportedResult
from assay.report.views import reason_of, source_text
from assay.report.wording import fault_count, waiver_sentence
from assay.rules.verdict import Standing

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
#: The results of a run that GitHub accepts are 25,000; it shows the first 5,000.
MOST_RESULTS = 5_000
#: The size of all exchanges together, in characters; GitHub takes 10 MB, compressed.
BUDGET = 16_000_000
#: The length of a message and of a body, in characters.
MESSAGE, BODY = 1_000, 2_000

#: Kind and level of a result, by verdict; a verdict without them is a notification.
RESULTS: Mapping[Standing, tuple[str, str]] = {
    Standing.VIOLATES: ("fail", "error"),
    Standing.WAIVED: ("fail", "note"),
}
#: The level of a violation of what is not a `must`.
NOT_MUST = "warning"
#: The level of a notification, by verdict.
NOTIFICATIONS: Mapping[Standing, str] = {
    Standing.CONFORMS: "none",
    Standing.INDETERMINATE: "warning",
    Standing.UNVERIFIED: "warning",
    Standing.UNSPECIFIED: "note",
    Standing.NOT_APPLICABLE: "none",
}

Values = dict[str, object]


#: What the path of a contract is relative to that the repository does not have, or not here.
ELSEWHERE = "ELSEWHERE"


def render(report: Report, out: TextIO) -> None:
    """Write the report as SARIF."""
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}
    json.dump(document, out, ensure_ascii=False, indent=1)
    out.write("\n")


def _run(report: Report) -> Values:
    header, places = report.header, FilePlaces(report)
    rules = _rules(report)
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    results = report.of(*RESULTS)
    return {
        "tool": {
            "driver": {
                "name": "Assay",
                **({"version": header.version} if header.version else {}),
                "rules": rules,
            }
        },
        "automationDetails": {"id": f"assay/{header.target.name}/"},
        "invocations": [_invocation(report, places, numbers)],
        "originalUriBaseIds": {ELSEWHERE: {"description": {"text": "No file of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [*_results(report, results[:MOST_RESULTS], places, numbers)],
        "properties": {
            "verdicts": report.counts,
            "complete": report.complete,
            "seed": header.seed,
            "target": header.target.name,
            **({"resultsLeftOut": left} if (left := len(results) - MOST_RESULTS) > 0 else {}),
        },
    }


# -- rules -----------------------------------------------------------------------
def _rules(report: Report) -> list[Values]:
    clauses: dict[str, ReportedResult] = {}
    for result in report.results:
        clauses.setdefault(_rule_id(result), result)
    return [_rule(name, result) for name, result in clauses.items()]


def _rule_id(result: ReportedResult) -> str:
    return f"{result.planned.contract}/{result.planned.clause}"


def _rule(name: str, result: ReportedResult) -> Values:
    planned = result.planned
    sources = "\n".join(map(source_text, planned.sources))
    says = planned.says or name
    return {
        "id": name,
        "shortDescription": {"text": bounded(says, MESSAGE)},
        "fullDescription": {"text": bounded(says, MESSAGE)},
        "help": {"text": bounded(f"{says}\n\n{sources}".strip(), MESSAGE)},
        "defaultConfiguration": {"level": "error" if planned.level == "must" else NOT_MUST},
        "properties": {
            "tags": [*filter(None, dict.fromkeys((planned.contract, planned.kind, planned.level)))],
            "precision": "very-high",
            "problem.severity": "error" if planned.level == "must" else "warning",
        },
    }


# -- results ---------------------------------------------------------------------
def _results(
    report: Report,
    results: tuple[ReportedResult, ...],
    places: FilePlaces,
    numbers: Mapping[object, int],
) -> Iterator[Values]:
    budget = BUDGET
    for result in results:
        values = _result(report, result, places.of(result.planned), numbers)
        exchange = _first_exchange(result)
        budget -= len(json.dumps(exchange))
        yield values | exchange if budget > 0 else values


def _result(
    report: Report, result: ReportedResult, place: FilePlace, numbers: Mapping[object, int]
) -> Values:
    planned, rule = result.planned, _rule_id(result)
    kind, level = RESULTS[result.standing]
    waived = result.standing is Standing.WAIVED
    must = waived or planned.level == "must"
    print_ = fingerprint(report, planned.id)
    suppression = {"kind": "external", "status": "accepted", "justification": reason_of(result)}
    return {
        "ruleId": rule,
        "ruleIndex": numbers[rule],
        "kind": kind,
        "level": level if must else NOT_MUST,
        "message": {"text": bounded(f"{planned.says} {_detail(result)}", MESSAGE)},
        "locations": [_location(place)],
        "partialFingerprints": {"assayObligation/v1": print_, "primaryLocationLineHash": print_},
        **({"suppressions": [suppression]} if waived else {}),
        "properties": {
            "verdict": result.standing.value,
            "obligation": planned.id,
            "level": planned.level,
            "reproduce": result.reproduce,
        },
    }


def _detail(result: ReportedResult) -> str:
    if result.standing is Standing.VIOLATES:
        return f"{result.planned.id}: {observation(result)}"
    return f"{result.planned.id} {result.standing.value}: {reason_of(result)}"


def _location(place: FilePlace) -> Values:
    file = {"uri": quote(place.path), **({} if place.exists else {"uriBaseId": ELSEWHERE})}
    return {"physicalLocation": {"artifactLocation": file, "region": {"startLine": place.line}}}


def _first_exchange(result: ReportedResult) -> Values:
    """Return request and response of the exchange that a card shows first."""
    for exchange in result.exchanges:
        return {"webRequest": _request(exchange), "webResponse": _response(exchange)}
    return {}


def _request(exchange: ReportedExchange) -> Values:
    request = exchange.request
    return {
        "method": request.method,
        "target": request.url,
        "headers": dict(request.headers),
        **({"body": {"text": bounded(request.body, BODY)}} if request.body else {}),
    }


def _response(exchange: ReportedExchange) -> Values:
    response = exchange.response
    if not response.status:
        return {"noResponseReceived": True}
    return {
        "statusCode": response.status,
        "headers": dict(response.headers),
        **({"body": {"text": bounded(response.body, BODY)}} if response.body else {}),
    }


# -- the run ---------------------------------------------------------------------
def _invocation(report: Report, places: FilePlaces, numbers: Mapping[object, int]) -> Values:
    header, footer = report.header, report.footer
    return {
        "executionSuccessful": report.complete and not fault_count(report),
        **({"commandLine": header.command} if header.command else {}),
        **_time("startTimeUtc", header.started),
        **({"exitCode": footer.exit, **_time("endTimeUtc", footer.finished)} if footer else {}),
        "toolExecutionNotifications": [
            *(
                {"level": "error", "message": {"text": f"{error.title}: {error.what}"}}
                for error in run_errors(report)
            ),
            *(
                {"level": "warning", "message": {"text": waiver_sentence(waiver)}}
                for waiver in expiring_waivers(report)
            ),
            *(
                _notification(result, places.of(result.planned), numbers)
                for result in report.of(*NOTIFICATIONS)
            ),
        ],
    }


def _time(name: str, text: str) -> Values:
    at = in_utc(text)
    return {name: at.isoformat(timespec="milliseconds").replace("+00:00", "Z")} if at else {}


def _notification(
    result: ReportedResult, place: FilePlace, numbers: Mapping[object, int]
) -> Values:
    conforms = result.standing is Standing.CONFORMS
    reason = "" if conforms else f": {reason_of(result)}"
    rule = _rule_id(result)
    text = bounded(f"{result.planned.id} {result.standing.value}{reason}", MESSAGE)
    return {
        "level": NOTIFICATIONS[result.standing],
        "message": {"text": text},
        "associatedRule": {"id": rule, "index": numbers[rule]},
        **({"locations": [_location(place)]} if place.exists else {}),
        "properties": {"verdict": result.standing.value, "obligation": result.planned.id},
    }
