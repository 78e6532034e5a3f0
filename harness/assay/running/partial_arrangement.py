"""Customers without the part that a fixture provider cannot prepare.

A trial asks for one customer who owns all that its facets need. If a part of it cannot be
prepared (a card's slips, a card that was never used), the customer is arranged without that part,
and the trial goes on: the checks judge what there is, and what needs the part stays without
evidence, for the reason that the provider gave. A refusal may say which part it is about; of
others, each kind of thing is left out in turn, or there is one of each kind, whichever leaves the most. Nothing is reduced to a
customer who owns nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from assay.binding.encode import Access
from assay.errors import CannotArrange
from assay.fixtures.protocol import Fixture
from assay.history import Arrange, Holding, Subject
from assay.rules.rule import Script

__all__ = ["PartialArrangement"]

#: A kind of thing that a customer owns: its resource, its states, whether it has entries.
_Kind: TypeAlias = tuple[str, tuple[str, ...], bool]
#: The most parts that are left out of one customer.
_MOST = 4


@dataclass(slots=True)
class PartialArrangement:
    """The customers of one trial: what was prepared of each, and why something is missing.

    `allowed` says that a customer may lack something at all.
    """

    allowed: bool = True
    prepared: dict[str, int] = field(default_factory=dict[str, int])
    missing: list[str] = field(default_factory=list[str])

    @property
    def reason(self) -> str:
        """What is missing, for the sentence that begins with "needs"."""
        return "; ".join(dict.fromkeys(self.missing))

    def arrange(self, fixture: Fixture, step: Arrange) -> tuple[Subject, Access]:
        """Return a customer, as far as there is one.

        Raises:
            CannotArrange: the whole customer is refused, or nothing is left to ask for.

        """
        try:
            return fixture.arrange(step)
        except CannotArrange as refusal:
            # What is there on another day, or needs another key, is missing as a whole.
            if not self.allowed or refusal.shortage is not None or refusal.key:
                raise
            part = _in_part(fixture, step, refusal)
            if part is None:
                raise
        reduced, customer, reasons = part
        self.prepared[step.subject] = sum(holding.count for holding in reduced.holdings)
        self.missing += reasons
        return customer

    def going_on(self, script: Script) -> Script:
        """Run a probe whose customers may lack something; it ends where it needs what is missing.

        It sees of such a customer what was prepared for it: the others are not in its price.

        Raises:
            CannotArrange: customers lacked something, so that some evidence may be missing.

        """
        try:
            step = next(script)
            while True:
                reply = yield step
                if isinstance(reply, Subject) and reply.name in self.prepared:
                    reply = replace(reply, owns=reply.owns[: self.prepared[reply.name]])
                step = script.send(reply)
        except StopIteration:
            if self.missing:
                raise CannotArrange(self.reason) from None
        except (LookupError, RuntimeError, TypeError, ValueError):
            if not self.missing:
                raise
            raise CannotArrange(self.reason) from None
        finally:
            script.close()


def _in_part(
    fixture: Fixture, step: Arrange, refusal: CannotArrange
) -> tuple[Arrange, tuple[Subject, Access], list[str]] | None:
    """Return the largest customer that is not refused, and why it is not the whole one."""
    reasons = [str(refusal)]
    for _ in range(_MOST):
        for holdings in sorted(_reductions(step.holdings, refusal), key=_size, reverse=True):
            reduced = replace(step, holdings=holdings)
            try:
                return reduced, fixture.arrange(reduced), reasons
            except CannotArrange as another:
                if another.resource:
                    # It names a part itself, which is left out as well.
                    step, refusal = reduced, another
                    reasons.append(str(another))
                    break
        else:
            return None
    return None


def _reductions(
    holdings: Sequence[Holding], refusal: CannotArrange
) -> Iterator[tuple[Holding, ...]]:
    """Yield what is left to ask for."""
    if refusal.resource:
        meant = [holding for holding in holdings if _is_meant(holding, refusal)]
        kinds = list(dict.fromkeys(map(_kind, meant)))
        ways = [kinds] if kinds else []
    else:
        ways = [[kind] for kind in dict.fromkeys(map(_kind, holdings))]
    for kinds in ways:
        dated = any(dates for _, _, dates in kinds)
        if dated and (refusal.entries or not refusal.resource):
            yield tuple(
                replace(holding, entries=()) if _kind(holding) in kinds else holding
                for holding in holdings
            )
        left = tuple(holding for holding in holdings if _kind(holding) not in kinds)
        if left:
            yield left
    if not refusal.resource and sum(holding.count for holding in holdings) > len(ways):
        # Perhaps there are only fewer of them.
        single = {_kind(holding): replace(holding, count=1) for holding in reversed(holdings)}
        yield tuple(reversed(single.values()))


def _size(holdings: Sequence[Holding]) -> int:
    """Return how many things are asked for: the most are tried first."""
    return sum(holding.count for holding in holdings)


def _is_meant(holding: Holding, refusal: CannotArrange) -> bool:
    """Whether a refusal is about a thing that was asked for."""
    return (
        holding.resource == refusal.resource
        and (not refusal.trait or refusal.trait in holding.traits)
        and (not refusal.entries or bool(holding.entries))
    )


def _kind(holding: Holding) -> _Kind:
    return holding.resource, tuple(sorted(holding.traits)), bool(holding.entries)
