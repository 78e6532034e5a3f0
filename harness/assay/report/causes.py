"""Causes of inconclusive obligations: one failing call, one group, however many it leaves open.

The cause is read from what was recorded: an exchange that the evidence cites and that could not be
judged, or else the reason of the verdict, beside a violation that the same trial shows, or one of the
same clause. Reasons are texts, and are never taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.report.timeline import TimelineEntry
from assay.report.values import Report, ReportedResult
from assay.report.views import Group, reason_of
from assay.rules.verdict import Standing

#: The outcome of an exchange that could not be judged, as timelines have it.
INDETERMINATE = Standing.INDETERMINATE.value
#: How many violations a cause names.
NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class InconclusiveCause:
    """Why obligations are inconclusive; `violated` are violations that show the same.

    `operation` and `why` are those of a call that could not be judged. If they are empty, `reason`
    says why.
    """

    operation: str = ""
    why: str = ""
    reason: str = ""
    violated: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the cause as a sentence without a full stop."""
        return f"{self.operation}: {self.why}" if self.operation else self.reason


def by_cause(report: Report) -> tuple[Group, ...]:
    """Group the inconclusive obligations by their cause, the largest group first."""
    violations = _Violations(report)
    members: dict[InconclusiveCause, list[ReportedResult]] = {}
    for result in report.of(Standing.INDETERMINATE):
        members.setdefault(violations.cause(result), []).append(result)
    groups = (
        Group(reason=str(cause), advice=_advice(cause), results=tuple(results))
        for cause, results in members.items()
    )
    return tuple(sorted(groups, key=lambda group: -len(group.results)))


def _advice(cause: InconclusiveCause) -> str:
    hidden = len(cause.violated) - NAMED
    more = f" and {hidden:,} more" if hidden > 0 else ""
    return f"see {', '.join(cause.violated[:NAMED])}{more}" if cause.violated else ""


class _Violations:
    """The violations of a report: by the trial that shows them, by clause, and by answer."""

    def __init__(self, report: Report) -> None:
        self.of_trial: dict[str, list[str]] = {}
        self.of_clause: dict[tuple[str, str], list[str]] = {}
        self.of_answer: dict[tuple[str, int], list[str]] = {}
        for result in report.of(Standing.VIOLATES):
            self.of_trial.setdefault(result.shown_by, []).append(result.planned.id)
            clause = result.planned.contract, result.planned.clause
            self.of_clause.setdefault(clause, []).append(result.planned.id)
            for exchange in result.exchanges[:1]:
                answer = exchange.operation, exchange.response.status
                self.of_answer.setdefault(answer, []).append(result.planned.id)

    def cause(self, result: ReportedResult) -> InconclusiveCause:
        """Return why an obligation is inconclusive, as far as the journal shows it."""
        failed = next(_failed(result), None)
        if failed is not None:
            same = self.of_answer.get((failed.operation, failed.status), [])
            return InconclusiveCause(
                operation=failed.operation, why=failed.why, violated=tuple(same)
            )
        clause = result.planned.contract, result.planned.clause
        near = self.of_trial.get(result.shown_by) or self.of_clause.get(clause, [])
        return InconclusiveCause(reason=reason_of(result), violated=tuple(near))


def _failed(result: ReportedResult) -> Iterator[TimelineEntry]:
    """Yield the exchanges that evidence cites and that could not be judged; others explain nothing."""
    for entry in result.timeline:
        if entry.outcome == INDETERMINATE and entry.exchange in result.cites:
            yield entry
