"""`assay diff`: what changes between two versions of a contract, for the bank and for the TPP."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli import options
from assay.cli.results import print_document
from assay.errors import Exit, InputError, Problem, did_you_mean
from assay.extras.diff import GATES, ContractDiff, compare
from assay.extras.diff.formats import FORMATS
from assay.files.document import Document
from assay.files.load import load
from assay.parsing.parse import find_contract, parse_document
from assay.report.wording import counted

EPILOG = """\b
Examples:
  assay diff old.yaml new.yaml
  assay diff old.yaml new.yaml --fail-on breaking-tpp,review
  assay diff aisp my-aisp.yaml --format markdown >> "$GITHUB_STEP_SUMMARY"
  assay diff <(git show main:contract.yaml) contract.yaml --format github

\b
Impacts on a party:
  breaking  it must do more or can do less; it may fail unless it changes
  adjust    it must refuse or withhold more; a small change, but a required one
  review    depends on the case; needs a decision
  easier    it can do more or must do less; no change is required
  none      not affected: wording, names

\b
Gates of --fail-on:
  breaking-tpp, breaking-bank   changes that are breaking for this party
  breaking                      changes that are breaking for either party
  review                        changes that are breaking, adjust or review for either party
  any                           all changes
  none (default)                no change: always exit with 0

\b
Exit codes:
  0  no change covered by --fail-on        2  a usage or contract error
  1  at least one such change              4  an error in Assay itself
"""


def _read_gates(_context: click.Context, _parameter: click.Parameter, value: str) -> Any:
    words = [word for word in map(str.strip, value.split(",")) if word not in {"", "none"}]
    for word in words:
        if word not in GATES:
            hint = did_you_mean(word, [*GATES, "none"])
            raise InputError.one("--fail-on", f"there is no gate {word!r}", hint=hint)
    return tuple(dict.fromkeys(words))


@click.command(epilog=EPILOG)
@click.argument("old")
@click.argument("new")
@options.document_format(FORMATS, "comparison")
@options.out_file
@click.option(
    "--fail-on",
    "gates",
    callback=_read_gates,
    default="none",
    show_default=True,
    metavar="LIST",
    help="Comma-separated gates; a change that one of them covers makes the command fail.",
)
def command(old: str, new: str, form: str, out: Path | None, gates: Sequence[str]) -> int:
    """Compare two versions of a contract, given as files or shipped names. Nothing is sent.

    Every change is listed with its impact on the TPP and on the bank. That of a new or a removed
    rule follows from its kind; other changes are for both parties to review.
    """
    diff = compare(*_read(old, new))
    text = io.StringIO()
    FORMATS[form](diff, text)
    print_document(text.getvalue(), form, out)
    return _exit(diff, gates)


def _read(*names: str) -> tuple[Document, Document]:
    """Read both contracts; the problems of both are reported at once."""
    documents: list[Document] = []
    problems: list[Problem] = []
    for name in names:
        try:
            document = load(find_contract(name))
            parse_document(document)
            documents.append(document)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(dict.fromkeys(problems))
    return documents[0], documents[1]


def _exit(diff: ContractDiff, gates: Sequence[str]) -> int:
    """Return the exit code, and say why it is not 0."""
    code = Exit.OK
    for gate in gates:
        if number := sum(map(GATES[gate], diff.changes)):
            click.echo(f"assay: --fail-on {gate}: {counted(number, 'change')}", err=True)
            code = Exit.VIOLATION
    return code.value
