"""`assay report`: the journal of a run, rendered in any format."""

from __future__ import annotations

import io
from pathlib import Path

import click

from assay import report
from assay.cli import options

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
    help="Format of the report.",
)
@options.out_file
@click.option(
    "--partial", is_flag=True, help="Render the part that an unfinished run has recorded."
)
def command(journal: Path, name: str, out: Path | None, partial: bool) -> int:
    """Render the journal of a run in any format.

    A damaged or unfinished journal is refused, since it is no evidence of conformance.
    """
    read = report.read_journal(journal, partial=partial)
    if out is not None:
        report.render(read, name, out)
    else:
        _print(read, name)
    return 0


def _print(read: report.Report, name: str) -> None:
    """Print a report: text as the terminal has it, documents in UTF-8."""
    form, text = report.find_format(name), io.StringIO()
    form.render(read, text)
    click.echo(text.getvalue() if name == "text" else text.getvalue().encode(), nl=False)
