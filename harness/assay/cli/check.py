"""`assay check`: all problems of contract files, target files, waivers and files of banks at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from assay.binding.model.features import without_tpp_token
from assay.binding.model.spelling import keys_without_value, made_slots
from assay.binding.model.target import OperationBinding, Target
from assay.binding.read.document_clauses import document_notes, document_problems
from assay.binding.read.join import bind, missing_parts, problem_at, unmatched_waivers
from assay.binding.read.without_effect import other_meanings, without_effect
from assay.contract.model import Contract, Operation
from assay.contract.scalars import is_word, number_of
from assay.errors import InputError, Problem, first_lines
from assay.files.document import Pointer, spell
from assay.files.load import load
from assay.parsing.parse import find_contract, parse_contracts, parse_document
from assay.preparation.banks import read_bank_target, read_banks
from assay.preparation.prepare import SANDBOX
from assay.preparation.target_file import find_target, read_document, read_target, shipped
from assay.report.wording import counted, waiver_notes
from assay.rules.lifecycle.execution_record import USUAL, is_usual
from assay.rules.obligation import obligations
from assay.rules.rule import clauses_of

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
    problems += InputError(checked.problems()).problems
    for note in first_lines([*checked.notes({each.key for each in problems})]):
        click.echo(note)
    if problems:
        # A target file may name the contract that is checked beside it.
        raise InputError(list(dict.fromkeys(problems)))
    return 0


@dataclass(slots=True)
class _Checked:
    """The contracts and targets without problems."""

    contracts: list[Contract] = field(default_factory=list[Contract])
    targets: list[Target] = field(default_factory=list[Target])
    #: Targets with the waivers of a file that was checked by itself.
    waiving: list[Target] = field(default_factory=list[Target])

    def notes(self, wrong: Collection[str]) -> Iterator[str]:
        """Yield what the targets lack for calls of the contracts.

        An operation below whose keys something is `wrong` may lack it for that reason.
        """
        for target in self.targets:
            contracts = self.contracts or (_named(target) if target.contract_files else ())
            yield from _other_meanings(target, contracts)
            for at, what in document_notes(target, contracts or _named(target)):
                yield _note(target, at, what)
            for contract in contracts:
                yield from _without_token(target, contract)
                for operation in contract.operations.values():
                    if not any(key.startswith(f"operations.{operation.id}.") for key in wrong):
                        yield from _of_operation(target, contract, operation)
        for target in (*self.targets, *self.waiving):
            yield from waiver_notes(target)

    def problems(self) -> Iterator[Problem]:
        """Yield what does not fit together: names, waivers, hosts."""
        for target in self.targets:
            try:
                wanted = self.contracts or _named(target)
                contracts = [each.contract for each in bind(wanted, target)] if wanted else ()
            except InputError as error:
                yield from error.problems
            else:
                yield from _without_effect(target, contracts)
                yield from document_problems(target, contracts)
        ids = {contract.id for contract in self.contracts}
        known = [each for contract in self.contracts for each in obligations(contract)]
        for target in self.waiving:
            named = {waiver.name.partition("/")[0] for waiver in target.waivers}
            yield from unmatched_waivers(target, known, elsewhere=named - ids)


def _named(target: Target) -> list[Contract]:
    """Return the contracts that a target file says it binds, if all are known by their names."""
    try:
        names = map(target.contract_name, sorted(target.contracts))
        return parse_contracts(names)
    except InputError:
        return []  # a contract of the user's own, which was not given


def _without_effect(target: Target, contracts: Sequence[Contract]) -> Iterator[Problem]:
    """Yield the keys that have no effect; without a contract, any name may be one of its own."""
    if not contracts:
        return
    wrong = [(at, found, "") for at, found in without_effect(target, contracts)]
    if target.confirmed:
        from assay.onboarding.doctor.examination import STEPS  # noqa: PLC0415 -- only where it is needed
        from assay.onboarding.doctor.preflight import wrong_confirmations  # noqa: PLC0415

        checks = [step.name for step in STEPS]
        wrong += wrong_confirmations(target, contracts, checks)
    for at, what, hint in wrong:
        yield problem_at(target, at, what, hint)


def _note(target: Target, at: Pointer, what: str, hint: str = "") -> str:
    """Return a note about a key, in one line."""
    noted = problem_at(target, at, what)
    more = f" ({hint})" if hint else ""
    return f"{noted.path}:{noted.line}: note: {noted.what}{more}"


def _other_meanings(target: Target, contracts: Sequence[Contract]) -> Iterator[str]:
    """Yield a note for each word that usually means something else."""
    for at, _, found in other_meanings(target, contracts):
        yield _note(target, at, f"{found}; is this intended?")


def _without_token(target: Target, contract: Contract) -> Iterator[str]:
    """Yield a note if nothing provides the token with which the TPP calls in its own name."""
    operations = without_tpp_token(contract, target)
    if operations:
        what = (
            f"no token of the TPP, so obligations that call {_listed(operations)} stay unverified"
        )
        hint = "add auth.tpp, with `kind: client-credentials` or a token_env, or `kind: none`"
        yield _note(target, ("auth", "tpp"), what, hint)


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _of_operation(target: Target, contract: Contract, operation: Operation) -> Iterator[str]:
    """Yield notes about the binding of an operation that is called."""
    binding = target.operations.get(operation.id)
    not_called = not operation.available or operation.id in missing_parts(target).operations
    if binding is None or not_called:
        return
    made = made_slots(operation, contract.operations.values(), target.operations)
    yield from _unset(target, operation, binding, {*made, *target.outputs})
    yield from _unusual_amount(target, operation, binding)
    yield from _named_values(target, contract, operation, binding)


def _unset(
    target: Target, operation: Operation, binding: OperationBinding, made: Collection[str]
) -> Iterator[str]:
    """Yield a note for each value without which an operation cannot be called."""
    for at, key in keys_without_value(operation, binding, made):
        what = f"no value, so obligations that call {operation.id} stay unverified"
        if slot := key.removeprefix(spell(at)).removeprefix(": "):
            what = f"{slot}: {what}"
        yield _note(target, at, what, "`assay plan` lists it")


def _unusual_amount(
    target: Target, operation: Operation, binding: OperationBinding
) -> Iterator[str]:
    """Yield a note if requests are made with an amount that an account need not cover."""
    argument = binding.arguments.get(operation.amount or "")
    if argument is None or not operation.makes:
        return
    if number_of(argument.value) is not None and not is_usual(argument.value):
        key = ("operations", operation.id, "arguments", operation.amount or "", "value")
        what = f"a customer may not have more than the usual {USUAL[0]} to {USUAL[1]}"
        what = f"{what}, so the execution of such a request cannot be judged"
        yield _note(target, key, what)


def _named_values(
    target: Target, contract: Contract, operation: Operation, binding: OperationBinding
) -> Iterator[str]:
    """Yield a note if an ordinary request has a value with which a clause expects another outcome."""
    for clause, kind in zip(contract.clauses, clauses_of(contract), strict=True):
        for name, value in kind.facts().named_values.get(operation.makes or "", ()):
            argument = binding.arguments.get(name)
            if argument is not None and is_word(value, argument.value):
                what = f"{clause.id} is about requests with this value, so its row with another one"
                hint = "write another valid value, if there is one"
                at = ("operations", operation.id, "arguments", name, "value")
                yield _note(target, at, f"{what} stays open", hint)


def _check(name: str, checked: _Checked) -> str:
    if "#" in name and (of_bank := read_bank_target(name)):
        return _checked_target(name, of_bank, checked)
    document = load(_find(name))
    if "fleet" in document.data:
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
    if name in shipped() and not Path(name).exists():
        return str(find_target(name))  # its name may have a dot, like that of a file
    try:
        return str(find_contract(name))
    except InputError:
        return str(find_target(name))
