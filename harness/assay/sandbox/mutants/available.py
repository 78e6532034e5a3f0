"""Faults of the four methods: down, stumbling over bad input, aliases that differ.

A method that is down is 500 or 503 and never a refusal: a refusal of the only valid
call would also be a fault of the consent's scope.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from assay.sandbox.mutants.mutant import Change, answering, breaking
from assay.sandbox.policies import put
from assay.sandbox.reading import Fault, Malformed, consented_keys
from assay.sandbox.render import Row
from assay.sandbox.wire import OPERATIONS, Operation, Route, error

__all__ = ["AVAILABLE"]


def _down(operation: Operation, status: int) -> Change:
    respond = answering(
        lambda request, answer: request.operation == operation and answer.status < 300,  # noqa: PLR2004
        lambda _: error(status, "out of order"),
    )
    return lambda bank: replace(bank, respond=respond)


def _stumbles(operation: Operation, fault: Fault) -> Change:
    def status(found: Fault) -> int:
        return 500 if found == fault else 400

    return lambda bank: replace(bank, malformed=put(bank.malformed, **{operation: status}))


def _accepts(*faults: Fault) -> Callable[[bytes], Sequence[str]]:
    def read(body: bytes) -> Sequence[str]:
        try:
            return consented_keys(body)
        except Malformed as no:
            if no.fault in faults:
                return ()
            raise

    return read


def _lenient(*faults: Fault) -> Change:
    return lambda bank: replace(bank, body=_accepts(*faults))


def _differs(operation: Literal["balances", "transactions"], alias: Route, part: slice) -> Change:
    def view(route: Route, rows: Sequence[Row]) -> Sequence[Row]:
        return rows[part] if route == alias else rows

    return lambda bank: replace(bank, aliases=put(bank.aliases, **{operation: view}))


_FAULTS: tuple[tuple[Operation, tuple[Fault, ...]], ...] = (
    ("accounts", ("page",)),
    (
        "balances",
        ("identifier-long", "identifier-control", "identifier-alphabet", "page"),
    ),
    (
        "transactions",
        ("identifier-long", "identifier-control", "identifier-alphabet", "page"),
    ),
    (
        "consents",
        ("body-text", "body-truncated", "body-type", "body-empty", "body-deep"),
    ),
)

AVAILABLE = (
    *(
        breaking(
            f"available.{operation}-{status}",
            f"{operation}.available/answers",
            f"{operation} answers {status} to every good call",
            _down(operation, status),
        )
        for operation in OPERATIONS
        for status in (500, 503)
    ),
    *(
        breaking(
            f"available.{operation}-500-on-{fault}",
            f"{operation}.available/survives-malformed",
            f"{operation} answers 500 to a bad {fault.replace('-', ' ')}",
            _stumbles(operation, fault),
        )
        for operation, faults in _FAULTS
        for fault in faults
    ),
    breaking(
        "available.consents-takes-text",
        "consents.available/refuses-malformed",
        "a consent that is plain text is accepted, and changes nothing",
        _lenient("body-text"),
    ),
    breaking(
        "available.consents-takes-anything",
        "consents.available/refuses-malformed",
        "a consent that is no JSON at all, or is cut off, is accepted",
        _lenient("body-text", "body-truncated"),
    ),
    breaking(
        "available.balances-alias-lacks-one",
        "balances.available/aliases-agree",
        "/balances leaves the last balance out",
        _differs("balances", "short", slice(None, -1)),
    ),
    breaking(
        "available.balances-alias-empty",
        "balances.available/aliases-agree",
        "/balances shows none",
        _differs("balances", "short", slice(0)),
    ),
    breaking(
        "available.transactions-alias-lacks-one",
        "transactions.available/aliases-agree",
        "/transactions leaves the newest transaction of a page out",
        _differs("transactions", "short", slice(1, None)),
    ),
    breaking(
        "available.transactions-path-lacks-one",
        "transactions.available/aliases-agree",
        "/accounts/{}/transactions leaves the last transaction of a page out",
        _differs("transactions", "path", slice(None, -1)),
    ),
    breaking(
        "available.transactions-path-empty",
        "transactions.available/aliases-agree",
        "/accounts/{}/transactions shows none",
        _differs("transactions", "path", slice(0)),
    ),
)
