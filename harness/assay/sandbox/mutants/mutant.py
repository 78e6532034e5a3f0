"""Definitions of mutants and neutral variants: an id, a sentence and a changed policy.

To run one, pass ``mutant.change(SOUND)`` to :func:`assay.sandbox.app.make_app`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from assay.sandbox.messages import Answer, Request
from assay.sandbox.policies import Policies

#: Returns a changed bank.
Change: TypeAlias = Callable[[Policies], Policies]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A bank with one wrong decision."""

    #: Rule kind, a dot, and the fault.
    id: str
    #: Ids of exactly the obligations that must turn red.
    breaks: frozenset[str]
    #: The fault in one sentence.
    says: str
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Neutral:
    """A bank that differs where the document is silent; all must stay green."""

    id: str
    says: str
    change: Change


def breaking(id: str, facets: str, says: str, change: Change) -> Mutant:
    """Return a mutant of account information; facets are separated by spaces."""
    broken = frozenset(f"aisp/{facet}" for facet in facets.split())
    return Mutant(id=id, breaks=broken, says=says, change=change)


def answering(
    applies: Callable[[Request, Answer], bool], altered: Callable[[Answer], Answer]
) -> Callable[[Request, Answer], Answer]:
    """Return a `respond` policy that alters the answers to which it applies."""

    def respond(request: Request, answer: Answer) -> Answer:
        return altered(answer) if applies(request, answer) else answer

    return respond


def breaking_pis(id: str, facets: str, says: str, **policies: Any) -> Mutant:
    """Return a mutant that replaces policies of payments; facets are separated by spaces."""

    def change(bank: Policies) -> Policies:
        return replace(bank, payments=replace(bank.payments, **policies))

    broken = frozenset(f"pis/{facet}" for facet in facets.split())
    return Mutant(id=f"pis.{id}", breaks=broken, says=says, change=change)
