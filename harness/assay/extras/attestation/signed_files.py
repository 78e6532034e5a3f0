"""Check of an attestation: its signature, and that every file is the one that was signed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from assay.extras.attestation.envelope import (
    EnvelopeError,
    key_id,
    opened,
    read_envelope,
    statement_of,
)
from assay.extras.attestation.findings import VerificationFinding, differs
from assay.extras.attestation.inputs import file_digest
from assay.extras.attestation.statement import STATEMENT, TEST_RESULT, predicate, tool
from assay.report import Report

#: The first parts of the names of subjects that are no files beside the journal.
_ELSEWHERE = frozenset({"contract", "target"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAttestation:
    """An attestation whose signature was checked, and what is not as it was signed.

    `attested` is when it was signed by the signer's clock, and `subjects` counts what it is about.
    `note` says where Assay itself is another than the one that signed.
    """

    key: str
    attested: str = ""
    subjects: int = 0
    note: str = ""
    statement: Mapping[str, object] | None = None
    findings: tuple[VerificationFinding, ...] = ()


def check_attestation(path: Path, journal: Path, key: Ed25519PublicKey) -> CheckedAttestation:
    """Check the signature of an attestation, and the files beside the journal that it is about.

    Raises:
        InputError: it cannot be read.

    """
    name = key_id(key)
    try:
        statement = statement_of(opened(read_envelope(path), key))
        subjects = _subjects(statement)
    except EnvelopeError as error:
        return CheckedAttestation(key=name, findings=(differs(path.name, str(error)),))
    facts = subjects.get(journal.name, {}).get("annotations")
    attested = cast("Mapping[str, object]", facts).get("attested") if facts else ""
    return CheckedAttestation(
        key=name,
        attested=f"{attested}",
        subjects=len(subjects),
        note=_tool_note(subjects),
        statement=statement,
        findings=tuple(_file_findings(subjects, journal)),
    )


def compare_statement(
    checked: CheckedAttestation, report: Report, path: Path
) -> Iterator[VerificationFinding]:
    """Yield what a statement says otherwise than the journal that it is about."""
    if checked.statement is None:
        return
    stated, made = checked.statement.get("predicate"), predicate(report)
    if not isinstance(stated, dict):
        yield differs(path.name, "it has no result")
        return
    stated = cast("Mapping[str, object]", stated)
    for name in ("result", "passedTests", "warnedTests", "failedTests"):
        if stated.get(name) != made[name]:
            yield differs(path.name, f"{name} differs from the journal")
    if _files(stated.get("configuration")) != _files(json.loads(json.dumps(made["configuration"]))):
        yield differs(path.name, "contracts or target file differ from those of the journal")


def _files(configuration: object) -> list[object]:
    """Return contracts and target file; Assay itself may be another one."""
    known = cast("list[object]", configuration) if isinstance(configuration, list) else []
    return [each for each in known if not (isinstance(each, dict) and each.get("name") == "assay")]


def _subjects(statement: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """Return the subjects of a statement by name."""
    kinds = statement.get("_type"), statement.get("predicateType")
    if kinds != (STATEMENT, TEST_RESULT):
        raise EnvelopeError(f"no statement of a test result: {kinds!r:.120}")
    match statement.get("subject"):
        case [*subjects] if all(isinstance(each, dict) for each in subjects):
            return {
                str(each.get("name")): each for each in cast("list[Mapping[str, object]]", subjects)
            }
        case _:
            raise EnvelopeError("the statement has no subjects")


def _file_findings(
    subjects: Mapping[str, Mapping[str, object]], journal: Path
) -> Iterator[VerificationFinding]:
    if journal.name not in subjects:
        yield differs(journal.name, "is not the file that was attested")
    for name, subject in subjects.items():
        place = PurePosixPath(name)
        if (place.parts[:1] and place.parts[0] in _ELSEWHERE) or name == "assay":
            continue
        if place.is_absolute() or ".." in place.parts:
            yield differs(name, "is not a file next to the journal")
            continue
        digest = file_digest(journal.parent / place)
        if not digest:
            yield differs(name, "was signed but is missing")
        elif subject.get("digest") != {"sha256": digest.removeprefix("sha256:")}:
            yield differs(name, "was changed after it was signed")


def _tool_note(subjects: Mapping[str, Mapping[str, object]]) -> str:
    """Return a note where the Assay that is installed here is not the one that signed."""
    signed, here = subjects.get("assay", {}), tool()
    if signed.get("digest") == here["digest"]:
        return ""
    return f"signed with {signed.get('uri')!s:.100}, checked with another installation of Assay"
