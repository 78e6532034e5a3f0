"""The section on conformance at the end of a pytest run."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import cast

import pytest

from assay.judging.changes import TESTED
from assay.judging.verdict import Standing
from assay.planning.prepare import Prepared
from assay.pytest_plugin.reported import ReportedVerdicts
from assay.report.waivers import waiver_caveats

#: How many violations are listed, and the narrowest terminal that lines are wrapped for.
LISTED = 20
NARROWEST = 40
#: The options of a run that one item of it needs, too.
REPEATED = ("--contract", "--target", "--assay-seed", "--assay-contexts", "--assay-wait")


def print_summary(
    reporter: pytest.TerminalReporter,
    config: pytest.Config,
    prepared: Prepared,
    reported: ReportedVerdicts,
    faults: Sequence[str],
) -> None:
    """Print counts of the verdicts, violations, harness faults and what is incomplete."""
    counts, open_musts = reported.counts(), reported.open_musts
    reporter.section(f"conformance of {prepared.target.name}")
    for line in _violations(config, reported):
        reporter.write_line(line)
    for standing in Standing:
        if counts[standing.value]:
            reporter.write_line(f"{counts[standing.value]:>5} {standing.value}")
    for fault in faults:
        reporter.write_line(f"harness fault: {fault}")
    for sentence in waiver_caveats(reported.waivers(prepared)):
        reporter.write_line(sentence)
    if counts and not any(counts[each.value] for each in TESTED):
        reporter.write_line("nothing was verified")
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
