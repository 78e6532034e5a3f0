"""What a mutant and a neutral variant are: a name, a sentence, and one changed policy.

Apart from the tables, so that each table's file can import it. Not for running them:
give ``mutant.change(SOUND)`` to :func:`assay.sandbox.app.make_app`.

How a mutant of payment initiation is written: what it breaks, and what it replaces.

The same as in :mod:`assay.sandbox.mutants.mutant`, for the other half of the bank.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from assay.sandbox.messages import Answer, Request
from assay.sandbox.policies import Policies

#: Makes another bank from a bank.
Change: TypeAlias = Callable[[Policies], Policies]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A bank with one wrong decision."""

    #: Rule kind, a dot, and the fault.
    id: str
    #: Ids of the obligations that must turn red; all others must not.
    breaks: frozenset[str]
    #: The fault in one sentence.
    says: str
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Neutral:
    """A bank that differs where the document is silent: all must stay green."""

    id: str
    says: str
    change: Change


def breaking(id: str, facets: str, says: str, change: Change) -> Mutant:
    """Name a mutant of the account information interface; facets part by a space."""
    broken = frozenset(f"aisp/{facet}" for facet in facets.split())
    return Mutant(id=id, breaks=broken, says=says, change=change)


def answering(
    applies: Callable[[Request, Answer], bool], altered: Callable[[Answer], Answer]
) -> Callable[[Request, Answer], Answer]:
    """Make a last look at answers which alters those it applies to."""

    def respond(request: Request, answer: Answer) -> Answer:
        return altered(answer) if applies(request, answer) else answer

    return respond


def breaking_pis(id: str, facets: str, says: str, **policies: Any) -> Mutant:
    """Name a mutant that replaces policies of payments; facets part by a space."""

    def change(bank: Policies) -> Policies:
        return replace(bank, payments=replace(bank.payments, **policies))

    broken = frozenset(f"pis/{facet}" for facet in facets.split())
    return Mutant(id=f"pis.{id}", breaks=broken, says=says, change=change)
