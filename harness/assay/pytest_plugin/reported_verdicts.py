"""Verdicts that items reported, of all workers, and violations that no item reports.

A trial can show a violation of any obligation, also of one whose item has passed, or runs in
another worker. Such a violation is reported once more at the end, as an error of its item.
"""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import Any, cast

import pytest

from assay.contract.model import Level
from assay.errors import Exit
from assay.judging.exit_policy import ExitDecision, ExitPolicy, RunFacts, decide_exit
from assay.judging.waivers import covered, waiver_results
from assay.preparation.prepare import Prepared
from assay.pytest_plugin.presentation import FailureLine, FailureText, failure_of, summary_of
from assay.pytest_plugin.relay import TrialJournal
from assay.rules.verdict import OPEN, Standing
from assay.running.session import Session

#: The property of a report that carries a verdict.
PROPERTY = "verdict"
#: The key under which a worker returns the violations of its session.
OUTPUT = "assay_violations"


@dataclass(slots=True, kw_only=True)
class ReportedVerdicts:
    """The verdict on each obligation and its report; `violations` are those of all sessions."""

    standings: dict[str, Standing] = field(default_factory=dict[str, Standing])
    reports: dict[str, pytest.TestReport] = field(default_factory=dict[str, pytest.TestReport])
    open_musts: set[str] = field(default_factory=set[str])
    violations: dict[str, tuple[str, str]] = field(default_factory=dict[str, "tuple[str, str]"])
    summaries: dict[str, str] = field(default_factory=dict[str, str])

    def note(self, report: pytest.TestReport) -> str:
        """Note the verdict of an item whose teardown is over; return its obligation, then."""
        properties: Mapping[str, object] = dict(report.user_properties)
        standing = properties.get(PROPERTY)
        if report.when == "call" and report.failed and standing is not None:
            self.summaries[str(properties["obligation"])] = summary_of(report)
        if report.when != "teardown" or standing is None:
            return ""
        obligation = str(properties["obligation"])
        self.standings[obligation] = Standing(str(standing))
        self.reports[obligation] = report
        if properties.get("level") == Level.MUST.value and self.standings[obligation] in OPEN:
            self.open_musts.add(obligation)
        return obligation

    def counts(self) -> Counter[str]:
        """Return the number of obligations by their verdicts."""
        return Counter(standing.value for standing in self.standings.values())

    def decide(self, prepared: Prepared, faults: int, policy: ExitPolicy) -> ExitDecision:
        """Return the exit code that the verdicts and the waivers amount to, and why."""
        waivers = prepared.target.waivers
        items = (item.obligation for item in prepared.plan.items)
        facts = RunFacts(
            verdicts=self.standings,
            musts={each.id for each in items if each.level is Level.MUST},
            waivers=waiver_results(
                waivers, covered(waivers, prepared.plan), self.standings, datetime.now(UTC).date()
            ),
            faults=faults,
            part=prepared.plan.shard is not None,
        )
        return decide_exit(facts, policy)

    def take_in(self, output: object) -> None:
        """Take in the violations of a session."""
        self.violations |= cast("dict[str, tuple[str, str]]", output or {})

    def errors(self) -> Iterator[pytest.TestReport]:
        """Yield an error for each violation that its item does not report; it counts from now on."""
        for obligation, (summary, text) in self.violations.items():
            reported = self.reports.get(obligation)
            if reported is None or self.standings[obligation] is Standing.VIOLATES:
                continue
            self.standings[obligation] = Standing.VIOLATES
            self.open_musts.discard(obligation)
            self.summaries[obligation] = summary
            line = FailureLine(reported.location[0], reported.location[1] or 0, summary)
            shown: Any = FailureText(f"found in the trial of another obligation:\n{text}", line)
            yield pytest.TestReport(
                nodeid=reported.nodeid,
                location=reported.location,
                keywords={},
                outcome="failed",
                longrepr=shown,
                when="teardown",
            )


def violations_of(session: Session, journal: TrialJournal) -> dict[str, tuple[str, str]]:
    """Return what a session found to be violated after waivers, each with its line and its card."""
    violated = session.violated()
    if not violated:
        return {}
    obligations = (item.obligation for item in session.plan.items)
    verdicts = (session.settle(each) for each in obligations if each.id in violated)
    failures = (
        failure_of(session, journal, verdict)
        for verdict in verdicts
        if verdict.standing is Standing.VIOLATES
    )
    return {failure.card.planned.id: (failure.summary, failure.text) for failure in failures}


# -- the section at the end of a run ---------------------------------------------------
#: How many violations are listed, and the narrowest terminal that lines are wrapped for.
LISTED = 20
NARROWEST = 40
#: The options of a run that one item of it needs, too.
REPEATED = (
    "--assay-contract",
    "--assay-target",
    "--assay-seed",
    "--assay-contexts",
    "--assay-wait",
)


def print_summary(
    reporter: pytest.TerminalReporter,
    prepared: Prepared,
    reported: ReportedVerdicts,
    faults: Sequence[str],
    decision: ExitDecision,
) -> None:
    """Print violations, counts of the verdicts, harness faults, and why the exit code is not 0."""
    counts, open_musts = reported.counts(), reported.open_musts
    reporter.section(f"conformance of {prepared.target.name}")
    for line in _violations(reporter.config, reported):
        reporter.write_line(line)
    for standing in Standing:
        if counts[standing.value]:
            reporter.write_line(f"{counts[standing.value]:>5} {standing.value}")
    for fault in faults:
        reporter.write_line(f"harness fault: {fault}")
    if decision.exit is Exit.USAGE:
        for reason in decision.reasons:
            reporter.write_line(reason)
    if open_musts:
        reporter.write_line(
            f"incomplete: {len(open_musts)} `must` obligations could not be verified"
            " (pytest -rs lists the reasons)"
        )


def _violations(config: pytest.Config, reported: ReportedVerdicts) -> Iterator[str]:
    """Yield what is violated, wrapped by words, each with the command that tests it alone."""
    width = max(NARROWEST, shutil.get_terminal_size().columns)
    for obligation, summary in [*reported.summaries.items()][:LISTED]:
        yield obligation
        indented = "    "
        yield from wrap(
            summary,
            width - 1,
            initial_indent=indented,
            subsequent_indent=indented,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield f"    rerun: {_rerun(config, reported.reports[obligation])}"
    hidden = len(reported.summaries) - LISTED
    if hidden > 0:
        yield f"and {hidden:,} more"
    if reported.summaries:
        yield ""


def _rerun(config: pytest.Config, report: pytest.TestReport) -> str:
    """Return the command that tests one item again; the plugin finds the suites by their names."""
    path, _, name = report.location
    words = ["pytest", f"{Path(path).name}::{name}"]
    for option in REPEATED:
        value = config.getoption(option)
        for each in cast("list[object]", value if isinstance(value, list) else [value]):
            if each:
                words += [option, str(each)]
    return shlex.join(words)
