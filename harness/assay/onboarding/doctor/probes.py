"""The doctor's probes: ordinary calls that show whether the target file is right.

A `ProbePlan` says what a contract and a target allow: how many items exceed a page, which
operation transmits consents, which calls without the customer are counted. `doctor_probes`
makes the probes. Each is a generator of steps, so that `cost` can estimate it in a dry run
before it is performed. Where no customers can be created for a probe, each operation is
called at most once, with the customer present. Nothing is judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from assay.binding.submission import SUBMISSION
from assay.binding.target import Target
from assay.contract.model import Capability, Operation
from assay.history import Accepted, Arrange, Authorise, Call, Exchange, Holding, Owned, Subject
from assay.onboarding.doctor import request_probes
from assay.onboarding.doctor.probe_plan import HOST, ProbePlan
from assay.onboarding.doctor.rule_probes import rule_probes
from assay.planning.plan import submitting
from assay.rules import steps
from assay.rules.consent_probes import with_consents
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.rule import Script, facts_of
from assay.rules.steps import Part

#: The names of the probes; that of a segment is `segment` and its name.
READS, ROLES, REQUESTS, PRESENCE, SEGMENT = "reads", "roles", "requests", "presence", "segment"
#: What the name of a probe of a rule begins with; the clause and the facet follow.
RULE = "rule"
#: The variations of a call, in words.
SINCE, UNTIL, ALIAS = "from a day on", "up to a day", "by another name"
AGAIN = "once more, with all else unchanged"
#: How many days ago the two dates are.
SINCE_AGO, UNTIL_AGO = 5, 10
#: The most steps of a probe that its cost is estimated from.
_MOST_STEPS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorProbe:
    """A probe with its name; `segment` is the customer segment that it creates, if any.

    `target` is the target with other words, where that is what the probe is about. An
    `optional` one needs what the fixture provider may not have.
    """

    name: str
    start: Callable[[], Script]
    segment: str = ""
    target: Target | None = None
    optional: bool = False


def doctor_probes(plan: ProbePlan) -> Iterator[DoctorProbe]:
    """Yield the probes of a contract."""
    if any(operation.available and not operation.grants for operation in plan.reads):
        yield DoctorProbe(name=READS, start=partial(_reads, plan))
        if len(plan.target.fixtures.roles) > 1:
            yield DoctorProbe(name=ROLES, start=partial(_roles, plan))
    for create in plan.making:
        yield from _requests(plan, create)
    if plan.makes and plan.makes_customers:
        yield from _segments(plan, plan.makes)
    for name, start in rule_probes(plan) if plan.makes_customers else ():
        yield DoctorProbe(name=f"{RULE} {name}", start=start, optional=True)
    if plan.makes_customers and plan.counted():
        yield DoctorProbe(name=PRESENCE, start=partial(_presence, plan))


def _requests(plan: ProbePlan, create: Operation) -> Iterator[DoctorProbe]:
    """Yield the probes of the requests that an operation creates."""
    beginning = "" if create is plan.makes else f"{create.id}: "
    start = partial(request_probes.requests, plan, create)
    yield DoctorProbe(name=f"{beginning}{REQUESTS}", start=start)
    for name, further in request_probes.further_probes(plan, create):
        yield DoctorProbe(name=f"{beginning}{name}", start=further)
    if plan.makes_customers:
        unknown = partial(request_probes.unknown_modes, plan, create)
        altered = request_probes.with_unknown_words(plan, create)
        yield DoctorProbe(name=f"{beginning}unknown modes", start=unknown, target=altered)


def _segments(plan: ProbePlan, create: Operation) -> Iterator[DoctorProbe]:
    """Yield the probes of each segment in the file, and of those that have factors of their own."""
    fixtures, named = plan.target.fixtures, plan.target.fixtures.segments
    offered = Capability.SEGMENTS in fixtures.offers
    by_factors = (
        facts_of(plan.contract).factors_by_segment.get(create.makes or "", {}) if offered else ()
    )
    for name in dict.fromkeys((*named, *by_factors)):
        yield DoctorProbe(
            name=f"{SEGMENT} {name}",
            start=partial(request_probes.segment, plan, name),
            segment=name,
            optional=name not in named,
        )


@dataclass(slots=True, kw_only=True)
class DoctorCost:
    """Estimate of what the probes send: calls by operation, requests, consents and signatures."""

    attended: Counter[str] = field(default_factory=Counter[str])
    alone: Counter[str] = field(default_factory=Counter[str])
    made: int = 0
    consents: int = 0
    signatures: int = 0

    @property
    def calls(self) -> int:
        """The number of all calls."""
        return self.attended.total() + self.alone.total()


def cost(plan: ProbePlan, total: DoctorCost) -> None:
    """Add an estimate of what the probes of a contract will send."""
    for probe in doctor_probes(plan):
        script = with_consents(plan.contract, probe.start())
        dry_target = DryTarget(contract=plan.contract, submitted=submitting(plan.target))
        for step in dry_run(script, dry_target, _MOST_STEPS):
            match step:
                case Call(operation=name, present=present):
                    operation = plan.contract.operations[name]
                    (total.attended if present else total.alone)[name] += 1
                    total.made += bool(operation.makes)
                    total.consents += bool(operation.grants)
                case Authorise():
                    total.signatures += 1
                case _:
                    pass
        if dry_target.submissions:
            total.attended[SUBMISSION] += dry_target.submissions


def _reads(plan: ProbePlan) -> Script:
    """Call every operation that reads, and those that the contract says are unavailable."""
    psu = yield from _customer(plan)
    needed = plan.grant if any(operation.consent for operation in plan.lists) else None
    yield from steps.grant(needed, "psu", *(owned.key for owned in psu.owns))
    for operation in plan.lists:
        first = yield from steps.send(Call(operation=operation.id, subject="psu"))
        yield from _second_page(plan, first)
    for host in plan.other_hosts if plan.lists else ():
        elsewhere = Call(operation=plan.lists[0].id, subject="psu", host=host)
        yield from steps.send(replace(elsewhere, variation=HOST))
    if plan.grant and not needed:
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
        for operation in plan.lists if plan.makes_customers else ():
            if operation.disclosures or plan.is_compared(operation):
                yield from steps.send(Call(operation=operation.id, subject="psu"))
    for operation in plan.reads:
        if operation.available and operation.about:
            yield from _about(plan, operation, psu)
    for operation in plan.reads:
        if not operation.available and not operation.about:
            yield from steps.send(Call(operation=operation.id, subject="psu"))
    yield from _again(plan, psu)


def _again(plan: ProbePlan, psu: Subject) -> Part[None]:
    """Repeat what the rules compare, as late as possible: some values change by the second."""
    for operation in plan.reads:
        if not plan.is_compared(operation):
            continue
        owners = steps.owners(plan.contract, operation) if operation.about else ()
        keys = [item.key for item in psu.owns if item.resource in owners][:1]
        for key in keys if operation.about else ("",):
            arguments = steps.arguments(operation, key) if key else {}
            call = Call(operation=operation.id, subject="psu", arguments=arguments)
            yield from steps.send(replace(call, variation=AGAIN))


def _customer(plan: ProbePlan) -> Part[Subject]:
    """Create a customer that owns more than a page of items, and of entries below one."""
    now = yield from steps.clock()
    owner = plan.owner()
    if not plan.makes_customers or owner is None:
        return (yield from steps.arrange("psu", *([Holding(resource=owner)] if owner else [])))
    others = [resource.id for resource in steps.roots(plan.contract) if resource.id != owner]
    days = plan.most(operation for operation in plan.reads if operation.about)
    items = plan.most(each for each in plan.reads if each.lists and not each.about)
    dates = steps.days_before(now.date(), *range(1, days + 1))
    return (
        yield from steps.arrange(
            "psu",
            Holding(resource=owner, entries=dates),
            Holding(resource=owner, count=max(items - 1 - len(others), 1), entries=dates[:2]),
            *(Holding(resource=resource, entries=dates[:2]) for resource in others),
        )
    )


def _second_page(plan: ProbePlan, first: Exchange) -> Part[None]:
    """Read the second page, if there is one and no real customer's accesses are spent."""
    if plan.makes_customers and isinstance(first.outcome, Accepted) and first.outcome.next:
        yield from steps.send(replace(first.call, follow=first.outcome.next))


def _about(plan: ProbePlan, operation: Operation, psu: Subject) -> Part[None]:
    """Call about one item of each resource; for the first item, with every variation."""
    owners = set(steps.owners(plan.contract, operation))
    first_of: dict[str, Owned] = {}
    for item in psu.owns:
        if item.resource in owners:
            first_of.setdefault(item.resource, item)
    for n, thing in enumerate(first_of.values()):
        call = Call(
            operation=operation.id,
            subject="psu",
            arguments=steps.arguments(operation, thing.key),
        )
        if n and not plan.makes_customers:
            return
        first = yield from steps.send(call)
        if n or not plan.makes_customers:
            continue
        yield from _second_page(plan, first)
        given = plan.binding(operation).aliases
        for alias in range(len(operation.aliases if given is None else given)):
            yield from steps.send(replace(call, alias=alias, variation=ALIAS))
        yield from _between(plan, operation, call, psu.now.date())


def _between(plan: ProbePlan, operation: Operation, call: Call, today: date) -> Part[None]:
    """Call with each date that the target file binds."""
    for name, ago, says in (
        (operation.since, SINCE_AGO, SINCE),
        (operation.until, UNTIL_AGO, UNTIL),
    ):
        if name and name in plan.binding(operation).arguments:
            day = (today - timedelta(days=ago)).isoformat()
            named = {**call.arguments, name: day}
            yield from steps.send(replace(call, arguments=named, variation=says))


def _roles(plan: ProbePlan) -> Script:
    """Call once for every listed customer not used yet, to see whether its token is accepted."""
    owner = plan.owner()
    first = plan.role(owner) if owner else None
    for role in plan.target.fixtures.roles:
        # The next one of this kind of customer, whatever it owns.
        yield Arrange(subject=role.name, holdings=(), segment=role.segment)
        if role != first and plan.lists:
            yield from steps.send(Call(operation=plan.lists[0].id, subject=role.name))


def _presence(plan: ProbePlan) -> Script:
    """Use up the calls without the customer, then call with the customer present.

    Where the calls are never used up, call as often with the customer: the header may have
    the opposite meaning. Without a header, only calls with the customer are made: one too many
    for a bank that takes them for calls without.
    """
    counted, owner = plan.counted(), plan.owner()
    if counted is None or owner is None:
        return
    operation, limit = counted
    if operation.about and owner not in steps.owners(plan.contract, operation):
        return
    psu = yield from steps.arrange("psu", Holding(resource=owner))
    if operation.consent or operation.about:
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
    about = steps.arguments(operation, psu.owns[0].key) if operation.about else {}
    call = Call(operation=operation.id, subject="psu", arguments=about, present=False)
    for n in () if plan.target.presence is None else range(2 * (limit + 1)):
        last = yield from steps.send(call)
        # A bank with another limit distinguishes calls without the customer, too.
        if not last.accepted and (n >= limit or n == 0):
            yield from steps.send(replace(call, present=True))
            return
    for _ in range(limit + 1):
        yield from steps.send(replace(call, present=True))
