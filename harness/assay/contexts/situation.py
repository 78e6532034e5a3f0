"""A contract at a target, from which the values of dimensions follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.binding.join import capabilities
from assay.binding.spelling import OperationBinding
from assay.binding.target import Target
from assay.contexts.context import DimensionValue
from assay.contract.model import Capability, Contract

_NOTHING = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A contract at a target, from which the values of dimensions follow."""

    contract: Contract
    target: Target

    @property
    def offered(self) -> frozenset[Capability]:
        """What the target offers for the contract."""
        return capabilities(self.contract, self.target)

    def binding(self, operation: str) -> OperationBinding:
        """Return how the target spells an operation."""
        return self.target.operations.get(operation, _NOTHING)


#: Yields each value of a dimension, or its name and what the target lacks for it.
Values = Iterator[DimensionValue | tuple[str, str]]
