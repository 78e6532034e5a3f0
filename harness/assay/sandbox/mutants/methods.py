"""Mutants of operations: server errors, unavailable operations, media types, links, contradictions.

An operation that fails answers 500 or 503 and never refuses: refusing the only valid
call would also break the consent scope. Faults of form apply to one operation each, so
that the others can still be judged.

Where a bank contradicts itself, each answer is valid, but two of them disagree. Some depend on
earlier calls of the customer. They record these in the policy that is applied last to every
answer, since the bank itself does not record calls.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeAlias, cast

from assay.sandbox.access import Listing
from assay.sandbox.accounts import AliasView, Base, Item, LinkPlace, Row
from assay.sandbox.calendar import Period
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
from assay.sandbox.mutants.mutant import Change, answering, breaking, only_when
from assay.sandbox.policies import SOUND, Policies, Unavailable, put


def _accepted(
    operation: Operation,
    altered: Callable[[Answer], Answer],
    when: Callable[[Request], bool] = lambda _: True,
) -> Callable[[Request, Answer], Answer]:
    """Alter the accepted answers of one operation, or some of them."""

    def applies(request: Request, answer: Answer) -> bool:
        return request.operation == operation and answer.status < 300 and when(request)  # noqa: PLR2004

    return answering(applies, altered)


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

# fmt: off
_VALID: tuple[tuple[Operation, str, str, str, Callable[[Request], bool]], ...] = (
    ("accounts", "unattended", "without the customer", "", lambda request: not request.attended),
    ("balances", "unattended", "without the customer", "", lambda request: not request.attended),
    ("accounts", "later", "for a later page", " accounts.page-size/ends",
     lambda request: "page" in request.query),
    ("transactions", "ranged", "for a range of days", "",
     lambda request: "dateTo" in request.query),
)
# fmt: on


def _lacks_one(name: str, answer: Answer) -> Answer:
    """Leave out the last row."""
    body = cast("dict[str, list[Json]]", answer.body)
    return replace(answer, body={**body, name: body[name][:-1]})


_OVERLAPPED: tuple[tuple[Operation, str, str, Callable[[Answer], Answer]], ...] = (
    ("accounts", "500", "gets an error", down(500)),
    ("accounts", "short", "lacks an account", partial(_lacks_one, "accounts")),
    ("balances", "short", "lacks a balance", partial(_lacks_one, "balances")),
    ("transactions", "short", "lacks a transaction", partial(_lacks_one, "transactions")),
)
#: What else shows a fault: a consent of another type is no list of accounts.
_LISTS: Mapping[Fault, str] = {"body-type": " consent.effect/survives-lists"}

# fmt: off
AVAILABLE = (
    *(breaking(f"available.{operation}-{status}", f"{operation}.available/answers",
          f"{operation} answers {status} to every valid call",
          respond=_accepted(operation, down(status)))
      for operation in OPERATIONS for status in (500, 503)),
    *(breaking(f"available.{operation}-500-on-{fault}",
          f"{operation}.available/survives-malformed{_LISTS.get(fault, '')}",
          f"{operation} answers 500 to a malformed request ({fault})",
          malformed=put(SOUND.malformed, **{operation: _stumbles(fault)}))
      for operation, faults in _FAULTS for fault in faults),
    *(breaking(f"available.{operation}-500-for-a-refusal",
          f"{operation}.available/survives-unserved",
          f"{operation} answers 500 where it refuses what is unknown or not granted",
          respond=answering(partial(_is_refusal, operation), down(500)))
      for operation in ("consents", "balances", "transactions")),
    *(breaking(f"available.{operation}-500-{what}", f"{operation}.available/answers{more}",
          f"{operation} answers 500 to a valid call {says}",
          respond=_accepted(operation, down(500), when))
      for operation, what, says, more, when in _VALID),
    breaking("available.at-every-bank", "accounts.available/refused-outside",
        "account information is served at every bank of the group",
        served_by=str.isdigit),
    *(breaking(f"available.{operation}-{what}-of-two-at-once", f"{operation}.available/at-once",
          f"the second of two calls of {operation} at the same time {says}",
          overlapped=_accepted(operation, wrong, lambda request: request.attended))
      for operation, what, says, wrong in _OVERLAPPED),
    breaking("available.consents-takes-text", "consents.available/refuses-malformed",
        "a consent that is plain text is accepted, and changes nothing",
        body=_accepts("body-text")),
    breaking("available.consents-takes-anything", "consents.available/refuses-malformed",
        "a consent that is not JSON, or is truncated, is accepted",
        body=_accepts("body-text", "body-truncated")),
    breaking("available.balances-alias-lacks-one", "balances.available/aliases-agree",
        "/balances omits the last balance",
        aliases=put(SOUND.aliases, balances=_differs("short", slice(None, -1)))),
    breaking("available.balances-alias-empty", "balances.available/aliases-agree",
        "/balances shows no balances",
        aliases=put(SOUND.aliases, balances=_differs("short", slice(0)))),
    breaking("available.transactions-alias-lacks-one", "transactions.available/aliases-agree",
        "/transactions omits the newest transaction of a page",
        aliases=put(SOUND.aliases, transactions=_differs("short", slice(1, None)))),
    breaking("available.transactions-path-lacks-one", "transactions.available/aliases-agree",
        "/accounts/{}/transactions omits the last transaction of a page",
        aliases=put(SOUND.aliases, transactions=_differs("path", slice(None, -1)))),
    breaking("available.transactions-path-empty", "transactions.available/aliases-agree",
        "/accounts/{}/transactions shows no transactions",
        aliases=put(SOUND.aliases, transactions=_differs("path", slice(0)))),
)
# fmt: on


# fmt: off
_CLAUSES: tuple[tuple[str, Missing, Json, Json], ...] = (
    ("trusted-beneficiaries", "trustedBeneficiaries", {"beneficiaries": []},
     {"beneficiaries": [{"name": "Zoé Exemple"}]}),
    ("end-user-identity", "endUserIdentity", {}, {"name": "Zoé Exemple"}),
)
# fmt: on


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


# fmt: off
FORM = (
    *(breaking(f"form.{operation}-cut-off", "well-formed/json",
          f"{operation}: the answer lacks its last brace", respond=_accepted(operation, cut_off))
      for operation in OPERATIONS),
    *(breaking(f"form.transactions-later-page-{name}", f"well-formed/{facet}",
          f"transactions: every page after the first {says}",
          respond=answering(_is_later_page, altered))
      for name, facet, says, altered in (
          ("cut-off", "json", "lacks its last brace", cut_off),
          ("as-text", "media-type", "is declared as text/plain", as_text),
      )),
    *(breaking(f"form.{operation}-as-text", "well-formed/media-type",
          f"{operation}: the answer is JSON but declared as text/plain",
          respond=_accepted(operation, as_text))
      for operation in OPERATIONS),
)
# fmt: on


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


#: Alters an accepted answer, given the customer's earlier calls.
_Recall: TypeAlias = Callable[[Sequence[Request], Request, Answer], Answer]
_Row: TypeAlias = Mapping[str, Json]
_DAY = timedelta(days=1)


def _recalling(altered: _Recall) -> Change:
    """Alter accepted answers with access to the customer's earlier calls."""

    def change(bank: Policies) -> Policies:
        past: dict[str, list[Request]] = {}

        def respond(request: Request, answer: Answer) -> Answer:
            before = past.setdefault(request.customer, [])
            accepted = answer.status < 300  # noqa: PLR2004
            altered_answer = altered(before, request, answer) if accepted else answer
            if accepted or request.operation != "consents":
                before.append(request)
            return altered_answer

        return replace(bank, respond=respond)

    return change


def _rows(operation: Operation, answer: Answer) -> list[_Row]:
    """Return the list in an answer; its member is named after the operation."""
    body = cast("Mapping[str, Json]", answer.body)
    return list(cast("Sequence[_Row]", body[operation]))


def _showing(operation: Operation, answer: Answer, rows: Sequence[_Row]) -> Answer:
    return replace(answer, body={**cast("Mapping[str, Json]", answer.body), operation: rows})


def _repeats(before: Sequence[Request], request: Request) -> bool:
    """Whether nothing but pages of the same list were requested since the same request."""
    for former in reversed(before):
        if (former.path, _without_page(former.query)) != (
            request.path,
            _without_page(request.query),
        ):
            return False
        if former.query == request.query:
            return True
    return False


def _without_page(query: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in query.items() if name != "page"}


def _again(operation: Operation, altered: Callable[[_Row], _Row | None]) -> Change:
    """Alter the last row if the same request is repeated."""

    def recall(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
        if request.operation != operation or not _repeats(before, request):
            return answer
        rows = _rows(operation, answer)
        if not rows:
            return answer
        *kept, row = rows
        changed = altered(row)
        return _showing(operation, answer, [*kept, changed] if changed else kept)

    return _recalling(recall)


def _gone(_row: _Row) -> None:
    """Omit the row."""


def _named_once(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Omit the customer's name if the list is requested twice in a row."""
    if request.operation != "accounts" or not before or before[-1].operation != "accounts":
        return answer
    body = cast("Mapping[str, Json]", answer.body)
    return replace(answer, body={name: it for name, it in body.items() if name != "PsuIdentity"})


def _read(before: Sequence[Request], operation: Operation) -> int:
    return sum(call.operation == operation for call in before)


def _a_cent_less(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Subtract a cent from the balances for every reading of transactions."""
    cents = _read(before, "transactions")
    if request.operation != "balances" or not cents:
        return answer
    rows = _rows("balances", answer)
    return _showing("balances", answer, [{**row, "amount": f"-0.{cents:02d}"} for row in rows])


def _fee(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Book a fee for every reading of balances."""
    fees = _read(before, "balances")
    if request.operation != "transactions":
        return answer
    rows = _rows("transactions", answer)
    fee_rows = [{**rows[0], "id": f"FEE{n}", "label": "FRAIS"} for n in range(fees if rows else 0)]
    return _showing("transactions", answer, [*fee_rows, *rows])


def _consented(before: Sequence[Request]) -> int:
    """Return the number of accounts in the last consent."""
    bodies = [call.body for call in before if call.operation == "consents"]
    return len(json.loads(bodies[-1])["accounts"]) if bodies else 0


def _one_fewer(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Omit the last transaction while the consent names two accounts or more."""
    if request.operation != "transactions" or _consented(before) < 2:  # noqa: PLR2004
        return answer
    return _showing("transactions", answer, _rows("transactions", answer)[:-1])


def _nameless(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Name the customer only while the consent names a single account."""
    if request.operation != "accounts" or _consented(before) < 2:  # noqa: PLR2004
        return answer
    body = cast("Mapping[str, Json]", answer.body)
    return replace(answer, body={name: it for name, it in body.items() if name != "PsuIdentity"})


def _only_consented_if_several(listing: Listing) -> Sequence[Item]:
    consent = listing.consent or frozenset()
    return [item for item in listing.items if len(consent) < 2 or item.key in consent]  # noqa: PLR2004


# fmt: off
_RANGES: tuple[tuple[str, str, str, Period], ...] = (
    ("range-from-anywhere", "shorter-range", "the first day of a range is ignored",
     lambda _first, last: (None, last)),
    ("range-to-anywhere", "shorter-range", "the last day of a range is ignored",
     lambda first, _last: (first, None)),
    ("range-two-days-late", "shorter-range", "a range begins two days late",
     lambda first, last: (first and first + 2 * _DAY, last)),
    ("range-two-days-less", "shorter-range", "a range ends two days early",
     lambda first, last: (first, last and last - 2 * _DAY)),
)
_EDGES: tuple[tuple[str, str, str, Period], ...] = (
    ("range-of-one-end", "shorter-range", "the last day of a range is ignored beside a first one",
     lambda first, last: (first, None if first else last)),
    ("range-without-its-edges", "meeting-ranges",
     "the first and the last day of a range are excluded",
     lambda first, last: (first and first + _DAY, last and last - _DAY)),
    ("range-without-open-edges", "meeting-ranges",
     "the last day of a range is excluded, and the first day of a range without a last day",
     lambda first, last: (first if last or not first else first + _DAY, last and last - _DAY)),
)
# fmt: on


def _without_range(query: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in query.items() if name not in ("dateFrom", "dateTo")}


# fmt: off
CONSISTENT = (
    breaking("consistent.second-lacks-the-last", "consistent/same-twice",
        "a repeated request for transactions lacks the last one", _again("transactions", _gone)),
    breaking("consistent.second-has-another-amount", "consistent/same-twice",
        "a repeated request for balances ends with another amount",
        _again("balances", lambda row: {**row, "amount": "0.00"})),
    breaking("consistent.second-does-not-name", "consistent/same-twice",
        "a repeated request for the list no longer names the customer", _recalling(_named_once)),
    breaking("consistent.reading-takes-a-cent", "consistent/unchanged-by-reading",
        "reading transactions changes the balances", _recalling(_a_cent_less)),
    breaking("consistent.reading-books-a-fee", "consistent/unchanged-by-reading",
        "reading balances books a transaction", _recalling(_fee)),
    *(breaking(f"consistent.{name}", f"consistent/{facet}", says, period=period)
      for name, facet, says, period in _RANGES),
    breaking("consistent.pages-without-range", "consistent/shorter-range",
        "the link to the next page has no range", carried=_without_range),
    *(breaking(f"consistent.{name}", f"consistent/{facet}", says, period=period)
      for name, facet, says, period in _EDGES),
    breaking("consistent.list-of-several", "consistent/smaller-consent",
        "with a consent to several accounts the others are not listed",
        listed=_only_consented_if_several),
    breaking("consistent.one-transaction-fewer", "consistent/smaller-consent",
        "with a consent to several accounts the last transaction is missing",
        _recalling(_one_fewer)),
    breaking("consistent.named-for-one-account", "consistent/smaller-consent",
        "the customer is named only with a consent to a single account", _recalling(_nameless)),
)
# fmt: on
