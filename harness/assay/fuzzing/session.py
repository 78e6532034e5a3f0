"""Random search as a part of a run: its findings become verdicts in the journal.

`search` finds violations. Here, sequences saved by earlier runs are tried first; each
finding is written to a file, saved, and replayed once with the journal recording, so
that its verdict has evidence. A single recorded sequence is replayed the same way
(`replay`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from assay.binding.target import Sca, ScaKind, Target, TransportKind
from assay.contract.files.document import file_name
from assay.errors import InputError, did_you_mean
from assay.execution.ambient import FindingSource
from assay.execution.session import Session
from assay.fixtures.providers import Customers, customers_of
from assay.fuzzing.fields import field_sequences
from assay.fuzzing.findings import FuzzFinding, SearchRequest, SearchResult
from assay.fuzzing.search import Search, SearchLimits
from assay.fuzzing.sequences.sequence_file import Examples, RecordedSequence, write
from assay.judging.judge import judge
from assay.judging.verdict import Standing, Verdict, weigh
from assay.planning.plan import Plan, restrict
from assay.rules.clauses import clauses_of
from assay.rules.evidence import evidence_of

#: The folder of recorded sequences, beside the journal.
SEQUENCES = "sequences"
#: Generates and runs the sequences of a search; is called back with each finding.
SearchMethod: TypeAlias = Callable[[Search, Callable[[FuzzFinding], None]], SearchResult]


def limits_of(target: Target, sequences: int) -> SearchLimits:
    """Return how far a search may go at a target.

    A bank in this process is called without restraint; over a network, a sequence is
    replayed less often to make it shorter. A live bank, or one whose fixtures are not
    created by a control API, has real customers and calls: it is only read, a little,
    and findings are not shortened, but replayed once for the record. A person who signs
    is asked for the planned signatures only.
    """
    if customers_of(target) is not Customers.CREATED or target.environment == "live":
        calls = 10 * sequences
        return SearchLimits(sequences=sequences, steps=10, tries=0, calls=calls, reads=True)
    signs = target.sca.kind is not ScaKind.MANUAL
    tries = 400 if target.transport is TransportKind.EMBEDDED else 150
    return SearchLimits(sequences=sequences, tries=tries, signs=signs)


@dataclass(slots=True, kw_only=True)
class SearchSession:
    """The searches of one run. `folder` is where sequences are written, None for nowhere.

    `plan` is what the session records, possibly a part, and `whole` the complete plan,
    whose probes supply the actions.
    """

    session: Session
    plan: Plan
    whole: Plan
    folder: Path | None = None
    examples: Examples | None = None

    def search(
        self, contract: str, how: str, limits: SearchLimits, method: SearchMethod
    ) -> SearchResult:
        """Search one contract in one way, and record the findings as verdicts.

        Raises:
            TargetError: the target's fixture provider cannot be used at all.
            JournalError: the journal cannot be written any more.

        """
        session = self.session
        search = Search(
            plan=self.plan,
            contract=self.plan.contracts[contract],
            environment=session.environment,
            limits=limits,
            seed=session.options.seed,
            whole=self.whole,
            known=session.violated(),
        )
        findings: list[tuple[FuzzFinding, Path | None]] = []

        def keep(finding: FuzzFinding) -> None:
            findings.append((finding, self._save(finding, contract, how)))

        self._retry_saved(search, contract, keep)
        result = method(search, keep)
        for finding, path in findings:
            self._record_verdict(finding, contract, how, path)
        session.journal.write("search", self._record(contract, how, result, findings))
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

    def _record(
        self,
        contract: str,
        how: str,
        result: SearchResult,
        findings: Iterable[tuple[FuzzFinding, Path | None]],
    ) -> dict[str, object]:
        return {
            "contract": contract,
            "how": how,
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
        }


def run_field_tests(search: Search, on_finding: Callable[[FuzzFinding], None]) -> SearchResult:
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


#: The ways of searching, by name.
SEARCH_METHODS: Mapping[str, SearchMethod] = {
    "journeys": Search.run_machine,
    "fields": run_field_tests,
}


def run_search(
    session: Session,
    request: SearchRequest,
    *,
    plan: Plan,
    whole: Plan,
    folder: Path | None = None,
    examples: Examples | None = None,
) -> SearchResult:
    """Run one search of a session, for the command line and for pytest.

    `plan` is what the run tests, `whole` the plan of all obligations. Sequences are written
    to `folder` and kept in `examples`, if given.

    Raises:
        TargetError: the target cannot be reached or used at all.
        JournalError: the record cannot be written any more.

    """
    limits = limits_of(session.environment.target, request.times)
    search = SearchSession(
        session=session, plan=plan, whole=whole, folder=folder, examples=examples
    )
    return search.search(request.contract, request.how, limits, SEARCH_METHODS[request.how])


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
