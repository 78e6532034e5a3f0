"""Searches at the shipped sandbox, sound or with one fault."""

import pytest
from shipped import bank_of, prepared

from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.search import Search
from assay.running.environment import set_up


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
