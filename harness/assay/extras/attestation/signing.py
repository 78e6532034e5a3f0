"""Signing of a run: verify it first, then write the statement about it next to the journal.

So that a signer does not put a name to a forged journal, one that differs from its own exchanges
is not signed. What could not be judged again is signed all the same: it is the signer's word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assay.errors import InputError
from assay.extras.attestation.envelope import sign
from assay.extras.attestation.statement import ATTESTATION, encode_statement, make_statement
from assay.extras.attestation.verification import Verification
from assay.journal.writer import now


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRun:
    """An attestation that was written, and how many subjects it has."""

    path: Path
    subjects: int


def attest(verification: Verification, key: Ed25519PrivateKey, reports: Iterable[str]) -> SignedRun:
    """Sign a run that was verified, with those of the named reports that are beside its journal.

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
    return SignedRun(path=path, subjects=len(statement["subject"]))
