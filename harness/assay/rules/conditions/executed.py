"""The requests of a history that were carried out, with which a decision on others is compared.

A rejection may have a cause outside the condition. It counts only beside a request that
differs in nothing but the condition's arguments, and was carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.rules.conditions import fields
from assay.rules.conditions.table import Table
from assay.rules.lifecycle import comparison, request_queries, tracker
from assay.rules.lifecycle.comparison import Likeness
from assay.rules.lifecycle.tracker import Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedRequests:
    """The requests that were carried out: one of each sort, and the first of equal arguments.

    `known` has the values of conditional arguments that were accepted or that the contract
    names; `addresses` has the return addresses that were accepted.
    """

    table: Table
    lifecycle: tracker.Lifecycle
    sorts: Mapping[Likeness, Instance]
    first: Mapping[Likeness, Instance]
    known: frozenset[tuple[str, str]]
    addresses: frozenset[str]

    @staticmethod
    def of(
        table: Table, lifecycle: tracker.Lifecycle, tracked: tracker.Tracker
    ) -> ExecutedRequests:
        """Return the requests of a history that were carried out."""
        sorts: dict[Likeness, Instance] = {}
        first: dict[Likeness, Instance] = {}
        known = set(fields.named_values(table.atoms))
        for request in comparison.comparable(tracked):
            if request.done:
                sorts.setdefault(_sort(table, lifecycle, request), request)
                former = first.setdefault(_sent(lifecycle, request), request)
                if _decided(request) < _decided(former):
                    first[_sent(lifecycle, request)] = request
                known |= fields.sent_values(table.atoms, request)
        taken = [
            request
            for request in tracked.requests
            if request.made.accepted and request.outcome not in tracker.REJECTED
        ]
        return ExecutedRequests(
            table=table,
            lifecycle=lifecycle,
            sorts=sorts,
            first=first,
            known=frozenset(known),
            addresses=frozenset(_address(lifecycle, request) for request in taken),
        )

    def control(self, request: Instance) -> Instance | None:
        """Return a request that differs only in the arguments of the condition."""
        return self.sorts.get(_sort(self.table, self.lifecycle, request))

    def strange(self, request: Instance) -> bool:
        """Whether a value was never accepted, so that it may be the cause of a rejection.

        A day that was accepted earlier may have come since.
        """
        unknown = not fields.sent_values(self.table.atoms, request) <= self.known
        unsigned = request_queries.signature(request) is None
        elsewhere = unsigned and _address(self.lifecycle, request) not in self.addresses
        return unknown or elsewhere or (unsigned and _late(self.lifecycle, request))

    def repeats(self, request: Instance) -> bool:
        """Whether the bank may take it for a repeat of a request carried out earlier."""
        first = self.first.get(_sent(self.lifecycle, request))
        return first is not None and _decided(first) < _decided(request)


def _decided(request: Instance) -> int:
    """Return the exchange that decided it: the first request made may be signed last."""
    return (request_queries.signature(request) or request.made).n


def _address(lifecycle: tracker.Lifecycle, request: Instance) -> str:
    return repr(request.made.call.arguments.get(lifecycle.create.returns or ""))


def _late(lifecycle: tracker.Lifecycle, request: Instance) -> bool:
    """Whether the day of a deferred request may have come before it was made."""
    made = request.made
    ahead = request_queries.is_before_due_day(lifecycle, made.call.arguments, made.at)
    return lifecycle.deferred(request.mode) and not ahead


def _sort(table: Table, lifecycle: tracker.Lifecycle, request: Instance) -> Likeness:
    but = [atom.argument for atom in table.atoms]
    return comparison.sort_of(lifecycle, request, but=but)


def _sent(lifecycle: tracker.Lifecycle, request: Instance) -> Likeness:
    create = lifecycle.create
    return comparison.sent(request, but=(create.owned, create.returns))
