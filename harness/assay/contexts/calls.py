"""Dimensions of a call: what is said in it, on which day, and with which token."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta

from assay.contexts.context import StepMapper
from assay.contexts.customers import OWN, calls
from assay.contract.model import Contract
from assay.history import Advance, Advanced, Call, Exchange, Lack, Renew, Reply, Step, Subject
from assay.rules.rule import Script
from assay.rules.state.calendar import at, local_day


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
            zone = self.contract.zone or reply.now.tzinfo or UTC
            today = local_day(reply.now, zone)
            days = (self.weekday - today.weekday()) % 7 or 7
            yield Advance(to=at(today + timedelta(days=days), time(12), zone))


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
