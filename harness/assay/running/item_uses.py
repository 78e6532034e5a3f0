"""Items that a step uses up, such as the account of a payment.

A bank may refuse what repeats an earlier request about the same item: most banks one that was
signed, some even one that was only made. So a request that is final weighs more than any number of
requests that are made and never signed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

from assay.contract.model import Operation
from assay.history import Authorise, Call, Event, Exchange

__all__ = ["FINAL", "MADE", "used_items"]

#: The weight of a request that was made, and of one that was signed or needs no signature.
MADE, FINAL = 1, 1_000


def used_items(
    step: Call | Authorise,
    events: Iterable[Event],
    operations: Mapping[str, Operation],
    owned: Container[str],
) -> Counter[str]:
    """Return how much a step uses of the items `owned`, by key; `events` came before it."""
    if isinstance(step, Call):
        operation = operations[step.operation]
        if not operation.makes:
            return Counter()
        return _named(step, owned, MADE if operation.signed else FINAL)
    for event in events:
        if not isinstance(event, Exchange) or not operations[event.call.operation].makes:
            continue
        if any(item.key == step.request for item in event.items):
            return _named(event.call, owned, FINAL)
    return Counter()


def _named(call: Call, owned: Container[str], weight: int) -> Counter[str]:
    values = (
        each
        for value in call.arguments.values()
        for each in (value if isinstance(value, list | tuple) else (value,))
    )
    keys = {value for value in values if isinstance(value, str) and value in owned}
    return Counter(dict.fromkeys(keys, weight))
