"""Verification of a run, and its signing: the chain of lines, the signature, every verdict judged again.

Without a key this shows that a journal agrees with itself, with the contracts and with the target
file. A forger can also write a whole journal that agrees with itself, exchanges included. So only a
signature shows that it is the journal of the signer, whose word its exchanges are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from assay import __version__
from assay.binding.model.target import Target
from assay.binding.read.join import BoundContract, bind
from assay.contract.model import Party
from assay.errors import Exit, InputError, JournalError
from assay.extras.attestation.envelope import sign
from assay.extras.attestation.inputs import (
    FindingKind,
    FoundInputs,
    VerificationFinding,
    WrittenRun,
    differs,
    find_inputs,
    not_rejudged,
    read_run,
)
from assay.extras.attestation.statement import (
    ATTESTATION,
    CheckedAttestation,
    check_attestation,
    compare_statement,
    encode_statement,
    make_statement,
)
from assay.journal.journal_file import journal_at
from assay.journal.lines import Line, chain_breaks, is_chained
from assay.journal.writer import now, planned
from assay.judging.exit_policy import ExitPolicy, RunFacts, decide_exit
from assay.judging.waivers import WaiverResult
from assay.planning.plan import Disposition, Plan, Planned, plan
from assay.preparation.prepare import selector
from assay.report import decode
from assay.rules.obligation import bound_clauses
from assay.rules.verdict import DECIDED, OPEN, Agreement, Evidence, Standing, Verdict
from assay.traffic.journal_trials import is_journal, read_trials
from assay.traffic.judge import MAX_EVIDENCE, Judge
from assay.traffic.session import plan_recording

#: How many breaks of a chain are listed at most.
_MOST_BREAKS = 20


class VerificationResult(Enum):
    """The result of a verification; the value is the word used in every output."""

    VERIFIED = "verified"
    DIFFERS = "differs"
    PARTIAL = "partly verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was verified, and what was found.

    `attestation` is None where no key was given; `attested` says whether there is an attestation.
    """

    journal: Path
    run: WrittenRun | None
    rejudged: Rejudged | None
    attested: bool
    attestation: CheckedAttestation | None
    findings: tuple[VerificationFinding, ...]
    notes: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[VerificationFinding, ...]:
        """What differs."""
        return tuple(each for each in self.findings if each.kind is FindingKind.DIFFERS)

    @property
    def open(self) -> tuple[VerificationFinding, ...]:
        """What was not judged again."""
        return tuple(each for each in self.findings if each.kind is FindingKind.NOT_REJUDGED)

    @property
    def result(self) -> VerificationResult:
        """The result of all findings."""
        if self.differences:
            return VerificationResult.DIFFERS
        return VerificationResult.PARTIAL if self.open else VerificationResult.VERIFIED

    @property
    def verdicts(self) -> int:
        """How many verdicts were judged again and are the same."""
        if self.run is None or self.rejudged is None:
            return 0
        return len(self.run.plan.keys() - {each.where for each in self.findings})


def journal_in(path: Path) -> Path:
    """Return the journal in the folder of a run, or the given file.

    Raises:
        InputError: there is no journal.

    """
    journal = journal_at(path)
    if not is_journal(journal):
        hint = "pass the folder of a run, or its journal"
        raise InputError.one(str(journal), "this is not a journal of Assay", hint=hint)
    return journal


def verify(
    journal: Path,
    *,
    contracts: Sequence[str] = (),
    target: str | None = None,
    waivers: Path | None = None,
    key: Ed25519PublicKey | None = None,
) -> Verification:
    """Verify a journal, and with a key the attestation beside it.

    Raises:
        InputError: a given file cannot be used, or there is no attestation to check.

    """
    attestation = journal.parent / ATTESTATION
    checked = None
    if key is not None:
        checked = check_attestation(attestation, journal, key)
    findings = [*(checked.findings if checked else ()), *_line_findings(journal)]
    notes: list[str] = [checked.note] if checked and checked.note else []
    run = rejudged = None
    try:
        run = read_run(journal)
        if checked is not None:
            findings += compare_statement(checked, run.report, attestation)
        findings += exit_findings(run)
        inputs = find_inputs(run, contracts, target, waivers)
        rejudged, judged_findings = _rejudge(journal, run, inputs)
        findings += judged_findings
        notes += _notes(run, rejudged)
    except JournalError as error:
        findings.append(differs(journal.name, str(error).removeprefix(f"{journal}:").strip()))
    return Verification(
        journal=journal,
        run=run,
        rejudged=rejudged,
        attested=attestation.exists(),
        attestation=checked,
        findings=tuple(dict.fromkeys(findings)),
        notes=tuple(notes),
    )


def _line_findings(journal: Path) -> Iterator[VerificationFinding]:
    """Yield where lines were changed, removed, inserted or moved."""
    name = str(journal)
    try:
        with journal.open("rb") as stream:
            if not is_chained(stream, name):
                what = "its lines have no hash chain: it was written by an older version of Assay"
                yield not_rejudged(journal.name, what)
                return
            stream.seek(0)
            breaks = [*islice(chain_breaks(stream, name), _MOST_BREAKS + 1)]
    except JournalError as error:
        yield differs(journal.name, str(error).removeprefix(f"{journal}:").strip())
        return
    for each in breaks[:_MOST_BREAKS]:
        yield differs(f"{journal.name}:{each.line}", f"this line {each.what}", each.line)
    if breaks[_MOST_BREAKS:]:
        yield differs(journal.name, "more lines are changed, missing or out of order")


def _rejudge(
    journal: Path, run: WrittenRun, inputs: FoundInputs
) -> tuple[Rejudged | None, list[VerificationFinding]]:
    findings = [differs(name, what) for name, what in inputs.other.items()]
    findings += [not_rejudged(name, what) for name, what in inputs.missing.items()]
    if run.quoted:
        what = "`assay judge` recorded only the cited exchanges; judge the original recording again"
        findings.append(not_rejudged("verdicts", what))
    if run.quoted or not inputs.complete or inputs.target is None:
        return None, findings
    checked = check_plan(run, inputs, inputs.target)
    rejudged = rejudge(journal, run, checked, inputs.target)
    return rejudged, [*findings, *checked.findings, *rejudged.findings]


def _notes(run: WrittenRun, rejudged: Rejudged | None) -> Iterator[str]:
    version = run.report.header.version
    if version != __version__:
        yield f"recorded with Assay {version:.40}, judged again with {__version__}"
    if rejudged and rejudged.unshown:
        yield (
            f"{rejudged.unshown} pieces of evidence depend on values that the journal shortens or"
            " hides; other evidence for the same verdicts was judged again"
        )


# -- Check of a recorded exit code: it must be that of the recorded verdicts and waivers ---------
# Which options a user gave decides between success and an incomplete run, so both are accepted where
# either is possible. What depends on another run, the baseline, cannot be decided here.
#: Options of a run whose effect on the exit code is not known from its journal.
_ELSEWHERE = ("baseline", "min_verified")
_POLICIES = (ExitPolicy(), ExitPolicy(allow_incomplete=True))


def exit_findings(run: WrittenRun) -> Iterator[VerificationFinding]:
    """Yield what the footer says otherwise than the verdicts."""
    report = run.report
    if report.footer is None or not report.complete:
        yield not_rejudged("footer", "the run has not ended: its verdicts are preliminary")
        return
    results = report.results
    facts = RunFacts(
        verdicts={each.planned.id: each.standing for each in results},
        musts={each.planned.id for each in results if each.planned.level == "must"},
        waivers=report.waivers,
        faults=len(report.faults),
        elsewhere=[each.planned.id for each in report.elsewhere if each.violated],
        part=bool(report.header.shard),
    )
    known = {decide_exit(facts, policy).exit for policy in _POLICIES}
    if Exit.OK in known:
        known.add(Exit.INCOMPLETE)  # a run that was stopped
    exits = sorted(each.value for each in known)
    if report.footer.exit in exits:
        return
    what = f"exit code {report.footer.exit}, by the verdicts {' or '.join(map(str, exits))}"
    if run.is_merged or any(run.invocation.get(name) for name in _ELSEWHERE):
        yield not_rejudged("footer", f"{what}; it may depend on a baseline or on --min-verified")
    else:
        yield differs("footer", what)


# -- Second judgement of a recorded run, and comparison of each verdict with the recorded one ----
# A verdict that the exchanges do not show differs. What exchanges alone cannot show is said to be not
# re-judged, with the reason: an obligation that the run left out, a trial that ended early, a value
# that the journal shortens. A time, a reason in words, or what a search tried is not compared.
#: The agreement of the evidence that decides a verdict.
_DECISIVE = {Standing.VIOLATES: Agreement.DISAGREES, Standing.CONFORMS: Agreement.AGREES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """The findings, and how many exchanges they are from.

    `unshown` counts the pieces of evidence that are not judged again, though their verdict is.
    """

    exchanges: int
    unshown: int
    findings: tuple[VerificationFinding, ...]


def rejudge(path: Path, run: WrittenRun, checked: CheckedPlan, target: Target) -> Rejudged:
    """Judge a run again from its exchanges, and compare.

    Raises:
        JournalError: an exchange is damaged.

    """
    trials = read_trials(path)
    judge = Judge(plan=checked.plan, target=target, party=checked.party, today=run.day)
    conclusion = judge.judge(trials.histories, stopped=trials.unfinished).conclusion
    again = {verdict.obligation: verdict for verdict in conclusion.verdicts}
    findings: list[VerificationFinding] = []
    unshown = 0
    for item in checked.plan.items:
        name = item.obligation.id
        recorded = run.results.get(name)
        if recorded is None:
            findings.append(not_rejudged(name, "the run ended before it had a verdict"))
            continue
        comparison = _Comparison(run=run, item=item, recorded=recorded, again=again[name])
        findings += comparison.findings()
        unshown += comparison.unshown()
    if not findings and not run.is_part:
        findings += _waiver_findings(run.report.waivers, conclusion.waivers)
    exchanges = sum(len(named.history.exchanges) for named in trials.histories)
    return Rejudged(exchanges=exchanges, unshown=unshown, findings=tuple(findings))


def _waiver_findings(
    recorded: Sequence[WaiverResult], again: Sequence[WaiverResult]
) -> Iterator[VerificationFinding]:
    """Yield the waivers whose recorded state is not that which follows from the verdicts."""
    states = {each.name: each.state.value for each in again}
    written = {each.name: each.state.value for each in recorded}
    for name in dict.fromkeys((*states, *written)):
        if written.get(name) != states.get(name):
            what = f"recorded as {written.get(name, 'missing')}"
            yield differs(
                f"waiver of {name}", f"{what}, by the verdicts {states.get(name, 'none')}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """A verdict as it is written beside the same verdict as the exchanges give it."""

    run: WrittenRun
    item: Planned
    recorded: Verdict
    again: Verdict

    @property
    def _line(self) -> int:
        return self.run.report.lines.written[self.recorded.obligation].number

    def findings(self) -> Iterator[VerificationFinding]:
        """Yield what differs, and what cannot be compared."""
        recorded, again = self.recorded, self.again
        if recorded.standing is again.standing is not Standing.UNVERIFIED:
            yield from self._evidence_findings()
        elif recorded.standing is again.standing and self._unverified_alike():
            return
        elif self._decided_by_plan() or not self._open_for_a_reason():
            if self._rests_on_hidden():
                what = "its evidence depends on values that the journal shortens or hides"
                yield self._not_rejudged(what)
            elif self._was_corrected():
                yield self._not_rejudged(f"{recorded.reason}; the exchanges alone do not show this")
            else:
                yield self._differs()
        elif not self._is_tested_whole():
            shown = "; its exchanges show a violation" * (again.standing is Standing.VIOLATES)
            yield self._not_rejudged((recorded.reason or "its trial was not judged") + shown)

    def _decided_by_plan(self) -> bool:
        return self.item.disposition is not Disposition.ASK

    def _unverified_alike(self) -> bool:
        """Whether an obligation is unverified by the plan, or by what judges recordings."""
        by_judge = self.run.of_judge and self.recorded.reason == self.again.reason
        return by_judge or self._decided_by_plan()

    def _open_for_a_reason(self) -> bool:
        """Whether a verdict was left open, and the exchanges do not contradict that."""
        if self.recorded.standing not in OPEN:
            return False
        return self.again.standing in OPEN or self.item.obligation.trial in self.run.unjudged

    def _is_tested_whole(self) -> bool:
        """Whether the trial was tested to its end, and just does not decide."""
        trial = self.item.obligation.trial
        tested = trial in self.run.trials and trial not in self.run.unjudged
        return tested and self.recorded.standing is Standing.INDETERMINATE

    def _decisive(self, standing: Standing) -> list[Evidence]:
        """Return the written evidence that decides for a verdict, all of whose exchanges are there."""
        agreement = _DECISIVE.get(standing)
        return [
            each
            for each in self.recorded.evidence
            if each.agreement is agreement and self.run.exchanges.issuperset(each.exchanges)
        ]

    def _rests_on_hidden(self) -> bool:
        """Whether a decided verdict may rest on what the journal does not show as it was.

        A check that cannot recognise a value leaves the verdict open. Only of a sent value is it
        known that it is hidden, so only that excuses a violation where the rest conforms.
        """
        decisive = self._decisive(self.recorded.standing)
        if self.again.standing in OPEN:
            return bool(decisive) and not self._decided_by_plan()
        hidden = all(not self.run.hidden.isdisjoint(each.exchanges) for each in decisive)
        return bool(decisive) and hidden and self.again.standing is Standing.CONFORMS

    def _was_corrected(self) -> bool:
        """Whether a resumed run took a verdict back for what its abandoned lines had shown."""
        left_open = self.recorded.standing is Standing.INDETERMINATE
        return bool(self.run.resumed) and left_open and bool(self._decisive(self.again.standing))

    def _differs(self) -> VerificationFinding:
        again = self.again
        why = f": {again.reason}" if again.reason else ""
        if again.standing is Standing.UNVERIFIED and self.recorded.standing in DECIDED:
            why = ": no recorded exchange shows it"
        what = f"recorded as {self.recorded.standing.value}, judged again as {again.standing.value}"
        return differs(self.item.obligation.id, f"{what}{why}", self._line)

    def _not_rejudged(self, why: str) -> VerificationFinding:
        what = f"{self.recorded.standing.value}: {why}"
        return not_rejudged(self.item.obligation.id, what, self._line)

    def _evidence_findings(self) -> Iterator[VerificationFinding]:
        """Yield the first piece of evidence that the exchanges contradict."""
        name, line = self.item.obligation.id, self._line
        again = self._agreements()
        for piece in self.recorded.evidence:
            absent = [n for n in piece.exchanges if n not in self.run.exchanges]
            if absent:
                yield differs(name, f"its evidence is exchange {absent[0]}, not recorded", line)
                return
            if piece.exchanges in again and piece.agreement not in again[piece.exchanges]:
                word = next(iter(again[piece.exchanges])).value
                what = f"exchange {piece.exchanges[-1]} is recorded as {piece.agreement.value}"
                yield differs(name, f"{what}, judged again as {word}", line)
                return

    def _agreements(self) -> dict[tuple[int, ...], set[Agreement]]:
        again: dict[tuple[int, ...], set[Agreement]] = {}
        for evidence in self.again.evidence:
            again.setdefault(evidence.exchanges, set()).add(evidence.agreement)
        return again

    def unshown(self) -> int:
        """Return how many pieces of evidence were not judged again."""
        again = self._agreements()
        if len(self.again.evidence) >= MAX_EVIDENCE:
            return 0  # only the first pieces were kept
        return sum(each.exchanges not in again for each in self.recorded.evidence)


# -- Check of a recorded plan: it must follow from the contracts and the target file -------------
# A forger may leave out an obligation that is violated, or say that the bank does not offer it.
#: What a plan line says that the run itself decides, or a dry run of it.
OF_THE_RUN = frozenset({"calls", "disposition", "reason"})
#: What a plan decides for good: no option of a run changes it.
_DECIDED = frozenset({Disposition.UNSPECIFIED, Disposition.NOT_APPLICABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPlan:
    """The recorded plan, made again from contracts and target file, and what does not fit."""

    plan: Plan
    party: Party
    findings: tuple[VerificationFinding, ...]


def check_plan(run: WrittenRun, inputs: FoundInputs, target: Target) -> CheckedPlan:
    """Compare the plan of a run with the one that its files give, and return it to be judged.

    Raises:
        InputError: contracts and target file do not fit together.

    """
    party = Party(run.report.header.party) if run.report.header.party in _PARTIES else Party.BANK
    bound = bind(list(inputs.contracts.values()), target)
    known = _expected(run, bound, target, party)
    findings = [*_compare(run, known), *_left_out(run, known)]
    items = tuple(
        _as_recorded(known[name], line) for name, line in run.plan.items() if name in known
    )
    made = Plan(
        items=items,
        trials=(),
        clauses={each.contract.id: bound_clauses(each.contract) for each in bound},
        contracts={each.contract.id: each.contract for each in bound},
    )
    return CheckedPlan(plan=made, party=party, findings=tuple(findings))


_PARTIES = frozenset(each.value for each in Party)


def _expected(
    run: WrittenRun, bound: Sequence[BoundContract], target: Target, party: Party
) -> Mapping[str, Planned]:
    made = plan_recording(bound, target, party) if run.of_judge else plan(bound, target)
    return {item.obligation.id: item for item in made.items}


def _as_recorded(item: Planned, line: Line) -> Planned:
    """Return an obligation as it was planned: options of the run may have changed what is tested."""
    return Planned(
        obligation=item.obligation,
        disposition=decode.disposition(line),
        reason=line.text("reason", ""),
    )


def _compare(run: WrittenRun, known: Mapping[str, Planned]) -> Iterator[VerificationFinding]:
    for name, line in run.plan.items():
        item = known.get(name)
        if item is None:
            yield differs(name, "is not an obligation of these contracts", line.number)
            continue
        expected = json.loads(json.dumps(planned(item)))
        for key in expected.keys() - OF_THE_RUN:
            if line.values.get(key) != expected[key]:
                what = f"its plan says something else than the contract: {key!r}"
                yield differs(name, what, line.number)
                break
        else:
            yield from _compare_disposition(name, line, item)


def _compare_disposition(name: str, line: Line, item: Planned) -> Iterator[VerificationFinding]:
    recorded, reason = decode.disposition(line), line.text("reason", "")
    if recorded is item.disposition and (recorded is Disposition.ASK or reason == item.reason):
        return
    if recorded in _DECIDED or item.disposition in _DECIDED:
        made = f"{item.disposition.value} ({item.reason})" if item.reason else "tested"
        what = f"the plan says {recorded.value}; by contract and target file it is {made}"
        yield differs(name, what, line.number)
    elif recorded is Disposition.UNVERIFIED:
        yield not_rejudged(name, f"the run skipped it: {reason}", line.number)


def _left_out(run: WrittenRun, known: Mapping[str, Planned]) -> Iterator[VerificationFinding]:
    """Yield what the plan lacks of all that was selected."""
    options = run.invocation
    selection = run.report.header.selection
    try:
        select = selector(selection.get("k", ""), selection.get("m", ""))
    except InputError:
        yield differs("selection", "the recorded selection (-k, -m) cannot be read", 1)
        return
    selected = {name for name, item in known.items() if select(item.obligation)}
    lacking = sorted(selected - run.plan.keys() - run.report.lines.elsewhere.keys())
    if not lacking:
        return
    if options.get("replays") or not (options or run.of_judge):
        what = "the journal does not say which obligations were selected"
        yield not_rejudged("selection", f"{what}: {len(lacking)} are not in its plan")
        return
    for name in lacking:
        yield differs(name, "was selected but is not in the plan")


# -- Signing of a run: verify it first, then write the statement about it next to the journal -
def sign_run(
    verification: Verification, key: Ed25519PrivateKey, reports: Iterable[str]
) -> tuple[Path, int]:
    """Sign a run that was verified, with those of the named reports that are beside its journal.

    Return the path of the attestation, and how many subjects it has.

    Raises:
        InputError: the run differs or has not ended, or an attestation is there already.

    """
    journal, run = verification.journal, verification.run
    if run is None or verification.differences:
        raise InputError.one(str(journal), "not signed: the verification found differences")
    if not run.report.complete:
        hint = "`assay run --resume` continues a run"
        raise InputError.one(str(journal), "not signed: the run has not ended", hint=hint)
    folder = journal.parent
    names = [*reports, *(f"sequences/{each.name}" for each in folder.glob("sequences/*.json"))]
    files = [folder / name for name in sorted(names) if (folder / name).is_file()]
    statement = make_statement(run.report, journal, files, attested=now())
    path = folder / ATTESTATION
    try:
        with path.open("xb") as out:
            out.write(sign(encode_statement(statement), key))
    except FileExistsError:
        hint = "remove it to sign the run again"
        raise InputError.one(str(path), "there is already an attestation", hint=hint) from None
    except OSError as error:
        raise InputError.one(str(path), f"cannot be written: {error.strerror}") from None
    return path, len(statement["subject"])
