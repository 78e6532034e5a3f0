"""Building blocks of probes about requests: customer, make, sign, read.

They extend `rules.steps`. A step about a request that was never made is left out; the
check then finds nothing to judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from assay.contract.model import Contract, Json, Operation
from assay.history import (
    Accepted,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Effects,
    Ending,
    Exchange,
    Holding,
    Inquire,
    Item,
    Lack,
    Register,
    State,
    Subject,
    Submit,
    Withdraw,
    Withdrawn,
)
from assay.rules import steps
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_operation
from assay.rules.state.calendar import is_banking_day, local_day
from assay.rules.steps import Part, send

#: A request is signed as a consent is.
SIGN = steps.SIGN
#: It is signed, and the probe itself submits it.
NOT_SUBMITTED = replace(SIGN, submits=False)
#: How many days ahead a deferred request is due at least, and on how many days probes need one.
DAYS_AHEAD, DUE_DAYS = 3, 3


def customer(
    lifecycle: Lifecycle,
    name: str = "psu",
    *,
    count: int = 1,
    segment: str | None = None,
    traits: Mapping[str, Json] | None = None,
    unregistered: tuple[str, ...] = (),
) -> Part[Subject]:
    """Create a customer who owns things that a request can be about."""
    holdings = (
        (Holding(resource=lifecycle.owner, count=count, traits=traits or {}),)
        if lifecycle.owner
        else ()
    )
    reply = yield Arrange(
        subject=name, holdings=holdings, segment=segment, unregistered=unregistered
    )
    if not isinstance(reply, Subject):
        raise TypeError("an arrangement is answered by a subject")
    return reply


def today(lifecycle: Lifecycle, subject: Subject) -> date:
    """Return the local day on which the subject was created."""
    zone = lifecycle.contract.zone
    return local_day(subject.now, zone)


def days_ahead(lifecycle: Lifecycle, subject: Subject) -> int:
    """Return how many days ahead a deferred request is due: on a banking day, with others after it."""
    first, number = today(lifecycle, subject), DAYS_AHEAD
    while not all(
        is_banking_day(first + timedelta(days=number + later)) for later in range(DUE_DAYS)
    ):
        number += 1
    return number


def request(
    lifecycle: Lifecycle,
    subject: Subject,
    mode: str | None = None,
    arguments: Mapping[str, Json] | None = None,
    *,
    ahead: int | None = None,
    variation: str = "",
) -> Call:
    """Return the call that makes a valid request; use `replace` for variations.

    Arguments that are not given have the values of the target file. In a deferred mode the
    day is `ahead` days after the creation of the subject, by default as many as `days_ahead` says.
    """
    mode = mode or lifecycle.mode
    given: dict[str, Json] = {}
    if lifecycle.create.owned:
        given[lifecycle.create.owned] = subject.owns[0].key
    if lifecycle.create.grants:
        given[lifecycle.create.grants] = [owned.key for owned in subject.owns]
    if lifecycle.create.due and lifecycle.deferred(mode):
        number = days_ahead(lifecycle, subject) if ahead is None else ahead
        day = today(lifecycle, subject) + timedelta(days=number)
        given[lifecycle.create.due.argument] = day.isoformat()
    return Call(
        operation=lifecycle.create.id,
        subject=subject.name,
        arguments={**given, **(arguments or {})},
        mode=mode,
        variation=variation,
    )


def key_of(made: Exchange) -> str | None:
    """Return the key of a request that was made."""
    return made.item.key if made.item else None


def call_about(operation: Operation | None, made: Exchange, **arguments: Json) -> Call | None:
    """Return a call about a request that was made, or None where there is none."""
    key = key_of(made)
    if operation is None or key is None:
        return None
    return Call(
        operation=operation.id,
        subject=made.call.subject,
        arguments={operation.about or "": key, **arguments},
        by=made.call.by,
    )


def send_if_any(call: Call | None) -> Part[Exchange | None]:
    """Send a call, or nothing where there is none."""
    if call is None:
        return None
    return (yield from send(call))


def read(lifecycle: Lifecycle, made: Exchange) -> Part[Exchange | None]:
    """Read a request that was made."""
    return (yield from send_if_any(call_about(lifecycle.read, made)))


def read_refused(lifecycle: Lifecycle, made: Exchange) -> Part[None]:
    """Read a request that was refused, if the refusal names a key all the same."""
    key = next((item.key for item in made.items if item.key), None) if made.refused else None
    operation = lifecycle.read
    if operation is not None and key is not None:
        yield from send(
            Call(
                operation=operation.id,
                subject=made.call.subject,
                arguments={operation.about or "": key},
                by=made.call.by,
            )
        )


def prepare_call(
    contract: Contract, operation: Operation, name: str = "psu"
) -> Part[tuple[Subject, Call | None]]:
    """Prepare a plain valid call of an operation, and return the customer and the call.

    Where the operation is about a request, a request is made first.
    """
    lifecycle = lifecycle_of_operation(contract, operation)
    psu = yield from customer(lifecycle, name)
    if operation.makes:
        return psu, request(lifecycle, psu)
    made = yield from send(
        request(lifecycle, psu, lifecycle.changeable_mode if operation.changes else None)
    )
    change = plain_change(lifecycle, made) if operation.changes else None
    return psu, change or call_about(operation, made)


def plain_change(lifecycle: Lifecycle, made: Exchange) -> Call | None:
    """Return a call that changes one argument of a request, or its day if nothing else can be."""
    call, due = call_about(lifecycle.change, made), lifecycle.create.due
    if call is None or lifecycle.change is None:
        return None
    if (
        lifecycle.changeable_arguments
        or due is None
        or due.argument not in lifecycle.change.arguments
    ):
        return replace(call, varied=lifecycle.changeable_arguments)
    try:
        day = date.fromisoformat(str(made.call.arguments.get(due.argument)))
    except ValueError:
        return call  # it was made in a mode without a day
    later = (day + timedelta(days=1)).isoformat()
    return replace(call, arguments={**call.arguments, due.argument: later})


def plain_call(
    contract: Contract,
    operation: Operation,
    grant: Operation | None,
    name: str = "psu",
    *,
    count: int = 1,
    days: Sequence[int] = (1, 2),
) -> Part[Call | None]:
    """Prepare a plain valid call of any operation: of a reading, with the consent that it needs.

    There are `count` items to read about, each with an entry on each of these `days` before today;
    a list of such items has these.
    """
    if operation.request:
        _, call = yield from prepare_call(contract, operation, name)
        return call
    owners, granting = steps.owners(contract, operation), grant if operation.about else None
    owner = next((each for each in owners if each in operation.lists), owners[0])
    psu = yield from steps.customer(name, owner, granting, count=count, days=days)
    return steps.ask(operation, name, psu.owns[0].key)


def inquire() -> Part[Effects]:
    """Ask the fixture what was executed."""
    reply = yield Inquire()
    if not isinstance(reply, Effects):
        raise TypeError("an inquiry is answered by effects")
    return reply


def withdraw(made: Exchange) -> Part[Withdrawn | None]:
    """Let the customer cancel a request elsewhere; return the event."""
    key = key_of(made)
    done = (yield Withdraw(subject=made.call.subject, request=key)) if key is not None else None
    return done if isinstance(done, Withdrawn) else None


def register(lifecycle: Lifecycle, subject: Subject, argument: str, age: timedelta) -> Part[None]:
    """Register the target file's value of an argument for the subject, this long ago."""
    yield Register(subject=subject.name, operation=lifecycle.create.id, argument=argument, age=age)


def without_mode(mode: str) -> Part[None]:
    """Use a bank that does not offer a mode; must be the first step."""
    yield Lack(mode=mode)


def wait_days(subject: Subject, days: int, hour: int = 12) -> Part[None]:
    """Move the clock by days, to an hour of the last one."""
    then = (subject.now + timedelta(days=days)).replace(hour=hour, minute=0, second=0)
    yield from steps.clock(then)


def sign(lifecycle: Lifecycle, made: Exchange, how: Authorise = SIGN) -> Part[Authorised | None]:
    """Let the customer sign a request that was made, if it is signed; `how` says in which way.

    What was made as rejected has nothing to sign, unless its answer has a link all the same.
    """
    over = made.item is not None and made.item.state in {State.REJECTED, State.ENDED}
    linked = isinstance(made.outcome, Accepted) and made.outcome.approval is not None
    if not lifecycle.signed or (over and not linked):
        return None
    return (yield from steps.sign(made, how))


def submit(made: Exchange, variation: str = "", *varied: str) -> Part[None]:
    """Submit a request that is not signed; or, with a variation, once more or with other values."""
    key = key_of(made)
    if key is not None:
        yield Submit(subject=made.call.subject, request=key, varied=varied, variation=variation)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """The result of a request that a probe made, signed and read."""

    made: Exchange
    signed: Authorised | None
    item: Item | None

    @property
    def factor_not_offered(self) -> bool:
        """Whether the screens did not offer the factor with which to sign."""
        signed = self.signed
        return (
            signed is not None
            and signed.ending is Ending.STOPPED
            and signed.offered is not None
            and signed.step.factor not in (None, *signed.offered)
        )

    @property
    def confirmed(self) -> bool:
        """Whether the customer confirmed it on the screens."""
        return self.signed is not None and self.signed.ending is Ending.CONFIRMED

    @property
    def rejected(self) -> bool:
        """Whether it was refused at once, or is rejected."""
        return self.made.refused or (self.item is not None and self.item.state is State.REJECTED)


def make_sign_read(lifecycle: Lifecycle, call: Call, how: Authorise = SIGN) -> Part[RequestResult]:
    """Make a request, sign it, and read it."""
    made = yield from send(call)
    signed = yield from sign(lifecycle, made, how)
    seen = yield from read(lifecycle, made)
    return RequestResult(made=made, signed=signed, item=seen.item if seen else None)
