"""No false alarm: the searches find nothing at banks that keep the document.

The gate searches with the first seeds only, a few sequences each. With `ASSAY_SEEDS=50` this module
searches with fifty, as `assay run --journeys 100 --fields 50` does; every second seed begins in a
night in which clocks change. `ASSAY_NIGHT=n` takes the seeds after those of the nights before.
`alarms.py` does the same by command.
"""

import os

import pytest
from alarms import MANY, alarms, banks
from shipped import VARIANTS

from assay.fuzzing.findings import describe_findings
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.mutants.bundles import blamed, bundles, replaced, together
from assay.sandbox.policies import SOUND

pytestmark = pytest.mark.slow

_MANY = int(os.environ.get("ASSAY_SEEDS", "1"))
_NIGHT = int(os.environ.get("ASSAY_NIGHT", "0"))
#: The seeds at a sound bank, and at each bundle of variants.
SEEDS = range(_MANY * _NIGHT, _MANY * (_NIGHT + 1))
WAYS = () if _MANY > 1 else ("journeys", "fields")
SIZES = MANY if _MANY > 1 else None


@pytest.mark.parametrize(
    "sound", [each for each in banks() if not each.variants], ids=lambda each: each.name
)
def test_nothing_is_found_at_a_sound_bank(sound):
    """No sequence, mutated field or schema case violates anything at a sound bank."""
    results = [*alarms(sound, SEEDS, sizes=SIZES)]
    assert all(result.exchanges for result in results)
    assert [] == list(filter(None, map(describe_findings, results)))


@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_nothing_is_found_where_clocks_change(seed):
    """An odd seed begins in the night of a change: no sequence violates anything there."""
    for sound in banks():
        if sound.name in {"sandbox", "holdout"}:
            results = [*alarms(sound, range(seed, seed + 1), ("journeys",))]
            assert [] == list(filter(None, map(describe_findings, results)))


@pytest.mark.parametrize(
    "sound", [each for each in banks() if each.variants], ids=lambda each: each.name
)
def test_nothing_is_found_where_the_document_is_silent(sound):
    """A sound bank may differ in any of these points, and in several at once."""

    def found(bank):
        return [*filter(None, map(describe_findings, alarms(bank, SEEDS, WAYS, SIZES)))]

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
