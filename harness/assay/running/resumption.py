"""Resumption of an interrupted run: finished and missing trials, read from its journal.

A trial is done if its `ended` line was written, which has what a resumed run needs to know of it.
Whatever follows the last such line belongs to a trial that was cut short. It is run again from the
beginning, and its lines are abandoned: they stay in the journal, and count for nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from assay.history import Accepted, Exchange, Wire
from assay.journal.codec import Accesses, RecordedVerdict, TrialEnd, accesses, decode, trial_end
from assay.journal.lines import Line
from assay.journal.typed_values import read_line
from assay.judging.assembly import VerdictAssembly
from assay.judging.corrections import AnswersSeen

#: A pseudonym in a journal: its kind and number.
_PSEUDONYM = re.compile(r"<([a-z][a-z-]{0,40})-([0-9]{1,7})>")
#: What stands before the first trial.
_BEFORE = frozenset({"header", "plan", "elsewhere"})


@dataclass(slots=True, kw_only=True)
class RecordedProgress:
    """What a journal has of a run: the trials that are done, and all that they showed.

    `planned` says how many obligations are in the plan, and how many are those of other shards.
    `done` says for each trial how often it was run, and whether it showed less than in the base
    context. `searches` are done, too. `exchanges` is the highest number of an exchange, `calls` how
    many were made, and `operations` which. `names` counts the pseudonyms of each kind. `abandoned`
    are the lines of what is run again. `complete` is true if nothing is missing.
    """

    planned: tuple[int, int] = (0, 0)
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
class ProgressReader:
    """Reads the lines of a journal in order; `block` are those since the last trial that ended."""

    progress: RecordedProgress = field(default_factory=RecordedProgress)
    block: list[Line] = field(default_factory=list[Line])
    first: int = 0
    last: int = 0
    dropping: bool = False

    def count(self, line: Line) -> None:
        """Count what a line has, whether or not an earlier resumption abandoned it."""
        progress, self.last = self.progress, line.number
        for kind, digits in _PSEUDONYM.findall(f"{line.values}"):
            progress.names[kind] = max(int(digits), progress.names.get(kind, 0))
        match line.text("type"):
            case "exchange":
                progress.exchanges = max(progress.exchanges, line.count("n"))
                progress.calls += 1
                progress.operations[line.text("operation", "")] += 1
            case "search":
                progress.calls += line.count("exchanges")
            case _:
                pass

    def take(self, line: Line) -> None:
        """Take in the next line that is not abandoned."""
        self.count(line)
        kind, progress = line.text("type"), self.progress
        if kind == "preliminary" and not self.block:
            # It belongs to the trial that ended before.
            if self.dropping:
                self._abandon(line.number)
        elif kind == "resumed":
            self._abandon_block(line.number - 1)
            self.dropping = progress.complete = False
        elif kind not in _BEFORE:
            if not self.block:
                self.first, self.dropping = line.number, False
            self.block.append(line)
            if kind == "ended":
                self._end_trial(trial_end(line), line.number)
            elif kind == "footer":
                unfinished = line.text("aborted", "") or line.text("stopped", "")
                progress.complete = not unfinished
                progress.spend(accesses(line))

    def _end_trial(self, end: TrialEnd, number: int) -> None:
        self.dropping = not end.done
        if self.dropping:
            self._abandon_block(number)
            return
        for each in self.block:
            self._take_done(each)
        self._take_end(end)
        self.block.clear()

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

    def end(self, planned: tuple[int, int]) -> RecordedProgress:
        """Abandon what follows the last trial that ended, unless the run is complete."""
        if not self.progress.complete:
            self._abandon_block(self.last)
        self.progress.planned = planned
        return self.progress

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
