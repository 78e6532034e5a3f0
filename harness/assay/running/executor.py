"""Executor of steps: performs each one at a target, and records the event.

A probe, a random sequence or a recorded one decides step by step what to do. Each event is handed
to a recorder at once, so that nothing is lost when a run is cut short. No judgement here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from assay.binding.encode import BARE, Access
from assay.binding.spelling import OperationBinding
from assay.contract.model import Operation
from assay.errors import CannotArrange, TargetError
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    AnsweredCall,
    Arrange,
    Authorise,
    Call,
    Effects,
    Event,
    Exchange,
    History,
    Inquire,
    Lack,
    Lacking,
    Register,
    Renew,
    Resend,
    Step,
    Submit,
    Submitted,
    Withdraw,
)
from assay.history.events import ProbeRun
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.rule import Script
from assay.rules.steps import perform_all
from assay.rules.verdict import describe_answer
from assay.running.calls import TrialCalls
from assay.running.environment import Environment
from assay.running.fixture_events import FixtureEvents, PartialArrangement
from assay.running.resend import resent
from assay.running.signing import TrialSigning
from assay.running.trial_state import TrialState

#: How many pages of a list are read at most, for the ids in it.
MOST_PAGES = 50
#: Receives every event as it happens, with the credentials of its subject or call.
Recorder: TypeAlias = Callable[[Event, Access], None]


@dataclass(slots=True, kw_only=True)
class Executor:
    """Performs the steps of one trial."""

    calls: TrialCalls
    record: Recorder = lambda _event, _access: None
    #: The customers and TPPs for whom a consent was made to read a list.
    looked_up: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    trial: TrialState = field(init=False)
    signing: TrialSigning = field(init=False)
    fixture_events: FixtureEvents = field(init=False)

    def __post_init__(self) -> None:
        """Take the state of the trial from its calls."""
        self.trial = self.calls.trial
        self.signing = TrialSigning(self.calls)
        self.fixture_events = FixtureEvents(self.trial)

    @property
    def history(self) -> History:
        """What happened so far."""
        return History(events=tuple(self.trial.events))

    def going_on(self, script: Script) -> Script:
        """Run a probe whose customers may lack what the fixture cannot prepare."""
        self.fixture_events.partly = PartialArrangement()
        return self.fixture_events.partly.going_on(script)

    def perform(self, step: Step) -> Event:
        """Perform a step and return its event.

        Raises:
            CannotArrange: the target, or the target file, does not offer what the step takes.
            TargetError: the fixture provider cannot be reached or used at all.

        """
        self.trial.environment.guard.check_running()
        event = self.event_of(step)
        # Reading the clock is no event of the trial, nor is a submission that the bank does not take.
        looked = isinstance(step, Advance) and step.to is None
        if not looked and (isinstance(event, Submitted) or not isinstance(step, Submit)):
            self.keep(event, getattr(step, "subject", ""))
        if submitted := self.signing.submission_after(step, event):
            self.keep(submitted, submitted.call.subject)
            self.signing.note_end(submitted)
        return event

    def keep(self, event: Event, subject: str) -> None:
        """Add an event about a subject to the trial, and record it."""
        self.trial.events.append(event)
        access = self.trial.access.get(subject, Access())
        if isinstance(event, AnsweredCall) and self.trial.operations[event.call.operation].by_tpp:
            # The credentials of the TPP must be redacted, too.
            access = self.calls.tokens.tpps.get(event.call.by, access)
        self.record(event, access)

    def event_of(self, step: Step) -> Event:  # noqa: C901 -- one case for each step
        """Perform a step; its event is not yet part of the trial."""
        trial = self.trial
        match step:
            case Call():
                event: Event = self._called(step)
            case Arrange():
                event = self.fixture_events.arranged(step)
            case Authorise():
                event = self.signing.signed(step)
            case Advance(to=to):
                trial.now = trial.fixture.clock(to)
                event = Advanced(now=trial.now)
            case Submit(request=request):
                event = self.signing.submitted(request) or Advanced(now=trial.look())
            case Inquire():
                event = Effects(now=trial.look(), done=self.fixture_events.new_effects())
            case Register():
                event = self.fixture_events.registered(step)
            case Withdraw():
                event = self.fixture_events.withdrawn(step)
            case Renew():
                event = self.calls.tokens.renew(step)
            case Lack(mode=mode):
                event = Lacking(mode=mode, now=trial.fixture.lack(step))
            case Resend():
                event = resent(self.calls, step)
        return event

    def _called(self, step: Call) -> Exchange:
        """Make a call, with the signer's address as the one to which the customer returns."""
        call, address = self.signing.with_return(step)
        ready = self.calls.ready(call)
        self._look_up_ids(call, ready.target.operations.get(call.operation, BARE))
        exchange = self.calls.make(ready)
        if address is not None and exchange.item and exchange.item.key:
            self.trial.signer.returns(exchange.item.key, address)
        return exchange

    # -- ids of items that a call names --------------------------------------------------
    # The list that has them is read as any TPP reads it, with the customer present. Where it takes a
    # consent, one is made, signed and ended for that alone, before the customer's first other consent.
    def _look_up_ids(self, call: Call, binding: OperationBinding) -> None:
        """Look up the ids of what a call names, where the target uses its own.

        Raises:
            CannotArrange: the list does not have them.

        """
        if call.follow is not None:
            return
        operation = self.trial.operations[call.operation]
        if operation.grants and operation.makes:
            for lister in self._listers(operation):
                self._read_under_consent(lister, call)
        for name, spelling in binding.arguments.items():
            if spelling.found is None:
                continue
            given = call.arguments.get(name)
            for key in given if isinstance(given, list | tuple) else (given,):
                self._look_up(spelling.found, name, str(key), call)

    def _look_up(self, lister: str, name: str, key: str, call: Call) -> None:
        owner, ids = self.trial.owners.get(key), self.calls.values.ids
        if owner is None or key in ids:
            return  # a key without an owner is sent as it is
        self._read_under_consent(lister, Call(operation=lister, subject=owner, by=call.by))
        if key in ids:
            return
        last = self.read_list(lister, owner)
        known = self.trial.environment.ids
        if key in ids or key in known:
            ids.setdefault(key, known.get(key, ""))
            return
        path = ("operations", lister, "item", "id")
        if last is not None and not last.accepted:
            what = f"a list of {lister} for {name}: {describe_answer(last)}"
            raise CannotArrange(what, key=path[:2])
        what = f"the target's own id for {name}, which {lister} did not list ({'.'.join(path)})"
        raise CannotArrange(what, key=path)

    def _listers(self, maker: Operation) -> frozenset[str]:
        """Return the lists with ids that take the consent which an operation makes."""
        bindings, operations = self.trial.target.operations.values(), self.trial.operations
        named = {each.found for binding in bindings for each in binding.arguments.values()}
        return frozenset(
            name
            for name in named
            if name is not None and name in operations and operations[name].consent == maker.id
        )

    def _read_under_consent(self, lister: str, call: Call) -> None:
        """Read a customer's list once under a consent of its own, if it takes one."""
        operations, owner = self.trial.operations, call.subject
        maker = operations.get(operations[lister].consent or "")
        keys = [key for key, name in self.trial.owners.items() if name == owner]
        if maker is None or not keys or (owner, call.by) in self.looked_up:
            return
        self.looked_up.add((owner, call.by))
        restore = self.calls.values.kept.without_later(owner, call.by)
        arguments = {maker.grants or "": keys}
        asked = Call(operation=maker.id, subject=owner, arguments=arguments, by=call.by)
        made = perform_all(steps.consent(maker, asked), self.perform)
        self.read_list(lister, owner)
        ending = next((each for each in operations.values() if each.ends == maker.makes), None)
        end = request_steps.call_about(ending, made)
        ended = self.perform(end) if end is not None else None
        # One that is still in force is what later calls send, until there is another.
        if isinstance(ended, Exchange) and ended.accepted:
            restore()

    def read_list(self, operation: str, owner: str) -> Exchange | None:
        """Read a customer's whole list, for the ids in it; return the last page."""
        page, call = None, Call(operation=operation, subject=owner)
        for _ in range(MOST_PAGES):
            page = self.calls.make(self.calls.ready(call))
            self.keep(page, owner)
            if not (isinstance(page.outcome, Accepted) and page.outcome.next):
                break
            call = replace(call, follow=page.outcome.next)
        return page


@contextmanager
def executing(
    environment: Environment,
    operations: Mapping[str, Operation],
    *,
    number: Callable[[], int],
    record: Recorder = lambda _event, _access: None,
) -> Generator[Executor]:
    """Open a fixture for one trial, and close it at the end; `TargetError` where none opens."""
    fixture = environment.fixtures.open()
    try:
        trial = TrialState(
            environment=environment,
            fixture=fixture,
            signer=environment.signer(fixture),
            operations=operations,
            number=number,
        )
        yield Executor(calls=TrialCalls(trial=trial), record=record)
    finally:
        with suppress(TargetError):  # a fixture that cannot be closed costs no verdict
            fixture.close()


def run_probe(
    script: Script,
    environment: Environment,
    operations: Mapping[str, Operation],
    *,
    number: Callable[[], int],
    record: Recorder,
) -> ProbeRun:
    """Run a probe to its end, or to the first step that cannot be performed.

    Raises:
        TargetError: the fixture provider cannot be reached or used at all.

    """
    stopped, shortage = "", None
    with executing(environment, operations, number=number, record=record) as executor:
        try:
            perform_all(executor.going_on(script), executor.perform)
        except CannotArrange as error:
            stopped, shortage = f"needs {error}", error.shortage
    return ProbeRun(history=executor.history, stopped=stopped, shortage=shortage)
