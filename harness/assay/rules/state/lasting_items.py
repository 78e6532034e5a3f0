"""Items shown by lists both before and after another list, which must therefore show them too.

The lists answer the same question but for some arguments, which select from it, and nothing that may
change them came in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assay.history import Item
from assay.rules.controls import Shared, same_but
from assay.rules.queries import PageWalk

#: How many lists before and after another one are looked at.
NEAR: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LastingItems:
    """The items by key, unchanged in between, and the numbers of the exchanges that show them."""

    items: Mapping[str, Item] = field(default_factory=dict[str, Item])
    numbers: tuple[int, ...] = ()


def with_lasting(
    walks: Sequence[PageWalk], selecting: Collection[str]
) -> Iterator[tuple[PageWalk, LastingItems]]:
    """Yield each list with what lasts around it; `selecting` are the arguments that select."""
    groups: dict[tuple[int, Shared], list[PageWalk]] = {}
    for walk in walks:
        groups.setdefault((walk.changes, same_but(walk.call, *selecting)), []).append(walk)
    for group in groups.values():
        shown = [{item.key: item for item in walk.items if item.key} for walk in group]
        for n, walk in enumerate(group):
            before = _first_shown(shown[n - 1 :: -1][:NEAR] if n else ())
            after = _first_shown(shown[n + 1 : n + 1 + NEAR])
            lasting = {
                key: item
                for key, item in before.items()
                if key in after and _same(item, after[key])
            }
            beside = (*group[max(0, n - 1) : n], *group[n + 1 : n + 2])
            numbers = tuple(number for other in beside for number in other.numbers)
            yield walk, LastingItems(items=lasting, numbers=numbers)


def _first_shown(lists: Sequence[Mapping[str, Item]]) -> dict[str, Item]:
    """Return each item as the first of several lists shows it."""
    first: dict[str, Item] = {}
    for items in lists:
        first = {**items, **first}
    return first


def _same(item: Item, other: Item) -> bool:
    return item.on == other.on and item.fields == other.fields
