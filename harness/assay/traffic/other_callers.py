"""Other callers that the tokens of a recording may belong to.

A recording distinguishes callers by their tokens. Where it does not show how a token was obtained, two
tokens may be those of two TPPs, or one TPP's before and after a renewal; and the tokens that are
used for the same account may be one customer's. A call without its token may be anybody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from assay.binding.encode import Access
from assay.contract.model import Operation
from assay.history import AnsweredCall, History
from assay.traffic.callers import UNKNOWN_CALLER
from assay.traffic.changed_history import ChangedHistory
from assay.traffic.readings import used_keys

#: What stands for an account that all callers without a token use.
_NO_TOKEN = ""


def other_callers(
    history: History, access: Mapping[int, Access], operations: Mapping[str, Operation]
) -> Iterator[History]:
    """Yield a history with other TPPs, and one with fewer customers, if there can be any."""
    by_tpp = {name for name, operation in operations.items() if operation.by_tpp}

    def token(event: AnsweredCall) -> str | None:
        return access[event.n].token if event.n in access else None

    def of_another_tpp(event: AnsweredCall) -> AnsweredCall:
        if event.call.operation not in by_tpp:
            return event
        by = f"{event.call.by} {tpps.setdefault(token(event) or str(event.n), len(tpps))}"
        return replace(event, call=replace(event.call, by=by))

    tpps: dict[str, int] = {}
    own = (each for each in history.exchanges if each.call.operation in by_tpp)
    if len({token(each) or each.n for each in own}) > 1:
        yield ChangedHistory(whole=history, change=of_another_tpp)
    customers = _same_customers(history, operations)
    if customers:

        def of_one_customer(event: AnsweredCall) -> AnsweredCall:
            subject = customers.get(event.call.subject, event.call.subject)
            return replace(event, call=replace(event.call, subject=subject))

        yield ChangedHistory(whole=history, change=of_one_customer)


def _same_customers(history: History, operations: Mapping[str, Operation]) -> Mapping[str, str]:
    """Return the first of several customers who may be one, by each of the others.

    They used the same account, or no token.
    """
    first: dict[str, str] = {}
    others: dict[str, str] = {}

    def found(name: str) -> str:
        while name in others:
            name = others[name]
        return name

    for exchange in history.exchanges:
        operation = operations.get(exchange.call.operation)
        if operation is None or operation.by_tpp or operation.request:
            continue
        subject = exchange.call.subject
        keys = [_NO_TOKEN] if subject.startswith(UNKNOWN_CALLER) else []
        for key in (*keys, *used_keys(exchange, operation)) if exchange.accepted else keys:
            one, other = found(first.setdefault(key, subject)), found(subject)
            if one != other:
                others[other] = one
    return {name: found(name) for name in others}
