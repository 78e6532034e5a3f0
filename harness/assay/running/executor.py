"""Executor of steps: performs each one at a target, and records the event.

A probe, a random sequence or a recorded one decides step by step what to do. Each event is handed
to a recorder at once, so that nothing is lost when a run is cut short. No judgement here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from time import perf_counter
from typing import TypeAlias
from uuid import UUID, uuid4

from assay.binding.arguments import arguments, generated
from assay.binding.decode import body_of, decode
from assay.binding.encode import BARE, Access, HttpRequest, encode
from assay.binding.links import links_of, names_links
from assay.binding.outputs import OutputValues
from assay.binding.paging import page_of_call
from assay.binding.pointer import MISSING
from assay.binding.spelling import OperationBinding
from assay.binding.target import Target
from assay.contract.model import Capability, Operation
from assay.errors import CannotArrange, TargetError
from assay.fixtures.protocol import Fixture
from assay.fixtures.providers import has_real_customers
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    AnsweredCall,
    Arrange,
    Authorise,
    Call,
    Cause,
    Detail,
    Effect,
    Effects,
    Event,
    Exchange,
    History,
    Indeterminate,
    Inquire,
    Lack,
    Lacking,
    Outcome,
    Register,
    Rejected,
    Renew,
    Resend,
    Step,
    Subject,
    Submit,
    Unavailable,
    Wire,
    Withdraw,
)
from assay.history.events import ProbeRun
from assay.rules.rule import Script
from assay.rules.steps import perform_all
from assay.running.call_values import values_for
from assay.running.consent_tokens import ConsentTokens, with_token
from assay.running.credentials import credentials_for, renew_token
from assay.running.environment import Environment
from assay.running.fixture_events import new_effects, registered, withdrawn
from assay.running.guard import Customer, customer_of
from assay.running.id_lookup import look_up_ids
from assay.running.item_uses import used_items
from assay.running.limits import check_offered
from assay.running.partial_arrangement import PartialArrangement
from assay.running.resend import resend
from assay.running.signatures import signed
from assay.running.single_variation import VariationGuard
from assay.running.submissions import (
    Submissions,
    refused_request,
    sent_call,
    submit,
    submit_signed,
    was_not_submitted,
)
from assay.running.token_requests import sendable_access
from assay.sca.protocol import Signer, codes_by_factor

# -- Limit on the total size of the answers in one trial -----------------------------------------
# A trial keeps all of its exchanges until it is judged. Each answer is limited by the transport;
# many of them together, such as pages without end, are limited here.
#: The most bytes in the bodies of a trial's answers, and the most items in them.
MOST_BYTES, MOST_ITEMS = 32 * 1024 * 1024, 25_000


@dataclass(slots=True)
class ResponseLimit:
    """The bytes and items that a trial has received so far."""

    bytes: int = 0
    items: int = 0

    def limited(self, wire: Wire, outcome: Outcome) -> tuple[Wire, Outcome]:
        """Return an answer as it is, or without its content where that would be too much."""
        self.bytes += len(wire.body)
        self.items += _items(outcome)
        if self.bytes <= MOST_BYTES and self.items <= MOST_ITEMS:
            return wire, outcome
        self.bytes -= len(wire.body)
        self.items -= _items(outcome)
        most = f"{MOST_ITEMS} items or {MOST_BYTES // 1024**2} MiB"
        why = f"the answers of this trial have more than {most} in total"
        bare = Wire(
            method=wire.method,
            url=wire.url,
            request_headers=wire.request_headers,
            request_body=wire.request_body,
            status=wire.status,
            headers=wire.headers,
            truncated=True,
        )
        return bare, Indeterminate(cause=Cause.TRANSPORT, why=why)


def _items(outcome: Outcome) -> int:
    match outcome:
        case Accepted(items=items):
            return len(items or ())
        case Rejected(leaked=items) | Unavailable(leaked=items):
            return len(items)
        case _:
            return 0


# -- Store of output values of one trial, for later calls of the same customer and TPP -----------
#: Outputs of answers by name; None is one that cannot be sent.
_Outputs: TypeAlias = dict[str, str | None]


@dataclass(slots=True)
class KeptOutputs:
    """The outputs of the last accepted answers, by customer and TPP; and of each consent, by key.

    `latest` are the numbers of the answers that had them, and `made` the keys of what was made. `looked_up` are the customers and TPPs for
    whom a consent was made to read a list. `of_submissions` are those of each request's submission.
    """

    last: dict[tuple[str, str], _Outputs] = field(default_factory=dict[tuple[str, str], _Outputs])
    latest: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    made: dict[tuple[str, str], dict[str, tuple[int, str]]] = field(
        default_factory=dict[tuple[str, str], "dict[str, tuple[int, str]]"]
    )
    of_consents: dict[str, _Outputs] = field(default_factory=dict[str, _Outputs])
    of_submissions: dict[str, _Outputs] = field(default_factory=dict[str, _Outputs])
    looked_up: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def keep(self, exchange: Exchange, binding: OperationBinding | None) -> None:
        """Keep the outputs of an accepted answer."""
        call, outcome = exchange.call, exchange.outcome
        if binding is None or not binding.outputs or not isinstance(outcome, Accepted):
            return
        had = {name: outcome.outputs.get(name) for name in binding.outputs}
        self.last.setdefault((call.subject, call.by), {}).update(had)
        self.latest[call.subject, call.by] = exchange.n
        if exchange.item and exchange.item.key:
            self.of_consents[exchange.item.key] = had
            made = self.made.setdefault((call.subject, call.by), {})
            made[call.operation] = exchange.n, exchange.item.key

    def keep_submission(self, request: str, outcome: Accepted, binding: OperationBinding) -> None:
        """Keep the outputs of an accepted submission, for later calls about the request."""
        self.of_submissions[request] = {name: outcome.outputs.get(name) for name in binding.outputs}

    def last_made(self, call: Call, operations: Collection[str]) -> str | None:
        """Return the key of what one of these operations made last for the customer of a call.

        Of several TPPs it is the one that calls; any, if the call does not say which.
        """
        made = [
            last
            for (customer, tpp), each in self.made.items()
            if customer == call.subject and (tpp == call.by or not call.by)
            for operation, last in each.items()
            if operation in operations
        ]
        return max(made)[1] if made else None

    def values_for(
        self, call: Call, sources: Mapping[str, str], *, by_tpp: bool = True, request: str = ""
    ) -> OutputValues:
        """Return the outputs that a call can use; `sources` are all that the target file names.

        A call in the customer's name can use what any TPP was answered last, and one about a
        `request` what its submission was answered.
        """
        known = self.last.get((call.subject, call.by), {})
        if not by_tpp and not call.by:
            theirs = [each for each, had in self.last.items() if each[0] == call.subject and had]
            newest = max(theirs, key=lambda each: self.latest.get(each, 0), default=None)
            known = self.last[newest] if newest is not None else known
        if call.consent is not None:
            known = {**known, **self.of_consents.get(call.consent, {})}
        known = {**known, **self.of_submissions.get(request, {})}
        return OutputValues(
            sources=sources,
            values={name: value for name, value in known.items() if value is not None},
            unusable=frozenset(name for name, value in known.items() if value is None),
        )

    def without_later(self, customer: str, tpp: str) -> Callable[[], None]:
        """Return what restores the outputs of a customer and a TPP as they are now."""
        key = customer, tpp
        had, number = dict(self.last.get(key, {})), self.latest.get(key, 0)
        made = dict(self.made.get(key, {}))

        def restore() -> None:
            self.last[key], self.latest[key], self.made[key] = had, number, made

        return restore


# -- Executor of steps: performs each one at a target, and records the event ----
#: How many pages of a list are read at most, for the ids in it.
MOST_PAGES = 50
#: Receives every event as it happens, with the credentials of its subject or call.
Recorder = Callable[[Event, Access], None]


@dataclass(slots=True, kw_only=True)
class Executor:
    """Performs the steps of one trial.

    `events` are those so far. `ids` are the target's own ids of things, by key, `owners` their
    subjects, `resources` their kinds. `returns` are the return addresses of calls, `effects` those
    of earlier events, and `kept` the values of answers that later calls send, `tokens` those of consents. `name` is unique to the trial; `generated` counts generated values.
    """

    environment: Environment
    fixture: Fixture
    signer: Signer
    operations: Mapping[str, Operation]
    number: Callable[[], int]
    record: Recorder
    access: dict[str, Access] = field(default_factory=dict[str, Access])
    tpps: dict[str, Access] = field(default_factory=dict[str, Access])
    returns: dict[str, str] = field(default_factory=dict[str, str])
    effects: dict[str, list[Effect]] = field(default_factory=dict[str, list[Effect]])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    owners: dict[str, str] = field(default_factory=dict[str, str])
    resources: dict[str, str] = field(default_factory=dict[str, str])
    kept: KeptOutputs = field(default_factory=KeptOutputs)
    tokens: ConsentTokens = field(default_factory=ConsentTokens)
    submissions: Submissions = field(default_factory=Submissions)
    name: UUID = field(default_factory=uuid4)
    generated: int = 0
    now: datetime | None = None
    variations: VariationGuard = field(default_factory=VariationGuard)
    response_limit: ResponseLimit = field(default_factory=ResponseLimit)
    partly: PartialArrangement = field(default_factory=lambda: PartialArrangement(allowed=False))
    events: list[Event] = field(default_factory=list[Event])

    def perform(self, step: Step) -> Event:
        """Perform a step and return its event.

        Raises:
            CannotArrange: the target, or the target file, does not offer what the step takes.
            TargetError: the fixture provider cannot be reached or used at all.

        """
        self.environment.guard.check_running()
        event = self.event_of(step)
        # Reading the clock is no event of the trial.
        if not (isinstance(step, Advance) and step.to is None) and not was_not_submitted(
            step, event
        ):
            self.keep(event, getattr(step, "subject", ""))
        submit_signed(self, step, event)
        return event

    def keep(self, event: Event, subject: str) -> None:
        """Add an event about a subject to the trial, and record it."""
        self.events.append(event)
        access = self.access.get(subject, Access())
        if isinstance(event, AnsweredCall) and self.operations[event.call.operation].by_tpp:
            # The credentials of the TPP must be redacted, too.
            access = self.tpps.get(event.call.by, access)
        self.record(event, access)

    def look(self) -> datetime:
        """Read the target's clock, as far as it is known, without an event."""
        return self.fixture.clock(None)

    def event_of(self, step: Step) -> Event:  # noqa: C901 -- one case for each step
        """Perform a step; its event is not yet part of the trial."""
        match step:
            case Call():
                event: Event = self._call_with_return(step)
            case Arrange():
                event = self.arrange(step)
            case Authorise():
                event = signed(self, step)
            case Advance(to=to):
                self.now = self.fixture.clock(to)
                event = Advanced(now=self.now)
            case Submit(request=request):
                event = submit(self, request) or Advanced(now=self.look())
            case Inquire():
                event = Effects(now=self.fixture.clock(None), done=new_effects(self))
            case Register():
                event = registered(self, step)
            case Withdraw():
                event = withdrawn(self, step)
            case Renew(operation=operation):
                event = renew_token(self, step, self.operations[operation])
            case Lack(mode=mode):
                event = Lacking(mode=mode, now=self.fixture.lack(step))
            case Resend():
                event = resend(self, step)
        return event

    def who(self, subject: str) -> Customer:
        """Return the customer to whom the accesses of a subject are counted."""
        access = self.access.get(subject, self.environment.common)
        owns = [key for key, owner in self.owners.items() if owner == subject]
        return customer_of(self.environment.target, access, subject, owns)

    def used_items(self, step: Call | Authorise) -> Counter[str]:
        """Return how much a step uses of the customers' items, by key."""
        return used_items(step, self.events, self.operations, self.owners)

    def wait(self, span: timedelta) -> datetime:
        """Let time pass at the target, and return its clock."""
        now = self.fixture.clock(None)
        return self.fixture.clock(now + span) if span else now

    def arrange(self, step: Arrange) -> Subject:
        """Set up a subject, and remember its credentials and things."""
        if Capability.ENTRIES not in self.environment.target.fixtures.offers:
            # What is not offered is not asked for.
            bare = tuple(replace(holding, entries=()) for holding in step.holdings)
            step = replace(step, holdings=bare)
        subject, access = self.partly.arrange(self.fixture, step)
        access = sendable_access(access)
        codes = codes_by_factor(self.environment.target.sca.factors, access.codes)
        token = access.token or self.environment.common.token
        self.access[step.subject] = replace(access, token=token, codes=codes)
        self.now = subject.now
        self.owners |= dict.fromkeys((owned.key for owned in subject.owns), step.subject)
        self.resources |= {owned.key: owned.resource for owned in subject.owns}
        return replace(subject, identity=access.name or "")

    def _call_with_return(self, call: Call) -> Exchange:
        """Make a call, with the signer's address as the one to which the customer returns.

        A call that has an address, or leaves it out on purpose, stays as it is. Equal calls get
        the same address, so that it never distinguishes two equal requests.
        """
        name = self.operations[call.operation].returns
        if name is None or name in {*call.arguments, *call.without, *call.varied}:
            return self._call(call)
        equal = repr(replace(call, by="", variation=""))
        address = self.returns.get(equal) or self.signer.return_address()
        if address is None:
            return self._call(call)
        self.returns[equal] = address
        exchange = self._call(replace(call, arguments={**call.arguments, name: address}))
        if exchange.item and exchange.item.key:
            self.signer.returns(exchange.item.key, address)
        return exchange

    def _call(self, call: Call) -> Exchange:
        operation = self.operations[call.operation]
        sent, target = sent_call(self, call)
        check_offered(call, operation, target)
        access = credentials_for(self, call, operation)
        binding = target.operations.get(operation.id, BARE)
        look_up_ids(self, call, binding)
        values = values_for(self, sent, target)
        request = encode(sent, operation, target, access, values)
        doubt = self.variations.doubt(call, operation, target=target, access=access, made=values)
        # What the target file added is part of the request.
        given = arguments(call, operation, binding, values) if operation.request else call.arguments
        made = replace(call, arguments=given, generated=generated(call, given, binding))
        exchange = self.exchanged(made, request, target)
        self.variations.see(call, access, accepted=exchange.accepted)
        return replace(exchange, confounded=doubt or self._perhaps_unattended(exchange))

    def _perhaps_unattended(self, exchange: Exchange) -> str:
        """Return why a refusal shows nothing where the bank may miss the mark of a customer's presence."""
        call, guard = exchange.call, self.environment.guard
        most = (guard.limits or {}).get(call.operation)
        if most is None or self.environment.target.presence or not exchange.refused:
            return ""
        asked = [each.call for each in self.events if isinstance(each, Exchange)]
        number = sum(
            (each.operation, each.subject) == (call.operation, call.subject) for each in asked
        )
        many = f"{number} calls of {call.operation} came before, and the bank may take each for one"
        key = "without the customer: `presence` is not in the target file"
        return f"{many} {key}" if number >= most else ""

    def read_list(self, operation: str, owner: str) -> Exchange | None:
        """Read a customer's whole list, for the ids in it; return the last page."""
        page, call = None, Call(operation=operation, subject=owner)
        for _ in range(MOST_PAGES):
            page = self._call(call)
            self.keep(page, owner)
            if not (isinstance(page.outcome, Accepted) and page.outcome.next):
                break
            call = replace(call, follow=page.outcome.next)
        return page

    def submitted(self, call: Call, request: HttpRequest, key: str, target: Target) -> Exchange:
        """Send the submission of the request with a key; its exchange is no event."""
        return self._sent(call, request, target)

    def exchanged(self, call: Call, request: HttpRequest, target: Target | None = None) -> Exchange:
        """Send a ready request as this call, and return the exchange.

        Raises:
            CannotArrange: the guard does not admit it.

        """
        target = target or self.environment.target
        exchange = self._sent(call, request, target)
        outcome = self.submissions.outcome(exchange.outcome, refused_request(self, call))
        exchange = replace(exchange, outcome=outcome)
        shown = {item.key: item.id for item in exchange.items if item.key and item.id}
        self.ids |= shown
        if has_real_customers(target):
            # A consent that another trial narrows may make later lists shorter.
            self.environment.ids |= shown
        self.kept.keep(exchange, target.operations.get(call.operation))
        return exchange

    def _sent(self, call: Call, request: HttpRequest, target: Target) -> Exchange:
        operation, guard = self.operations[call.operation], self.environment.guard
        who = partial(self.who, call.subject)
        guard.admit(call, operation, request, who, self.look, target)
        if operation.writes or operation.grants:
            guard.note_use(who(), self.used_items(call), self.look)
        began = perf_counter()
        sent = self.environment.client.send(request)
        ms = (perf_counter() - began) * 1000
        if sent.sent:  # a link to another host says nothing about this one
            guard.see(sent.wire.status, sent.trouble)
        at, wire, n = self.fixture.clock(None), sent.wire, self.number()
        if sent.trouble:
            detail = Detail.TIMEOUT if sent.timed_out else None
            outcome: Outcome = Indeterminate(cause=Cause.TRANSPORT, why=sent.trouble, detail=detail)
        else:
            body = body_of(wire)
            binding = target.operations.get(operation.id, BARE)
            zone = guard.zones.get(operation.id)
            decoded = decode(wire, body, operation, target, zone)
            decoded = with_token(self, call, operation, wire, decoded)
            decoded = page_of_call(decoded, call, binding.next)
            wire, outcome = self.response_limit.limited(wire, decoded)
            if binding.link_headers or (body is not MISSING and names_links(binding)):
                wire = replace(wire, links=links_of(wire, body, binding))
        return Exchange(n=n, at=at, call=call, outcome=outcome, wire=wire, ms=ms)


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
        yield Executor(
            environment=environment,
            fixture=fixture,
            signer=environment.signer(fixture),
            operations=operations,
            number=number,
            record=record,
        )
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
        partly = executor.partly = PartialArrangement()
        try:
            perform_all(partly.going_on(script), executor.perform)
        except CannotArrange as error:
            stopped, shortage = f"needs {error}", error.shortage
    events = tuple(executor.events)
    return ProbeRun(history=History(events=events), stopped=stopped, shortage=shortage)
