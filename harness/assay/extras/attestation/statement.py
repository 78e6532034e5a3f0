"""Statement about a run: in-toto Statement v1 with the predicate test-result v0.1.

The subjects are what the result rests on, by their digests: the journal, the files beside it, the
contracts, the target file and Assay itself. A target file may be private, so nothing of it but its
name and its digest is in a statement. The time is that of the signer's clock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypedDict

import assay
from assay.errors import InputError
from assay.extras.attestation.inputs import file_digest
from assay.report import Report
from assay.rules.verdict import OPEN, Exit, Standing

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
    """Yield contracts, target file and tool."""
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
