"""Random search for violations: generated sequences of calls, judged by every check.

A sequence that violates an obligation is replayed shorter and shorter; the result is
the obligation with the shortest sequence that violates it. Nothing is recorded here:
the caller replays that sequence once more for the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from time import monotonic

from hypothesis.strategies import SearchStrategy

from assay.contract.model import Capability, Contract
from assay.errors import CannotArrange
from assay.execution.environment import Environment
from assay.execution.executor import Executor, executing, run_probe
from assay.fuzzing.engine import ExplorationEnded, explore_machine, explore_values
from assay.fuzzing.findings import FuzzFinding, SearchResult
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.actions import Actions, actions
from assay.fuzzing.sequences.concretize import ANYWHERE, Concretizer, script
from assay.fuzzing.sequences.machine import machine
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.fuzzing.sequences.shrink import Story, shrink
from assay.history import Call, Event, History, Step
from assay.judging.judge import Breach, breaches
from assay.planning.plan import Plan
from assay.rules.clauses import clauses_of

#: The most sequences generated from one seed: Hypothesis varies earlier examples as soon
#: as it has enough, and quite different ones find more here.
ROUND = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """The limits of a search: sequences, steps of each, tries to shorten one, seconds.

    `calls` limits the calls of the generated sequences, for a bank with a quota;
    `reads` restricts them to reading with the customer present; signatures are given
    only if `signs`. The search ends after this many `findings`.
    """

    journeys: int = 100
    steps: int = 25
    tries: int = 400
    seconds: float | None = None
    calls: int | None = None
    findings: int | None = None
    reads: bool = False
    signs: bool = True


def _nobody(_finding: FuzzFinding) -> None:
    """Ignore the finding."""


class ObligationBroken(ExplorationEnded):
    """A sequence violates an obligation; ends the current exploration."""

    def __init__(self, story: Story, found: Sequence[Breach]) -> None:
        self.story, self.found = story, tuple(found)
        super().__init__(found[0].obligation)


@dataclass(slots=True, kw_only=True)
class Search:
    """A search through one contract of a plan, at one target.

    It is the target's side of sequences (`sequences.sequence.SequenceTarget`). The
    actions are those of the `whole` plan, even where only a part of it is run.
    """

    plan: Plan
    contract: Contract
    environment: Environment
    limits: SearchLimits = field(default_factory=SearchLimits)
    seed: int = 0
    whole: Plan | None = None
    began: float = field(default_factory=monotonic)
    journeys: int = 0
    exchanges: int = 0
    findings: list[FuzzFinding] = field(default_factory=list[FuzzFinding])
    known: frozenset[str] = frozenset()
    _asked: frozenset[str] = field(init=False)
    _play: Executor | None = None
    _open: AbstractContextManager[Executor] | None = None

    def __post_init__(self) -> None:
        # Both are used whenever something is judged.
        self._asked = self.plan.asked

    def travel(self, on_finding: Callable[[FuzzFinding], None] = _nobody) -> SearchResult:
        """Run random sequences until the limits are reached.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """
        spoken = self.speakable()
        if not spoken.households:
            return self.searched()

        def travelled(left: int, seed: tuple[object, ...]) -> None:
            made = machine(spoken, self.contract, self._begin)
            explore_machine(made, examples=left, steps=self.limits.steps, seed=seed)

        return self._until_spent(travelled, on_finding)

    def examine(
        self, stories: SearchStrategy[Story], on_finding: Callable[[FuzzFinding], None] = _nobody
    ) -> SearchResult:
        """Run the sequences of a strategy until the limits are reached.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """

        def examined(story: Story) -> None:
            if not self._affords(sum(isinstance(told.step, Call) for told in story)):
                raise ExplorationEnded("the limits are reached")
            self.journeys += 1
            if found := self.tell(story):
                raise ObligationBroken(story, found)
            if self._spent():
                raise ExplorationEnded("the limits are reached")

        return self._until_spent(
            lambda left, seed: explore_values(stories, examined, examples=left, seed=seed),
            on_finding,
        )

    def _until_spent(
        self,
        explored: Callable[[int, tuple[object, ...]], None],
        on_finding: Callable[[FuzzFinding], None],
    ) -> SearchResult:
        """Continue after each finding, ignoring what is found already."""
        round_ = 0
        while self.journeys < self.limits.journeys and not self._spent():
            try:
                left = self.limits.journeys - self.journeys
                explored(min(left, ROUND), (self.seed, self.contract.id, round_))
            except ObligationBroken as broken:
                for finding in self._shortened(broken):
                    self.findings.append(finding)
                    on_finding(finding)
            except ExplorationEnded:
                break
            round_ += 1
        return self.searched()

    def searched(self) -> SearchResult:
        """Return the result of the search so far."""
        return SearchResult(
            findings=tuple(self.findings),
            journeys=self.journeys,
            exchanges=self.exchanges,
            seconds=monotonic() - self.began,
        )

    def again(self, story: Story) -> tuple[FuzzFinding, ...]:
        """Replay a sequence that violated something before, and return what it violates now."""
        found = self.tell(story)
        if not found:
            return ()
        findings = tuple(self._shortened(ObligationBroken(story, found), tries=0))
        self.findings += findings
        return findings

    def tell(self, story: Iterable[AbstractStep]) -> tuple[Breach, ...]:
        """Run a sequence with a fixture of its own, and return what it violates."""
        driven = run_probe(
            script(tuple(story), self.contract.zone),
            self.environment,
            self.contract.operations,
            number=self._number,
            record=lambda _event, _access: None,
        )
        return self._judged(driven.history)

    # -- the target's side of a sequence ---------------------------------------------

    def perform(self, step: Step) -> Event:
        """Perform a step of the sequence."""
        if self._play is None:
            raise CannotArrange("an open fixture")
        if isinstance(step, Call) and not self._affords(1):
            raise CannotArrange("more calls than the search limits allow")
        return self._play.perform(step)

    def judge(self, story: Sequence[AbstractStep]) -> None:
        """Judge the sequence so far.

        Raises:
            ObligationBroken: it violates an obligation.
            ExplorationEnded: the limits are reached.

        """
        if self._play is None:
            return
        found = self._judged(History(events=tuple(self._play.events)))
        if found:
            raise ObligationBroken(tuple(story), found)
        if self._spent():
            raise ExplorationEnded("the limits are reached")

    def end(self) -> None:
        """Close the fixture of the sequence."""
        if self._open is not None:
            self._open.__exit__(None, None, None)
        self._play = self._open = None

    def _begin(self) -> SequenceBuilder:
        self.journeys += 1
        self._open = executing(self.environment, self.contract.operations, number=self._number)
        self._play = self._open.__enter__()
        return SequenceBuilder(
            contract=self.contract,
            player=self,
            inquire=Capability.EFFECTS in self.environment.target.fixtures.offers
            and not self.limits.reads
            and any(one.makes for one in self.contract.operations.values()),
            telling=Concretizer(zone=self.contract.zone or ANYWHERE, now=self._play.look()),
        )

    def _number(self) -> int:
        self.exchanges += 1
        return self.exchanges

    def _affords(self, calls: int) -> bool:
        """Whether this many more calls are within the limits."""
        return self.limits.calls is None or self.exchanges + calls <= self.limits.calls

    def _spent(self) -> bool:
        limits = self.limits
        late = limits.seconds is not None and monotonic() - self.began > limits.seconds
        enough = limits.findings is not None and len(self.findings) >= limits.findings
        return late or enough or not self._affords(1)

    def _judged(self, history: History) -> tuple[Breach, ...]:
        asked = self._asked - self.known
        return tuple(
            breaches(self.plan, self.contract.id, history, clauses_of(self.contract), asked)
        )

    def _shortened(
        self, broken: ObligationBroken, tries: int | None = None
    ) -> Iterator[FuzzFinding]:
        """Shorten a sequence for each obligation that it violates."""
        for name in dict.fromkeys(one.obligation for one in broken.found):

            def breaks(story: Story, name: str = name) -> bool:
                return any(one.obligation == name for one in self.tell(story))

            story = shrink(broken.story, breaks, most=self.limits.tries if tries is None else tries)
            first = next(one for one in broken.found if one.obligation == name)
            told = broken.found if story == broken.story else self.tell(story)
            again = [one for one in told if one.obligation == name]
            self.known |= {name}
            yield FuzzFinding(
                obligation=name,
                breach=(again or [first])[0],
                story=story,
                seconds=monotonic() - self.began,
                after=self.journeys,
            )

    def speakable(self) -> Actions:
        """Return the actions that this target, and these limits, allow."""
        spoken = actions(self.whole or self.plan, self.contract)
        if not self.limits.signs:
            spoken = replace(spoken, signatures=())
        if self.limits.reads:
            spoken = replace(
                spoken,
                plain=tuple(one for one in spoken.plain if self._reads(one)),
                bent=(),
                moments=(),
                signatures=(),
                asides=(),
            )
        return replace(
            spoken, households=tuple(one for one in spoken.households if self._arrangeable(one))
        )

    def _reads(self, told: AbstractStep) -> bool:
        operation = self.contract.operations[getattr(told.step, "operation", "")]
        return bool(getattr(told.step, "present", False)) and not (
            operation.writes or operation.grants
        )

    def _arrangeable(self, household: AbstractStep) -> bool:
        with executing(self.environment, self.contract.operations, number=self._number) as play:
            telling = Concretizer(now=play.look())
            try:
                play.perform(telling.step(household))
            except CannotArrange:
                return False
        return True
