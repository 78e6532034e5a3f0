"""Exchanges of a journal, read line by line: how long they took, and their messages.

A `Report` has only the exchanges that a verdict cites. What needs all of them reads the journal
again, with one line in memory at a time. Lines that a resumed run abandoned count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.journal.lines import Line, parse, recorded_lines, refuse
from assay.planning.trial_names import split_trial_name
from assay.report import sanitize
from assay.report.values import Report, ReportedResult

#: How the connection of an exchange begins in a HAR file of a run; its trial follows.
RUN_CONNECTION = "assay-run:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTime:
    """How long one exchange took, in seconds."""

    trial: str
    operation: str
    seconds: float


def exchange_lines(journal: str) -> Iterator[Line]:
    """Yield every exchange of a journal; none if there is no journal.

    Raises:
        JournalError: it cannot be read, or is damaged.

    """
    if not journal:
        return
    try:
        for number, raw in recorded_lines(Path(journal)):
            if b'"exchange"' not in raw:
                continue
            line = parse(journal, number, raw)
            if line.values.get("type") == "exchange":
                yield line
    except OSError as error:
        refuse(journal, f"cannot be read: {error.strerror}")


def exchange_times(journal: str) -> Iterator[ExchangeTime]:
    """Yield how long every exchange of a journal took.

    Raises:
        JournalError: it cannot be read, or is damaged.

    """
    for line in exchange_lines(journal):
        yield ExchangeTime(
            trial=_name(line, "trial"),
            operation=_name(line, "operation"),
            seconds=milliseconds(line) / 1000,
        )


def milliseconds(line: Line) -> float:
    """Return how long an exchange took."""
    return max(line.decimal("ms", 0.0), 0.0)


def _name(line: Line, key: str) -> str:
    """Return a name as a report has it."""
    return sanitize.one_line(sanitize.clean(line.text(key, "")))


def base_trial(trial: str) -> str:
    """Return the trial that a trial in a further context repeats."""
    return split_trial_name(trial)[0]


def trial_seconds(report: Report) -> dict[str, float]:
    """Return the seconds that each trial took, with its repetitions in further contexts."""
    seconds: dict[str, float] = {}
    for exchange in exchange_times(report.journal):
        trial = base_trial(exchange.trial)
        seconds[trial] = seconds.get(trial, 0.0) + exchange.seconds
    return seconds


def trials_of(result: ReportedResult) -> frozenset[str]:
    """Return the trials that an obligation was tested by; one of them may be that of a search."""
    return frozenset(map(base_trial, (result.planned.trial, result.shown_by)))
