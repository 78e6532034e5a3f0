"""Verdicts on the obligations of one trial, from the evidence that the checks yield.

Evidence gathered in announced maintenance hours cannot convict. Corrections that need
more than one trial are made later, by the assembly of all verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from assay.history import History
from assay.history.events import ProbeRun
from assay.judging.corrections import soften
from assay.judging.undecided import Undecided, why_undecided
from assay.judging.verdict import Agreement, Evidence, Standing, Verdict, weigh
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan
from assay.rules.evidence import checked, countable
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
    tested: Collection[str] | None = None,
    *,
    ambient: bool = False,
) -> Iterator[Breach]:
    """Let every check of a contract judge a history; yield what it violates.

    `ambient` leaves out all clauses but those that hold in every trial. Only obligations that are
    `tested`, by default those of the plan, can be violated: not what a bank does not offer, nor
    what a target file does not describe.
    """
    tested = plan.judged if tested is None else tested
    exchanges = {exchange.n: exchange for exchange in history.exchanges}
    kinds = tuple(clauses)
    for bound in plan.clauses[contract].values():
        if ambient and not bound.kind.ambient:
            continue
        for evidence in countable(checked(bound.kind, history, own=False)):
            if evidence.agreement is not Agreement.DISAGREES:
                continue
            obligation = f"{contract}/{bound.clause.id}/{evidence.facet}"
            softened = soften(evidence, exchanges, kinds)
            if softened.agreement is Agreement.DISAGREES and obligation in tested:
                yield Breach(obligation=obligation, evidence=softened)


def judge(
    check: Check,
    obligations: Sequence[Obligation],
    run: ProbeRun,
    kind: Kind,
    clauses: Iterable[Kind],
) -> tuple[Verdict, ...]:
    """Return the verdict on each obligation of a trial, all of one clause."""
    exchanges = {exchange.n: exchange for exchange in run.history.exchanges}
    kinds = tuple(clauses)
    by_facet: dict[str, list[Evidence]] = {}
    for evidence in check(run.history):
        softened = soften(evidence, exchanges, kinds)
        by_facet.setdefault(evidence.facet, []).append(softened)
    called = {n: exchange.call.operation for n, exchange in exchanges.items()}
    served = {called[n] for n, exchange in exchanges.items() if exchange.accepted}
    verdicts: list[Verdict] = []
    for obligation in obligations:
        verdict = _verdict(
            obligation,
            by_facet.get(obligation.facet, []),
            run,
            lambda each: why_undecided(run.history, kind, each, kinds),
        )
        whole = exercised(verdict, obligation, served, called)
        if run.stopped and whole is not verdict:
            stopped = Standing.UNVERIFIED
            whole = replace(whole, standing=stopped, reason=run.stopped, shortage=run.shortage)
        verdicts.append(whole)
    return tuple(verdicts)


def indeterminate(obligations: Iterable[Obligation], reason: str) -> tuple[Verdict, ...]:
    """Return the verdict on each obligation of a trial that could not be judged."""
    return tuple(
        Verdict(obligation=obligation.id, standing=Standing.INDETERMINATE, reason=reason)
        for obligation in obligations
    )


def _verdict(
    obligation: Obligation,
    evidence: Sequence[Evidence],
    run: ProbeRun,
    why: Callable[[Obligation], Undecided],
) -> Verdict:
    standing, reason = weigh(evidence)
    shortage = None
    if not evidence and run.stopped:
        standing, reason, shortage = Standing.UNVERIFIED, run.stopped, run.shortage
        # What the answers do not show is missing in spite of what stopped the trial.
        beside = why(obligation) if run.history.exchanges else None
        reason += f"; {beside}" if beside and beside.key.startswith("operations.") else ""
    elif not evidence:
        reason = str(why(obligation))
    elif standing is Standing.INDETERMINATE and run.stopped:
        reason = f"{reason}; the trial {run.stopped}"
    return Verdict(
        obligation=obligation.id,
        standing=standing,
        reason=reason,
        evidence=tuple(evidence),
        calls=len(run.history.exchanges),
        shortage=shortage,
    )


def exercised(
    verdict: Verdict, obligation: Obligation, served: Collection[str], operations: Mapping[int, str]
) -> Verdict:
    """Take back that an obligation conforms where one of its operations was not exercised.

    `served` are the operations that accepted a call; `operations` says what each exchange called.
    """
    if verdict.standing is not Standing.CONFORMS or not obligation.exercises:
        return verdict
    judged = {operations.get(n) for each in verdict.evidence for n in each.exchanges}
    idle = [name for name in obligation.exercises if name not in served and name not in judged]
    if not idle:
        return verdict
    reason = f"not judged: no call of {', '.join(idle)} was accepted"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)
