"""Exchanges of a journal, read line by line: how long they took, and their messages.

A `Report` has only the exchanges that a verdict cites. What needs all of them reads the journal
again, with one line in memory at a time. Lines that a resumed run abandoned count for nothing.

The summary of all exchanges takes memory that does not grow with their number: latencies are
counted in classes that are 2 % wide, from which median and 95th percentile are read. Texts of the
target are cleaned and their number is bounded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.contexts.context import split_trial_name
from assay.journal.lines import Line, read_lines, refuse
from assay.report import sanitize
from assay.report.sanitize import shown_text
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
        for line in read_lines(Path(journal), having=b'"exchange"'):
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


# -- summary of all exchanges ----------------------------------------------------------
#: Names kept of operations, outcomes and values of one dimension; a hostile journal may have any number.
NAMES = 200
#: Contexts kept of one base trial.
CONTEXTS = 50
#: The width of a class of latencies.
_STEP = math.log(1.02)
#: The shortest latency with a class of its own, in milliseconds.
_SHORTEST = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTraffic:
    """The calls of one operation: number, outcomes, statuses and latencies in milliseconds.

    `median` and `p95` are exact to 1 %. `status` 0 counts calls without a response.
    """

    operation: str
    calls: int
    outcomes: tuple[tuple[str, int], ...]
    statuses: tuple[tuple[int, int], ...]
    median: float
    p95: float
    longest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficSummary:
    """All exchanges of a run in short, with the contexts of each trial; "" is the base context."""

    exchanges: int = 0
    operations: tuple[OperationTraffic, ...] = ()
    contexts: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What has been counted of one operation."""

    calls: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    statuses: Counter[int] = field(default_factory=Counter[int])
    classes: Counter[int] = field(default_factory=Counter[int])
    longest: float = 0.0

    def percentile(self, share: float) -> float:
        """Return the latency that this share of the calls does not exceed."""
        rest = math.ceil(share * self.calls)
        for number in sorted(self.classes):
            rest -= self.classes[number]
            if rest <= 0:
                middle = _SHORTEST * math.exp((number + 0.5) * _STEP)
                return min(middle, self.longest)
        return self.longest


@dataclass(slots=True)
class TrafficTally:
    """Counter of exchange lines; `summary` returns what it has counted."""

    _operations: dict[str, _Tally] = field(default_factory=dict[str, _Tally])
    _trials: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])

    def add(self, line: Line) -> None:
        """Count an exchange line."""
        name = shown_text(line, "operation")
        if name not in self._operations and len(self._operations) >= NAMES:
            name = "others"
        tally = self._operations.setdefault(name, _Tally())
        tally.calls += 1
        outcome = shown_text(line.inner("outcome"), "kind")
        known = outcome in tally.outcomes or len(tally.outcomes) < NAMES
        tally.outcomes[outcome if known else "others"] += 1
        status = line.inner("response").number_of("status", 0)
        tally.statuses[status if 0 <= status < 1000 else 0] += 1  # noqa: PLR2004 -- three digits
        latency = milliseconds(line)
        tally.longest = max(tally.longest, latency)
        tally.classes[max(int(math.log(max(latency, _SHORTEST) / _SHORTEST) / _STEP), 0)] += 1
        trial, context = split_trial_name(shown_text(line, "trial"))
        contexts = self._trials.setdefault(trial, {})
        if len(contexts) < CONTEXTS:
            contexts[context] = None

    def summary(self) -> TrafficSummary:
        """Return the operations in the order of their first call, and the contexts of all trials."""
        return TrafficSummary(
            exchanges=sum(tally.calls for tally in self._operations.values()),
            operations=tuple(
                OperationTraffic(
                    operation=name,
                    calls=tally.calls,
                    outcomes=tuple(tally.outcomes.most_common()),
                    statuses=tuple(sorted(tally.statuses.items())),
                    median=tally.percentile(0.5),
                    p95=tally.percentile(0.95),
                    longest=tally.longest,
                )
                for name, tally in self._operations.items()
            ),
            contexts={trial: tuple(contexts) for trial, contexts in self._trials.items()},
        )


def context_values(context: str) -> Iterator[tuple[str, str]]:
    """Yield dimension and value of each part of a context such as `mode=instant, tpp=other`."""
    for part in filter(None, context.split(", ")):
        dimension, _, value = part.partition("=")
        yield dimension, value


def read_traffic_summary(journal: str) -> TrafficSummary:
    """Count the exchanges of a journal that has been checked; none if there is no journal."""
    tally = TrafficTally()
    for line in exchange_lines(journal):
        tally.add(line)
    return tally.summary()
