"""Searches on the shipped sandbox, sound or with one fault, and their contracts."""

from functools import cache

import pytest

from assay.execution.environment import set_up, sound_bank
from assay.fuzzing.search import Search, SearchLimits
from assay.planning.prepare import prepare
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL
from assay.sandbox.policies import SOUND, Policies

VARIANTS = {one.id: one for one in (*MUTANTS, *PIS_MUTANTS, *NEUTRAL, *PIS_NEUTRAL)}


@cache
def prepared():
    """Return the shipped contracts, planned for the sandbox."""
    return prepare()


def bank_of(variant):
    """Return what makes the bank with a fault or with policies, or the sound one."""
    if not variant:
        return sound_bank
    policies = variant if isinstance(variant, Policies) else VARIANTS[variant].change(SOUND)
    return lambda base_url: make_app(policies, base_url=base_url)


@pytest.fixture
def searching():
    """Make searches, each at a bank of its own, and close them all."""
    environments = []

    def make(contract, variant="", *, seed=0, **limits):
        plan = prepared().plan
        environment = set_up(prepared().target, seed=seed, bank=bank_of(variant))
        environments.append(environment)
        return Search(
            plan=plan,
            contract=plan.contracts[contract],
            environment=environment,
            seed=seed,
            limits=SearchLimits(**limits),
        )

    yield make
    for environment in environments:
        environment.close()
