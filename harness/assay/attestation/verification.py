"""Verification of a run: its chain of lines, its signature, and every verdict judged again.

Without a key this shows that a journal agrees with itself, with the contracts and with the target
file. A forger can also write a whole journal that agrees with itself, exchanges included. So only a
signature shows that it is the journal of the signer, whose word its exchanges are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from assay import __version__
from assay.attestation.exit_check import exit_findings
from assay.attestation.findings import FindingKind, VerificationFinding, differs, not_rejudged
from assay.attestation.inputs import FoundInputs, find_inputs
from assay.attestation.plan_check import check_plan
from assay.attestation.recorded_run import WrittenRun, read_run
from assay.attestation.rejudging import Rejudged, rejudge
from assay.attestation.signed_files import CheckedAttestation, check_attestation, compare_statement
from assay.attestation.statement import ATTESTATION
from assay.errors import InputError, JournalError
from assay.journal.chain import chain_breaks, is_chained
from assay.journal.journal_file import journal_at
from assay.traffic.journal_trials import is_journal

#: How many breaks of a chain are listed at most.
_MOST_BREAKS = 20


class VerificationResult(Enum):
    """The result of a verification; the value is the word used in every output."""

    VERIFIED = "verified"
    DIFFERS = "differs"
    PARTIAL = "partly verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was verified, and what was found.

    `attestation` is None where no key was given; `attested` says whether there is an attestation.
    """

    journal: Path
    run: WrittenRun | None
    inputs: FoundInputs | None
    rejudged: Rejudged | None
    attested: bool
    attestation: CheckedAttestation | None
    findings: tuple[VerificationFinding, ...]
    notes: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[VerificationFinding, ...]:
        """What differs."""
        return tuple(each for each in self.findings if each.kind is FindingKind.DIFFERS)

    @property
    def open(self) -> tuple[VerificationFinding, ...]:
        """What was not judged again."""
        return tuple(each for each in self.findings if each.kind is FindingKind.NOT_REJUDGED)

    @property
    def result(self) -> VerificationResult:
        """The result of all findings."""
        if self.differences:
            return VerificationResult.DIFFERS
        return VerificationResult.PARTIAL if self.open else VerificationResult.VERIFIED

    @property
    def verdicts(self) -> int:
        """How many verdicts were judged again and are the same."""
        if self.run is None or self.rejudged is None:
            return 0
        return len(self.run.plan.keys() - {each.where for each in self.findings})


def journal_in(path: Path) -> Path:
    """Return the journal in the folder of a run, or the given file.

    Raises:
        InputError: there is no journal.

    """
    journal = journal_at(path)
    if not is_journal(journal):
        hint = "pass the folder of a run, or its journal"
        raise InputError.one(str(journal), "this is not a journal of Assay", hint=hint)
    return journal


def verify(
    journal: Path,
    *,
    contracts: Sequence[str] = (),
    target: str | None = None,
    waivers: Path | None = None,
    key: Ed25519PublicKey | None = None,
) -> Verification:
    """Verify a journal, and with a key the attestation beside it.

    Raises:
        InputError: a given file cannot be used, or there is no attestation to check.

    """
    attestation = journal.parent / ATTESTATION
    checked = None
    if key is not None:
        checked = check_attestation(attestation, journal, key)
    findings = [*(checked.findings if checked else ()), *_line_findings(journal)]
    notes: list[str] = [checked.note] if checked and checked.note else []
    run = inputs = rejudged = None
    try:
        run = read_run(journal)
        if checked is not None:
            findings += compare_statement(checked, run.report, attestation)
        findings += exit_findings(run)
        inputs = find_inputs(run, contracts, target, waivers)
        rejudged, judged_findings = _rejudge(journal, run, inputs)
        findings += judged_findings
        notes += _notes(run, rejudged)
    except JournalError as error:
        findings.append(differs(journal.name, str(error).removeprefix(f"{journal}:").strip()))
    return Verification(
        journal=journal,
        run=run,
        inputs=inputs,
        rejudged=rejudged,
        attested=attestation.exists(),
        attestation=checked,
        findings=tuple(dict.fromkeys(findings)),
        notes=tuple(notes),
    )


def _line_findings(journal: Path) -> Iterator[VerificationFinding]:
    """Yield where lines were changed, removed, inserted or moved."""
    name = str(journal)
    try:
        with journal.open("rb") as stream:
            if not is_chained(stream, name):
                what = "its lines have no hash chain: it was written by an older version of Assay"
                yield not_rejudged(journal.name, what)
                return
            stream.seek(0)
            breaks = [*islice(chain_breaks(stream, name), _MOST_BREAKS + 1)]
    except JournalError as error:
        yield differs(journal.name, str(error).removeprefix(f"{journal}:").strip())
        return
    for each in breaks[:_MOST_BREAKS]:
        yield differs(f"{journal.name}:{each.line}", f"this line {each.what}", each.line)
    if breaks[_MOST_BREAKS:]:
        yield differs(journal.name, "more lines are changed, missing or out of order")


def _rejudge(
    journal: Path, run: WrittenRun, inputs: FoundInputs
) -> tuple[Rejudged | None, list[VerificationFinding]]:
    findings = [differs(name, what) for name, what in inputs.other.items()]
    findings += [not_rejudged(name, what) for name, what in inputs.missing.items()]
    if run.quoted:
        what = "`assay judge` recorded only the cited exchanges; judge the original recording again"
        findings.append(not_rejudged("verdicts", what))
    if run.quoted or not inputs.complete or inputs.target is None:
        return None, findings
    checked = check_plan(run, inputs, inputs.target)
    rejudged = rejudge(journal, run, checked, inputs.target)
    return rejudged, [*findings, *checked.findings, *rejudged.findings]


def _notes(run: WrittenRun, rejudged: Rejudged | None) -> Iterator[str]:
    version = run.report.header.version
    if version != __version__:
        yield f"recorded with Assay {version:.40}, judged again with {__version__}"
    if rejudged and rejudged.unshown:
        yield (
            f"{rejudged.unshown} pieces of evidence depend on values that the journal shortens or"
            " hides; other evidence for the same verdicts was judged again"
        )
