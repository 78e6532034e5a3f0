"""The JSON report, `assay-report/1`: the complete report, for programs.

Its schema, `contract/schema/report.json`, refuses unknown properties, so both change
together. Bodies and evidence are bounded as in every format; nothing else is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from assay.judging.waivers import as_record
from assay.report.timeline import TimelineEntry
from assay.report.values import (
    DecidedPoint,
    Report,
    ReportedExchange,
    ReportedResult,
    ReportedSearch,
)
from assay.report.wording import caveats, fault_count, headline
from assay.rules.verdict import Evidence

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
        "contracts": [*map(asdict, report.header.contracts)],
        "target": asdict(report.header.target),
        "planned": len(report.results),
        "counts": report.counts,
        "obligations": [*map(_obligation, report.results)],
        "exchanges": _exchanges(report),
        "timelines": _timelines(report),
        "faults": [{"location": fault.where, "message": fault.what} for fault in report.faults],
        **({"waivers": [*map(as_record, report.waivers)]} if report.waivers else {}),
        **({"unfinished": [*map(asdict, report.unfinished)]} if report.unfinished else {}),
        **({"searches": [*map(_search, report.searches)]} if report.searches else {}),
        **({"decided": [*map(_decided, report.decided)]} if report.decided else {}),
    }


def _decided(point: DecidedPoint) -> Values:
    return {
        "statement": point.statement,
        "answer": point.decision.says,
        "source": point.decision.source,
        "points": [each.planned.id for each in point.points],
        "obligations": [each.planned.id for each in point.results],
        "kept": point.kept,
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
        "party": report.header.party,
        "exchanges": footer.exchanges if footer else None,
        "faults": fault_count(report),
        "exit_code": footer.exit if footer else None,
        "exit_reasons": list(footer.reasons) if footer else [],
        "journal_digest": footer.digest if footer else None,
    }


def _obligation(result: ReportedResult) -> Values:
    planned = result.planned
    return {
        **_renamed(planned, _PLANNED),
        "plan": {
            "disposition": planned.disposition,
            "reason": planned.reason,
            "needs": list(planned.needs),
            "calls": planned.calls,
            "trial": planned.trial,
            **({"parameters": planned.parameters} if planned.parameters else {}),
        },
        "verdict": result.standing.value,
        "reason": result.reason,
        "observations": result.observations,
        "evidence": [*map(_evidence, result.evidence)],
        "calls": result.calls,
        "reproduce": result.reproduce,
        **({"resend": result.resend} if result.resend else {}),
        **({"trial": result.trial} if result.trial else {}),
        **({"decided": planned.decision.point} if planned.decision else {}),
    }


def _evidence(evidence: Evidence) -> Values:
    return {
        "agreement": evidence.agreement.value,
        "expected": evidence.expected,
        "seen": evidence.seen,
        "variation": evidence.variation,
        "exchanges": list(evidence.exchanges),
        "decisive": next(iter(evidence.in_reading_order), None),
        "controls": list(evidence.controls),
        **{name: at for name in ("pointer", "header") if (at := getattr(evidence, name))},
    }


def _exchanges(report: Report) -> list[Values]:
    """Return the cited exchanges, each once, in the order of their findings."""
    groups = (
        *(result.exchanges for result in report.results),
        *(answer.exchanges for answer in report.documented),
    )
    cited = {(exchange.trial, exchange.n): exchange for group in groups for exchange in group}
    return [*map(_exchange, cited.values())]


def _timelines(report: Report) -> Values:
    """Return the timeline of each trial that a verdict cites, by the name of the trial."""
    timelines = {result.shown_by: result.timeline for result in report.results}
    return {trial: [*map(_entry, timeline)] for trial, timeline in timelines.items() if timeline}


def _entry(entry: TimelineEntry) -> Values:
    """Return an entry of a timeline; what is empty is left out."""
    values = {**_renamed(entry, _ENTRY), "event": entry.kind.value}
    return {name: value for name, value in values.items() if value}


def _exchange(exchange: ReportedExchange) -> Values:
    outcome = {"kind": exchange.outcome, "reason": exchange.why}
    return {**_renamed(exchange, _EXCHANGE), "outcome": outcome}


def _search(search: ReportedSearch) -> Values:
    return {
        **_renamed(search, _SEARCH),
        "documented": [_renamed(answer, _ANSWER) for answer in search.documented],
        "reached": {
            "asked": search.asked,
            "pairs": search.pairs,
            "possible_pairs": search.possible,
            "states": search.states,
            "quiet": search.quiet,
        },
    }


#: The names in the report of the fields that have other ones there; "" of one that is left out.
_PLANNED = {
    "says": "statement",
    "asks": "description",
    **dict.fromkeys(
        ("needs", "parameters", "calls", "trial", "disposition", "reason", "decision"), ""
    ),
}
_ENTRY = {"kind": "event", "at": "time", "why": "reason"}
_EXCHANGE = {
    "n": "number",
    "at": "time",
    "subject": "customer",
    "present": "customer_present",
    "ms": "duration_ms",
    "why": "",
}
_SEARCH = {
    "how": "method",
    "made": "cases",
    **dict.fromkeys(("asked", "pairs", "possible", "states", "quiet"), ""),
}
_ANSWER = {"says": "message", "exchanges": ""}


def _renamed(value: DataclassInstance, names: Mapping[str, str]) -> Values:
    """Return the fields of a value by their names in the report, in their order."""
    named = ((names.get(name, name), content) for name, content in asdict(value).items())
    return {name: content for name, content in named if name}
