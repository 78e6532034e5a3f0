"""The dimensions of a contract at a target, with all values that the two of them have.

One function a dimension; `DIMENSIONS` is the table. A value that the contract has and the
target cannot show stays in the table, with what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from assay.binding.model.security import ISSUING, AuthKind
from assay.binding.model.target import GroupBank, Target
from assay.contexts import mappers
from assay.contexts.context import Dimension, DimensionValue, Situation, StepMapper, Values
from assay.contexts.customer_dimensions import belongings, consent_orders, idle_times, segments
from assay.contexts.mappers import OWN, arrangements, calls
from assay.contexts.past import pasts
from assay.contexts.request_dimensions import (
    amounts,
    changes,
    factors,
    modes,
    other_value,
    pauses,
    payees,
    registrations,
    screens,
    tpps,
)
from assay.contract.model import Capability, Contract
from assay.history import Advanced, Call, Exchange, Lack, Malformed, Renew, Reply, Step, Subject
from assay.rules.rule import Script, facts_of
from assay.rules.state.calendar import WEEKDAYS, local, local_day
from assay.rules.steps import roots

#: How many of the optional days of a list are given: both of them, or one.
OPTIONAL_ARGUMENTS = {
    "all": "with all optional arguments",
    "one": "with one optional argument",
}
#: Days on which banks often work differently, and when trials begin then: on one of them at night,
#: when batches run.
WEEKEND = {
    "saturday": ("on a Saturday at night", mappers.NIGHT),
    "sunday": ("on a Sunday", mappers.NOON),
}
#: How the IBAN of what must not be shown is written.
SPELLINGS = {
    "lower-case": ("with an IBAN in lower case", Malformed.LOWER_CASE_IDENTIFIER),
    "groups": ("with an IBAN in groups", Malformed.GROUPED_IDENTIFIER),
}
#: Whole weeks, so that a trial stays on its weekday.
HALF_A_YEAR = timedelta(weeks=26)


def resources(at: Situation) -> Values:
    """Yield each further resource that customers own; trials are about the first one."""
    plain, *others = [root.id for root in roots(at.contract)] or [""]
    for other in others:
        yield DimensionValue(
            dimension="item",
            name=other,
            description=f"for a {other}",
            reason=partial(mappers.resource_reason, at.contract, plain, other),
            mapper=partial(mappers.OfAnotherResource, plain=plain, other=other),
        )


def pages(at: Situation) -> Values:
    """Yield a later page of the list of what a customer owns, and several pages of entries."""
    size, sizes = mappers.list_size(at.contract), mappers.entry_pages(at.contract)
    if size is not None and Capability.ROSTER not in at.offered:
        yield "later", "`roster` in `fixtures.offers` in the target file"
    elif size is not None:
        yield DimensionValue(
            dimension="page",
            name="later",
            description="for items on a later page of the list",
            reason=partial(mappers.page_reason, at.contract, size),
            mapper=partial(mappers.OnALaterPage, contract=at.contract, size=size),
        )
    if sizes and Capability.ENTRIES not in at.offered:
        yield "entries", "`entries` in `fixtures.offers` in the target file"
    elif sizes:
        yield DimensionValue(
            dimension="page",
            name="entries",
            description="for items with more than one page of entries",
            reason=partial(mappers.entries_reason, at.contract, sizes),
            mapper=partial(mappers.WithMoreEntries, sizes=sizes),
        )


def presence(at: Situation) -> Values:
    """Yield calls without the customer, where the contract limits them."""
    limits = facts_of(at.contract).limits(attended=False)
    if not limits:
        return
    if Capability.BATCH not in at.offered:
        yield "absent", "`presence` in the target file"
        return
    own = frozenset(one.id for one in at.contract.operations.values() if not one.by_tpp)
    mapper = partial(mappers.Unattended, contract=at.contract, operations=own)

    def suit(value: DimensionValue, steps: Sequence[Step]) -> DimensionValue:
        made = mappers.calls_of_a_day(steps)
        beyond = mappers.beyond_limits(made, limits)
        return replace(value, mapper=partial(mapper, limits=limits)) if beyond else value

    yield DimensionValue(
        dimension="presence",
        name="absent",
        description="without the customer",
        reason=partial(
            mappers.unattended_reason,
            at.contract,
            limits,
            clock=Capability.CLOCK in at.offered,
        ),
        mapper=mapper,
        suit=suit,
    )


def aliases(at: Situation) -> Values:
    """Yield each further name that a method has at the bank; every one that has it is called by it."""
    names = {one.id: len(at.binding(one.id).names(one)) for one in at.contract.operations.values()}
    for number in range(max(names.values(), default=0)):
        named = frozenset(name for name, known in names.items() if known > number)

        def change(call: Call, number: int = number, named: frozenset[str] = named) -> Call:
            concerned = call.operation in named and call.alias is None
            return replace(call, alias=number) if concerned else call

        def reason(steps: Sequence[Step], named: frozenset[str] = named) -> str:
            concerned = [call for call in calls(steps) if call.operation in named]
            if not concerned:
                return "no operation of the trial has another name"
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
            lacked = [step for step in steps if isinstance(step, Lack)]
            if any(at.target.group_bank(step.bank, step.mode) for step in lacked):
                return "the trial is at another bank, which has hosts of its own"
            return OWN if any(call.host is not None for call in asked) else ""

        yield DimensionValue(
            dimension="host",
            name=f"host-{number + 2}",
            description=f"at host {number + 2}",
            reason=reason,
            mapper=partial(CallsMapped, change=change),
        )


def banks(at: Situation) -> Values:
    """Yield each other bank of the group that the contract covers."""
    statements = {statement.id for statement in at.contract.scope}
    for bank in at.target.banks:
        if statements & {*bank.outside}:
            continue
        if Capability.BANKS not in at.offered:
            yield bank.name, "`banks` in `fixtures.offers` in the target file"
            continue
        roles = at.target.fixtures.roles
        if roles and all(role.bank != bank.name for role in roles):
            yield bank.name, "a customer with this `bank` in `fixtures.roles`"
            continue
        yield DimensionValue(
            dimension="bank",
            name=bank.name,
            description=f"at the bank {bank.name}",
            reason=partial(_bank_reason, bank),
            mapper=partial(AtBank, bank=bank),
            # It may lack the mode, and its hosts are its own.
            hides=("mode", "host"),
        )


def _bank_reason(bank: GroupBank, steps: Sequence[Step]) -> str:
    """Say why a trial cannot take place at a bank: that is not asked for what it does not offer."""
    asked, lacked = calls(steps), [step for step in steps if isinstance(step, Lack)]
    if any(step.bank for step in lacked) or any(call.host is not None for call in asked):
        return OWN
    if any(step.mode not in bank.lacks for step in lacked):
        return "the trial is about a bank that does not offer the mode"
    if not lacked and any(call.mode in bank.lacks for call in asked):
        return "the bank does not offer the mode of the trial"
    if any(call.malformed for call in asked):
        return "malformed calls are tested at one bank only"
    return "" if asked else "the trial has no call"


def weekdays(at: Situation) -> Values:
    """Yield the days of the weekend, where the clock can be moved."""
    for name, (description, hour) in WEEKEND.items():
        if Capability.CLOCK not in at.offered:
            yield name, "`clock` in `fixtures.offers` in the target file"
            continue
        yield DimensionValue(
            dimension="weekday",
            name=name,
            description=description,
            reason=lambda _: "",
            mapper=partial(
                BeginningOn,
                contract=at.contract,
                day=partial(next_weekday, WEEKDAYS.index(name)),
                hour=hour,
            ),
        )


def seasons(at: Situation) -> Values:
    """Yield the other half of the year, where the clock can be moved and clocks are changed."""
    zone = at.contract.zone or at.target.zone or UTC
    offsets = {local(datetime(2026, month, 1, tzinfo=UTC), zone).utcoffset() for month in (1, 7)}
    if len(offsets) == 1:
        return
    if Capability.CLOCK not in at.offered:
        yield "other", "`clock` in `fixtures.offers` in the target file"
        return
    yield DimensionValue(
        dimension="season",
        name="other",
        description="in the other half of the year",
        reason=lambda _: "",
        mapper=partial(BeginningOn, contract=at.contract, day=half_a_year_later),
    )


def repetition(at: Situation) -> Values:
    """Yield what is done the third time, and the second call of a kind in trials without it."""
    again = partial(mappers.repetition_reason, at.contract)
    thrice = partial(again, times=2)
    payees_bound = {
        operation.id: operation.payee
        for operation in mappers.creating(at.contract).values()
        if operation.payee and other_value(at, operation.id, operation.payee) is not None
    }

    def second(steps: Sequence[Step]) -> str:
        return again(steps) or ("" if thrice(steps) else "the third time covers it")

    turns: Mapping[str, Callable[[Sequence[Step]], str]] = {"second": second, "third": thrice}
    for times, (name, reason) in enumerate(turns.items(), start=1):
        yield DimensionValue(
            dimension="turn",
            name=name,
            description=f"the {name} time",
            reason=reason,
            mapper=partial(
                mappers.AfterAnother, contract=at.contract, times=times, other_payees=payees_bound
            ),
        )


def tokens(at: Situation) -> Values:
    """Yield a token that is renewed in the midst of the trial, where one can be."""
    parties = {operation.by_tpp for operation in at.contract.operations.values()}
    kinds = {party: at.target.auth.of(by_tpp=party).kind for party in parties}
    given = Capability.RENEWAL in at.offered
    renewable = frozenset(
        party
        for party, kind in kinds.items()
        if kind in ISSUING or (given and kind is AuthKind.BEARER)
    )
    if not renewable:
        what = "`auth` that requests tokens, or `renewal` in `fixtures.offers`"
        yield "renewed", f"{what} in the target file"
        return
    yield DimensionValue(
        dimension="token",
        name="renewed",
        description="with a renewed token",
        reason=partial(renewal_reason, at.contract, renewable),
        mapper=partial(WithRenewedToken, contract=at.contract, parties=renewable),
    )


def optional_arguments(at: Situation) -> Values:
    """Yield lists with optional days, where the contract says how far back they go."""
    days: dict[str, int] = {}
    for operation in at.contract.operations.values():
        depth = facts_of(at.contract).history_days.get(operation.id)
        if not operation.available or depth is None or not (operation.since and operation.until):
            continue
        bound = at.binding(operation.id).arguments
        for name in (operation.since, operation.until):
            if name not in bound:
                where = f"`operations.{operation.id}.arguments.{name}` in the target file"
                yield from ((value, where) for value in OPTIONAL_ARGUMENTS)
                return
        days[operation.id] = depth
    for name, description in OPTIONAL_ARGUMENTS.items() if days else ():
        yield DimensionValue(
            dimension="arguments",
            name=name,
            description=description,
            reason=partial(range_reason, at.contract, frozenset(days)),
            mapper=partial(WithWholeRange, contract=at.contract, days=days, one=name == "one"),
        )


def spellings(at: Situation) -> Values:
    """Yield the other ways to write the IBAN of a thing that must not be shown."""
    ibans = facts_of(at.contract).iban_fields
    named = frozenset(each.id for each in roots(at.contract) if (each.id, each.key) in ibans)

    def varies(call: Call) -> bool:
        about = at.contract.operations[call.operation].about
        return bool(call.variation) and about in call.arguments and not call.malformed

    def reason(steps: Sequence[Step]) -> str:
        if not named & {each.resource for step in arrangements(steps) for each in step.holdings}:
            return "nothing in the trial is identified by an IBAN"
        return "" if any(map(varies, calls(steps))) else "the trial asks for nothing to be hidden"

    for name, (description, malformed) in SPELLINGS.items() if named else ():

        def change(call: Call, malformed: Malformed = malformed) -> Call:
            words = f"{call.variation}, with {malformed.value}"
            return replace(call, malformed=malformed, variation=words) if varies(call) else call

        yield DimensionValue(
            dimension="spelling",
            name=name,
            description=description,
            reason=reason,
            mapper=partial(CallsMapped, change=change),
        )


#: Each dimension: its name, what varies, and its values.
DIMENSIONS: Mapping[str, tuple[str, Callable[[Situation], Values]]] = {
    # A bank is chosen before anything else happens.
    "bank": ("the bank of the group", banks),
    "mode": ("the mode of a request", modes),
    "segment": ("the customer's segment", segments),
    "item": ("the resource that a trial is about", resources),
    "page": ("the page of a list", pages),
    "owned": ("what else the customer owns", belongings),
    "order": ("the order of what a consent names", consent_orders),
    "since": ("how long ago the consent was given", idle_times),
    "presence": ("whether the customer is present", presence),
    "name": ("the name of a method", aliases),
    "host": ("the form of the host", hosts),
    "tpp": ("the TPP", tpps),
    "factor": ("the factor that signs", factors),
    "amount": ("the amount", amounts),
    "payee": ("the payee", payees),
    "registered": ("what else the customer has registered", registrations),
    "weekday": ("the day of the week", weekdays),
    "season": ("the half of the year", seasons),
    "arguments": ("the optional arguments", optional_arguments),
    "spelling": ("how an identifier is written", spellings),
    "change": ("whether a request was changed", changes),
    "pause": ("how long the customer takes to sign", pauses),
    "screen": ("the screen on which the customer is idle", screens),
    "token": ("the token of a call", tokens),
    "past": ("what came before the trial", pasts),
    "turn": ("first or repeated", repetition),
}


def dimensions(
    contract: Contract, target: Target, contracts: Iterable[Contract] = ()
) -> tuple[Dimension, ...]:
    """Return the dimensions of a contract at a target that have a value but the base one.

    `contracts` are those of the target: what one of them says of customers holds for all.
    """
    others = tuple(each for each in contracts if each.id != contract.id)
    at = Situation(contract=contract, target=target, others=others)
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


# -- Dimensions of a call: what is said in it, on which day, and with which token ----------------
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
class AtBank(StepMapper):
    """The trial takes place at another bank of the group."""

    bank: GroupBank
    chosen: bool = False

    def before(self, step: Step) -> Script:
        """Choose the bank once; a history says of each mode that it lacks."""
        chosen, self.chosen = self.chosen, True
        if not chosen and not isinstance(step, Lack):
            for mode in self.bank.lacks or ("",):
                yield Lack(mode=mode, bank=self.bank.name)

    def map(self, step: Step) -> Step:
        """Return the choice of this bank in place of any that does not offer something."""
        return replace(step, bank=self.bank.name) if isinstance(step, Lack) else step


@dataclass(slots=True, kw_only=True)
class BeginningOn(StepMapper):
    """The trial begins on another day; `day` returns it, given today."""

    contract: Contract
    day: Callable[[date], date]
    hour: time = mappers.NOON
    started: bool = False

    def before(self, step: Step) -> Script:
        """Move the clock once, before anything but the choice of a bank."""
        if not self.started and not isinstance(step, Lack):
            self.started = True
            yield from mappers.pass_days(self.contract, self.day, self.hour)


def next_weekday(weekday: int, today: date) -> date:
    """Return the next day after today that is this weekday (Monday is 0)."""
    return today + timedelta(days=(weekday - today.weekday()) % 7 or 7)


def half_a_year_later(today: date) -> date:
    """Return the same weekday half a year later, when clocks may show another offset."""
    return today + HALF_A_YEAR


@dataclass(slots=True, kw_only=True)
class WithRenewedToken(StepMapper):
    """Every token is renewed before its first call, and after the first call of each operation.

    So every call is made with a renewed token, and what counts calls, or remembers earlier
    ones, sees several tokens in one trial. A call without the customer is first in its turn.
    """

    contract: Contract
    parties: frozenset[bool]
    customers: set[str] = field(default_factory=set[str])
    renewed: set[str] = field(default_factory=set[str])
    called: set[tuple[str, str, bool]] = field(default_factory=set[tuple[str, str, bool]])

    def before(self, step: Step) -> Script:
        """Renew a token that is used for the first time."""
        renewal = self._renewal(step)
        if renewal is not None and (owner := self._owner(renewal)) not in self.renewed:
            self.renewed.add(owner)
            yield renewal

    def after(self, step: Step, reply: Reply) -> Script:
        """Renew a token again after the first call of an operation."""
        renewal = self._renewal(step)
        if renewal is None or not isinstance(step, Call) or not isinstance(reply, Exchange):
            return
        first = self._owner(renewal), step.operation, step.present
        if first not in self.called:
            self.called.add(first)
            yield renewal

    def _owner(self, renewal: Renew) -> str:
        """Return whose token it is: a TPP, or a customer."""
        party = self.contract.operations[renewal.operation].by_tpp
        return f"TPP {renewal.by}" if party else f"customer {renewal.subject}"

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Note the customers who have a token."""
        if isinstance(reply, Subject):
            self.customers.add(reply.name)
        return reply

    def _renewal(self, step: Step) -> Renew | None:
        """Return the renewal of the token that a call carries, if it carries one."""
        if not isinstance(step, Call) or step.credentials:
            return None
        operations = self.contract.operations
        party = operations[step.operation].by_tpp
        if party not in self.parties or not (party or step.subject in self.customers):
            return None
        # The same token is used for every operation of a party.
        first = next(operation.id for operation in operations.values() if operation.by_tpp is party)
        return Renew(subject=step.subject, operation=first, by=step.by if party else "")


def renewal_reason(contract: Contract, parties: frozenset[bool], steps: Sequence[Step]) -> str:
    """Say why no token of a trial can be renewed."""
    every = [step for step in steps if isinstance(step, Call) and not step.credentials]
    concerned = {contract.operations[call.operation].by_tpp for call in every}
    return "" if concerned & parties else "the trial has no call with a token that can be renewed"


@dataclass(slots=True, kw_only=True)
class WithWholeRange(StepMapper):
    """A list with dates is asked for with a first and a last day: the whole range allowed.

    With `one`, only one of the days is given, for each thing in turn: the first day, or the
    last. So equal calls stay equal.
    """

    contract: Contract
    days: Mapping[str, int]
    one: bool = False
    now: datetime | None = None
    places: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def map(self, step: Step) -> Step:
        """Return the call with the days."""
        if not isinstance(step, Call) or step.follow or self.now is None:
            return step
        operation = self.contract.operations[step.operation]
        names = operation.since, operation.until
        if operation.id not in self.days or step.malformed or {*names} & {*step.arguments}:
            return step
        today = local_day(self.now, self.contract.zone)
        # Whether the last day of the range still counts is open in documents.
        first = today - timedelta(days=self.days[operation.id] - 1)
        given = {operation.since or "": first.isoformat(), operation.until or "": today.isoformat()}
        if self.one:
            about = operation.id, str(step.arguments.get(operation.about or ""))
            name = names[self.places.setdefault(about, len(self.places)) % len(names)]
            given = {name or "": given[name or ""]}
        return replace(step, arguments={**step.arguments, **given})

    def reply(self, step: Step, reply: Reply) -> Reply:
        """Note the time."""
        match reply:
            case Subject(now=now) | Advanced(now=now) | Exchange(at=now):
                self.now = now
            case _:
                pass
        return reply


def range_reason(contract: Contract, operations: Collection[str], steps: Sequence[Step]) -> str:
    """Say why no list of a trial can be asked for with all its arguments."""
    concerned = [call for call in calls(steps) if call.operation in operations]
    if not concerned:
        return "no call of the trial has an optional argument"
    for call in concerned:
        operation = contract.operations[call.operation]
        if {operation.since, operation.until} & {*call.arguments}:
            return OWN
    return ""
