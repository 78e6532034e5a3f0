"""Facts for build servers: places in the user's repository, fingerprints, errors that must show.

A place is relative to the root of the repository in which the report is made. A contract outside
of it, and a shipped one, has none: a build server could not find it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from assay._resources import contract_dir
from assay.files.document import file_name
from assay.judging.waivers import WaiverResult, WaiverState
from assay.report.values import PlannedObligation, Report, ReportedResult
from assay.report.wording import headline, unfinished, waiver_sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """A line of a file, its path as a build server has it; `exists` in the repository."""

    path: str
    line: int
    exists: bool


class FilePlaces:
    """The places of the obligations of a report."""

    def __init__(self, report: Report) -> None:
        root = repository_root(Path.cwd())
        self._paths = {
            contract.id: _path_in(root, contract.path) for contract in report.header.contracts
        }

    def of(self, planned: PlannedObligation) -> FilePlace:
        """Return the place of an obligation's clause."""
        path = self._paths.get(planned.contract, "")
        name = path or f"contract/{file_name(planned.contract, 60)}.yaml"
        return FilePlace(path=name, line=max(planned.line, 1), exists=bool(path))


def repository_root(folder: Path) -> Path:
    """Return the root of the repository of a folder, or the folder if it is in none."""
    resolved = folder.resolve()
    within = (parent for parent in (resolved, *resolved.parents) if (parent / ".git").exists())
    return next(within, resolved)


def _path_in(root: Path, path: str) -> str:
    """Return the path of a file from the root, empty if the file is elsewhere or a shipped one."""
    try:
        resolved = Path(path).resolve()
        elsewhere = not resolved.is_relative_to(root) or not resolved.is_file()
    except (OSError, ValueError, RuntimeError):  # a name that this system cannot have
        return ""
    if elsewhere or resolved.is_relative_to(contract_dir().resolve()):
        return ""
    return resolved.relative_to(root).as_posix()


def fingerprint(report: Report, obligation: str) -> str:
    """Return what identifies an obligation at a target from run to run, in 32 digits."""
    names = (report.header.party, report.header.target.name, obligation)
    return hashlib.sha256("\0".join(names).encode(errors="replace")).hexdigest()[:32]


class ErrorKind(Enum):
    """What is wrong with a run besides its verdicts."""

    FAULT = "harness fault"
    INCOMPLETE = "incomplete run"
    EMPTY = "nothing planned"
    WAIVER = "waiver"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """One thing that is wrong with a run, though no verdict says so; `where` may be empty."""

    kind: ErrorKind
    where: str = ""
    what: str

    @property
    def title(self) -> str:
        """Return the kind, and the place if there is one."""
        return f"{self.kind.value}: {self.where}" if self.where else self.kind.value


def run_errors(report: Report) -> Iterator[RunError]:
    """Yield what a build server would take for a run in which all is well."""
    for fault in report.faults:
        yield RunError(kind=ErrorKind.FAULT, where=fault.where, what=fault.what)
    if not report.complete:
        yield RunError(kind=ErrorKind.INCOMPLETE, what=unfinished(report))
    if not report.results:
        yield RunError(kind=ErrorKind.EMPTY, what=headline(report))
    for waiver in report.waivers:
        # The reason of a violation says that its waiver has expired.
        if waiver.invalid and not waiver.violated:
            sentence = waiver_sentence(waiver)
            yield RunError(kind=ErrorKind.WAIVER, where=waiver.name, what=sentence)


def expiring_waivers(report: Report) -> tuple[WaiverResult, ...]:
    """Return the waivers that expire soon, and excuse a violation until then."""
    return tuple(each for each in report.waivers if each.state is WaiverState.EXPIRES_SOON)


def observation(result: ReportedResult) -> str:
    """Return what a result shows against its obligation, in one sentence."""
    waiver = f" Its waiver {result.waiver}." if result.waiver else ""
    for finding in result.findings:
        return f"Expected {finding.expected}; seen {finding.seen}.{waiver}"
    return result.reason


def in_utc(text: str) -> datetime | None:
    """Return a time of a journal in UTC, or None if it is none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
