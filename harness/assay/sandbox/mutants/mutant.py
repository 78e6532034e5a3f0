"""Mutants and neutral variants, and the operators that turn a right policy into a wrong one.

A mutant is an id, a sentence and a changed policy. To run one, pass ``mutant.change(SOUND)``
to :func:`assay.sandbox.app.make_app`. Faults of a limit come from the standard operators on
:class:`assay.sandbox.calendar.Threshold`; faults that show in some situations only come
from :func:`only_when`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeAlias, TypeVar

from assay.sandbox.calendar import Measure, Threshold
from assay.sandbox.messages import Answer, Request
from assay.sandbox.policies import Policies

#: Returns a changed bank.
Change: TypeAlias = Callable[[Policies], Policies]
#: Returns a changed limit.
Operator: TypeAlias = Callable[[Threshold[Measure]], Threshold[Measure]]

#: More units than any value of the bank has: 300 years, if the unit is a second.
_FAR = 10**10

_P = ParamSpec("_P")
_R = TypeVar("_R")


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
    """A bank that differs where the document is silent; all must stay green.

    `leaves` are the ids of exactly the obligations that cannot be decided at such a bank,
    because it has no request with which to compare.
    """

    id: str
    says: str
    change: Change
    leaves: frozenset[str] = frozenset()


def breaking(
    id: str, facets: str, says: str, change: Change | None = None, **policies: Any
) -> Mutant:
    """Return a mutant of account information; facets are separated by spaces.

    It replaces policies. A change is given instead where each bank has a state of its own.
    """
    broken = frozenset(f"aisp/{facet}" for facet in facets.split())
    return Mutant(id=id, breaks=broken, says=says, change=change or changing(**policies))


def breaking_pis(id: str, facets: str, says: str, **policies: Any) -> Mutant:
    """Return a mutant that replaces policies of payments; facets are separated by spaces."""
    broken = frozenset(f"pis/{facet}" for facet in facets.split())
    return Mutant(id=f"pis.{id}", breaks=broken, says=says, change=changing_pis(**policies))


def neutral(
    id: str, says: str, change: Change | None = None, leaves: str = "", **policies: Any
) -> Neutral:
    """Return a neutral variant of account information.

    It replaces whole policies. A change is given instead where entries of a table are
    replaced, so that one bank can have several variants. `leaves` are the facets that cannot
    be decided, separated by spaces.
    """
    open_ = frozenset(f"aisp/{facet}" for facet in leaves.split())
    change = change or changing(**policies)
    return Neutral(id=f"neutral.{id}", says=says, change=change, leaves=open_)


def neutral_pis(id: str, says: str, leaves: str = "", **policies: Any) -> Neutral:
    """Return a neutral variant that replaces policies of payments.

    `leaves` are the facets that cannot be decided, separated by spaces.
    """
    open_ = frozenset(f"pis/{facet}" for facet in leaves.split())
    return Neutral(id=f"pis.{id}", says=says, change=changing_pis(**policies), leaves=open_)


def changing(**policies: Any) -> Change:
    """Replace policies of account information."""
    return lambda bank: replace(bank, **policies)


def changing_pis(**policies: Any) -> Change:
    """Replace policies of payments."""
    return lambda bank: replace(bank, payments=replace(bank.payments, **policies))


def one_less(threshold: Threshold[Measure]) -> Threshold[Measure]:
    """Lower a limit by one unit."""
    return replace(threshold, limit=threshold.limit - threshold.unit)


def one_more(threshold: Threshold[Measure]) -> Threshold[Measure]:
    """Raise a limit by one unit."""
    return replace(threshold, limit=threshold.limit + threshold.unit)


def edge_flipped(threshold: Threshold[Measure]) -> Threshold[Measure]:
    """Move the limit itself to the other side."""
    return replace(threshold, inclusive=not threshold.inclusive)


def never(threshold: Threshold[Measure]) -> Threshold[Measure]:
    """Let no value pass the limit."""
    return replace(threshold, limit=_FAR * threshold.unit)


def always(threshold: Threshold[Measure]) -> Threshold[Measure]:
    """Let every value pass the limit."""
    return replace(threshold, limit=-_FAR * threshold.unit)


def limited_to(limit: Measure) -> Operator[Measure]:
    """Return an operator that sets another limit."""
    return lambda threshold: replace(threshold, limit=limit)


def only_when(
    when: Callable[_P, bool], wrong: Callable[_P, _R], right: Callable[_P, _R]
) -> Callable[_P, _R]:
    """Return a policy that decides wrongly in some situations, and rightly in all others."""

    def decide(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return (wrong if when(*args, **kwargs) else right)(*args, **kwargs)

    return decide


def allowing(when: Callable[_P, bool], right: Callable[_P, bool]) -> Callable[_P, bool]:
    """Return a policy that also allows something in some situations."""

    def allowed(*args: _P.args, **kwargs: _P.kwargs) -> bool:
        return when(*args, **kwargs) or right(*args, **kwargs)

    return allowed


def answering(
    applies: Callable[[Request, Answer], bool], altered: Callable[[Answer], Answer]
) -> Callable[[Request, Answer], Answer]:
    """Return a `respond` policy that alters the answers to which it applies."""

    def respond(request: Request, answer: Answer) -> Answer:
        return altered(answer) if applies(request, answer) else answer

    return respond
