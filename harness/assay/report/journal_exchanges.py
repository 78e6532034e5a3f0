"""Exchanges of a journal, read line by line: how long they took, and their messages.

A `Report` has only the exchanges that a verdict cites. What needs all of them reads the journal
again, with one line in memory at a time. Lines that a resumed run abandoned count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.journal.lines import Line, parse, recorded_lines, refuse
from assay.planning.trial_names import split_trial_name
from assay.report import sanitize
from assay.report.values import Report, ReportedResult

#: How the connection of an exchange begins in a HAR file of a run; its trial follows.
RUN_CONNECTION = "assay-run:"


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


def milliseconds(line: Line) -> float:
    """Return how long an exchange took."""
    return max(line.decimal("ms", 0.0), 0.0)


def _base_trial(trial: str) -> str:
    """Return the trial that a trial in a further context repeats."""
    return split_trial_name(trial)[0]


def trial_seconds(report: Report) -> dict[str, float]:
    """Return the seconds that each trial took, with its repetitions in further contexts."""
    seconds: dict[str, float] = {}
    for line in exchange_lines(report.journal):
        trial = _base_trial(sanitize.one_line(sanitize.clean(line.text("trial", ""))))
        seconds[trial] = seconds.get(trial, 0.0) + milliseconds(line) / 1000
    return seconds


def trials_of(result: ReportedResult) -> frozenset[str]:
    """Return the trials that an obligation was tested by; one of them may be that of a search."""
    return frozenset(map(_base_trial, (result.planned.trial, result.shown_by)))
