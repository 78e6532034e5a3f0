"""`assay prove`: the kill matrix, printed and written as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import click

from assay.errors import Exit, InputError
from assay.preparation.prepare import matching
from assay.proof.contextual_matrix import ContextualMatrix, ContextualRow, prove_contexts
from assay.proof.contextual_neutral import NeutralRow, prove_neutral
from assay.proof.decision_matrix import prove_decisions
from assay.proof.kill_matrix import UNPROVED, Matrix, MatrixRow, prove
from assay.proof.kill_matrix import count as figures_of

EPILOG = """\b
Examples:
  assay prove
  assay prove -k quota
  assay prove --out reports/reference/kill-matrix.md
  assay prove --whole
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
    help="Select mutants and neutral variants by words in their id, with pytest's -k syntax.",
)
@click.option(
    "-n",
    "--workers",
    type=click.IntRange(1),
    help="Number of worker processes. Default: one per core.",
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
    "the second host, ...), and run a sample of N of these banks, or all; and all neutral variants.",
)
@click.option(
    "--whole",
    is_flag=True,
    help="Run all trials on every bank, including those that the changed policies do not concern.",
)
def command(
    keywords: str, workers: int | None, out: Path | None, contexts: int | None, whole: bool
) -> int:
    """Test the harness on mutants (sandboxes with one fault each) and on neutral variants.

    A run on a mutant must find exactly the violations of its fault, and a run on a neutral
    variant must find none. Every obligation must have a mutant. Each answer to an open point is
    kept by one bank and broken by another. Otherwise the exit code is 1.

    Each run makes the trials that the changed policies concern and a sample of the others. With
    --contexts, at least 98 % of the faults that are confined to a situation must be found, and
    no neutral variant may show a violation in any context.
    """
    if contexts is not None:
        return _prove_contexts(contexts, matching("-k", keywords), workers)
    chosen = matching("-k", keywords)
    matrix = prove(chosen, workers=workers, whole=whole, on_row=_show)
    decided = prove_decisions(chosen, workers=workers, on_row=_show)
    if not matrix.rows and not decided:
        what = f"no mutant or neutral variant has an id that matches {keywords!r}"
        raise InputError.one("-k", what, hint="reports/reference/kill-matrix.md lists them")
    for line in summary_lines(matrix, whole=not keywords):
        click.echo(line)
    right = sum(row.as_expected for row in decided)
    click.echo(f"{right} of {len(decided)} banks found to keep or break their answers, as they do")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("\n".join(markdown_lines(matrix)) + "\n", encoding="utf-8")
    as_expected = right == len(decided) and (not matrix.wrong if keywords else matrix.proved)
    return Exit.OK.value if as_expected else Exit.VIOLATION.value


def _prove_contexts(most: int, chosen: Callable[[str], bool], workers: int | None) -> int:
    """Run banks whose fault is confined to a situation, and neutral variants, in all contexts."""
    done = count(1)
    matrix = prove_contexts(
        most or None,
        chosen,
        workers=workers,
        on_row=lambda row, every: click.echo(_contextual_line(row, next(done), every)),
    )
    neutral = prove_neutral(chosen, workers=workers, on_row=_show_neutral)
    if not matrix.rows and not neutral:
        what = "no mutant in a situation and no neutral variant has an id that matches"
        raise InputError.one("-k", what)
    for line in contextual_lines(matrix, neutral):
        click.echo(line)
    reached = matrix.reached or not matrix.counted
    green = not any(row.violated for row in neutral)
    return Exit.OK.value if reached and green else Exit.VIOLATION.value


def contextual_lines(matrix: ContextualMatrix, neutral: Sequence[NeutralRow]) -> Iterator[str]:
    """Yield the share found by policy, dimension and situation, what is excluded, and all figures."""
    parts: tuple[tuple[str, Callable[[ContextualRow], str]], ...] = (
        ("policy", lambda row: row.policy),
        ("dimension", lambda row: row.dimension),
        ("situation", lambda row: row.situation),
    )
    for title, part in parts:
        yield ""
        yield f"found by {title}"
        for name, (found, every) in matrix.by(part).items():
            yield f"{found:>5} of {every:<5} {name}"
    yield ""
    yield "excluded, by dimension and reason"
    for reason, number in matrix.excluded().items():
        yield f"{number:>5} {reason}"
    yield ""
    for row in matrix.missed:
        yield f"missed: {row.mutant} {row.situation}"
    every = len(matrix.counted)
    found = every - len(matrix.missed)
    share = f" ({100 * found / every:.1f} %)" if every else ""
    yield f"{found} of {every} contextual mutants found by their own clause{share}"
    yield f"{len(matrix.rows) - every} more cannot be found in their situation for the reasons above"
    variants = sum(len(row.variants) for row in neutral)
    red = sum(len(row.blamed) for row in neutral)
    yield f"{variants - red} of {variants} neutral variants without a violation in every context"


def _contextual_line(row: ContextualRow, number: int, every: int) -> str:
    line = f"{number:>5}/{every} {row.outcome.value:<9} {row.mutant:<44} {row.situation:<18}"
    return f"{line} {row.reason}".rstrip()


def _show_neutral(row: NeutralRow) -> None:
    names = ", ".join(row.variants)
    if row.violated:
        wrong = ", ".join(sorted(row.violated))
        click.echo(f"WRONG neutral: {', '.join(row.blamed)}: not expected: {wrong}")
    else:
        click.echo(f"ok    neutral ({row.exchanges} exchanges): {names}")


def _show(row: MatrixRow) -> None:
    click.echo(f"{'ok   ' if row.as_expected else 'WRONG'} {row.id:<44} {_result(row)}")


def _result(row: MatrixRow) -> str:
    if row.neutral:
        wrong = sorted(row.violated | (row.unresolved ^ row.undecidable))
        return "no violation" if row.as_expected else "not expected: " + ", ".join(wrong)
    if row.as_expected:
        others = (
            f" (and {len(more)} more elsewhere)" if (more := row.violated - row.expected) else ""
        )
        return ", ".join(sorted(row.expected)) + others
    missed, unexpected = sorted(row.expected - row.violated), sorted(row.unexpected)
    parts = [f"not found: {', '.join(missed)}"] if missed else []
    parts += [f"not expected: {', '.join(unexpected)}"] if unexpected else []
    return "; ".join(parts)


def summary_lines(matrix: Matrix, *, whole: bool) -> Iterator[str]:
    """Yield the figures, and the obligations without a mutant, as lines."""
    yield ""
    for what, figure in figures_of(matrix).items():
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
    yield "find the violations of that fault, and no other in the trials of their own clauses. What the"
    yield "trials of other clauses show, too, is listed. A run on a neutral variant must find nothing."
    yield ""
    yield "| figure | count |"
    yield "|---|---:|"
    for what, figure in figures_of(matrix).items():
        yield f"| {what} | {figure} |"
    yield ""
    yield "| mutant | fault | violations found | also shown elsewhere | as expected |"
    yield "|---|---|---|---|---|"
    for row in matrix.rows:
        if not row.neutral:
            found, more = _listed(row.violated & row.expected), row.violated - row.expected
            named = f"`{row.id}` | {row.description} | {found or 'none'} | {_listed(more)}"
            yield f"| {named} | {_yes(row)} |"
    yield ""
    yield "| neutral variant | difference | no violation found |"
    yield "|---|---|---|"
    for row in matrix.rows:
        if row.neutral:
            yield f"| `{row.id}` | {row.description} | {_yes(row)} |"


def _listed(obligations: frozenset[str]) -> str:
    return "<br>".join(f"`{id_}`" for id_ in sorted(obligations))


def _yes(row: MatrixRow) -> str:
    return "yes" if row.as_expected else "NO"
