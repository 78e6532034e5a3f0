"""Events after which a rule may fail that holds at once: a second consent, a repeat, a week.

They follow from the contract and from what the target offers. A life is a sequence of them
(`fuzzing.lives`), and a trial can have some of them behind it (`past`). Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import count, cycle
from typing import TypeAlias

from assay.contexts.request_dimensions import OTHER_TPP
from assay.contract.model import Capability, Contract, Json, Operation
from assay.history import Authorise, Call, Code, Decision, Exchange, Renew, Subject
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.request_steps import call_about, send_if_any
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_operation
from assay.rules.rule import facts_of
from assay.rules.steps import SIGN, Part

#: How many of the last requests are looked at after an event.
LOOKED_AT = 4
#: The most calls without the customer in one event.
MOST_BATCH = 6
#: The days after which a deferred request is due.
DUE = 4
#: A document seldom says that such a consent is valid.
NOTHING = "naming nothing"


@dataclass(slots=True, kw_only=True)
class LifeState:
    """The state of a life: its customer, perhaps another one, and the requests that were made.

    `now` is the time that the target's clock showed last. No two requests have the same of the
    `amounts` (in hundredths), unless one is to repeat the other.
    """

    contract: Contract
    offers: frozenset[Capability]
    psu: Subject
    now: datetime
    other: Subject | None = None
    made: list[Exchange] = field(default_factory=list[Exchange])
    amounts: Iterator[int] = field(default_factory=lambda: count(311, 2))
    factors: Iterator[str | None] = field(init=False)

    def __post_init__(self) -> None:
        """Sign with each factor in turn that the customer's segment has, if any is named."""
        named: dict[str, None] = {}
        for by_segment in facts_of(self.contract).factors_by_segment.values():
            served = by_segment.get(self.psu.segment or next(iter(by_segment), ""), ())
            named |= dict.fromkeys(served)
        self.factors = cycle(named or (None,))


#: What happens in an event.
Happening: TypeAlias = Callable[[LifeState], Part[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeEvent:
    """Something that happens, in words that complete "after ..."."""

    name: str
    happen: Happening


def keys_of(psu: Subject, *places: int) -> list[str]:
    """Return the keys of what a customer owns at these places, without those beyond the end."""
    owns = psu.owns
    return [owns[place].key for place in places if -len(owns) <= place < len(owns)]


def events_of(contract: Contract, offers: frozenset[Capability]) -> tuple[LifeEvent, ...]:
    """Return the events of a contract, as far as a target offers what they take."""
    found: list[LifeEvent] = []
    for operation in contract.operations.values():
        if not operation.available or operation.given:
            continue
        if operation.grants:
            if operation.makes or Capability.CONSENT in offers:
                found += _consent_events(operation, offers)
        elif operation.makes:
            found += _request_events(lifecycle_of_operation(contract, operation), offers)
    found += _reading_events(contract, offers)
    if Capability.CLOCK in offers:
        found += [LifeEvent(name=f"{days} days", happen=days_pass(days)) for days in (1, 8)]
    return tuple(found)


def let_pass(state: LifeState, time: timedelta) -> Part[None]:
    """Let time pass, where the clock can be moved."""
    if Capability.CLOCK in state.offers:
        now = yield from steps.clock()
        state.now = yield from steps.clock(now + time)


def days_pass(days: int) -> Happening:
    """Let days pass."""
    return lambda state: let_pass(state, timedelta(days=days))


# -- Consents, and what is read ------------------------------------------------------------------
def consent(grant: Operation, *places: int, other: bool = False, variation: str = "") -> Happening:
    """Consent to what the customer, or the `other` one, owns at these places."""

    def happen(state: LifeState) -> Part[None]:
        psu = state.other if other and state.other else state.psu
        arguments: dict[str, Json] = {grant.grants or "": keys_of(psu, *places)}
        call = Call(operation=grant.id, subject=psu.name, arguments=arguments, variation=variation)
        yield from steps.consent(grant, call)

    return happen


def _consent_events(grant: Operation, offers: frozenset[Capability]) -> Iterator[LifeEvent]:
    yield LifeEvent(name="a consent to one thing", happen=consent(grant, 1))
    yield LifeEvent(name="a consent to several in another order", happen=consent(grant, 2, 0))
    yield LifeEvent(name="a consent to everything", happen=consent(grant, *range(MOST_BATCH)))
    yield LifeEvent(name="a consent to the last thing", happen=consent(grant, -1))
    yield LifeEvent(name="a consent to nothing", happen=consent(grant, variation=NOTHING))
    if Capability.TWO_PSU in offers:
        happen = consent(grant, 0, other=True)
        yield LifeEvent(name="a consent of another customer", happen=happen)


@lru_cache(maxsize=64)
def readings(contract: Contract) -> tuple[Operation, ...]:
    """Return the operations that only read, and not a request."""
    return tuple(
        each
        for each in contract.operations.values()
        if each.available and not (each.grants or each.request)
    )


def _reading_events(contract: Contract, offers: frozenset[Capability]) -> Iterator[LifeEvent]:
    reading = readings(contract)
    if not reading:
        return
    if Capability.RENEWAL in offers:

        def renew(state: LifeState) -> Part[None]:
            yield Renew(subject=state.psu.name, operation=reading[0].id)

        yield LifeEvent(name="a renewed token", happen=renew)
    if Capability.BATCH in offers:
        yield LifeEvent(name="accesses without the customer beyond the limit", happen=_batch)
    if Capability.TWO_PSU in offers:

        def others(state: LifeState) -> Part[None]:
            yield from read(state, state.other or state.psu)

        yield LifeEvent(name="reads of another customer", happen=others)


def _batch(state: LifeState) -> Part[None]:
    for operation in readings(state.contract):
        if not operation.about:
            limits = facts_of(state.contract).call_limits.get(operation.id, ())
            most = min((limit.number for limit in limits), default=1)
            call = Call(operation=operation.id, subject=state.psu.name, present=False)
            for _ in range(min(most + 1, MOST_BATCH)):
                yield from steps.send(call)


def read(state: LifeState, psu: Subject) -> Part[None]:
    """Read all lists, and everything about the first, the second and the last thing of a customer."""
    keys = dict.fromkeys(keys_of(psu, 0, 1, -1))
    for operation in readings(state.contract):
        if operation.about:
            for key in keys:
                yield from steps.send(steps.ask(operation, psu.name, key))
        else:
            yield from steps.walk(Call(operation=operation.id, subject=psu.name), 2)


# -- Requests --------------------------------------------------------------------------------------
def make(
    state: LifeState,
    lifecycle: Lifecycle,
    mode: str | None = None,
    *,
    like: Exchange | None = None,
    ahead: int = DUE,
    given: dict[str, Json] | None = None,
    by: str = "",
) -> Part[Exchange]:
    """Make a request that is like another, or unlike all others; `by` which TPP."""
    create, psu = lifecycle.create, replace(state.psu, now=state.now)
    arguments = dict(given or {})
    if create.amount:
        arguments[create.amount] = _amount(state)
    elif create.owned:
        arguments[create.owned] = psu.owns[next(state.amounts) // 2 % len(psu.owns)].key
    call = request_steps.request(lifecycle, psu, mode, arguments, ahead=ahead)
    made = yield from steps.send(like.call if like else replace(call, by=by or call.by))
    state.made.append(made)
    return made


def _amount(state: LifeState) -> str:
    cents = next(state.amounts)
    return f"{cents // 100}.{cents % 100:02}"


def sign(
    state: LifeState, lifecycle: Lifecycle, made: Exchange, how: Authorise | None = None
) -> Part[None]:
    """Let the customer sign a request, with the next factor, and look at it."""
    how = how or replace(SIGN, factor=next(state.factors))
    yield from request_steps.sign(lifecycle, made, how)
    yield from look(state, lifecycle, made)


def look(state: LifeState, lifecycle: Lifecycle, *made: Exchange) -> Part[None]:
    """See what was executed, and read requests."""
    if Capability.EFFECTS in state.offers:
        yield from request_steps.inquire()
    for each in made:
        yield from request_steps.read(lifecycle, each)


def change(state: LifeState, lifecycle: Lifecycle, made: Exchange) -> Part[None]:
    """Change the amount of a request to another one, or what else can be changed."""
    amount, operation = lifecycle.create.amount, lifecycle.change
    call = request_steps.plain_change(lifecycle, made)
    if operation and amount in operation.arguments and amount:
        call = call_about(operation, made, **{amount: _amount(state)})
    yield from send_if_any(call)


def _request_events(lifecycle: Lifecycle, offers: frozenset[Capability]) -> Iterator[LifeEvent]:
    if not lifecycle.signing_needs <= offers:
        return
    facts, name = facts_of(lifecycle.contract), lifecycle.request.id
    modes = facts.accepted_modes.get(name, ()) or (lifecycle.mode,)
    for mode in modes:
        if not lifecycle.deferred(mode):
            kind = f"{mode} requests" if mode else "requests"
            yield LifeEvent(name=f"repeated {kind}", happen=_repeated(lifecycle, mode))
    yield LifeEvent(name="equal requests before either is signed", happen=_twins(lifecycle))
    for argument, value in dict.fromkeys(facts.named_values.get(name, ())):
        happen = _valued(lifecycle, {argument: value})
        yield LifeEvent(name=f"requests with {argument} {value}", happen=happen)
    if lifecycle.signed:
        yield from _signing_events(lifecycle, offers)
    if lifecycle.create.by_tpp and Capability.TPPS in offers:
        yield LifeEvent(name="a repeat by another TPP", happen=_repeated_by_other(lifecycle))
    for mode in lifecycle.deferred_modes[:1] if Capability.CLOCK in offers else ():
        yield LifeEvent(name="changed requests", happen=_changed(lifecycle, mode))
        yield LifeEvent(name="cancelled requests", happen=_ended(lifecycle, mode))
        if Capability.DIRECT_ACCESS in offers:
            yield LifeEvent(name="a withdrawn request", happen=_withdrawn(lifecycle, mode))
        happen = _every_day(lifecycle, mode)
        yield LifeEvent(name="requests due on each day of a week", happen=happen)


def _signing_events(lifecycle: Lifecycle, offers: frozenset[Capability]) -> Iterator[LifeEvent]:
    refused, wrong = replace(SIGN, decision=Decision.REFUSE), replace(SIGN, typed=Code.WRONG)
    mistyped = replace(SIGN, code=Code.WRONG)
    yield LifeEvent(name="a refused request", happen=_not_signed(lifecycle, refused))
    yield LifeEvent(name="an unsigned request", happen=_not_signed(lifecycle))
    yield LifeEvent(name="a wrong password", happen=_not_signed(lifecycle, wrong, SIGN))
    yield LifeEvent(name="a wrong code", happen=_not_signed(lifecycle, mistyped, SIGN))
    if Capability.TWO_PSU in offers:
        yield LifeEvent(name="another customer's signature", happen=_signed_by_other(lifecycle))


def _repeated(lifecycle: Lifecycle, mode: str | None) -> Happening:
    def happen(state: LifeState) -> Part[None]:
        made = yield from make(state, lifecycle, mode)
        yield from sign(state, lifecycle, made)
        for _ in range(2):
            again = yield from make(state, lifecycle, like=made)
            yield from sign(state, lifecycle, again)

    return happen


def _twins(lifecycle: Lifecycle) -> Happening:
    def happen(state: LifeState) -> Part[None]:
        first = yield from make(state, lifecycle)
        second = yield from make(state, lifecycle, like=first)
        for each in first, second:
            yield from sign(state, lifecycle, each)

    return happen


def _valued(lifecycle: Lifecycle, given: dict[str, Json]) -> Happening:
    """Make requests with a value of which a clause speaks, and sign them with different factors."""

    def happen(state: LifeState) -> Part[None]:
        for _ in range(2):
            made = yield from make(state, lifecycle, given=given)
            yield from sign(state, lifecycle, made)

    return happen


def _not_signed(lifecycle: Lifecycle, *ways: Authorise) -> Happening:
    """Make a request that is signed in these ways; then one like it, and one unlike it."""

    def happen(state: LifeState) -> Part[None]:
        made = yield from make(state, lifecycle)
        for how in ways:
            yield from sign(state, lifecycle, made, how)
        for like in made, None:
            again = yield from make(state, lifecycle, like=like)
            yield from sign(state, lifecycle, again)
        yield from look(state, lifecycle, made)

    return happen


def _signed_by_other(lifecycle: Lifecycle) -> Happening:
    def happen(state: LifeState) -> Part[None]:
        stranger = replace(SIGN, by=state.other.name if state.other else "")
        yield from _not_signed(lifecycle, stranger)(state)

    return happen


def _repeated_by_other(lifecycle: Lifecycle) -> Happening:
    def happen(state: LifeState) -> Part[None]:
        made = yield from make(state, lifecycle)
        yield from sign(state, lifecycle, made)
        theirs = replace(made, call=replace(made.call, by=OTHER_TPP))
        again = yield from make(state, lifecycle, like=theirs)
        yield from sign(state, lifecycle, again)

    return happen


def _changed(lifecycle: Lifecycle, mode: str) -> Happening:
    """Change a request twice, and once it is executed; and one that is signed after its change."""

    def happen(state: LifeState) -> Part[None]:
        early = yield from make(state, lifecycle, mode)
        late = yield from make(state, lifecycle, mode)
        yield from sign(state, lifecycle, early)
        for made in early, early, late:
            yield from change(state, lifecycle, made)
            yield from request_steps.read(lifecycle, made)
        yield from sign(state, lifecycle, late)
        yield from _see_due(state, lifecycle, early, late)
        yield from change(state, lifecycle, early)
        yield from send_if_any(call_about(lifecycle.end, early))

    return happen


def _see_due(state: LifeState, lifecycle: Lifecycle, *made: Exchange) -> Part[None]:
    """Look at deferred requests when their day is over."""
    yield from let_pass(state, timedelta(days=DUE + 1))
    yield from look(state, lifecycle, *made)


def _ended(lifecycle: Lifecycle, mode: str) -> Happening:
    """Cancel a request that is signed, and one that is not."""

    def happen(state: LifeState) -> Part[None]:
        signed = yield from make(state, lifecycle, mode)
        unsigned = yield from make(state, lifecycle, mode)
        yield from sign(state, lifecycle, signed)
        for made in signed, unsigned:
            yield from send_if_any(call_about(lifecycle.end, made))
        yield from _see_due(state, lifecycle, signed, unsigned)

    return happen


def _withdrawn(lifecycle: Lifecycle, mode: str) -> Happening:
    def happen(state: LifeState) -> Part[None]:
        made = yield from make(state, lifecycle, mode)
        yield from sign(state, lifecycle, made)
        yield from request_steps.withdraw(made)
        yield from _see_due(state, lifecycle, made)

    return happen


def _every_day(lifecycle: Lifecycle, mode: str) -> Happening:
    def happen(state: LifeState) -> Part[None]:
        made: list[Exchange] = []
        for ahead in range(1, 8):
            made.append((yield from make(state, lifecycle, mode, ahead=ahead)))
            yield from sign(state, lifecycle, made[-1])
        yield from let_pass(state, timedelta(days=9))
        yield from look(state, lifecycle, *made)

    return happen


def last_made(state: LifeState) -> tuple[Lifecycle, Sequence[Exchange]] | None:
    """Return the last requests that were made, with what can be done with them."""
    if not state.made:
        return None
    operation = state.contract.operations[state.made[-1].call.operation]
    lifecycle = lifecycle_of_operation(state.contract, operation)
    same = [each for each in state.made if each.call.operation == operation.id]
    return lifecycle, same[-LOOKED_AT:]
