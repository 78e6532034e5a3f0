"""Mutants of operations: server errors, unavailable operations, media types and links.

An operation that fails answers 500 or 503 and never refuses: refusing the only valid
call would also break the consent scope. Faults of form apply to one operation each, so
that the others can still be judged.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from assay.sandbox.accounts import Base, LinkPlace, Row
from assay.sandbox.messages import (
    OPERATIONS,
    Answer,
    Fault,
    Json,
    Malformed,
    Missing,
    Operation,
    Route,
    consented_keys,
    error,
)
from assay.sandbox.mutants.mutant import Change, answering, breaking
from assay.sandbox.policies import put


def _down(operation: Operation, status: int) -> Change:
    respond = answering(
        lambda request, answer: request.operation == operation and answer.status < 300,  # noqa: PLR2004
        lambda _: error(status, "out of order"),
    )
    return lambda bank: replace(bank, respond=respond)


def _stumbles(operation: Operation, fault: Fault) -> Change:
    def status(actual: Fault) -> int:
        return 500 if actual == fault else 400

    return lambda bank: replace(bank, malformed=put(bank.malformed, **{operation: status}))


def _accepts(*faults: Fault) -> Callable[[bytes], Sequence[str]]:
    def read(body: bytes) -> Sequence[str]:
        try:
            return consented_keys(body)
        except Malformed as exc:
            if exc.fault in faults:
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
            f"{operation} answers {status} to every valid call",
            _down(operation, status),
        )
        for operation in OPERATIONS
        for status in (500, 503)
    ),
    *(
        breaking(
            f"available.{operation}-500-on-{fault}",
            f"{operation}.available/survives-malformed",
            f"{operation} answers 500 to a malformed request ({fault})",
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
        "a consent that is not JSON, or is truncated, is accepted",
        _lenient("body-text", "body-truncated"),
    ),
    breaking(
        "available.balances-alias-lacks-one",
        "balances.available/aliases-agree",
        "/balances omits the last balance",
        _differs("balances", "short", slice(None, -1)),
    ),
    breaking(
        "available.balances-alias-empty",
        "balances.available/aliases-agree",
        "/balances shows no balances",
        _differs("balances", "short", slice(0)),
    ),
    breaking(
        "available.transactions-alias-lacks-one",
        "transactions.available/aliases-agree",
        "/transactions omits the newest transaction of a page",
        _differs("transactions", "short", slice(1, None)),
    ),
    breaking(
        "available.transactions-path-lacks-one",
        "transactions.available/aliases-agree",
        "/accounts/{}/transactions omits the last transaction of a page",
        _differs("transactions", "path", slice(None, -1)),
    ),
    breaking(
        "available.transactions-path-empty",
        "transactions.available/aliases-agree",
        "/accounts/{}/transactions shows no transactions",
        _differs("transactions", "path", slice(0)),
    ),
)


_CLAUSES: tuple[tuple[str, Missing, Json, Json], ...] = (
    (
        "trusted-beneficiaries",
        "trustedBeneficiaries",
        {"beneficiaries": []},
        {"beneficiaries": [{"name": "Zoé Exemple"}]},
    ),
    ("end-user-identity", "endUserIdentity", {}, {"name": "Zoé Exemple"}),
)


def _answers(method: Missing, when: bool, body: Json) -> Change:
    def answer(consented: bool) -> Answer:
        if consented is when:
            return Answer(status=200, body=body)
        return error(405, "this operation is not available", ("Allow", ""))

    return lambda bank: replace(bank, unavailable=put(bank.unavailable, **{method: answer}))


UNAVAILABLE = tuple(
    breaking(
        f"unavailable.{clause}-{what}-{state}-consent",
        f"{clause}/refused-{state}-consent",
        f"{method} answers 200 with {what} content, {state} a consent",
        _answers(method, state == "with", body),
    )
    for clause, method, empty, full in _CLAUSES
    for state in ("with", "without")
    for what, body in (("empty", empty), ("full", full))
)


def cut_off(answer: Answer) -> Answer:
    """Omit the last brace."""
    return replace(answer, body=json.dumps(answer.body).encode("ascii")[:-1])


def as_text(answer: Answer) -> Answer:
    """Declare the media type text/plain."""
    return replace(answer, media="text/plain; charset=utf-8")


def _accepted(operation: Operation, altered: Callable[[Answer], Answer]) -> Change:
    respond = answering(
        lambda request, answer: request.operation == operation and answer.status < 300,  # noqa: PLR2004
        altered,
    )
    return lambda bank: replace(bank, respond=respond)


FORM = (
    *(
        breaking(
            f"form.{operation}-cut-off",
            "well-formed/json",
            f"{operation}: the answer lacks its last brace",
            _accepted(operation, cut_off),
        )
        for operation in OPERATIONS
    ),
    *(
        breaking(
            f"form.{operation}-as-text",
            "well-formed/media-type",
            f"{operation}: the answer is JSON but declared as text/plain",
            _accepted(operation, as_text),
        )
        for operation in OPERATIONS
    ),
)


def elsewhere(_base: str) -> str:
    """Return another host."""
    return "https://gateway.bank.example"


def lookalike(base: str) -> str:
    """Return a host that starts like this one."""
    return f"{base}.cdn.example"


def behind_a_name(base: str) -> str:
    """Put this host in place of a user name, before another host."""
    scheme, _, host = base.partition("://")
    return f"{scheme}://{host}@cdn.example"


def _leaves(place: LinkPlace, base: Base) -> Change:
    return lambda bank: replace(bank, links=put(bank.links, **{place.replace("-", "_"): base}))


_LEAVING: tuple[tuple[LinkPlace, str, Base], ...] = (
    ("accounts-self", "elsewhere", elsewhere),
    ("accounts-self", "lookalike", lookalike),
    ("accounts-next", "elsewhere", elsewhere),
    ("balances-self", "elsewhere", elsewhere),
    ("balances-self", "behind-a-name", behind_a_name),
    ("transactions-self", "elsewhere", elsewhere),
    ("transactions-self", "lookalike", lookalike),
    ("transactions-next", "elsewhere", elsewhere),
)

LINKS = tuple(
    breaking(
        f"links.{place}-{name}",
        f"live-host/{place.partition('-')[0]}-links",
        f"{place.partition('-')[0]}: the link {place.partition('-')[2]} leads to another host",
        _leaves(place, base),
    )
    for place, name, base in _LEAVING
)
