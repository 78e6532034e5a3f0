"""The obligations of a contract: one for each facet of each clause.

An obligation's id is `<contract>/<clause>/<facet>` and names it everywhere: in
pytest, in the journal, in reports and in the kill matrix. Points that the source
document leaves open are obligations too, so that they are counted and never lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from assay.contract.model import BankAnswer, Capability, Clause, Contract, Level, Source
from assay.rules.checks import facets_of
from assay.rules.consent_probes import demands_consent, named_operations, signed_consents
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, TppFacet, clauses_of

_Needs: TypeAlias = frozenset[Capability]

#: The kind of the points that the source document leaves open.
UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obligation:
    """A facet of a clause, which gets one verdict, and what a target must offer to test it.

    `statement` is the sentence of the clause, `description` that of the facet. `scenario`
    selects the probe of the clause; it is None for what no probe tests. `rests_on` is the id of
    the obligation that must conform before a refusal proves anything here; it may be empty.
    `exercises` are the operations that must have been accepted before it can conform. `decision` is
    the bank's answer from which it follows, or by which it is answered if it is an open point.
    """

    id: str
    contract: str
    clause: str
    facet: str
    kind: str
    level: Level
    statement: str
    description: str
    sources: tuple[Source, ...]
    line: int
    scenario: Scenario | None = None
    needs: frozenset[Capability] = frozenset()
    requires: tuple[BindingRequirement, ...] = ()
    not_applicable_because: str = ""
    rests_on: str = ""
    exercises: tuple[str, ...] = ()
    decision: BankAnswer | None = None

    @property
    def trial(self) -> str:
        """The id of the trial that tests it, shared by all facets of its scenario."""
        return f"{self.contract}/{self.clause}#{self.scenario.id if self.scenario else ''}"

    def excused_by(self, reasons: Mapping[str, str]) -> str:
        """Return the reason that the clause, or this facet of it (`clause/facet`), need not hold."""
        return reasons.get(self.clause, "") or reasons.get(f"{self.clause}/{self.facet}", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundClause:
    """A clause with its parameters as the instance of its kind."""

    clause: Clause
    kind: Kind


def bound_clauses(contract: Contract) -> dict[str, BoundClause]:
    """Return every clause of a contract with its kind, by clause id."""
    return {
        clause.id: BoundClause(clause=clause, kind=kind)
        for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True)
    }


@lru_cache(maxsize=16)
def obligations(contract: Contract) -> tuple[Obligation, ...]:
    """Return the obligations of a bank under a contract, in the contract's order."""
    of_clauses = [
        _obligation(contract, bound, facet, scenario=facet.scenario)
        for bound in bound_clauses(contract).values()
        for facet in facets_of(bound.kind)
    ]
    open_points = [
        Obligation(
            id=f"{contract.id}/{UNSPECIFIED}/{point.id}",
            contract=contract.id,
            clause=UNSPECIFIED,
            facet=point.id,
            kind=UNSPECIFIED,
            level=Level.MAY,
            statement=point.statement,
            description="the source document leaves this open",
            sources=point.sources,
            line=point.line,
        )
        for point in contract.open_points
    ]
    return (*of_clauses, *open_points)


def tpp_obligations(contract: Contract) -> tuple[Obligation, ...]:
    """Return the obligations of a TPP under a contract, in the contract's order.

    No probe tests them: they are judged from recorded traffic of the TPP only.
    """
    return tuple(
        _obligation(contract, bound, facet)
        for bound in bound_clauses(contract).values()
        if (facet := bound.kind.tpp_facet()) is not None
    )


def _obligation(
    contract: Contract,
    bound: BoundClause,
    facet: Facet | TppFacet,
    *,
    scenario: Scenario | None = None,
) -> Obligation:
    clause = bound.clause
    rests_on = facet.rests_on if isinstance(facet, Facet) else ""
    from_token = any(each.given for each in named_operations(bound.kind))
    given = {Capability.CONSENT} if from_token else set[Capability]()
    needed, required = _consents(bound.kind, facet)
    return Obligation(
        id=f"{contract.id}/{clause.id}/{facet.id}",
        contract=contract.id,
        clause=clause.id,
        facet=facet.id,
        kind=clause.kind,
        level=clause.level,
        statement=clause.statement,
        description=facet.description,
        sources=clause.sources,
        line=clause.line,
        scenario=scenario,
        needs=(facet.needs | needed) - given,
        requires=tuple(
            each for each in (*facet.requires, *required) if each.operation not in contract.given
        ),
        not_applicable_because=facet.not_applicable_because if isinstance(facet, Facet) else "",
        rests_on=f"{contract.id}/{clause.id}/{rests_on}" if rests_on else "",
        exercises=facet.exercises if isinstance(facet, Facet) else (),
    )


def _consents(kind: Kind, facet: Facet | TppFacet) -> tuple[_Needs, tuple[BindingRequirement, ...]]:
    """Return what a facet needs so that consents are made and signed for it."""
    demanded = isinstance(facet, Facet) and demands_consent(kind)
    if not isinstance(facet, Facet) or (Capability.CONSENT not in facet.needs and not demanded):
        return frozenset(), ()
    makers = signed_consents(kind)
    known = {(each.operation, each.feature) for each in facet.requires}
    requirements = tuple(
        BindingRequirement(operation=operation.id, feature=feature)
        for operation in makers
        for feature in ("key", "approval")
        if (operation.id, feature) not in known
    )
    signed = {Capability.CONSENT, Capability.SCA}
    return frozenset(signed if makers else ()), requirements
