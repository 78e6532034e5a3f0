"""Dimensions of a request: mode, amount, payee, factor, TPP, and whether it is the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta

from assay.contexts.context import StepMapper
from assay.contexts.customers import OWN, calls
from assay.contract.model import Contract, Json, Operation
from assay.history import (
    Advance,
    Advanced,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Ending,
    Register,
    Reply,
    Step,
    Subject,
)
from assay.rules.rule import Script, facts_of
from assay.rules.state.calendar import at, local_day

#: How far ahead a deferred request is: whole weeks, so that a trial stays on its weekday.
AHEAD = timedelta(weeks=1)
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
    """Every plain request is made in another mode; a deferred one waits for its day."""

    contract: Contract
    mode: str
    now: datetime | None = None
    due: dict[str, datetime] = field(default_factory=dict[str, datetime])

    def map(self, step: Step) -> Step:
        """Return a plain request in the mode."""
        makes = creating(self.contract, mode=self.mode)
        if not isinstance(step, Call) or step.operation not in makes:
            return step
        operation = makes[step.operation]
        if step.mode != operation.modes[0]:
            return step
        arguments = dict(step.arguments)
        if operation.due and self.mode in operation.due.modes:
            day = self._day()
            if day is not None and operation.due.argument not in step.without:
                arguments.setdefault(operation.due.argument, day.date().isoformat())
        return replace(step, mode=self.mode, arguments=arguments)

    def _day(self) -> datetime | None:
        if self.now is None:
            return None
        zone = self.contract.zone or self.now.tzinfo or UTC
        return at(local_day(self.now, zone) + AHEAD, LATE, zone)

    def after(self, step: Step, reply: Reply) -> Script:
        """Let the days pass until a deferred request that was signed is due."""
        operation = next(iter(creating(self.contract, mode=self.mode).values()))
        deferred = operation.due is not None and self.mode in operation.due.modes
        day = self._day()
        if not isinstance(reply, Authorised) or reply.ending is not Ending.CONFIRMED:
            return
        if deferred and day and day > reply.at:
            self.now = day
            yield Advance(to=day)

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
    """Every customer has registered the payee of the target file long ago."""

    operation: str
    argument: str

    def after(self, step: Step, reply: Reply) -> Script:
        """Register the payee once a customer exists."""
        if isinstance(step, Arrange) and isinstance(reply, Subject):
            yield Register(
                subject=reply.name,
                operation=self.operation,
                argument=self.argument,
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


@dataclass(slots=True, kw_only=True)
class AfterAnother(StepMapper):
    """The first call of each operation is made twice, and the first one with a variation.

    So is the first call about a request that was signed. Of two changes of a request the first
    one asks for another amount, so that it shows which of them counts.
    """

    contract: Contract
    done: set[tuple[str, bool, bool]] = field(default_factory=set[tuple[str, bool, bool]])
    signed: set[str] = field(default_factory=set[str])

    def before(self, step: Step) -> Script:
        """Make the twin of a call, before it; what has ended cannot be ended again."""
        if not isinstance(step, Call) or step.follow or step.malformed:
            return
        operation = self.contract.operations[step.operation]
        signed = str(step.arguments.get(operation.about or "")) in self.signed
        first = step.operation, bool(step.variation), signed
        if first in self.done or operation.ends:
            return
        self.done.add(first)
        yield self._with_another_amount(step) if operation.changes else step

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


def repetition_reason(contract: Contract, steps: Sequence[Step]) -> str:
    """Say why a trial cannot make a call twice."""
    every = [step for step in steps if isinstance(step, Call)]
    if any(not call.present for call in every):
        return "calls without the customer are counted"
    for operation, limit in facts_of(contract).limits(attended=True).items():
        # The first call is made twice, and so is the first with a variation.
        if sum(call.operation == operation for call in every) + 2 > limit:
            return f"the calls of {operation} would exceed the limit of {limit}"
    repeated = [call for call in calls(every) if not contract.operations[call.operation].ends]
    return "" if repeated else "the trial has no call to repeat"
