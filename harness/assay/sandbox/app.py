"""WSGI application of the sandbox bank, with the routes of account information.

:func:`make_app` is the entry point. Every application has its own registry of worlds, so
two applications share no state. The routing table is built once, because hundreds of
whole runs are made against this bank. Hostile requests must never raise. To serve the
application on a port, see :mod:`assay.sandbox.serve`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import parse_qsl

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Map, Rule

from assay.sandbox.access import (
    Access,
    AccessRequest,
    ConsentRequest,
    Decision,
    Listing,
    RefusedConsent,
    admit,
)
from assay.sandbox.accounts import (
    Entry,
    Item,
    LinkPlace,
    Position,
    account_row,
    balance_rows,
    entry_row,
    link,
)
from assay.sandbox.calendar import Span, today
from assay.sandbox.control import PREFIX, answer_control
from assay.sandbox.messages import (
    BODY_LIMIT,
    KINDS,
    Answer,
    Json,
    Malformed,
    Missing,
    Operation,
    Request,
    Route,
    bank_called,
    decoded_path,
    error,
    login_in,
    own_base,
    read_body,
    read_day,
    read_identifier,
    read_page,
    send,
)
from assay.sandbox.payments.terms import PAYMENT_PATHS
from assay.sandbox.policies import SOUND, Approach, Policies, Refusal
from assay.sandbox.world import (
    DEMO,
    DEMO_TOKENS,
    DEMO_TPPS,
    Customer,
    Registry,
    Session,
    World,
    find_session,
    open_demo,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


__all__ = ["DEMO_TOKENS", "DEMO_TPPS", "METHODS", "AccountCall", "Refused", "make_app"]

_PATHS: tuple[tuple[str, str, Operation | Missing, Route], ...] = (
    ("GET", "/accounts", "accounts", "main"),
    ("PUT", "/consents", "consents", "main"),
    ("GET", "/accounts/balances", "balances", "main"),
    ("GET", "/balances", "balances", "short"),
    ("GET", "/accounts/transactions", "transactions", "main"),
    ("GET", "/transactions", "transactions", "short"),
    ("GET", "/accounts/<iban>/transactions", "transactions", "path"),
    ("GET", "/trustedBeneficiaries", "trustedBeneficiaries", "main"),
    ("GET", "/endUserIdentity", "endUserIdentity", "main"),
)
_ROUTES = Map(
    [
        Rule(path, methods=[verb], endpoint=(operation, route))
        for verb, path, operation, route in _PATHS
    ],
    strict_slashes=False,
    merge_slashes=False,
).bind("bank")

_TOKEN: frozenset[Approach] = frozenset({"token"})
_MISSING: frozenset[str] = frozenset(get_args(Missing))


def answer_account_information(
    environ: WSGIEnvironment,
    policies: Policies,
    registry: Registry,
    base_url: str | None,
) -> Answer:
    """Answer one account information call."""
    request, refusal = _read(environ, base_url)
    session = _session(request, policies, registry)
    if session is not None:
        request = replace(request, customer=session.customer.login)
    return policies.respond(request, refusal or _answer(request, policies, session))


def _session(request: Request, policies: Policies, registry: Registry) -> Session | None:
    operation = request.operation
    honours = _TOKEN
    if operation in METHODS:
        honours = policies.honours[cast("Operation", operation)]
    return find_session(request, registry, honours)


def _answer(request: Request, policies: Policies, session: Session | None) -> Answer:
    operation = request.operation
    if session is None:
        challenge = ("WWW-Authenticate", "Bearer")
        return error(401, "a customer's access token is required", challenge)
    if policies.closed(session.world.now):
        return error(503, "closed for maintenance", ("Retry-After", "3600"))
    if operation is None or not policies.served_by(bank_called(request.base)):
        return error(404, "no such operation")
    if operation in _MISSING:
        consented = session.customer.consent is not None
        return policies.unavailable[cast("Missing", operation)](consented)
    return _perform(request, cast("Operation", operation), policies, session)


def _perform(
    request: Request, operation: Operation, policies: Policies, session: Session
) -> Answer:
    world, customer = session.world, session.customer
    call = AccountCall(policies=policies, world=world, customer=customer, request=request)
    try:
        with world.lock:
            answer = METHODS[operation](call)
            if policies.overlapped and request.threaded and world.give_way():
                answer = policies.overlapped(request, answer)
            return answer
    except Refused as exc:
        return error(exc.status, exc.message)
    except Malformed as exc:
        status = policies.malformed[operation](exc.fault)
        return error(status, f"malformed request: {exc.fault}")


def _read(environ: WSGIEnvironment, base_url: str | None) -> tuple[Request, Answer | None]:
    """Route a call; the second value is the answer if the HTTP method is not allowed."""
    path = decoded_path(environ)
    method: str = environ["REQUEST_METHOD"]
    refusal = None
    operation: Operation | Missing | None = None
    route: Route = "main"
    values: Mapping[str, Any] = {}
    try:
        (operation, route), values = _ROUTES.match(path, method)
    except MethodNotAllowed as exc:
        allow = ", ".join(sorted(exc.valid_methods or ()))
        refusal = error(405, "method not allowed for this path", ("Allow", allow))
    except HTTPException:
        operation = None
    own = own_base(environ)
    if base_url and bank_called(own) == bank_called(base_url):
        own = base_url
    request = Request(
        method=method,
        path=path,
        operation=operation,
        route=route,
        identifier=values.get("iban"),
        query=_query(environ),
        authorization=environ.get("HTTP_AUTHORIZATION", ""),
        attended=bool(environ.get("HTTP_PSU_IP_ADDRESS")),
        body=read_body(environ, BODY_LIMIT) if operation == "consents" else b"",
        base=own,
        threaded=environ.get("wsgi.multithread", False),
    )
    return request, refusal


def _query(environ: WSGIEnvironment) -> Mapping[str, str]:
    """Parse the query string; the first value of a repeated name counts."""
    text: str = environ.get("QUERY_STRING", "")
    if not text:
        return {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return {"page": ""}
    query: dict[str, str] = {}
    for name, value in pairs:
        query.setdefault(name, value)
    return query


def make_app(
    policies: Policies = SOUND, base_url: str | None = None, registry: Registry | None = None
) -> WSGIApplication:
    """Return a bank as a WSGI application.

    Links start with ``base_url`` (scheme and host); without it, with the host that was
    called. Links of payment initiation always use the host that was called, because that
    half of the bank has two forms of host and a flow keeps the one it started with. Two
    applications with the same ``registry`` are one bank that decides in two ways.
    """
    registry = Registry() if registry is None else registry
    if registry.world(DEMO) is None:
        open_demo(registry, policies)
    base = base_url.rstrip("/") if base_url else None

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path: str = environ.get("PATH_INFO", "")
        if path.startswith(PREFIX):
            answer = answer_control(environ, policies, registry)
        elif path.startswith(PAYMENT_PATHS):
            # Imported with the first payment: account information does not need it.
            from assay.sandbox.payments.routing import answer_payments  # noqa: PLC0415

            answer = answer_payments(environ, policies, registry)
        else:
            answer = answer_account_information(environ, policies, registry, base)
        return send(answer, environ["REQUEST_METHOD"], start_response)

    return app


# -- Handlers of account information: one function per operation, from a call to an answer -------
# The order of refusals is the same everywhere: malformed requests, then missing rights,
# then the quota. So an access refused for another reason does not use the quota. Routing,
# sessions and maintenance are handled in :mod:`assay.sandbox.app`.
_EXTENDED = "extended_transaction_history"
_MESSAGES: Mapping[Refusal, str] = {
    "scope": "the consent does not cover this",
    "ineligible": "not an eligible account or card of this customer",
    "unknown": "no such account or card",
    "extended": "the extended history mode is not supported",
    "quota": "no more accesses without the customer today",
}


class Refused(Exception):  # noqa: N818 - a refusal is no error of the bank
    """A refusal; carries the status and a short text."""

    def __init__(self, policies: Policies, reason: Refusal) -> None:
        """Look up the bank's answer for the reason."""
        super().__init__(reason)
        self.reason: Refusal = reason
        self.status = policies.refusals[reason]
        self.message = _MESSAGES[reason]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCall:
    """One authorised call, with the state and the policies it concerns."""

    policies: Policies
    world: World
    customer: Customer
    request: Request

    def charge_quota(self, operation: Operation, page: int = 1) -> None:
        """Charge the quota, or raise :class:`Refused`."""
        access = Access(
            customer=self.customer.id,
            operation=operation,
            attended=self.request.attended,
            page=page,
            now=self.world.now,
            renewals=self.customer.renewals,
            name=self.request.route,
        )
        gives_way = self.policies.interleaves(self.request.threaded)
        between = self.world.give_way if gives_way else None
        if not admit(self.policies.quota[operation], self.world.uses, access, between):
            raise Refused(self.policies, "quota")

    def link(self, place: LinkPlace, page: int | None = None) -> str:
        """Return a link to this request, or to another page of it."""
        request = self.request
        if page is not None:
            request = replace(request, query=self.policies.carried(request.query))
        return link(request, self.policies.links[place](request.base), page)


def _accounts(call: AccountCall) -> Answer:
    page = read_page(call.request.query)
    call.charge_quota("accounts", page)
    policies, customer = call.policies, call.customer
    day = today(call.world.now)
    items = policies.listed(_listing(call, day, page))
    cut = policies.pages["accounts"](len(items), page)
    links = {"self": call.link("accounts-self")}
    if cut.next is not None:
        links["next"] = call.link("accounts-next", cut.next)
    body: dict[str, Json] = {
        **policies.identity(customer.name, customer.consent is not None),
        "accounts": [account_row(items[at]) for at in cut.positions],
        "links": links,
    }
    return Answer(status=200, body=body)


def _listing(call: AccountCall, day: date, page: int) -> Listing:
    def eligible(customer: Customer) -> list[Item]:
        return [
            item
            for item in customer.items.values()
            if call.policies.eligible[item.resource](item, day)
        ]

    own = call.customer
    others = [customer for customer in call.world.customers.values() if customer.id != own.id]
    items = eligible(own)
    return Listing(
        items=items,
        others=[item for item in own.items.values() if item not in items],
        consent=own.consent,
        today=day,
        foreign=[item for customer in others for item in eligible(customer)],
        foreign_consented=[
            item
            for customer in others
            for item in eligible(customer)
            if item.key in (customer.consent or ())
        ],
        page=page,
    )


def _consents(call: AccountCall) -> Answer:
    customer = call.customer
    try:
        granted = _granted(call)
    except (Malformed, Refused) as exc:
        customer.consent = call.policies.after_refusal(_refused(call, exc))
        raise
    if granted:
        customer.consent = call.policies.renew(customer.consent, granted)
    return Answer(status=201, body={})


def _granted(call: AccountCall) -> frozenset[str]:
    """Return the keys that a consent grants, or raise what it is refused for."""
    policies, customer = call.policies, call.customer
    keys = frozenset(policies.body(call.request.body))
    day = today(call.world.now)
    asked = ConsentRequest(
        named=keys,
        owned=frozenset(customer.items),
        grantable=frozenset(
            key
            for key in keys & customer.items.keys()
            if policies.grantable[customer.items[key].resource](customer.items[key], day)
        ),
    )
    granted = policies.granted(asked)
    if granted is None:
        raise Refused(policies, "ineligible")
    call.charge_quota("consents")
    return granted


def _refused(call: AccountCall, exc: Malformed | Refused) -> RefusedConsent:
    """Return a consent that was refused, with what it names."""
    read = isinstance(exc, Refused)
    return RefusedConsent(
        why=exc.reason if isinstance(exc, Refused) else "malformed",
        former=call.customer.consent,
        named=frozenset(call.policies.body(call.request.body) if read else ()),
        owned=frozenset(call.customer.items),
    )


def _find(call: AccountCall) -> tuple[Item, Customer]:
    """Return the requested item and its owner."""
    request = call.request
    owners, written = call.world.owners, request.identifier or request.query.get("iban") or ""
    forms = written, call.policies.iban_of(written)
    key = next((form for form in forms if form in owners), None) or read_identifier(written)
    owner = owners.get(key)
    if owner is None:
        raise Refused(call.policies, "unknown")
    return owner.items[key], owner


def _decide(call: AccountCall, operation: Operation, item: Item, owner: Customer) -> int:
    """Return the status of the answer that shows the item, or raise :class:`Refused`."""
    customer = call.customer
    request = AccessRequest(
        item=item,
        own=owner is customer,
        consent=customer.consent,
        owners_consent=owner.consent,
        owned=frozenset(customer.items),
        page=read_page(call.request.query),
        credentials=login_in(call.request.query) == (customer.login, customer.password),
    )
    match call.policies.scope[KINDS[operation, item.resource]](request):
        case Decision.SERVED:
            return 200
        case Decision.LEAKED:
            return call.policies.refusals["scope"]
        case Decision.REFUSED:
            if call.policies.counts_refused:
                call.charge_quota(operation)
            raise Refused(call.policies, "scope")


def _balances(call: AccountCall) -> Answer:
    policies = call.policies
    read_page(call.request.query)
    item, owner = _find(call)
    status = _decide(call, "balances", item, owner)
    call.charge_quota("balances")
    rows = balance_rows(
        item,
        policies.balance_types[item.resource],
        policies.currency[KINDS["balances", item.resource]],
    )
    body: dict[str, Json] = {
        "balances": policies.aliases["balances"](call.request.route, rows),
        "links": {"self": call.link("balances-self")},
    }
    return Answer(status=status, body=body)


def _history(call: AccountCall, item: Item, page: int) -> Sequence[Entry]:
    """Return the entries of an item that the request asks for."""
    query, now, policies = call.request.query, call.world.now, call.policies
    asked, until = read_day(query, "dateFrom"), read_day(query, "dateTo")
    span = Span(now=now, asked=asked, until=until, opened=item.ledger.opened, page=page)
    if _EXTENDED in query.get("scope", ""):
        oldest = policies.extended(span)
        if oldest is None:
            raise Refused(policies, "extended")
    else:
        oldest = policies.depth(span)
    begin, end = policies.period(asked, until)
    first = max(oldest, begin) if begin else oldest
    last = min(today(now), end) if end else today(now)
    return [
        entry for entry in policies.order(item.ledger.newest_first()) if first <= entry.date <= last
    ]


def _transactions(call: AccountCall) -> Answer:
    policies, route = call.policies, call.request.route
    page = read_page(call.request.query)
    item, owner = _find(call)
    status = _decide(call, "transactions", item, owner)
    entries = _history(call, item, page)
    call.charge_quota("transactions", page)
    cut = policies.pages["transactions"](len(entries), page)
    currency = policies.currency[KINDS["transactions", item.resource]]
    rows = [
        entry_row(item, entries[at], currency(Position(index=at, count=len(entries))))
        for at in cut.positions
    ]
    links = {"self": call.link("transactions-self")}
    if cut.next is not None:
        links["next"] = call.link("transactions-next", cut.next)
    body: dict[str, Json] = {
        "transactions": policies.aliases["transactions"](route, rows),
        "links": links,
    }
    return Answer(status=status, body=body)


#: Handler of each operation.
METHODS: Mapping[Operation, Callable[[AccountCall], Answer]] = {
    "accounts": _accounts,
    "consents": _consents,
    "balances": _balances,
    "transactions": _transactions,
}
