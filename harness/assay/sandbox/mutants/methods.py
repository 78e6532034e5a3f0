"""Mutants of operations: server errors, unavailable operations, media types and links.

An operation that fails answers 500 or 503 and never refuses: refusing the only valid
call would also break the consent scope. Faults of form apply to one operation each, so
that the others can still be judged.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from assay.sandbox.accounts import AliasView, Base, LinkPlace, Row
from assay.sandbox.messages import (
    OPERATIONS,
    Answer,
    Fault,
    Json,
    Malformed,
    Missing,
    Operation,
    Request,
    Route,
    Table,
    consented_keys,
    error,
)
from assay.sandbox.mutants.mutant import answering, breaking, only_when
from assay.sandbox.policies import SOUND, Unavailable, put


def _accepted(
    operation: Operation, altered: Callable[[Answer], Answer]
) -> Callable[[Request, Answer], Answer]:
    """Alter the accepted answers of one operation."""
    return answering(
        lambda request, answer: request.operation == operation and answer.status < 300,  # noqa: PLR2004
        altered,
    )


def down(status: int) -> Callable[[Answer], Answer]:
    """Answer that the operation is out of order."""
    return lambda _: error(status, "out of order")


def _is_refusal(operation: str, request: Request, answer: Answer) -> bool:
    """Return whether an answer refuses a well-formed call for what it names."""
    return (
        request.operation == operation
        and answer.status in {403, 404}
        and "scope" not in request.query
    )


def _stumbles(fault: Fault) -> Callable[[Fault], int]:
    return lambda actual: 500 if actual == fault else 400


def _accepts(*faults: Fault) -> Callable[[bytes], Sequence[str]]:
    def read(body: bytes) -> Sequence[str]:
        try:
            return consented_keys(body)
        except Malformed as exc:
            if exc.fault in faults:
                return ()
            raise

    return read


def _differs(alias: Route, part: slice) -> AliasView:
    def view(route: Route, rows: Sequence[Row]) -> Sequence[Row]:
        return rows[part] if route == alias else rows

    return view


_FAULTS: tuple[tuple[Operation, tuple[Fault, ...]], ...] = (
    ("accounts", ("page",)),
    ("balances", ("identifier-long", "identifier-control", "identifier-alphabet", "page")),
    (
        "transactions",
        ("identifier-long", "identifier-control", "identifier-alphabet", "page", "date"),
    ),
    ("consents", ("body-text", "body-truncated", "body-type", "body-empty", "body-deep")),
)

#: What else shows a fault: a consent of another type is no list of accounts.
_LISTS: Mapping[Fault, str] = {"body-type": " consent.effect/survives-lists"}

AVAILABLE = (
    *(
        breaking(
            f"available.{operation}-{status}",
            f"{operation}.available/answers",
            f"{operation} answers {status} to every valid call",
            respond=_accepted(operation, down(status)),
        )
        for operation in OPERATIONS
        for status in (500, 503)
    ),
    *(
        breaking(
            f"available.{operation}-500-on-{fault}",
            f"{operation}.available/survives-malformed{_LISTS.get(fault, '')}",
            f"{operation} answers 500 to a malformed request ({fault})",
            malformed=put(SOUND.malformed, **{operation: _stumbles(fault)}),
        )
        for operation, faults in _FAULTS
        for fault in faults
    ),
    *(
        breaking(
            f"available.{operation}-500-for-a-refusal",
            f"{operation}.available/survives-unserved",
            f"{operation} answers 500 where it refuses what is unknown or not granted",
            respond=answering(partial(_is_refusal, operation), down(500)),
        )
        for operation in ("consents", "balances", "transactions")
    ),
    breaking(
        "available.consents-takes-text",
        "consents.available/refuses-malformed",
        "a consent that is plain text is accepted, and changes nothing",
        body=_accepts("body-text"),
    ),
    breaking(
        "available.consents-takes-anything",
        "consents.available/refuses-malformed",
        "a consent that is not JSON, or is truncated, is accepted",
        body=_accepts("body-text", "body-truncated"),
    ),
    breaking(
        "available.balances-alias-lacks-one",
        "balances.available/aliases-agree",
        "/balances omits the last balance",
        aliases=put(SOUND.aliases, balances=_differs("short", slice(None, -1))),
    ),
    breaking(
        "available.balances-alias-empty",
        "balances.available/aliases-agree",
        "/balances shows no balances",
        aliases=put(SOUND.aliases, balances=_differs("short", slice(0))),
    ),
    breaking(
        "available.transactions-alias-lacks-one",
        "transactions.available/aliases-agree",
        "/transactions omits the newest transaction of a page",
        aliases=put(SOUND.aliases, transactions=_differs("short", slice(1, None))),
    ),
    breaking(
        "available.transactions-path-lacks-one",
        "transactions.available/aliases-agree",
        "/accounts/{}/transactions omits the last transaction of a page",
        aliases=put(SOUND.aliases, transactions=_differs("path", slice(None, -1))),
    ),
    breaking(
        "available.transactions-path-empty",
        "transactions.available/aliases-agree",
        "/accounts/{}/transactions shows no transactions",
        aliases=put(SOUND.aliases, transactions=_differs("path", slice(0))),
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


def _answers(method: Missing, when: bool, body: Json) -> Table[Missing, Unavailable]:
    content = Answer(status=200, body=body)
    answer = only_when(
        lambda consented: consented is when, lambda _: content, SOUND.unavailable[method]
    )
    return put(SOUND.unavailable, **{method: answer})


UNAVAILABLE = tuple(
    breaking(
        f"unavailable.{clause}-{what}-{state}-consent",
        f"{clause}/refused-{state}-consent",
        f"{method} answers 200 with {what} content, {state} a consent",
        unavailable=_answers(method, state == "with", body),
    )
    for clause, method, empty, full in _CLAUSES
    for state in ("with", "without")
    for what, body in (("empty", empty), ("full", full))
)


def _is_later_page(request: Request, answer: Answer) -> bool:
    page = request.query.get("page", "1")
    return request.operation == "transactions" and page != "1" and answer.status < 300  # noqa: PLR2004


def cut_off(answer: Answer) -> Answer:
    """Omit the last brace."""
    return replace(answer, body=json.dumps(answer.body).encode("ascii")[:-1])


def as_text(answer: Answer) -> Answer:
    """Declare the media type text/plain."""
    return replace(answer, media="text/plain; charset=utf-8")


FORM = (
    *(
        breaking(
            f"form.{operation}-cut-off",
            "well-formed/json",
            f"{operation}: the answer lacks its last brace",
            respond=_accepted(operation, cut_off),
        )
        for operation in OPERATIONS
    ),
    *(
        breaking(
            f"form.transactions-later-page-{name}",
            f"well-formed/{facet}",
            f"transactions: every page after the first {says}",
            respond=answering(_is_later_page, altered),
        )
        for name, facet, says, altered in (
            ("cut-off", "json", "lacks its last brace", cut_off),
            ("as-text", "media-type", "is declared as text/plain", as_text),
        )
    ),
    *(
        breaking(
            f"form.{operation}-as-text",
            "well-formed/media-type",
            f"{operation}: the answer is JSON but declared as text/plain",
            respond=_accepted(operation, as_text),
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
        links=put(SOUND.links, **{place: base}),
    )
    for place, name, base in _LEAVING
)
