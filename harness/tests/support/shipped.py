"""The shipped contracts, planned for the sandbox, and its banks: sound or with one fault."""

from functools import cache

from assay.preparation.prepare import prepare
from assay.running.environment import sound_bank
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL
from assay.sandbox.policies import SOUND, Policies

VARIANTS = {variant.id: variant for variant in (*MUTANTS, *PIS_MUTANTS, *NEUTRAL, *PIS_NEUTRAL)}


@cache
def prepared():
    """Return the shipped contracts, planned for the sandbox."""
    return prepare()


def bank_of(variant):
    """Return what makes the bank of a variant or of policies, or the sound one."""
    if not variant:
        return sound_bank
    policies = variant if isinstance(variant, Policies) else VARIANTS[variant].change(SOUND)
    return lambda base_url: make_app(policies, base_url=base_url)
