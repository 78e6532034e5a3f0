"""Judging what others did: every check over a recorded history, and a record of it.

What a run does with its own trials is done here with histories that are there already:
evidence is weighed, softened and taken back in the same way. What nothing shows is
`unverified`; nothing is asked of anybody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from assay.binding.join import expired, waiver_of
from assay.binding.target import Target
from assay.contract.model import Level, Party
from assay.execution.session import OPEN
from assay.history import Authorised, History
from assay.history.events import ProbeRun
from assay.judging.judge import Check, StaticWatch, discount_static, judge
from assay.judging.verdict import (
    Agreement,
    Evidence,
    Exit,
    Standing,
    Verdict,
    exit_of,
    tally,
    weigh,
)
from assay.planning.obligation import BoundClause, Obligation
from assay.planning.plan import Disposition, Plan
from assay.rules.clauses import clauses_of

UNSHOWN = "this traffic does not show it"
#: So much evidence of one agreement is kept for one obligation.
KEPT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHistory:
    """A history with the name under which the record has it.

    `about` are the obligations that it was made for; empty, it may speak of any. A `story`
    was told to break something, and shows nothing else.
    """

    name: str
    history: History
    about: frozenset[str] = frozenset()
    story: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What came of judging: verdicts in the plan's order, and where their evidence stands."""

    verdicts: tuple[Verdict, ...]
    trials: Mapping[str, str]
    counts: Mapping[str, int]
    exit: Exit


@dataclass(slots=True, kw_only=True)
class Judge:
    """Everything that judging needs to know: what is owed, by whom, and how it is spelt."""

    plan: Plan
    target: Target
    party: Party
    allow_incomplete: bool = False
    _watch: StaticWatch = field(default_factory=StaticWatch)
    _operations: dict[int, str] = field(default_factory=dict[int, str])
    _signed: set[int] = field(default_factory=set[int])

    def judge(self, told: Sequence[NamedHistory]) -> Judged:
        """Give a verdict on every obligation that is planned."""
        for one in told:
            self._watch.see(one.history)
            self._operations |= {each.n: each.call.operation for each in one.history.exchanges}
            self._signed |= {n.n for n in one.history.events if isinstance(n, Authorised)}
        found = {
            item.obligation.id: Verdict(
                obligation=item.obligation.id, standing=item.standing, reason=item.why
            )
            for item in self.plan.items
            if item.fate is not Disposition.ASK
        }
        trials: dict[str, str] = {}
        asked = [item.obligation for item in self.plan.items if item.fate is Disposition.ASK]
        for clause in _by_clause(asked):
            for verdict, name in self._clause(clause, told):
                found[verdict.obligation], trials[verdict.obligation] = verdict, name
        verdicts = tuple(self._settled(found[item.obligation.id]) for item in self.plan.items)
        counts = tally(verdicts)
        musts = sum(
            item.obligation.level is Level.MUST and verdict.standing in OPEN
            for item, verdict in zip(self.plan.items, verdicts, strict=True)
        )
        exit_ = exit_of(
            counts, incomplete_musts=musts, faults=0, allow_incomplete=self.allow_incomplete
        )
        return Judged(verdicts=verdicts, trials=trials, counts=counts, exit=exit_)

    def _clause(
        self, owed: Sequence[Obligation], told: Sequence[NamedHistory]
    ) -> Iterator[tuple[Verdict, str]]:
        """Judge the obligations of one clause by all histories that may speak of them."""
        first = owed[0]
        operations = self.plan.contracts[first.contract].operations
        own = {n for n, name in self._operations.items() if name in operations} | self._signed
        check = party_check(self.plan.ruled[first.contract][first.clause], self.party, own)
        bank = self.party is Party.BANK
        hours = clauses_of(self.plan.contracts[first.contract]) if bank else ()
        heard: dict[str, list[tuple[Verdict, str]]] = {one.id: [] for one in owed}
        for one in told:
            meant = [each for each in owed if not (bank and one.about) or each.id in one.about]
            if meant:
                driven = ProbeRun(history=one.history)
                for verdict in judge(check, meant, driven, hours):
                    blamed = verdict.standing is Standing.VIOLATES
                    if verdict.evidence and (blamed or not (bank and one.story)):
                        heard[verdict.obligation].append((verdict, one.name))
        for name, verdicts in heard.items():
            yield _merged(name, verdicts)

    def _settled(self, verdict: Verdict) -> Verdict:
        """Take back what rests on static answers, and apply a waiver that is sound."""
        if self.party is not Party.BANK:
            return verdict
        (verdict,) = discount_static((verdict,), self._watch.static(), self._operations)
        waiver = waiver_of(self.target, verdict.obligation)
        if waiver is None or verdict.standing is not Standing.VIOLATES:
            return verdict
        if expired(waiver, datetime.now(UTC).date()):
            reason = f"the waiver of {waiver.owner} expired on {waiver.expires}"
            return replace(verdict, reason=reason)
        reason = f"{waiver.reason} ({waiver.owner}, until {waiver.expires})"
        return replace(verdict, standing=Standing.WAIVED, reason=reason)


def party_check(bound: BoundClause, party: Party, own: Collection[int]) -> Check:
    """Return the check of the party that is judged.

    A recording may have calls of several contracts. What happened between two calls of one
    may explain them, so a check sees all; only evidence on its `own` calls counts.
    """
    check = bound.kind.check if party is Party.BANK else bound.kind.check_tpp

    def of_own_calls(history: History) -> Iterator[Evidence]:
        for evidence in check(history):
            if any(n in own for n in evidence.exchanges):
                yield evidence

    return of_own_calls


def _by_clause(owed: Iterable[Obligation]) -> Iterator[Sequence[Obligation]]:
    groups: dict[tuple[str, str], list[Obligation]] = {}
    for one in owed:
        groups.setdefault((one.contract, one.clause), []).append(one)
    yield from groups.values()


def _merged(name: str, heard: Sequence[tuple[Verdict, str]]) -> tuple[Verdict, str]:
    """Weigh what several histories say of one obligation; the gravest names the trial."""
    if not heard:
        return Verdict(obligation=name, standing=Standing.UNVERIFIED, reason=UNSHOWN), ""
    evidence = [each for verdict, _ in heard for each in verdict.evidence]
    standing, reason = weigh(evidence)
    trial = next(trial for verdict, trial in heard if verdict.standing is standing)
    verdict = Verdict(
        obligation=name,
        standing=standing,
        reason=reason,
        evidence=tuple(_bounded(evidence)),
        calls=len({n for one in evidence for n in one.exchanges}),
    )
    return verdict, trial


def _bounded(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Keep the first pieces of evidence of each sort: a long recording has thousands."""
    left = dict.fromkeys(Agreement, KEPT)
    for one in evidence:
        if left[one.agreement] > 0:
            left[one.agreement] -= 1
            yield one
