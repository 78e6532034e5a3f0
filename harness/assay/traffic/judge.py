"""Judge of recorded histories: the verdicts of a run, on traffic that exists already.

Evidence is weighed and corrected as in a run. What no history shows is `unverified`; nothing is
sent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from types import MappingProxyType

from assay.binding.target import Target
from assay.contract.model import Party
from assay.history import Authorised, Exchange, History
from assay.history.events import ProbeRun
from assay.judging.assembly import Conclusion, VerdictAssembly
from assay.judging.corrections import soften
from assay.judging.exit_policy import ExitPolicy
from assay.judging.judge import Check, judge
from assay.judging.verdict import Agreement, Evidence, Standing, Verdict, weigh
from assay.planning.obligation import BoundClause, Obligation
from assay.planning.plan import Disposition, Plan
from assay.rules.clauses import clauses_of
from assay.rules.evidence import evidence_of
from assay.rules.rule import Kind
from assay.traffic.evidence_summary import EvidenceSummary, MergedEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHistory:
    """A history with the name of its trial in the journal.

    `about` are the obligations that the trial tests; if empty, the history may show any. Of an
    ambient clause, which every trial may violate, other trials show violations, too. A random
    `sequence` was sent to find violations, and shows nothing else. `own` says that a run of Assay
    sent it, with the credentials of the target file. `others` returns the other readings of a
    recording, `gaps` the history with what may be missing from it. Both are made when they are
    needed, which is seldom: a recording has one reading, and only a violation is doubted.
    """

    name: str
    history: History
    about: frozenset[str] = frozenset()
    sequence: bool = False
    own: bool = False
    others: Callable[[], Iterable[History]] = tuple[History, ...]
    gaps: Callable[[], Iterable[History]] = tuple[History, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdicts on a recording, and by obligation the trial that has the evidence."""

    conclusion: Conclusion
    trials: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Judge:
    """Judges recorded histories by what is planned for one party.

    A `sample` is a recording, of which more traffic may show something else.
    """

    plan: Plan
    target: Target
    party: Party
    policy: ExitPolicy = field(default_factory=ExitPolicy)
    sample: bool = False
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    _assembly: VerdictAssembly = field(init=False)
    _signed: set[int] = field(default_factory=set[int])
    _operations: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    _numbered: tuple[str, Mapping[int, Exchange]] = ("", MappingProxyType({}))

    def __post_init__(self) -> None:
        """Begin with the verdicts that the plan decides alone."""
        self._assembly = VerdictAssembly(
            plan=self.plan,
            target=self.target,
            party=self.party,
            sample=self.sample,
            today=self.today,
        )

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
        clauses = [*_by_clause(asked)]
        others = {
            named.name: [self._read_otherwise(clauses, history) for history in named.others()]
            for named in histories
        }
        for obligations in clauses:
            for verdict, trial in self._judge_clause(obligations, histories, others):
                self._assembly.record([verdict])
                trials[verdict.obligation] = trial
        verdicts = self._assembly.final()
        conclusion = self._assembly.conclude(verdicts, policy=self.policy, stopped=stopped)
        return Judged(conclusion=conclusion, trials=trials)

    def _judge_clause(
        self,
        obligations: Sequence[Obligation],
        histories: Sequence[NamedHistory],
        others: Mapping[str, Sequence[Mapping[str, Standing]]],
    ) -> Iterator[tuple[Verdict, str]]:
        """Judge the obligations of one clause by all histories that may show them."""
        first = obligations[0]
        bound = self.plan.clauses[first.contract][first.clause]
        check = party_check(bound, self.party, self._own(first.contract))
        bank = self.party is Party.BANK
        kinds = tuple(clauses_of(self.plan.contracts[first.contract])) if bank else ()
        merged = {each.id: MergedEvidence() for each in obligations}
        for named in histories:
            limited = bank and named.about
            shown = {
                each.facet: each.id
                for each in obligations
                if not limited or bound.kind.ambient or each.id in named.about
            }
            if shown:
                summaries = self._summaries(check, shown, named, kinds)
                for facet, summary in summaries.items():
                    name = shown[facet]
                    readings = (each[name] for each in others.get(named.name, ()))
                    agreed = all(standing is summary.standing for standing in readings)
                    pieces = summary.certain(agreed=agreed)
                    violated = weigh(pieces)[0] is Standing.VIOLATES
                    elsewhere = limited and name not in named.about
                    if violated or not (bank and (named.sequence or elsewhere)):
                        merged[name].take(pieces, summary.numbers, named.name)
        for obligation, evidence in merged.items():
            yield evidence.verdict(obligation)

    def _summaries(
        self,
        check: Check,
        facets: Collection[str],
        named: NamedHistory,
        kinds: Collection[Kind],
    ) -> Mapping[str, EvidenceSummary]:
        """Return what a history shows, by facet, with the violations in doubt."""
        if self._numbered[0] != named.name:
            exchanges = {exchange.n: exchange for exchange in named.history.exchanges}
            self._numbered = named.name, exchanges
        sure: list[frozenset[tuple[str, int] | None]] | None = None
        summaries: dict[str, EvidenceSummary] = {}
        for evidence in check(named.history):
            if evidence.facet not in facets:
                continue
            softened = soften(evidence, self._numbered[1], kinds)
            violation = _violation(softened)
            if violation is not None and sure is None:
                sure = [frozenset(map(_violation, check(history))) for history in named.gaps()]
            doubted = violation is not None and any(violation not in each for each in sure or ())
            summaries.setdefault(evidence.facet, EvidenceSummary()).add(softened, doubted=doubted)
        return summaries

    def _own(self, contract: str) -> Callable[[int], bool]:
        """Return whether an exchange calls an operation of a contract, or is a signature."""
        if contract not in self._operations:
            self._operations[contract] = self._assembly.operations_of(contract) | self._signed
        return self._operations[contract].__contains__

    def _read_otherwise(
        self, clauses: Iterable[Sequence[Obligation]], history: History
    ) -> Mapping[str, Standing]:
        """Return what another reading of a recording says, in which exchanges have other numbers."""
        standings: dict[str, Standing] = {}
        for obligations in clauses:
            first = obligations[0]
            contract = self.plan.contracts[first.contract]
            own = {
                exchange.n
                for exchange in history.exchanges
                if exchange.call.operation in contract.operations
            }
            bound = self.plan.clauses[first.contract][first.clause]
            check = party_check(bound, self.party, own.__contains__)
            kinds = clauses_of(contract) if self.party is Party.BANK else ()
            for verdict in judge(check, obligations, ProbeRun(history=history), kinds):
                standings[verdict.obligation] = verdict.standing
        return standings


def _violation(evidence: Evidence) -> tuple[str, int] | None:
    """Return what a violation is about, by which it is found again in another history."""
    disagrees = evidence.agreement is Agreement.DISAGREES
    return (evidence.facet, max(evidence.exchanges)) if disagrees else None


def party_check(bound: BoundClause, party: Party, is_own: Callable[[int], bool]) -> Check:
    """Return the check of the party that is judged.

    A recording may have calls of several contracts. What happened between two calls of one may
    explain them, so a check sees everything; but only evidence on its own exchanges counts.
    """

    def check_own_calls(history: History) -> Iterator[Evidence]:
        for evidence in evidence_of(bound.kind, history, tpp=party is not Party.BANK):
            if any(map(is_own, evidence.exchanges)):
                yield evidence

    return check_own_calls


def _by_clause(obligations: Iterable[Obligation]) -> Iterator[Sequence[Obligation]]:
    groups: dict[tuple[str, str], list[Obligation]] = {}
    for obligation in obligations:
        groups.setdefault((obligation.contract, obligation.clause), []).append(obligation)
    yield from groups.values()
