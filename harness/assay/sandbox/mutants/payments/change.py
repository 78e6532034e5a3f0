"""How a mutant of payment initiation is written: what it breaks, and what it replaces.

The same as in :mod:`assay.sandbox.mutants.mutant`, for the other half of the bank.
"""

from dataclasses import replace
from typing import Any

from assay.sandbox.mutants.mutant import Mutant
from assay.sandbox.policies import Policies

__all__ = ["breaking_pis"]


def breaking_pis(id: str, facets: str, says: str, **policies: Any) -> Mutant:
    """Name a mutant that replaces policies of payments; facets part by a space."""

    def change(bank: Policies) -> Policies:
        return replace(bank, payments=replace(bank.payments, **policies))

    broken = frozenset(f"pis/{facet}" for facet in facets.split())
    return Mutant(id=f"pis.{id}", breaks=broken, says=says, change=change)
