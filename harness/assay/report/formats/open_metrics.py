"""The OpenMetrics text of a run: counts of verdicts, its duration, and how fast the target answered.

It is for the textfile collector of a node exporter, or a push gateway. Samples have no time of their
own: that of the collection counts. The number of series does not depend on what a target sends.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from assay.judging.waivers import WaiverState
from assay.report.formats.pipeline import in_utc
from assay.report.journal_exchanges import base_trial, exchange_times
from assay.report.values import Report
from assay.report.wording import fault_count
from assay.rules.verdict import Standing

#: The upper bounds of the buckets of a duration, in seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
#: How many operations of a contract have series of their own; the rest share one.
MOST_OPERATIONS = 200
OTHERS = "other operations"

Labels = Mapping[str, str]


@dataclass(slots=True)
class Durations:
    """How many exchanges fall into each bucket, and how long they took together."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one exchange."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


def render(report: Report, out: TextIO) -> None:
    """Write the report as OpenMetrics text."""
    out.writelines(line + "\n" for line in _lines(report))
    out.write("# EOF\n")


def _lines(report: Report) -> Iterator[str]:
    header, footer = report.header, report.footer
    target = {"target": header.target.name}
    yield from _family("assay_run", "info", "Target, contracts and version of Assay.")
    about = {"version": header.version, "party": header.party, "seed": str(header.seed)}
    yield sample_line("assay_run_info", {**target, **about}, 1)
    yield from _family("assay_obligations", "gauge", "Obligations by contract and verdict.")
    for contract, counts in _verdicts(report).items():
        for standing in Standing:
            labels = {**target, "contract": contract, "verdict": standing.value}
            yield sample_line("assay_obligations", labels, counts[standing])
    yield from _family("assay_waivers", "gauge", "Waivers by their state.")
    states = Counter(waiver.state for waiver in report.waivers)
    for state in WaiverState:
        yield sample_line("assay_waivers", {**target, "state": state.value}, states[state])
    yield from _family("assay_harness_faults", "gauge", "Failures of the harness itself.")
    yield sample_line("assay_harness_faults", target, fault_count(report))
    yield from _family("assay_run_complete", "gauge", "1 if the run was completed.")
    yield sample_line("assay_run_complete", target, int(report.complete))
    if footer is not None:
        yield from _family("assay_exchanges", "gauge", "Exchanges of the run.")
        yield sample_line("assay_exchanges", target, footer.exchanges)
        yield from _family("assay_exit_code", "gauge", "Exit code of the run.")
        yield sample_line("assay_exit_code", target, footer.exit)
        if at := in_utc(footer.finished):
            name = "assay_run_finished_seconds"
            yield from _family(name, "gauge", "When the run ended, in Unix time.", "seconds")
            yield sample_line(name, target, round(at.timestamp(), 3))
    if report.seconds is not None:
        name = "assay_run_duration_seconds"
        yield from _family(name, "gauge", "How long the run took.", "seconds")
        yield sample_line(name, target, report.seconds)
    yield from _latency(report, target)


def _verdicts(report: Report) -> dict[str, Counter[Standing]]:
    counts = {contract.id: Counter[Standing]() for contract in report.header.contracts}
    for result in report.results:
        counts.setdefault(result.planned.contract, Counter())[result.standing] += 1
    return counts


def _latency(report: Report, target: Labels) -> Iterator[str]:
    name = "assay_exchange_duration_seconds"
    durations = _durations(report)
    if not durations:
        return
    yield from _family(name, "histogram", "How long the target took to answer.", "seconds")
    for (contract, operation), each in durations.items():
        labels = {**target, "contract": contract, "operation": operation}
        reached = 0
        for bound, number in zip((*map(str, BOUNDS), "+Inf"), each.buckets, strict=True):
            reached += number
            yield sample_line(f"{name}_bucket", {**labels, "le": bound}, reached)
        yield sample_line(f"{name}_count", labels, reached)
        yield sample_line(f"{name}_sum", labels, round(each.total, 6))


def _durations(report: Report) -> dict[tuple[str, str], Durations]:
    """Return the durations of exchanges by contract and operation, in a fixed order."""
    contracts = {result.planned.trial: result.planned.contract for result in report.results}
    durations: dict[tuple[str, str], Durations] = {}
    for exchange in exchange_times(report.journal):
        trial = base_trial(exchange.trial)
        contract = contracts.get(trial) or trial.partition("/")[0]
        key = (contract, exchange.operation)
        if key not in durations and len(durations) >= MOST_OPERATIONS:
            key = ("", OTHERS)
        durations.setdefault(key, Durations()).add(exchange.seconds)
    return dict(sorted(durations.items()))


def _family(name: str, kind: str, text: str, unit: str = "") -> Iterable[str]:
    lines = [f"# TYPE {name} {kind}"]
    lines += [f"# UNIT {name} {unit}"] if unit else []
    return [*lines, f"# HELP {name} {text}"]


def sample_line(name: str, labels: Labels, value: float) -> str:
    """Return one sample; no text of a label can end it."""
    listed = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{listed}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
