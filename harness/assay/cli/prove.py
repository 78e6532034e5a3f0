"""`assay prove`: the kill matrix, printed and kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from assay.judging.verdict import Exit
from assay.kill_matrix import Matrix, MatrixRow, count, prove
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
    help="Only mutants and variants whose id contains these words.",
)
@click.option("-n", "--workers", type=click.IntRange(1), help="Processes. Default: one a core.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the matrix as Markdown too.",
)
def command(keywords: str, workers: int | None, out: Path | None) -> int:
    """Break the sandbox in every known way and see that each fault is found.

    Each mutant must turn exactly the obligations that it breaks red; neutral variants
    must stay green; every obligation must have a mutant. Anything else exits with 1.
    """
    matrix = prove(matching("-k", keywords), workers=workers, on_row=_show)
    for line in text(matrix, whole=not keywords):
        click.echo(line)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("\n".join(markdown(matrix)) + "\n", encoding="utf-8")
    holds = matrix.proved if not keywords else matrix.rows and not matrix.wrong
    return Exit.OK.value if holds else Exit.VIOLATION.value


def _show(row: MatrixRow) -> None:
    """Print a row as soon as it is known."""
    click.echo(f"{'ok   ' if row.sound else 'WRONG'} {row.id:<44} {_result(row)}")


def _result(row: MatrixRow) -> str:
    if row.neutral:
        wrong = sorted(row.red | row.open)
        return "all green" if row.sound else "not green: " + ", ".join(wrong)
    if row.sound:
        return ", ".join(sorted(row.red))
    missed, astray = sorted(row.breaks - row.red), sorted(row.red - row.breaks)
    parts = [f"missed by {', '.join(missed)}"] if missed else []
    parts += [f"also red: {', '.join(astray)}"] if astray else []
    return "; ".join(parts)


def text(matrix: Matrix, *, whole: bool) -> Iterator[str]:
    """Yield the figures, and what is wrong, as lines."""
    yield ""
    for what, figure in count(matrix).items():
        if whole or "without" not in what:
            yield f"{figure:>5} {what}"
    if whole:
        for id_ in matrix.unproved:
            yield f"no mutant turns {id_} red"


def markdown(matrix: Matrix) -> Iterator[str]:
    """Yield the matrix as a page that is committed and compared."""
    yield "# Kill matrix"
    yield ""
    yield "Written by `assay prove --out`. Each mutant is the sandbox with one fault; a whole run"
    yield "must turn red exactly what it breaks. Neutral variants must stay green."
    yield ""
    yield "| figure | count |"
    yield "|---|---:|"
    for what, figure in count(matrix).items():
        yield f"| {what} | {figure} |"
    yield ""
    yield "| mutant | the fault | turns red | as it should |"
    yield "|---|---|---|---|"
    for row in matrix.rows:
        if not row.neutral:
            red = "<br>".join(f"`{one}`" for one in sorted(row.red)) or "nothing"
            yield f"| `{row.id}` | {row.says} | {red} | {'yes' if row.sound else 'NO'} |"
    yield ""
    yield "| neutral variant | how it differs | stays green |"
    yield "|---|---|---|"
    for row in matrix.rows:
        if row.neutral:
            yield f"| `{row.id}` | {row.says} | {'yes' if row.sound else 'NO'} |"
