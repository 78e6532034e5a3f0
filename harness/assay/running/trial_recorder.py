"""Recorder of trials: runs their probes and writes what they do, at once or ahead of their turn.

Where several trials run side by side, each is written when its turn comes, in the plan's order, and
its exchanges get their numbers then. A run that ends early writes all that was done by then.

Every clause judges every trial. So that checks can see what was executed, a trial that made a
request ends with an inquiry at the fixture, which is no exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import chain

from assay.binding.model.spelling import OperationBinding
from assay.binding.wire.encode import Access
from assay.contract.model import Capability, Contract
from assay.errors import CannotArrange
from assay.fixtures.providers import has_real_customers
from assay.fixtures.waiting import waits_at_once
from assay.history import (
    AnsweredCall,
    Authorised,
    Call,
    Effects,
    Ending,
    Event,
    Exchange,
    History,
    Inquire,
    Reply,
    State,
)
from assay.history.events import ProbeRun
from assay.journal.codec import VerdictSource
from assay.journal.writer import Journal
from assay.judging.judge import Breach, judge
from assay.planning.plan import Plan, Trial, script_of
from assay.rules import steps
from assay.rules.checks import evidence_of
from assay.rules.lifecycle.executions import GRACE
from assay.rules.rule import Script, clauses_of, facts_of
from assay.rules.verdict import Standing, Verdict
from assay.running.environment import Environment
from assay.running.executor import Recorder, run_probe
from assay.running.guard import same_customers
from assay.running.parallel_trials import (
    Lanes,
    LaneStopped,
    LaneTask,
    RecordedRun,
    StoppableTransport,
    Turns,
    performed,
)
from assay.transport.secrets import Secret

#: So long after a trial the day of each request is past, and what was not executed never will be.
LONG_AFTER = timedelta(days=GRACE + 10)
#: The states in which a request has come to an end.
FINAL = frozenset({State.DONE, State.REJECTED, State.ENDED})


@dataclass(slots=True, kw_only=True)
class TrialRecorder:
    """Runs the trials of a plan for the record, `concurrency` of them side by side.

    `exchanges` counts the exchanges and signatures that were written. `on_event` receives every
    event that was written, in order.
    """

    plan: Plan
    environment: Environment
    journal: Journal
    on_event: Callable[[Event], None]
    concurrency: int = 1
    exchanges: int = 0
    _lanes: Lanes | None = None
    _turns: Turns | None = None
    _waits: Sequence[Trial] = ()
    _waiting: Lanes | None = None
    _stopping: bool = False

    def start(self, *phases: Sequence[Trial | LaneTask]) -> None:
        """Run the trials of each phase ahead of their turn, if several may run side by side.

        Those that wait do so at the same time, as far as their customers are different; those of
        listed customers begin when the first of them is taken up.
        """
        every = [each for phase in phases for each in phase]
        if self.environment.waiting and waits_at_once(self.environment.target):
            self._waits = [each for each in every if isinstance(each, Trial) and each.needs_clock]
        if self._waits and not has_real_customers(self.environment.target):
            self._begin_to_wait()
        if self.concurrency > 1:
            phases = tuple(
                [each for each in phase if not self._waits_for(each)] for phase in phases
            )
            self._lanes = self._lanes or Lanes(self.concurrency, self._perform_ahead)
            self._lanes.start(*phases)

    def _waits_for(self, trial: Trial | LaneTask) -> bool:
        return any(each is trial for each in self._waits)

    def _begin_to_wait(self) -> Lanes | None:
        """Return the lanes in which trials wait, which take turns with all others."""
        if self._waiting is None and self.environment.waiting is not None:
            same = same_customers(self.environment.target)
            self._turns = Turns(self.environment.waiting, self._waits, same, self.concurrency)
            self._waiting = Lanes(len(self._waits), self._perform_ahead)
            self._waiting.start(self._waits)
        return self._waiting

    def _lanes_of(self, trial: Trial) -> Lanes | None:
        """Return the lanes, if the trial is run in one."""
        return self._begin_to_wait() if self._waits_for(trial) else self._lanes

    def _turn(self, trial: Trial | LaneTask) -> AbstractContextManager[None]:
        if self._turns is None or not isinstance(trial, Trial):
            return nullcontext()
        return self._turns.acting(trial)

    def stop(self) -> None:
        """End the trials that run ahead, and write what they did until now."""
        self._stopping = True
        if self._turns is not None:
            self._turns.stop()
        for lanes in filter(None, (self._lanes, self._waiting)):
            for trial, ahead in lanes.stop():
                with suppress(Exception):
                    if isinstance(trial, Trial):
                        self.write(trial.id, ahead)
        self._lanes = self._waiting = None

    def started(self, trial: Trial) -> bool:
        """Whether a trial runs ahead of its turn, or did and was not written."""
        return any(lanes.started(trial) for lanes in filter(None, (self._lanes, self._waiting)))

    def perform(self, trial: Trial) -> ProbeRun:
        """Run the probe of a trial, unless it has run ahead, and write what it does.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        if lanes := self._lanes_of(trial):
            return self.write(trial.id, lanes.take(trial))
        environment, contract = self.environment.for_trial(trial.choice), self._contract(trial)
        with self._turn(trial):
            return self.perform_steps(trial.id, self._script(trial), contract, environment)

    def take_up(self, task: LaneTask) -> RecordedRun:
        """Return what a task did in a lane, or perform it now; nothing of it is written.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        if self._lanes is None:
            return performed(task, self.environment)
        ahead = self._lanes.take(task)
        for entry in ahead.entries:
            if isinstance(entry, Secret):
                self._learn(entry)
        if ahead.run is None:
            raise ahead.error or LaneStopped
        return ahead

    def _learn(self, secret: Secret) -> None:
        self.environment.secrets.add(secret.value, secret.kind, lasting=secret.lasting)

    def judged(self, trial: Trial) -> tuple[ProbeRun, tuple[Verdict, ...]]:
        """Perform a trial unless the run was stopped, and judge the obligations that it settles.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        guard = self.environment.guard
        run = ProbeRun(history=History(), stopped=guard.stopped)
        if not guard.stopped or self.started(trial):
            run = self.perform(trial)
        if run.stopped and guard.stopped:
            run = replace(run, stopped=guard.stopped, shortage=None)
        kind = self.plan.clauses[trial.contract][trial.clause].kind
        facts = facts_of(self._contract(trial))
        check, target = partial(evidence_of, kind), self.environment.target
        return run, judge(check, trial.settles, run, kind, facts, target=target)

    def perform_steps(
        self, name: str, steps: Script, contract: Contract, environment: Environment | None = None
    ) -> ProbeRun:
        """Perform steps as a trial of this name, and write what they do.

        Raises:
            TargetError: the fixture provider cannot be reached or used at all.

        """
        self.journal.redactor.begin()
        return run_probe(
            steps,
            environment or self.environment,
            contract.operations,
            number=self._number,
            record=partial(self._record, name),
        )

    def _contract(self, trial: Trial) -> Contract:
        return self.plan.contracts[trial.contract]

    def _script(self, trial: Trial) -> Script:
        """Return the probe of a trial in every spelling, with an inquiry at its end if it needs one."""
        _, probe = script_of(self.plan, trial)
        contract, target = self._contract(trial), self.environment.target
        probe = in_every_spelling(probe, contract, target.operations)
        return with_inquiry(probe, contract, target.fixtures.offers)

    def _perform_ahead(self, trial: Trial | LaneTask, ahead: RecordedRun) -> None:
        """Run the probe of a trial, or a task, in a thread of its own, and keep what it does."""

        def is_stopping() -> bool:
            return self._stopping

        def record(event: Event, access: Access) -> None:
            ahead.add(event, access)
            if is_stopping():
                raise LaneStopped

        environment = self.environment
        if isinstance(trial, Trial):
            environment = environment.for_trial(trial.choice)
        screens = environment.screens
        stoppable = replace(
            environment,
            client=StoppableTransport(environment.client, is_stopping),
            screens=StoppableTransport(screens, is_stopping) if screens else None,
        )
        with self.environment.secrets.collected(ahead.entries.append):
            try:
                with self._turn(trial):
                    ahead.run = self._run_ahead(trial, stoppable, ahead.number, record)
            except Exception as error:  # noqa: BLE001 -- raised again in the trial's turn
                ahead.error = error

    def _run_ahead(
        self,
        trial: Trial | LaneTask,
        environment: Environment,
        number: Callable[[], int],
        record: Recorder,
    ) -> ProbeRun:
        if not isinstance(trial, Trial):
            return trial.perform(environment, number, record)
        script, operations = self._script(trial), self._contract(trial).operations
        return run_probe(script, environment, operations, number=number, record=record)

    def write(self, name: str, ahead: RecordedRun) -> ProbeRun:
        """Write what a trial or a search did before, under the numbers that are next now."""
        self.journal.redactor.begin()
        self._learn_under_way()
        events: list[Event] = []
        for entry in ahead.entries:
            if isinstance(entry, Secret):
                self._learn(entry)
                continue
            event, access = entry
            if isinstance(event, AnsweredCall | Authorised):
                event = replace(event, n=self._number())
            self._record(name, event, access)
            events.append(event)
        if ahead.run is None:
            raise ahead.error or LaneStopped
        return replace(ahead.run, history=History(events=tuple(events)))

    def _learn_under_way(self) -> None:
        """Learn what trials under way know: an answer to this one may quote it."""
        lanes = [*filter(None, (self._lanes, self._waiting))]
        if not lanes or self.journal.out is None:
            return
        with self.journal.redactor.side_by_side():
            for entry in chain.from_iterable(each.learned() for each in lanes):
                if isinstance(entry, Secret):
                    self.journal.redactor.name(entry.value, entry.kind)
                else:
                    self.journal.learn(*entry)

    def _number(self) -> int:
        self.exchanges += 1
        return self.exchanges

    def _record(self, name: str, event: Event, access: Access) -> None:
        self.journal.event(name, event, access)
        self.on_event(event)


# -- Judgement of whatever a trial shows ---------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What a trial shows: verdicts, and violations of other obligations, with what shows them.

    It is not `done` if the target could not be used; then a resumed run runs it again. In a further
    context, it `hides` something if it shows less than in the base context.
    """

    verdicts: tuple[Verdict, ...] = ()
    findings: tuple[tuple[Verdict, VerdictSource], ...] = ()
    done: bool = True
    hides: bool = False


def with_inquiry(script: Script, contract: Contract, offers: Collection[Capability]) -> Script:
    """Return a probe that asks, at its end, what was executed of the requests it made.

    Nothing is added where no clause needs it, where the target does not offer it, or where the
    probe asks at its end itself. Where a request was signed and has not come to an end, and the
    clock can be moved, it asks once more when the day of any request is long past.
    """
    needed = any(clause.inquires for clause in clauses_of(contract))
    if not needed or Capability.EFFECTS not in offers:
        yield from script
        return
    made = asked = False
    requests = _SignedRequests()
    try:
        step = next(script)
        while True:
            reply = yield from steps.attempted(step)
            requests.note(reply)
            if isinstance(step, Call):
                operation = contract.operations[step.operation]
                made = made or operation.makes is not None
                asked = asked and operation.shows is not None
            else:
                asked = isinstance(reply, Effects)
            step = steps.answered(script, reply)
    except StopIteration:
        # A reading after the last inquiry alters nothing.
        if made and not asked:
            requests.note((yield Inquire()))
        if requests.signed - requests.over and Capability.CLOCK in offers:
            yield from steps.clock((yield from steps.clock()) + LONG_AFTER)
            yield Inquire()
    finally:
        script.close()


def in_every_spelling(
    script: Script, contract: Contract, bindings: Mapping[str, OperationBinding]
) -> Script:
    """Return a probe that makes a request in every spelling of its mode until one is accepted.

    The probe goes on with that, and may have it signed; it is all that one trial can judge.
    """
    with closing(script), suppress(StopIteration):
        step = next(script)
        while True:
            reply = yield from steps.attempted(step)
            if isinstance(step, Call) and contract.operations[step.operation].makes:
                binding = bindings.get(step.operation)
                mode = binding.modes.get(step.mode or "") if binding else None
                for number, _ in enumerate(mode.others if mode else (), start=1):
                    if isinstance(reply, Exchange) and reply.accepted:
                        break
                    reply = yield replace(step, spelling=number)
            step = steps.answered(script, reply)


@dataclass(slots=True)
class _SignedRequests:
    """The requests that were signed, and those that came to an end."""

    signed: set[str] = field(default_factory=set[str])
    over: set[str] = field(default_factory=set[str])

    def note(self, reply: Reply | CannotArrange) -> None:
        """Process a reply."""
        match reply:
            case Authorised(ending=Ending.CONFIRMED):
                self.signed.add(reply.step.request)
            case Effects():
                self.over |= {effect.request for effect in reply.done or ()}
            case Exchange():
                self.over |= {item.key for item in reply.items if item.key and item.state in FINAL}
            case _:
                pass


def by_obligation(found: Iterable[Breach], known: Collection[str]) -> dict[str, list[Breach]]:
    """Return breaches by what they violate, without the obligations that are known to be violated."""
    violations: dict[str, list[Breach]] = {}
    for breach in found:
        if breach.obligation not in known:
            violations.setdefault(breach.obligation, []).append(breach)
    return violations


def violated(obligation: str, shown: Sequence[Breach], where: str = "") -> Verdict:
    """Return the verdict that an obligation is violated; `where` begins the reason."""
    first = shown[0].evidence
    return Verdict(
        obligation=obligation,
        standing=Standing.VIOLATES,
        reason=f"{where}expected {first.expected}; {first.seen}",
        evidence=tuple(breach.evidence for breach in shown),
    )


def other_findings(
    trial: Trial, shown: Iterable[Breach], known: Collection[str]
) -> tuple[tuple[Verdict, VerdictSource], ...]:
    """Return what a trial violates besides the obligations that it settles."""
    violations = by_obligation(shown, {*known, *(each.id for each in trial.settles)})
    source = VerdictSource(trial=trial.id, settles=trial.settles[0].id)
    return tuple((violated(name, each), source) for name, each in violations.items())
