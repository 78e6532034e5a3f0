"""No false alarm: nothing is found at the sound bank, nor where the document is silent.

Fifty seeds each: other customers, another day, other sequences.
"""

import pytest
from shipped import VARIANTS

from assay.kill_matrix import changed_contracts
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.mutants.bundles import blamed, bundles, replaced, together
from assay.sandbox.policies import SOUND

SEEDS = range(50)
pytestmark = pytest.mark.slow


def violated(searching, contract, policies, sequences):
    """Return what this number of random sequences of each seed finds violated."""
    return [
        (seed, finding.obligation, finding.breach.evidence.seen)
        for seed in SEEDS
        for finding in searching(contract, policies, seed=seed, sequences=sequences)
        .run_machine()
        .findings
    ]


def violated_anywhere(searching, policies):
    """Return what one sequence of each seed finds, of each contract that policies change."""
    return [
        finding
        for contract in changed_contracts(policies)
        for finding in violated(searching, contract, policies, 1)
    ]


@pytest.mark.parametrize("contract", ["aisp", "pis"])
def test_nothing_is_found_at_the_sound_bank(searching, contract):
    """No sequence of customers and TPPs violates anything at the sound bank."""
    assert [] == violated(searching, contract, SOUND, 4)


@pytest.mark.parametrize(
    "variants", bundles(), ids=lambda variants: f"{variants[0].id}+{len(variants) - 1}"
)
def test_nothing_is_found_where_the_document_is_silent(searching, variants):
    """A sound bank may differ in any of these points, and in several at once."""
    findings = violated_anywhere(searching, together(variants))
    assert [] == findings, blamed(variants, lambda bank: bool(violated_anywhere(searching, bank)))


def test_every_neutral_variant_is_tried():
    """The bundles have all neutral variants, whole: none undoes what another one replaces."""
    ids = [variant.id for variants in bundles() for variant in variants]
    assert len(ids) > 40
    neutral = [variant.id for variant in VARIANTS.values() if not hasattr(variant, "breaks")]
    assert sorted(ids) == sorted(neutral)
    for variants in bundles():
        alone = [replaced(SOUND, variant.change(SOUND)) for variant in variants]
        assert sum(map(len, alone)) == len(replaced(SOUND, together(variants)))
        assert frozenset().union(*alone) == replaced(SOUND, together(variants))


def test_a_red_bundle_names_its_variant():
    """Halving a bundle finds the one variant that is to blame."""
    (fault,) = (
        mutant for mutant in PIS_MUTANTS if mutant.id == "pis.mandatory.creditorAccount-type"
    )
    places = replaced(SOUND, fault.change(SOUND))
    (free, *_) = (
        variants
        for variants in bundles()
        if not any(places & replaced(SOUND, variant.change(SOUND)) for variant in variants)
    )
    assert len(free) > 1
    variants = (*free, fault)
    assert (fault.id,) == blamed(variants, lambda bank: places <= replaced(SOUND, bank))
