"""Second judgement of a recorded run, and comparison of each verdict with the recorded one.

A verdict that the exchanges do not show differs. What exchanges alone cannot show is said to be not
re-judged, with the reason: an obligation that the run left out, a trial that ended early, a value
that the journal shortens. A time, a reason in words, or what a search tried is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.attestation.findings import VerificationFinding, differs, not_rejudged
from assay.attestation.plan_check import CheckedPlan
from assay.attestation.recorded_run import WrittenEvidence, WrittenRun, WrittenVerdict
from assay.binding.target import Target
from assay.judging.verdict import DECIDED, OPEN, Agreement, Standing, Verdict
from assay.judging.waivers import WaiverResult
from assay.planning.plan import Disposition, Planned
from assay.traffic.evidence_summary import MAX_EVIDENCE
from assay.traffic.journal_trials import read_trials
from assay.traffic.judge import Judge

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
    histories = read_trials(path).histories
    judge = Judge(plan=checked.plan, target=target, party=checked.party, today=run.day)
    conclusion = judge.judge(histories, stopped=not run.report.complete).conclusion
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
    exchanges = sum(len(named.history.exchanges) for named in histories)
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
    recorded: WrittenVerdict
    again: Verdict

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

    def _decisive(self, standing: Standing) -> list[WrittenEvidence]:
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
        return differs(self.item.obligation.id, f"{what}{why}", self.recorded.line)

    def _not_rejudged(self, why: str) -> VerificationFinding:
        what = f"{self.recorded.standing.value}: {why}"
        return not_rejudged(self.item.obligation.id, what, self.recorded.line)

    def _evidence_findings(self) -> Iterator[VerificationFinding]:
        """Yield the first piece of evidence that the exchanges contradict."""
        name, line = self.item.obligation.id, self.recorded.line
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
        return sum(self._is_unshown(each, again) for each in self.recorded.evidence)

    @staticmethod
    def _is_unshown(piece: WrittenEvidence, again: dict[tuple[int, ...], set[Agreement]]) -> bool:
        return piece.exchanges not in again
