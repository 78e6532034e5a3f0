"""`assay prove`: the kill matrix, printed and written as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from assay.contextual_matrix import GOAL, ContextualRow, prove_contexts
from assay.judging.verdict import Exit
from assay.kill_matrix import UNPROVED, Matrix, MatrixRow, count, prove
from assay.planning.prepare import matching

EPILOG = """\b
Examples:
  assay prove
  assay prove -k quota
  assay prove --out reports/reference/kill-matrix.md
  assay prove --contexts 200
  assay prove --contexts all
"""


def _read_number(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """Read a number of banks; 0 stands for all of them."""
    if value is None or value == "all":
        return 0 if value else None
    return click.IntRange(1)(value, parameter, context)


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
@click.option(
    "--contexts",
    callback=_read_number,
    metavar="N|all",
    help="Instead, confine each mutant's fault to one situation (instant payments, the weekend, "
    "the second host, ...), and run a sample of N of these banks, or all.",
)
def command(keywords: str, workers: int | None, out: Path | None, contexts: int | None) -> int:
    """Test the harness: run it on sandboxes with one fault each, and on neutral variants.

    A run on a mutant must find exactly the violations of its fault; a run on a neutral
    variant none. Every obligation must have a mutant. Otherwise the exit code is 1. With
    `--contexts`, 98 of 100 faults that are confined to a situation must be found.
    """
    if contexts is not None:
        return _prove_contexts(contexts, matching("-k", keywords), workers)
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


def _prove_contexts(most: int, chosen: Callable[[str], bool], workers: int | None) -> int:
    """Run banks whose fault is confined to a situation, and print the share that is found."""
    matrix = prove_contexts(most or None, chosen, workers=workers, on_row=_show_contextual)
    click.echo("")
    for dimension, (caught, total) in matrix.by_dimension().items():
        click.echo(f"{caught:>5} of {total:<5} {dimension}")
    caught, total = len(matrix.counted) - len(matrix.missed), len(matrix.counted)
    share = f" ({100 * caught / total:.1f} %)" if total else ""
    click.echo(f"{caught:>5} of {total} contextual mutants found by their own clause{share}")
    click.echo(
        f"{len(matrix.rows) - total:>5} more have a fault that does not show in the situation"
    )
    reached = total > 0 and caught >= GOAL * total
    return Exit.OK.value if reached else Exit.VIOLATION.value


def _show_contextual(row: ContextualRow) -> None:
    label = "found" if row.found else "MISSED" if row.shows else "does not show"
    click.echo(f"{label:<14} {row.mutant:<44} {row.situation}")


def _show(row: MatrixRow) -> None:
    """Print a row as soon as its run is over."""
    click.echo(f"{'ok   ' if row.as_expected else 'WRONG'} {row.id:<44} {_result(row)}")


def _result(row: MatrixRow) -> str:
    if row.neutral:
        wrong = sorted(row.violated | (row.unresolved ^ row.undecidable))
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
