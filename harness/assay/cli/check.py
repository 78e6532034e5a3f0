"""`assay check`: all problems of contract and target files at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from assay.binding.read import find_target, read_document, shipped
from assay.contract.files.load import load
from assay.contract.parse import find_contract, parse_document
from assay.errors import InputError, Problem
from assay.planning.obligation import obligations

EPILOG = """\b
Examples:
  assay check my-contract.yaml bank.yaml
  assay check aisp sandbox
"""


@click.command(epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def command(files: Sequence[str]) -> int:
    """Check contract and target files, or shipped ones by name. Nothing is sent.

    Every problem is one line: file, line, what was expected, what was found, and a hint.
    """
    problems: list[Problem] = []
    for name in files:
        try:
            click.echo(_check(name))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return 0


def _check(name: str) -> str:
    document = load(_find(name))
    if "target" in document.data:
        target = read_document(document)
        return f"{name}: target {target.name}, {len(target.operations)} operations bound"
    contract = parse_document(document)
    planned = obligations(contract)
    return (
        f"{name}: contract {contract.id}, {len(contract.clauses)} clauses, "
        f"{len(planned) - len(contract.open_points)} obligations, "
        f"{len(contract.open_points)} open points"
    )


def _find(name: str) -> str:
    """Return the path of a file, or of a shipped contract or target."""
    if name in shipped() and not Path(name).exists():
        return str(find_target(name))  # its name may have a dot, like that of a file
    try:
        return str(find_contract(name))
    except InputError:
        return str(find_target(name))
