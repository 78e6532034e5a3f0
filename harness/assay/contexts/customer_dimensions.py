"""The dimensions of customers: their segment, what else they own, and how they consent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from assay.contexts import mappers
from assay.contexts.context import DimensionValue, Situation, StepMapper, Values
from assay.contexts.mappers import OWN, arrangements, calls
from assay.contract.model import Capability, Contract
from assay.history import Arrange, Call, Exchange, Holding, Reply, Step, Subject
from assay.rules.rule import Script, facts_of
from assay.rules.steps import roots

#: How long after a consent its customer's data is read: a whole week, so that a trial stays on its
#: weekday.
IDLE = timedelta(weeks=1)
#: How many pages a list has at least that has several, the last of which is full.
MANY = 5
NO_ITEM = "the trial uses no item of the customer"


# -- The segment ---------------------------------------------------------------------------------
def segments(at: Situation) -> Values:
    """Yield the segments of customers that are served, but for the first.

    A contract that names none has those of the target's other contracts: they have the same
    customers.
    """
    served = [*filter(None, map(_served, (at.contract, *at.others)))]
    for segment in served[0][1:] if served else ():
        if Capability.SEGMENTS not in at.offered:
            yield segment, "`segments` in `fixtures.offers` in the target file"
            continue
        listed = {role.segment for role in at.target.fixtures.own_roles}
        if listed and segment not in listed:
            yield segment, "a customer with this `segment` in `fixtures.roles`"
            continue
        yield DimensionValue(
            dimension="segment",
            name=segment,
            description=f"for {segment} customers",
            reason=mappers.segment_reason,
            mapper=partial(mappers.InSegment, segment=segment),
        )


def _served(contract: Contract) -> tuple[str, ...]:
    """Return the segments of which a contract says how they sign."""
    factors = facts_of(contract).factors_by_segment
    made = [operation.makes or "" for operation in mappers.creating(contract).values()]
    return tuple(dict.fromkeys(segment for name in made for segment in factors.get(name, ())))


# -- What else a customer owns -------------------------------------------------------------------
def belongings(at: Situation) -> Values:
    """Yield customers who own more than a trial asks for, and those whose lists fill whole pages."""
    kinds = tuple(root.id for root in roots(at.contract))
    size, sizes = mappers.list_size(at.contract), mappers.entry_pages(at.contract)
    if not kinds:
        return
    if Capability.ROSTER not in at.offered:
        yield "more", "`roster` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="owned",
        name="more",
        description="for customers who own something else as well",
        reason=partial(more_reason, kinds),
        mapper=partial(Owning, change=partial(_with_others, kinds)),
        # Who owns one thing of each kind is no longer a customer with a card alone.
        hides=("item",),
    )
    if size is not None or sizes:
        change = partial(_in_full_pages, kinds, size, sizes)
        yield DimensionValue(
            dimension="owned",
            name="full-pages",
            description="for lists whose last page is full",
            reason=partial(full_pages_reason, at.contract, change),
            mapper=partial(Owning, change=change),
        )


@dataclass(slots=True, kw_only=True)
class Owning(StepMapper):
    """Every customer who owns something owns other things after those of the trial.

    `change` returns what she owns; things may be added at its end. The probe does not see them.
    """

    change: Callable[[Sequence[Holding]], Sequence[Holding]]
    added: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def map(self, step: Step) -> Step:
        """Return an arrangement with other things."""
        if not isinstance(step, Arrange) or not step.holdings:
            return step
        changed = tuple(self.change(step.holdings))
        self.added[step.subject] = _number(step.holdings), _number(changed)
        return replace(step, holdings=changed)

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Return the customer without the things that were added."""
        if not isinstance(step, Arrange) or not isinstance(reply, Subject):
            return reply
        begin, end = self.added.get(step.subject, (0, 0))
        return replace(reply, owns=(*reply.owns[:begin], *reply.owns[end:]))


def _number(holdings: Sequence[Holding]) -> int:
    return sum(holding.count for holding in holdings)


def _with_others(kinds: Sequence[str], holdings: Sequence[Holding]) -> Sequence[Holding]:
    """Return holdings with one thing of each resource that they lack; else with one more."""
    held = {holding.resource for holding in holdings}
    lacking = [kind for kind in kinds if kind not in held] or [holdings[0].resource]
    return (*holdings, *(Holding(resource=kind) for kind in lacking))


def more_reason(kinds: Sequence[str], steps: Sequence[Step]) -> str:
    """Say why the customers of a trial cannot own something else as well."""
    held = [step.holdings for step in arrangements(steps) if step.holdings]
    if not held:
        return NO_ITEM
    several = len(kinds) > 1
    if several and all({*kinds} <= {one.resource for one in holdings} for holdings in held):
        return OWN
    return ""


def _in_full_pages(
    kinds: Sequence[str], size: int | None, sizes: Mapping[str, int], holdings: Sequence[Holding]
) -> Sequence[Holding]:
    """Return holdings with as many more things and entries as fill the last page of each list."""
    filled = tuple(_filled(holding, sizes) for holding in holdings)
    listed = [holding for holding in holdings if holding.resource in kinds]
    lacking = _lacking(_number(listed), size) if size and listed else 0
    return (*filled, Holding(resource=listed[0].resource, count=lacking)) if lacking else filled


def _filled(holding: Holding, sizes: Mapping[str, int]) -> Holding:
    """Return a holding whose entries fill their last page, on the days that they have."""
    days, size = holding.entries or (), sizes.get(holding.resource)
    if not days or size is None:
        return holding
    lacking = _lacking(len(days), size)
    return replace(holding, entries=(*days, *(days[n % len(days)] for n in range(lacking))))


def _lacking(number: int, size: int) -> int:
    """Return how many things a list lacks to end with a full page, and, if it has several, with many."""
    return max(MANY * size - number if number > size else 0, -number % size)


def full_pages_reason(
    contract: Contract,
    change: Callable[[Sequence[Holding]], Sequence[Holding]],
    steps: Sequence[Step],
) -> str:
    """Say why the lists of a trial cannot end with a full page."""
    if not any(call.operation in facts_of(contract).page_sizes for call in calls(steps)):
        return "the trial reads no list in pages"
    held = [step.holdings for step in arrangements(steps) if step.holdings]
    if any(holding.traits for holdings in held for holding in holdings):
        # What is not listed fills no page.
        return OWN
    return "" if any(change(each) != each for each in held) else OWN


# -- The consent ---------------------------------------------------------------------------------
def _lists_of_consents(contract: Contract) -> Mapping[str, str]:
    """Return the argument that lists what a consent covers, by the operation."""
    operations = contract.operations.values()
    return {each.id: each.grants for each in operations if each.grants and each.available}


def consent_orders(at: Situation) -> Values:
    """Yield consents that name what they cover in the reverse order."""
    lists = _lists_of_consents(at.contract)
    if lists:
        yield DimensionValue(
            dimension="order",
            name="reversed",
            description="for consents in the reverse order",
            reason=partial(order_reason, lists),
            mapper=partial(InReverse, lists=lists),
        )


@dataclass(slots=True, kw_only=True)
class InReverse(StepMapper):
    """Every consent names what it covers in the reverse order."""

    lists: Mapping[str, str]

    def map(self, step: Step) -> Step:
        """Return a consent with its list reversed."""
        names = _named(self.lists, step)
        if not isinstance(step, Call) or len(names) < 2:  # noqa: PLR2004 -- one has no order
            return step
        argument = self.lists[step.operation]
        return replace(step, arguments={**step.arguments, argument: names[::-1]})


def _named(lists: Mapping[str, str], step: Step) -> list[object]:
    """Return what a step names as covered by a consent; nothing where it is none."""
    if not isinstance(step, Call):
        return []
    named = step.arguments.get(lists.get(step.operation, ""))
    return list(named) if isinstance(named, list | tuple) else []


def order_reason(lists: Mapping[str, str], steps: Sequence[Step]) -> str:
    """Say why the consents of a trial cannot be in another order."""
    several = any(len({*map(repr, _named(lists, step))}) > 1 for step in steps)
    return "" if several else "no consent of the trial names several items"


def idle_times(at: Situation) -> Values:
    """Yield data that is read days after the consent was given."""
    operations = at.contract.operations
    grants = frozenset(
        name for name in _lists_of_consents(at.contract) if not operations[name].makes
    )
    if not grants:
        return
    if Capability.CLOCK not in at.offered:
        yield "week", "`clock` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="since",
        name="week",
        description="a week after the consent",
        reason=partial(idle_reason, at.contract, grants),
        mapper=partial(WeekAfterConsent, contract=at.contract, grants=grants),
    )


@dataclass(slots=True, kw_only=True)
class WeekAfterConsent(StepMapper):
    """A week passes after the first consent of a trial."""

    contract: Contract
    grants: frozenset[str]
    waited: bool = False

    def after(self, step: Step, reply: Reply) -> Script:
        """Let the week pass once a consent is accepted."""
        if self.waited or not isinstance(step, Call) or step.operation not in self.grants:
            return
        if isinstance(reply, Exchange) and reply.accepted:
            self.waited = True
            yield from mappers.pass_days(self.contract, lambda today: today + IDLE)


def idle_reason(contract: Contract, grants: frozenset[str], steps: Sequence[Step]) -> str:
    """Say why no time can pass after the consents of a trial."""
    if not any(call.operation in grants for call in calls(steps)):
        return "the trial gives no consent"
    if any(isinstance(step, Call) and not step.present for step in steps):
        return "calls without the customer are counted by the day"
    return "" if mappers.may_take_days(contract, steps) else "the trial sets the times itself"
