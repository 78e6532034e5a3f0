"""Corrections of evidence and verdicts: announced maintenance, static answers, waivers.

Evidence against a target is doubtful if it was gathered in announced maintenance hours.
A verdict is taken back if it rests on an operation whose answers never change, and a
waiver changes the verdict on the obligation that it names. Nothing here does I/O.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from assay.binding.join import expired, waiver_of
from assay.binding.target import Target
from assay.history import Exchange, History
from assay.judging.verdict import Agreement, Evidence, Standing, Verdict
from assay.rules.rule import Kind

#: Different questions that must get the very same bytes before answers are static.
SAME_ANSWERS = 4
#: The verdicts that evidence alone decides, and that a correction may take back.
DECIDED = frozenset({Standing.CONFORMS, Standing.VIOLATES})


def soften(
    evidence: Evidence, exchanges: Mapping[int, Exchange], clauses: Collection[Kind]
) -> Evidence:
    """Return evidence that is unclear where it disagrees in announced maintenance hours."""
    if evidence.agreement is not Agreement.DISAGREES:
        return evidence
    instants: list[datetime] = [exchanges[n].at for n in evidence.exchanges if n in exchanges]
    if not any(clause.closed_at(instant) for clause in clauses for instant in instants):
        return evidence
    seen = f"{evidence.seen}, in the announced maintenance hours"
    return replace(evidence, agreement=Agreement.UNCLEAR, seen=seen)


@dataclass(slots=True, kw_only=True)
class StaticWatch:
    """Detects operations that return the same bytes for every question.

    One operation shows it after several different questions. Once it is shown, the target
    is a mock, and an operation that always accepted and never varied is static as well.
    """

    asked: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    bodies: dict[str, set[bytes]] = field(default_factory=dict[str, set[bytes]])
    answers: dict[str, set[tuple[int, bytes]]] = field(
        default_factory=dict[str, set[tuple[int, bytes]]]
    )
    refusing: set[str] = field(default_factory=set[str])

    def see(self, history: History) -> None:
        """Take in the exchanges of one trial; only lists with items in them count.

        Questions differ if they are asked for customers who own different things.
        """
        owns = {
            name: [thing.key for thing in subject.owns]
            for name, subject in history.subjects.items()
        }
        for exchange in history.exchanges:
            call = exchange.call
            self._note(exchange)
            if not exchange.accepted or not exchange.items or call.malformed:
                continue
            asked = self.asked.setdefault(call.operation, set())
            bodies = self.bodies.setdefault(call.operation, set())
            # Two of each are enough to know that something changes.
            if len(bodies) < 2:  # noqa: PLR2004
                asked.add(
                    f"{owns.get(call.subject)}|{sorted(call.arguments.items())}|{call.follow}"
                )
                bodies.add(hashlib.sha256(exchange.wire.body).digest())

    def _note(self, exchange: Exchange) -> None:
        name, wire = exchange.call.operation, exchange.wire
        if not exchange.accepted:
            self.refusing.add(name)
        elif len(self.answers.setdefault(name, set())) < 2:  # noqa: PLR2004 -- as above
            self.answers[name].add((wire.status, hashlib.sha256(wire.body).digest()))

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


def discount_static(
    verdicts: Iterable[Verdict], static: frozenset[str], operations: Mapping[int, str]
) -> tuple[Verdict, ...]:
    """Take back every verdict that rests on an operation with static answers."""
    return tuple(_discount(verdict, static, operations) for verdict in verdicts)


def _discount(verdict: Verdict, static: frozenset[str], operations: Mapping[int, str]) -> Verdict:
    cited = {operations.get(n, "") for one in verdict.evidence for n in one.exchanges}
    touched = sorted(cited & static)
    if not touched or verdict.standing not in DECIDED:
        return verdict
    reason = f"static answers: {', '.join(touched)} returns the same bytes for every request"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)


def apply_waiver(verdict: Verdict, target: Target, today: date) -> Verdict:
    """Apply the waiver of an obligation, if the target file has one.

    A valid waiver excuses a violation. One that has expired, or whose obligation conforms
    again, is itself a violation, so that it is removed from the target file.
    """
    waiver = waiver_of(target, verdict.obligation)
    if waiver is None:
        return verdict
    if expired(waiver, today):
        reason = f"the waiver of {waiver.owner} expired on {waiver.expires}"
        return replace(verdict, standing=Standing.VIOLATES, reason=reason)
    if verdict.standing is Standing.VIOLATES:
        reason = f"{waiver.reason} ({waiver.owner}, until {waiver.expires})"
        return replace(verdict, standing=Standing.WAIVED, reason=reason)
    if verdict.standing is Standing.CONFORMS:
        reason = f"waived by {waiver.owner}, but it conforms now: remove the waiver"
        return replace(verdict, standing=Standing.VIOLATES, reason=reason)
    return verdict
