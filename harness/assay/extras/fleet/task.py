"""Tasks of a fleet: the run of one shard of one contract at one bank.

A task is performed wherever it is sent, and again if its worker is lost. Each attempt has a folder
of its own, so a half-done attempt keeps its journal. For real customers, the ledger knows which
accesses earlier attempts made: they are not made again, and the verdicts that they led to are
taken from the journal of that attempt. Whatever goes wrong is the result of the task: nothing is
raised, so that nothing is logged by the cluster.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from assay import __version__
from assay.binding.model.target import Target
from assay.binding.read.join import bind
from assay.contexts.context import Depth
from assay.contract.model import Contract
from assay.errors import AssayError, Exit, InputError, Problem
from assay.fixtures.providers import Customers, customers_of
from assay.journal.journal_file import JOURNAL
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.shards import read_shard, share
from assay.preparation.banks import BankEntry, BanksFile
from assay.preparation.prepare import SHIPPED, Prepared, Select, is_examined, prepare, selector
from assay.report import Report, read_journal, render
from assay.report.fleet import CellState, FleetCell
from assay.report.values import ReportedResult
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Options, RunResult, Session, run_session
from assay.transport.secrets import look_up

T = TypeVar("T")

#: The file in the folder of a fleet that asks all tasks to end.
STOP = "stop"
#: The reports of a cell, by format.
REPORTS = {"html": "report.html", "json": "report.json", "junit": "junit.xml"}
#: Seconds between two reports of the progress of a task.
PACE = 0.5
_DECIDED = frozenset({Standing.CONFORMS, Standing.VIOLATES, Standing.INDETERMINATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetTask:
    """The inputs of a task; all paths are absolute.

    `target` names a bank in a file of banks, and `digest` is that of its target. `folder` is that
    of the fleet, `calls` the share of the bank's call budget, `doctor` whether the target file is
    checked against the bank first.
    """

    bank: str
    target: str
    digest: str
    contract: str
    shard: str
    folder: Path
    calls: int | None = None
    ledger: Path | None = None
    contexts: str | None = None
    seed: int = 0
    keywords: str = ""
    marks: str = ""
    doctor: bool = True
    version: str = __version__

    def cell(self, state: CellState, reason: str = "") -> FleetCell:
        """Return the result of the task if it made no run."""
        return FleetCell(bank=self.bank, contract=self.contract, state=state, reason=reason)

    @property
    def key(self) -> str:
        """The name of the task in the cluster."""
        return f"{self.bank}/{Path(self.contract).stem}/{self.shard.replace('/', '-of-')}"

    @property
    def place(self) -> Path:
        """The folder of its attempts, from the fleet's folder."""
        shard = "" if self.shard == "1/1" else f"shard-{self.shard.replace('/', '-of-')}"
        return Path("banks") / self.bank / Path(self.contract).stem / shard


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """How far a task is, in calls; both are 0 before its plan is known."""

    task: str
    done: int = 0
    planned: int = 0


OnProgress = Callable[[TaskProgress], None]


def run_task(task: FleetTask, on_progress: OnProgress = lambda _: None) -> FleetCell:
    """Run a task; whatever happens, return its result."""
    began = time.monotonic()
    cell = task.cell(CellState.FAILED)
    try:
        cell = _attempt(task, cell, on_progress)
    except KeyboardInterrupt:
        cell = replace(cell, state=CellState.INTERRUPTED, reason="interrupted before it began")
    except AssayError as error:
        cell = replace(cell, reason=_first_line(error))
    except OSError as error:
        what = f"{error.filename or 'the folder'}: {error.strerror}"
        cell = replace(cell, reason=f"the worker cannot use {what}")
    except Exception as error:  # noqa: BLE001 -- its message may quote anything
        cell = replace(cell, exit=Exit.FAULT, reason=f"an error in Assay itself: {_place(error)}")
    return replace(cell, seconds=time.monotonic() - began)


def _first_line(error: AssayError) -> str:
    if isinstance(error, InputError):
        first, *others = map(str, error.problems)
        return first + (f" (and {len(others)} more)" if others else "")
    return str(error)


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = Path(trace.tb_frame.f_code.co_filename).name if trace else "?"
    return f"{type(error).__name__} at {file}:{trace.tb_lineno if trace else 0}"


def _attempt(task: FleetTask, cell: FleetCell, on_progress: OnProgress) -> FleetCell:
    """Run a task in a new folder.

    Raises:
        AssayError: it cannot begin, or the bank cannot be reached.

    """
    if task.version != __version__:
        what = f"the worker has Assay {__version__}, the fleet {task.version}"
        raise InputError.one(task.bank, what, hint="install the same version on both")
    if (task.folder / STOP).exists():
        raise KeyboardInterrupt
    earlier = tuple(_attempts(task))
    folder = _new_folder(task, len(earlier))
    prepared = _prepare(task, earlier)
    if task.doctor:
        _examine(task, prepared)
    environment = set_up(prepared.target, seed=task.seed, ledger=task.ledger)
    session = Session(
        plan=prepared.plan,
        environment=environment,
        journal=Journal.at(folder / JOURNAL),
        options=Options(
            seed=task.seed,
            selection={"k": task.keywords, "m": task.marks},
            command=f"assay fleet ({task.key})",
            reproduce=prepared.reproduce,
        ),
    )
    result = _run(task, session, on_progress)
    report = read_journal(folder / JOURNAL, partial=True)
    for name, file in REPORTS.items():
        render(report, name, folder / file)
    verdicts = _with_earlier(report.bare_results, earlier)
    return replace(
        _cell(cell, report, result, verdicts),
        journal=str((folder / JOURNAL).relative_to(task.folder)),
    )


def _attempts(task: FleetTask) -> Iterator[Path]:
    place = task.folder / task.place
    for folder in sorted(place.glob("attempt-*"), key=lambda path: int(path.name.split("-")[1])):
        if (folder / JOURNAL).exists():
            yield folder


def _new_folder(task: FleetTask, number: int) -> Path:
    """Make the folder of an attempt, which no other attempt has."""
    while True:
        number += 1
        folder = task.folder / task.place / f"attempt-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder


def _prepare(task: FleetTask, earlier: tuple[Path, ...]) -> Prepared:
    """Plan a task, with what earlier attempts left of its calls."""
    calls = task.calls
    if calls is not None:
        calls = max(calls - sum(map(_calls_of, earlier)), 0)
    prepared = prepare(
        [task.contract],
        task.target,
        keywords=task.keywords,
        marks=task.marks,
        ledger=task.ledger,
        contexts=Depth(task.contexts) if task.contexts else None,
        shard=None if task.shard == "1/1" else read_shard(task.shard),
        calls=calls,
    )
    if prepared.target.digest != task.digest:
        what = "the worker has another content of this target"
        raise InputError.one(task.target, what, hint="workers read it at the same path")
    return prepared


def _calls_of(attempt: Path) -> int:
    """Return how many calls an attempt made at most: one more than it could still record."""
    with (attempt / JOURNAL).open("rb") as stream:
        return sum(line.startswith(b'{"type": "exchange"') for line in stream) + 1


def _examine(task: FleetTask, prepared: Prepared) -> None:
    """Check a target file against its bank before a run.

    Raises:
        InputError: it has errors.

    """
    if not is_examined(prepared.target, task.target):
        return
    look_up(prepared.target, os.environ)
    from assay.onboarding.doctor import examine  # noqa: PLC0415 -- slow to import

    blocking = examine(task.target, prepared=prepared, ledger=task.ledger).blocking
    if blocking:
        others = f" (and {len(blocking) - 1} more)" if blocking[1:] else ""
        hint = f"details: assay doctor --target {task.target}; to run anyway: --no-doctor"
        what = f"the target file has errors: {blocking[0]}{others}"
        raise InputError.one(task.bank, what, hint=hint)


def _run(task: FleetTask, session: Session, on_progress: OnProgress) -> RunResult | None:
    """Run a session; None if it was interrupted."""
    stop, planned = task.folder / STOP, session.plan.calls
    shown = 0.0

    def look() -> None:
        nonlocal shown
        if time.monotonic() - shown < PACE:
            return
        shown = time.monotonic()
        on_progress(TaskProgress(task=task.key, done=session.exchanges, planned=planned))
        if stop.exists():
            raise KeyboardInterrupt

    session.on_exchange = look
    try:
        return run_session(session)
    except KeyboardInterrupt:
        return None
    except AssayError as error:
        what = session.journal.redactor.link(_first_line(error))
        raise InputError.one(task.bank, what) from None
    finally:
        session.environment.close()
        if session.journal.out is not None:
            session.journal.out.close()


def _cell(
    cell: FleetCell, report: Report, result: RunResult | None, verdicts: tuple[ReportedResult, ...]
) -> FleetCell:
    """Return the result of a run; None is one that was interrupted."""
    exit_ = result.exit if result else Exit.INCOMPLETE
    if exit_ is not Exit.FAULT and any(each.standing is Standing.VIOLATES for each in verdicts):
        exit_ = Exit.VIOLATION
    return replace(
        cell,
        state=CellState.TESTED if result else CellState.INTERRUPTED,
        reason=(result.stopped if result else "interrupted"),
        exit=exit_,
        exchanges=report.exchanges,
        verdicts=verdicts,
        waivers=report.waivers,
    )


def _with_earlier(
    verdicts: tuple[ReportedResult, ...], earlier: tuple[Path, ...]
) -> tuple[ReportedResult, ...]:
    """Return verdicts with those of earlier attempts where this one could not test again.

    A violation that an earlier attempt saw is kept, too: its journal shows it.
    """
    for attempt in earlier:
        before = {
            each.planned.id: each
            for each in read_journal(attempt / JOURNAL, partial=True).bare_results
            if each.standing in _DECIDED
        }
        verdicts = tuple(
            replace(before[each.planned.id], reason=_from(attempt, before[each.planned.id]))
            if each.planned.id in before and _is_less(each, before[each.planned.id])
            else each
            for each in verdicts
        )
    return verdicts


def _is_less(verdict: ReportedResult, before: ReportedResult) -> bool:
    if before.standing is Standing.VIOLATES:
        return verdict.standing in {Standing.CONFORMS, Standing.INDETERMINATE, Standing.UNVERIFIED}
    return verdict.standing is Standing.UNVERIFIED


def _from(attempt: Path, verdict: ReportedResult) -> str:
    where = f"recorded by {attempt.name}, which ended early"
    return f"{verdict.reason} ({where})" if verdict.reason else where


# -- Division of a fleet into tasks: each bank, each of its contracts, each shard of its plan ----
@dataclass(frozen=True, slots=True, kw_only=True)
class BankTasks:
    """The tasks of one bank; `in_turn` says that they run one after another."""

    bank: str
    tasks: tuple[FleetTask, ...]
    in_turn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions:
    """What all tasks of a fleet have in common."""

    folder: Path
    ledger: Path | None = None
    contexts: str | None = None
    seed: int = 0
    keywords: str = ""
    marks: str = ""
    doctor: bool = True


def divide_fleet(
    file: BanksFile, options: FleetOptions, only: Collection[str] = ()
) -> tuple[BankTasks, ...]:
    """Return the tasks of all banks, or of some `only`.

    Raises:
        InputError: the file of banks has problems; it has those of all banks.

    """
    for name in only:
        file.bank(name)
    problems: dict[Problem, None] = {}
    tasks: list[BankTasks] = []
    select = selector(options.keywords, options.marks)
    read = cache(_contract)
    for bank in file.banks:
        if only and bank.name not in only:
            continue
        of_bank: list[Problem] = []
        target = _or_problems(of_bank, partial(file.target, bank))
        contracts = _or_problems(of_bank, partial(_contracts, file, bank, read))
        if target and contracts:
            names = _or_problems(of_bank, partial(_selected, target, contracts, select)) or ()
            divided = partial(_tasks, file, bank, options, target, names)
            tasks += [each] if (each := _or_problems(of_bank, divided)) else []
        problems |= dict.fromkeys(of_bank)
    if problems:
        raise InputError(problems)
    if not any(bank.tasks for bank in tasks):
        hint = "`assay plan` lists all obligations"
        raise InputError.one("selection", "nothing is selected at any bank", hint=hint)
    return tuple(bank for bank in tasks if bank.tasks)


def _or_problems(problems: list[Problem], make: Callable[[], T]) -> T | None:
    """Return what can be made; None if it has problems, which are added to others."""
    try:
        return make()
    except InputError as error:
        problems += error.problems
        return None


def _tasks(
    file: BanksFile,
    bank: BankEntry,
    options: FleetOptions,
    target: Target,
    contracts: Sequence[str],
) -> BankTasks:
    in_turn = customers_of(target) is not Customers.CREATED
    if in_turn and bank.shards > 1:
        what = f"banks.{bank.name}: its customers are real, so a run of it cannot be divided"
        line = file.document.line(bank.pointer)
        raise InputError.one(file.path, what, line=line, hint="write shards: 1 for this bank")
    parts = [
        (contract, f"{number}/{bank.shards}")
        for contract in contracts
        for number in range(1, bank.shards + 1)
    ]
    tasks = (
        FleetTask(
            bank=bank.name,
            target=f"{Path(file.path).resolve()}#{bank.name}",
            digest=target.digest,
            contract=contract,
            shard=shard,
            folder=options.folder,
            calls=_calls(target, number, len(parts)),
            ledger=options.ledger,
            contexts=options.contexts,
            seed=options.seed,
            keywords=options.keywords,
            marks=options.marks,
            doctor=options.doctor and number == 1,
        )
        for number, (contract, shard) in enumerate(parts, 1)
    )
    return BankTasks(bank=bank.name, tasks=tuple(tasks), in_turn=in_turn)


def _contracts(
    file: BanksFile, bank: BankEntry, read: Callable[[str], Contract]
) -> Mapping[str, Contract]:
    """Return the contracts of a bank by the names that tasks have for them.

    Raises:
        InputError: one cannot be used, or two have the same file name.

    """
    line = file.document.line((*bank.pointer, "contracts"))
    contracts: dict[str, Contract] = {}
    problems: list[Problem] = []
    for name in bank.contracts or SHIPPED:
        if Path(name).stem in {Path(known).stem for known in contracts}:
            what = f"banks.{bank.name}: two contracts are named {Path(name).stem!r}"
            problems.append(Problem(path=file.path, line=line, what=what, hint="rename a file"))
            continue
        try:
            path = str(Path(name).resolve()) if "/" in name else name
            contracts[path] = read(path)
        except InputError as error:
            first = error.problems[0]
            if first.line:
                raise
            what = f"banks.{bank.name}: contract {name!r}: {first.what}"
            problems.append(Problem(path=file.path, line=line, what=what, hint=first.hint))
    if problems:
        raise InputError(problems)
    return contracts


def _contract(name: str) -> Contract:
    return parse_contract(find_contract(name))


def _selected(target: Target, contracts: Mapping[str, Contract], select: Select) -> tuple[str, ...]:
    """Return the contracts of which something is selected.

    Raises:
        InputError: a contract and the target do not fit.

    """
    return tuple(
        name
        for name, contract in contracts.items()
        if any(map(select, bind([contract], target)[0].obligations))
    )


def _calls(target: Target, number: int, of: int) -> int | None:
    most = target.budget.calls
    return None if most is None else share(most, number, of)
