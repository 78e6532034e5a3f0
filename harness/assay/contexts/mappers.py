"""What the values of dimensions do to a trial's steps, and the trials to which they cannot apply.

Those of customers come first: segment, what else she owns, whether she is present.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from assay.contexts.context import StepMapper
from assay.contract.model import Contract, Json, Operation
from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Ending,
    Holding,
    Register,
    Reply,
    Step,
    Subject,
)
from assay.rules.rule import Script, facts_of
from assay.rules.state.calendar import at, is_banking_day, local_day
from assay.rules.steps import roots

OWN = "the trial itself varies this value"


def arrangements(steps: Sequence[Step]) -> list[Arrange]:
    """Return the arrangements among steps."""
    return [step for step in steps if isinstance(step, Arrange)]


def calls(steps: Sequence[Step]) -> list[Call]:
    """Return the calls among steps, without page turns: a page is asked for by its link."""
    return [step for step in steps if isinstance(step, Call) and step.follow is None]


#: The hour at which a trial begins, and the one at which many banks run their batches.
NOON, NIGHT = time(12), time(2, 20)


def pass_days(contract: Contract, day: Callable[[date], date], hour: time = NOON) -> Script:
    """Move the clock to an hour of the local day that follows from today: noon if it is closed then."""
    reply = yield Advance()
    if isinstance(reply, Advanced):
        zone = contract.zone or reply.now.tzinfo or UTC
        then = day(local_day(reply.now, zone))
        closed = facts_of(contract).closed_at(at(then, hour, zone))
        yield Advance(to=at(then, NOON if closed else hour, zone))


@dataclass(slots=True, kw_only=True)
class InSegment(StepMapper):
    """Every customer is of another segment."""

    segment: str

    def map(self, step: Step) -> Step:
        """Return an arrangement of a customer of the segment."""
        if isinstance(step, Arrange) and step.segment is None:
            return replace(step, segment=self.segment)
        return step


def segment_reason(steps: Sequence[Step]) -> str:
    """Say why a trial cannot have another segment."""
    arranged = arrangements(steps)
    if not arranged:
        return "the trial has no customer"
    return OWN if any(step.segment is not None for step in arranged) else ""


@dataclass(slots=True, kw_only=True)
class OfAnotherResource(StepMapper):
    """Every customer owns things of another resource in place of those of the trial.

    Not in place of those with traits, which the other resource may not have.
    """

    plain: str
    other: str

    def map(self, step: Step) -> Step:
        """Return an arrangement of things of the other resource."""
        if not isinstance(step, Arrange):
            return step
        holdings = (
            replace(holding, resource=self.other)
            if holding.resource == self.plain and not holding.traits
            else holding
            for holding in step.holdings
        )
        return replace(step, holdings=tuple(holdings))


def resource_reason(contract: Contract, plain: str, other: str, steps: Sequence[Step]) -> str:
    """Say why a trial cannot be about things of another resource."""
    held = [holding for step in arrangements(steps) for holding in step.holdings]
    if not held:
        return "the trial uses no item of the customer"
    if any(holding.resource != plain or holding.traits for holding in held):
        return OWN
    for call in calls(steps):
        operation = contract.operations[call.operation]
        if operation.request or (operation.about and not contract.children(other, operation.id)):
            return f"no {operation.id} is about a {other}"
    return ""


@dataclass(slots=True, kw_only=True)
class OnALaterPage(StepMapper):
    """Every customer owns a page full of other things before those of the trial."""

    contract: Contract
    size: int
    added: dict[str, int] = field(default_factory=dict[str, int])

    def map(self, step: Step) -> Step:
        """Return an arrangement with more things, which come first."""
        if not isinstance(step, Arrange) or not step.holdings:
            return step
        resource = step.holdings[0].resource
        if resource not in {root.id for root in roots(self.contract)}:
            return step
        self.added[step.subject] = self.size
        return replace(step, holdings=(Holding(resource=resource, count=self.size), *step.holdings))

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Return the customer without the things that were added."""
        if isinstance(step, Arrange) and isinstance(reply, Subject):
            return replace(reply, owns=reply.owns[self.added.get(step.subject, 0) :])
        return reply


def list_size(contract: Contract) -> int | None:
    """Return the page size of an operation that lists what customers own, if one has any."""
    owned = {root.id for root in roots(contract)}
    for operation in contract.operations.values():
        if operation.available and not operation.about and owned & set(operation.lists):
            size = facts_of(contract).page_sizes.get(operation.id)
            if size is not None:
                return size
    return None


def page_reason(contract: Contract, size: int, steps: Sequence[Step]) -> str:
    """Say why the things of a trial cannot be moved to a later page."""
    owned = {root.id for root in roots(contract)}
    arranged = arrangements(steps)
    if not any(step.holdings for step in arranged):
        return "the trial uses no item of the customer"
    for step in arranged:
        if any(holding.resource not in owned for holding in step.holdings):
            return OWN
        if sum(holding.count for holding in step.holdings) > size:
            return OWN
    return ""


@dataclass(slots=True, kw_only=True)
class WithMoreEntries(StepMapper):
    """Everything that has entries has a page full of them more, on the same days.

    `sizes` are the sizes of a page of entries, by the resource that has them.
    """

    sizes: Mapping[str, int]

    def map(self, step: Step) -> Step:
        """Return an arrangement with more entries."""
        if not isinstance(step, Arrange):
            return step
        return replace(step, holdings=tuple(map(self._filled, step.holdings)))

    def _filled(self, holding: Holding) -> Holding:
        days, size = holding.entries or (), self.sizes.get(holding.resource, 0)
        more = tuple(days[n % len(days)] for n in range(size)) if days else ()
        return replace(holding, entries=(*days, *more)) if more else holding


def entry_pages(contract: Contract) -> Mapping[str, int]:
    """Return the size of a page of entries, by the resource that has them."""
    sizes: dict[str, int] = {}
    for operation in contract.operations.values():
        size = facts_of(contract).page_sizes.get(operation.id) if operation.about else None
        if operation.available and size is not None:
            sizes |= {
                root.id: size
                for root in roots(contract)
                if contract.children(root.id, operation.id)
            }
    return sizes


@lru_cache(maxsize=64)
def _with_pages(contract: Contract) -> frozenset[str]:
    """Return the operations that show the entries of a thing in pages."""
    paged = (contract.operations[name] for name in facts_of(contract).page_sizes)
    return frozenset(each.id for each in paged if each.about)


def entries_reason(contract: Contract, sizes: Mapping[str, int], steps: Sequence[Step]) -> str:
    """Say why the things of a trial cannot have more entries."""
    paged = _with_pages(contract)
    if not any(call.operation in paged for call in calls(steps)):
        return "the trial reads no entries"
    arranged = [holding for step in arrangements(steps) for holding in step.holdings]
    filled = [holding for holding in arranged if holding.entries and holding.resource in sizes]
    if not filled:
        return "the trial needs no entries"
    if any(len(holding.entries or ()) > sizes[holding.resource] for holding in filled):
        return OWN
    return ""


@dataclass(slots=True, kw_only=True)
class Unattended(StepMapper):
    """The customer is absent in every call that is made in her name.

    `limits` says how many such calls of an operation a day allows, where the trial makes more:
    then a week passes before the one that is too many, so that a trial stays on its weekday.
    """

    contract: Contract
    operations: frozenset[str]
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    made: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def map(self, step: Step) -> Step:
        """Return the call as made without the customer."""
        if not isinstance(step, Call) or step.operation not in self.operations:
            return step
        self.made[step.subject, step.operation] += 1
        return replace(step, present=False)

    def before(self, step: Step) -> Script:
        """Let a week pass once the calls of a customer are used up."""
        if not isinstance(step, Call) or step.operation not in self.limits:
            return
        who = step.subject, step.operation
        if self.made[who] > self.limits[step.operation]:
            self.made = Counter({who: 1})
            yield from pass_days(self.contract, lambda today: today + timedelta(weeks=1))


def calls_of_a_day(steps: Sequence[Step]) -> Mapping[str, int]:
    """Return the most calls of each operation that a trial makes for one customer."""
    made = Counter((step.subject, step.operation) for step in steps if isinstance(step, Call))
    most: dict[str, int] = {}
    for (_, operation), number in made.items():
        most[operation] = max(number, most.get(operation, 0))
    return most


def beyond_limits(made: Mapping[str, int], limits: Mapping[str, int]) -> frozenset[str]:
    """Return the operations of which more calls are made than a day allows."""
    return frozenset(name for name, number in made.items() if number > limits.get(name, number))


def unattended_reason(
    contract: Contract, limits: Mapping[str, int], steps: Sequence[Step], *, clock: bool
) -> str:
    """Say why the calls of a trial cannot be made without the customer."""
    every = [step for step in steps if isinstance(step, Call)]
    if any(not step.present for step in every):
        return OWN
    if not any(step.operation in limits for step in every):
        return "the contract limits no call of the trial"
    made = calls_of_a_day(steps)
    beyond = beyond_limits(made, limits)
    if beyond and not (clock and may_take_days(contract, steps)):
        name = next(name for name in limits if name in beyond)
        return f"the {made[name]} calls of {name} exceed the {limits[name]} that a day allows"
    return ""


def may_take_days(contract: Contract, steps: Sequence[Step]) -> bool:
    """Whether a trial can take several days: it neither moves the clock nor names a day."""
    if any(isinstance(step, Advance) and step.to is not None for step in steps):
        return False
    operations = contract.operations
    days = {call.operation: operations[call.operation] for call in calls(steps)}
    ranges = {name for each in days.values() for name in (each.since, each.until) if name}
    return not any(ranges & {*call.arguments} for call in calls(steps))


# -- Requests: mode, amount, payee, factor, TPP, and whether it is the first ---------------------
#: A deferred request is due a week ahead; where that is no banking day, at least this many days, or up to
#: two weeks. The trial waits for whole weeks, so that it stays on its weekday.
WEEK, FEWEST = 7, 3
#: When the day of a deferred request is waited for: after a bank has executed it, be it in the evening.
LATE = time(23)
#: An amount that target files hardly give, neither small nor large.
OTHER_AMOUNT = "83.57"
NO_REQUEST = "the trial makes no request"
#: How long a payee is registered: longer than any rule asks.
LONG_AGO = timedelta(days=60)


def creating(contract: Contract, *, mode: str = "", argument: str = "") -> dict[str, Operation]:
    """Return the operations that make requests: all, or those with a mode or an argument."""
    return {
        operation.id: operation
        for operation in contract.operations.values()
        if operation.makes
        and operation.available
        and (not mode or mode in operation.modes)
        and (not argument or argument in operation.arguments)
    }


def created(
    contract: Contract, steps: Sequence[Step], *, mode: str = "", argument: str = ""
) -> list[Call]:
    """Return the calls among steps that make requests, of those that have a mode or an argument."""
    makes = creating(contract, mode=mode, argument=argument)
    return [call for call in calls(steps) if call.operation in makes]


@dataclass(slots=True, kw_only=True)
class InMode(StepMapper):
    """Every plain request is made in another mode; a deferred one waits for its day.

    What else is signed at once is signed before the day, since a request that is not is dropped.
    """

    contract: Contract
    mode: str
    now: datetime | None = None
    due: datetime | None = None
    ahead: int = WEEK

    def map(self, step: Step) -> Step:
        """Return a plain request in the mode."""
        makes = creating(self.contract, mode=self.mode)
        if not isinstance(step, Call) or step.operation not in makes:
            return step
        operation = makes[step.operation]
        if step.mode != operation.modes[0]:
            return step
        arguments = dict(step.arguments)
        due = operation.due if operation.due and self.mode in operation.due.modes else None
        if due and self.now and due.argument not in step.without:
            arguments.setdefault(due.argument, self._due_day(self.now).isoformat())
        return replace(step, mode=self.mode, arguments=arguments)

    def _due_day(self, now: datetime) -> date:
        """Return a banking day, as far ahead as for the last request, if possible: that is its control."""
        today = local_day(now, self._zone(now))
        tried = (*range(self.ahead, FEWEST - 1, -1), *range(2 * WEEK, self.ahead, -1))
        self.ahead = next(n for n in tried if is_banking_day(today + timedelta(days=n)))
        return today + timedelta(days=self.ahead)

    def _zone(self, now: datetime) -> tzinfo:
        return self.contract.zone or now.tzinfo or UTC

    def before(self, step: Step) -> Script:
        """Let the days pass until a deferred request that was signed is due."""
        due = self.due
        if due is not None and not isinstance(step, Authorise):
            self.due, self.now = None, due
            yield Advance(to=due)

    def after(self, step: Step, reply: Reply) -> Script:
        """Note until when a deferred request that was signed is not executed."""
        operation = next(iter(creating(self.contract, mode=self.mode).values()))
        deferred = operation.due is not None and self.mode in operation.due.modes
        if deferred and self.now and isinstance(reply, Authorised):
            zone, weeks = self._zone(self.now), timedelta(weeks=1 if self.ahead <= WEEK else 2)
            day = at(local_day(self.now, zone) + weeks, LATE, zone)
            if reply.ending is Ending.CONFIRMED and day > reply.at:
                self.due = day
        yield from StepMapper.after(self, step, reply)

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Note the time, from which days are counted."""
        if isinstance(reply, Subject | Advanced):
            self.now = reply.now
        return reply


def mode_reason(contract: Contract, mode: str, steps: Sequence[Step]) -> str:
    """Say why the requests of a trial cannot be made in another mode."""
    made = created(contract, steps, mode=mode)
    if not made:
        return NO_REQUEST
    plain = {operation.modes[0] for operation in creating(contract, mode=mode).values()}
    return OWN if any(call.mode not in plain for call in made) else ""


@dataclass(slots=True, kw_only=True)
class WithArgument(StepMapper):
    """Every request has another value of an argument, unless the trial gives one."""

    contract: Contract
    argument: str
    value: Json

    def map(self, step: Step) -> Step:
        """Return a request with the value."""
        makes = creating(self.contract, argument=self.argument)
        if not isinstance(step, Call) or step.operation not in makes:
            return step
        if self.argument in {*step.arguments, *step.without, *step.varied} or step.malformed:
            return step
        return replace(step, arguments={**step.arguments, self.argument: self.value})


def argument_reason(contract: Contract, argument: str, steps: Sequence[Step]) -> str:
    """Say why the requests of a trial cannot have another value of an argument."""
    made = created(contract, steps, argument=argument)
    if not made:
        return NO_REQUEST
    named = [argument in {*call.arguments, *call.without, *call.varied} for call in made]
    return OWN if any(named) else ""


@dataclass(slots=True, kw_only=True)
class PayeeRegistered(StepMapper):
    """Every customer has registered a payee long ago: that of the target file, or this value."""

    operation: str
    argument: str
    value: Json = None

    def after(self, step: Step, reply: Reply) -> Script:
        """Register the payee once a customer exists."""
        if isinstance(step, Arrange) and isinstance(reply, Subject):
            yield Register(
                subject=reply.name,
                operation=self.operation,
                argument=self.argument,
                value=self.value,
                age=LONG_AGO,
            )


def registration_reason(contract: Contract, argument: str, steps: Sequence[Step]) -> str:
    """Say why the payees of a trial cannot be registered before."""
    if not created(contract, steps, argument=argument):
        return NO_REQUEST
    return OWN if any(isinstance(step, Register) for step in steps) else ""


@dataclass(slots=True, kw_only=True)
class WithFactor(StepMapper):
    """Every signature is given with another factor, where the customer's segment has it."""

    factor: str
    by_segment: Mapping[str, tuple[str, ...]]
    segments: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def map(self, step: Step) -> Step:
        """Return a signature with the factor."""
        if not isinstance(step, Authorise) or step.factor is not None:
            return step
        segment = self.segments.get(step.by or step.subject)
        offered = self.by_segment.get(segment or next(iter(self.by_segment), ""), ())
        return replace(step, factor=self.factor) if self.factor in offered else step

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Note the segment of each customer."""
        if isinstance(reply, Subject):
            self.segments[reply.name] = reply.segment
        return reply


def factor_reason(steps: Sequence[Step]) -> str:
    """Say why the signatures of a trial cannot be given with another factor."""
    signatures = [step for step in steps if isinstance(step, Authorise)]
    if not signatures:
        return "the trial has no signature"
    return OWN if any(step.factor is not None for step in signatures) else ""


@dataclass(slots=True, kw_only=True)
class ByAnotherTpp(StepMapper):
    """Every call that a TPP makes in its own name is made by another one."""

    operations: frozenset[str]
    tpp: str

    def map(self, step: Step) -> Step:
        """Return the call as made by the other TPP."""
        if isinstance(step, Call) and step.operation in self.operations and not step.by:
            return replace(step, by=self.tpp)
        return step


def tpp_reason(operations: frozenset[str], steps: Sequence[Step]) -> str:
    """Say why the calls of a trial cannot be made by another TPP."""
    concerned = [call for call in calls(steps) if call.operation in operations]
    if not concerned:
        return "the trial has no call on behalf of a TPP"
    return OWN if any(call.by for call in concerned) else ""


def writes(operation: Operation) -> bool:
    """Whether an operation makes or changes something, or gives a consent."""
    return bool(operation.makes or operation.changes or operation.grants)


@dataclass(slots=True, kw_only=True)
class AfterAnother(StepMapper):
    """The first call of each operation is made twice, and the first one with a variation.

    What makes something, or a consent, is done `times` times before it counts. Of several requests the first
    ones go to another payee, where `other_payees` has the argument of the operation.

    So is the first call about a request that was signed. Of two changes of a request the first
    one asks for another amount, so that it shows which of them counts.
    """

    contract: Contract
    times: int = 1
    other_payees: Mapping[str, str] = field(default_factory=dict[str, str])
    done: set[tuple[str, bool, bool]] = field(default_factory=set[tuple[str, bool, bool]])
    signed: set[str] = field(default_factory=set[str])

    def before(self, step: Step) -> Script:
        """Make the twins of a call, before it; what has ended cannot be ended again."""
        if not isinstance(step, Call) or step.follow or step.malformed:
            return
        operation = self.contract.operations[step.operation]
        signed = str(step.arguments.get(operation.about or "")) in self.signed
        first = step.operation, bool(step.variation), signed
        if first in self.done or operation.ends:
            return
        self.done.add(first)
        # Of more changes than two, it is unclear to checks which of them counts.
        often = operation.makes or operation.grants
        for turn in range(self.times if often else 1):
            if operation.makes and turn + 1 < self.times:
                yield self._to_another_payee(step)
            else:
                yield self._with_another_amount(step) if operation.changes else step

    def _to_another_payee(self, step: Call) -> Call:
        """Return an earlier request that is another one: to another payee, for another amount."""
        payee, amount = self.other_payees.get(step.operation), self._amount(step)
        named = {*step.arguments, *step.varied, *step.without}
        if step.variation or payee is None or payee in named:
            return step
        return replace(step, varied=(*step.varied, payee), arguments={**step.arguments, **amount})

    def _amount(self, step: Call) -> Mapping[str, Json]:
        """Return another amount for a request, unless its own is left out or varied."""
        name = self.contract.operations[step.operation].amount
        return {name: OTHER_AMOUNT} if name and name not in (*step.varied, *step.without) else {}

    def _with_another_amount(self, step: Call) -> Call:
        """Return a change with another amount than that of the call and of the request."""
        amounts = {each.amount for each in creating(self.contract).values() if each.amount}
        changed = amounts & {*step.varied, *step.arguments}
        if step.variation or not changed:
            return step
        varied = tuple(name for name in step.varied if name not in changed)
        other = dict.fromkeys(changed, OTHER_AMOUNT)
        return replace(step, varied=varied, arguments={**step.arguments, **other})

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Note which requests were signed."""
        if isinstance(reply, Authorised) and reply.ending is Ending.CONFIRMED:
            self.signed.add(reply.step.request)
        return reply


def repetition_reason(contract: Contract, steps: Sequence[Step], *, times: int = 1) -> str:
    """Say why a trial cannot do something once, or several `times`, before it counts."""
    every = [step for step in steps if isinstance(step, Call)]
    if any(not call.present for call in every):
        return "calls without the customer are counted"
    facts = facts_of(contract)
    for operation, count in Counter(call.operation for call in every).items():
        # The first call is repeated, and so is the first with a variation.
        limit = facts.limit(operation, attended=True)
        if limit is not None and count + 2 * times > limit:
            return f"the calls of {operation} would exceed the limit of {limit}"
    called = [contract.operations[call.operation] for call in calls(every)]
    if times > 1 and not any(map(writes, called)):
        return "the trial changes nothing"
    return "" if any(not each.ends for each in called) else "the trial has no call to repeat"
