"""No false alarm: on the sound bank, and where the document is silent, nothing is found.

Fifty seeds each: other customers, another day, other journeys.
"""

import pytest

from assay.kill_matrix import changed_contracts
from assay.sandbox.policies import SOUND

from .conftest import VARIANTS

SEEDS = range(50)
NEUTRAL = [name for name, one in VARIANTS.items() if not hasattr(one, "breaks")]


def found(searching, contract, variant, journeys):
    """Return what is found in so many journeys of each seed."""
    return [
        (seed, one.obligation, one.breach.evidence.seen)
        for seed in SEEDS
        for one in searching(contract, variant, seed=seed, journeys=journeys).travel().findings
    ]


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_nothing_is_found_at_the_sound_bank(searching, contract):
    """Whatever its customers and providers do."""
    assert [] == found(searching, contract, "", 4)


@pytest.mark.parametrize("variant", NEUTRAL)
def test_nothing_is_found_where_the_document_is_silent(searching, variant):
    """Nor in any of the ways in which a sound bank may differ from it."""
    for contract in changed_contracts(VARIANTS[variant].change(SOUND)):
        assert [] == found(searching, contract, variant, 1)


def test_every_neutral_variant_is_tried():
    """All of them: none is a mutant by mistake."""
    assert len(NEUTRAL) > 40
