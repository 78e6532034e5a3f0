"""The JSON report, `assay-report/1`: for programs, and the whole of it.

Its schema is published as `contract/schema/report.json` and refuses unknown
properties, so whatever is added here is added there. Bodies and evidence are
bounded as everywhere; nothing else is left out.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TextIO

from assay.judging.verdict import Evidence
from assay.report.values import Headers, PlannedObligation, Report, ReportedExchange, ReportedResult
from assay.report.wording import caveats, fault_count, headline

SCHEMA = "assay-report/1"

Values = dict[str, object]


def render(report: Report, out: TextIO) -> None:
    """Write the report as JSON, indented, in a fixed order."""
    json.dump(as_values(report), out, ensure_ascii=False, indent=1)
    out.write("\n")


def as_values(report: Report) -> Values:
    """Return the report as JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"name": report.header.tool, "version": report.header.version},
        "headline": headline(report),
        "caveats": list(caveats(report)),
        "run": _run(report),
        "contracts": [asdict(one) for one in report.header.contracts],
        "target": asdict(report.header.target),
        "planned": len(report.results),
        "counts": report.counts,
        "obligations": [_obligation(one) for one in report.results],
        "exchanges": _exchanges(report),
        "faults": [asdict(one) for one in report.faults],
        **({"searches": [asdict(one) for one in report.searches]} if report.searches else {}),
    }


def _run(report: Report) -> Values:
    footer = report.footer
    return {
        "complete": report.complete,
        "aborted": footer.aborted if footer else "",
        "started": report.header.started,
        "finished": footer.finished if footer else None,
        "seconds": report.seconds,
        "seed": report.header.seed,
        "selection": dict(report.header.selection),
        "command": report.header.command,
        "exchanges": footer.exchanges if footer else None,
        "faults": fault_count(report),
        "exit": footer.exit if footer else None,
        "journal": footer.digest if footer else None,
    }


def _obligation(result: ReportedResult) -> Values:
    planned = result.planned
    return {
        "id": planned.id,
        "contract": planned.contract,
        "clause": planned.clause,
        "facet": planned.facet,
        "kind": planned.kind,
        "level": planned.level,
        "says": planned.says,
        "asks": planned.asks,
        "sources": [
            {"section": one.section, "line": one.line, "text": one.text} for one in planned.sources
        ],
        "line": planned.line,
        "plan": _plan(planned),
        "verdict": result.standing.value,
        "reason": result.reason,
        "observations": result.observations,
        "evidence": [_evidence(one) for one in result.evidence],
        "calls": result.calls,
        "reproduce": result.reproduce,
        **({"trial": result.trial} if result.trial else {}),
    }


def _plan(planned: PlannedObligation) -> Values:
    return {
        "fate": planned.fate,
        "why": planned.why,
        "needs": list(planned.needs),
        "calls": planned.calls,
        "trial": planned.trial,
    }


def _evidence(one: Evidence) -> Values:
    return {
        "agreement": one.agreement.value,
        "expected": one.expected,
        "seen": one.seen,
        "variation": one.variation,
        "exchanges": list(one.exchanges),
    }


def _exchanges(report: Report) -> list[Values]:
    """Return the cited exchanges, each once, in the order of their findings."""
    found = {(one.trial, one.n): one for result in report.results for one in result.exchanges}
    return [_exchange(one) for one in found.values()]


def _exchange(one: ReportedExchange) -> Values:
    return {
        "trial": one.trial,
        "n": one.n,
        "at": one.at,
        "operation": one.operation,
        "subject": one.subject,
        "present": one.present,
        "variation": one.variation,
        "request": {
            "method": one.request.method,
            "url": one.request.url,
            "headers": _headers(one.request.headers),
            "body": one.request.body,
        },
        "response": {
            "status": one.response.status,
            "headers": _headers(one.response.headers),
            "body": one.response.body,
            "truncated": one.response.truncated,
        },
        "outcome": {"kind": one.outcome, "why": one.why},
        "ms": one.ms,
    }


def _headers(headers: Headers) -> list[list[str]]:
    return [[name, value] for name, value in headers]
