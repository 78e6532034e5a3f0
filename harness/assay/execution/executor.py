"""Playing with a target: each step performed, and told what became of it.

Whoever holds a `Play` decides from step to step: a probe, a random journey, a story
told before. What happens is handed to a recorder on the way, so that nothing is lost
when a run is cut short. No judgement here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import perf_counter
from uuid import UUID, uuid4, uuid5

from assay.binding.decode import body_of, decode, links_of
from assay.binding.encode import BARE, Access, HttpRequest, arguments, encode
from assay.binding.pointer import MISSING
from assay.binding.target import OperationBinding, Target
from assay.binding.wire_values import RequestValues
from assay.contract.model import Capability, Operation
from assay.errors import CannotArrange, TargetError
from assay.execution.credentials import credentials_for
from assay.execution.environment import Environment
from assay.execution.guard import Customer, customer_of
from assay.fixtures.protocol import Fixture
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Cause,
    Detail,
    Effect,
    Effects,
    Event,
    Exchange,
    Indeterminate,
    Inquire,
    Item,
    Lack,
    Lacking,
    Outcome,
    Register,
    Registered,
    Step,
    Subject,
    Withdraw,
    Withdrawn,
)
from assay.judging.rejected_credentials import not_taken
from assay.planning.plan import REMEDIES
from assay.sca.protocol import Signer

#: So many pages of a list are read for the names in it.
MOST_PAGES = 50
#: Told of every event as it happens, with what authorised a subject or a call.
Recorder = Callable[[Event, Access], None]


@dataclass(slots=True, kw_only=True)
class Executor:
    """One story with a target while it runs: `perform` takes it a step further.

    `events` are what happened so far. `ids` are the target's own names of things, by key,
    `owners` whose a thing is, `resources` what it is. No two stories have one `name`, and
    so many requests were `made` in this one.
    """

    environment: Environment
    fixture: Fixture
    signer: Signer
    operations: Mapping[str, Operation]
    number: Callable[[], int]
    record: Recorder
    access: dict[str, Access] = field(default_factory=dict[str, Access])
    providers: dict[str, Access] = field(default_factory=dict[str, Access])
    returns: dict[str, str] = field(default_factory=dict[str, str])
    told: dict[str, Effect] = field(default_factory=dict[str, Effect])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    owners: dict[str, str] = field(default_factory=dict[str, str])
    resources: dict[str, str] = field(default_factory=dict[str, str])
    name: UUID = field(default_factory=uuid4)
    made: int = 0
    now: datetime | None = None
    events: list[Event] = field(default_factory=list[Event])

    def perform(self, step: Step) -> Event:
        """Perform a step and return what became of it.

        Raises:
            CannotArrange: the target, or its profile, does not offer what is asked for.
            TargetError: the target's world cannot be reached or used at all.

        """
        self.environment.guard.going()
        event = self._event(step)
        # Reading the clock is part of no story.
        if not (isinstance(step, Advance) and step.to is None):
            self.keep(event, getattr(step, "subject", ""))
        return event

    def keep(self, event: Event, subject: str) -> None:
        """Take into the story, and into the record, what happened to a subject."""
        self.events.append(event)
        access = self.access.get(subject, Access())
        if isinstance(event, Exchange) and self.operations[event.call.operation].by_provider:
            # What authorised it is the third party's, and must not be told either.
            access = self.providers.get(event.call.by, access)
        self.record(event, access)

    def look(self) -> datetime:
        """Read the target's clock, as far as it is known; that is part of no story."""
        return self.fixture.clock(None)

    def _event(self, step: Step) -> Event:
        match step:
            case Call():
                event: Event = self._returning(step)
            case Arrange():
                event = self._arrange(step)
            case Authorise():
                event = self._authorise(step)
            case Advance(to=to):
                self.now = self.fixture.clock(to)
                event = Advanced(now=self.now)
            case Inquire():
                event = Effects(now=self.fixture.clock(None), done=self._effects())
            case Register():
                event = self._register(step)
            case Withdraw(subject=subject, request=request):
                taken = self.fixture.withdraw(step)
                now = self.fixture.clock(None)
                event = Withdrawn(subject=subject, request=request, done=taken, now=now)
            case Lack(mode=mode):
                event = Lacking(mode=mode, now=self.fixture.lack(step))
        return event

    def who(self, subject: str) -> Customer:
        """Return whose accesses those of a subject are."""
        access = self.access.get(subject, self.environment.common)
        owns = [key for key, owner in self.owners.items() if owner == subject]
        return customer_of(self.environment.target, access, subject, owns)

    def _effects(self) -> tuple[Effect, ...] | None:
        """Ask what was carried out, and return what no event has told of before.

        With all of it told every time, a long story would grow with its square.
        """
        offered = Capability.EFFECTS in self.environment.target.fixtures.offers
        done = self.fixture.effects() if offered else None
        if done is None:
            return None
        new = tuple(one for one in done if self.told.get(one.request) != one)
        self.told |= {one.request: one for one in new}
        return new

    def _register(self, step: Register) -> Event:
        binding = self.environment.target.operations.get(step.operation, BARE)
        spelling = binding.arguments.get(step.argument)
        value = step.value if step.value is not None else spelling.value if spelling else None
        if value is None:
            key = ("operations", step.operation, "arguments", step.argument)
            raise CannotArrange(f"a value for {'.'.join(key)} in the target file", key=key)
        since = self.fixture.register(step, self.access.get(step.subject, Access()), value)
        return Registered(subject=step.subject, argument=step.argument, value=value, since=since)

    def _authorise(self, step: Authorise) -> Authorised:
        access = self.access.get(step.by or step.subject, Access())
        self.environment.guard.count()
        began = perf_counter()
        walked = self.signer.sign(step, access, self.wait)
        return Authorised(
            n=self.number(),
            step=step,
            ending=walked.ending,
            moments=tuple(walked.moments) or (self.wait(timedelta(0)),),
            offered=walked.offered,
            screens=tuple(walked.screens),
            redirected=walked.redirected,
            unspelt=walked.unspelt,
            coded=walked.coded,
            stuck=walked.stuck,
            why=walked.why,
            wire=replace(walked.wire, body=b"", request_body=b""),
            ms=(perf_counter() - began) * 1000,
        )

    def wait(self, span: timedelta) -> datetime:
        """Let so much time pass at the target, and return its clock."""
        now = self.fixture.clock(None)
        return self.fixture.clock(now + span) if span else now

    def provider(self, name: str) -> Access:
        """Return the access of a third party, who comes into being when first needed."""
        if name not in self.providers:
            offered = Capability.PROVIDERS in self.environment.target.fixtures.offers
            if name and not offered:
                raise CannotArrange(REMEDIES[Capability.PROVIDERS])
            common = self.environment.party or self.environment.common
            self.providers[name] = self.fixture.provider() if offered else common
        return self.providers[name]

    def _arrange(self, step: Arrange) -> Subject:
        subject, access = self.fixture.arrange(step)
        common = self.environment.common
        self.access[step.subject] = access if access.token else replace(access, token=common.token)
        self.now = subject.now
        self.owners |= dict.fromkeys((one.key for one in subject.owns), step.subject)
        self.resources |= {one.key: one.resource for one in subject.owns}
        return subject

    def _returning(self, call: Call) -> Exchange:
        """Call; what is made to be signed comes back to where the signer waits for it.

        Unless the probe minds where. Two calls that are alike stay so: whoever asks for
        the same thing twice must not be told apart by an address that is not his.
        """
        operation = self.operations[call.operation]
        name = operation.returns
        if name is None or name in {*call.arguments, *call.without, *call.varied}:
            return self._call(call)
        alike = repr(replace(call, by="", variation=""))
        address = self.returns.get(alike) or self.signer.return_address()
        if address is None:
            return self._call(call)
        self.returns[alike] = address
        exchange = self._call(replace(call, arguments={**call.arguments, name: address}))
        if exchange.item and exchange.item.key:
            self.signer.returns(exchange.item.key, address)
        return exchange

    def _call(self, call: Call) -> Exchange:
        operation = self.operations[call.operation]
        target = self.environment.target
        _permitted(call, operation, target)
        access = credentials_for(self, call, operation)
        binding = target.operations.get(operation.id, BARE)
        self._find(call, binding)
        request = encode(call, operation, target, access, self._made(call))
        if operation.request:
            # What the profile added is part of what was asked for.
            call = replace(call, arguments=arguments(call, operation, binding))
        return self.exchanged(call, request)

    def _made(self, call: Call) -> RequestValues:
        """Return what belongs to this request alone, as far as the profile asks for it."""
        target = self.environment.target
        binding = target.operations.get(call.operation, BARE)
        if not (target.headers or binding.headers or binding.queries or binding.template):
            return RequestValues(ids=self.ids, resources=self.resources)
        self.made += 1
        twin = repr(replace(call, by="", variation="", present=True, alias=None, host=None))
        return RequestValues(
            now=(self.now or self.look()).isoformat(),
            unique=str(uuid5(self.name, str(self.made))),
            alike=uuid5(self.name, twin).hex[:30],
            ids=self.ids,
            resources=self.resources,
        )

    def _find(self, call: Call, binding: OperationBinding) -> None:
        """Ask for the target's own names of what a call is about, where it goes by them.

        The list is read as any provider would read it, with the customer there.
        """
        for name, spelling in binding.arguments.items():
            if spelling.found is None or call.follow is not None:
                continue
            given = call.arguments.get(name)
            for key in given if isinstance(given, list | tuple) else (given,):
                owner = self.owners.get(str(key))
                if owner is None or str(key) in self.ids:
                    continue  # nobody's key goes as it is
                self._list(spelling.found, owner)
                if str(key) not in self.ids:
                    what = f"the target's own name of what {name} names"
                    owned = ("operations", spelling.found, "item", "id")
                    raise CannotArrange(f"{what} ({'.'.join(owned)})", key=owned)

    def _list(self, operation: str, owner: str) -> None:
        """Read a customer's whole list, for the names in it."""
        follow: str | None = None
        for _ in range(MOST_PAGES):
            asked = Call(operation=operation, subject=owner, follow=follow)
            exchange = self._call(asked)
            self.keep(exchange, owner)
            follow = exchange.outcome.next if isinstance(exchange.outcome, Accepted) else None
            if follow is None:
                return

    def _learn(self, items: Iterable[Item]) -> None:
        self.ids |= {one.key: one.id for one in items if one.key and one.id}

    def exchanged(self, call: Call, request: HttpRequest) -> Exchange:
        """Send a request that is ready, as this call, and return what came of it.

        Whoever made it up, it passes the gates here (`run.guard`).

        Raises:
            CannotArrange: it must not be sent.

        """
        operation, target = self.operations[call.operation], self.environment.target
        guard = self.environment.guard
        guard.admit(call, operation, request, lambda: self.who(call.subject), self.look)
        began = perf_counter()
        sent = self.environment.client.send(request)
        ms = (perf_counter() - began) * 1000
        guard.see(sent.wire.status, sent.trouble)
        at = self.fixture.clock(None)
        wire, n = sent.wire, self.number()
        if sent.trouble:
            detail = Detail.TIMEOUT if sent.timed_out else None
            outcome: Outcome = Indeterminate(cause=Cause.TRANSPORT, why=sent.trouble, detail=detail)
        else:
            body = body_of(wire)
            refused = None if call.credentials else not_taken(operation, wire, target)
            outcome = refused or decode(wire, body, operation, target)
            binding = target.operations.get(operation.id, BARE)
            if body is not MISSING and (binding.links or binding.next or binding.approval):
                wire = replace(wire, links=links_of(wire, body, binding))
        exchange = Exchange(n=n, at=at, call=call, outcome=outcome, wire=wire, ms=ms)
        self._learn(exchange.items)
        return exchange


def _permitted(call: Call, operation: Operation, target: Target) -> None:
    """Hold back what the profile does not offer, whatever a rule forgot to need.

    A consent would change the customer's affairs; a call without the customer
    that nothing marks as such would look like one with.
    """
    if operation.grants and Capability.CONSENT not in target.fixtures.offers:
        raise CannotArrange(REMEDIES[Capability.CONSENT])
    if operation.writes and Capability.WRITE not in target.fixtures.offers:
        raise CannotArrange(REMEDIES[Capability.WRITE])
    if call.host is not None and call.host >= len(target.hosts):
        raise CannotArrange(REMEDIES[Capability.HOSTS])
    if not call.present and target.presence is None:
        raise CannotArrange(REMEDIES[Capability.BATCH])


@contextmanager
def executing(
    environment: Environment,
    operations: Mapping[str, Operation],
    *,
    number: Callable[[], int],
    record: Recorder = lambda _event, _access: None,
) -> Generator[Executor]:
    """Open a world of its own to play in, and give it back at the end.

    Raises:
        TargetError: the target's world cannot be reached or used at all.

    """
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
        with suppress(TargetError):  # a scene that cannot be given back costs no verdict
            fixture.close()
