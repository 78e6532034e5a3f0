"""Random search as a part of a run: its findings become verdicts in the journal.

`search` finds violations. Here, sequences saved by earlier runs are tried first; each
finding is written to a file, saved, and replayed once with the journal recording, so
that its verdict has evidence. A single recorded sequence is replayed the same way
(`replay`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from assay.binding.join import BoundContract
from assay.binding.target import Sca, ScaKind, Target, TransportKind
from assay.contract.files.document import file_name
from assay.errors import InputError, did_you_mean
from assay.execution.ambient import FindingSource
from assay.execution.session import Session
from assay.fixtures.providers import Customers, customers_of
from assay.fuzzing.fields import field_sequences
from assay.fuzzing.findings import DocumentFinding, FuzzFinding, SearchRequest, SearchResult
from assay.fuzzing.search import Search, SearchLimits
from assay.fuzzing.sequences.sequence_file import Examples, RecordedSequence, write
from assay.judging.judge import judge
from assay.judging.verdict import Standing, Verdict, weigh
from assay.planning.plan import Plan, restrict
from assay.rules.clauses import clauses_of
from assay.rules.evidence import evidence_of

#: The folder of recorded sequences, beside the journal.
SEQUENCES = "sequences"
#: The calls for each sequence of a search that only reads.
CALLS = 10
#: The providers whose customers can be new in each trial; each customer says whether it is.
CREATING = frozenset({Customers.CREATED, Customers.CHOSEN})
#: Receives each finding of a search.
OnFinding: TypeAlias = Callable[[FuzzFinding], None]
#: Generates and runs the sequences of a search, and passes on each finding.
SearchMethod: TypeAlias = Callable[[Search, OnFinding], SearchResult]


#: Why a search only reads.
LIVE = "the target is a live bank"
LASTING = "the customers of this target are not created for the run"


def limits_of(target: Target, sequences: int, *, fresh: bool = True) -> SearchLimits:
    """Return how far a search may go at a target.

    A bank in this process is called without restraint; over a network, a sequence is
    replayed less often to make it shorter. A live bank, or one whose customers are not
    created for the run (`fresh`), has real customers and calls: it is only read, a little,
    and findings are not shortened, but replayed once for the record. A person who signs
    is asked for the planned signatures only.
    """
    restricted = LIVE if target.environment == "live" else ""
    if not restricted and not (fresh and customers_of(target) in CREATING):
        restricted = LASTING
    if restricted:
        calls = CALLS * sequences
        return SearchLimits(
            sequences=sequences, steps=10, tries=0, calls=calls, restricted=restricted
        )
    signs = target.sca.kind is not ScaKind.MANUAL
    tries = 400 if target.transport is TransportKind.EMBEDDED else 150
    return SearchLimits(sequences=sequences, tries=tries, signs=signs)


def price_of(request: SearchRequest, target: Target, operations: int) -> str:
    """Return what a search may cost in a contract with this many operations, for a dry run."""
    limits = limits_of(target, request.times)
    size = {
        "journeys": f"up to {request.times} sequences of up to {limits.steps} steps",
        "fields": f"up to {request.times} sequences, each with its controls",
        "schema": f"the cases of {operations} operations, and {request.times} random ones of each",
    }[request.how]
    price = f"search {request.how} ({request.contract}): {size}"
    if limits.restricted:
        return f"{price}, at most {limits.calls} calls; only reads: {limits.restricted}"
    if customers_of(target) is not Customers.CREATED:
        most = limits_of(target, request.times, fresh=False).calls
        return f"{price}; at most {most} calls that only read, unless each customer is new"
    return price


@dataclass(slots=True, kw_only=True)
class SearchSession:
    """The searches of one run. `folder` is where sequences are written, None for nowhere.

    `plan` is what the session records, possibly a part, and `whole` the complete plan,
    whose probes supply the actions. `bound` are the contracts from which the OpenAPI document
    is exported.
    """

    session: Session
    plan: Plan
    whole: Plan
    bound: Sequence[BoundContract] = ()
    folder: Path | None = None
    examples: Examples | None = None

    def search(self, request: SearchRequest, limits: SearchLimits | None = None) -> SearchResult:
        """Search one contract in one way, and record the findings as verdicts.

        The limits are those of the target, unless others are given.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.
            JournalError: the journal cannot be written any more.

        """
        session, contract, how = self.session, request.contract, request.how
        search = Search(
            plan=self.plan,
            contract=self.plan.contracts[contract],
            environment=session.environment,
            limits=limits or limits_of(session.environment.target, request.times),
            seed=session.options.seed,
            whole=self.whole,
            known=session.violated(),
            bound=self.bound,
            operation=request.operation,
        )
        if not search.limits.reads and not search.has_fresh_customers():
            search.limits = limits_of(session.environment.target, request.times, fresh=False)
        findings: list[tuple[FuzzFinding, Path | None]] = []

        def keep(finding: FuzzFinding) -> None:
            findings.append((finding, self._save(finding, contract, how)))

        self._retry_saved(search, contract, keep)
        result = SEARCH_METHODS[how](search, keep)
        if search.limits.reads:
            note = f"only reads: {search.limits.restricted}"
            result = replace(result, notes=(note, *result.notes))
        for finding, path in findings:
            self._record_verdict(finding, contract, how, path)
        documented = [
            self._recorded_answer(finding, contract, number)
            for number, finding in enumerate(result.documented, 1)
        ]
        record = self._record(request, result, findings) | {"documented": documented}
        session.journal.write("search", record)
        return result

    def _retry_saved(
        self, search: Search, contract: str, keep: Callable[[FuzzFinding], None]
    ) -> None:
        """Try the saved sequences first: what they violated may be violated again."""
        if self.examples is None or search.limits.reads:
            return
        for recorded in self.examples.sequences(contract):
            findings = search.retry(recorded.steps)
            for finding in findings:
                keep(finding)
            if not findings:
                self.examples.drop(recorded)

    def _save(self, finding: FuzzFinding, contract: str, how: str) -> Path | None:
        evidence = finding.breach.evidence
        says = f"expected {evidence.expected}; {evidence.seen}"
        recorded = RecordedSequence(
            name=f"{how} {finding.obligation}",
            contract=contract,
            breaks=(finding.obligation,),
            steps=finding.sequence,
            seed=self.session.options.seed,
            says=self.session.journal.redactor.bounded(says, 1_000),
        )
        if self.examples is not None:
            self.examples.save(recorded)
        if self.folder is None:
            return None
        folder = self.folder / SEQUENCES
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{file_name(finding.obligation, 150)}.json"
        path.write_text(write(recorded), encoding="utf-8")
        return path

    def _record_verdict(
        self, finding: FuzzFinding, contract: str, how: str, path: Path | None
    ) -> None:
        """Replay a finding's sequence for the record, and record its verdict."""
        name = f"{contract}/{how}#{finding.obligation.partition('/')[2]}"
        probe_run = self.session.replay(name, self.plan.contracts[contract], finding.sequence)
        evidence = tuple(
            breach.evidence
            for breach in self.session.broken(self.plan, contract, probe_run.history)
            if breach.obligation == finding.obligation
        )
        reason = f"found by random search ({how})"
        if evidence:
            standing = Standing.VIOLATES
            reason += f", in a sequence of {len(finding.sequence)} steps: {weigh(evidence)[1]}"
        else:
            standing = Standing.INDETERMINATE
            reason += " but not reproduced: the target is not deterministic"
        verdict = Verdict(
            obligation=finding.obligation,
            standing=standing,
            reason=reason,
            evidence=evidence,
            calls=len(probe_run.history.exchanges),
        )
        self.session.record_finding(verdict, FindingSource(trial=name, replay=path))

    def _recorded_answer(
        self, finding: DocumentFinding, contract: str, number: int
    ) -> dict[str, object]:
        """Replay an answer that the exported document does not allow, and return its record."""
        trial = f"{contract}/schema#{finding.operation}-{number}"
        bound = self.plan.contracts[contract]
        exchanges = self.session.replay(trial, bound, finding.sequence).history.exchanges
        last = exchanges[-1] if exchanges else None
        again = finding.again(last) if last else None
        bounded = self.session.journal.redactor.bounded
        says = again.says if again else "not shown again: the target is not deterministic"
        return {
            "operation": finding.operation,
            "clauses": [*finding.clauses],
            "says": bounded(says, 1_000),
            "case": bounded(finding.case, 400),
            "trial": trial,
            "exchange": last.n if last else 0,
        }

    def _record(
        self,
        request: SearchRequest,
        result: SearchResult,
        findings: Iterable[tuple[FuzzFinding, Path | None]],
    ) -> dict[str, object]:
        return {
            "contract": request.contract,
            "how": request.how,
            "operation": request.operation,
            "made": result.sequences,
            "exchanges": result.exchanges,
            "seconds": round(result.seconds, 3),
            "seed": self.session.options.seed,
            "findings": [
                {
                    "obligation": finding.obligation,
                    "steps": len(finding.sequence),
                    **({"sequence": f"{SEQUENCES}/{path.name}"} if path else {}),
                }
                for finding, path in findings
            ],
            "notes": [self.session.journal.redactor.bounded(note, 400) for note in result.notes],
        }


# -- the ways of searching ---------------------------------------------------------
def run_field_tests(search: Search, on_finding: OnFinding) -> SearchResult:
    """Run requests with varied fields, each beside its control."""
    target = search.environment.target
    strategy = field_sequences(
        search.whole or search.plan,
        search.contract,
        target if search.limits.signs else replace(target, sca=Sca()),
        actions=search.actions(),
        reads=search.limits.reads,
    )
    return search.result() if strategy is None else search.run_strategy(strategy, on_finding)


def run_schema_cases(search: Search, on_finding: OnFinding) -> SearchResult:
    """Run the cases that Schemathesis makes from the exported OpenAPI document."""
    from assay.fuzzing.schema.search import run_schema  # noqa: PLC0415 -- only for this search

    return run_schema(search, on_finding)


#: The ways of searching, by name.
SEARCH_METHODS: Mapping[str, SearchMethod] = {
    "journeys": Search.run_machine,
    "fields": run_field_tests,
    "schema": run_schema_cases,
}


def run_search(
    session: Session,
    request: SearchRequest,
    *,
    plan: Plan,
    whole: Plan,
    bound: Sequence[BoundContract],
    folder: Path | None = None,
    examples: Examples | None = None,
) -> SearchResult:
    """Run one search of a session, for the command line and for pytest.

    `plan` is what the run tests, `whole` the plan of all obligations of the contracts `bound`.
    Sequences are written to `folder` and kept in `examples`, if given.

    Raises:
        TargetError: the target cannot be reached or used at all.
        JournalError: the record cannot be written any more.

    """
    searches = SearchSession(
        session=session, plan=plan, whole=whole, bound=bound, folder=folder, examples=examples
    )
    return searches.search(request)


# -- one recorded sequence ---------------------------------------------------------
def replayed(plan: Plan, sequences: Iterable[RecordedSequence]) -> Plan:
    """Return the part of a plan that these sequences are about, without trials.

    Raises:
        InputError: a sequence is about an obligation that the plan does not have.

    """
    names: set[str] = set()
    planned = {item.obligation.id for item in plan.items}
    for recorded in sequences:
        for name in recorded.breaks:
            if name not in planned:
                hint = did_you_mean(name, planned) or "check the version of the contract"
                raise InputError.one(recorded.path, f"there is no obligation {name}", hint=hint)
        names |= set(recorded.breaks)
    return replace(restrict(plan, names), trials=())


def replay(session: Session, plan: Plan, recorded: RecordedSequence) -> None:
    """Replay a recorded sequence, and judge only the obligations that it is about.

    Raises:
        TargetError: the target's fixture provider cannot be used at all.

    """
    contract = plan.contracts[recorded.contract]
    trial = f"sequence:{recorded.name}"
    probe_run = session.replay(trial, contract, recorded.steps, seed=recorded.seed)
    for name in recorded.breaks:
        obligation = next(item.obligation for item in plan.items if item.obligation.id == name)
        check = partial(evidence_of, plan.clauses[recorded.contract][obligation.clause].kind)
        (verdict,) = judge(check, (obligation,), probe_run, clauses_of(contract))
        session.record_finding(verdict, FindingSource(trial=trial, replay=Path(recorded.path)))
