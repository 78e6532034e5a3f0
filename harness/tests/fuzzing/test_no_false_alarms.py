"""No false alarm: the searches find nothing at banks that keep the document.

The gate searches with the first seeds only. `alarms.py` searches with fifty, by command; so does
this module with `ASSAY_SEEDS=50`.
"""

import os

import pytest
from alarms import alarms, banks
from shipped import VARIANTS

from assay.fuzzing.findings import describe_findings
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.mutants.bundles import blamed, bundles, replaced, together
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

#: The seeds at a sound bank, and at each bundle of variants.
SEEDS = int(os.environ.get("ASSAY_SEEDS", "1"))
WAYS = () if SEEDS > 1 else ("journeys", "fields")


@pytest.mark.parametrize(
    "sound", [each for each in banks() if not each.variants], ids=lambda each: each.name
)
def test_nothing_is_found_at_a_sound_bank(sound):
    """No sequence, mutated field or schema case violates anything at a sound bank."""
    results = [*alarms(sound, range(SEEDS))]
    assert all(result.exchanges for result in results)
    assert [] == list(filter(None, map(describe_findings, results)))


@pytest.mark.parametrize(
    "sound", [each for each in banks() if each.variants], ids=lambda each: each.name
)
def test_nothing_is_found_where_the_document_is_silent(sound):
    """A sound bank may differ in any of these points, and in several at once."""

    def found(bank):
        return [*filter(None, map(describe_findings, alarms(bank, range(SEEDS), WAYS)))]

    findings = found(sound)
    assert [] == findings, blamed(
        sound.variants, lambda policies: bool(found(sound.changed(policies)))
    )


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
