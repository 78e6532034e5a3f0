"""Calls of a history that a bank may refuse because a limit of calls may be used up."""

from __future__ import annotations

from collections import Counter
from datetime import date

from assay.contract.model import Contract
from assay.history import History
from assay.rules.facts import CallLimit
from assay.rules.queries import fresh_subjects
from assay.rules.rule import facts_of
from assay.rules.state.calendar import local_day


def perhaps_exhausted(contract: Contract, operation: str, history: History) -> frozenset[int]:
    """Return the numbers of the calls for which the limit with the customer may be used up.

    What counts, and since when, is open, so every earlier call of the customer does.
    """
    facts = facts_of(contract)
    most = facts.limits(attended=True).get(operation)
    if most is None:
        return frozenset()
    asked = Counter[str]()
    beyond: set[int] = set()
    together = facts.counted_together(operation)
    for exchange in history.exchanges:
        if exchange.call.operation in together:
            asked[exchange.call.subject] += 1
            if exchange.call.operation == operation and asked[exchange.call.subject] > most:
                beyond.add(exchange.n)
    return frozenset(beyond)


def perhaps_over_quota(contract: Contract, history: History) -> frozenset[int]:
    """Return the numbers of the calls without the customer that may be refused for their number.

    What counts is open, so every call without the customer does. Of a customer who was there
    before, the calls that were made before are unknown.
    """
    facts = facts_of(contract)
    limits = {**facts.limits(attended=False)}
    for operation, each in facts.call_limits.items():
        for limit in each:
            # A consent may name a smaller number.
            if limit.argument and not limit.attended:
                limits[operation] = min(limits[operation], _least_named(limit, history))
    asked = Counter[tuple[str, str, date | None]]()
    fresh = fresh_subjects(history)
    over: set[int] = set()
    for exchange in history.exchanges:
        call = exchange.call
        if call.operation in limits and not call.present:
            day = local_day(exchange.at, contract.zone) if contract.zone else None
            for together in facts.counted_together(call.operation):
                asked[call.subject, together, day] += 1
            number = asked[call.subject, call.operation, day]
            if number > limits[call.operation] or call.subject not in fresh:
                over.add(exchange.n)
    return frozenset(over)


def _least_named(limit: CallLimit, history: History) -> int:
    """Return the smallest number that a consent of a history names, or 0 where one names none."""
    named = [
        call.arguments.get(limit.argument)
        for call in (exchange.call for exchange in history.exchanges)
        if call.operation == limit.grant
    ]
    numbers = [number if isinstance(number, int) else 0 for number in named]
    return min([limit.number, *numbers])
