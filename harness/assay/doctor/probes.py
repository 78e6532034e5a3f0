"""What is asked of the target in the examination: a few ordinary calls, told as stories.

Each is a probe, so that it can be overheard before it is told (`cost`), and passes every
gate that the probes of a run pass. Where no world is made for it, each operation is called
once at the most, with the customer there. Nothing is judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from assay.binding.target import ScaKind
from assay.contract.model import Operation
from assay.doctor.probe_plan import ProbePlan
from assay.history import Accepted, Arrange, Authorise, Call, Exchange, Holding, Owned, Subject
from assay.rules import steps
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.rule import Script
from assay.rules.steps import Part

#: The stories by name; that of a segment is `segment` and its name.
READS, ROLES, REQUESTS, PRESENCE, SEGMENT = "reads", "roles", "requests", "presence", "segment"
#: What sets a call apart from a plain one, in words.
SINCE, UNTIL, ALIAS = "from a day on", "up to a day", "by another name"
#: Days ago of the two dates that are asked for.
SINCE_AGO, UNTIL_AGO = 5, 10
#: So many steps of a story are overheard.
_MOST_STEPS = 300


def doctor_probes(telling: ProbePlan) -> Mapping[str, Callable[[], Script]]:
    """Return the stories that a contract gives rise to, by name."""
    found: dict[str, Callable[[], Script]] = {}
    if any(one.available and not one.grants for one in telling.reads):
        found[READS] = partial(_reads, telling)
        if len(telling.target.fixtures.roles) > 1:
            found[ROLES] = partial(_roles, telling)
    if telling.makes:
        found[REQUESTS] = partial(_requests, telling, telling.makes)
        if telling.whole:
            for name in telling.target.fixtures.segments:
                found[f"{SEGMENT} {name}"] = partial(_segment, telling, name)
    if telling.whole and telling.target.presence and telling.counted():
        found[PRESENCE] = partial(_presence, telling)
    return found


@dataclass(slots=True, kw_only=True)
class DoctorCost:
    """What the stories will ask: calls by operation, with the customer and without, and more."""

    attended: Counter[str] = field(default_factory=Counter[str])
    alone: Counter[str] = field(default_factory=Counter[str])
    made: int = 0
    consents: int = 0
    signatures: int = 0

    @property
    def calls(self) -> int:
        """All calls."""
        return self.attended.total() + self.alone.total()


def cost(telling: ProbePlan, total: DoctorCost) -> None:
    """Add what the stories of a contract will ask, about: no answer is known yet."""
    for tell in doctor_probes(telling).values():
        for step in dry_run(tell(), DryTarget(contract=telling.contract), _MOST_STEPS):
            match step:
                case Call(operation=name, present=present):
                    operation = telling.contract.operations[name]
                    (total.attended if present else total.alone)[name] += 1
                    total.made += bool(operation.makes)
                    total.consents += bool(operation.grants)
                case Authorise():
                    total.signatures += 1
                case _:
                    pass


def _reads(telling: ProbePlan) -> Script:
    """Read what can be read, and call what is said to be unavailable."""
    psu = yield from _customer(telling)
    lists = [one for one in telling.reads if one.available and not one.about and not one.grants]
    for operation in lists:
        first = yield from steps.send(Call(operation=operation.id, subject="psu"))
        yield from _turned(telling, first)
    if telling.grant:
        yield from steps.grant(telling.grant, "psu", *(one.key for one in psu.owns))
        for operation in lists if telling.whole else ():
            if operation.disclosures:
                yield from steps.send(Call(operation=operation.id, subject="psu"))
    for operation in telling.reads:
        if operation.available and operation.about:
            yield from _about(telling, operation, psu)
    for operation in telling.reads:
        if not operation.available and not operation.about:
            yield from steps.send(Call(operation=operation.id, subject="psu"))


def _customer(telling: ProbePlan) -> Part[Subject]:
    """Bring somebody into being who owns more than a page of things, and of entries."""
    now = yield from steps.clock()
    owner = telling.owner()
    if not telling.whole or owner is None:
        return (yield from steps.arrange("psu", *([Holding(resource=owner)] if owner else [])))
    about = [one for one in telling.reads if one.about]
    lists = [one for one in telling.reads if one.lists and not one.about]
    days = range(1, max((telling.sized(one) for one in about), default=1) + 1)
    dates = steps.days_before(now.date(), *days)
    things = max((telling.sized(one) for one in lists), default=1)
    others = [one.id for one in steps.roots(telling.contract) if one.id != owner]
    more = max(things - 1 - len(others), 1)
    return (
        yield from steps.arrange(
            "psu",
            Holding(resource=owner, entries=dates),
            Holding(resource=owner, count=more, entries=dates[:2]),
            *(Holding(resource=one, entries=dates[:2]) for one in others),
        )
    )


def _turned(telling: ProbePlan, first: Exchange) -> Part[None]:
    """Turn to the second page, if there is one and nobody's calls are spent by that."""
    if telling.whole and isinstance(first.outcome, Accepted) and first.outcome.next:
        yield from steps.send(replace(first.call, follow=first.outcome.next))


def _about(telling: ProbePlan, operation: Operation, psu: Subject) -> Part[None]:
    """Ask about one thing of each kind; about the first also in the other ways there are."""
    owners = set(steps.owners(telling.contract, operation))
    first_of: dict[str, Owned] = {}
    for one in psu.owns:
        if one.resource in owners:
            first_of.setdefault(one.resource, one)
    for n, thing in enumerate(first_of.values()):
        call = Call(
            operation=operation.id,
            subject="psu",
            arguments=steps.arguments(operation, thing.key),
        )
        if n and not telling.whole:
            return
        first = yield from steps.send(call)
        if n or not telling.whole:
            continue
        yield from _turned(telling, first)
        given = telling.binding(operation).aliases
        for alias in range(len(operation.aliases if given is None else given)):
            yield from steps.send(replace(call, alias=alias, variation=ALIAS))
        yield from _between(telling, operation, call, psu.now.date())


def _between(telling: ProbePlan, operation: Operation, call: Call, today: date) -> Part[None]:
    """Ask from a day on, and up to a day, where the profile says how."""
    for name, ago, says in (
        (operation.since, SINCE_AGO, SINCE),
        (operation.until, UNTIL_AGO, UNTIL),
    ):
        if name and name in telling.binding(operation).arguments:
            day = (today - timedelta(days=ago)).isoformat()
            named = {**call.arguments, name: day}
            yield from steps.send(replace(call, arguments=named, variation=says))


def _roles(telling: ProbePlan) -> Script:
    """Call once for every listed customer who has not called yet, to see each token taken."""
    lists = [one for one in telling.reads if one.available and not one.about and not one.grants]
    owner = telling.owner()
    first = telling.role(owner) if owner else None
    for role in telling.target.fixtures.roles:
        yield Arrange(subject=role.name, holdings=())  # the next one, whatever is owned
        if role != first and lists:
            yield from steps.send(Call(operation=lists[0].id, subject=role.name))


def _requests(telling: ProbePlan, create: Operation) -> Script:
    """Make a request, read, change and end it; where nobody minds, sign another one."""
    lifecycle = tracker.lifecycle_of_operation(telling.contract, create)
    psu = yield from request_steps.customer(lifecycle)
    if telling.whole:
        made = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from request_steps.read(lifecycle, made)
        for operation in telling.contract.operations.values():
            if not operation.available and operation.by_provider:
                yield from request_steps.maybe(request_steps.about(operation, made))
        if telling.signs and made.item and _leads(telling, made):
            yield from request_steps.sign(made)
            yield from request_steps.read(lifecycle, made)
            yield from request_steps.inquire()
    made = yield from steps.send(request_steps.request(lifecycle, psu, lifecycle.changeable))
    if not telling.whole:
        yield from request_steps.read(lifecycle, made)
    change = request_steps.about(lifecycle.change, made)
    if change is not None:
        yield from steps.send(replace(change, varied=lifecycle.changed))
    yield from request_steps.maybe(request_steps.about(lifecycle.end, made))
    if telling.whole:
        yield from request_steps.read(lifecycle, made)


def _leads(telling: ProbePlan, made: Exchange) -> bool:
    """Whether it is known where a request is signed."""
    if telling.target.sca.kind is ScaKind.CONTROL:
        return True
    return isinstance(made.outcome, Accepted) and made.outcome.approval is not None


def _segment(telling: ProbePlan, name: str) -> Script:
    """Bring a customer of a segment into being, and call nothing."""
    owner = telling.owner()
    holdings = (Holding(resource=owner),) if owner else ()
    yield Arrange(subject="psu", holdings=holdings, segment=name)


def _presence(telling: ProbePlan) -> Script:
    """Use up what is free without the customer, and call with the customer then.

    Where nothing is ever used up, as often with the customer: it may be the other way round.
    """
    counted, owner = telling.counted(), telling.owner()
    if counted is None or owner is None:
        return
    operation, limit = counted
    yield from steps.arrange("psu", Holding(resource=owner))
    call = Call(operation=operation.id, subject="psu", present=False)
    for n in range(2 * (limit + 1)):
        last = yield from steps.send(call)
        # Whoever counts to another number tells the calls apart, too.
        if not last.accepted and (n >= limit or n == 0):
            yield from steps.send(replace(call, present=True))
            return
    for _ in range(limit + 1):
        yield from steps.send(replace(call, present=True))
