"""Random search as a part of a run: its findings become verdicts in the journal.

`search` finds violations. Here, sequences saved by earlier runs are tried first; each
finding is written to a file, saved, and replayed once with the journal recording, so
that its verdict has evidence. A single recorded sequence is replayed the same way
(`replay`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from assay.binding.model.target import Sca, Target
from assay.binding.read.join import BoundContract
from assay.contexts.context import Context, in_context
from assay.contexts.dimensions import dimensions
from assay.errors import CannotArrange, InputError, JournalError, TargetError, did_you_mean
from assay.files.document import file_name
from assay.fuzzing import LIVES
from assay.fuzzing.fields import field_sequences
from assay.fuzzing.findings import (
    DocumentFinding,
    FuzzFinding,
    SearchRequest,
    SearchResult,
    situation,
)
from assay.fuzzing.limits import SearchLimits, limits_of
from assay.fuzzing.lives import run_lives
from assay.fuzzing.search import Search, allowed_actions, has_fresh_customers
from assay.fuzzing.search_coverage import value_named
from assay.fuzzing.sequences.concretize import script
from assay.fuzzing.sequences.sequence_file import (
    Examples,
    RecordedSequence,
    foreign_names,
    write,
)
from assay.history import History
from assay.history.events import ProbeRun
from assay.journal.codec import TrialEnd, VerdictSource
from assay.judging.judge import judge
from assay.planning.plan import Plan, restrict
from assay.rules.checks import evidence_of
from assay.rules.rule import facts_of
from assay.rules.verdict import Evidence, Standing, Verdict, weigh
from assay.running.session import Session

#: The folder of recorded sequences, beside the journal.
SEQUENCES = "sequences"
#: A run that was not made, for the search had ended.
ENDED = ProbeRun(history=History(), stopped="ended")
#: Receives each finding of a search.
OnFinding: TypeAlias = Callable[[FuzzFinding], None]
#: Generates and runs the sequences of a search, and passes on each finding.
SearchMethod: TypeAlias = Callable[[Search, OnFinding], SearchResult]


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

        The limits are those of the target, unless others are given. Whatever ends a search, what it
        found is recorded: as the search saw it, where nothing can be sent any more.

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
            strength=request.times if how == LIVES else 0,
            beside=session.beside,
            taken=session.recorder.take_up,
        )
        findings: list[tuple[FuzzFinding, Path | None]] = []

        def keep(finding: FuzzFinding) -> None:
            findings.append((finding, self._save(finding, contract, how)))

        try:
            result = self._searched(search, request, keep)
        except KeyboardInterrupt:
            for finding, path in findings:
                self._record_verdict(finding, contract, how, path, again=False)
            raise
        for finding, path in findings:
            self._record_verdict(finding, contract, how, path, again=not search.stopped)
        documented = [
            self._recorded_answer(finding, contract, number, again=not search.stopped)
            for number, finding in enumerate(result.documented, 1)
        ]
        record = self._record(request, result, findings) | {"documented": documented}
        if search.stopped:  # a resumed run searches again
            record["stopped"] = session.journal.redactor.bounded(search.stopped, 400)
        session.journal.write("search", record)
        session.end_trial(TrialEnd(trial=f"{contract}/{how}"))
        return result

    def _searched(self, search: Search, request: SearchRequest, keep: OnFinding) -> SearchResult:
        """Search until something ends it; the notes say what did."""
        session = self.session
        try:
            if not search.limits.reads and not has_fresh_customers(search):
                search.restrict(limits_of(session.environment.target, request.times, fresh=False))
            self._retry_saved(search, request.contract, keep)
            result = SEARCH_METHODS[request.how](search, keep)
        except JournalError:
            raise
        except (TargetError, CannotArrange) as error:
            search.fail(error)
            result = search.result()
        except Exception as error:  # noqa: BLE001 -- a fault of the harness must not end the run
            session.fault(f"{request.contract}/{request.how}", error)
            result = search.result()
        if search.failed:  # no other search gets any further, and the run has ended early
            guard = session.environment.guard
            guard.stopped = guard.stopped or session.journal.redactor.bounded(search.failed, 400)
        reads = f"only reads: {search.limits.restricted}" if search.limits.reads else ""
        ended = f"ended early: {search.stopped}" if search.stopped else ""
        return replace(result, notes=(*filter(None, [reads, ended]), *result.notes))

    def _retry_saved(
        self, search: Search, contract: str, keep: Callable[[FuzzFinding], None]
    ) -> None:
        """Try the saved sequences first: what they violated may be violated again."""
        if self.examples is None or search.limits.reads:
            return
        for recorded in self.examples.sequences(contract):
            if foreign_names(recorded, search.plan.contracts[contract]):
                continue  # of another version of the contract
            values = [value_named(name, search.reach.dimensions) for name in recorded.context]
            context = tuple(value for value in values if value is not None)
            if len(context) < len(values):
                continue  # this target cannot show it
            findings = search.retry(recorded.steps, context)
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
            context=tuple(value.id for value in finding.context),
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
        self, finding: FuzzFinding, contract: str, how: str, path: Path | None, *, again: bool
    ) -> None:
        """Record a finding's verdict, with its sequence: performed again, or else as it was seen."""
        name = f"{contract}/{how}#{finding.obligation.partition('/')[2]}"
        probe_run = self._replayed(name, contract, finding) if again else ENDED
        evidence = self._evidence(finding, contract, probe_run)
        if probe_run.stopped and not evidence:
            name += "#seen"
            probe_run = self.session.record_run(name, finding.seen)
            evidence = self._evidence(finding, contract, probe_run)
        reason = "found in a life" if how == LIVES else f"found by random search ({how})"
        if evidence:
            standing = Standing.VIOLATES
            size = f"{len(finding.sequence)} steps{situation(finding.context)}"
            reason += f", in a sequence of {size}: {weigh(evidence)[1]}"
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
        self.session.record_finding(verdict, VerdictSource(trial=name, replay=str(path or "")))

    def _evidence(
        self, finding: FuzzFinding, contract: str, probe_run: ProbeRun
    ) -> tuple[Evidence, ...]:
        """Return how a run violates the obligation of a finding."""
        return tuple(
            breach.evidence
            for breach in self.session.broken(self.plan, contract, probe_run.history)
            if breach.obligation == finding.obligation
        )

    def _replayed(
        self, name: str, contract: str, finding: FuzzFinding | DocumentFinding
    ) -> ProbeRun:
        """Perform the sequence of a finding once more, for the record."""
        bound = self.plan.contracts[contract]
        steps = in_context(script(finding.sequence, bound.zone), finding.context)
        try:
            return self.session.replay(name, bound, steps)
        except TargetError as error:
            return ProbeRun(history=History(), stopped=str(error))

    def _recorded_answer(
        self, finding: DocumentFinding, contract: str, number: int, *, again: bool
    ) -> dict[str, object]:
        """Replay an answer that the exported document does not allow, and return its record."""
        trial = f"{contract}/schema#{finding.operation}-{number}"
        probe_run = self._replayed(trial, contract, finding) if again else ENDED
        exchanges = probe_run.history.exchanges
        last = exchanges[-1] if exchanges else None
        remark = finding.again(last) if last else None
        bounded = self.session.journal.redactor.bounded
        lost = "not performed again" if probe_run.stopped else "the target is not deterministic"
        says = remark.says if remark else f"not reproduced: {lost} ({finding.remark.says})"
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
            **asdict(result.reached),
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
        actions=allowed_actions(search),
        reads=search.limits.reads,
    )
    return search.result() if strategy is None else search.run_drawn(strategy, on_finding)


def run_schema_cases(search: Search, on_finding: OnFinding) -> SearchResult:
    """Run the cases that Schemathesis makes from the exported OpenAPI document."""
    from assay.fuzzing.schema.search import run_schema  # noqa: PLC0415 -- only for this search

    return run_schema(search, on_finding)


#: The ways of searching, by name.
SEARCH_METHODS: Mapping[str, SearchMethod] = {
    LIVES: run_lives,
    "journeys": Search.run_actions,
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
def replayed(plan: Plan, sequences: Iterable[RecordedSequence], target: Target) -> Plan:
    """Return the part of a plan that these sequences are about, without trials.

    Raises:
        InputError: a sequence is about an obligation that the plan does not have, names what its
            contract does not have, or has a context that the target cannot show.

    """
    names: set[str] = set()
    planned = {item.obligation.id for item in plan.items}
    for recorded in sequences:
        for name in recorded.breaks:
            if name not in planned:
                hint = did_you_mean(name, planned) or "check the version of the contract"
                raise InputError.one(recorded.path, f"there is no obligation {name}", hint=hint)
        problems = foreign_names(recorded, plan.contracts[recorded.contract])
        if problems:
            raise InputError(problems)
        names |= set(recorded.breaks)
        _context(recorded, plan, target)
    return replace(restrict(plan, names), trials=())


def replay(session: Session, plan: Plan, recorded: RecordedSequence) -> None:
    """Replay a recorded sequence, and judge only the obligations that it is about.

    Raises:
        TargetError: the target's fixture provider cannot be used at all.

    """
    contract = plan.contracts[recorded.contract]
    trial = f"sequence:{recorded.name}"
    context = _context(recorded, plan, session.environment.target)
    steps = in_context(script(recorded.steps, contract.zone), context)
    probe_run = session.replay(trial, contract, steps, seed=recorded.seed)
    for name in recorded.breaks:
        obligation = next(item.obligation for item in plan.items if item.obligation.id == name)
        kind = plan.clauses[recorded.contract][obligation.clause].kind
        check, facts = partial(evidence_of, kind), facts_of(contract)
        target = session.environment.target
        (verdict,) = judge(check, (obligation,), probe_run, kind, facts, target=target)
        session.record_finding(verdict, VerdictSource(trial=trial, replay=str(recorded.path)))


def _context(recorded: RecordedSequence, plan: Plan, target: Target) -> Context:
    """Return the values of dimensions in which a recorded sequence is run.

    Raises:
        InputError: the target cannot show one of them.

    """
    known = dimensions(plan.contracts[recorded.contract], target, plan.contracts.values())
    values = {name: value_named(name, known) for name in recorded.context}
    for name, value in values.items():
        if value is None:
            names = [each.id for dimension in known for each in dimension.values]
            hint = did_you_mean(name, names) or "`assay plan --verbose` lists what it can show"
            what = f"this target has no value {name} of a dimension"
            raise InputError.one(recorded.path, what, hint=hint)
    return tuple(value for value in values.values() if value is not None)
