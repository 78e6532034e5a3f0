"""Verdicts, waivers and counts of a recorded run, read for a comparison and not for a report.

The journal may be forged. Nothing here believes it: each part is compared with what contracts,
target file and exchanges say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from assay.journal.codec import EVENTS
from assay.journal.lines import Line, read_lines, refuse
from assay.journal.trial_end import trial_end
from assay.journal.writer import QUOTED
from assay.report import Report, decode, read_journal
from assay.rules.verdict import Agreement, Standing

#: A sent value that is shortened or hidden, so that a check cannot recognise it.
_HIDDEN = re.compile(r"<(?:text|private|credentials)[ -][0-9a-f]+>")

Raw = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEvidence:
    """One piece of evidence as it is written."""

    agreement: Agreement
    exchanges: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenVerdict:
    """A verdict as it is written, on which line, and whether it is a preliminary one."""

    line: int
    standing: Standing
    reason: str
    evidence: tuple[WrittenEvidence, ...]
    preliminary: bool = False


@dataclass(slots=True, kw_only=True)
class WrittenRun:
    """What a journal says of its run.

    `shards` are the obligations of other shards. `exchanges` has the numbers of the recorded
    exchanges, and `hidden` those of which a sent value is shortened or hidden. `trials` are those
    with events, `unjudged` those that ended early or with a fault, so that the run itself did not
    judge them.
    """

    report: Report
    header: Line
    plan: dict[str, Line] = field(default_factory=dict[str, Line])
    shards: set[str] = field(default_factory=set[str])
    results: dict[str, WrittenVerdict] = field(default_factory=dict[str, WrittenVerdict])
    exchanges: set[int] = field(default_factory=set[int])
    hidden: set[int] = field(default_factory=set[int])
    trials: set[str] = field(default_factory=set[str])
    unjudged: set[str] = field(default_factory=set[str])
    resumed: str = ""

    @property
    def quoted(self) -> bool:
        """Whether the journal has only the exchanges that its evidence quotes."""
        return self.header.values.get("exchanges") == QUOTED

    @property
    def of_judge(self) -> bool:
        """Whether `assay judge` wrote it, whose plan needs no capability."""
        return "party" in self.header.values

    @property
    def is_part(self) -> bool:
        """Whether its verdicts may rest on other shards, or are only those of a recording."""
        return bool(self.report.header.shard) or self.is_merged or self.of_judge

    @property
    def is_merged(self) -> bool:
        """Whether it was merged from shards."""
        return "merged" in self.header.values

    @property
    def invocation(self) -> Raw:
        """The options of the run, if it was one of `assay run`."""
        known = self.header.values.get("invocation")
        return known if isinstance(known, dict) else {}

    @property
    def day(self) -> date:
        """The day (UTC) on which waivers were applied, by the clock of the run."""
        for text in (self.resumed, self.report.header.started):
            with suppress(ValueError, OverflowError):
                return datetime.fromisoformat(text).astimezone(UTC).date()
        return datetime.now(UTC).date()


def read_run(path: Path) -> WrittenRun:
    """Read what a journal says, finished or not.

    Raises:
        JournalError: it is damaged, or no journal.

    """
    report = read_journal(path, partial=True)
    run: WrittenRun | None = None
    for line in read_lines(path, whole=report.complete):
        if run is None:
            run = WrittenRun(report=report, header=line)
        else:
            _take(run, line)
    if run is None:
        refuse(str(path), "not an Assay journal: it is empty")
    run.unjudged |= {fault.where for fault in report.faults}
    return run


def _take(run: WrittenRun, line: Line) -> None:
    kind = line.text("type")
    if kind in EVENTS:
        run.trials.add(line.text("trial"))
    match kind:
        case "plan":
            run.plan[line.text("obligation")] = line
        case "elsewhere":
            run.shards.add(line.text("obligation"))
        case "exchange":
            _take_exchange(run, line)
        case "preliminary" | "verdict":
            _take_result(run, line, preliminary=kind == "preliminary")
        case "ended":
            end = trial_end(line)
            (run.unjudged.discard if end.done else run.unjudged.add)(end.trial)
        case "resumed":
            run.resumed = line.text("at")
        case _:
            pass


def _take_exchange(run: WrittenRun, line: Line) -> None:
    n = line.number_of("n")
    run.exchanges.add(n)
    call = line.inner("again").inner("call")
    if _HIDDEN.search(f"{call.values}"):
        run.hidden.add(n)


def _take_result(run: WrittenRun, line: Line, *, preliminary: bool) -> None:
    name = line.text("obligation")
    before = run.results.get(name)
    if name not in run.plan or (preliminary and before and not before.preliminary):
        return
    run.results[name] = WrittenVerdict(
        line=line.number,
        standing=decode.standing(line),
        reason=line.text("reason", ""),
        evidence=tuple(map(_evidence, line.objects("evidence"))),
        preliminary=preliminary,
    )


def _evidence(line: Line) -> WrittenEvidence:
    exchanges = tuple(line.list_of("exchanges", int))
    return WrittenEvidence(agreement=decode.agreement(line), exchanges=exchanges)
