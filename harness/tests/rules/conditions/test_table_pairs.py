"""Pairs of assignments that show an atom, compared with brute force."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples

from assay.rules.conditions.table import All, Any, AtomRef, Not, choose_pairs, holds, pairs_by_atom

ATOMS = 5


def brute(expression, worlds):
    """Find every pair by comparing every world with every other."""
    worlds = list(worlds)
    return [
        {
            (low, high)
            for low in worlds
            for high in worlds
            if [n for n in range(ATOMS) if low[n] != high[n]] == [atom]
            and high[atom]
            and truth(expression, low) != truth(expression, high)
        }
        for atom in range(ATOMS)
    ]


def truth(expression, world):
    """Evaluate a condition in the plainest way."""
    match expression:
        case AtomRef(atom):
            return world[atom]
        case Not(part):
            return not truth(part, world)
        case All(parts):
            return all(truth(one, world) for one in parts)
        case Any(parts):
            return any(truth(one, world) for one in parts)


def several(inner):
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return parts.map(All) | parts.map(Any) | inner.map(Not)


EXPRESSIONS = st.recursive(st.integers(0, ATOMS - 1).map(AtomRef), several, max_leaves=9)
EVERY = list(product([False, True], repeat=ATOMS))


@settings(max_examples=examples(150))
@given(EXPRESSIONS, st.sets(st.sampled_from(EVERY)))
def test_pairs_are_those_of_brute_force(expression, impossible):
    """Also where some worlds cannot be, because atoms are coupled."""
    worlds = [one for one in EVERY if one not in impossible]
    results = {one: bool(holds(expression, one)) for one in worlds}
    wanted = brute(expression, worlds)

    computed = pairs_by_atom(results)
    assert [sorted(one) for one in wanted if worlds] == [sorted(one) for one in computed]

    pairs = choose_pairs(computed)
    assert [bool(one) for one in computed] == [one is not None for one in pairs]
    assert all(pair in one for pair, one in zip(pairs, computed, strict=True) if pair)
    used = {world for pair in pairs if pair for world in pair}
    shown = sum(pair is not None for pair in pairs)
    assert not shown or shown + 1 <= len(used) <= 2 * shown


def singular(parts):
    """Build a condition in which every atom stands once: `parts` nests and negates them."""
    left = [Not(AtomRef(n)) if odd else AtomRef(n) for n, (odd, _, _) in enumerate(parts)]
    for _, kind, negated in parts[1:]:
        one, other, *rest = left
        joined = kind((one, other))
        left = [*rest, Not(joined) if negated else joined]
    return left[0]


@settings(max_examples=examples(100))
@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([All, Any]), st.booleans()),
        min_size=ATOMS,
        max_size=ATOMS,
    )
)
def test_a_condition_with_every_atom_once_needs_one_world_more_than_atoms(parts):
    """That is the least there can be, and the search finds it."""
    expression = singular(parts)
    pairs = choose_pairs(pairs_by_atom({one: bool(holds(expression, one)) for one in EVERY}))

    assert ATOMS + 1 == len({world for pair in pairs for world in pair})


def test_the_choice_is_the_same_every_time():
    """Ids that a waiver names must not change from run to run."""
    expression = Any((All((AtomRef(0), AtomRef(1))), All((AtomRef(2), Not(AtomRef(3))))))
    results = {one: bool(holds(expression, one)) for one in product([False, True], repeat=4)}

    assert choose_pairs(pairs_by_atom(results)) == choose_pairs(pairs_by_atom(dict(results)))


def test_nothing_can_be_shown_of_nothing():
    """Where no world can be, there are no atoms."""
    assert () == choose_pairs(pairs_by_atom({}))
