"""Pairs of assignments that show the effect of each atom: unique-cause MC/DC.

An *assignment* is one way for all atoms to be true or false. Two assignments that
differ in one atom alone, and in the result of the condition, are a *pair* that shows
this atom. One pair is chosen for every atom, such that all of them together need few
assignments: N atoms need N + 1 at best, and 2 N at most. Pure and deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

#: The truth of every atom.
Assignment: TypeAlias = tuple[bool, ...]
#: Two assignments that differ in one atom, which is false in the first and true in the second.
Pair: TypeAlias = tuple[Assignment, Assignment]

#: The number of starting points tried in the search for few assignments.
BEGINNINGS = 16


def pairs_by_atom(results: Mapping[Assignment, bool]) -> tuple[tuple[Pair, ...], ...]:
    """Return for each atom all pairs that show it, among the assignments that there are."""
    atoms = range(len(next(iter(results), ())))
    return tuple(
        tuple(
            (low, high)
            for low in results
            if not low[atom]
            and (high := (*low[:atom], True, *low[atom + 1 :])) in results
            and results[low] is not results[high]
        )
        for atom in atoms
    )


def choose_pairs(showing_: Sequence[Sequence[Pair]]) -> tuple[Pair | None, ...]:
    """Choose one pair for each atom that can be shown, with few assignments in all."""
    shared = Counter(assignment for pairs in showing_ for pair in pairs for assignment in pair)
    every = [
        _greedy(showing_, assignment, shared) for assignment, _ in shared.most_common(BEGINNINGS)
    ]
    return min(every, key=_size, default=(None,) * len(showing_))


def _size(pairs: Sequence[Pair | None]) -> int:
    return len({assignment for pair in pairs if pair for assignment in pair})


def _greedy(
    showing_: Sequence[Sequence[Pair]], begin: Assignment, shared: Mapping[Assignment, int]
) -> tuple[Pair | None, ...]:
    """From an assignment on, repeatedly take the pair that needs the fewest new ones."""
    have, out = {begin}, dict[int, Pair]()
    left = [atom for atom, pairs in enumerate(showing_) if pairs]

    def cost(choice: tuple[int, Pair]) -> tuple[int, int]:
        pair = choice[1]
        return sum(one not in have for one in pair), -sum(shared[one] for one in pair)

    while left:
        atom, pair = min(((one, pair) for one in left for pair in showing_[one]), key=cost)
        out[atom] = pair
        have.update(pair)
        left.remove(atom)
    return tuple(out.get(atom) for atom in range(len(showing_)))
