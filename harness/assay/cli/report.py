"""`assay report`: a recorded run, rendered again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay import report

EPILOG = """\b
Examples:
  assay report journal.jsonl
  assay report journal.jsonl --format html --out report.html
  assay report journal.jsonl --format markdown >> "$GITHUB_STEP_SUMMARY"
"""


@click.command(epilog=EPILOG)
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "-f",
    "--format",
    "name",
    default="text",
    show_default=True,
    metavar="|".join(report.FORMATS),
    help="What to render.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to a file instead of printing.",
)
@click.option("--partial", is_flag=True, help="Show what there is of an unfinished run.")
def command(journal: Path, name: str, out: Path | None, partial: bool) -> int:
    """Render the journal of a run in any format.

    A journal that is damaged or unfinished is refused: it proves nothing.
    """
    read = report.read_journal(journal, partial=partial)
    if out is not None:
        report.render(read, name, out)
    else:
        report.find_format(name).render(read, sys.stdout)
    return 0
