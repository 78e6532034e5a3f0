"""Plan of the doctor's probes: the calls that a contract and a target file allow.

Which operations are called, with how many items, which calls without the customer are
counted, and whether requests can be made and signed. Where no customers can be created for
a probe, each operation is called at most once, with the customer present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from assay.binding.encode import BARE
from assay.binding.spelling import OperationBinding
from assay.binding.target import FixtureKind, Role, ScaKind, Target
from assay.contract.model import Capability, Contract, Operation
from assay.fixtures.roles import cast_for, customers_for
from assay.history import Holding
from assay.rules import steps
from assay.rules.rule import facts_of

#: Number of items that exceeds the first page of most lists.
MANY = 12
#: The most items that are created for a customer, whatever the page size.
MOST = 60
#: The highest quota that is used up: a higher one would take too many calls.
MOST_COUNTED = 10
#: The variation of a call at another host.
HOST = "at another host"
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
        """The operation that creates a request, if that is allowed: a consent if nothing else."""
        plain = self._offered(
            Capability.WRITE, lambda operation: bool(operation.makes and not operation.grants)
        )
        return plain or self._offered(Capability.WRITE, lambda operation: bool(operation.makes))

    @property
    def other_hosts(self) -> range:
        """The target's other hosts, by number, where the document offers them to this interface."""
        offered = self.makes_customers and "second" in self.contract.hosts
        return range(len(self.target.hosts) if offered else 0)

    @property
    def making(self) -> tuple[Operation, ...]:
        """The operations that create a request, if that is allowed: one, and one for a consent.

        Of real customers only one request is made.
        """
        consent = self._offered(
            Capability.WRITE, lambda operation: bool(operation.makes and operation.grants)
        )
        first = self.makes
        if consent is None or consent is first or not self.makes_customers:
            return (first,) if first else ()
        return (first, consent) if first else (consent,)

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

    def is_compared(self, operation: Operation) -> bool:
        """Whether the rules compare whole items of an operation, so that each is called twice."""
        compared = self.binding(operation).item.volatile is not None
        return compared and operation.available and self.makes_customers

    def most(self, operations: Iterable[Operation]) -> int:
        """Return a number of items that exceeds one page of each operation."""
        known = facts_of(self.contract).page_sizes
        sizes = [known.get(operation.id) for operation in operations]
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
        roles = customers_for(self.target.fixtures.roles, None)
        return next((role for role in roles if cast_for(role, wanted, self.today)), None)

    def counted(self) -> tuple[Operation, int] | None:
        """Return an operation whose calls without the customer are limited, and that limit."""
        counted: list[tuple[Operation, int]] = []
        for name, limits in facts_of(self.contract).call_limits.items():
            operation = self.contract.operations[name]
            if operation.available and not operation.grants:
                numbers = (each.number for each in limits if not each.attended)
                counted += ((operation, number) for number in numbers if number <= MOST_COUNTED)
        # A list needs no item: the customer's accounts before the entries of one of them.
        return min(counted, key=lambda each: bool(each[0].about), default=None)
