"""A report's results grouped for reading: by reason, and by clause.

A reason usually names what is missing and the key of the target file that provides it.
`ADVICE` adds what to do where a reason cannot name such a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.judging.verdict import Standing
from assay.report.values import ENDED, PlannedObligation, Report, ReportedResult

#: What to do about a reason, by a word in it.
ADVICE: tuple[tuple[str, str], ...] = (
    (ENDED, "complete the run"),
    ("budget", "raise `budget` in the target file, or run again when it is renewed"),
    ("person", "run with a person present who signs"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Obligations that share a reason, and what to do about it, if known."""

    reason: str
    advice: str
    results: tuple[ReportedResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseRow:
    """A clause with the results of all its facets, in plan order."""

    contract: str
    clause: str
    kind: str
    statement: str
    results: tuple[ReportedResult, ...]


def by_reason(results: Iterable[ReportedResult]) -> tuple[Group, ...]:
    """Group by reason, the largest group first, ties in plan order."""
    by: dict[str, list[ReportedResult]] = {}
    for result in results:
        by.setdefault(reason_of(result), []).append(result)
    groups = (
        Group(reason=reason, advice=advice(reason), results=tuple(members))
        for reason, members in by.items()
    )
    return tuple(sorted(groups, key=lambda group: -len(group.results)))


def reason_of(result: ReportedResult) -> str:
    """Return the reason of the verdict, or that of the plan if the verdict has none."""
    return result.reason or result.planned.reason or "no reason was recorded"


def advice(reason: str) -> str:
    """Return what to do about a reason, or '' where the reason says it already."""
    return next((hint for word, hint in ADVICE if word in reason), "")


def by_clause(report: Report) -> tuple[ClauseRow, ...]:
    """Return every clause with its facets in plan order, without the open points."""
    by: dict[tuple[str, str], list[ReportedResult]] = {}
    for result in report.results:
        if not is_open_point(result.planned):
            key = (result.planned.contract, result.planned.clause)
            by.setdefault(key, []).append(result)
    return tuple(
        ClauseRow(
            contract=contract,
            clause=clause,
            kind=members[0].planned.kind,
            statement=members[0].planned.says,
            results=tuple(members),
        )
        for (contract, clause), members in by.items()
    )


def is_open_point(planned: PlannedObligation) -> bool:
    """Whether this is a point that the source document leaves open."""
    return planned.kind == Standing.UNSPECIFIED.value
