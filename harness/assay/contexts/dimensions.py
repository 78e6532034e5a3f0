"""The dimensions of a contract at a target, with all values that the two of them have.

One function a dimension; `DIMENSIONS` is the table. A value that the contract has and the
target cannot show stays in the table, with what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import partial

from assay.binding.join import capabilities
from assay.binding.spelling import OperationBinding
from assay.binding.target import Target
from assay.contexts import customers, requests
from assay.contexts.context import Dimension, DimensionValue, StepMapper
from assay.contexts.customers import OWN, calls
from assay.contract.model import Capability, Contract
from assay.history import Advance, Advanced, Call, Lack, Step
from assay.rules import clauses
from assay.rules.rule import Script
from assay.rules.state.calendar import WEEKDAYS

#: The name of the second TPP in steps; the fixture provider knows it under this name.
OTHER_TPP = "other"
#: Days on which banks often work differently.
WEEKEND = ("saturday", "sunday")
#: Amounts far below and far above those that target files usually give.
AMOUNTS = {"small": "0.01", "large": "15000.50"}
_NOTHING = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A contract at a target, from which the values of dimensions follow."""

    contract: Contract
    target: Target

    @property
    def offered(self) -> frozenset[Capability]:
        """What the target offers for the contract."""
        return capabilities(self.contract, self.target)

    def binding(self, operation: str) -> OperationBinding:
        """Return how the target spells an operation."""
        return self.target.operations.get(operation, _NOTHING)


#: Yields each value of a dimension, or its name and what the target lacks for it.
Values = Iterator[DimensionValue | tuple[str, str]]


@dataclass(slots=True, kw_only=True)
class CallsMapped(StepMapper):
    """Every call of some operations is changed in one way."""

    change: Callable[[Call], Call]

    def map(self, step: Step) -> Step:
        """Return the changed call; page turns stay as they are."""
        if isinstance(step, Call) and step.follow is None:
            return self.change(step)
        return step


@dataclass(slots=True, kw_only=True)
class OnWeekday(StepMapper):
    """The trial begins at noon of a weekday."""

    weekday: int
    contract: Contract
    started: bool = False

    def before(self, step: Step) -> Script:
        """Move the clock once, before anything but the choice of a bank."""
        if self.started or isinstance(step, Lack):
            return
        self.started = True
        reply = yield Advance()
        if isinstance(reply, Advanced):
            local = reply.now.astimezone(self.contract.zone or reply.now.tzinfo)
            days = (self.weekday - local.weekday()) % 7 or 7
            day = local.date() + timedelta(days=days)
            yield Advance(to=datetime.combine(day, time(12), local.tzinfo))


def modes(at: Situation) -> Values:
    """Yield the modes in which requests are made, but for the plain one."""
    for operation in requests.creating(at.contract).values():
        for mode in clauses.accepted_modes(at.contract, operation.makes or "")[1:]:
            if mode not in at.binding(operation.id).modes:
                yield mode, f"operations.{operation.id}.modes.{mode} in the target file"
                continue
            yield DimensionValue(
                dimension="mode",
                name=mode,
                description=f"for {mode} requests",
                reason=partial(requests.mode_reason, at.contract),
                mapper=partial(requests.InMode, contract=at.contract, mode=mode),
            )


def segments(at: Situation) -> Values:
    """Yield the segments of customers that are served, but for the first."""
    for operation in requests.creating(at.contract).values():
        served = clauses.factors_by_segment(at.contract, operation.makes or "")
        for segment in list(served)[1:]:
            if Capability.SEGMENTS not in at.offered:
                yield segment, "`segments` in `fixtures.offers` in the target file"
                continue
            yield DimensionValue(
                dimension="segment",
                name=segment,
                description=f"for {segment} customers",
                reason=customers.segment_reason,
                mapper=partial(customers.InSegment, segment=segment),
            )


def pages(at: Situation) -> Values:
    """Yield a later page of the list of what a customer owns."""
    size = customers.list_size(at.contract)
    if size is None:
        return
    if Capability.ROSTER not in at.offered:
        yield "later", "`roster` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="page",
        name="later",
        description="for things on a later page of the list",
        reason=partial(customers.page_reason, at.contract, size),
        mapper=partial(customers.OnALaterPage, contract=at.contract, size=size),
    )


def presence(at: Situation) -> Values:
    """Yield calls without the customer, where the contract limits them."""
    limits = clauses.call_limits(at.contract, attended=False)
    if not limits:
        return
    if Capability.BATCH not in at.offered:
        yield "absent", "`presence` in the target file"
        return
    own = frozenset(one.id for one in at.contract.operations.values() if not one.by_tpp)
    yield DimensionValue(
        dimension="presence",
        name="absent",
        description="without the customer",
        reason=partial(customers.unattended_reason, limits),
        mapper=partial(customers.Unattended, operations=own),
    )


def aliases(at: Situation) -> Values:
    """Yield each further name of a method; every method that has one is called by it."""
    most = max((len(one.aliases) for one in at.contract.operations.values()), default=0)
    for number in range(most):
        named = frozenset(
            one.id for one in at.contract.operations.values() if len(one.aliases) > number
        )

        def change(call: Call, number: int = number, named: frozenset[str] = named) -> Call:
            concerned = call.operation in named and call.alias is None
            return replace(call, alias=number) if concerned else call

        def reason(steps: Sequence[Step], named: frozenset[str] = named) -> str:
            concerned = [call for call in calls(steps) if call.operation in named]
            if not concerned:
                return "no method of the trial has another name"
            return OWN if any(call.alias is not None for call in concerned) else ""

        yield DimensionValue(
            dimension="name",
            name=f"alias-{number + 1}",
            description=f"under name {number + 2} of the method",
            reason=reason,
            mapper=partial(CallsMapped, change=change),
        )


def hosts(at: Situation) -> Values:
    """Yield each further host of the target."""
    if "second" not in at.contract.hosts:
        return
    if not at.target.hosts:
        yield "second", "`hosts` in the target file"
    for number in range(len(at.target.hosts)):

        def change(call: Call, number: int = number) -> Call:
            return replace(call, host=number) if call.host is None else call

        def reason(steps: Sequence[Step]) -> str:
            asked = calls(steps)
            if not asked:
                return "the trial has no call"
            return OWN if any(call.host is not None for call in asked) else ""

        yield DimensionValue(
            dimension="host",
            name=f"host-{number + 2}",
            description=f"at host {number + 2}",
            reason=reason,
            mapper=partial(CallsMapped, change=change),
        )


def tpps(at: Situation) -> Values:
    """Yield a second TPP, where calls are made in the name of one."""
    own = frozenset(one.id for one in at.contract.operations.values() if one.by_tpp)
    if not own:
        return
    if Capability.TPPS not in at.offered:
        yield OTHER_TPP, "`tpps` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="tpp",
        name=OTHER_TPP,
        description="by another TPP",
        reason=partial(requests.tpp_reason, own),
        mapper=partial(requests.ByAnotherTpp, operations=own, tpp=OTHER_TPP),
    )


def factors(at: Situation) -> Values:
    """Yield each factor that the contract offers to sign with."""
    for operation in requests.creating(at.contract).values():
        by_segment = clauses.factors_by_segment(at.contract, operation.makes or "")
        factors = dict.fromkeys(factor for offered in by_segment.values() for factor in offered)
        for factor in factors:
            if Capability.SCA not in at.offered or factor not in at.target.sca.factors:
                yield factor, f"`sca.factors.{factor}` in the target file"
                continue
            yield DimensionValue(
                dimension="factor",
                name=factor,
                description=f"signed with {factor}",
                reason=requests.factor_reason,
                mapper=partial(requests.WithFactor, factor=factor, by_segment=by_segment),
            )


def amounts(at: Situation) -> Values:
    """Yield a small and a large amount, where requests have one."""
    for operation in requests.creating(at.contract).values():
        if operation.amount is None:
            continue
        if operation.amount not in at.binding(operation.id).arguments:
            for name in AMOUNTS:
                where = f"operations.{operation.id}.arguments.{operation.amount}"
                yield name, f"`{where}` in the target file"
            continue
        for name, value in AMOUNTS.items():
            yield DimensionValue(
                dimension="amount",
                name=name,
                description=f"for {name} amounts ({value})",
                reason=partial(requests.argument_reason, at.contract, operation.amount),
                mapper=partial(
                    requests.WithArgument,
                    contract=at.contract,
                    argument=operation.amount,
                    value=value,
                ),
            )


def payees(at: Situation) -> Values:
    """Yield a payee whom the customer has registered, where requests have one."""
    for operation in requests.creating(at.contract).values():
        if operation.payee is None:
            continue
        if Capability.REGISTRATIONS not in at.offered:
            yield "registered", "`registrations` in `fixtures.offers` in the target file"
            continue
        yield DimensionValue(
            dimension="payee",
            name="registered",
            description="to a registered payee",
            reason=partial(requests.registration_reason, at.contract),
            mapper=partial(
                requests.PayeeRegistered, operation=operation.id, argument=operation.payee
            ),
        )


def weekdays(at: Situation) -> Values:
    """Yield the days of the weekend, where the clock can be moved."""
    for name in WEEKEND:
        if Capability.CLOCK not in at.offered:
            yield name, "`clock` in `fixtures.offers` in the target file"
            continue
        yield DimensionValue(
            dimension="weekday",
            name=name,
            description=f"on a {name.capitalize()}",
            reason=lambda _: "",
            mapper=partial(OnWeekday, weekday=WEEKDAYS.index(name), contract=at.contract),
        )


def repetition(at: Situation) -> Values:
    """Yield the second call of a kind."""
    yield DimensionValue(
        dimension="turn",
        name="second",
        description="the second time",
        reason=partial(requests.repetition_reason, at.contract),
        mapper=partial(requests.AfterAnother, contract=at.contract),
    )


#: Each dimension: its name, what varies, and its values.
DIMENSIONS: Mapping[str, tuple[str, Callable[[Situation], Values]]] = {
    "mode": ("the mode of a request", modes),
    "segment": ("the customer's segment", segments),
    "page": ("the page of a list", pages),
    "presence": ("whether the customer is there", presence),
    "name": ("the name of a method", aliases),
    "host": ("the form of the host", hosts),
    "tpp": ("the TPP", tpps),
    "factor": ("the factor that signs", factors),
    "amount": ("the amount", amounts),
    "payee": ("the payee", payees),
    "weekday": ("the day of the week", weekdays),
    "turn": ("first or repeated", repetition),
}


def dimensions(contract: Contract, target: Target) -> tuple[Dimension, ...]:
    """Return the dimensions of a contract at a target that have a value but the base one."""
    at = Situation(contract=contract, target=target)
    found: list[Dimension] = []
    for name, (description, values) in DIMENSIONS.items():
        every = list(values(at))
        if every:
            found.append(
                Dimension(
                    name=name,
                    description=description,
                    values=tuple(one for one in every if isinstance(one, DimensionValue)),
                    unavailable=tuple(one for one in every if isinstance(one, tuple)),
                )
            )
    return tuple(found)
