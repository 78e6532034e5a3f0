"""From histories to verdicts: evidence weighed, and softened where it must be.

Two things make evidence doubtful after the fact: it was gathered in announced
maintenance hours, or from an operation whose answers never change whatever is
asked. Neither can then convict, and static answers cannot acquit either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from assay.history import Exchange, History
from assay.history.events import ProbeRun
from assay.judging.verdict import Agreement, Evidence, Standing, Verdict, weigh
from assay.planning.obligation import Obligation
from assay.planning.plan import Plan
from assay.rules.rule import Kind

#: Different questions that must get the very same bytes before answers are static.
SAME_ANSWERS = 4


@dataclass(slots=True, kw_only=True)
class StaticWatch:
    """Notices operations that answer the same bytes whatever is asked.

    It takes different questions to show it of one operation. Once it is shown, the
    target is a mock-up, and its other operations that accept everything and never
    varied either are taken for no better.
    """

    asked: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    bodies: dict[str, set[bytes]] = field(default_factory=dict[str, set[bytes]])
    answers: dict[str, set[tuple[int, bytes]]] = field(
        default_factory=dict[str, set[tuple[int, bytes]]]
    )
    refusing: set[str] = field(default_factory=set[str])

    def see(self, history: History) -> None:
        """Take one trial's exchanges in; only lists with something in them count.

        Questions differ if they are asked for customers who own different things.
        """
        owns = {
            name: [one.key for one in subject.owns] for name, subject in history.subjects.items()
        }
        for one in history.exchanges:
            call = one.call
            self._note(one)
            if not one.accepted or not one.items or call.malformed:
                continue
            asked = self.asked.setdefault(call.operation, set())
            bodies = self.bodies.setdefault(call.operation, set())
            # Two of each are enough to know that something changes.
            if len(bodies) < 2:  # noqa: PLR2004
                asked.add(
                    f"{owns.get(call.subject)}|{sorted(call.arguments.items())}|{call.follow}"
                )
                bodies.add(hashlib.sha256(one.wire.body).digest())

    def _note(self, one: Exchange) -> None:
        name = one.call.operation
        if not one.accepted:
            self.refusing.add(name)
        elif len(self.answers.setdefault(name, set())) < 2:  # noqa: PLR2004 -- as below
            self.answers[name].add((one.wire.status, hashlib.sha256(one.wire.body).digest()))

    def static(self) -> frozenset[str]:
        """Return the operations that were asked enough and never varied."""
        shown = frozenset(
            operation
            for operation, asked in self.asked.items()
            if len(asked) >= SAME_ANSWERS and len(self.bodies[operation]) == 1
        )
        if not shown:
            return shown
        return shown | {
            operation
            for operation, answers in self.answers.items()
            if len(answers) == 1 and operation not in self.refusing
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """An obligation that a history shows to be broken, and by what."""

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
    """Have every check of a contract judge a history, whatever it came from.

    Only obligations that are `asked`, all that the plan asks if nothing is said, can be
    broken: what a bank does not offer, or a profile cannot spell, is nobody's fault.
    """
    asked = plan.asked if asked is None else asked
    exchanges = {one.n: one for one in history.exchanges}
    hours = tuple(clauses)
    for applied in plan.ruled[contract].values():
        for evidence in applied.kind.check(history):
            if evidence.agreement is not Agreement.DISAGREES:
                continue
            name = f"{contract}/{applied.clause.id}/{evidence.facet}"
            soft = _soften(evidence, exchanges, hours)
            if soft.agreement is Agreement.DISAGREES and name in asked:
                yield Breach(obligation=name, evidence=soft)


def judge(
    check: Check,
    obligations: Sequence[Obligation],
    driven: ProbeRun,
    clauses: Iterable[Kind],
) -> tuple[Verdict, ...]:
    """Give a verdict on each obligation of a trial."""
    exchanges = {one.n: one for one in driven.history.exchanges}
    hours = tuple(clauses)
    found: dict[str, list[Evidence]] = {}
    for evidence in check(driven.history):
        soft = _soften(evidence, exchanges, hours)
        found.setdefault(evidence.facet, []).append(soft)
    return tuple(
        _verdict(one, found.get(one.facet, []), driven, len(exchanges)) for one in obligations
    )


def _soften(
    evidence: Evidence, exchanges: Mapping[int, Exchange], hours: Sequence[Kind]
) -> Evidence:
    if evidence.agreement is not Agreement.DISAGREES:
        return evidence
    instants: list[datetime] = [exchanges[n].at for n in evidence.exchanges if n in exchanges]
    if not any(clause.closed_at(instant) for clause in hours for instant in instants):
        return evidence
    seen = f"{evidence.seen}, in the announced maintenance hours"
    return replace(evidence, agreement=Agreement.UNCLEAR, seen=seen)


def _verdict(
    obligation: Obligation, evidence: Sequence[Evidence], driven: ProbeRun, calls: int
) -> Verdict:
    standing, reason = weigh(evidence)
    if not evidence and driven.stopped:
        standing, reason = Standing.UNVERIFIED, driven.stopped
    elif not evidence:
        reason = _silence(driven.history)
    return Verdict(
        obligation=obligation.id,
        standing=standing,
        reason=reason,
        evidence=tuple(evidence),
        calls=calls,
    )


def _silence(history: History) -> str:
    """Say why no exchange of a trial could tell: the first that was not accepted."""
    for one in history.exchanges:
        if not one.accepted and not one.call.variation:
            outcome = one.outcome
            what = getattr(outcome, "why", "") or f"it was refused ({one.wire.status})"
            return f"the control was not answered: {one.call.operation}: {what}"
    return "no exchange could tell"


def discount_static(
    verdicts: Iterable[Verdict], static: frozenset[str], operations: Mapping[int, str]
) -> tuple[Verdict, ...]:
    """Take back every verdict that rests on an operation with static answers."""
    return tuple(_discount(one, static, operations) for one in verdicts)


def _discount(verdict: Verdict, static: frozenset[str], operations: Mapping[int, str]) -> Verdict:
    cited = {operations.get(n, "") for one in verdict.evidence for n in one.exchanges}
    touched = sorted(cited & static)
    if not touched or verdict.standing not in {Standing.CONFORMS, Standing.VIOLATES}:
        return verdict
    reason = f"static answers: {', '.join(touched)} says the same whatever is asked"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)
