"""WSGI application of the sandbox bank, with the routes of account information.

:func:`make_app` is the entry point. Every application has its own registry of worlds, so
two applications share no state. The routing table is built once, because hundreds of
whole runs are made against this bank. Hostile requests must never raise. To serve the
application on a port, see :mod:`assay.sandbox.serve`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import parse_qsl

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Map, Rule

from assay.sandbox.control import PREFIX, answer_control
from assay.sandbox.handlers import METHODS, AccountCall, Refused
from assay.sandbox.messages import (
    BODY_LIMIT,
    Answer,
    Malformed,
    Missing,
    Operation,
    Request,
    Route,
    decoded_path,
    error,
    own_base,
    read_body,
    send,
)
from assay.sandbox.payments.terms import PAYMENT_PATHS
from assay.sandbox.policies import SOUND, Approach, Policies
from assay.sandbox.world import (
    DEMO,
    DEMO_TOKENS,
    DEMO_TPPS,
    Registry,
    Session,
    find_session,
    open_demo,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["DEMO_TOKENS", "DEMO_TPPS", "make_app"]

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
    environ: "WSGIEnvironment",
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
    if operation is None:
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
            return METHODS[operation](call)
    except Refused as exc:
        return error(exc.status, exc.message)
    except Malformed as exc:
        status = policies.malformed[operation](exc.fault)
        return error(status, f"malformed request: {exc.fault}")


def _read(environ: "WSGIEnvironment", base_url: str | None) -> tuple[Request, Answer | None]:
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
        base=base_url or own_base(environ),
    )
    return request, refusal


def _query(environ: "WSGIEnvironment") -> Mapping[str, str]:
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
) -> "WSGIApplication":
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

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
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
