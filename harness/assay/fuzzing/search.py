"""Random search for violations: generated sequences of calls, judged by every check.

A sequence that violates an obligation is replayed shorter and shorter; the result is
the obligation with the shortest sequence that violates it. Nothing is recorded here:
the caller replays that sequence once more for the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from time import monotonic

from hypothesis.strategies import SearchStrategy

from assay.binding.join import BoundContract
from assay.contract.model import Capability, Contract
from assay.errors import CannotArrange
from assay.execution.environment import Environment
from assay.execution.executor import Executor, executing, run_probe
from assay.fuzzing.engine import (
    ExplorationEnded,
    explore_machine,
    explore_values,
    sequence_machine,
)
from assay.fuzzing.findings import FuzzFinding, SearchResult
from assay.fuzzing.sequences.abstract_step import AbstractSequence, AbstractStep
from assay.fuzzing.sequences.actions import Actions, gather_actions
from assay.fuzzing.sequences.concretize import ANYWHERE, Concretizer, script
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.fuzzing.sequences.shrink import shrink
from assay.history import Call, Event, History, Step, Subject
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
    `restricted` says why they only read with the customer present, where they do;
    signatures are given only if `signs`. The search ends after this many `findings`.
    """

    sequences: int = 100
    steps: int = 25
    tries: int = 400
    seconds: float | None = None
    calls: int | None = None
    findings: int | None = None
    restricted: str = ""
    signs: bool = True

    @property
    def reads(self) -> bool:
        """Whether the search only reads with the customer present."""
        return bool(self.restricted)


def _ignore(_finding: FuzzFinding) -> None:
    """Ignore the finding."""


class ObligationBroken(ExplorationEnded):
    """A sequence violates an obligation; ends the current exploration."""

    def __init__(self, sequence: AbstractSequence, broken: Sequence[Breach]) -> None:
        self.sequence, self.breaches = sequence, tuple(broken)
        super().__init__(broken[0].obligation)


@dataclass(slots=True, kw_only=True)
class Search:
    """A search through one contract of a plan, at one target.

    It is the target's side of sequences (`sequences.sequence.SequenceTarget`). The
    actions are those of the `whole` plan, even where only a part of it is run. A search by
    schemas needs the contracts as `bound`, and may be restricted to one `operation`.
    """

    plan: Plan
    contract: Contract
    environment: Environment
    limits: SearchLimits = field(default_factory=SearchLimits)
    seed: int = 0
    whole: Plan | None = None
    began: float = field(default_factory=monotonic)
    sequences: int = 0
    exchanges: int = 0
    findings: list[FuzzFinding] = field(default_factory=list[FuzzFinding])
    known: frozenset[str] = frozenset()
    bound: Sequence[BoundContract] = ()
    operation: str = ""
    _planned: frozenset[str] = field(init=False)
    _executor: Executor | None = None
    _fixture: AbstractContextManager[Executor] | None = None

    def __post_init__(self) -> None:
        # Computed once: it is used whenever something is judged.
        self._planned = self.plan.asked

    def run_machine(self, on_finding: Callable[[FuzzFinding], None] = _ignore) -> SearchResult:
        """Run random sequences of actions until the limits are reached.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """
        actions = self.actions()
        if not actions.households:
            return self.result()

        def explore(left: int, seed: tuple[object, ...]) -> None:
            machine = sequence_machine(actions, self.contract, self.begin)
            explore_machine(machine, examples=left, steps=self.limits.steps, seed=seed)

        return self._until_spent(explore, on_finding)

    def run_strategy(
        self,
        strategy: SearchStrategy[AbstractSequence],
        on_finding: Callable[[FuzzFinding], None] = _ignore,
    ) -> SearchResult:
        """Run the sequences of a strategy until the limits are reached.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """

        def run(sequence: AbstractSequence) -> None:
            calls = sum(isinstance(abstract_step.step, Call) for abstract_step in sequence)
            if not self._affords(calls):
                raise ExplorationEnded("the limits are reached")
            self.sequences += 1
            if broken := self.violations(sequence):
                raise ObligationBroken(sequence, broken)
            if self._spent():
                raise ExplorationEnded("the limits are reached")

        return self._until_spent(
            lambda left, seed: explore_values(strategy, run, examples=left, seed=seed),
            on_finding,
        )

    def _until_spent(
        self,
        explore: Callable[[int, tuple[object, ...]], None],
        on_finding: Callable[[FuzzFinding], None],
    ) -> SearchResult:
        """Continue after each finding; obligations that have one are ignored then."""
        round_ = 0
        while self.sequences < self.limits.sequences and not self._spent():
            left = min(self.limits.sequences - self.sequences, ROUND)
            seed = (self.seed, self.contract.id, round_)
            if not self.attempt(partial(explore, left, seed), on_finding):
                break
            round_ += 1
        return self.result()

    def attempt(
        self, explore: Callable[[], None], on_finding: Callable[[FuzzFinding], None]
    ) -> bool:
        """Run sequences until one violates something; return whether the search may go on."""
        try:
            explore()
        except ObligationBroken as broken:
            for finding in self._shortened(broken, self.limits.tries):
                self.findings.append(finding)
                on_finding(finding)
        except ExplorationEnded:
            return False
        return not self._spent()

    def result(self) -> SearchResult:
        """Return the result of the search so far."""
        return SearchResult(
            findings=tuple(self.findings),
            sequences=self.sequences,
            exchanges=self.exchanges,
            seconds=monotonic() - self.began,
        )

    def retry(self, sequence: AbstractSequence) -> tuple[FuzzFinding, ...]:
        """Run a sequence that violated something before, and return what it violates now."""
        broken = self.violations(sequence)
        if not broken:
            return ()
        findings = tuple(self._shortened(ObligationBroken(sequence, broken), tries=0))
        self.findings += findings
        return findings

    def violations(self, sequence: AbstractSequence) -> tuple[Breach, ...]:
        """Run a sequence with a fixture of its own, and return what it violates."""
        probe_run = run_probe(
            script(sequence, self.contract.zone),
            self.environment,
            self.contract.operations,
            number=self._number,
            record=lambda _event, _access: None,
        )
        return self._judged(probe_run.history)

    def _shortened(self, broken: ObligationBroken, tries: int) -> Iterator[FuzzFinding]:
        """Shorten a sequence for each obligation that it violates."""
        for name in dict.fromkeys(breach.obligation for breach in broken.breaches):

            def breaks(sequence: AbstractSequence, name: str = name) -> bool:
                return any(breach.obligation == name for breach in self.violations(sequence))

            sequence = shrink(broken.sequence, breaks, most=tries)
            shortened = sequence != broken.sequence
            # A target that is not deterministic may not violate it once more.
            every = (*(self.violations(sequence) if shortened else ()), *broken.breaches)
            self.known |= {name}
            yield FuzzFinding(
                obligation=name,
                breach=next(breach for breach in every if breach.obligation == name),
                sequence=sequence,
                seconds=monotonic() - self.began,
                after=self.sequences,
            )

    # -- the target's side of a sequence ---------------------------------------------

    def perform(self, step: Step) -> Event:
        """Perform a step of the sequence."""
        if self._executor is None:
            raise CannotArrange("an open fixture")
        if isinstance(step, Call) and not self._affords(1):
            raise CannotArrange("more calls than the search limits allow")
        return self._executor.perform(step)

    def judge(self, sequence: Sequence[AbstractStep]) -> None:
        """Judge the sequence so far.

        Raises:
            ObligationBroken: it violates an obligation.
            ExplorationEnded: the limits are reached.

        """
        if self._executor is None:
            return
        broken = self._judged(History(events=tuple(self._executor.events)))
        if broken:
            raise ObligationBroken(tuple(sequence), broken)
        if self._spent():
            raise ExplorationEnded("the limits are reached")

    def end(self) -> None:
        """Close the fixture of the sequence."""
        if self._fixture is not None:
            self._fixture.__exit__(None, None, None)
        self._executor = self._fixture = None

    def begin(self) -> SequenceBuilder:
        """Open a fixture for the next sequence.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """
        self.sequences += 1
        self._fixture = executing(self.environment, self.contract.operations, number=self._number)
        self._executor = self._fixture.__enter__()
        return SequenceBuilder(
            contract=self.contract,
            target=self,
            inquire=Capability.EFFECTS in self.environment.target.fixtures.offers
            and not self.limits.reads
            and any(operation.makes for operation in self.contract.operations.values()),
            concretizer=Concretizer(zone=self.contract.zone or ANYWHERE, now=self._executor.look()),
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

    def breaches_so_far(self) -> tuple[Breach, ...]:
        """Return all that the sequence violates so far, whether known or not."""
        if self._executor is None:
            return ()
        history = History(events=tuple(self._executor.events))
        clauses = clauses_of(self.contract)
        return tuple(breaches(self.plan, self.contract.id, history, clauses, self._planned))

    def _judged(self, history: History) -> tuple[Breach, ...]:
        unknown = self._planned - self.known
        clauses = clauses_of(self.contract)
        return tuple(breaches(self.plan, self.contract.id, history, clauses, unknown))

    # -- actions -----------------------------------------------------------------------

    def actions(self) -> Actions:
        """Return the actions that this target, and these limits, allow."""
        actions = gather_actions(self.whole or self.plan, self.contract)
        if not self.limits.signs:
            actions = replace(actions, signatures=())
        if self.limits.reads:
            plain = tuple(action for action in actions.plain if self._reads(action))
            actions = replace(actions, plain=plain, varied=(), moments=(), signatures=(), asides=())
        households = tuple(filter(self._can_arrange, actions.households))
        return replace(actions, households=households)

    def _reads(self, action: AbstractStep) -> bool:
        call = action.step
        if not isinstance(call, Call):
            return False
        operation = self.contract.operations[call.operation]
        return call.present and not (operation.writes or operation.grants)

    def _can_arrange(self, household: AbstractStep) -> bool:
        """Whether there is such a household, of customers with whom the search may do all."""
        subject = self._arranged(household)
        return subject is not None and (subject.fresh or self.limits.reads)

    def has_fresh_customers(self) -> bool:
        """Whether the target's customers are created for the run, as the first one says."""
        households = gather_actions(self.whole or self.plan, self.contract).households
        subjects = filter(None, map(self._arranged, households))
        return all(subject.fresh for subject in islice(subjects, 1))

    def _arranged(self, household: AbstractStep) -> Subject | None:
        """Arrange a household; return its customer, None where that cannot be."""
        with executing(self.environment, self.contract.operations, number=self._number) as executor:
            try:
                event = executor.perform(Concretizer(now=executor.look()).step(household))
            except CannotArrange:
                return None
        return event if isinstance(event, Subject) else None
