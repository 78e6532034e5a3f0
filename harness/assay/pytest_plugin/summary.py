"""The section on conformance at the end of a pytest run."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import cast

import pytest

from assay.judging.exit_policy import ExitDecision
from assay.preparation.prepare import Prepared
from assay.pytest_plugin.reported_verdicts import ReportedVerdicts
from assay.rules.verdict import Exit, Standing

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
