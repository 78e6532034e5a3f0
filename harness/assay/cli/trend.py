"""`assay trend`: one page about all runs of a folder."""

from __future__ import annotations

from pathlib import Path

import click

from assay.report import write_file
from assay.report.wording import counted

EPILOG = """\b
Examples:
  assay trend reports/local
  assay trend reports/nightly --out public/trend.html --last 90
"""


@click.command(epilog=EPILOG)
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
def command(folder: Path, out: Path | None, last: int) -> int:
    """Write an HTML page on all runs in a folder: verdicts over time, and changes between runs.

    A run is a subfolder with a journal or a report.json. The page is one file without scripts; it
    links to the HTML reports. Runs that cannot be read are listed.
    """
    from assay.report.trend import read_trend, render  # noqa: PLC0415 -- Jinja2 only when used

    page = out or folder / "trend.html"
    trend = read_trend(folder, page, last=last)
    write_file(page, lambda stream: render(trend, stream))
    unreadable = len(trend.unreadable)
    besides = f"; {counted(unreadable, 'run')} could not be read" if unreadable else ""
    click.echo(f"{page}: {counted(len(trend.runs), 'run')}{besides}")
    return 0
