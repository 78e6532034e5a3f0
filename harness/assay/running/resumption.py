"""Resumption of an interrupted run: finished and missing trials, read from its journal.

A trial is done if its `ended` line was written, which has what a resumed run needs to know of it.
Whatever follows the last such line belongs to a trial that was cut short. It is run again from the
beginning, and its lines are abandoned: they stay in the journal, and count for nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.history import Accepted, Exchange, Wire
from assay.journal.codec import Accesses, RecordedVerdict, TrialEnd, accesses, decode, trial_end
from assay.journal.lines import Line, abandoned_lines, is_complete, parse, raw_lines
from assay.journal.typed_values import read_line
from assay.judging.assembly import VerdictAssembly
from assay.judging.corrections import AnswersSeen
from assay.planning.plan import Disposition

#: A pseudonym in a journal: its kind and number.
_PSEUDONYM = re.compile(rb"<([a-z][a-z-]{0,40})-([0-9]{1,7})>")
#: What stands before the first trial.
_DISPOSITIONS = frozenset(each.value for each in Disposition)
_BEFORE = frozenset({"header", "plan", "elsewhere"})


@dataclass(slots=True, kw_only=True)
class RecordedProgress:
    """What a journal has of a run: the trials that are done, and all that they showed.

    `plan` has the line of each obligation, `elsewhere` counts those of other shards. `done` says for each trial how often it was
    run, and whether it showed less than in the base context. `searches` are done, too. `exchanges`
    is the highest number of an exchange, `calls` how many were made, and `operations` which. `names` counts the pseudonyms
    of each kind. `abandoned` are the lines of what is run again. `complete` is true if nothing is
    missing.
    """

    header: Line | None = None
    plan: dict[str, Line] = field(default_factory=dict[str, Line])
    elsewhere: int = 0
    done: defaultdict[str, deque[bool]] = field(
        default_factory=lambda: defaultdict[str, "deque[bool]"](deque)
    )
    verdicts: dict[str, RecordedVerdict] = field(default_factory=dict[str, RecordedVerdict])
    shown: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    seen: list[Exchange] = field(default_factory=list[Exchange])
    answers: list[AnswersSeen] = field(default_factory=list[AnswersSeen])
    faults: list[str] = field(default_factory=list[str])
    spent: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    searches: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    exchanges: int = 0
    calls: int = 0
    operations: Counter[str] = field(default_factory=Counter[str])
    names: dict[str, int] = field(default_factory=dict[str, int])
    abandoned: list[range] = field(default_factory=list[range])
    complete: bool = False

    @property
    def planned(self) -> tuple[int, int]:
        """How many obligations are in the plan, and how many are those of other shards."""
        return len(self.plan), self.elsewhere

    def take(self, trial: str) -> bool | None:
        """Return whether a trial that is done showed less than in the base context, once each time."""
        times = self.done.get(trial)
        return times.popleft() if times else None

    def lacks(self, trial: str) -> bool:
        """Whether a trial is missing."""
        return not self.done.get(trial)

    def spend(self, spent: Iterable[Accesses]) -> None:
        """Note the accesses without the customer until then, each of which counts only once."""
        for each in spent:
            key = each.customer, each.operation
            self.spent[key] = max(self.spent[key], each.accesses)

    def restore(self, assembly: VerdictAssembly) -> None:
        """Let an assembly know all that the trials showed."""
        for exchange in self.seen:
            assembly.see(exchange)
        assembly.record(each.verdict for each in self.verdicts.values())
        for answers in self.answers:
            assembly.answers.take(answers)


@dataclass(slots=True, kw_only=True)
class _ProgressReader:
    """Reads lines in order; `block` are those since the last trial that ended."""

    progress: RecordedProgress
    block: list[Line] = field(default_factory=list[Line])
    first: int = 0
    dropping: bool = False

    def take(self, line: Line) -> None:
        """Take in the next line that is not abandoned."""
        kind, progress = line.text("type"), self.progress
        if kind == "preliminary" and not self.block:
            # It belongs to the trial that ended before.
            if self.dropping:
                self._abandon(line.number)
            return
        if kind in _BEFORE:
            self._take_plan(kind, line)
            return
        if kind == "resumed":
            self._abandon_block(line.number - 1)
            self.dropping = progress.complete = False
            return
        if not self.block:
            self.first, self.dropping = line.number, False
        self.block.append(line)
        if kind == "ended":
            end = trial_end(line)
            self.dropping = not end.done
            if self.dropping:
                self._abandon_block(line.number)
            else:
                for each in self.block:
                    self._take_done(each)
                self._take_end(end)
                self.block.clear()
        elif kind == "footer":
            unfinished = line.text("aborted", "") or line.text("stopped", "")
            progress.complete = not unfinished
            progress.spend(accesses(line))

    def _abandon(self, last: int) -> None:
        """Abandon the lines since the block began, to the last one."""
        known = self.progress.abandoned
        if known and known[-1].start == self.first:
            known.pop()
        known.append(range(self.first, last + 1))

    def _abandon_block(self, last: int) -> None:
        if self.block:
            self._abandon(last)
            self.block.clear()

    def end(self, last: int) -> None:
        """Abandon what follows the last trial that ended, unless the run is complete."""
        if not self.progress.complete:
            self._abandon_block(last)

    def _take_plan(self, kind: str, line: Line) -> None:
        if kind == "header":
            self.progress.header = line
        elif kind == "elsewhere":
            self.progress.elsewhere += 1
        elif line.text("disposition") not in _DISPOSITIONS:
            line.refuse("'disposition' is not known")
        else:
            self.progress.plan[line.text("obligation")] = line

    def _take_done(self, line: Line) -> None:
        """Take in a line of a trial, or a search, that is done."""
        progress = self.progress
        match line.text("type"):
            case "exchange":
                event = read_line(line, decode)
                if isinstance(event, Exchange):
                    progress.seen.append(_bare(event))
            case "fault":
                progress.faults.append(f"{line.text('where')}: {line.text('what')}")
            case "search":
                key = (line.text("contract"), line.text("how"), line.text("operation", ""))
                if not line.text("stopped", ""):
                    progress.searches.add(key)
            case _:
                pass

    def _take_end(self, end: TrialEnd) -> None:
        progress = self.progress
        progress.done[end.trial].append(end.hides)
        progress.verdicts |= {each.verdict.obligation: each for each in end.verdicts}
        progress.shown[end.trial] = Counter(end.shown)
        if end.answers != AnswersSeen():
            progress.answers.append(end.answers)
        progress.spend(end.spent)


def read_progress(path: Path) -> RecordedProgress:
    """Read how far a run has come, from a journal that `read_journal` accepts.

    Raises:
        JournalError: the journal is damaged.

    """
    progress = RecordedProgress()
    reader, number = _ProgressReader(progress=progress), 0
    for number, raw, abandoned in _complete_lines(path):
        for kind, digits in _PSEUDONYM.findall(raw):
            name = kind.decode()
            progress.names[name] = max(int(digits), progress.names.get(name, 0))
        line = parse(str(path), number, raw)
        kind = line.text("type")
        if kind == "exchange":
            progress.exchanges = max(progress.exchanges, line.count("n"))
            progress.calls += 1
            progress.operations[line.text("operation", "")] += 1
        elif kind == "search":
            progress.calls += line.count("exchanges")
        if not abandoned:
            reader.take(line)
    reader.end(number)
    return progress


def _complete_lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Yield each complete line with its number, and whether an earlier resumption abandoned it."""
    name = str(path)
    with path.open("rb") as stream:
        is_abandoned = abandoned_lines(stream, name)
        for number, raw in raw_lines(stream, name):
            if is_complete(raw):
                yield number, raw, is_abandoned(number)


def _bare(exchange: Exchange) -> Exchange:
    """Return an exchange without its content, for there may be many."""
    wire, call = exchange.wire, exchange.call
    bare = replace(call, arguments={}, invented={}, follow=None)
    accepted = isinstance(exchange.outcome, Accepted)
    return replace(
        exchange,
        call=bare,
        outcome=Accepted() if accepted else exchange.outcome,
        wire=Wire(method=wire.method, url="", status=wire.status),
    )
