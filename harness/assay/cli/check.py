"""`assay check`: all problems of contract files, target files, waivers and files of banks at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from assay.binding.banks import read_bank_target, read_banks
from assay.binding.features import without_tpp_token
from assay.binding.join import bind, unmatched_waivers
from assay.binding.path_slots import made_slots
from assay.binding.read import find_target, read_document, read_target, shipped
from assay.binding.spelling import keys_without_value
from assay.binding.target import OperationBinding, Target
from assay.cli.waiver_notes import waiver_notes
from assay.contract.files.load import load
from assay.contract.model import Contract, Operation
from assay.contract.parse import find_contract, parse_contract, parse_document
from assay.errors import InputError, Problem
from assay.planning.obligation import obligations
from assay.planning.prepare import SANDBOX
from assay.report.wording import counted
from assay.rules.lifecycle.execution_record import USUAL

EPILOG = """\b
Examples:
  assay check my-contract.yaml bank.yaml
  assay check aisp sandbox
  assay check aisp waivers.yaml
  assay check banks.yaml
  assay check aisp banks.yaml#first-bank
"""


@click.command(epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def command(files: Sequence[str]) -> int:
    """Validate contracts, target files, waivers and bank lists, without sending anything.

    FILE is a path or the name of a shipped file. A target file is compared with the contracts in
    the same command, or else with those listed under its `contracts` key: operations, arguments,
    modes, fields, waivers.

    Each problem is printed on one line: file, line, expected, found, hint.
    """
    problems: list[Problem] = []
    checked = _Checked()
    for name in files:
        try:
            click.echo(_check(name, checked))
        except InputError as error:
            problems += error.problems
    for note in checked.notes():
        click.echo(note)
    problems += checked.problems()
    if problems:
        raise InputError(problems)
    return 0


@dataclass(slots=True)
class _Checked:
    """The contracts and targets without problems."""

    contracts: list[Contract] = field(default_factory=list[Contract])
    targets: list[Target] = field(default_factory=list[Target])
    #: Targets with the waivers of a file that was checked by itself.
    waiving: list[Target] = field(default_factory=list[Target])

    def notes(self) -> Iterator[str]:
        """Yield what the targets lack for calls of the contracts."""
        for target in self.targets:
            own = _named(target) if target.contract_files else ()
            for contract in self.contracts or own:
                yield from _without_token(target, contract)
                for operation in contract.operations.values():
                    binding = target.operations.get(operation.id)
                    absent = operation.id in target.absent.operations
                    if binding is not None and operation.available and not absent:
                        made = made_slots(
                            operation, contract.operations.values(), target.operations
                        )
                        yield from _unset(target, operation, binding, {*made, *target.outputs})
                        yield from _unusual_amount(target, operation, binding)
        for target in (*self.targets, *self.waiving):
            yield from waiver_notes(target)

    def problems(self) -> Iterator[Problem]:
        """Yield what does not fit together: names, waivers, hosts."""
        for target in self.targets:
            try:
                if contracts := self.contracts or _named(target):
                    bind(contracts, target)
            except InputError as error:
                yield from error.problems
        ids = {contract.id for contract in self.contracts}
        known = [each for contract in self.contracts for each in obligations(contract)]
        for target in self.waiving:
            named = {waiver.name.partition("/")[0] for waiver in target.waivers}
            yield from unmatched_waivers(target, known, elsewhere=named - ids)


def _named(target: Target) -> list[Contract]:
    """Return the contracts that a target file says it binds, if all are known by their names."""
    try:
        names = map(target.contract_name, sorted(target.contracts))
        return [parse_contract(find_contract(name)) for name in names]
    except InputError:
        return []  # a contract of the user's own, which was not given


def _without_token(target: Target, contract: Contract) -> Iterator[str]:
    """Yield a note if nothing provides the token with which the TPP calls in its own name."""
    operations = without_tpp_token(contract, target)
    if operations:
        path, line = target.place("auth", "tpp")
        what = f"auth: no token of the TPP, so obligations that call {_listed(operations)} stay unverified"
        hint = "add auth.tpp, with `kind: client-credentials` or a token_env, or `kind: none`"
        yield f"{path}:{line}: note: {what} ({hint})"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _unset(
    target: Target, operation: Operation, binding: OperationBinding, made: Collection[str]
) -> Iterator[str]:
    """Yield a note for each value without which an operation cannot be called."""
    for at, key in keys_without_value(operation, binding, made):
        path, line = target.place(*at)
        what = f"{key}: no value, so obligations that call {operation.id} stay unverified"
        yield f"{path}:{line}: note: {what} (`assay plan` lists it)"


def _unusual_amount(
    target: Target, operation: Operation, binding: OperationBinding
) -> Iterator[str]:
    """Yield a note if requests are made with an amount that an account need not cover."""
    argument = binding.arguments.get(operation.amount or "")
    if argument is None or not operation.makes:
        return
    try:
        usual = USUAL[0] <= Decimal(str(argument.value)) <= USUAL[1]
    except InvalidOperation:
        return  # no amount: `assay doctor` examines it
    if not usual:
        key = ("operations", operation.id, "arguments", operation.amount or "", "value")
        path, line = target.place(*key)
        what = f"a customer may not have more than the usual {USUAL[0]} to {USUAL[1]}"
        what = f"{what}, so the execution of such a request cannot be judged"
        yield f"{path}:{line}: note: {'.'.join(key)}: {what}"


def _check(name: str, checked: _Checked) -> str:
    if "#" in name and (of_bank := read_bank_target(name)):
        return _checked_target(name, of_bank, checked)
    document = load(_find(name))
    if "banks" in document.data:
        file = read_banks(document.path)
        checked.targets += file.targets()
        return f"{name}: fleet {file.name}, {len(file.banks)} banks"
    if "waivers" in document.data and "target" not in document.data:
        # A target must have them before they are values; it is not examined itself.
        waiving = read_target(find_target(SANDBOX), waivers=Path(document.path))
        checked.waiving.append(waiving)
        return f"{name}: {counted(len(waiving.waivers), 'waiver')}"
    if "target" in document.data:
        return _checked_target(name, read_document(document), checked)
    contract = parse_document(document)
    checked.contracts.append(contract)
    planned = obligations(contract)
    return (
        f"{name}: contract {contract.id}, {counted(len(contract.clauses), 'clause')}, "
        f"{counted(len(planned) - len(contract.open_points), 'obligation')}, "
        f"{counted(len(contract.open_points), 'open point')}"
    )


def _checked_target(name: str, target: Target, checked: _Checked) -> str:
    checked.targets.append(target)
    return f"{name}: target {target.name}, {len(target.operations)} operations bound"


def _find(name: str) -> str:
    """Return the path of a file, or of a shipped contract or target."""
    if name in shipped() and not Path(name).exists():
        return str(find_target(name))  # its name may have a dot, like that of a file
    try:
        return str(find_contract(name))
    except InputError:
        return str(find_target(name))
