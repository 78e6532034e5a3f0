"""Verdicts on the obligations of one trial, from the evidence that the checks yield.

Evidence gathered in announced maintenance hours cannot convict. Corrections that need
more than one trial are made later, by the assembly of all verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.history import (
    Authorise,
    Authorised,
    Effects,
    Ending,
    History,
    Renewed,
    State,
    Withdrawn,
)
from assay.history.events import ProbeRun
from assay.judging.corrections import soften
from assay.judging.verdict import NO_EVIDENCE, Agreement, Evidence, Standing, Verdict, weigh
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
    clauses: Iterable[Kind],
) -> tuple[Verdict, ...]:
    """Return the verdict on each obligation of a trial."""
    exchanges = {exchange.n: exchange for exchange in run.history.exchanges}
    kinds = tuple(clauses)
    by_facet: dict[str, list[Evidence]] = {}
    for evidence in check(run.history):
        softened = soften(evidence, exchanges, kinds)
        by_facet.setdefault(evidence.facet, []).append(softened)
    return tuple(
        _verdict(obligation, by_facet.get(obligation.facet, []), run, len(exchanges))
        for obligation in obligations
    )


def indeterminate(obligations: Iterable[Obligation], reason: str) -> tuple[Verdict, ...]:
    """Return the verdict on each obligation of a trial that could not be judged."""
    return tuple(
        Verdict(obligation=obligation.id, standing=Standing.INDETERMINATE, reason=reason)
        for obligation in obligations
    )


def _verdict(
    obligation: Obligation, evidence: Sequence[Evidence], run: ProbeRun, calls: int
) -> Verdict:
    standing, reason = weigh(evidence)
    shortage = None
    if not evidence and run.stopped:
        standing, reason, shortage = Standing.UNVERIFIED, run.stopped, run.shortage
    elif not evidence:
        reason = _undecided(run.history)
    elif standing is Standing.INDETERMINATE and run.stopped:
        reason = f"{reason}; the trial {run.stopped}"
    return Verdict(
        obligation=obligation.id,
        standing=standing,
        reason=reason,
        evidence=tuple(evidence),
        calls=calls,
        shortage=shortage,
    )


def _undecided(history: History) -> str:
    """Return why no exchange of a trial decides: the first step that was to succeed and did not."""
    for exchange in history.exchanges:
        if not exchange.accepted and not exchange.call.variation:
            failure = getattr(exchange.outcome, "why", "")
            what = failure or f"it was refused ({exchange.wire.status})"
            return f"not judged: the control call of {exchange.call.operation} failed: {what}"
    return next(_unsigned(history), NO_EVIDENCE)


def _cut_short(event: Authorised) -> bool:
    return event.ending in {Ending.DISCONNECTED, Ending.STOPPED}


def _chosen(event: Authorised) -> bool:
    """Whether it is known with which factor the customer signed; without screens it is."""
    return not event.screens or "factor" in event.screens or len(event.offered or ()) == 1


def _unsigned(history: History) -> Iterator[str]:
    """Yield why a customer could not sign as was to be shown, or why nothing shows what followed."""
    for event in history.events:
        match event:
            case Authorised(step=step) if not step.variation and (event.why or _cut_short(event)):
                what = event.why or f"the customer was disconnected ({event.wire.status})"
                yield f"not judged: the control signature: {what}"
            case Authorised(step=Authorise(factor=str(factor))) if not _chosen(event):
                yield f"not judged: no screen offered the factor {factor}"
            case Withdrawn(done=False):
                yield "not judged: the customer's cancellation at the bank was not accepted"
            case Renewed(done=False):
                yield "not judged: the token was not renewed"
            case _:
                pass
    confirmed = {
        event.step.request
        for event in history.events
        if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED
        if not event.step.variation
    }
    for exchange in history.exchanges:
        item = exchange.item
        if item and item.key in confirmed and item.state is State.REJECTED:
            yield (
                "not judged: the control request was rejected after the customer had confirmed it"
                " (does it repeat a request of an earlier trial?)"
            )
    inquired = [event for event in history.events if isinstance(event, Effects)]
    if inquired and all(event.done is None for event in inquired):
        yield "not judged: the fixture provider does not report executed requests"
