"""Judge of recorded histories: the verdicts of a run, on traffic that exists already.

Evidence is weighed and corrected as in a run. What no history shows is `unverified`; nothing is
sent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.binding.target import Target
from assay.contract.model import Party
from assay.history import Authorised, History
from assay.history.events import ProbeRun
from assay.judging.assembly import Conclusion, VerdictAssembly
from assay.judging.judge import Check, judge
from assay.judging.verdict import Agreement, Evidence, Standing, Verdict, weigh
from assay.planning.obligation import BoundClause, Obligation
from assay.planning.plan import Disposition, Plan
from assay.rules.clauses import clauses_of
from assay.rules.evidence import evidence_of

UNSHOWN = "this traffic does not show it"
#: So much evidence of one agreement is kept for one obligation.
KEPT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHistory:
    """A history with the name under which the record has it.

    `about` are the obligations that it was made for; empty, it may speak of any. A `story`
    was made to break something, and shows nothing else. `own` says that a run of Assay
    made it, with the credentials of the target file.
    """

    name: str
    history: History
    about: frozenset[str] = frozenset()
    story: bool = False
    own: bool = False


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

    def judge(self, histories: Sequence[NamedHistory]) -> Judged:
        """Give a verdict on every obligation that is planned."""
        for named in histories:
            self._assembly.see_recording(named.history, own=named.own)
            signatures = (one for one in named.history.events if isinstance(one, Authorised))
            self._signed |= {signature.n for signature in signatures}
        trials: dict[str, str] = {}
        asked = [item.obligation for item in self.plan.items if item.fate is Disposition.ASK]
        for clause in _by_clause(asked):
            for verdict, name in self._clause(clause, histories):
                self._assembly.record([verdict])
                trials[verdict.obligation] = name
        verdicts = self._assembly.final()
        conclusion = self._assembly.conclude(verdicts, allow_incomplete=self.allow_incomplete)
        return Judged(conclusion=conclusion, trials=trials)

    def _clause(
        self, owed: Sequence[Obligation], histories: Sequence[NamedHistory]
    ) -> Iterator[tuple[Verdict, str]]:
        """Judge the obligations of one clause by all histories that may speak of them."""
        first = owed[0]
        own = self._assembly.operations_of(first.contract) | self._signed
        check = party_check(self.plan.ruled[first.contract][first.clause], self.party, own)
        bank = self.party is Party.BANK
        clauses = clauses_of(self.plan.contracts[first.contract]) if bank else ()
        heard: dict[str, list[tuple[Verdict, str]]] = {one.id: [] for one in owed}
        for named in histories:
            about = [one for one in owed if not (bank and named.about) or one.id in named.about]
            if about:
                driven = ProbeRun(history=named.history)
                for verdict in judge(check, about, driven, clauses):
                    blamed = verdict.standing is Standing.VIOLATES
                    if verdict.evidence and (blamed or not (bank and named.story)):
                        heard[verdict.obligation].append((verdict, named.name))
        for name, verdicts in heard.items():
            yield _merged(name, verdicts)


def party_check(bound: BoundClause, party: Party, own: Collection[int]) -> Check:
    """Return the check of the party that is judged.

    A recording may have calls of several contracts. What happened between two calls of one may
    explain them, so a check sees everything; but only evidence on its `own` exchanges counts.
    """

    def of_own_calls(history: History) -> Iterator[Evidence]:
        for evidence in evidence_of(bound.kind, history, tpp=party is not Party.BANK):
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
