"""`assay prove`: the kill matrix, printed and written as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from assay.judging.verdict import Exit
from assay.kill_matrix import UNPROVED, Matrix, MatrixRow, count, prove
from assay.planning.prepare import matching

EPILOG = """\b
Examples:
  assay prove
  assay prove -k quota
  assay prove --out reports/reference/kill-matrix.md
"""


@click.command(epilog=EPILOG)
@click.option(
    "-k",
    "keywords",
    default="",
    metavar="EXPR",
    help="Only mutants and neutral variants whose id contains these words, as in pytest.",
)
@click.option(
    "-n", "--workers", type=click.IntRange(1), help="Number of processes. Default: one per core."
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write the matrix as Markdown.",
)
def command(keywords: str, workers: int | None, out: Path | None) -> int:
    """Test the harness: run it on sandboxes with one fault each, and on neutral variants.

    A run on a mutant must find exactly the violations of its fault; a run on a neutral
    variant none. Every obligation must have a mutant. Otherwise the exit code is 1.
    """
    matrix = prove(matching("-k", keywords), workers=workers, on_row=_show)
    if not matrix.rows:
        click.echo(f"no mutant or neutral variant has an id that matches -k {keywords!r}")
        return Exit.VIOLATION.value
    for line in summary_lines(matrix, whole=not keywords):
        click.echo(line)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("\n".join(markdown_lines(matrix)) + "\n", encoding="utf-8")
    as_expected = not matrix.wrong if keywords else matrix.proved
    return Exit.OK.value if as_expected else Exit.VIOLATION.value


def _show(row: MatrixRow) -> None:
    """Print a row as soon as its run is over."""
    click.echo(f"{'ok   ' if row.as_expected else 'WRONG'} {row.id:<44} {_result(row)}")


def _result(row: MatrixRow) -> str:
    if row.neutral:
        wrong = sorted(row.violated | row.unresolved)
        return "no violation" if row.as_expected else "not expected: " + ", ".join(wrong)
    if row.as_expected:
        return ", ".join(sorted(row.violated))
    missed, unexpected = sorted(row.expected - row.violated), sorted(row.violated - row.expected)
    parts = [f"not found: {', '.join(missed)}"] if missed else []
    parts += [f"not expected: {', '.join(unexpected)}"] if unexpected else []
    return "; ".join(parts)


def summary_lines(matrix: Matrix, *, whole: bool) -> Iterator[str]:
    """Yield the figures, and the obligations without a mutant, as lines."""
    yield ""
    for what, figure in count(matrix).items():
        if whole or what != UNPROVED:
            yield f"{figure:>5} {what}"
    if whole:
        for id_ in matrix.unproved:
            yield f"no mutant violates {id_}"


def markdown_lines(matrix: Matrix) -> Iterator[str]:
    """Yield the matrix as lines of Markdown, for reports/reference."""
    yield "# Kill matrix"
    yield ""
    yield "Written by `assay prove --out`. A mutant is the sandbox with one fault: a run on it must"
    yield "find exactly the violations of that fault. A run on a neutral variant must find none."
    yield ""
    yield "| figure | count |"
    yield "|---|---:|"
    for what, figure in count(matrix).items():
        yield f"| {what} | {figure} |"
    yield ""
    yield "| mutant | fault | violations found | as expected |"
    yield "|---|---|---|---|"
    for row in matrix.rows:
        if not row.neutral:
            violations = "<br>".join(f"`{id_}`" for id_ in sorted(row.violated)) or "none"
            yield f"| `{row.id}` | {row.description} | {violations} | {_yes(row)} |"
    yield ""
    yield "| neutral variant | difference | no violation found |"
    yield "|---|---|---|"
    for row in matrix.rows:
        if row.neutral:
            yield f"| `{row.id}` | {row.description} | {_yes(row)} |"


def _yes(row: MatrixRow) -> str:
    return "yes" if row.as_expected else "NO"
