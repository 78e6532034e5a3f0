"""Routing of payment initiation: calls of TPPs, and requests of the customer's browser.

Both use paths of their own, so calls of account information never get here. Hostile
requests must never raise. Links use the host that was called, whichever form it has.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Map, Rule

from assay.sandbox.messages import (
    BODY_LIMIT,
    Answer,
    credentials_in,
    decoded_path,
    error,
    login_in,
    own_base,
    read_body,
    read_object,
)
from assay.sandbox.payments.handlers import PAYMENT_METHODS, PaymentCall, PaymentRefused
from assay.sandbox.payments.lifecycle import PaymentContext
from assay.sandbox.payments.policies import PaymentOperation
from assay.sandbox.payments.records import Payment, Tpp
from assay.sandbox.payments.screens import begin, final_page, look, render_view, submit
from assay.sandbox.payments.terms import PAYMENT_PATHS, FieldError
from assay.sandbox.policies import Policies
from assay.sandbox.world import Registry, Session, World, find_session_by_basic

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["answer_payments"]

_METHODS: tuple[tuple[str, str, PaymentOperation], ...] = (
    ("POST", "/payment-requests", "create"),
    ("GET", "/payment-requests/<id>", "read"),
    ("PUT", "/payment-requests/<id>", "modify"),
    ("POST", "/payment-requests/<id>/confirmation", "confirmation"),
)
_ROUTES = Map(
    [Rule(path, methods=[verb], endpoint=operation) for verb, path, operation in _METHODS],
    strict_slashes=False,
    merge_slashes=False,
).bind("bank")


def answer_payments(environ: "WSGIEnvironment", policies: Policies, registry: Registry) -> Answer:
    """Answer one call of a TPP, or one request of a customer's browser."""
    path = decoded_path(environ)
    if not policies.payments.serves(own_base(environ).partition("://")[2]):
        return error(421, "this host is not served")
    if path.startswith(PAYMENT_PATHS[0]):
        return _answer_tpp(environ, path, policies, registry)
    return _answer_browser(environ, path, policies, registry)


def _answer_tpp(
    environ: "WSGIEnvironment", path: str, policies: Policies, registry: Registry
) -> Answer:
    operation: PaymentOperation | None = None
    values: Mapping[str, Any] = {}
    refusal = None
    try:
        operation, values = _ROUTES.match(path, environ["REQUEST_METHOD"])
    except MethodNotAllowed as exc:
        allow = ", ".join(sorted(exc.valid_methods or ()))
        refusal = error(405, "method not allowed for this path", ("Allow", allow))
    except HTTPException:
        refusal = error(404, "no such operation")
    answer = _authorised(environ, operation, values.get("id", ""), policies, registry)
    return policies.payments.respond(
        operation, answer or refusal or error(404, "no such operation")
    )


def _authorised(
    environ: "WSGIEnvironment",
    operation: PaymentOperation | None,
    id: str,
    policies: Policies,
    registry: Registry,
) -> Answer | None:
    """Answer a call of a known TPP; None if routing has already refused it."""
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    caller = registry.by_tpp_token(rest.strip()) if scheme.lower() == "bearer" else None
    body = read_body(environ, BODY_LIMIT)
    if caller is None and operation is not None:
        places = {place for of, place in policies.payments.honours_credentials if of == operation}
        session = None
        if scheme.lower() == "basic" and "basic" in places:
            session = find_session_by_basic(rest, registry)
        elif "query" in places:
            session = _logged_in(
                login_in(dict(parse_qsl(environ.get("QUERY_STRING", "")))), registry
            )
        elif "body" in places:
            session = _logged_in(credentials_in(body), registry)
            body = _without_login(body) if session else body
        caller = _tpp_for(session, id) if session else None
    if caller is None and policies.payments.honours_anybody(operation, scheme.lower() == "bearer"):
        caller = registry.latest_tpp()
    if caller is None:
        challenge = ("WWW-Authenticate", "Bearer")
        return error(401, "a TPP's access token is required", challenge)
    world, tpp = caller
    if policies.payments.closed(world.now):
        return error(503, "closed for maintenance", ("Retry-After", "3600"))
    if operation is None:
        return None
    call = PaymentCall(
        context=PaymentContext(world=world, policies=policies.payments),
        tpp=tpp,
        id=id,
        body=body,
        base=own_base(environ),
    )
    return _perform(call, operation)


def _logged_in(credentials: tuple[str, str] | None, registry: Registry) -> Session | None:
    return registry.by_login(*credentials) if credentials else None


def _without_login(body: bytes) -> bytes:
    """Return a body without the login and the password in it."""
    content = read_object(body)
    kept = {name: value for name, value in content.items() if name not in {"login", "password"}}
    return json.dumps(kept).encode("ascii")


def _tpp_for(session: Session, id: str) -> tuple[World, Tpp] | None:
    """Return the TPP of a payment, or any, for a customer who is logged in.

    The sound bank never does this.
    """
    book = session.world.payments
    payment = book.payments.get(id)
    first = next(iter(book.tpps), "")
    tpp = book.tpps.get(payment.tpp if payment else first)
    return (session.world, tpp) if tpp else None


def _perform(call: PaymentCall, operation: PaymentOperation) -> Answer:
    try:
        with call.context.world.lock:
            return PAYMENT_METHODS[operation](call)
    except PaymentRefused as exc:
        return exc.answer
    except FieldError as exc:
        status = call.context.policies.malformed(operation, exc.field, exc.defect)
        return error(status, f"malformed request: {exc.field}, {exc.defect}")


def _answer_browser(
    environ: "WSGIEnvironment", path: str, policies: Policies, registry: Registry
) -> Answer:
    where, _, rest = path[1:].partition("/")
    name, _, key = rest.partition("/")
    world, verb = registry.world(name), environ["REQUEST_METHOD"]
    verbs = ("GET",) if where == "consent-approval" else ("GET", "POST")
    if verb not in verbs:
        # Not even HEAD: loading the first screen starts a signing.
        return error(405, "method not allowed for this path", ("Allow", ", ".join(verbs)))
    if world is None:
        return final_page("unknown")
    with world.lock:
        if policies.payments.closed(world.now):
            return final_page("maintenance")
        context = PaymentContext(world=world, policies=policies.payments)
        known = context.book.approvals if where == "consent-approval" else context.book.signings
        payment = known.get(key)
        if payment is None:
            return final_page("unknown")
        if where == "consent-approval":
            return render_view(context, payment, begin(context, payment))
        return _sign(environ, context, payment, verb)


def _sign(
    environ: "WSGIEnvironment", context: PaymentContext, payment: Payment, verb: str
) -> Answer:
    signing = payment.signing
    if signing is None:
        return final_page("unknown")
    if verb == "GET" and not context.policies.reloads:
        return final_page("unknown")
    if verb == "GET":
        return render_view(context, payment, look(context, payment, signing))
    return render_view(context, payment, submit(context, payment, signing, _form(environ)))


def _form(environ: "WSGIEnvironment") -> Mapping[str, str]:
    """Parse a form; the first value of a repeated field counts."""
    body = read_body(environ, BODY_LIMIT)
    if len(body) > BODY_LIMIT:
        return {}
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50
        )
    except ValueError:
        return {}
    form: dict[str, str] = {}
    for name, value in pairs:
        form.setdefault(name, value)
    return form
