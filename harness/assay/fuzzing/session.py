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

from assay.binding.target import FixtureKind, Sca, ScaKind, Target, TransportKind
from assay.contract.files.document import file_name
from assay.errors import InputError, did_you_mean
from assay.execution.session import Session
from assay.fuzzing.examples import Examples
from assay.fuzzing.fields import stories
from assay.fuzzing.findings import FuzzFinding, SearchRequest, SearchResult
from assay.fuzzing.search import Search, SearchLimits
from assay.fuzzing.sequences.sequence_file import RecordedSequence, write
from assay.judging.judge import judge
from assay.judging.verdict import Standing, Verdict, weigh
from assay.planning.plan import Plan, restrict
from assay.rules.clauses import clauses_of
from assay.rules.evidence import evidence_of

#: The folder of recorded sequences, beside the journal.
STORIES = "stories"
#: Generates and runs the sequences of a search; is called back with each finding.
Maker: TypeAlias = Callable[[Search, Callable[[FuzzFinding], None]], SearchResult]


def limits_of(target: Target, journeys: int) -> SearchLimits:
    """Return how far a search may go at a target.

    A bank in this process is called without restraint; over a network, a sequence is
    replayed less often to make it shorter. A live bank, or one whose fixtures are not
    created by a control API, has real customers and calls: it is only read, a little,
    and findings are not shortened, but replayed once for the record. A person who signs
    is asked for the planned signatures only.
    """
    if target.fixtures.kind is not FixtureKind.CONTROL or target.environment == "live":
        return SearchLimits(journeys=journeys, steps=10, tries=0, calls=10 * journeys, reads=True)
    signs = target.sca.kind is not ScaKind.MANUAL
    tries = 400 if target.transport is TransportKind.EMBEDDED else 150
    return SearchLimits(journeys=journeys, tries=tries, signs=signs)


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

    def search(self, contract: str, how: str, limits: SearchLimits, maker: Maker) -> SearchResult:
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
        found: list[tuple[FuzzFinding, Path | None]] = []

        def keep(finding: FuzzFinding) -> None:
            found.append((finding, self._keep(finding, contract, how)))

        self._known(search, contract, keep)
        done = maker(search, keep)
        for finding, path in found:
            self._tell(finding, contract, how, path)
        session.journal.write("search", self._record(contract, how, done, found))
        return done

    def _known(self, search: Search, contract: str, keep: Callable[[FuzzFinding], None]) -> None:
        """Try the saved sequences first: what they violated may be violated again."""
        if self.examples is None or search.limits.reads:
            return
        for kept in self.examples.stories(contract):
            again = search.again(kept.story)
            for finding in again:
                keep(finding)
            if not again:
                self.examples.drop(kept)

    def _keep(self, finding: FuzzFinding, contract: str, how: str) -> Path | None:
        kept = RecordedSequence(
            name=f"{how} {finding.obligation}",
            contract=contract,
            breaks=(finding.obligation,),
            story=finding.story,
            seed=self.session.options.seed,
            says=f"expected {finding.breach.evidence.expected}; {finding.breach.evidence.seen}",
        )
        kept = replace(kept, says=self.session.journal.redactor.bounded(kept.says, 1_000))
        if self.examples is not None:
            self.examples.save(kept)
        if self.folder is None:
            return None
        folder = self.folder / STORIES
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{file_name(finding.obligation, 150)}.json"
        path.write_text(write(kept), encoding="utf-8")
        return path

    def _tell(self, finding: FuzzFinding, contract: str, how: str, path: Path | None) -> None:
        """Replay a finding's sequence for the record, and record its verdict."""
        name = f"{contract}/{how}#{finding.obligation.partition('/')[2]}"
        driven = self.session.replay(name, self.plan.contracts[contract], finding.story)
        evidence = tuple(
            one.evidence
            for one in self.session.broken(self.plan, contract, driven.history)
            if one.obligation == finding.obligation
        )
        calls = len(driven.history.exchanges)
        if evidence:
            said = weigh(evidence)[1]
            steps = len(finding.story)
            reason = f"found by random search ({how}), in a sequence of {steps} steps: {said}"
            standing = Standing.VIOLATES
        else:
            reason = (
                f"found by random search ({how}) but not reproduced:"
                " the target is not deterministic"
            )
            standing = Standing.INDETERMINATE
        self.session.record_finding(
            Verdict(
                obligation=finding.obligation,
                standing=standing,
                reason=reason,
                evidence=evidence,
                calls=calls,
            ),
            trial=name,
            replay=path,
        )

    def _record(
        self,
        contract: str,
        how: str,
        done: SearchResult,
        found: Iterable[tuple[FuzzFinding, Path | None]],
    ) -> dict[str, object]:
        return {
            "contract": contract,
            "how": how,
            "made": done.journeys,
            "exchanges": done.exchanges,
            "seconds": round(done.seconds, 3),
            "seed": self.session.options.seed,
            "findings": [
                {
                    "obligation": finding.obligation,
                    "steps": len(finding.story),
                    **({"story": f"{STORIES}/{path.name}"} if path else {}),
                }
                for finding, path in found
            ],
        }


def run_sequences(search: Search, on_finding: Callable[[FuzzFinding], None]) -> SearchResult:
    """Run random sequences."""
    return search.travel(on_finding)


def run_field_tests(search: Search, on_finding: Callable[[FuzzFinding], None]) -> SearchResult:
    """Run requests with varied fields, each beside its control."""
    target = search.environment.target
    told = stories(
        search.whole or search.plan,
        search.contract,
        target if search.limits.signs else replace(target, sca=Sca()),
        spoken=search.speakable(),
        reads=search.limits.reads,
    )
    return search.searched() if told is None else search.examine(told, on_finding)


#: The kinds of search, by name.
MAKERS: Mapping[str, Maker] = {"journeys": run_sequences, "fields": run_field_tests}


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
    return search.search(request.contract, request.how, limits, MAKERS[request.how])


# -- one recorded sequence -----------------------------------------------------------------
def replayed(plan: Plan, stories: Iterable[RecordedSequence]) -> Plan:
    """Return the part of a plan that these sequences are about, without trials.

    Raises:
        InputError: a sequence is about an obligation that the plan does not have.

    """
    names: set[str] = set()
    every = {item.obligation.id: item for item in plan.items}
    for kept in stories:
        for one in kept.breaks:
            if one not in every:
                hint = did_you_mean(one, every) or "check the version of the contract"
                raise InputError.one(kept.path, f"there is no obligation {one}", hint=hint)
        names |= set(kept.breaks)
    return replace(restrict(plan, names), trials=())


def replay(session: Session, plan: Plan, kept: RecordedSequence) -> None:
    """Replay a recorded sequence, and judge only the obligations that it is about.

    Raises:
        TargetError: the target's fixture provider cannot be used at all.

    """
    contract = plan.contracts[kept.contract]
    trial = f"story:{kept.name}"
    driven = session.replay(trial, contract, kept.story, seed=kept.seed)
    for name in kept.breaks:
        item = next(one for one in plan.items if one.obligation.id == name)
        applied = plan.ruled[kept.contract][item.obligation.clause]
        (verdict,) = judge(
            partial(evidence_of, applied.kind),
            (item.obligation,),
            driven,
            clauses_of(plan.contracts[kept.contract]),
        )
        session.record_finding(verdict, trial=trial, replay=Path(kept.path))
