"""The obligations of a contract: one for each facet of each clause.

An obligation's id is `<contract>/<clause>/<facet>` and names it everywhere: in
pytest, in the journal, in reports and in the kill matrix. Points that the source
document leaves open are obligations too, so that they are counted and never lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.contract.model import Capability, Clause, Contract, Level, Party, Source
from assay.rules.kinds import rule_of
from assay.rules.rule import BindingRequirement, Duty, Facet, Rule

#: The kind of the points that the source document leaves open.
UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obligation:
    """A facet of a clause, which gets one verdict, and what a target must offer to test it.

    `statement` is the sentence of the clause, `description` that of the facet. `scenario`
    names the probe of the clause that tests it.
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
    scenario: str = ""
    needs: frozenset[Capability] = frozenset()
    requires: tuple[BindingRequirement, ...] = ()
    not_applicable_because: str = ""

    @property
    def trial(self) -> str:
        """The id of the trial that tests it, shared by all facets of its scenario."""
        return f"{self.contract}/{self.clause}#{self.scenario}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundClause:
    """A clause with its rule, and its parameters as the rule parsed them."""

    clause: Clause
    rule: Rule[Any]
    params: Any


def bound_clauses(contract: Contract) -> dict[str, BoundClause]:
    """Return every clause of a contract with its rule, by clause id."""
    out: dict[str, BoundClause] = {}
    for clause in contract.clauses:
        rule = rule_of(clause.kind)
        out[clause.id] = BoundClause(clause=clause, rule=rule, params=rule.parse(clause, contract))
    return out


def obligations(contract: Contract) -> tuple[Obligation, ...]:
    """Return the obligations of a bank under a contract, in the contract's order."""
    out: list[Obligation] = []
    for applied in bound_clauses(contract).values():
        if applied.rule.party is Party.BANK:
            out += _of_clause(contract, applied)
    out += [
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
    return tuple(out)


def duties(contract: Contract) -> tuple[Obligation, ...]:
    """Return the obligations of a TPP under a contract, in the contract's order.

    The id of such an obligation is `<contract>/<clause>/<duty>`. It is judged from recorded
    traffic only: no probe tests it.
    """
    from assay.rules.client import DUTIES  # noqa: PLC0415 -- only where a TPP is judged

    out: list[Obligation] = []
    for applied in bound_clauses(contract).values():
        duty = DUTIES.get(applied.clause.kind)
        if duty is not None:
            out += _obligations(contract, applied, (_facet(duty, applied.params),))
    return tuple(out)


def _facet(duty: Duty[Any], params: object) -> Facet:
    return Facet(
        id=duty.id,
        description=duty.description(params),
        scenario="",
        needs=duty.needs,
        requires=duty.requires(params) if duty.requires else (),
    )


def _of_clause(contract: Contract, applied: BoundClause) -> list[Obligation]:
    return _obligations(contract, applied, applied.rule.facets(applied.params))


def _obligations(
    contract: Contract, applied: BoundClause, facets: tuple[Facet, ...]
) -> list[Obligation]:
    clause = applied.clause
    return [
        Obligation(
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
            scenario=facet.scenario,
            needs=facet.needs,
            requires=facet.requires,
            not_applicable_because=facet.not_applicable_because,
        )
        for facet in facets
    ]
