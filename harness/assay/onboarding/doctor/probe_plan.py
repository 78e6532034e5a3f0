"""Plan of the doctor's probes: the calls that a contract and a target file allow.

Which operations are called, with how many items, which calls without the customer are
counted, and whether requests can be made and signed. Where no customers can be created for
a probe, each operation is called at most once, with the customer present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import partial
from typing import Final, cast

from assay.binding.model.spelling import OperationBinding, Spelling
from assay.binding.model.target import FixtureKind, Place, Role, ScaKind, Target
from assay.binding.wire.encode import BARE
from assay.contract.model import Capability, Contract, Operation
from assay.fixtures.roles import cast_for, customers_for
from assay.history import Authorise, Holding, Step
from assay.rules import steps
from assay.rules.consent_probes import probe_of
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.kinds.reading.error_body import ErrorBodyRule
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import BindingRequirement, Facet, Kind, Script, clauses_of, facts_of

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

    def accepted_modes(self, create: Operation) -> Sequence[str]:
        """Return the modes of a request that the contract says are accepted."""
        return facts_of(self.contract).accepted_modes.get(create.makes or "", ())

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

    @property
    def first_role(self) -> Role | None:
        """The listed customer of the ordinary calls, if there is one."""
        owner = self.owner()
        return self.role(owner) if owner else None

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


# -- The probes of rules that an examination runs where no ordinary request shows the same ---------
# A rule that rejects requests shows words for states that no other request has. A rule about an
# argument in the header or the query shows whether the bank reads it there: a bank serves a call
# with a name that it does not know as if nothing had been sent. Where the file translates the errors
# of refusals, a rule about a code shows one. A rule about a field that only a
# consent of its own shows is the only one to show it.

#: How many facets of a rule that rejects requests are probed, besides one for each factor.
_FACETS: Final = 2
#: The most steps of a probe that are looked at; a longer one is not performed for its refusal alone.
_MOST_LOOKED_AT: Final = 100
#: The features without which the probe of a conditional field shows nothing.
_BINDINGS: Final = frozenset({"mode", "field"})
#: The places of arguments that a bank ignores if it does not know their names.
_IGNORED: Final = frozenset({Place.QUERY, Place.HEADER})


def rule_probes(plan: ProbePlan) -> Iterator[tuple[str, partial[Script]]]:
    """Yield the probe of each facet, with the names of its clause and of the facet."""
    read: set[tuple[str, str, Place, str]] = set()
    for clause, kind in zip(plan.contract.clauses, clauses_of(plan.contract), strict=True):
        if clause.id in plan.target.not_offered:
            continue
        if isinstance(kind, ErrorBodyRule) and plan.target.error is not None:
            first = kind.facets()[0]
            yield f"{clause.id} {first.id}", partial(kind.probe, first.scenario)
        for facet in _showing(plan, kind):
            yield f"{clause.id} {facet.id}", partial(kind.probe, facet.scenario)
        if kind.own_consents:
            continue
        facets = [each for each in kind.facets() if not each.not_applicable_because]
        chosen = {each.id: each for each in _rejecting(plan, kind, facets)}
        chosen |= {each.id: each for each in _coded(plan, kind, facets)}
        for facet in facets:
            for operation, argument, spelling in arguments_of(
                plan.contract, plan.target, kind, facet
            ):
                about = (clause.id, argument, spelling.place, spelling.name)
                if about not in read and plan.contract.operations[operation].available:
                    read.add(about)
                    chosen[facet.id] = facet
        for facet in chosen.values():
            yield f"{clause.id} {facet.id}", partial(kind.probe, facet.scenario)


def _showing(plan: ProbePlan, kind: Kind) -> Iterator[Facet]:
    """Yield the facet of a rule whose probe shows a bound field that no ordinary call shows."""
    if not plan.signs or plan.grant is None:
        return
    named = kind.facts().conditional_fields
    for facet in kind.facets()[:1]:
        required = [each for each in facet.requires if each.feature in _BINDINGS]
        bound = all(_is_bound(plan, each) for each in required)
        if bound and any((each.operation, each.name) in named for each in required):
            yield facet


def _is_bound(plan: ProbePlan, required: BindingRequirement) -> bool:
    binding = plan.binding(plan.contract.operations[required.operation])
    names = binding.modes if required.feature == "mode" else binding.item.fields
    return required.name in names


def _rejecting(plan: ProbePlan, kind: Kind, facets: list[Facet]) -> Iterator[Facet]:
    """Yield the first facets of a rule by which a request is rejected, and one for each factor."""
    if not plan.signs or not plan.makes or not kind.facts().rejections:
        return
    yield from facets[:_FACETS]
    signed = {factor for facet in facets[:_FACETS] for factor in _factors(plan, kind, facet)}
    for facet in facets[_FACETS:] if signed and len(plan.target.sca.factors) > 1 else ():
        further = _factors(plan, kind, facet)
        if not further <= signed:
            signed |= further
            yield facet


def _coded(plan: ProbePlan, kind: Kind, facets: list[Facet]) -> Iterator[Facet]:
    """Yield the first facet of a rule whose refusal has a code, if the file locates codes.

    Where the file translates nothing, one such rule is enough.
    """
    error = plan.target.error
    if error is None or not error.code or not isinstance(kind, RefusingKind) or not kind.codes:
        return
    coded = (each for each in clauses_of(plan.contract) if isinstance(each, RefusingKind))
    first = next(each for each in coded if each.codes and not each.own_consents)
    if error.codes or any(field.words for field in error.fields.values()) or kind is first:
        refusing = kind.refusing()
        facet = next((each for each in facets if each.id in refusing), None)
        if facet is not None and len(_steps(plan, kind, facet)) < _MOST_LOOKED_AT:
            yield facet


def _steps(plan: ProbePlan, kind: Kind, facet: Facet) -> Sequence[Step]:
    """Return the first steps of the probe of a facet."""
    target = DryTarget(contract=plan.contract)
    return [*dry_run(probe_of(kind, facet.scenario), target, _MOST_LOOKED_AT)]


def _factors(plan: ProbePlan, kind: Kind, facet: Facet) -> set[str]:
    """Return the factors with which the probe of a facet signs."""
    steps = _steps(plan, kind, facet)
    return {step.factor for step in steps if isinstance(step, Authorise) and step.factor}


def arguments_of(
    contract: Contract, target: Target, kind: Kind, facet: Facet
) -> Iterator[tuple[str, str, Spelling]]:
    """Yield the arguments that a rule names and that a bank may ignore, with their operations."""
    named = {*_names(kind)}
    for needed in facet.requires:
        operation = contract.operations.get(needed.operation)
        if needed.feature != "argument" or needed.name not in named or operation is None:
            continue
        spelling = target.operations.get(operation.id, BARE).arguments.get(needed.name)
        if spelling is not None and spelling.place in _IGNORED:
            yield operation.id, needed.name, spelling


def _names(kind: Kind) -> Iterator[str]:
    """Yield the names in a rule's own parameters."""
    for each in fields(kind):
        value = getattr(kind, each.name)
        listed = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        yield from (name for name in listed if isinstance(name, str))
