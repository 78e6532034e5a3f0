"""Judge of recorded histories: the verdicts of a run, on traffic that exists already.

Evidence is weighed and corrected as in a run. What no history shows is `unverified`; nothing is
sent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.binding.target import Target
from assay.contract.model import Party
from assay.history import Authorised, History
from assay.history.events import ProbeRun
from assay.judging.assembly import Conclusion, VerdictAssembly
from assay.judging.judge import Check, judge
from assay.judging.verdict import DECIDED, Agreement, Evidence, Standing, Verdict, weigh
from assay.planning.obligation import BoundClause, Obligation
from assay.planning.plan import Disposition, Plan
from assay.rules.clauses import clauses_of
from assay.rules.evidence import evidence_of
from assay.rules.rule import Kind

NOT_SHOWN = "this traffic does not show it"
#: Why a recording that can be read in several ways does not decide.
ORDER_UNKNOWN = "but the order or the times of this recording are not certain"
MISSING = (
    "but a call, or a header of one, may be missing from this recording (`--complete`: none is)"
)
#: How much evidence of one agreement is kept for one obligation.
MAX_EVIDENCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHistory:
    """A history with the name of its trial in the journal.

    `about` are the obligations that the trial tests; if empty, the history may show any. A random
    `sequence` was sent to find violations, and shows nothing else. `own` says that a run of Assay
    sent it, with the credentials of the target file. `others` are other readings of a recording,
    `gaps` the history with what may be missing from it.
    """

    name: str
    history: History
    about: frozenset[str] = frozenset()
    sequence: bool = False
    own: bool = False
    others: tuple[History, ...] = ()
    gaps: tuple[History, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdicts on a recording, and by obligation the trial that has the evidence."""

    conclusion: Conclusion
    trials: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Judge:
    """Judges recorded histories by what is planned for one party."""

    plan: Plan
    target: Target
    party: Party
    allow_incomplete: bool = False
    _assembly: VerdictAssembly = field(init=False)
    _signed: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        """Begin with the verdicts that the plan decides alone."""
        self._assembly = VerdictAssembly(plan=self.plan, target=self.target, party=self.party)

    def judge(self, histories: Sequence[NamedHistory], *, stopped: bool = False) -> Judged:
        """Return a verdict on every obligation that is planned.

        Histories of a run that was `stopped` early are incomplete at best.
        """
        for named in histories:
            self._assembly.see_recording(named.history, own=named.own)
            self._signed |= {
                event.n for event in named.history.events if isinstance(event, Authorised)
            }
        trials: dict[str, str] = {}
        asked = [item.obligation for item in self.plan.items if item.disposition is Disposition.ASK]
        for obligations in _by_clause(asked):
            for verdict, trial in self._judge_clause(obligations, histories):
                self._assembly.record([verdict])
                trials[verdict.obligation] = trial
        verdicts = self._assembly.final()
        conclusion = self._assembly.conclude(
            verdicts, allow_incomplete=self.allow_incomplete, stopped=stopped
        )
        return Judged(conclusion=conclusion, trials=trials)

    def _judge_clause(
        self, obligations: Sequence[Obligation], histories: Sequence[NamedHistory]
    ) -> Iterator[tuple[Verdict, str]]:
        """Judge the obligations of one clause by all histories that may show them."""
        first = obligations[0]
        own = self._assembly.operations_of(first.contract) | self._signed
        bound = self.plan.clauses[first.contract][first.clause]
        check = party_check(bound, self.party, own)
        bank = self.party is Party.BANK
        clauses = clauses_of(self.plan.contracts[first.contract]) if bank else ()
        by_obligation: dict[str, list[tuple[Verdict, str]]] = {
            obligation.id: [] for obligation in obligations
        }
        for named in histories:
            limited = bank and named.about
            shown = [each for each in obligations if not limited or each.id in named.about]
            if not shown:
                continue
            judged = judge(check, shown, ProbeRun(history=named.history), clauses)
            if named.others or named.gaps:
                others = [
                    self._read_otherwise(bound, shown, history, clauses) for history in named.others
                ]
                sure = [frozenset(map(_violation, check(history))) for history in named.gaps]
                judged = tuple(_certain(verdict, others, sure) for verdict in judged)
            for verdict in judged:
                violated = verdict.standing is Standing.VIOLATES
                if verdict.evidence and (violated or not (bank and named.sequence)):
                    by_obligation[verdict.obligation].append((verdict, named.name))
        for obligation, verdicts in by_obligation.items():
            yield _merged(obligation, verdicts)

    def _read_otherwise(
        self,
        bound: BoundClause,
        obligations: Sequence[Obligation],
        history: History,
        clauses: Collection[Kind],
    ) -> Mapping[str, Standing]:
        """Return what another reading of a recording says, in which exchanges have other numbers."""
        operations = self.plan.contracts[obligations[0].contract].operations
        own = {
            exchange.n for exchange in history.exchanges if exchange.call.operation in operations
        }
        check = party_check(bound, self.party, own)
        verdicts = judge(check, obligations, ProbeRun(history=history), clauses)
        return {verdict.obligation: verdict.standing for verdict in verdicts}


def _violation(evidence: Evidence) -> tuple[str, int] | None:
    """Return what a violation is about, by which it is found again in another history."""
    disagrees = evidence.agreement is Agreement.DISAGREES
    return (evidence.facet, max(evidence.exchanges)) if disagrees else None


def _certain(
    verdict: Verdict,
    others: Sequence[Mapping[str, Standing]],
    sure: Sequence[frozenset[tuple[str, int] | None]],
) -> Verdict:
    """Return a verdict whose evidence is unclear where the recording can be read otherwise.

    A violation counts if it is one in spite of everything that may be missing. A standing
    counts if every reading of the recording has it.
    """
    if verdict.standing not in DECIDED:
        return verdict
    agreed = all(each[verdict.obligation] is verdict.standing for each in others)
    evidence: list[Evidence] = []
    for each in verdict.evidence:
        doubted = each.agreement is not Agreement.UNCLEAR and not agreed
        why = ORDER_UNKNOWN
        if each.agreement is Agreement.DISAGREES and not doubted:
            doubted, why = any(_violation(each) not in evidence for evidence in sure), MISSING
        seen = f"{each.seen}; {why}"
        evidence.append(replace(each, agreement=Agreement.UNCLEAR, seen=seen) if doubted else each)
    standing, reason = weigh(evidence)
    return replace(verdict, standing=standing, reason=reason, evidence=tuple(evidence))


def party_check(bound: BoundClause, party: Party, own: Collection[int]) -> Check:
    """Return the check of the party that is judged.

    A recording may have calls of several contracts. What happened between two calls of one may
    explain them, so a check sees everything; but only evidence on its `own` exchanges counts.
    """

    def check_own_calls(history: History) -> Iterator[Evidence]:
        for evidence in evidence_of(bound.kind, history, tpp=party is not Party.BANK):
            if any(n in own for n in evidence.exchanges):
                yield evidence

    return check_own_calls


def _by_clause(obligations: Iterable[Obligation]) -> Iterator[Sequence[Obligation]]:
    groups: dict[tuple[str, str], list[Obligation]] = {}
    for obligation in obligations:
        groups.setdefault((obligation.contract, obligation.clause), []).append(obligation)
    yield from groups.values()


def _merged(obligation: str, judged: Sequence[tuple[Verdict, str]]) -> tuple[Verdict, str]:
    """Weigh what several histories show of one obligation; the gravest names the trial."""
    if not judged:
        verdict = Verdict(obligation=obligation, standing=Standing.UNVERIFIED, reason=NOT_SHOWN)
        return verdict, ""
    evidence = [each for verdict, _ in judged for each in verdict.evidence]
    standing, reason = weigh(evidence)
    trial = next(trial for verdict, trial in judged if verdict.standing is standing)
    verdict = Verdict(
        obligation=obligation,
        standing=standing,
        reason=reason,
        evidence=tuple(_bounded(evidence)),
        calls=len({n for each in evidence for n in each.exchanges}),
    )
    return verdict, trial


def _bounded(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield the first pieces of evidence of each agreement: a long recording has thousands."""
    left = dict.fromkeys(Agreement, MAX_EVIDENCE)
    for each in evidence:
        if left[each.agreement] > 0:
            left[each.agreement] -= 1
            yield each
