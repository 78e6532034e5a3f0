"""Alternative causes that may explain the rejection of a request.

The rejection of a request that repeats nothing is a violation only if nothing else can
be the reason: nothing before the history, no identical request with unknown outcome, no
other rule. That no other rule applies is shown by a request that is like it in all that
matters, and was accepted and signed without being rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from assay.rules.lifecycle import comparison, request_queries
from assay.rules.lifecycle.comparison import (
    CANCELLED,
    REFUSED,
    UNSIGNED,
    ComparisonTracker,
    Likeness,
    Relation,
    possible_decision_times,
)
from assay.rules.lifecycle.tracker import Instance, InstanceOutcome
from assay.rules.state.calendar import DAY, dates

#: A day on which a request may have been executed; None for any day.
_Day: TypeAlias = date | None
#: The most possible days of an execution that are compared; with more, any day is possible.
FEW = 7
#: The outcomes of a request that has not been executed.
UNDONE = frozenset({InstanceOutcome.OPEN, InstanceOutcome.ENDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanations:
    """The possible causes of a rejection, each with the number of its first exchange.

    `perhaps_executed` has the requests that may have been executed, by content and day,
    `unknown_customers` the customers with a request whose content is unknown, and `accepted`
    the accepted requests by their sort.
    """

    compared: ComparisonTracker
    perhaps_executed: Mapping[tuple[Likeness, _Day], int]
    unknown_customers: Mapping[str, int]
    accepted: Mapping[Likeness, Instance]

    @staticmethod
    def of(compared: ComparisonTracker) -> Explanations:
        """Collect them from a history."""
        perhaps: dict[tuple[Likeness, _Day], int] = {}
        loose: dict[str, int] = {}
        alike: dict[Likeness, Instance] = {}
        for request in compared.tracker.requests:
            number = (request_queries.signature(request) or request.made).n
            if not comparison.unchanged(request):
                name = request.made.call.subject
                loose[name] = min(request.made.n, loose.get(name, request.made.n))
            for day in _days(compared, request):
                key = _sent(compared, request), day
                perhaps[key] = min(number, perhaps.get(key, number))
            if _accepted(compared, request):
                alike.setdefault(comparison.sort_of(compared.lifecycle, request), request)
        return Explanations(
            compared=compared, perhaps_executed=perhaps, unknown_customers=loose, accepted=alike
        )

    def control(self, request: Instance) -> Instance | None:
        """Return a request of the same sort that was accepted, if there is one."""
        return self.accepted.get(comparison.sort_of(self.compared.lifecycle, request))

    def explanation(self, request: Instance, relation: Relation) -> str:
        """Return another possible cause of the rejection of a request; empty if there is none."""
        if not request_queries.is_known(request):
            return "it may repeat a request from before this history"
        if self._repeats(request, relation.n):
            return "it may repeat a request whose outcome is unknown"
        former = relation.former
        about_undone = relation.facet in (CANCELLED, REFUSED, UNSIGNED)
        looked = former.seen_in is not None and former.seen_in > relation.n
        if about_undone and not (looked and former.outcome in UNDONE):
            return "the state of the earlier request at that time is unknown"
        control = self.control(request)
        if control is None:
            return "no comparable request was accepted"
        if self._unlike(request, control):
            return "the comparable request was signed or prepared in another way"
        return ""

    def _repeats(self, request: Instance, n: int) -> bool:
        zone, key = self.compared.lifecycle.contract.zone, _sent(self.compared, request)
        days: set[_Day] = {
            day for moment in possible_decision_times(request) for day in dates(moment, zone)
        }
        numbers = [self.perhaps_executed.get((key, day), n) for day in (*days, None)]
        return min(*numbers, self.unknown_customers.get(request.made.call.subject, n)) < n

    def _unlike(self, request: Instance, control: Instance) -> bool:
        mine, its = request_queries.signature(request), request_queries.signature(control)
        signed = mine is not None and (its is None or mine.step.factor != its.step.factor)
        return signed or not self.compared.same_registrations(request, control)


def _accepted(compared: ComparisonTracker, request: Instance) -> bool:
    """Whether it was executed or, if deferred, still open after its signature."""
    signed = request_queries.signature(request)
    open_ = (
        signed is not None
        and request.outcome is InstanceOutcome.OPEN
        and (request.seen_in or 0) > signed.n
    )
    put_off = compared.lifecycle.deferred(request.mode) and open_
    return comparison.unchanged(request) and (request.done or put_off)


def _sent(compared: ComparisonTracker, request: Instance) -> Likeness:
    """Return the content of a request without its return address.

    Nor its mode: whether a request in another mode is a repeat may be open.
    """
    return comparison.arguments(request, but=(compared.lifecycle.create.returns,))


def _days(compared: ComparisonTracker, request: Instance) -> Iterator[_Day]:
    """Yield the days on which a request may have been executed."""
    signed = request_queries.signature(request) is not None
    if request.outcome is InstanceOutcome.UNKNOWN or (
        signed and request.outcome is InstanceOutcome.OPEN
    ):
        yield None
    elif request.done:
        zone = compared.lifecycle.contract.zone
        every = [day for moment in possible_decision_times(request) for day in dates(moment, zone)]
        first, last = min(every), max(every)
        few = (last - first).days < FEW
        yield from (first + n * DAY for n in range((last - first).days + 1)) if few else (None,)
