"""Contracts bound to their targets, and values drawn for a seed, for the tests of fields."""

from functools import cache
from pathlib import Path

from assay.binding.read.join import bind
from assay.fuzzing.draws import dice
from assay.fuzzing.fields import field_sequences
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import find_target, read_target

ELSEWHERE = Path(__file__).parents[2] / "elsewhere"
TARGETS = {
    "aisp": find_target("sandbox"),
    "pis": find_target("sandbox"),
    "lab": ELSEWHERE / "target.yaml",
}
CONTRACTS = {"lab": ELSEWHERE / "lab.yaml"}


@cache
def bound(name):
    """Return a plan of one contract, the contract, and the target."""
    target = read_target(TARGETS[name])
    each = bind([parse_contract(CONTRACTS.get(name) or find_contract(name))], target)
    return plan(each, target), each[0].contract, target


@cache
def sequences_of(name):
    """Return what draws a contract's sequences."""
    return field_sequences(*bound(name))


def drawn(draw, examples=100, seed=0):
    """Draw this many values; the same for the same seed."""
    return [draw(dice(seed, number)) for number in range(examples)]
