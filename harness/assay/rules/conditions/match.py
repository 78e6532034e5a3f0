"""Which row of a table a request bears on, by what stands at each input.

A request is hardly ever made for a row, so its values are given to the points that stand
for them: the nearest one at which the atoms have the same truths. A request that agrees
with the contract says something for a row only if it is *exactly* that row's; one that
does not is laid at the nearest row's door. What nobody knows may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.rules.conditions.atom import Point, Seen, Value
from assay.rules.conditions.expression import holds
from assay.rules.conditions.table import Input, Row, Table

#: What stands at each input, in their order; None where nobody knows.
Values = tuple[Value | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearing:
    """What a request says: how the condition comes out, and the rows that it is about.

    One row where the result is known; where it is not, all that it may be about.
    """

    result: bool | None
    rows: tuple[Row, ...]
    exact: bool


def look(table: Table, seen: Seen) -> Values:
    """Return what stands at each input of a request."""
    return tuple(table.atoms[one.atoms[0]].look(seen) for one in table.inputs)


def bearing(table: Table, values: Values) -> Bearing:
    """Return what a request with these values is about."""
    truths = _truths(table, values)
    result = holds(table.expression, [truths[n] for n in range(len(table.atoms))])
    stands = [
        None if value is None else _point(one, value, truths)
        for one, value in zip(table.inputs, values, strict=True)
    ]
    fits = [
        row
        for row in table.rows
        if all(truths[n] in (None, truth) for n, truth in enumerate(row.world))
    ]
    if result is None:
        maybe = tuple(row for row in fits if _same(row, stands))
        return Bearing(result=None, rows=maybe, exact=False)
    fits = [row for row in fits if row.result is result]
    best = max(fits, key=lambda row: _shared(row, stands), default=None)
    exact = best is not None and all(
        point is not None and point is mine and point.near(value) == 0
        for point, mine, value in zip(stands, best.points, values, strict=True)
    )
    return Bearing(result=result, rows=(best,) if best else (), exact=exact)


def _truths(table: Table, values: Values) -> Mapping[int, bool | None]:
    return {
        n: None if value is None else table.atoms[n].holds(value)
        for one, value in zip(table.inputs, values, strict=True)
        for n in one.atoms
    }


def _point(input_: Input, value: Value, truths: Mapping[int, bool | None]) -> Point | None:
    """Return the point that stands for a value: of those with its truths, the nearest."""
    here = [truths[n] for n in input_.atoms]
    alike = [
        point
        for point, slice_ in zip(input_.points, input_.slices, strict=True)
        if all(truth in (None, mine) for truth, mine in zip(here, slice_, strict=True))
    ]
    return min(alike, key=lambda point: point.near(value), default=None)


def _shared(row: Row, stands: Sequence[Point | None]) -> int:
    return sum(mine is point for mine, point in zip(row.points, stands, strict=True))


def _same(row: Row, stands: Sequence[Point | None]) -> bool:
    return all(
        point is None or mine is point for mine, point in zip(row.points, stands, strict=True)
    )
