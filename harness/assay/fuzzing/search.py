"""Random search for violations: generated sequences of calls, judged by every check.

A sequence that violates an obligation is replayed shorter and shorter; the result is
the obligation with the shortest sequence that violates it. Nothing is recorded here:
the caller replays that sequence once more for the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from time import monotonic
from typing import TypeAlias

from assay.binding.read.join import BoundContract
from assay.contexts.context import Context, in_context, mapped
from assay.contexts.dimensions import dimensions
from assay.contexts.past import PAST
from assay.contract.model import Capability, Contract
from assay.errors import CannotArrange, TargetError
from assay.fuzzing.draws import Dice, Draw, dice
from assay.fuzzing.findings import FuzzFinding, Reached, SearchResult
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.search_coverage import Reach, WatchedContext
from assay.fuzzing.sequences.abstract_step import AbstractSequence, AbstractStep
from assay.fuzzing.sequences.actions import Actions, gather_actions
from assay.fuzzing.sequences.concretize import ANYWHERE, Concretizer, script
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.fuzzing.sequences.shrink import needed, shrink
from assay.history import Advance, Advanced, Call, Event, History, Step, Subject
from assay.history.events import ProbeRun
from assay.judging.judge import Breach, breaches
from assay.planning.plan import Plan
from assay.rules.steps import perform_all
from assay.running.environment import Environment
from assay.running.executor import Executor, executing, run_probe
from assay.running.parallel_trials import LaneTask, RecordedRun, performed

# -- Random sequences of actions -----------------------------------------------------------------
# A sequence begins with a customer and a theme, a small selection of the actions, and
# continues with those that are possible at that point: only existing requests are signed
# or changed, only pages that an answer named are requested. Within a theme the same few
# actions meet again and again, which is where unforeseen faults are found.

#: The most customers in one sequence.
CUSTOMERS = 3
#: The most actions of one sort in a theme.
THEME = 3
#: The number that decides the thing, the request and the way of an action is below this.
PICKS = 2**24

#: Actions by sort.
Sorts: TypeAlias = Mapping[str, Sequence[AbstractStep]]
#: The sorts that every theme has; any other may be missing.
NEEDED = frozenset({"grant", "make", "ask"})
#: The sorts about a request that was made before.
AFTER = frozenset({"follow", "sign"})


class ExplorationEnded(BaseException):
    """Ends an exploration. Not an `Exception`, so that nothing handles it and continues."""


def run_sequence(
    sequence: SequenceBuilder, actions: Actions, sorts: Sorts, *, steps: int, dice: Dice
) -> None:
    """Run a sequence of this many steps, judged as it grows, and close its fixture.

    Raises:
        ExplorationEnded: the target's side of the sequence ends the search.

    """
    try:
        theme = {
            sort: dice.choices(members, k=dice.randint(sort in NEEDED, THEME))
            for sort, members in sorts.items()
        }
        sequence.add_customer(dice.choice(actions.households))
        for _ in range(steps):
            sequence.judge()
            if possible := [*_possible(sequence, theme, actions)]:
                dice.choice(possible)(dice.randrange(PICKS))
        sequence.judge()
    finally:
        sequence.end()


def sorts_of(actions: Actions, contract: Contract) -> Sorts:
    """Group the actions by sort; empty sorts are left out."""
    sorts: dict[str, list[AbstractStep]] = {
        "grant": [],
        "make": [],
        "ask": [],
        "follow": [],
        "vary": [*actions.varied],
        "sign": [*actions.signatures],
        "aside": [*actions.asides],
        "wait": [AbstractStep(step=Advance(), moment=moment) for moment in actions.moments],
    }
    for action in actions.plain:
        call = action.step
        operation = contract.operations[call.operation] if isinstance(call, Call) else None
        if operation is not None and operation.grants:
            sorts["grant"].append(action)
        elif operation is not None and operation.makes:
            sorts["make"].append(action)
        else:
            sorts["follow" if [*action.places] else "ask"].append(action)
    return {sort: members for sort, members in sorts.items() if members}


def _possible(
    sequence: SequenceBuilder, theme: Sorts, actions: Actions
) -> Iterator[Callable[[int], None]]:
    """Yield what is possible at this point of a sequence; each takes the number drawn."""

    def add_customer(pick: int) -> None:
        sequence.add_customer(actions.households[pick % len(actions.households)])

    def repeat(pick: int) -> None:
        repeats = actions.repeats or (1,)
        sequence.repeat_call(repeats[pick % len(repeats)])

    if not sequence.customers:
        yield add_customer
        return
    for sort, members in theme.items():
        if members and (sequence.made or sort not in AFTER):

            def act(pick: int, members: Sequence[AbstractStep] = members) -> None:
                pick, which = divmod(pick, len(members))
                sequence.act(members[which], pick)

            yield act
    if sequence.last_call is not None:
        yield lambda _: sequence.repeat_call()
        yield lambda _: sequence.repeat_control()
        yield repeat
    if sequence.pages:
        yield lambda _: sequence.read_pages()
    if len(sequence.customers) < CUSTOMERS:
        yield add_customer


# -- The search ----------------------------------------------------------------------------------
def _ignore(_finding: FuzzFinding) -> None:
    """Ignore the finding."""


class ObligationBroken(ExplorationEnded):
    """A sequence violates an obligation; ends the current exploration."""

    def __init__(
        self,
        sequence: AbstractSequence,
        broken: Sequence[Breach],
        context: Context,
        seen: RecordedRun,
    ) -> None:
        self.sequence, self.breaches, self.context = sequence, tuple(broken), context
        self.seen = RecordedRun(entries=[*seen.entries], run=ProbeRun(history=History()))
        super().__init__(broken[0].obligation)


@dataclass(slots=True, kw_only=True)
class Search:
    """A search through one contract of a plan, at one target.

    It is the target's side of sequences (`sequences.sequence.SequenceTarget`). The
    actions are those of the `whole` plan, even where only a part of it is run. A search by
    schemas needs the contracts as `bound`, and may be restricted to one `operation`. Lives have
    a `strength`, and vary no dimensions. What runs `beside` the trials is taken up by `taken`.
    `failed` says why nothing can be tried any more, if the fixture provider failed.
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
    strength: int = 0
    beside: Sequence[LaneTask] = ()
    taken: Callable[[LaneTask], RecordedRun] | None = None
    failed: str = ""
    reach: Reach = field(init=False)
    _planned: frozenset[str] = field(init=False)
    _watched: WatchedContext = field(default_factory=WatchedContext)
    _executor: Executor | None = None
    _torn: bool = False
    _found: ObligationBroken | None = None
    _seen: RecordedRun = field(default_factory=RecordedRun)
    _fixture: AbstractContextManager[Executor] | None = None

    def __post_init__(self) -> None:
        # Computed once: it is used whenever something is judged.
        self._planned = self.plan.asked
        self.restrict(self.limits)

    def restrict(self, limits: SearchLimits) -> None:
        """Set the limits, before anything is searched: what only reads has no further contexts."""
        self.limits = limits
        target, contracts = self.environment.target, self.plan.contracts.values()
        every = () if limits.reads else dimensions(self.contract, target, contracts)
        # Few rules are tried at other banks.
        found = tuple(each for each in every if each.name != "bank")
        if not limits.signs:  # a past takes signatures
            found = tuple(each for each in found if each.name != PAST)
        self.reach = Reach(contract=self.contract, dimensions=found, seed=self.seed)

    def run_actions(self, on_finding: Callable[[FuzzFinding], None] = _ignore) -> SearchResult:
        """Run random sequences of actions until the limits are reached.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """
        actions = allowed_actions(self)
        if not actions.households:
            return self.result()

        sorts = sorts_of(actions, self.contract)

        def run(dice: Dice) -> None:
            run_sequence(self.begin(), actions, sorts, steps=self.limits.steps, dice=dice)

        return self._until_spent(run, on_finding)

    def run_drawn(
        self,
        draw: Draw[AbstractSequence],
        on_finding: Callable[[FuzzFinding], None] = _ignore,
    ) -> SearchResult:
        """Run drawn sequences until the limits are reached.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """

        def run(dice: Dice) -> None:
            sequence = draw(dice)
            calls = sum(isinstance(abstract_step.step, Call) for abstract_step in sequence)
            if not self._affords(calls):
                raise ExplorationEnded("the limits are reached")
            self.sequences += 1
            watched = WatchedContext(context=self.reach.next_context())
            self._judge(sequence, self._history(sequence, watched.values), watched)

        return self._until_spent(run, on_finding)

    def take_up(self, task: LaneTask) -> RecordedRun:
        """Return what ran beside the trials, or run it now.

        Raises:
            ExplorationEnded: nothing can be tried any more.

        """
        self.sequences += 1
        if self.stopped:
            raise ExplorationEnded(self.stopped)
        try:
            run = self.taken(task) if self.taken else performed(task, self.environment)
        except TargetError as error:
            self.fail(error)
            raise ExplorationEnded(self.failed) from None
        self.exchanges += run.numbers
        return run

    def judge_run(self, sequence: AbstractSequence, run: RecordedRun) -> None:
        """Judge a run of a sequence.

        Raises:
            ObligationBroken: it violates an obligation.
            ExplorationEnded: the limits are reached.

        """
        self._seen = run
        self._judge(sequence, run.run.history if run.run else History(), WatchedContext())

    def _judge(self, sequence: AbstractSequence, history: History, watched: WatchedContext) -> None:
        self.reach.see(watched, history.events)
        if broken := self._judged(history):
            raise self._broken(sequence, broken, watched.context)
        if self._spent():
            raise ExplorationEnded("the limits are reached")

    def _until_spent(
        self,
        run: Callable[[Dice], None],
        on_finding: Callable[[FuzzFinding], None],
    ) -> SearchResult:
        """Continue after each finding; obligations that have one are ignored then."""
        while self.sequences < self.limits.sequences and not self._spent():
            own = dice(self.seed, self.contract.id, self.sequences)
            if not self.attempt(partial(run, own), on_finding):
                break
        return self.result()

    def attempt(
        self, explore: Callable[[], None], on_finding: Callable[[FuzzFinding], None]
    ) -> bool:
        """Run sequences until one violates something; return whether the search may go on."""
        self._found, ended = None, True
        try:
            with suppress(ExplorationEnded):
                explore()
                ended = False
            if self._found is None:
                return not ended and not self._spent()
            self.reach.quiet = 0
            for finding in self._shortened(self._found, self.limits.tries):
                self.findings.append(finding)
                on_finding(finding)
        except BaseException:  # what was found is not lost
            if self._found is not None:
                known = {finding.obligation for finding in self.findings}
                for finding in self._shortened(self._found, tries=0):
                    if finding.obligation not in known:
                        on_finding(finding)
            raise
        return not self._spent()

    def _broken(
        self, sequence: AbstractSequence, broken: Sequence[Breach], context: Context
    ) -> ObligationBroken:
        """Return what ends an exploration, after noting it."""
        self._found = ObligationBroken(sequence, broken, context, self._seen)
        return self._found

    def result(self) -> SearchResult:
        """Return the result of the search so far."""
        return SearchResult(
            findings=tuple(self.findings),
            sequences=self.sequences,
            exchanges=self.exchanges,
            seconds=monotonic() - self.began,
            reached=Reached(
                asked=self.limits.sequences,
                pairs=len(self.reach.pairs),
                possible=0 if self.strength else self.reach.possible,
                states=len(self.reach.states),
                quiet=self.reach.quiet if self.stale else 0,
            ),
        )

    def retry(self, sequence: AbstractSequence, context: Context = ()) -> tuple[FuzzFinding, ...]:
        """Run a sequence that violated something before, and return what it violates now."""
        broken = self.violations(sequence, context)
        if not broken:
            return ()
        seen = ObligationBroken(sequence, broken, context, self._seen)
        findings = tuple(self._shortened(seen, tries=0))
        self.findings += findings
        return findings

    def violations(self, sequence: AbstractSequence, context: Context = ()) -> tuple[Breach, ...]:
        """Run a sequence with a fixture of its own, and return what it violates."""
        return self._judged(self._history(sequence, context))

    def _history(self, sequence: AbstractSequence, context: Context) -> History:
        """Run a sequence with a fixture of its own."""
        self._seen = RecordedRun()
        try:
            probe_run = run_probe(
                in_context(script(sequence, self.contract.zone), context),
                self.environment,
                self.contract.operations,
                number=self.number,
                record=self._seen.add,
            )
        except TargetError as error:
            self.fail(error)
            return History()
        return probe_run.history

    def fail(self, error: TargetError | CannotArrange) -> None:
        """Note why nothing can be tried any more; a target that never answered ends the run."""
        if isinstance(error, CannotArrange):
            self.failed = self.failed or f"needs {error}"
        elif not self.environment.client.reached:
            raise error
        self.failed = self.failed or f"the fixture provider failed: {error}"

    @property
    def stopped(self) -> str:
        """Why nothing can be tried any more; empty if something can."""
        return self.environment.guard.stopped or self.failed

    def _shortened(self, broken: ObligationBroken, tries: int) -> Iterator[FuzzFinding]:
        """Shorten a sequence for each obligation that it violates."""
        for name in dict.fromkeys(breach.obligation for breach in broken.breaches):

            def breaks(sequence: AbstractSequence, context: Context, name: str = name) -> bool:
                return any(
                    breach.obligation == name for breach in self.violations(sequence, context)
                )

            sequence, context, seen = broken.sequence, broken.context, broken.seen
            if tries and not self.stopped:
                context = needed(context, partial(breaks, sequence))
                sequence = shrink(sequence, partial(breaks, context=context), most=tries)
                context = needed(context, partial(breaks, sequence))
            shortened = (sequence, context) != (broken.sequence, broken.context)
            # A target that is not deterministic may not violate it once more.
            again = self.violations(sequence, context) if shortened else ()
            if any(breach.obligation == name for breach in again):
                seen = ObligationBroken(sequence, again, context, self._seen).seen
            every = (*again, *broken.breaches)
            self.known |= {name}
            yield FuzzFinding(
                obligation=name,
                breach=next(breach for breach in every if breach.obligation == name),
                seen=seen,
                sequence=sequence,
                context=context,
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
        before = len(self._executor.trial.events)
        try:
            return perform_all(mapped(step, self._watched.mappers), self._executor.perform)
        except CannotArrange:
            # The step is left out of the sequence, but a part of what its context adds was done.
            self._torn |= len(self._executor.trial.events) > before
            raise
        except TargetError as error:
            self.fail(error)
            raise ExplorationEnded(self.failed) from None

    def judge(self, sequence: Sequence[AbstractStep]) -> None:
        """Judge the sequence so far.

        Raises:
            ObligationBroken: it violates an obligation.
            ExplorationEnded: the limits are reached.

        """
        if self._executor is None or self._torn:
            return
        broken = self._judged(self._executor.history)
        if broken:
            raise self._broken(tuple(sequence), broken, self._watched.context)
        if self._spent():
            raise ExplorationEnded("the limits are reached")

    def end(self) -> None:
        """Close the fixture of the sequence."""
        if self._executor is not None:
            self.reach.see(self._watched, self._executor.trial.events)
        if self._fixture is not None:
            self._fixture.__exit__(None, None, None)
        self._executor = self._fixture = None

    def begin(self, context: Context | None = None) -> SequenceBuilder:
        """Open a fixture for the next sequence, in a context of its own or a given one.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.

        """
        self.sequences += 1
        if self.stopped:
            raise ExplorationEnded(self.stopped)
        self._seen = RecordedRun()
        fixture = executing(
            self.environment, self.contract.operations, number=self.number, record=self._seen.add
        )
        try:
            self._executor = fixture.__enter__()
        except TargetError as error:
            self.fail(error)
            raise ExplorationEnded(self.failed) from None
        self._fixture = fixture
        chosen = self.reach.next_context() if context is None else context
        self._watched, self._torn = WatchedContext(context=chosen), False
        clock = self.perform(Advance())
        return SequenceBuilder(
            contract=self.contract,
            target=self,
            inquire=Capability.EFFECTS in self.environment.target.fixtures.offers
            and not self.limits.reads
            and any(operation.makes for operation in self.contract.operations.values()),
            concretizer=Concretizer(
                zone=self.contract.zone or ANYWHERE,
                now=clock.now if isinstance(clock, Advanced) else self._executor.trial.look(),
            ),
        )

    def number(self) -> int:
        """Return the number of the next exchange."""
        self.exchanges += 1
        return self.exchanges

    def _affords(self, calls: int) -> bool:
        """Whether this many more calls are within the limits."""
        return self.limits.calls is None or self.exchanges + calls <= self.limits.calls

    def _spent(self) -> bool:
        limits = self.limits
        late = limits.seconds is not None and monotonic() - self.began > limits.seconds
        enough = limits.findings is not None and len(self.findings) >= limits.findings
        return late or enough or self.stale or bool(self.stopped) or not self._affords(1)

    @property
    def stale(self) -> bool:
        """Whether nothing new was reached for a good while."""
        return self.reach.quiet >= self.reach.patience(self.limits.sequences)

    def breaches_so_far(self) -> tuple[Breach, ...]:
        """Return all that the sequence violates so far, whether known or not."""
        if self._executor is None:
            return ()
        history = self._executor.history
        return tuple(breaches(self.plan, self.contract.id, history, self._planned))

    def _judged(self, history: History) -> tuple[Breach, ...]:
        unknown = self._planned - self.known
        return tuple(breaches(self.plan, self.contract.id, history, unknown))


# -- Actions that the target file and the limits of a search permit --------------------------
def allowed_actions(search: Search) -> Actions:
    """Return the actions that the target, and the limits of a search, allow."""
    actions = gather_actions(search.whole or search.plan, search.contract)
    if not search.limits.signs:
        actions = replace(actions, signatures=())
    if search.limits.reads:
        plain = tuple(action for action in actions.plain if _reads(search.contract, action))
        actions = replace(actions, plain=plain, varied=(), moments=(), signatures=(), asides=())
    households = (each for each in actions.households if _can_arrange(search, each))
    return replace(actions, households=tuple(households))


def has_fresh_customers(search: Search) -> bool:
    """Whether the target's customers are created for the run, as the first one says."""
    households = gather_actions(search.whole or search.plan, search.contract).households
    subjects = filter(None, (_arranged(search, household) for household in households))
    return all(subject.fresh for subject in islice(subjects, 1))


def _reads(contract: Contract, action: AbstractStep) -> bool:
    call = action.step
    if not isinstance(call, Call):
        return False
    operation = contract.operations[call.operation]
    return call.present and not (operation.writes or operation.grants)


def _can_arrange(search: Search, household: AbstractStep) -> bool:
    """Whether there is such a household, of customers with whom the search may do all."""
    subject = _arranged(search, household)
    return subject is not None and (subject.fresh or search.limits.reads)


def _arranged(search: Search, household: AbstractStep) -> Subject | None:
    """Arrange a household; return its customer, None where that cannot be."""
    operations = search.contract.operations
    with executing(search.environment, operations, number=search.number) as executor:
        try:
            event = executor.perform(Concretizer(now=executor.trial.look()).step(household))
        except CannotArrange:
            return None
    return event if isinstance(event, Subject) else None
