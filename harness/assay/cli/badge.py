"""`assay badge`: the state of a run as an image."""

from __future__ import annotations

from pathlib import Path

import click

from assay.journal.journal_file import journal_at
from assay.report import read_journal, write_file
from assay.report.formats.badge import FORMATS, badge_of

EPILOG = """\b
Examples:
  assay badge reports/local/nightly --out badge.svg
  assay badge reports/local/nightly --format shields --out badge.json
  assay badge journal.jsonl --label "PSD2 sandbox" --out badge.svg
"""


@click.command(epilog=EPILOG)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-f",
    "--format",
    "name",
    type=click.Choice([*FORMATS]),
    default="svg",
    show_default=True,
    help="An SVG image, or the JSON document of a shields.io endpoint.",
)
@click.option("--label", default="conformance", show_default=True, help="Text on the left.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this file instead of standard output.",
)
def command(run: Path, name: str, label: str, out: Path | None) -> int:
    """Write a badge with the state of a run, which is a folder or a journal.

    Green means that everything was verified that had to be. Red is a violation, yellow an
    incomplete run, blue a selection, grey a run that proves nothing.
    """
    journal = journal_at(run)
    text = FORMATS[name](badge_of(read_journal(journal, partial=True), label))
    if out is not None:
        write_file(out, lambda stream: stream.write(text))
    else:
        click.echo(text.encode(), nl=False)
    return 0
