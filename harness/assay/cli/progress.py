"""Progress of a run and of an examination on a terminal, and messages to a person who signs.

The bar of a run counts calls, whose number is known from the plan. Without a terminal a line is
printed every half minute instead: many runners end a job whose log stands still, and a run that
waits for a calendar day says nothing for hours.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from assay.binding.model.target import TransportKind
from assay.cli.signals import check
from assay.planning.plan import Plan, Trial
from assay.rules.verdict import Standing, Verdict
from assay.running.parallel_trials import DEFAULT_LANES, most_lanes
from assay.running.session import Session
from assay.sca.protocol import StderrPrompt

if TYPE_CHECKING:
    from assay.onboarding.doctor.probing import DoctorCost

#: Seconds between two lines.
HEARTBEAT = 30.0


def duration(seconds: float) -> str:
    """Return seconds as `0:07` or `1:02:07`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_left(elapsed: float, done: float, planned: float) -> float | None:
    """Return how many seconds are left at the pace so far; None while it cannot be known."""
    return elapsed * (planned - done) / done if 0 < done < planned else None


def elapsed_text(elapsed: float, done: float, planned: float) -> str:
    """Return the time that has passed, and the time left if it can be known."""
    left = time_left(elapsed, done, planned)
    about = "" if left is None else f", about {duration(left)} left"
    return f"elapsed {duration(elapsed)}{about}"


#: The parts of a run before its searches.
BASE, CONTEXTS = "base", "contexts"
#: What is added for trials that are tried again in parts, as seen at the sandbox.
IN_PARTS = 1.15


def parts_of(plan: Plan) -> dict[str, int]:
    """Return how many calls each part of a plan is expected to take."""
    base = sum(trial.calls for trial in plan.trials)
    return {BASE: base, CONTEXTS: round((plan.calls - base) * IN_PARTS)}


@dataclass(slots=True)
class Expectation:
    """How many calls a run is expected to make: those so far, and the rest of each part.

    What a part made more or fewer than expected is known when the next one begins.
    """

    parts: dict[str, int] = field(default_factory=dict[str, int])
    calls: int = 0
    part: str = BASE
    _before: int = 0

    def begin(self, part: str) -> None:
        """Begin the next part."""
        if part != self.part:
            self.parts.pop(self.part, None)
            self.part, self._before = part, self.calls

    @property
    def total(self) -> int:
        """The calls of the whole run; 0 while nothing is known."""
        if not self.parts:
            return 0
        made = self.calls - self._before
        later = sum(calls for part, calls in self.parts.items() if part != self.part)
        return self.calls + max(0, self.parts.get(self.part, 0) - made) + later


@dataclass(slots=True, kw_only=True)
class Heartbeat:
    """Counts trials and calls of a session, and prints how far it has come.

    The expected calls are counted only once the run has lasted: that takes a dry run.
    """

    session: Session
    expected: Expectation = field(default_factory=Expectation)
    expect: Callable[[], dict[str, int]]
    clock: Callable[[], float] = time.monotonic
    every: float = HEARTBEAT
    began: float = 0.0
    trials: int = 0
    _ended: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def __enter__(self) -> Self:
        """Begin to print lines."""
        self.began = self.clock()
        self._thread = Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()

    def on_trial(self) -> None:
        """Count a trial that begins."""
        self.trials += 1

    def on_call(self) -> None:
        """Count a call, and what is expected when the run has lasted."""
        self.expected.calls += 1
        if not self.expected.parts and self.clock() - self.began > self.every / 2:
            self.expected.parts |= self.expect()

    def line(self) -> str:
        """Return how far the run has come."""
        done = max(0, self.trials - 1)
        # Trials in parts of a context, and sequences of a search, are not planned.
        planned_trials = len(self.session.plan.all_trials)
        of_all = f" of {planned_trials:,}" if done <= planned_trials else ""
        trials = f"{done:,}{of_all} trials"
        calls, total = self.expected.calls, self.expected.total
        whole = f" of about {total:,}" if calls < total else ""
        # A wait is no pace.
        planned = 0 if self.session.environment.waiting is not None else total
        elapsed = elapsed_text(self.clock() - self.began, calls, planned)
        return f"run: {trials}, {calls:,}{whole} calls, {elapsed}"

    def _beat(self) -> None:
        while not self._ended.wait(self.every):
            click.echo(self.line(), err=True)


#: How much of a violation is printed while a run goes on; the summary has the whole.
VIOLATION_WIDTH = 300
#: The widest bar, and the columns that a bar's numbers and times need.
BAR_WIDTH = 30
NUMBERS_WIDTH = 54


def announce(session: Session, folder: Path, concurrency: int | None = None) -> None:
    """Print on standard error what is going to be tested, and where its record is.

    Where trials run one after another, although no `concurrency` was given, it says why.
    """
    target, contracts = session.environment.target, session.plan.contracts.values()
    embedded = target.transport is TransportKind.EMBEDDED
    address = "embedded" if embedded else session.journal.redactor.link(target.base_url)
    names = ", ".join(f"{each.id} {each.version}" for each in contracts)
    number = len(session.plan.items)
    size = "1 obligation" if number == 1 else f"{number:,} obligations"
    line = f"testing {target.name} ({address}) by {names}: {size}, seed {session.options.seed}"
    click.echo(f"{line}; journal in {folder}", err=True)
    most, reason = most_lanes(target)
    if most == 1 and concurrency is None and not embedded:
        click.echo(f"one trial at a time: {reason}; else {DEFAULT_LANES} run at a time", err=True)


def counting_bar(width: int, *units: str) -> Any:
    """Return a Rich progress bar on standard error, for descriptions of at most this width."""
    from rich.console import Console  # noqa: PLC0415 -- only on a terminal
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TextColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415
    from rich.table import Column  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=True)
    room = max(0, console.width - NUMBERS_WIDTH)
    bar_width = min(BAR_WIDTH, room // 3)
    described = min(width, room - bar_width)

    class TimeColumn(ProgressColumn):
        """The time that has passed, and the time left."""

        def render(self, task: Task) -> Text:
            """Return both, with their labels."""
            return Text(elapsed_text(task.elapsed or 0.0, task.completed, task.total or 0.0))

    return Bar(
        TextColumn(f"{{task.description:<{described}.{described}}}"),
        # Rich fills a bar in red, as if something had failed.
        BarColumn(bar_width, complete_style="cyan", finished_style="cyan"),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        *(TextColumn(unit, table_column=Column(no_wrap=True)) for unit in units),
        TimeColumn(table_column=Column(no_wrap=True)),
        console=console,
        transient=True,
    )


class Progress:
    """The progress of a session, shown if standard error is a terminal."""

    def __init__(
        self,
        session: Session,
        expect: Callable[[], dict[str, int]] | None = None,
        *,
        quiet: bool = False,
    ) -> None:
        self._session = session
        self._expect = expect = expect or partial(parts_of, session.plan)
        self._expected = Expectation()
        self._quiet = quiet
        self._shown = sys.stderr.isatty() and not quiet
        self._heartbeat: Heartbeat | None = None
        if not (self._shown or quiet):
            self._heartbeat = Heartbeat(session=session, expected=self._expected, expect=expect)
        self._bar: Any = None
        self._task: Any = None
        self._activity = ""

    def __enter__(self) -> Self:
        if self._shown:
            self._bar = counting_bar(44, "calls")
            self._bar.start()
            self._expected.parts |= self._expect()
            self._task = self._bar.add_task("", total=self._expected.total)
        if self._heartbeat is not None:
            self._heartbeat.__enter__()
        self._session.on_exchange = self._advance
        if not self._quiet:
            self._session.on_violation = self.on_violation
        self._session.environment.person = self
        return self

    def _advance(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.on_call()
        elif self._bar is not None:
            self._expected.calls += 1
            self._bar.update(self._task, advance=1, total=self._expected.total)

    def on_trial(self, trial: Trial) -> None:
        """Show which trial is running, unless the run was asked to end."""
        check()
        self._expected.begin(CONTEXTS if trial.context else BASE)
        if self._heartbeat is not None:
            self._heartbeat.on_trial()
        self._activity = f"{trial.contract}/{trial.clause}"
        self._describe(self._activity)

    def on_violation(self, verdict: Verdict) -> None:
        """Print a violation as soon as it is found, or that it was taken back."""
        from assay.report.sanitize import clean, one_line  # noqa: PLC0415 -- only on a finding
        from assay.report.wording import SIGNS  # noqa: PLC0415 -- the same

        violated = verdict.standing is Standing.VIOLATES
        what = "" if violated else f"taken back, {verdict.standing.value}: "
        text = one_line(clean(f"{what}{verdict.reason}", VIOLATION_WIDTH))
        line = f"{SIGNS[verdict.standing]} {verdict.obligation}  {text}"
        if self._bar is None:
            click.echo(line, err=True)
        else:
            style = "bold red" if violated else ""
            self._bar.console.print(line, style=style, markup=False, highlight=False)

    def on_search(self, contract: str, how: str) -> None:
        """Show which search is running."""
        self._activity = f"{contract}: {how}"
        self._expected.begin(self._activity)
        self._describe(self._activity)

    def show(self, text: str) -> None:
        """Print a message to a person, above the bar; also with `quiet`."""
        if self._bar is None:
            StderrPrompt().show(text)
        else:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def countdown(self, seconds: float) -> None:
        """Show how many seconds a person has left, or the trial again for 0."""
        minutes, rest = divmod(round(seconds), 60)
        self._describe(f"waiting for you: {minutes}:{rest:02}" if seconds else self._activity)

    def _describe(self, text: str) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._heartbeat is not None:
            self._heartbeat.__exit__(kind, error, trace)


class ExaminationProgress:
    """Progress of the examination: the current check on a terminal, and the cost of the calls."""

    def __init__(self, terminal: bool, echo: Callable[[str], None] = click.echo) -> None:
        self.terminal = terminal
        self.echo = echo
        self.name, self.calls = "", 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._show("")

    def on_step(self, name: str, cost: DoctorCost | None) -> None:
        """Show the next check."""
        self.name = name
        if cost is not None and cost.calls:
            self._show("")
            self.echo(f"doctor: {_announced(cost)}")
        self._show(name)

    def on_call(self) -> None:
        """Count an event of a probe."""
        self.calls += 1
        self._show(f"{self.name}: {self.calls}")

    def _show(self, text: str) -> None:
        if self.terminal:
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)


def _announced(cost: DoctorCost) -> str:
    """Return one line that says which calls will be made."""
    names = ", ".join(f"{name} {n}" for name, n in sorted((cost.attended + cost.alone).items()))
    details = [
        f"{number} {what}"
        for number, what in (
            (cost.alone.total(), "without the customer"),
            (cost.consents, "that transmit a consent"),
            (cost.made, "that create a request"),
        )
        if number
    ]
    line = f"about {cost.calls} calls ({names})"
    line += f"; including {', '.join(details)}" if details else ""
    signatures = "a signature" if cost.signatures == 1 else f"{cost.signatures} signatures"
    return line + (f"; {signatures}" if cost.signatures else "")
