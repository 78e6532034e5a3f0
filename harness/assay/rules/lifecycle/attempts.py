"""Rules on which requests are accepted, and from whom: attempts judged beside their controls.

A control is a request that differs in one thing only, made shortly before or after, and
accepted, so that nothing else prevented it. Without a control a refusal shows nothing,
because a target that refuses everything would do the same.

A request that must be rejected may be rejected at once, or only after the customer has
signed. So `sign_and_read` signs and reads what was accepted, and its execution is the violation. A
request like one that was signed before may be rejected as a repeat, and is not judged. A
registration (of a creditor) may matter, so only customers with the same ones are compared.

Rules on requests that are wrong in themselves are in `defects`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from decimal import Decimal
from functools import partial
from typing import TypeAlias

from assay.contract.model import Json
from assay.contract.scalars import number_of
from assay.history import (
    Authorised,
    Call,
    Exchange,
    History,
    Lacking,
    Owned,
    Registered,
    State,
    Subject,
)
from assay.rules.controls import digest_of, same_but
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.tracker import Instance, InstanceOutcome, Lifecycle, Tracker
from assay.rules.queries import ordinary
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import S, facts_of
from assay.rules.state.calendar import is_banking_day
from assay.rules.steps import Part, send
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Agreement,
    Evidence,
    doubt,
    failed_instead,
)

#: The longest time between an attempt and its control; over a longer time too much changes.
RECENT = timedelta(minutes=5)
#: A date further ahead than this may be rejected for its distance.
FAR = timedelta(days=31)
#: Why a control proves nothing that nobody looked at since it was accepted.
UNREAD = "the like request was not read since, and may have been rejected"
#: Why refusing a customer with a past is no violation.
EARLIER = "it may repeat a request from before this history"


class _Signed(dict[Hashable, set[tuple[str | None, int, int]]]):
    """By what was asked for: the thing that was named, the call and the signature of each request."""


#: The controls of an attempt: the nearest one before it, and the nearest one after.
Beside: TypeAlias = tuple["Attempt", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt to make a request, by an ordinary call.

    `thing` is the customer's thing that it is about, `rest` everything else that was
    sent, with the mode and the day. `bank` are the modes that the bank lacked,
    `repeats` says whether the same was signed before, and `timely` whether its day, if
    it needs one, is in the future, `settles` whether banks settle payments on it. A clause may reject what is `decided`. `unrepeated` says that
    it was made again, after a refusal, with an amount that no request from before the history has.
    `alike` says whether the same was signed for another request before this one was.
    """

    request: Instance
    subject: Subject
    thing: Owned | None
    rest: Hashable
    bank: tuple[str, ...]
    repeats: bool
    timely: bool
    settles: bool
    decided: bool
    unrepeated: bool = False
    alike: bool = False

    @property
    def made(self) -> Exchange:
        """The call that made it."""
        return self.request.made

    @property
    def rejected(self) -> bool:
        """Whether it was refused, or rejected before anybody signed it."""
        request = self.request
        if self.made.refused or _stands(self.made) is State.REJECTED:
            return True
        soon = request.seen_at is not None and request.seen_at - self.made.at <= RECENT
        touched = request.screen_flows or self.touched
        return request.outcome is InstanceOutcome.REJECTED and not touched and soon

    @property
    def touched(self) -> bool:
        """Whether it was or may have been changed or ended, which can be why it was rejected."""
        request = self.request
        asked = any(not event.refused for event in (*request.changes, *request.ends))
        return asked or any(event.done for event in request.withdrawn)

    @property
    def rejected_late(self) -> bool:
        """Whether it was rejected after it was signed, and for no other reason than its content."""
        request = self.request
        late = request.outcome is InstanceOutcome.REJECTED and not (self.touched or self.decided)
        return late and not request_queries.rejected_otherwise(request)

    @property
    def accepted(self) -> bool:
        """Whether it was accepted, and not rejected later."""
        return self.request.stays_accepted

    @property
    def plain(self) -> bool:
        """Whether neither its day nor a repetition can be why it is rejected."""
        return self.timely and (self.settles or self.accepted) and not self.repeats


def attempts(lifecycle: Lifecycle, history: History) -> tuple[Attempt, ...]:
    """Return all attempts that can be compared, in order."""
    what, contract = f"attempts {lifecycle.request.id}", lifecycle.contract
    return history.once(what, contract, partial(_attempts, lifecycle, history))


def _attempts(lifecycle: Lifecycle, history: History) -> tuple[Attempt, ...]:
    tracker = Tracker(lifecycle=lifecycle)
    bank: tuple[str, ...] = ()
    signed, put_off = _Signed(), _Signed()
    registered: dict[str, tuple[str, ...]] = {}
    comparable: list[Attempt] = []
    retried: set[Hashable] = set()
    for event in history.events:
        request = tracker.note(event)
        if isinstance(event, Registered):
            value = f"{event.argument}={event.value!r}"
            registered[event.subject] = (*registered.get(event.subject, ()), value)
        elif isinstance(event, Lacking):
            bank = (*bank, event.mode)
        elif request is None or request.subject is None:
            continue
        elif isinstance(event, Authorised):
            _note(signed, lifecycle, request.made, event.n)
        elif request_queries.makes(event, request) and ordinary(request.made.call):
            known = registered.get(request.subject.name, ())
            attempt = _attempt(lifecycle, request, request.subject, bank, signed)
            if known and attempt.decided:
                continue  # how old a registration is may decide
            # A registration may bring something: only those with the same ones are compared.
            who, amount = (request.subject.name, request.mode), _amount(lifecycle, request.made)
            unrepeated = (who, amount) in retried
            comparable.append(replace(attempt, rest=(attempt.rest, known), unrepeated=unrepeated))
            if request.signed:
                later = lifecycle.deferred(request.mode)
                _note(put_off if later else signed, lifecycle, request.made, request.made.n)
            if request.made.refused and amount is not None:
                retried.add((who, amount + _minutes(request.made)))
    return tuple(
        replace(each, alike=_alike(each, lifecycle, signed, put_off)) for each in comparable
    )


def _amount(lifecycle: Lifecycle, made: Exchange) -> Decimal | None:
    """Return the amount of a request, if it has one that is a number."""
    return number_of(made.call.arguments.get(lifecycle.create.amount or ""))


def _minutes(made: Exchange) -> Decimal:
    """Return the minutes of the day (UTC) at which a request was made, as hundredths."""
    at = made.at.astimezone(UTC)
    return Decimal(at.hour * 60 + at.minute + 1) / 100


def try_again(
    lifecycle: Lifecycle, made: Exchange, *ways: tuple[Subject, str | None]
) -> Part[None]:
    """Make a refused request again, which may repeat one from before, with another amount.

    `ways` are its customer and mode, and those of a request that was accepted, as the control. The
    amount depends on the minute: a request with it could only repeat one of another run in the
    same minute.
    """
    amount = _amount(lifecycle, made)
    if not made.refused or amount is None:
        return
    total = amount + _minutes(made)
    text = isinstance(made.call.arguments[lifecycle.create.amount or ""], str)
    given: dict[str, Json] = {lifecycle.create.amount or "": f"{total:.2f}" if text else total}
    for subject, mode in ways:
        yield from send(request_steps.request(lifecycle, subject, mode, given))


def _attempt(
    lifecycle: Lifecycle,
    request: Instance,
    subject: Subject,
    bank: tuple[str, ...],
    signed: _Signed,
) -> Attempt:
    call, owned = request.made.call, lifecycle.create.owned
    day = request_queries.due_day(lifecycle, call.arguments)
    if lifecycle.deferred(call.mode):
        at = request.made.at
        timely = (
            day is not None
            and request_queries.is_before_due_day(lifecycle, call.arguments, at)
            and day - at.date() < FAR
        )
    else:
        timely = lifecycle.create.due is None or lifecycle.create.due.argument not in call.arguments
    return Attempt(
        request=request,
        subject=subject,
        thing=subject.owned(call.arguments.get(owned)) if owned else None,
        rest=_rest(lifecycle, call),
        bank=bank,
        repeats=_repeats(signed, lifecycle, request.made, request.made.n),
        timely=timely,
        settles=day is None or is_banking_day(day),
        decided=facts_of(lifecycle.contract).may_reject(lifecycle.request.id, call.arguments),
    )


def _rest(lifecycle: Lifecycle, call: Call) -> Hashable:
    """Return the part of an attempt that it shares with its control, whatever differs."""
    create = lifecycle.create
    apart = [name for name in (create.owned, create.due and create.due.argument) if name]
    return same_but(replace(call, subject="", mode=None), *apart)


def _asked(lifecycle: Lifecycle, call: Call) -> tuple[Hashable, str | None]:
    """Return what a request asks for, and the owned thing that it names.

    How and by whom it was sent is no part of it, nor its day. Null asks for nothing.
    """
    create = lifecycle.create
    apart = {create.owned, create.due.argument if create.due else None}
    asked = sorted(
        (name, repr(value))
        for name, value in call.compared.items()
        if value is not None and name not in apart
    )
    thing = request_queries.named_thing(lifecycle, call.compared)
    return digest_of(call.subject, asked), thing


def _alike(attempt: Attempt, lifecycle: Lifecycle, *signed: _Signed) -> bool:
    """Whether the same was signed for another request before this one was."""
    signature = attempt.request.signed
    until = signature.n if signature else 0
    return any(_repeats(each, lifecycle, attempt.made, until) for each in signed)


def _note(signed: _Signed, lifecycle: Lifecycle, made: Exchange, n: int) -> None:
    content, thing = _asked(lifecycle, made.call)
    signed.setdefault(content, set()).add((thing, made.n, n))


def _repeats(signed: _Signed, lifecycle: Lifecycle, made: Exchange, until: int) -> bool:
    """Whether a call may ask for what was signed for another one, `until` it was made or signed."""
    content, thing = _asked(lifecycle, made.call)
    return any(
        other != made.n and n < until and request_queries.perhaps_same_thing(thing, named)
        for named, other, n in signed.get(content, ())
    )


def controls(
    tries: Sequence[Attempt],
    served: Callable[[Attempt], bool],
    shared: Callable[[Attempt], Hashable],
) -> Mapping[int, Beside]:
    """Return the controls of each attempt, by its number.

    A control is an attempt that was accepted, and that the rule expects to be (`served`).
    `shared` returns what it has in common with the attempt, besides what was sent.
    """
    beside_by_number: dict[int, Beside] = {}
    for order in (tries, tries[::-1]):
        last: dict[Hashable, Attempt] = {}
        for attempt in order:
            key = (attempt.bank, attempt.rest, shared(attempt))
            beside = last.get(key)
            if beside is not None and abs(attempt.made.at - beside.made.at) <= RECENT:
                beside_by_number[attempt.made.n] = (
                    *beside_by_number.get(attempt.made.n, ()),
                    beside,
                )
            if attempt.accepted and served(attempt):
                last[key] = attempt
    return beside_by_number


def must_be_accepted(
    facet: str, attempt: Attempt, beside: Beside, why: str, *, for_good: bool = False
) -> Iterator[Evidence]:
    """Judge an attempt that must be accepted; `for_good`, also after its signature.

    A late rejection may be a matter of another rule, but for one whose signed control went on.
    """
    if attempt.accepted:
        yield _evidence(facet, AGREES, f"an acceptance: {why}", attempt)
    elif attempt.made.accepted and not attempt.rejected:
        if attempt.rejected_late and attempt.plain and not attempt.alike:
            # Without a like request that went on it may be a matter of another rule.
            went = tuple(
                each
                for each in beside
                if each.plain and (each.request.done or (for_good and _went_on(each)))
            )
            went = went if request_queries.is_known(attempt.request) else ()
            agreement = DISAGREES if went else UNCLEAR
            yield _evidence(facet, agreement, f"an acceptance: {why}", attempt, went)
    elif not attempt.rejected or attempt.made.wire.status == UNAUTHENTICATED:
        yield _evidence(facet, UNCLEAR, f"an acceptance: {why}", attempt)
    elif beside and attempt.plain and not attempt.request.distrusted:
        expected = f"an acceptance, as for call {beside[0].made.n}: {why}"
        evidence = _evidence(facet, DISAGREES, expected, attempt, beside)
        if not attempt.subject.fresh and not attempt.unrepeated:
            evidence = doubt(evidence, EARLIER)
        # What shows as rejected when it is read is compared with what was read, too.
        late = attempt.made.accepted and _stands(attempt.made) is not State.REJECTED
        read = not late or any(each.request.reads for each in beside)
        yield evidence if read else doubt(evidence, UNREAD)


def must_be_rejected(facet: str, attempt: Attempt, beside: Beside, why: str) -> Iterator[Evidence]:
    """Judge an attempt that must be rejected, at once or after its signature."""
    expected, request = f"a rejection: {why}", attempt.request
    if request.stands:
        yield _evidence(facet, DISAGREES, expected, attempt)
    elif attempt.rejected and attempt.made.wire.status != UNAUTHENTICATED:
        if beside and attempt.plain:
            yield _evidence(facet, AGREES, expected, attempt, beside)
    elif beside and attempt.plain and failed_instead(attempt.made):
        yield _evidence(facet, DISAGREES, expected, attempt, beside)
    elif attempt.rejected_late and attempt.plain and any(map(_went_on, beside)):
        yield _evidence(facet, AGREES, expected, attempt, beside)
    else:
        yield _evidence(facet, UNCLEAR, expected, attempt)


def _went_on(control: Attempt) -> bool:
    """Whether a control was signed and not rejected after that."""
    request = control.request
    if request.undecided:
        return False
    return request.signed is not None and (request.done or request.state is State.OPEN)


def _evidence(
    facet: str, agreement: Agreement, expected: str, attempt: Attempt, beside: Beside = ()
) -> Evidence:
    controls = tuple(n for each in beside for n in each.request.numbers)
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=expected,
        seen=attempt.request.describe(),
        exchanges=tuple(sorted({*attempt.request.numbers, *controls})),
        variation=attempt.made.call.variation,
        decisive=attempt.made.n,
        controls=controls,
    )


def sign_and_read(lifecycle: Lifecycle, control: Exchange | None, *made: Exchange) -> Part[None]:
    """Sign and read requests that were not rejected, whether they should have been or not.

    All are signed before the first is read, as a bank may need some time to execute them. If one of
    them is rejected then, the control, where it is none of them, is signed, too, to show whether
    everything is rejected. It comes last, since one like a signed one may be a repeat.
    """
    late = False
    signed = [each for each in made if each.accepted and _stands(each) is not State.REJECTED]
    for exchange in signed:
        yield from request_steps.sign(lifecycle, exchange)
    for exchange in made:
        if exchange in signed:
            late |= _stands((yield from request_steps.read(lifecycle, exchange))) is State.REJECTED
        else:
            yield from request_steps.read_refused(lifecycle, exchange)
    if late and control is not None:
        yield from request_steps.sign(lifecycle, control)
        yield from request_steps.read(lifecycle, control)


def _stands(exchange: Exchange | None) -> State | None:
    return exchange.item.state if exchange is not None and exchange.item is not None else None


# -- the rules about them ----------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The outcome that a rule expects of an attempt, the facet that it shows, and the reason.

    `for_good` says that one that must be accepted must not be rejected after its signature either.
    """

    facet: str
    accepted: bool
    why: str
    for_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceRule(RefusingKind[S]):
    """Base of the kinds that say which requests are accepted, and which are rejected.

    A subclass defines `case`, `is_control` and `common`; the check follows from them.
    """

    lifecycle: Lifecycle = the_request()  # noqa: RUF009 -- declares a parameter

    def case(self, attempt: Attempt) -> Case | None:
        """Return what the rule expects of an attempt; None where it does not apply."""
        raise NotImplementedError

    def is_control(self, attempt: Attempt) -> bool:
        """Whether the rule expects an attempt to be accepted, so that others compare with it."""
        raise NotImplementedError

    def common(self, attempt: Attempt) -> Hashable:
        """Return what an attempt and its control must have in common, besides what was sent."""
        raise NotImplementedError

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every attempt to which the rule applies, beside its controls."""
        tries = attempts(self.lifecycle, history)
        beside = controls(tries, self.is_control, self.common)
        for attempt in tries:
            case = self.case(attempt)
            if case is not None:
                controlling = beside.get(attempt.made.n, ())
                yield from (
                    must_be_accepted(
                        case.facet, attempt, controlling, case.why, for_good=case.for_good
                    )
                    if case.accepted
                    else must_be_rejected(case.facet, attempt, controlling, case.why)
                )
