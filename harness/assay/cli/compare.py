"""`assay compare`: the differences between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli import options
from assay.cli.results import print_document
from assay.errors import InputError, did_you_mean
from assay.report.comparison import (
    DEFAULT,
    FORMATS,
    Category,
    compare,
    exit_of_comparison,
    read_run,
)

EPILOG = """\b
Examples:
  assay compare reports/local/monday reports/local/tuesday
  assay compare old/report.json new/journal.jsonl --format markdown
  assay compare old new --fail-on newly-violated,clause-changed
  assay compare old new --fail-on none

\b
Categories of --fail-on: {categories}

\b
Exit codes:
  0  no difference in a category of --fail-on
  1  a difference in one of these categories
  2  a usage error, or a damaged journal
  3  as 1, but only in newly-unverified or no-longer-planned
"""
#: How many categories a line of the help has.
_IN_A_LINE = 4


def _categories() -> str:
    names = [category.value for category in Category]
    lines = [names[at : at + _IN_A_LINE] for at in range(0, len(names), _IN_A_LINE)]
    return ",\n  ".join(", ".join(line) for line in lines) + ", any, none"


def _read_fail_on(_context: click.Context, _parameter: click.Parameter, value: str) -> Any:
    """Read a list of categories, `any` or `none`."""
    known = {category.value: category for category in Category}
    chosen: set[Category] = set()
    for word in filter(None, map(str.strip, value.split(","))):
        if word == "any":
            chosen |= {*Category}
        elif word in known:
            chosen.add(known[word])
        elif word != "none":
            hint = did_you_mean(word, [*known, "any", "none"])
            raise InputError.one("--fail-on", f"there is no category {word!r}", hint=hint)
    return frozenset(chosen)


@click.command(epilog=EPILOG.format(categories=_categories()))
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--fail-on",
    callback=_read_fail_on,
    default=",".join(category.value for category in DEFAULT),
    show_default=True,
    metavar="LIST",
    help="Comma-separated categories of differences that make the command fail.",
)
@options.document_format(FORMATS, "comparison")
@options.out_file
def command(old: Path, new: Path, fail_on: frozenset[Category], form: str, out: Path | None) -> int:
    """Compare two runs: new violations, fixes, lost verifications, and all other differences.

    OLD and NEW are runs, each given as its folder, its journal or its report.json.
    """
    comparison = compare(read_run(old), read_run(new))
    print_document(FORMATS[form](comparison, fail_on), form, out)
    return exit_of_comparison(comparison, fail_on).value
