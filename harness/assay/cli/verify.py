"""`assay verify` and `assay attest`: a recorded run judged again, its signature checked or made."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli import options
from assay.cli.results import REPORTS
from assay.errors import Exit, InputError
from assay.extras.attestation import envelope
from assay.extras.attestation.envelope import public_key
from assay.extras.attestation.inputs import VerificationFinding
from assay.extras.attestation.verification import (
    Verification,
    VerificationResult,
    journal_in,
    sign_run,
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


# -- signing ---------------------------------------------------------------------
ATTEST_EPILOG = """\b
Examples:
  assay attest --new-key assay-key.pem
  assay attest reports/local/before-go-live --key assay-key.pem
  assay attest before-go-live --key assay-key.pem --key-password-env ASSAY_KEY_PASSWORD
  assay verify before-go-live --key assay-key.pem.pub

\b
Exit codes:
  0  the run was signed                    2  a usage, contract or target-file error
  1  the run differs, and was not signed
"""


@click.command(epilog=ATTEST_EPILOG)
@click.argument("run", type=click.Path(path_type=Path), required=False)
@options.recorded_files
@options.waivers
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Private key to sign with (Ed25519, PEM).",
)
@click.option(
    "--key-password-env",
    metavar="NAME",
    help="Environment variable with the password of the key.",
)
@click.option(
    "--new-key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Create a new key pair instead: the private key in FILE, the public key in FILE.pub.",
)
def attest(
    run: Path | None,
    contracts: Sequence[str],
    target: str | None,
    waivers: Path | None,
    key: Path | None,
    key_password_env: str | None,
    new_key: Path | None,
) -> int:
    """Sign the journal and reports of a run, with digests of all files that it used.

    RUN is the folder of a run, or its journal. The run is verified first and is not signed if a
    verdict differs from what its exchanges show. The attestation is written next to the journal.
    """
    password = _password(key_password_env)
    if new_key is not None:
        return _make_key(new_key, password, run, key)
    if run is None or key is None:
        missing = "--key" if run is not None else "RUN"
        hint = "assay attest RUN --key FILE"
        raise InputError.one("attest", f"{missing} is missing", hint=hint)
    private = envelope.private_key(key, password)
    result = verify(journal_in(run), contracts=contracts, target=target, waivers=waivers)
    if result.differences:
        print_verification(result)
        return Exit.VIOLATION.value
    path, subjects = sign_run(result, private, REPORTS.values())
    if result.open:
        what = counted(len(result.open), "finding")
        click.echo(
            f"{what} could not be judged again and were signed as recorded (`assay verify` lists them)"
        )
    click.echo(f"{path}: {counted(subjects, 'subject')} signed")
    return 0


def _make_key(path: Path, password: str | None, run: Path | None, key: Path | None) -> int:
    if run is not None or key is not None:
        hint = "create the key first, then sign with --key"
        raise InputError.one("--new-key", "cannot be combined with a run or --key", hint=hint)
    public = envelope.new_key(path, password)
    click.echo(
        f"{path}: the private key{'' if password else ', without a password'}; keep it secret"
    )
    click.echo(f"{public}: the public key; give it to those who verify")
    return 0


def _password(name: str | None) -> str | None:
    if name is None:
        return None
    password = os.environ.get(name, "")
    if not password:
        hint = "export it first"
        raise InputError.one("--key-password-env", f"${name[:100]} is not set", hint=hint)
    return password
