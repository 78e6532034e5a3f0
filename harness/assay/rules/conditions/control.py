"""The control of a row: a request that differs from it at one input, and must be accepted.

Beside a row that must be rejected it shows that not everything is; beside one that must
be accepted, and was not, that it is no other rule that minds. It need not be a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from assay.model import Capability
from assay.rules.conditions.atom import Point
from assay.rules.conditions.expression import holds
from assay.rules.conditions.table import Row, Table
from assay.rules.rule import needs

#: What speaks against a control: that no atom is another in it, what it takes, and that
#: it asks for the same.
_Cost: TypeAlias = tuple[bool, int, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A control, and how it differs from its row.

    `moved` is the row's own point where they differ. Where what is asked is the same, a
    control that was accepted must not make a repeat of its row, so it is `about` another
    thing; where something else is prepared, it is `for_another` customer.
    """

    points: tuple[Point, ...]
    moved: Point
    needs: frozenset[Capability]
    about_another: bool
    for_another: bool


def controls(table: Table, row: Row) -> tuple[Control, ...]:
    """Return all controls of a row, the one that takes the least first.

    Beside a row that must be rejected one is enough. Beside one that must be accepted the
    same fault may strike several: where an atom is passed over, those that move another.
    """
    return tuple(one for one, _ in sorted(_candidates(table, row), key=_cost))


def control(table: Table, row: Row) -> Control | None:
    """Return the control that takes the least: the first of those, if there are several."""
    return next(iter(controls(table, row)), None)


def _candidates(table: Table, row: Row) -> Iterator[tuple[Control, _Cost]]:
    given = frozenset(need for point in row.points for need in point.needs)
    spelt = {want for point in row.points for want in point.wants}
    for place, input_ in enumerate(table.inputs):
        mine = row.points[place]
        for point in input_.points:
            points = (*row.points[:place], point, *row.points[place + 1 :])
            world = table.world(points)
            if point is mine or holds(table.expression, world) is not False:
                continue
            other = mine.prepared or point.prepared
            two = needs(Capability.TWO_PSU) if other else needs()
            extra = (two | point.needs) - given
            more = len(extra) + len(set(point.wants) - spelt)
            same = not (mine.asked or point.asked)
            yield (
                Control(
                    points=points,
                    moved=mine,
                    needs=extra,
                    about_another=same and not other,
                    for_another=other,
                ),
                (world == row.world, more, same),
            )


def _cost(candidate: tuple[Control, _Cost]) -> tuple[bool, _Cost]:
    one, cost = candidate
    return one.for_another, cost
