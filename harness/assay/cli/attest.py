"""`assay attest`: verify a run and sign it, so that others can detect changes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli import options
from assay.cli.results import REPORTS
from assay.cli.verify import print_verification
from assay.errors import InputError
from assay.extras.attestation import envelope
from assay.extras.attestation.verification import attest, journal_in, verify
from assay.report.wording import counted
from assay.rules.verdict import Exit

EPILOG = """\b
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


@click.command(epilog=EPILOG)
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
def command(
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
    signed = attest(result, private, REPORTS.values())
    if result.open:
        what = counted(len(result.open), "finding")
        click.echo(
            f"{what} could not be judged again and were signed as recorded (`assay verify` lists them)"
        )
    click.echo(f"{signed.path}: {counted(signed.subjects, 'subject')} signed")
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
    """Return the password in an environment variable."""
    if name is None:
        return None
    password = os.environ.get(name, "")
    if not password:
        hint = "export it first"
        raise InputError.one("--key-password-env", f"${name[:100]} is not set", hint=hint)
    return password
