"""`assay verify`: the journal of a run judged again and compared, and its signature checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli import options
from assay.extras.attestation.envelope import public_key
from assay.extras.attestation.inputs import VerificationFinding
from assay.extras.attestation.verification import (
    Verification,
    VerificationResult,
    journal_in,
    verify,
)
from assay.report import sanitize
from assay.report.wording import counted

EPILOG = """\b
Examples:
  assay verify reports/local/before-go-live
  assay verify journal.jsonl --contract aisp.yaml --target bank.yaml
  assay verify before-go-live --key assay-key.pem.pub
  assay verify before-go-live --key assay-key.pem.pub --format json

\b
Exit codes:
  0  everything was verified               2  a usage, contract or target-file error
  1  a difference, or a forged signature   3  no difference, but not everything was verified
"""
#: How many findings the summary lists.
LISTED = 40
#: The exit code of each result.
EXITS = {
    VerificationResult.VERIFIED: 0,
    VerificationResult.DIFFERS: 1,
    VerificationResult.PARTIAL: 3,
}


@click.command(epilog=EPILOG)
@click.argument("run", type=click.Path(path_type=Path))
@options.recorded_files
@options.waivers
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also check the attestation, with the signer's public key (PEM).",
)
@options.document_format(("text", "json"), "result")
def command(
    run: Path,
    contracts: Sequence[str],
    target: str | None,
    waivers: Path | None,
    key: Path | None,
    form: str,
) -> int:
    """Verify a recorded run: judge its exchanges again and compare every verdict.

    RUN is the folder of a run, or its journal. Contracts and target file are identified by their
    digests. Nothing is sent, and no network is needed.
    """
    result = verify(
        journal_in(run),
        contracts=contracts,
        target=target,
        waivers=waivers,
        key=public_key(key) if key else None,
    )
    if form == "json":
        click.echo(_json(result))
    else:
        print_verification(result)
    return EXITS[result.result]


def print_verification(result: Verification) -> None:
    """Print the summary of a verification for people."""
    click.echo("\n".join(_lines(result)))


def _lines(result: Verification) -> list[str]:
    """Return the summary for people."""
    lines = [f"journal: {sanitize.one_line(str(result.journal))}"]
    if result.run is not None:
        header = result.run.report.header
        names = ", ".join(f"{each.id} {each.version}" for each in header.contracts)
        lines.append(f"contracts: {names}; target: {header.target.name}")
        lines.append(f"verdicts: {_verdicts(result)}")
    lines.append(f"attestation: {_attestation(result)}")
    lines += [f"note: {note}" for note in result.notes]
    findings = (*result.differences, *result.open)
    lines += [_finding(each) for each in findings[:LISTED]]
    if findings[LISTED:]:
        lines.append(f"and {len(findings) - LISTED} more; --format json lists all")
    return [*(sanitize.one_line(sanitize.clean(line)) for line in lines), _closing(result)]


def _verdicts(result: Verification) -> str:
    planned = len(result.run.plan) if result.run else 0
    if result.rejudged is None:
        return f"none of {planned} judged again"
    exchanges = counted(result.rejudged.exchanges, "exchange")
    return f"{result.verdicts} of {planned} judged again from {exchanges}, with the same result"


def _attestation(result: Verification) -> str:
    checked = result.attestation
    if checked is None:
        return "not checked; pass the public key with --key" if result.attested else "none"
    if checked.statement is None:
        return "signed with a different key"
    subjects = counted(checked.subjects, "subject")
    when = f"signed {checked.attested} by the signer's clock" if checked.attested else "signed"
    return f"{when}, {subjects}, key {checked.key[:16]}…"


def _finding(finding: VerificationFinding) -> str:
    return f"{finding.kind.value}: {finding.where}: {finding.what}"


def _closing(result: Verification) -> str:
    match result.result:
        case VerificationResult.VERIFIED:
            signed = "signed, and " if result.attestation else ""
            return f"Verified: {signed}every verdict follows from the recorded exchanges."
        case VerificationResult.DIFFERS:
            return f"Not verified: {counted(len(result.differences), 'difference')}."
        case VerificationResult.PARTIAL:
            return f"Partly verified: no differences, but {len(result.open)} could not be judged again."


def _json(result: Verification) -> str:
    """Return the result for programs."""
    checked, run = result.attestation, result.run
    return json.dumps(
        {
            "result": result.result.value,
            "journal": str(result.journal),
            "planned": len(run.plan) if run else 0,
            "verdicts": result.verdicts,
            "exchanges": result.rejudged.exchanges if result.rejudged else 0,
            "attestation": {
                "present": result.attested,
                "checked": checked is not None,
                "key": checked.key if checked else "",
                "attested": checked.attested if checked else "",
            },
            "differences": [_record(each) for each in result.differences],
            "not_rejudged": [_record(each) for each in result.open],
            "notes": [*result.notes],
        },
        indent=2,
    )


def _record(finding: VerificationFinding) -> dict[str, object]:
    line = {"line": finding.line} if finding.line else {}
    return {"where": finding.where, "what": finding.what, **line}
