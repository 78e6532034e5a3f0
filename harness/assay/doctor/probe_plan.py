"""Who tells the stories of the examination: a contract, how it is spelt, how much may be asked.

Also what the stories of a contract take from it: how many things are more than a page,
which operation transmits consents, what is counted without the customer. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from assay.binding.encode import BARE
from assay.binding.spelling import OperationBinding
from assay.binding.target import FixtureKind, Role, ScaKind, Target
from assay.contract.model import Capability, Contract, Operation
from assay.fixtures.roles import cast_for
from assay.history import Holding
from assay.rules import clauses, steps

#: So many things are more than the first page of most lists.
MANY = 12
#: The most that a world is asked to make, whatever a contract says of pages.
MOST = 60
#: A limit above this is not looked for: it would take too many calls.
MOST_COUNTED = 10
#: Who signs without a person being asked for it.
BY_ITSELF = frozenset({ScaKind.FORMS, ScaKind.BROWSER, ScaKind.CONTROL})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """What a story is told about. `whole`: a world is made for it, so nobody's calls are spent."""

    contract: Contract
    target: Target
    whole: bool
    today: date

    @property
    def reads(self) -> tuple[Operation, ...]:
        """The operations that are called for the customer."""
        every = self.contract.operations.values()
        return tuple(one for one in every if not one.by_provider and not one.request)

    def binding(self, operation: Operation) -> OperationBinding:
        """Return how an operation is spelt."""
        return self.target.operations.get(operation.id, BARE)

    @property
    def writes(self) -> bool:
        """Whether requests may be made, and consents be transmitted, as far as safety goes."""
        return self.target.environment != "live" or self.target.safety.allow_writes

    @property
    def makes(self) -> Operation | None:
        """The operation that makes a request, where that may be done."""
        if not self.writes or Capability.WRITE not in self.target.fixtures.offers:
            return None
        every = self.contract.operations.values()
        return next((one for one in every if one.makes and one.available), None)

    @property
    def grant(self) -> Operation | None:
        """The operation that transmits consents, where that may be done."""
        if not self.writes or Capability.CONSENT not in self.target.fixtures.offers:
            return None
        every = self.contract.operations.values()
        return next((one for one in every if one.grants and one.available), None)

    @property
    def signs(self) -> bool:
        """Whether a signature costs nobody anything."""
        return self.whole and self.target.sca.kind in BY_ITSELF

    def sized(self, operation: Operation) -> int:
        """Return how many things make more than a page."""
        size = clauses.page_size(self.contract, operation.id)
        return MANY if size is None else min(size + 2, MOST)

    def owner(self) -> str | None:
        """Return what a customer surely can be asked to own, as far as it is known."""
        roots = [one.id for one in steps.roots(self.contract)]
        if self.target.fixtures.kind is not FixtureKind.ROLES:
            return roots[0] if roots else None
        return next((one for one in roots if self.role(one)), None)

    def role(self, resource: str) -> Role | None:
        """Return the listed customer who plays whoever owns one thing of a resource."""
        wanted = (Holding(resource=resource),)
        roles = self.target.fixtures.roles
        return next((one for one in roles if cast_for(one, wanted, self.today)), None)

    def counted(self) -> tuple[Operation, int] | None:
        """Return a plain list whose calls without the customer are limited, and how many are free."""
        for clause in clauses.clauses_of(self.contract):
            for name, limit in clause.unattended_limits().items():
                one = self.contract.operations[name]
                if limit <= MOST_COUNTED and one.available and not one.about and not one.grants:
                    return one, limit
        return None
