"""Division of a fleet into tasks: each bank, each of its contracts, each shard of its plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from assay.binding.model.target import Target
from assay.binding.read.join import bind
from assay.contract.model import Contract
from assay.errors import InputError, Problem
from assay.extras.fleet.task import FleetTask
from assay.fixtures.providers import Customers, customers_of
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.shards import share
from assay.preparation.banks import BankEntry, BanksFile
from assay.preparation.prepare import SHIPPED, Select, selector

T = TypeVar("T")


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
