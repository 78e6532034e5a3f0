"""A table for readers: one column an atom, what has to come of it, and the obligation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.rules.conditions.expression import tell
from assay.rules.conditions.table import Row, Table

#: Marks the atoms that a row is there for.
DECIDES = " *"


def text(table: Table, result: str, otherwise: str) -> str:
    """Write the table down; `result` is what the condition leads to."""
    return "\n".join(_lines(table, result, otherwise))


def _lines(table: Table, result: str, otherwise: str) -> Iterator[str]:
    heads = [one.head for one in table.atoms]
    yield f"{result} if {tell(table.expression, heads)}"
    yield ""
    words = {True: result, False: otherwise}
    cells = [[*heads, "result", "facet"]]
    cells += [[*_cells(table, row), words[row.result], row.id] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield _line(line, widths)
        if line is cells[0]:
            yield _line(["-" * width for width in widths], widths)
    yield f"{DECIDES.strip()} decides alone: were it the other way round, so would be the result"
    yield from (f"not shown: {why}" for why in table.hidden.values())


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    row = zip(cells, widths, strict=True)
    return "  ".join(f"{cell:<{width}}" for cell, width in row).rstrip()


def _cells(table: Table, row: Row) -> Iterator[str]:
    for n, truth in enumerate(row.world):
        at = next(place for place, one in enumerate(table.inputs) if n in one.atoms)
        mark = DECIDES if n in row.decides else ""
        yield f"{'yes' if truth else 'no'}: {row.points[at].name}{mark}"
