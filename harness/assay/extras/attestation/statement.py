"""Statement about a run: in-toto Statement v1 with the predicate test-result v0.1.

The subjects are what the result rests on, by their digests: the journal, the files beside it, the
contracts, the target file and Assay itself. A target file may be private, so nothing of it but its
name and its digest is in a statement. The time is that of the signer's clock. An attestation is
checked by its signature, and by every file that it is about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TypeAlias, TypedDict, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import assay
from assay.errors import Exit, InputError
from assay.extras.attestation.envelope import (
    EnvelopeError,
    key_id,
    opened,
    read_envelope,
    statement_of,
)
from assay.extras.attestation.inputs import VerificationFinding, differs, file_digest
from assay.report import Report
from assay.rules.verdict import OPEN, Standing

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
#: The name of the attestation in the folder of a run.
ATTESTATION = "attestation.intoto.jsonl"

Descriptor: TypeAlias = dict[str, object]


class Statement(TypedDict):
    """A statement, with its subjects and its predicate."""

    _type: str
    subject: list[Descriptor]
    predicateType: str
    predicate: dict[str, object]


#: The result of a run, by its exit code.
_RESULTS: Mapping[int, str] = {Exit.OK.value: "PASSED", Exit.INCOMPLETE.value: "WARNED"}


def make_statement(
    report: Report, journal: Path, files: Sequence[Path], *, attested: str
) -> Statement:
    """Return the statement about a whole run, with these files beside its journal.

    Raises:
        InputError: a file cannot be read.

    """
    return {
        "_type": STATEMENT,
        "subject": [
            _journal_subject(report, journal, attested),
            *(_descriptor(_beside(file, journal), _digest(file)) for file in files),
            *_configuration(report),
        ],
        "predicateType": TEST_RESULT,
        "predicate": predicate(report),
    }


def predicate(report: Report) -> dict[str, object]:
    """Return the result of a run, in the words of the predicate.

    An obligation that the document leaves open, or that the bank does not offer, is no test.
    """
    exit_ = report.footer.exit if report.footer else Exit.FAULT.value
    return {
        "result": _RESULTS.get(exit_, "FAILED"),
        "configuration": [*_configuration(report)],
        "passedTests": _names(report, {Standing.CONFORMS}),
        "warnedTests": _names(report, OPEN | {Standing.WAIVED}),
        "failedTests": _names(report, {Standing.VIOLATES}),
    }


def encode_statement(statement: Statement) -> bytes:
    """Return a statement as the bytes that are signed."""
    return json.dumps(statement, ensure_ascii=False, separators=(",", ":")).encode()


def _names(report: Report, standings: frozenset[Standing] | set[Standing]) -> list[str]:
    return [each.planned.id for each in report.results if each.standing in standings]


def _journal_subject(report: Report, journal: Path, attested: str) -> Descriptor:
    footer = report.footer
    facts = {
        "started": report.header.started,
        "finished": footer.finished if footer else "",
        "exit": footer.exit if footer else None,
        "counts": dict(footer.counts) if footer else {},
        "attested": attested,
    }
    return {**_descriptor(journal.name, _digest(journal)), "annotations": facts}


def _configuration(report: Report) -> Iterator[Descriptor]:
    for contract in report.header.contracts:
        yield _descriptor(f"contract/{contract.id}", contract.digest, version=contract.version)
    target = report.header.target
    yield _descriptor(f"target/{target.name}", target.digest)
    yield tool()


def tool() -> Descriptor:
    """Return Assay as it is installed here: its version, and the digest of its files."""
    return {
        "name": "assay",
        "uri": f"pkg:pypi/assay@{assay.__version__}",
        "digest": {"dirHash": tree_digest(Path(assay.__file__).parent)},
        "annotations": {"version": assay.__version__},
    }


@cache
def tree_digest(folder: Path) -> str:
    """Return the digest of all files below a folder, without what Python compiled.

    It is the `dirHash` of in-toto: the SHA-256 of the lines that `sha256sum` prints.
    """
    files = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    digest = hashlib.sha256()
    for name in sorted(files, key=str.encode):
        digest.update(f"{hashlib.sha256(files[name].read_bytes()).hexdigest()}  {name}\n".encode())
    return digest.hexdigest()


def _descriptor(name: str, digest: str, **annotations: str) -> Descriptor:
    algorithm, _, value = digest.partition(":")
    noted = {"annotations": annotations} if annotations else {}
    return {"name": name, "digest": {algorithm: value}, **noted}


def _beside(file: Path, journal: Path) -> str:
    return file.relative_to(journal.parent).as_posix()


def _digest(file: Path) -> str:
    digest = file_digest(file)
    if not digest:
        raise InputError.one(str(file), "cannot be read")
    return digest


# -- check of an attestation -----------------------------------------------------------
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
