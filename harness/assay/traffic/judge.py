"""Judge of recorded histories: the verdicts of a run, on traffic that exists already.

Evidence is weighed and corrected as in a run. What no history shows is `unverified`; nothing is
sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from http import HTTPStatus
from typing import Protocol

from assay.binding.model.target import Target
from assay.contract.model import Party
from assay.history import AnsweredCall, Authorised, Exchange, History
from assay.history.events import ProbeRun
from assay.judging.assembly import RunResult, VerdictAssembly
from assay.judging.corrections import located, soften
from assay.judging.exit_policy import ExitPolicy
from assay.judging.judge import judge
from assay.planning.plan import Disposition, Plan
from assay.rules.checks import evidence_of
from assay.rules.consent_probes import operations_in_scope
from assay.rules.facets import NOTHING, Facts
from assay.rules.obligation import BoundClause, Obligation
from assay.rules.rule import Kind, facts_of
from assay.rules.verdict import DECIDED, Agreement, Evidence, Standing, Verdict, weigh


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtedHistory:
    """What may have happened beside what is recorded; `why` a violation that it lacks is none."""

    history: History
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHistory:
    """A history with the name of its trial in the journal.

    `about` are the obligations that the trial tests; if empty, the history may show any. Of others
    it shows violations alone. A random
    `sequence` was sent to find violations, and shows nothing else. `own` says that a run of Assay
    sent it, with the credentials of the target file. `others` returns the other readings of a
    recording, `doubts` the history with what may be missing from it or at other times. Both are made
    when they are needed, which is seldom: a recording has one reading, and only a violation is
    doubted.
    """

    name: str
    history: History
    about: frozenset[str] = frozenset()
    sequence: bool = False
    own: bool = False
    others: Callable[[], Iterable[History]] = tuple[History, ...]
    doubts: Callable[[], Iterable[DoubtedHistory]] = tuple[DoubtedHistory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdicts on a recording, and by obligation the trial that has the evidence."""

    conclusion: RunResult
    trials: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class _SeenHistory:
    """The history that is judged, with its parts and what is looked up in it."""

    named: NamedHistory
    parts: HistoryParts = field(init=False)
    _kinds: set[type[object]] = field(init=False)
    _confounded: Mapping[int, AnsweredCall] = field(init=False)

    def __post_init__(self) -> None:
        """Look up the kinds of events, the calls, and those that show nothing."""
        history = self.named.history
        self.parts = HistoryParts(history)
        self._kinds = {*map(type, history.events)}
        self._confounded = {n: each for n, each in history.answered.items() if each.confounded}

    def shows_nothing(self, kind: Kind) -> bool:
        """Whether it lacks all events of a sort without which a check yields nothing."""
        return not {*kind.scope.needs} <= self._kinds

    def exchanges(self, evidence: Evidence) -> Mapping[int, AnsweredCall]:
        """Return the exchanges by which evidence can be softened, by number."""
        violates = evidence.agreement is Agreement.DISAGREES
        return self.named.history.answered if violates else self._confounded


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
    _served: list[tuple[frozenset[str], frozenset[str]]] = field(
        default_factory=list[tuple[frozenset[str], frozenset[str]]]
    )
    _seen: _SeenHistory | None = None
    _called: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        """Begin with the verdicts that the plan decides alone."""
        self._assembly = VerdictAssembly(
            plan=self.plan,
            target=self.target,
            party=self.party,
            sample=self.sample,
            today=self.today,
        )

    def judge(self, histories: Sequence[NamedHistory], *, stopped: str = "") -> Judged:
        """Return a verdict on every obligation that is planned.

        Histories of a run are incomplete at best if something `stopped` it early.
        """
        for named in histories:
            served = self._assembly.see_recording(named.history, own=named.own)
            self._served.append((named.about, served))
            self._signed |= {
                event.n for event in named.history.events if isinstance(event, Authorised)
            }
        self._called = self._assembly.calls
        trials: dict[str, str] = {}
        asked = [item.obligation for item in self.plan.items if item.disposition is Disposition.ASK]
        clauses = sorted(_by_clause(asked), key=self._calls)
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
        bank = self.party is Party.BANK
        is_own = self._own(first.contract)
        facts = facts_of(self.plan.contracts[first.contract]) if bank else NOTHING
        merged = {each.id: MergedEvidence() for each in obligations}
        shown = {each.facet: each.id for each in obligations}
        for named in histories:
            limited = bank and named.about
            others_trial = bank and (named.sequence or (limited and not {*merged} & named.about))
            check = party_check(bound, self.party, is_own, own=not others_trial)
            summaries = self._summaries(bound, check, shown, named, facts)
            for facet, summary in summaries.items():
                name = shown[facet]
                readings = (each[name] for each in others.get(named.name, ()))
                agreed = all(standing is summary.standing for standing in readings)
                pieces = summary.certain(agreed=agreed)
                violated = weigh(pieces)[0] is Standing.VIOLATES
                elsewhere = limited and name not in named.about
                if violated or not (bank and (named.sequence or elsewhere)):
                    merged[name].take(pieces, summary.numbers, named.name)
        for obligation in obligations:
            missing = self._missing(bound.kind, obligation)
            verdict, trial = merged[obligation.id].verdict(obligation.id, missing)
            served = (names for about, names in self._served if not about or obligation.id in about)
            every = frozenset[str]().union(*served)
            yield self._assembly.exercised(verdict, obligation, every), trial

    def _missing(self, kind: Kind, obligation: Obligation) -> str:
        """Return why a recording shows nothing of an obligation: the calls that it has, or lacks."""
        names = sorted(operations_in_scope(kind) or kind.contract.operations)
        called = self._called
        if not any(called[name] for name in names):
            return f"the recording has no call of {', '.join(names)}"
        had = ", ".join(f"{called[name]:,} of {name}" for name in names if called[name])
        return f"no call of the recording decides it ({obligation.description}); it has {had}"

    def _summaries(
        self,
        bound: BoundClause,
        check: PartyCheck,
        facets: Collection[str],
        named: NamedHistory,
        facts: Facts,
    ) -> Mapping[str, EvidenceSummary]:
        """Return what a history shows, by facet, with the violations in doubt."""
        if self._seen is None or self._seen.named is not named:
            self._seen = _SeenHistory(named=named)
        seen, part = self._seen, named.history
        if self.party is Party.BANK:
            if seen.shows_nothing(bound.kind):
                return {}
            part = seen.parts.of(bound.kind)
        sure: list[tuple[frozenset[tuple[str, int] | None], str]] | None = None
        summaries: dict[str, EvidenceSummary] = {}
        for evidence in check(part, named.history):
            if evidence.facet not in facets:
                continue
            softened = soften(evidence, seen.exchanges(evidence), facts)
            violation = _violation(softened)
            if violation is not None and sure is None:
                sure = [
                    (frozenset(_violations(check, each.history, facts)), each.why)
                    for each in named.doubts()
                ]
            whys = (why for found, why in sure or () if violation and violation not in found)
            summary = summaries.setdefault(evidence.facet, EvidenceSummary())
            shown = located(softened, seen.exchanges(evidence), self.target)
            summary.add(shown, doubt=next(whys, ""))
        return summaries

    def _calls(self, obligations: Sequence[Obligation]) -> tuple[str, int, list[str]]:
        """Return what a check looks at: those that look at the same are neighbours, most first."""
        first = obligations[0]
        kind = self.plan.clauses[first.contract][first.clause].kind
        operations = operations_in_scope(kind)
        return (first.contract, -len(operations), sorted(operations)) if operations else ("", 0, [])

    def _own(self, contract: str) -> Callable[[int], bool]:
        """Return whether an exchange calls an operation of a contract, or is a signature."""
        is_call, signed = partial(self._assembly.is_call_of, contract), self._signed
        return lambda n: is_call(n) or n in signed

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
            facts = facts_of(contract) if self.party is Party.BANK else NOTHING
            for verdict in judge(check, obligations, ProbeRun(history=history), bound.kind, facts):
                standings[verdict.obligation] = verdict.standing
        return standings


def _violation(evidence: Evidence) -> tuple[str, int] | None:
    """Return what a violation is about, by which it is found again in another history."""
    disagrees = evidence.agreement is Agreement.DISAGREES
    return (evidence.facet, max(evidence.exchanges)) if disagrees else None


def _violations(check: PartyCheck, history: History, facts: Facts) -> Iterator[tuple[str, int]]:
    """Yield the violations of another history, without failures in announced maintenance hours."""
    pieces = [each for each in check(history) if _violation(each)]
    numbers = {n for each in pieces for n in each.exchanges}
    exchanges = {
        each.n: each
        for each in (history.exchanges if pieces else ())
        if each.n in numbers and each.wire.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    }
    for each in pieces:
        violation = _violation(soften(each, exchanges, facts))
        if violation is not None:
            yield violation


class PartyCheck(Protocol):
    """A check of a history, or of a part of the whole one."""

    def __call__(self, history: History, whole: History | None = None) -> Iterator[Evidence]:
        """Yield the evidence."""
        ...


def party_check(
    bound: BoundClause, party: Party, is_own: Callable[[int], bool], *, own: bool = True
) -> PartyCheck:
    """Return the check of the party that is judged, in trials of its `own` or of other clauses.

    A recording may have calls of several contracts. What happened between two calls of one may
    explain them, so a check may see everything; but only evidence on its own exchanges counts.
    """

    def check_own_calls(history: History, whole: History | None = None) -> Iterator[Evidence]:
        tpp = party is not Party.BANK
        for evidence in evidence_of(bound.kind, history, tpp=tpp, own=own, whole=whole):
            if any(map(is_own, evidence.exchanges)):
                yield evidence

    return check_own_calls


def _by_clause(obligations: Iterable[Obligation]) -> Iterator[Sequence[Obligation]]:
    groups: dict[tuple[str, str], list[Obligation]] = {}
    for obligation in obligations:
        groups.setdefault((obligation.contract, obligation.clause), []).append(obligation)
    yield from groups.values()


# -- Parts of a long history that are enough for a check, by the scope of its kind ---------------
# Most checks are about a few operations. In a history of many trials' length, they are faster if
# they are shown the calls of these operations alone.
#: The number of events from which a history is long.
LONG = 1000


@dataclass(slots=True)
class HistoryParts:
    """The parts of one history, the last of which is kept.

    All events but the calls of other operations are in each part, in their order.
    """

    whole: History
    _last: tuple[frozenset[str], History] | None = None

    def of(self, kind: Kind) -> History:
        """Return the part of the history that is enough for the check of a kind."""
        operations = operations_in_scope(kind)
        if len(self.whole.events) < LONG or operations is None:
            return self.whole
        if self._last is None or self._last[0] != operations:
            self._last = operations, part_of(self.whole, operations)
        return self._last[1]


def part_of(history: History, operations: frozenset[str]) -> History:
    """Return a history without the calls of other operations."""
    events = (
        event
        for event in history.events
        if not isinstance(event, Exchange) or event.call.operation in operations
    )
    return History(events=tuple(events))


# -- Summary of the evidence on one obligation, in bounded memory --------------------------------
# A long recording has a piece of evidence for every exchange. The first pieces of each agreement are
# kept, and which exchanges all of them rest on.
#: Why a recording that can be read in several ways does not decide.
ORDER_UNKNOWN = "but the order or the times in this recording are uncertain"
#: How much evidence of one agreement is kept for one obligation.
MAX_EVIDENCE = 20


@dataclass(slots=True)
class EvidenceSummary:
    """The first pieces of evidence that one history shows, by agreement and doubt.

    A violation is in doubt if something that the recording may not show explains it.
    """

    numbers: set[int] = field(default_factory=set[int])
    _pieces: list[tuple[str, Evidence]] = field(default_factory=list[tuple[str, Evidence]])
    _kept: Counter[tuple[Agreement, str]] = field(default_factory=Counter[tuple[Agreement, str]])

    def add(self, evidence: Evidence, *, doubt: str = "") -> None:
        """Add the next piece; `doubt` says why it does not decide, if it does not."""
        alike = evidence.agreement, doubt
        if self._kept[alike] < MAX_EVIDENCE:
            self._kept[alike] += 1
            self._pieces.append((doubt, evidence))
        self.numbers.update(evidence.exchanges)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._pieces)

    @property
    def standing(self) -> Standing:
        """The standing if nothing were in doubt."""
        return weigh(evidence for _, evidence in self._pieces)[0]

    def certain(self, *, agreed: bool) -> list[Evidence]:
        """Return the first pieces, unclear where the recording can be read otherwise.

        A violation counts if it is one in spite of everything that may be missing. A standing
        counts if every reading of the recording has it (`agreed`).
        """
        decided = self.standing in DECIDED
        pieces: list[Evidence] = []
        for doubt, evidence in self._pieces:
            why = doubt if agreed else ORDER_UNKNOWN
            if decided and why and evidence.agreement is not Agreement.UNCLEAR:
                seen = f"{evidence.seen}; {why}"
                pieces.append(replace(evidence, agreement=Agreement.UNCLEAR, seen=seen))
            else:
                pieces.append(evidence)
        return pieces


@dataclass(slots=True)
class MergedEvidence:
    """What several histories show of one obligation."""

    numbers: set[int] = field(default_factory=set[int])
    pieces: list[Evidence] = field(default_factory=list[Evidence])
    trials: dict[Standing, str] = field(default_factory=dict[Standing, str])

    def take(self, pieces: Sequence[Evidence], numbers: Iterable[int], trial: str) -> None:
        """Add what one history shows, in the trial of this name."""
        self.pieces = [*_bounded([*self.pieces, *pieces])]
        self.numbers.update(numbers)
        self.trials.setdefault(weigh(pieces)[0], trial)

    def verdict(self, obligation: str, missing: str) -> tuple[Verdict, str]:
        """Weigh it; the gravest history names the trial. `missing` is the reason without any."""
        if not self.pieces:
            return Verdict(obligation=obligation, standing=Standing.UNVERIFIED, reason=missing), ""
        standing, reason = weigh(self.pieces)
        verdict = Verdict(
            obligation=obligation,
            standing=standing,
            reason=reason,
            evidence=tuple(self.pieces),
            calls=len(self.numbers),
        )
        return verdict, self.trials[standing]


def _bounded(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield the first pieces of evidence of each agreement."""
    left = dict.fromkeys(Agreement, MAX_EVIDENCE)
    for each in evidence:
        if left[each.agreement] > 0:
            left[each.agreement] -= 1
            yield each
