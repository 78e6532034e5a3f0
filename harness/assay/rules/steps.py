"""Building blocks of probes: create a subject, move the clock, call, read pages, consent.

Each is a generator to be used with `yield from`; none does I/O or judges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import count
from typing import TypeAlias, TypeVar
from uuid import NAMESPACE_URL, uuid5

from assay.contract.model import Contract, Json, Operation, Resource
from assay.errors import CannotArrange
from assay.history import (
    Accepted,
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Exchange,
    Holding,
    Reply,
    Step,
    Subject,
    Together,
)

R = TypeVar("R")
Part: TypeAlias = Generator[Step, Reply, R]

#: A plain signature; use `replace` for variations.
SIGN = Authorise(subject="", request="", approval=None)
#: The most pages read in one walk, however many a target offers.
MOST_PAGES = 40


def arrange(subject: str, *holdings: Holding) -> Part[Subject]:
    """Create a subject, and return it with the things that it was asked to own.

    A subject that existed before may own more. Checks see all of it in the history; a probe
    sees only what it asked for, so that its price stays as planned.
    """
    reply = yield Arrange(subject=subject, holdings=holdings)
    if not isinstance(reply, Subject):
        raise TypeError("an arrangement is answered by a subject")
    asked = sum(holding.count for holding in holdings)
    return replace(reply, owns=reply.owns[:asked])


def clock(to: datetime | None = None) -> Part[datetime]:
    """Move the target's clock, or only read it, and return what it shows."""
    reply = yield Advance(to=to)
    if not isinstance(reply, Advanced):
        raise TypeError("a look at the clock is answered by the time")
    return reply.now


def send(call: Call) -> Part[Exchange]:
    """Make a call and return the exchange."""
    reply = yield call
    if not isinstance(reply, Exchange):
        raise TypeError("a call is answered by an exchange")
    return reply


def send_together(*calls: Call, group: int = 1) -> Part[tuple[Exchange, ...]]:
    """Send calls at one moment and return the exchanges, in this order.

    `group` tells several such moments of one probe apart.
    """
    marked = tuple(replace(call, together=group) for call in calls)
    yield Together(steps=marked)
    exchanges: tuple[Exchange, ...] = ()
    for call in marked:
        exchanges = (*exchanges, (yield from send(call)))
    return exchanges


def walk(call: Call, most: int = MOST_PAGES) -> Part[tuple[Exchange, ...]]:
    """Make a call and read further pages until they end, repeat, fail, or are too many."""
    exchange = yield from send(call)
    pages = [exchange]
    turned: set[str] = set()
    while (
        isinstance(exchange.outcome, Accepted)
        and (follow := exchange.outcome.next)
        and follow not in turned
        and len(pages) < most
    ):
        turned.add(follow)
        exchange = yield from send(
            Call(
                operation=call.operation,
                subject=call.subject,
                arguments=call.arguments,
                present=call.present,
                mode=call.mode,
                follow=follow,
                variation=call.variation,
            )
        )
        pages.append(exchange)
    return tuple(pages)


def grant(operation: Operation | None, subject: str, *keys: str) -> Part[None]:
    """Transmit the subject's consent for the things with these keys; nothing without an operation."""
    if operation is not None and not operation.given:
        arguments = {operation.grants or "": list(keys)}
        call = Call(operation=operation.id, subject=subject, arguments=arguments)
        yield from consent(operation, call)


def consent(operation: Operation, call: Call, how: Authorise = SIGN) -> Part[Exchange]:
    """Make a call that transmits a consent; where it makes one, the customer signs that."""
    exchange = yield from send(call)
    if operation.makes and operation.signed:
        yield from sign(exchange, how)
    return exchange


def sign(made: Exchange, how: Authorise = SIGN) -> Part[Authorised | None]:
    """Let the customer sign what was made, if it has a key; `how` says in which way."""
    step = signature_of(made, how)
    return (yield from _signed(step)) if step else None


def _signed(step: Authorise) -> Part[Authorised]:
    reply = yield step
    if not isinstance(reply, Authorised):
        raise TypeError("a signature is answered by what became of it")
    return reply


def signature_of(made: Exchange, how: Authorise = SIGN) -> Authorise | None:
    """Return the step in which the customer signs what was made; None if it has no key."""
    item = made.item
    if item is None or item.key is None:
        return None
    approval = made.outcome.approval if isinstance(made.outcome, Accepted) else None
    return replace(how, subject=made.call.subject, request=item.key, approval=approval)


def sign_together(*made: Exchange) -> Part[None]:
    """Let customers sign at one moment what was made, each of it that has a key."""
    signatures = (signature_of(each, replace(SIGN, together=1)) for each in made)
    steps = tuple(each for each in signatures if each is not None)
    yield Together(steps=steps)
    for step in steps:
        yield from _signed(step)


def days_shown(pages: Iterable[Exchange]) -> Sequence[date]:
    """Return the days of the items on some pages, in order."""
    return sorted({item.on for page in pages for item in page.items if item.on})


def walk_whole(
    call: Call, subject: Subject, keys: Collection[str], grant_: Operation | None, most: int
) -> Part[None]:
    """Read a list in which these keys must be, and once more after a consent to all of them.

    The second time is for a customer who was there before and lacks some of them: a target may
    list only what is consented to, and what that was is unknown.
    """
    pages = yield from walk(call, most)
    shown = {item.key for page in pages for item in page.items}
    if grant_ is not None and not subject.fresh and not shown.issuperset(keys):
        yield from grant(grant_, subject.name, *keys)
        yield from walk(call, most)


def customer(
    name: str,
    owner: str,
    granting: Operation | None,
    *,
    count: int = 1,
    days: Sequence[int] = (1, 2),
) -> Part[Subject]:
    """Create a subject who owns one thing or several, and has consented to their use.

    They have an entry on each of these `days` before today.
    """
    today = (yield from clock()).date()
    entries = days_before(today, *days)
    subject = yield from arrange(name, Holding(resource=owner, count=count, entries=entries))
    yield from grant(granting, name, *(thing.key for thing in subject.owns))
    return subject


def arguments(operation: Operation, key: str) -> Mapping[str, Json]:
    """Return the arguments that a plain call about one owned thing needs."""
    if operation.grants:
        return {operation.grants: [key]}
    if operation.about:
        return {operation.about: key}
    return {}


def ask(operation: Operation, subject: str, key: str, variation: str = "") -> Call:
    """Return a plain call about one owned thing."""
    given = arguments(operation, key)
    return Call(operation=operation.id, subject=subject, arguments=given, variation=variation)


@lru_cache(maxsize=64)
def roots(contract: Contract) -> tuple[Resource, ...]:
    """Return the resources that a subject owns directly, in the contract's order.

    Requests are left out: they are made, not owned from the start.
    """
    made = {operation.request for operation in contract.operations.values()}
    return tuple(
        resource
        for resource in contract.resources.values()
        if resource.of is None and resource.id not in made
    )


def owners(contract: Contract, operation: Operation) -> tuple[str, ...]:
    """Return the resources about which an operation can be asked."""
    return tuple(
        root.id
        for root in roots(contract)
        if not operation.about or contract.children(root.id, operation.id)
    )


def days_before(today: date, *days: int) -> tuple[date, ...]:
    """Return the dates this many days before a day."""
    return tuple(today - timedelta(days=n) for n in days)


def attempted(step: Step) -> Generator[Step, Reply, Reply | CannotArrange]:
    """Yield a step for another script, and return the reply, or what cannot be arranged."""
    try:
        return (yield step)
    except CannotArrange as missing:
        return missing


def answered(script: Part[R], reply: Reply | CannotArrange | None) -> Step:
    """Give a script the reply to its step, or raise there what is missing; return its next step.

    Without a reply, that is its first one.
    """
    if reply is None:
        return next(script)
    return script.throw(reply) if isinstance(reply, CannotArrange) else script.send(reply)


def each_step(
    script: Part[R], perform: Callable[[Step], Reply], most: int | None = None
) -> Generator[Step, None, R]:
    """Yield each step that a script asks for, then perform it; return the script's result.

    What cannot be arranged is raised where the script asks for it: it may go on without.

    Raises:
        RuntimeError: the script asks for more than `most` steps.

    """
    try:
        step = next(script)
        for _ in count() if most is None else range(most):
            yield step
            try:
                reply: Reply | CannotArrange = perform(step)
            except CannotArrange as missing:
                reply = missing
            step = answered(script, reply)
    except StopIteration as end:
        result: R = end.value
        return result
    finally:
        script.close()
    raise RuntimeError(f"a script of more than {most} steps")


def perform_all(script: Part[R], perform: Callable[[Step], Reply], most: int | None = None) -> R:
    """Perform every step that a script asks for, and return the script's result.

    Raises:
        RuntimeError: the script asks for more than `most` steps.

    """
    steps = each_step(script, perform, most)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        result: R = end.value
        return result


def fresh_id(call: Call, now: datetime, *parts: str) -> str:
    """Return a UUID that no target has seen before: the moment and the call are in it."""
    asked = call.subject, call.operation, sorted(map(repr, call.arguments.items()))
    return str(uuid5(NAMESPACE_URL, repr((now.isoformat(), asked, parts))))
