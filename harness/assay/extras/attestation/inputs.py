"""A recorded run, and its contract and target files, found again and recognised by their digests.

The journal may be forged. Nothing here believes it: each part is compared with what contracts,
target file and exchanges say.

The header of a journal has digests and names. What is given on the command line comes first, then
the path that the run recorded, then what is shipped with Assay. A recorded path is only read if its
content is the recorded one: a forged journal must not make Assay read any file of its choice.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum
from functools import partial
from pathlib import Path

from assay.binding.model.target import Target
from assay.contract.model import Contract
from assay.errors import InputError
from assay.journal.codec import EVENTS, trial_end
from assay.journal.lines import Line
from assay.journal.writer import QUOTED
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.prepare import load_target
from assay.preparation.target_file import SUFFIXES, find_target
from assay.report import Report, decode, read_journal
from assay.report.values import ContractRef
from assay.rules.verdict import Verdict

#: Larger files are neither contracts nor target files.
_MOST_BYTES = 32 * 1024 * 1024


@dataclass(slots=True, kw_only=True)
class FoundInputs:
    """The files of a run: contracts by id, and the target.

    `other` says which files are there but are not those of the run, `missing` which are not there.
    """

    contracts: dict[str, Contract] = field(default_factory=dict[str, Contract])
    target: Target | None = None
    other: dict[str, str] = field(default_factory=dict[str, str])
    missing: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def complete(self) -> bool:
        """Whether everything is there that verdicts are judged by."""
        return not self.other and not self.missing


def find_inputs(
    run: WrittenRun, contracts: Sequence[str], target: str | None, waivers: Path | None = None
) -> FoundInputs:
    """Find the contracts and the target file of a run, with its file of waivers.

    Raises:
        InputError: a file that was given cannot be used, or no contract of the run is in it.

    """
    found = FoundInputs()
    given = {contract.id: contract for contract in map(_given_contract, contracts)}
    known = {each.id for each in run.report.header.contracts}
    for name, contract in given.items():
        if name not in known:
            hint = f"the run has {', '.join(sorted(known))}"
            raise InputError.one(contract.path, f"{name} is no contract of this run", hint=hint)
    for recorded in run.report.header.contracts:
        _find_contract(recorded, given, found)
    _find_target(run, target, waivers or _waivers_file(run), found)
    return found


def _given_contract(name: str) -> Contract:
    return parse_contract(find_contract(name))


def _find_contract(
    recorded: ContractRef, given: Mapping[str, Contract], found: FoundInputs
) -> None:
    name = f"contract {recorded.id}"
    if recorded.id in given:
        contract = given[recorded.id]
        if contract.digest == recorded.digest:
            found.contracts[recorded.id] = contract
        else:
            found.other[name] = f"{contract.path} is not the file that the run used"
        return
    candidates = [*_contract_files(recorded)]
    for path in candidates:
        if file_digest(path) == recorded.digest:
            found.contracts[recorded.id] = parse_contract(path)
            return
    if candidates:
        found.other[name] = f"{candidates[0]} is not the file that the run used"
    else:
        found.missing[name] = "the contract file was not found; pass it with --contract"


def _contract_files(recorded: ContractRef) -> Iterator[Path]:
    """Yield the files that may be a contract: the recorded path, and the shipped one of its name."""
    path = Path(recorded.path)
    if recorded.path and path.suffix in SUFFIXES and _is_file(path):
        yield path
    try:
        shipped = find_contract(recorded.id) if recorded.id.isidentifier() else path
    except InputError:
        return
    if shipped != path and _is_file(shipped):
        yield shipped


def _find_target(
    run: WrittenRun, given: str | None, waivers: Path | None, found: FoundInputs
) -> None:
    recorded = run.report.header.target
    name = f"target {recorded.name}"
    if given is not None:
        target = load_target(given, waivers)
        if (target.name, target.digest) == (recorded.name, recorded.digest):
            found.target = target
        else:
            found.other[name] = f"{given} is not the target file that the run used"
        return
    seen = ""
    for candidate in _target_names(run):
        try:
            target = load_target(candidate, waivers)
        except (InputError, ValueError):
            seen = seen or candidate
            continue
        if (target.name, target.digest) == (recorded.name, recorded.digest):
            found.target = target
            return
        seen = seen or candidate
    elsewhere = run.invocation.get("waivers")
    if elsewhere and waivers is None:
        what = f"its file of waivers, {elsewhere!s:.200}, is not here: pass it with --waivers"
        found.missing[name] = what
    elif seen:
        found.other[name] = f"{seen} is not the target file that the run used"
    else:
        found.missing[name] = "the target file was not found; pass it with --target"


def _waivers_file(run: WrittenRun) -> Path | None:
    """Return the file of waivers that the run recorded, if it is here."""
    recorded = run.invocation.get("waivers")
    path = Path(recorded) if isinstance(recorded, str) and recorded else None
    is_here = path is not None and path.suffix in SUFFIXES and _is_file(path)
    return path if is_here else None


def _target_names(run: WrittenRun) -> Iterator[str]:
    """Yield what may name the target: as the run was begun with it, and as it is shipped."""
    recorded = run.invocation.get("target")
    if isinstance(recorded, str) and recorded:
        file = Path(recorded.partition("#")[0])
        local = file.suffix in SUFFIXES and _is_file(file)
        if local or recorded.startswith(("http://", "https://")):
            yield recorded
    name = run.report.header.target.name
    try:
        if name and Path(name).name == name and _is_file(find_target(name)):
            yield name
    except InputError:
        return


def _is_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _MOST_BYTES
    except (OSError, ValueError):
        return False


def file_digest(path: Path) -> str:
    """Return the digest of a file, as journals write it; empty if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except OSError:
        return ""


# -- the recorded run ------------------------------------------------------------------
#: A sent value that is shortened or hidden, so that a check cannot recognise it.
_HIDDEN = re.compile(r"<(?:text|private|credentials)[ -][0-9a-f]+>")

Raw = Mapping[str, object]


@dataclass(slots=True, kw_only=True)
class WrittenRun:
    """What a journal says of its run.

    `results` are the last verdict on each obligation, with all of its evidence. `exchanges` has the
    numbers of the recorded exchanges, and `hidden` those of which a sent value is shortened or
    hidden. `trials` are those with events, `unjudged` those that ended early or with a fault, so
    that the run itself did not judge them.
    """

    report: Report = field(init=False)
    results: Mapping[str, Verdict] = field(init=False)
    exchanges: set[int] = field(default_factory=set[int])
    hidden: set[int] = field(default_factory=set[int])
    trials: set[str] = field(default_factory=set[str])
    unjudged: set[str] = field(default_factory=set[str])
    resumed: str = ""

    def take(self, line: Line) -> None:
        """Take in the next line."""
        kind = line.text("type")
        if kind in EVENTS:
            self.trials.add(line.text("trial"))
        match kind:
            case "exchange":
                n = line.number_of("n")
                self.exchanges.add(n)
                if _HIDDEN.search(f"{line.inner('again').inner('call').values}"):
                    self.hidden.add(n)
            case "ended":
                end = trial_end(line)
                (self.unjudged.discard if end.done else self.unjudged.add)(end.trial)
            case "resumed":
                self.resumed = line.text("at")
            case _:
                pass

    @property
    def plan(self) -> Mapping[str, Line]:
        """The plan line of each obligation."""
        return self.report.lines.plan

    @property
    def header(self) -> Line:
        """The first line."""
        return self.report.lines.header

    @property
    def quoted(self) -> bool:
        """Whether the journal has only the exchanges that its evidence quotes."""
        return self.header.values.get("exchanges") == QUOTED

    @property
    def of_judge(self) -> bool:
        """Whether `assay judge` wrote it, whose plan needs no capability."""
        return "party" in self.header.values

    @property
    def is_part(self) -> bool:
        """Whether its verdicts may rest on other shards, or are only those of a recording."""
        return bool(self.report.header.shard) or self.is_merged or self.of_judge

    @property
    def is_merged(self) -> bool:
        """Whether it was merged from shards."""
        return "merged" in self.header.values

    @property
    def invocation(self) -> Raw:
        """The options of the run, if it was one of `assay run`."""
        known = self.header.values.get("invocation")
        return known if isinstance(known, dict) else {}

    @property
    def day(self) -> date:
        """The day (UTC) on which waivers were applied, by the clock of the run."""
        for text in (self.resumed, self.report.header.started):
            with suppress(ValueError, OverflowError):
                return datetime.fromisoformat(text).astimezone(UTC).date()
        return datetime.now(UTC).date()


def read_run(path: Path, *, passes: bool = False) -> WrittenRun:
    """Read what a journal says, finished or not; `passes` as for `read_journal`.

    Raises:
        JournalError: it is damaged, or no journal.

    """
    run = WrittenRun()
    run.report = read_journal(path, partial=True, passes=passes, each=run.take)
    lines = run.report.lines
    run.results = {
        name: decode.verdict(lines.written[name]) for name in lines.plan if name in lines.written
    }
    run.unjudged |= {fault.where for fault in run.report.faults}
    return run


# -- findings of a verification ------------------------------------------------------
class FindingKind(Enum):
    """What a finding says; the value is the word used in every output."""

    DIFFERS = "differs"
    NOT_REJUDGED = "not re-judged"


@dataclass(frozen=True, slots=True)
class VerificationFinding:
    """One finding: about which obligation, line or file, and on which line of the journal."""

    kind: FindingKind
    where: str
    what: str
    line: int = 0


#: The findings that something is not what it should be, or could not be judged again.
differs = partial(VerificationFinding, FindingKind.DIFFERS)
not_rejudged = partial(VerificationFinding, FindingKind.NOT_REJUDGED)
