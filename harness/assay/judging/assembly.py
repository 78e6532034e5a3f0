"""Final verdicts of a run or a recording: collected, corrected, waived, and counted.

A run and the judging of a recording give a verdict in the same way. What the plan decides
is known at once; what the trials show is recorded as they end. Only when everything was
seen is it known whether answers were static or credentials were ever accepted, so these
corrections and the waivers are applied last. Nothing here does I/O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Generic, TypeVar

from assay.binding.model.target import Target, Waiver
from assay.contract.model import Level, Party
from assay.errors import Exit
from assay.history import Event, Exchange, History
from assay.judging.corrections import (
    AnswersSeen,
    CredentialWatch,
    StaticWatch,
    corrected,
    credentials_place,
    operations_on_requests,
    tpp_operations,
)
from assay.judging.exit_policy import NO_POLICY, ExitPolicy, RunFacts, decide_exit
from assay.judging.judge import exercised
from assay.judging.waivers import WaiverResult, apply_waivers, covered, waiver_results
from assay.planning.plan import Disposition, Plan
from assay.rules.obligation import Obligation
from assay.rules.verdict import Standing, Verdict, tally

V = TypeVar("V")

#: Which of two verdicts on one obligation stays: the graver one.
_GRAVITY = dict.fromkeys(Standing, 0) | {Standing.INDETERMINATE: 1, Standing.VIOLATES: 2}


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The final verdicts in the plan's order, how many there are of each, and the exit code.

    `reasons` say why it is this exit code. `faults` are those of the harness, `stopped` says what
    ended the run early.
    """

    verdicts: tuple[Verdict, ...]
    counts: Mapping[str, int]
    exchanges: int = 0
    faults: tuple[str, ...] = ()
    exit: Exit
    reasons: tuple[str, ...] = ()
    waivers: tuple[WaiverResult, ...] = ()
    stopped: str = ""


@dataclass(slots=True, eq=False)
class Numbered(MutableMapping[int, V], Generic[V]):
    """A mapping from numbers: a list of the values from 1 on, and whatever is not in that order."""

    _first: list[V] = field(default_factory=list[V])
    _others: dict[int, V] = field(default_factory=dict[int, V])

    def __setitem__(self, n: int, value: V) -> None:
        """Set the value of a number."""
        if n == len(self._first) + 1 and n not in self._others:
            self._first.append(value)
        elif 1 <= n <= len(self._first):
            self._first[n - 1] = value
        else:
            self._others[n] = value

    def __getitem__(self, n: int) -> V:
        """Return the value of a number."""
        return self._first[n - 1] if 1 <= n <= len(self._first) else self._others[n]

    def __delitem__(self, n: int) -> None:
        """Remove a number; those behind it are not in order any more."""
        if 1 <= n <= len(self._first):
            behind = self._first[n:]
            del self._first[n - 1 :]
            self._others.update(enumerate(behind, n + 1))
        else:
            del self._others[n]

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers."""
        yield from range(1, len(self._first) + 1)
        yield from self._others

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._first) + len(self._others)

    def __contains__(self, n: object) -> bool:
        """Whether a number has a value."""
        return n in self._others or (isinstance(n, int) and 1 <= n <= len(self._first))


@dataclass(slots=True, kw_only=True)
class VerdictAssembly:
    """Collects what trials show, and makes the final verdicts from it.

    Corrections and waivers concern the bank; verdicts on a TPP stay as they are. A waiver
    is valid through the day on which it expires; `today` decides that (UTC). A `sample` is a
    recording, which shows only a part of what a bank does.
    """

    plan: Plan
    target: Target
    party: Party = Party.BANK
    sample: bool = False
    today: date = field(default_factory=_today)
    _verdicts: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    _violated: set[str] = field(default_factory=set[str])
    answers: StaticWatch = field(default_factory=StaticWatch)
    _credentials: CredentialWatch = field(default_factory=CredentialWatch)
    _operations: Numbered[str] = field(default_factory=Numbered[str])
    _rests_on: dict[str, str] = field(default_factory=dict[str, str])
    _discounts: tuple[Collection[object], ...] = ()

    def __post_init__(self) -> None:
        """Take in what the plan decides alone."""
        self._credentials.tpp_operations = tpp_operations(self.plan)
        obligations = (item.obligation for item in self.plan.items)
        self._rests_on |= {each.id: each.rests_on for each in obligations if each.rests_on}
        self.answers.making, self.answers.about_requests = operations_on_requests(self.plan)
        self.answers.part = str(self.plan.shard or "")
        self.record(
            Verdict(
                obligation=item.obligation.id,
                standing=item.standing,
                reason=item.reason,
                shortage=item.shortage,
            )
            for item in self.plan.items
            if item.disposition is not Disposition.ASK
        )

    def see(self, event: Event) -> None:
        """Take in an event of the run itself, as it happens."""
        if isinstance(event, Exchange):
            self._operations[event.n] = event.call.operation
            self._credentials.see(event)

    def see_trial(self, history: History) -> None:
        """Take in the history of a trial that has ended."""
        self.answers.see(history)

    def see_recording(self, history: History, *, own: bool) -> frozenset[str]:
        """Take in a recorded history, and return the operations that accepted a call in it.

        `own` says that it has the credentials of the target file.
        """
        served: set[str] = set()
        for exchange in history.exchanges:
            self._operations[exchange.n] = exchange.call.operation
            if exchange.accepted:
                served.add(exchange.call.operation)
            if own:
                self._credentials.see(exchange)
        self.see_trial(history)
        return frozenset(served)

    def exercised(
        self, verdict: Verdict, obligation: Obligation, served: Collection[str]
    ) -> Verdict:
        """Take back that an obligation conforms where one of its operations was not exercised."""
        return exercised(verdict, obligation, served, self._operations)

    @property
    def calls(self) -> Counter[str]:
        """How many calls of each operation there were."""
        return Counter(self._operations.values())

    def is_call_of(self, contract: str, n: int) -> bool:
        """Whether an exchange calls an operation of a contract."""
        return self._operations.get(n) in self.plan.contracts[contract].operations

    def record(self, verdicts: Iterable[Verdict]) -> None:
        """Keep verdicts, each in place of an earlier one on its obligation."""
        for verdict in verdicts:
            self._keep(verdict)

    def record_graver(self, verdict: Verdict) -> bool:
        """Keep a verdict unless a graver one is there; return whether it was kept."""
        before = self._verdicts.get(verdict.obligation)
        if before is not None and _GRAVITY[verdict.standing] < _GRAVITY[before.standing]:
            return False
        self._keep(verdict)
        return True

    def _keep(self, verdict: Verdict) -> None:
        self._verdicts[verdict.obligation] = verdict
        if verdict.standing is Standing.VIOLATES:
            self._violated.add(verdict.obligation)
        else:
            self._violated.discard(verdict.obligation)

    def recorded(self, obligations: Iterable[str]) -> tuple[Verdict, ...]:
        """Return the verdicts on obligations as they were recorded."""
        return tuple(self._verdicts[obligation] for obligation in obligations)

    def has(self, obligation: str) -> bool:
        """Whether there is a verdict on an obligation."""
        return obligation in self._verdicts

    def conforms(self, obligation: str) -> bool:
        """Whether an obligation is recorded as conforming so far."""
        verdict = self._verdicts.get(obligation)
        return verdict is not None and verdict.standing is Standing.CONFORMS

    def violated(self) -> frozenset[str]:
        """Return the obligations recorded as violated so far."""
        return frozenset(self._violated)

    def corrected(self, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
        """Take back what conforms by static answers, and what rests on what was never accepted."""
        if self.party is not Party.BANK:
            return tuple(verdicts)
        return corrected(
            verdicts,
            answers=self.answers,
            watch=self._credentials,
            operations=self._operations,
            where=lambda by_tpp: credentials_place(self.target, by_tpp=by_tpp),
            recorded=self._verdicts,
            rests_on=self._rests_on,
        )

    def final(self) -> tuple[Verdict, ...]:
        """Return the final verdict on every obligation that has one, in the plan's order."""
        names = [item.obligation.id for item in self.plan.items]
        return self._final([self._verdicts[name] for name in names if name in self._verdicts])

    def reached(self, changed: Collection[str]) -> tuple[Verdict, ...]:
        """Return the verdicts, final as far as the run has come, that a change of some may alter.

        These are the changed ones, those that rest on one of them, and all where it is newly
        known what every verdict depends on.
        """
        before = self._discounts
        self._discounts = (self.answers.static(), self._credentials.rejected())
        resting = (name for name, support in self._rests_on.items() if support in changed)
        names = (*changed, *resting) if before == self._discounts else (*self._verdicts,)
        return self._final([self._verdicts[name] for name in names if name in self._verdicts])

    def final_on(self, obligation: str) -> Verdict:
        """Return the final verdict on one obligation, as far as the run has come."""
        (verdict,) = self._final([self._verdicts[obligation]])
        return verdict

    def _final(self, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
        corrected = self.corrected(verdicts)
        if self.party is not Party.BANK:
            return corrected
        return tuple(
            apply_waivers(verdict, self.target.waivers, self.today) for verdict in corrected
        )

    def waivers(self, verdicts: Iterable[Verdict]) -> tuple[WaiverResult, ...]:
        """Return the state of each waiver, given final verdicts."""
        waivers = self.target.waivers if self.party is Party.BANK else ()
        standings = {verdict.obligation: verdict.standing for verdict in verdicts}
        covers = covered(waivers, self.plan)
        return waiver_results(waivers, covers, standings, self.today, sample=self.sample)

    def violated_elsewhere(self) -> tuple[str, ...]:
        """Return the obligations of other shards that a trial of this one violates."""
        elsewhere = self.plan.shard.elsewhere if self.plan.shard else ()
        names = (item.obligation.id for _, _, item in elsewhere)
        return tuple(
            name
            for name in names
            if self.has(name) and self.final_on(name).standing is Standing.VIOLATES
        )

    def observations(self) -> dict[str, object]:
        """Return what the verdicts of other shards depend on, except the answers."""
        corrected = self._final(self._verdicts.values())
        uncorrected = [
            {
                "obligation": verdict.obligation,
                "verdict": verdict.standing.value,
                "reason": verdict.reason,
            }
            for verdict, final in zip(self._verdicts.values(), corrected, strict=True)
            if verdict != final
        ]
        parties, covers = PARTIES.items(), covered(self.target.waivers, self.plan)
        return {
            "accepted": [name for party, name in parties if party in self._credentials.accepted],
            "refused": [name for party, name in parties if party in self._credentials.refused],
            "credentials": {
                name: credentials_place(self.target, by_tpp=party) for party, name in parties
            },
            "tpp_operations": sorted(self._credentials.tpp_operations),
            "rests_on": self._rests_on,
            "waivers": [
                {
                    "obligation": waiver.obligation,
                    "clause": waiver.clause,
                    "owner": waiver.owner,
                    "reason": waiver.reason,
                    "expires": waiver.expires,
                    "intermittent": waiver.intermittent,
                    "covers": list(covers[waiver.name]),
                }
                for waiver in self.target.waivers
            ],
            "today": self.today.isoformat(),
            "uncorrected": uncorrected,
        }

    def conclude(
        self,
        verdicts: tuple[Verdict, ...],
        *,
        policy: ExitPolicy = NO_POLICY,
        exchanges: int = 0,
        faults: Sequence[str] = (),
        stopped: str = "",
    ) -> RunResult:
        """Count final verdicts and decide the exit code.

        A run that was `stopped` early is incomplete at best, whatever the policy accepts.
        """
        musts = {
            item.obligation.id for item in self.plan.items if item.obligation.level is Level.MUST
        }
        waivers = self.waivers(verdicts)
        facts = RunFacts(
            verdicts={verdict.obligation: verdict.standing for verdict in verdicts},
            musts=musts,
            waivers=waivers,
            faults=len(faults),
            stopped=bool(stopped),
            elsewhere=self.violated_elsewhere(),
            part=self.plan.shard is not None,
        )
        decision = decide_exit(facts, policy)
        return RunResult(
            verdicts=verdicts,
            counts=tally(verdicts),
            exchanges=exchanges,
            faults=tuple(faults),
            exit=decision.exit,
            reasons=decision.reasons,
            waivers=waivers,
            stopped=stopped,
        )


# -- Verdicts of shards --------------------------------------------------------------------------
# Whether answers are static, whether credentials were ever accepted, and which obligations conform
# is known only when all shards are seen. So the journal of a shard has what its trials show of these
# questions, and its verdicts before they were corrected.
#: The parties whose credentials are observed, by the value that means them.
PARTIES: Mapping[bool, str] = {False: "customers", True: "tpps"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardObservations:
    """What one shard observed; `where` says which key has the credentials of a party.

    `covers` has the obligations that each waiver names.
    """

    answers: AnswersSeen
    accepted: frozenset[bool]
    refused: frozenset[bool]
    where: Mapping[bool, str]
    tpp_operations: frozenset[str]
    rests_on: Mapping[str, str]
    waivers: tuple[Waiver, ...]
    today: date
    covers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(slots=True, kw_only=True)
class MergedVerdicts:
    """The verdicts of all shards before their correction, and what they rest on.

    `operations` are those of the exchanges, by number; `without_token` are the exchanges that
    lacked the token of their caller.
    """

    recorded: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    operations: dict[int, str] = field(default_factory=dict[int, str])
    without_token: set[int] = field(default_factory=set[int])

    def final(self, shards: Sequence[ShardObservations]) -> Mapping[str, Verdict]:
        """Return the final verdicts, corrected by what all shards observed together."""
        answers = StaticWatch()
        for shard in shards:
            answers.take(shard.answers)
        watch = CredentialWatch(
            tpp_operations=frozenset().union(*(shard.tpp_operations for shard in shards)),
            accepted={party for shard in shards for party in shard.accepted},
            refused={party for shard in shards for party in shard.refused},
            without_token=self.without_token,
        )
        where = {party: name for shard in shards for party, name in shard.where.items()}
        rests_on = {name: on for shard in shards for name, on in shard.rests_on.items()}
        verdicts = corrected(
            self.recorded.values(),
            answers=answers,
            watch=watch,
            operations=self.operations,
            where=lambda party: where.get(party, "auth"),
            recorded=self.recorded,
            rests_on=rests_on,
        )
        waivers, today = _waivers(shards), _latest_day(shards)
        return {verdict.obligation: apply_waivers(verdict, waivers, today) for verdict in verdicts}


def merged_waivers(
    shards: Sequence[ShardObservations], verdicts: Iterable[Verdict]
) -> tuple[WaiverResult, ...]:
    """Return the state of each waiver, given the final verdicts of all shards."""
    standings = {verdict.obligation: verdict.standing for verdict in verdicts}
    covers = {name: covered for shard in shards for name, covered in shard.covers.items()}
    return waiver_results(_waivers(shards), covers, standings, _latest_day(shards))


def _waivers(shards: Sequence[ShardObservations]) -> tuple[Waiver, ...]:
    return tuple({each.name: each for shard in shards for each in shard.waivers}.values())


def _latest_day(shards: Sequence[ShardObservations]) -> date:
    return max((shard.today for shard in shards), default=date.min)
