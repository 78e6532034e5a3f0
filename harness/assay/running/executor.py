"""Executor of steps: performs each one at a target, and records the event.

A probe, a random sequence or a recorded one decides step by step what to do. Each event is handed
to a recorder at once, so that nothing is lost when a run is cut short. No judgement here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TypeAlias

from assay.binding.model.spelling import SLOT, OperationBinding
from assay.binding.model.submission import SUBMISSION
from assay.binding.wire.encode import BARE, Access, encode
from assay.binding.wire.values import arguments
from assay.contract.model import Operation
from assay.errors import CannotArrange, TargetError
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    AnsweredCall,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Effects,
    Ending,
    Event,
    Exchange,
    History,
    Indeterminate,
    Inquire,
    Lack,
    Register,
    Rejected,
    Renew,
    Resend,
    Step,
    Submit,
    Submitted,
    Together,
    Withdraw,
)
from assay.history.events import ProbeRun
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.rule import Script
from assay.rules.steps import SIGN, perform_all
from assay.rules.verdict import UNAUTHENTICATED, describe_answer
from assay.running.calls import AcceptedCall, ReadyCall, TrialCalls, VariationGuard, with_binding
from assay.running.environment import Environment
from assay.running.fixture_events import FixtureEvents, PartialArrangement
from assay.running.resend import resent
from assay.running.trial_state import TrialState
from assay.sca.protocol import ScreenFlowResult
from assay.transport.protocol import at_one_moment


@dataclass(slots=True)
class TrialSigning:
    """The signatures and submissions of one trial."""

    calls: TrialCalls
    #: The signatures at one moment, until the probe asks for them, each with its milliseconds.
    ahead: list[tuple[ScreenFlowResult, float]] = field(
        default_factory=list[tuple[ScreenFlowResult, float]]
    )
    #: The return addresses of calls.
    returns: dict[str, str] = field(default_factory=dict[str, str])

    # -- signatures --------------------------------------------------------------------
    def with_return(self, call: Call) -> tuple[Call, str | None]:
        """Return a call with the signer's address, and that as the one to which the customer returns.

        A call that has an address, or leaves it out on purpose, stays as it is. Equal calls get
        the same address, so that it never distinguishes two equal requests.
        """
        trial = self.calls.trial
        name = trial.operations[call.operation].returns
        if name is None or name in {*call.arguments, *call.without, *call.varied}:
            return call, None
        equal = repr(replace(call, by="", together=0, variation=""))
        address = self.returns.get(equal) or trial.signer.return_address()
        if address is None:
            return call, None
        self.returns[equal] = address
        return replace(call, arguments={**call.arguments, name: address}), address

    def signed(self, step: Authorise) -> Authorised:
        """Take a customer through the screens on which a request is signed; return the event.

        Raises:
            CannotArrange: the budget has no call left, or nothing can sign.

        """
        trial = self.calls.trial
        if step.together and self.ahead:
            flow, ms = self.ahead.pop(0)
        else:
            step, access = self._admitted(step)
            began = perf_counter()
            authorised = self.calls.tokens.authorised(step, access)
            flow = authorised or trial.signer.sign(step, access, trial.wait)
            ms = (perf_counter() - began) * 1000
        return Authorised(
            n=trial.number(),
            step=step,
            ending=flow.ending,
            moments=tuple(flow.moments) or (trial.look(),),
            offered=flow.offered,
            screens=tuple(flow.screens),
            redirected=flow.redirected,
            adds=self._added_parameters(step.request),
            unspelt=flow.unspelt,
            anonymous=flow.anonymous,
            coded=flow.coded,
            stuck=flow.stuck,
            reopened=flow.reopened,
            why=flow.why,
            wire=replace(flow.wire, body=b"", request_body=b""),
            ms=ms,
        )

    def _admitted(self, step: Authorise) -> tuple[Authorise, Access]:
        """Return a signature with the newest link, and the access of who signs, once it is counted."""
        trial, guard = self.calls.trial, self.calls.trial.environment.guard
        step = replace(step, approval=self._newest_link(step))
        guard.count()
        who = trial.who(step.by or step.subject)
        guard.note_use(who, trial.used_items(step), trial.look)
        return step, trial.access.get(step.by or step.subject, Access())

    def sign_together(self, signatures: Sequence[Authorise]) -> None:
        """Have requests signed at one moment; `signed` then returns each event, in this order.

        Raises:
            CannotArrange: nothing can sign several requests at one moment.

        """
        trial = self.calls.trial
        if signatures and not trial.signer.signs_together:
            what = "an SCA signer that signs at one moment (set `sca.kind` to `forms`)"
            raise CannotArrange(what, key=("sca", "kind"))
        admitted = [self._admitted(step) for step in signatures]
        flows = [partial(trial.signer.sign, *each, trial.wait) for each in admitted]
        self.ahead = list(at_one_moment(trial.environment.client, flows))

    def _newest_link(self, step: Authorise) -> str | None:
        """Return the link that the bank gave last: a request that was changed may have another."""
        for event in reversed(self.calls.trial.events):
            if not isinstance(event, Exchange) or not isinstance(event.outcome, Accepted):
                continue
            about = self.calls.trial.operations[event.call.operation].about or ""
            if event.outcome.approval and event.call.arguments.get(about) == (step.request or None):
                return event.outcome.approval
        return step.approval

    def approving_change(self, event: Event) -> Authorise | None:
        """Return the signature that takes a change of a signed request into effect, if it needs one.

        It does where the answer to the change has a link that the customer has not followed: what was
        signed has another amount or payee then.
        """
        trial = self.calls.trial
        if not isinstance(event, Exchange) or not isinstance(event.outcome, Accepted):
            return None
        call, link = event.call, event.outcome.approval
        operation = trial.operations[call.operation]
        key = str(call.arguments.get(operation.about or ""))
        made = trial.making(key) if operation.changes and link else None
        if made is None or (made.call.subject, made.call.by) != (call.subject, call.by):
            return None
        flows = [
            each
            for each in trial.events
            if isinstance(each, Authorised) and each.step.request == key
        ]
        signed = any(
            each.ending is Ending.CONFIRMED and each.step.by in {"", call.subject} for each in flows
        )
        if not signed or link in {each.step.approval for each in flows}:
            return None
        return replace(SIGN, subject=call.subject, request=key, approval=link)

    def _added_parameters(self, request: str) -> tuple[str, ...] | None:
        """Return the query parameters that the target adds to the return address of a request."""
        trial, made = self.calls.trial, self.calls.trial.making(request)
        if made is None:
            return None
        returns = trial.operations[made.call.operation].returns
        spelling = trial.binding(made.call.operation).arguments.get(returns or "")
        return spelling.adds if spelling is not None else None

    # -- submissions -------------------------------------------------------------------
    def submission_after(self, step: Step, event: Event) -> Submitted | None:
        """Submit a request that its customer has just signed, or that takes no signature.

        Raises:
            CannotArrange: the call cannot be made.

        """
        request = ""
        if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED:
            request = event.step.request if event.step.submits else ""
        elif isinstance(event, Exchange) and event.item is not None and isinstance(step, Call):
            operation = self.calls.trial.operations[step.operation]
            request = (event.item.key or "") if operation.makes and not operation.signed else ""
        return self.submitted(request, signed=True) if request else None

    def note_end(self, submitted: Submitted) -> None:
        """Note what became of the submission of a signed request.

        Raises:
            CannotArrange: the bank does not say what it did.

        """
        outcome, key = submitted.outcome, ("operations", submitted.call.operation, SUBMISSION)
        if isinstance(outcome, Rejected) and submitted.wire.status != UNAUTHENTICATED:
            self.calls.trial.submissions.refused.add(submitted.request)
        elif not isinstance(outcome, Accepted):
            why = outcome.why if isinstance(outcome, Indeterminate) else ""
            why = why or f"the target answered {submitted.wire.status}"
            raise CannotArrange(f"an outcome of the submission ({'.'.join(key)}): {why}", key=key)

    def submitted(
        self, request: str, *, signed: bool = False, step: Submit | None = None
    ) -> Submitted | None:
        """Submit a request; None if the bank takes no submission of it, or has had it.

        What was `signed` is not submitted if that led to no token. What was not is submitted with the TPP's
        own token, if it takes one of the customer. A `step` with a variation is about what was signed.

        Raises:
            CannotArrange: the call cannot be made.

        """
        calls, trial = self.calls, self.calls.trial
        submissions, made = trial.submissions, trial.making(request)
        varied = step is not None and bool(step.variation)
        known = {*submissions.keys, *submissions.refused} if not varied else ()
        if made is None or request in known or made.call.malformed or made.call.credentials:
            return None
        operation = trial.operations[made.call.operation]
        if (binding := trial.binding(operation.id).submission) is None:
            return None
        call = _call(self._in_force(made, request), operation, binding)
        caller = operation if binding.by is None else replace(operation, by_tpp=binding.by == "tpp")
        if (signed or varied) and calls.tokens.lacks(request, caller):
            return None
        target = with_binding(trial.target, operation, binding)
        named = replace(call, consent=request)
        access = calls.tokens.credentials(named, caller)
        values = calls.values.of(named, target)
        said, doubt = made.call, ""
        if step is not None and varied:
            plain, call = call, _varied(call, step)
            own = {name: arguments(call, caller, binding, values)[name] for name in step.varied}
            said = replace(call, arguments={**said.arguments, **own}, without=said.without)
            control = [AcceptedCall(call=plain, access=access)] if own else []
            beside = VariationGuard(controls={operation.id: control})
            doubt = beside.doubt(call, caller, target=target, access=access, made=values)
        sent = encode(call, caller, target, access, values)
        exchange = calls.submitted(call, sent, request, target)
        outcome = exchange.outcome
        if isinstance(outcome, Accepted):
            submissions.accept(request, (exchange.item and exchange.item.key) or request)
            calls.values.kept.keep_submission(request, outcome, binding)
            outcome = submissions.outcome(outcome, None)
        return Submitted(
            n=exchange.n,
            at=exchange.at,
            call=said,
            outcome=outcome,
            wire=exchange.wire,
            ms=exchange.ms,
            confounded=doubt,
            documented=exchange.documented,
            request=request,
        )

    def _in_force(self, made: Exchange, request: str) -> Call:
        """Return the call that made a request, with what the TPP has changed since then."""
        call = made.call
        for event in self.calls.trial.exchanges:
            operation = self.calls.trial.operations[event.call.operation]
            sent = event.call.arguments
            changes = operation.changes and sent.get(operation.about or "") == request
            if event.accepted and changes:
                call = replace(
                    call,
                    arguments={**call.arguments, **sent},
                    varied=tuple(name for name in call.varied if name not in sent),
                )
        return call


def _call(made: Call, operation: Operation, binding: OperationBinding) -> Call:
    """Return the call that made a request without what its submission does not say."""
    slots = SLOT.findall(binding.path or operation.path)
    said = {name for name in made.arguments if name in binding.arguments or name in slots}
    unsaid = [name for name in (*operation.arguments, *made.arguments) if name not in said]
    # What identifies a call is another in each.
    unique = {name for name, each in binding.arguments.items() if "{unique}" in str(each.value)}
    arguments = {name: value for name, value in made.arguments.items() if name in said - unique}
    varied = tuple(name for name in made.varied if name in said)
    without = tuple(dict.fromkeys((*made.without, *unsaid)))
    return replace(made, arguments=arguments, varied=varied, without=without, alias=None)


def _varied(call: Call, step: Submit) -> Call:
    """Return a submission with the other value of some arguments; `CannotArrange` if it has none."""
    for name in {*step.varied} & {*call.without}:
        key = ("operations", call.operation, SUBMISSION, "arguments", name)
        raise CannotArrange(f"a submission that says {name} ({'.'.join(key)})", key=key)
    kept = {name: value for name, value in call.arguments.items() if name not in step.varied}
    varied = tuple(dict.fromkeys((*call.varied, *step.varied)))
    return replace(call, arguments=kept, varied=varied, variation=step.variation)


# -- Steps ---------------------------------------------------------------------------------------
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
        looked = isinstance(step, Together) or (isinstance(step, Advance) and step.to is None)
        if not looked and (isinstance(event, Submitted) or not isinstance(step, Submit)):
            self.keep(event, getattr(step, "subject", ""))
        if submitted := self.signing.submission_after(step, event):
            self.keep(submitted, submitted.call.subject)
            self.signing.note_end(submitted)
        if approving := self.signing.approving_change(event):
            self.perform(approving)
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
                trial.now = trial.move(to)
                event = Advanced(now=trial.now)
            case Submit(request=request):
                event = self.signing.submitted(request, step=step) or Advanced(now=trial.look())
            case Inquire():
                event = Effects(now=trial.look(), done=self.fixture_events.new_effects())
            case Register():
                event = self.fixture_events.registered(step)
            case Withdraw():
                event = self.fixture_events.withdrawn(step)
            case Renew():
                event = self.calls.tokens.renew(step)
            case Lack():
                event = trial.go_to_bank(step)
            case Resend():
                event = resent(self.calls, step)
            case Together(steps=steps):
                event = self._at_one_moment(steps)
        return event

    def _at_one_moment(self, steps: Sequence[Step]) -> Advanced:
        """Make calls, or signatures, for which the probe asks next."""
        calls = [self._ready(each)[0] for each in steps if isinstance(each, Call)]
        self.calls.send_together(calls)
        self.signing.sign_together([each for each in steps if isinstance(each, Authorise)])
        return Advanced(now=self.trial.look())

    def _called(self, step: Call) -> Exchange:
        """Make a call, with the signer's address as the one to which the customer returns."""
        ready, address = self._ready(step)
        exchange = self.calls.make(ready)
        if address is not None and exchange.item and exchange.item.key:
            self.trial.signer.returns(exchange.item.key, address)
        return exchange

    def _ready(self, step: Call) -> tuple[ReadyCall, str | None]:
        """Return a call that can be made, and the signer's address if it names that."""
        call, address = self.signing.with_return(step)
        ready = self.calls.ready(call)
        self._look_up_ids(call, ready.target.operations.get(call.operation, BARE))
        return ready, address

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
        last = self.read_list(lister, owner, call.by)
        known = {**self.trial.told_ids, **self.trial.environment.ids}
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
        self.read_list(lister, owner, call.by)
        ending = next((each for each in operations.values() if each.ends == maker.makes), None)
        end = request_steps.call_about(ending, made)
        ended = self.perform(end) if end is not None else None
        # One that is still in force is what later calls send, until there is another.
        if isinstance(ended, Exchange) and ended.accepted:
            restore()

    def list_call(self, operation: str, owner: str, by: str) -> Call:
        """Return the call for a customer's list; a TPP without a token of the customer cannot make it."""
        call = Call(operation=operation, subject=owner, by=by)
        if by:
            try:
                self.calls.ready(call)
            except CannotArrange:
                return replace(call, by="")
        return call

    def read_list(self, operation: str, owner: str, by: str = "") -> Exchange | None:
        """Read a customer's whole list as a TPP, for the ids in it; return the last page."""
        page, call = None, self.list_call(operation, owner, by)
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
        environment.leave_closure(fixture)
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
