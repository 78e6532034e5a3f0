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
from assay.journal.lines import Line, read_lines
from assay.journal.trial_end import trial_end
from assay.journal.writer import QUOTED
from assay.report import Report, decode, read_journal
from assay.rules.verdict import Verdict

#: A sent value that is shortened or hidden, so that a check cannot recognise it.
_HIDDEN = re.compile(r"<(?:text|private|credentials)[ -][0-9a-f]+>")

Raw = Mapping[str, object]


@dataclass(slots=True, kw_only=True)
class WrittenRun:
    """What a journal says of its run.

    `results` are the last verdict on each obligation, with all of its evidence. `exchanges` has the
    numbers of the recorded exchanges, and `hidden` those of which a sent value is shortened or
    hidden. `trials` are those with events, `unjudged` those that ended early or with a fault, so
    that the run itself did not judge them.
    """

    report: Report
    results: Mapping[str, Verdict]
    exchanges: set[int] = field(default_factory=set[int])
    hidden: set[int] = field(default_factory=set[int])
    trials: set[str] = field(default_factory=set[str])
    unjudged: set[str] = field(default_factory=set[str])
    resumed: str = ""

    @property
    def plan(self) -> Mapping[str, Line]:
        """The plan line of each obligation."""
        return self.report.lines.plan

    @property
    def header(self) -> Line:
        """The first line."""
        return self.report.lines.header

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
    lines = report.lines
    results = {
        name: decode.verdict(lines.written[name]) for name in lines.plan if name in lines.written
    }
    run = WrittenRun(report=report, results=results)
    for line in read_lines(path, whole=report.complete):
        _take(run, line)
    run.unjudged |= {fault.where for fault in report.faults}
    return run


def _take(run: WrittenRun, line: Line) -> None:
    kind = line.text("type")
    if kind in EVENTS:
        run.trials.add(line.text("trial"))
    match kind:
        case "exchange":
            n = line.number_of("n")
            run.exchanges.add(n)
            if _HIDDEN.search(f"{line.inner('again').inner('call').values}"):
                run.hidden.add(n)
        case "ended":
            end = trial_end(line)
            (run.unjudged.discard if end.done else run.unjudged.add)(end.trial)
        case "resumed":
            run.resumed = line.text("at")
        case _:
            pass
