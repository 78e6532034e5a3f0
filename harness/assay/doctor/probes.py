"""The doctor's probes: ordinary calls that show whether the target file is right.

A `ProbePlan` says what a contract and a target allow: how many items exceed a page, which
operation transmits consents, which calls without the customer are counted. `doctor_probes`
makes the probes. Each is a generator of steps, so that `cost` can estimate it in a dry run
before it is performed. Where no customers can be created for a probe, each operation is
called at most once, with the customer present. Nothing is judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from assay.binding.encode import BARE
from assay.binding.spelling import OperationBinding
from assay.binding.target import FixtureKind, Role, ScaKind, Target
from assay.contract.model import Capability, Contract, Operation
from assay.fixtures.roles import cast_for
from assay.history import Accepted, Arrange, Authorise, Call, Exchange, Holding, Owned, Subject
from assay.rules import clauses, steps
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.rule import Script
from assay.rules.steps import Part

#: Number of items that exceeds the first page of most lists.
MANY = 12
#: The most items that are created for a customer, whatever the page size.
MOST = 60
#: The highest quota that is used up: a higher one would take too many calls.
MOST_COUNTED = 10
#: The ways of signing that need no person.
BY_ITSELF = frozenset({ScaKind.FORMS, ScaKind.BROWSER, ScaKind.CONTROL})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """What a contract and a target allow the probes to do.

    `makes_customers` says that new customers are created for every probe, so that no real
    customer's accesses are spent.
    """

    contract: Contract
    target: Target
    makes_customers: bool
    today: date

    @property
    def reads(self) -> tuple[Operation, ...]:
        """The operations that read a customer's data."""
        operations = self.contract.operations.values()
        return tuple(each for each in operations if not each.by_tpp and not each.request)

    def binding(self, operation: Operation) -> OperationBinding:
        """Return the binding of an operation."""
        return self.target.operations.get(operation.id, BARE)

    @property
    def writes(self) -> bool:
        """Whether the safety settings allow calls that create requests or transmit consents."""
        return self.target.environment != "live" or self.target.safety.allow_writes

    @property
    def makes(self) -> Operation | None:
        """The operation that creates a request, if that is allowed."""
        return self._offered(Capability.WRITE, lambda operation: bool(operation.makes))

    @property
    def grant(self) -> Operation | None:
        """The operation that transmits consents, if that is allowed."""
        return self._offered(Capability.CONSENT, lambda operation: bool(operation.grants))

    def _offered(
        self, capability: Capability, fits: Callable[[Operation], bool]
    ) -> Operation | None:
        """Return the first operation that fits, if the target offers what it needs."""
        if not self.writes or capability not in self.target.fixtures.offers:
            return None
        operations = self.contract.operations.values()
        return next((each for each in operations if each.available and fits(each)), None)

    @property
    def signs(self) -> bool:
        """Whether a request can be signed without a real customer or a person."""
        return self.makes_customers and self.target.sca.kind in BY_ITSELF

    @property
    def lists(self) -> tuple[Operation, ...]:
        """The operations that list what a customer owns."""
        reads = (each for each in self.reads if each.available and not each.grants)
        return tuple(each for each in reads if not each.about)

    def most(self, operations: Iterable[Operation]) -> int:
        """Return a number of items that exceeds one page of each operation."""
        sizes = [clauses.page_size(self.contract, operation.id) for operation in operations]
        return max((MANY if size is None else min(size + 2, MOST) for size in sizes), default=1)

    def owner(self) -> str | None:
        """Return a resource that the fixtures can give to a customer, if there is one."""
        roots = [resource.id for resource in steps.roots(self.contract)]
        if self.target.fixtures.kind is not FixtureKind.ROLES:
            return roots[0] if roots else None
        return next((resource for resource in roots if self.role(resource)), None)

    def role(self, resource: str) -> Role | None:
        """Return the listed customer that owns something of a resource, if there is one."""
        wanted = (Holding(resource=resource),)
        roles = self.target.fixtures.roles
        return next((role for role in roles if cast_for(role, wanted, self.today)), None)

    def counted(self) -> tuple[Operation, int] | None:
        """Return a list whose calls without the customer are limited, and that limit."""
        for clause in clauses.clauses_of(self.contract):
            limits = clause.call_limits().items()
            for name, limit in (
                (name, limit.number) for name, limit in limits if not limit.attended
            ):
                operation = self.contract.operations[name]
                if (
                    limit <= MOST_COUNTED
                    and operation.available
                    and not operation.about
                    and not operation.grants
                ):
                    return operation, limit
        return None


#: The names of the probes; that of a segment is `segment` and its name.
READS, ROLES, REQUESTS, PRESENCE, SEGMENT = "reads", "roles", "requests", "presence", "segment"
#: The variations of a call, in words.
SINCE, UNTIL, ALIAS = "from a day on", "up to a day", "by another name"
#: How many days ago the two dates are.
SINCE_AGO, UNTIL_AGO = 5, 10
#: The most steps of a probe that its cost is estimated from.
_MOST_STEPS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorProbe:
    """A probe with its name; `segment` is the customer segment that it creates, if any."""

    name: str
    start: Callable[[], Script]
    segment: str = ""


def doctor_probes(plan: ProbePlan) -> Iterator[DoctorProbe]:
    """Yield the probes of a contract."""
    if any(operation.available and not operation.grants for operation in plan.reads):
        yield DoctorProbe(name=READS, start=partial(_reads, plan))
        if len(plan.target.fixtures.roles) > 1:
            yield DoctorProbe(name=ROLES, start=partial(_roles, plan))
    if plan.makes:
        yield DoctorProbe(name=REQUESTS, start=partial(_requests, plan, plan.makes))
        for name in plan.target.fixtures.segments if plan.makes_customers else ():
            start = partial(_segment, plan, name)
            yield DoctorProbe(name=f"{SEGMENT} {name}", start=start, segment=name)
    if plan.makes_customers and plan.target.presence and plan.counted():
        yield DoctorProbe(name=PRESENCE, start=partial(_presence, plan))


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
        for step in dry_run(probe.start(), DryTarget(contract=plan.contract), _MOST_STEPS):
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


def _reads(plan: ProbePlan) -> Script:
    """Call every operation that reads, and those that the contract says are unavailable."""
    psu = yield from _customer(plan)
    for operation in plan.lists:
        first = yield from steps.send(Call(operation=operation.id, subject="psu"))
        yield from _second_page(plan, first)
    if plan.grant:
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
        for operation in plan.lists if plan.makes_customers else ():
            if operation.disclosures:
                yield from steps.send(Call(operation=operation.id, subject="psu"))
    for operation in plan.reads:
        if operation.available and operation.about:
            yield from _about(plan, operation, psu)
    for operation in plan.reads:
        if not operation.available and not operation.about:
            yield from steps.send(Call(operation=operation.id, subject="psu"))


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
        yield Arrange(subject=role.name, holdings=())  # the next one, whatever it owns
        if role != first and plan.lists:
            yield from steps.send(Call(operation=plan.lists[0].id, subject=role.name))


def _requests(plan: ProbePlan, create: Operation) -> Script:
    """Create, read, change and end a request; where customers are created, sign another one."""
    lifecycle = tracker.lifecycle_of_operation(plan.contract, create)
    psu = yield from request_steps.customer(lifecycle)
    if plan.makes_customers:
        made = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from request_steps.read(lifecycle, made)
        for operation in plan.contract.operations.values():
            if not operation.available and operation.by_tpp:
                yield from request_steps.send_if_any(request_steps.call_about(operation, made))
        if plan.signs and made.item and _leads(plan, made):
            yield from request_steps.sign(lifecycle, made)
            yield from request_steps.read(lifecycle, made)
            yield from request_steps.inquire()
    made = yield from steps.send(request_steps.request(lifecycle, psu, lifecycle.changeable_mode))
    if not plan.makes_customers:
        yield from request_steps.read(lifecycle, made)
    change = request_steps.call_about(lifecycle.change, made)
    if change is not None:
        yield from steps.send(replace(change, varied=lifecycle.changeable_arguments))
    yield from request_steps.send_if_any(request_steps.call_about(lifecycle.end, made))
    if plan.makes_customers:
        yield from request_steps.read(lifecycle, made)


def _leads(plan: ProbePlan, made: Exchange) -> bool:
    """Whether it is known where the request is signed."""
    if plan.target.sca.kind is ScaKind.CONTROL:
        return True
    return isinstance(made.outcome, Accepted) and made.outcome.approval is not None


def _segment(plan: ProbePlan, name: str) -> Script:
    """Create a customer of a segment, and call nothing."""
    owner = plan.owner()
    holdings = (Holding(resource=owner),) if owner else ()
    yield Arrange(subject="psu", holdings=holdings, segment=name)


def _presence(plan: ProbePlan) -> Script:
    """Use up the calls without the customer, then call with the customer present.

    Where the calls are never used up, call as often with the customer: the header may have
    the opposite meaning.
    """
    counted, owner = plan.counted(), plan.owner()
    if counted is None or owner is None:
        return
    operation, limit = counted
    yield from steps.arrange("psu", Holding(resource=owner))
    call = Call(operation=operation.id, subject="psu", present=False)
    for n in range(2 * (limit + 1)):
        last = yield from steps.send(call)
        # A bank with another limit distinguishes calls without the customer, too.
        if not last.accepted and (n >= limit or n == 0):
            yield from steps.send(replace(call, present=True))
            return
    for _ in range(limit + 1):
        yield from steps.send(replace(call, present=True))
