"""`assay compare` and `assay trend`: what changed between two runs, and over all runs of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli import options
from assay.cli.results import print_document
from assay.errors import InputError, did_you_mean
from assay.report import write_file
from assay.report.comparison import (
    DEFAULT,
    FORMATS,
    Category,
    compare,
    exit_of_comparison,
    read_run,
)
from assay.report.wording import counted

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


# -- the trend of all runs in a folder -----------------------------------------
TREND_EPILOG = """\b
Examples:
  assay trend reports/local
  assay trend reports/nightly --out public/trend.html --last 90
"""


@click.command(epilog=TREND_EPILOG)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="HTML page to write. Default: trend.html in FOLDER.",
)
@click.option(
    "--last",
    type=click.IntRange(1, 1000),
    default=200,
    show_default=True,
    metavar="N",
    help="Show only the last N runs.",
)
def trend(folder: Path, out: Path | None, last: int) -> int:
    """Write an HTML page on all runs in a folder: verdicts over time, and changes between runs.

    A run is a subfolder with a journal or a report.json. The page is one file without scripts; it
    links to the HTML reports. Runs that cannot be read are listed.
    """
    from assay.report.trend import read_trend, render  # noqa: PLC0415 -- Jinja2 only when used

    page = out or folder / "trend.html"
    runs = read_trend(folder, page, last=last)
    write_file(page, lambda stream: render(runs, stream))
    unreadable = len(runs.unreadable)
    besides = f"; {counted(unreadable, 'run')} could not be read" if unreadable else ""
    click.echo(f"{page}: {counted(len(runs.runs), 'run')}{besides}")
    return 0
