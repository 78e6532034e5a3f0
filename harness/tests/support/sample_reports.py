"""Sample reports: of a sound bank, of one with a fault, and of one that can only be read.

They are in `reports/reference/samples`. Clock, durations and the digest of the journal, which differ from run to run, are fixed values there.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from unittest.mock import patch

from assay.contexts.context import Depth
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.report import FORMATS, Report, read_journal
from assay.running.environment import set_up
from assay.running.session import Options, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND, Policies

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "reports" / "reference" / "samples"
#: The formats of each sample, with the suffixes of their files.
SUFFIXES = {"html": ".html", "markdown": ".md", "json": ".json"}
#: The moment of every line that has the real time.
MOMENT = "2026-11-23T12:00:00.000Z"
#: In place of the digest of the journal, whose lines have keyed digests of answers.
DIGEST = f"sha256:{'0' * 64}"

READ_ONLY = """\
assay: 1
target: read-only-bank
extends: sandbox
presence: null
sca: null
fixtures:
  offers: [psu]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A run whose report is shown: a bank, a target file, and the obligations that are chosen."""

    name: str
    policies: Policies = SOUND
    target: str = ""
    keywords: str


def _mutant(name: str) -> Policies:
    (fault,) = (mutant for mutant in MUTANTS if mutant.id == name)
    return fault.change(SOUND)


SAMPLES = (
    Sample(name="sound", keywords="batch-quota and accounts or iban or midnight"),
    Sample(
        name="broken",
        policies=_mutant("quota.accounts-utc-day"),
        keywords="batch-quota and (accounts or balances)",
    ),
    Sample(name="read-only", target=READ_ONLY, keywords="batch-quota or balances or iban"),
)


def reports(sample: Sample) -> Mapping[str, str]:
    """Run a sample, and return the text of its report in each format."""
    with tempfile.TemporaryDirectory() as folder:
        target = None
        if sample.target:
            target = Path(folder) / "bank.yaml"
            target.write_text(sample.target, encoding="utf-8")
        journal = Path(folder) / "journal.jsonl"
        ticks = count()
        with (
            patch("assay.journal.writer.now", lambda: MOMENT),
            patch("assay.running.calls.perf_counter", lambda: next(ticks) / 1000),
        ):
            _run(sample, target, journal)
        report = _normalised(read_journal(journal))
        return {name: _text(report, name).replace(folder, ".") for name in SUFFIXES}


def _normalised(report: Report) -> Report:
    """Return a report without the digest of the journal and the places of this machine."""
    contracts = (
        replace(each, path=f"contract/{Path(each.path).name}") for each in report.header.contracts
    )
    header = replace(report.header, contracts=tuple(contracts))
    footer = report.footer and replace(report.footer, digest=DIGEST)
    return replace(report, header=header, footer=footer)


def _run(sample: Sample, target: Path | None, journal: Path) -> None:
    prepared = prepare(
        ["aisp"], str(target) if target else None, keywords=sample.keywords, contexts=Depth.BASE
    )
    environment = set_up(
        prepared.target, bank=lambda base_url: make_app(sample.policies, base_url=base_url)
    )
    session = Session(
        plan=prepared.plan,
        environment=environment,
        journal=Journal.at(journal),
        options=Options(selection={"k": sample.keywords, "m": ""}, reproduce=prepared.reproduce),
    )
    run_session(session)
    environment.close()


def _text(report: Report, name: str) -> str:
    out = io.StringIO()
    FORMATS[name].render(report, out)
    return out.getvalue()
