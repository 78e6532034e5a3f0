"""Division of a fleet into tasks: each bank, each of its contracts, each shard of its plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.binding.banks import BankEntry, BanksFile
from assay.binding.target import Target
from assay.contract.parse import find_contract
from assay.errors import InputError, Problem, did_you_mean
from assay.fixtures.providers import Customers, customers_of
from assay.fleet.task import FleetTask
from assay.planning.prepare import SHIPPED
from assay.planning.shards import share


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
    for bank in file.banks:
        if only and bank.name not in only:
            continue
        try:
            tasks.append(_tasks(file, bank, options))
        except InputError as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise InputError(problems)
    return tuple(tasks)


def _tasks(file: BanksFile, bank: BankEntry, options: FleetOptions) -> BankTasks:
    target = file.target(bank)
    contracts = bank.contracts or SHIPPED
    _check_contracts(file, bank, contracts)
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
            contract=str(Path(contract).resolve()) if "/" in contract else contract,
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


def _calls(target: Target, number: int, of: int) -> int | None:
    most = target.budget.calls
    return None if most is None else share(most, number, of)


def _check_contracts(file: BanksFile, bank: BankEntry, contracts: Collection[str]) -> None:
    """Check that contracts exist, and that their results have folders of their own.

    Raises:
        InputError: one does not, or two have the same file name.

    """
    problems = [*_contract_problems(file, bank, contracts)]
    if problems:
        raise InputError(problems)


def _contract_problems(
    file: BanksFile, bank: BankEntry, contracts: Collection[str]
) -> Iterator[Problem]:
    line = file.document.line((*bank.pointer, "contracts"))
    seen: set[str] = set()
    for name in contracts:
        try:
            path = find_contract(name)
            known = Path(path).exists()
            hint = ""
        except InputError as error:
            known, hint = False, error.problems[0].hint
        if not known:
            what = f"banks.{bank.name}: there is no contract {name!r}"
            hint = hint or did_you_mean(name, SHIPPED)
            yield Problem(path=file.path, line=line, what=what, hint=hint)
        if Path(name).stem in seen:
            what = f"banks.{bank.name}: two contracts are named {Path(name).stem!r}"
            yield Problem(path=file.path, line=line, what=what, hint="rename one of the files")
        seen.add(Path(name).stem)
