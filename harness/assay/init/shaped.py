"""An operation of the contract beside the one of the document that it is thought to be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.init.offered import Offered
from assay.init.shape import Leaf
from assay.model import Contract, Operation

__all__ = ["THEIRS", "Shape", "guessed"]

#: Whose things are not the customer's own, or not the item's.
THEIRS = frozenset(["creditor", "debtor", "beneficiary", "counterparty", "ultimate", "original"])
_SLOT = re.compile(r"[{]([^{}]*)[}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An operation of the contract as the document spells it."""

    contract: Contract
    operation: Operation
    offered: Offered
    #: The operation that lists the gateway's own names of things, if there is one.
    lister: str | None = None

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of what stands in braces in the path."""
        return tuple(_SLOT.findall(self.offered.path))


def guessed(name: str, leaf: Leaf) -> str:
    """Return why a leaf is thought to be what the contract calls so; empty if it is sure."""
    if leaf.steps == (name,):
        return ""
    return "it has this name" if leaf.name == name else f"{' '.join(leaf.steps)} is like {name}"
