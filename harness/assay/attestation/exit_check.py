"""Check of a recorded exit code: it must be that of the recorded verdicts and waivers.

Which options a user gave decides between success and an incomplete run, so both are accepted where
either is possible. What depends on another run, the baseline, cannot be decided here.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.attestation.findings import VerificationFinding, differs, not_rejudged
from assay.attestation.recorded_run import WrittenRun
from assay.judging.exit_policy import ExitPolicy, RunFacts, decide_exit
from assay.judging.verdict import Exit

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
