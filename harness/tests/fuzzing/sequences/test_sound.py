"""No false alarm: on the sound bank, and where the document is silent, nothing is found.

Fifty seeds each: other customers, another day, other journeys.
"""

import pytest
from bundles import blamed, bundles, replaced, together

from assay.kill_matrix import changed_contracts
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.policies import SOUND

from .conftest import VARIANTS

SEEDS = range(50)
pytestmark = pytest.mark.slow


def found(searching, contract, policies, sequences):
    """Return what is found in so many journeys of each seed."""
    return [
        (seed, one.obligation, one.breach.evidence.seen)
        for seed in SEEDS
        for one in searching(contract, policies, seed=seed, sequences=sequences)
        .run_machine()
        .findings
    ]


def found_anywhere(searching, policies):
    """Return what is found in a journey of each seed, of the contracts that policies touch."""
    return [
        one
        for contract in changed_contracts(policies)
        for one in found(searching, contract, policies, 1)
    ]


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_nothing_is_found_at_the_sound_bank(searching, contract):
    """Whatever its customers and providers do."""
    assert [] == found(searching, contract, SOUND, 4)


@pytest.mark.parametrize(
    "variants", bundles(), ids=lambda variants: f"{variants[0].id}+{len(variants) - 1}"
)
def test_nothing_is_found_where_the_document_is_silent(searching, variants):
    """Nor in any of the ways in which a sound bank may differ from it, several at once."""
    seen = found_anywhere(searching, together(variants))
    assert [] == seen, blamed(variants, lambda bank: bool(found_anywhere(searching, bank)))


def test_every_neutral_variant_is_tried():
    """All of them, whole: none is a mutant by mistake, none undoes what another replaces."""
    ids = [one.id for variants in bundles() for one in variants]
    assert len(ids) > 40
    assert sorted(ids) == sorted(one.id for one in VARIANTS.values() if not hasattr(one, "breaks"))
    for variants in bundles():
        alone = [replaced(SOUND, one.change(SOUND)) for one in variants]
        assert sum(map(len, alone)) == len(replaced(SOUND, together(variants)))
        assert frozenset().union(*alone) == replaced(SOUND, together(variants))


def test_a_red_bundle_names_its_variant():
    """Halving finds the one that is to blame among variants that are not."""
    (fault,) = (one for one in PIS_MUTANTS if one.id == "pis.mandatory.creditorAccount-type")
    at = replaced(SOUND, fault.change(SOUND))
    (free, *_) = (
        one
        for one in bundles()
        if not any(at & replaced(SOUND, each.change(SOUND)) for each in one)
    )
    assert len(free) > 1
    variants = (*free, fault)
    assert (fault.id,) == blamed(variants, lambda bank: at <= replaced(SOUND, bank))
