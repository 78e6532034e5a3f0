"""Verdicts on the obligations of one trial, from the evidence that the checks yield.

Evidence gathered in announced maintenance hours cannot convict. Corrections that need
more than one trial are made later, by the assembly of all verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.history import History
from assay.history.events import ProbeRun
from assay.judging.corrections import soften
from assay.judging.verdict import NO_EVIDENCE, Agreement, Evidence, Standing, Verdict, weigh
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan
from assay.rules.rule import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """An obligation that a history violates, and the evidence."""

    obligation: str
    evidence: Evidence


#: Judges a history: what each exchange says of a facet.
Check: TypeAlias = Callable[[History], Iterator[Evidence]]


def breaches(
    plan: Plan,
    contract: str,
    history: History,
    clauses: Iterable[Kind],
    asked: Collection[str] | None = None,
) -> Iterator[Breach]:
    """Let every check of a contract judge a history; yield what it violates.

    Only obligations that are `asked`, by default those of the plan, can be violated: not what a
    bank does not offer, nor what a target file does not describe.
    """
    asked = plan.asked if asked is None else asked
    exchanges = {one.n: one for one in history.exchanges}
    hours = tuple(clauses)
    for applied in plan.clauses[contract].values():
        for evidence in applied.kind.check(history):
            if evidence.agreement is not Agreement.DISAGREES:
                continue
            name = f"{contract}/{applied.clause.id}/{evidence.facet}"
            soft = soften(evidence, exchanges, hours)
            if soft.agreement is Agreement.DISAGREES and name in asked:
                yield Breach(obligation=name, evidence=soft)


def judge(
    check: Check,
    obligations: Sequence[Obligation],
    driven: ProbeRun,
    clauses: Iterable[Kind],
) -> tuple[Verdict, ...]:
    """Return the verdict on each obligation of a trial."""
    exchanges = {one.n: one for one in driven.history.exchanges}
    hours = tuple(clauses)
    found: dict[str, list[Evidence]] = {}
    for evidence in check(driven.history):
        soft = soften(evidence, exchanges, hours)
        found.setdefault(evidence.facet, []).append(soft)
    return tuple(
        _verdict(one, found.get(one.facet, []), driven, len(exchanges)) for one in obligations
    )


def _verdict(
    obligation: Obligation, evidence: Sequence[Evidence], driven: ProbeRun, calls: int
) -> Verdict:
    standing, reason = weigh(evidence)
    shortage = None
    if not evidence and driven.stopped:
        standing, reason, shortage = Standing.UNVERIFIED, driven.stopped, driven.shortage
    elif not evidence:
        reason = _undecided(driven.history)
    return Verdict(
        obligation=obligation.id,
        standing=standing,
        reason=reason,
        evidence=tuple(evidence),
        calls=calls,
        shortage=shortage,
    )


def _undecided(history: History) -> str:
    """Return why no exchange of a trial decides: the first control that was not accepted."""
    for exchange in history.exchanges:
        if not exchange.accepted and not exchange.call.variation:
            failure = getattr(exchange.outcome, "why", "")
            what = failure or f"it was refused ({exchange.wire.status})"
            return f"not judged: the control call of {exchange.call.operation} failed: {what}"
    return NO_EVIDENCE
