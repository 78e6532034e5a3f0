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
    help="Format of the badge: an SVG image, or the JSON document of a shields.io endpoint.",
)
@click.option(
    "--label", default="conformance", show_default=True, help="Text on the left of the badge."
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this file instead of standard output.",
)
def command(run: Path, name: str, label: str, out: Path | None) -> int:
    """Write a status badge for a run.

    RUN is the folder of a run, or its journal. The badge is green if every `must` obligation was
    verified, red for a violation, yellow for an incomplete run, blue for a run of selected
    obligations, and grey for a run that verified nothing.
    """
    journal = journal_at(run)
    text = FORMATS[name](badge_of(read_journal(journal, partial=True), label))
    if out is not None:
        write_file(out, lambda stream: stream.write(text))
    else:
        click.echo(text.encode(), nl=False)
    return 0
