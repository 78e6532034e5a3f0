"""Neutral variants that one bank can have at once: they replace disjoint policies.

A few banks with many variants each take the time of a few, and find what variants
do to one another besides. Where one turns red, :func:`blamed` names the variant.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from assay.sandbox.mutants import NEUTRAL, PIS_NEUTRAL, Neutral
from assay.sandbox.policies import SOUND, Policies


def replaced(before: Any, after: Any, at: str = "") -> frozenset[str]:
    """Return the places at which one value of policies differs from another."""
    if before is after:
        return frozenset()
    if is_dataclass(before) and type(before) is type(after):
        names = {f"{at}.{one.name}": one.name for one in fields(before)}
        inside = [
            replaced(getattr(before, name), getattr(after, name), place)
            for place, name in names.items()
        ]
        return frozenset().union(*inside)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        keys = before.keys() | after.keys()
        inside = [replaced(before.get(key), after.get(key), f"{at}[{key}]") for key in keys]
        return frozenset().union(*inside)
    return frozenset() if before == after else frozenset({at})


def together(variants: Iterable[Neutral]) -> Policies:
    """Return the sound bank with all of some variants."""
    policies = SOUND
    for variant in variants:
        policies = variant.change(policies)
    return policies


@cache
def bundles() -> tuple[tuple[Neutral, ...], ...]:
    """Return every neutral variant, in as few banks as they fit in.

    The variant that replaces most comes first, and each goes into the first bank where
    nothing of its own is replaced already, and where it leaves the others as they are.
    """
    own = {one.id: replaced(SOUND, one.change(SOUND)) for one in (*NEUTRAL, *PIS_NEUTRAL)}
    banks: list[list[Neutral]] = []
    taken: list[set[str]] = []
    for variant in sorted((*NEUTRAL, *PIS_NEUTRAL), key=lambda one: -len(own[one.id])):
        free = [
            number
            for number, places in enumerate(taken)
            if _apart(places, own[variant.id])
            and replaced(SOUND, together([*banks[number], variant]))
            == frozenset(places) | own[variant.id]
        ]
        if free:
            banks[free[0]].append(variant)
            taken[free[0]] |= own[variant.id]
        else:
            banks.append([variant])
            taken.append({*own[variant.id]})
    return tuple(map(tuple, banks))


def _apart(places: Collection[str], others: Collection[str]) -> bool:
    """Whether no place is another one, or a part of it."""
    return not any(
        one.startswith(other) or other.startswith(one) for one in places for other in others
    )


def blamed(variants: tuple[Neutral, ...], red: Callable[[Policies], bool]) -> tuple[str, ...]:
    """Return the ids of the fewest variants of a red bundle that halving leaves red.

    It is one variant unless several are red only together.
    """
    while len(variants) > 1:
        middle = len(variants) // 2
        halves = (variants[:middle], variants[middle:])
        half = next((one for one in halves if red(together(one))), None)
        if half is None:
            break
        variants = half
    return tuple(one.id for one in variants)
