"""Routing of payment initiation: calls of TPPs, and requests of the customer's browser.

Both use paths of their own, so calls of account information never get here. Hostile
requests must never raise. Links use the host that was called, whichever form it has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
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
from assay.sandbox.pages import (
    NO_DECISION,
    NO_FACTOR,
    WRONG_CODE,
    labelled,
    prompt,
    redirect_to,
    show_page,
)
from assay.sandbox.payments.handlers import PAYMENT_METHODS, PaymentCall, PaymentRefused
from assay.sandbox.payments.lifecycle import PaymentContext, sign
from assay.sandbox.payments.policies import PaymentOperation
from assay.sandbox.payments.records import Activity, Payment, Return, Signing, Step, Tpp
from assay.sandbox.payments.terms import (
    DECISIONS,
    FACTORS,
    PAYMENT_PATHS,
    Decision,
    FieldError,
    PaymentType,
    Terms,
    origin,
)
from assay.sandbox.policies import Policies
from assay.sandbox.world import Registry, Session, World, find_session_by_basic

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


__all__ = [
    "Ending",
    "Form",
    "View",
    "answer_payments",
    "begin",
    "final_page",
    "look",
    "render_view",
    "submit",
]

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


def answer_payments(environ: WSGIEnvironment, policies: Policies, registry: Registry) -> Answer:
    """Answer one call of a TPP, or one request of a customer's browser."""
    path = decoded_path(environ)
    if not policies.payments.serves(own_base(environ).partition("://")[2]):
        return error(421, "this host is not served")
    if path.startswith(PAYMENT_PATHS[0]):
        return _answer_tpp(environ, path, policies, registry)
    return _answer_browser(environ, path, policies, registry)


def _answer_tpp(
    environ: WSGIEnvironment, path: str, policies: Policies, registry: Registry
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
    environ: WSGIEnvironment,
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
    answer = _perform(call, operation)
    _sign_embedded(environ, registry, call, operation)
    return answer


def _sign_embedded(
    environ: WSGIEnvironment, registry: Registry, call: PaymentCall, operation: PaymentOperation
) -> None:
    """Sign a payment for whoever's credentials came with a call; the sound bank never does."""
    context, book = call.context, call.context.book
    payment = book.payments.get(call.id) or next(reversed(book.payments.values()), None)
    for place, credentials in (
        ("query", login_in(dict(parse_qsl(environ.get("QUERY_STRING", ""))))),
        ("body", credentials_in(call.body)),
    ):
        session = _logged_in(credentials, registry)
        honoured = (operation, place) in context.policies.embedded
        if honoured and session and payment and payment.status == "received":
            sign(context, payment, None, "confirm")


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
    environ: WSGIEnvironment, path: str, policies: Policies, registry: Registry
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
        threaded: bool = environ.get("wsgi.multithread", False)
        context = PaymentContext(world=world, policies=policies.payments, threaded=threaded)
        known = context.book.approvals if where == "consent-approval" else context.book.signings
        payment = known.get(key)
        if payment is None:
            return final_page("unknown")
        if where == "consent-approval":
            return render_view(context, payment, begin(context, payment))
        return _sign(environ, context, payment, verb)


def _sign(environ: WSGIEnvironment, context: PaymentContext, payment: Payment, verb: str) -> Answer:
    signing = payment.signing
    if signing is None:
        return final_page("unknown")
    if verb == "GET" and not context.policies.reloads:
        return final_page("unknown")
    if verb == "GET":
        return render_view(context, payment, look(context, payment, signing))
    return render_view(context, payment, submit(context, payment, signing, _form(environ)))


def _form(environ: WSGIEnvironment) -> Mapping[str, str]:
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


# -- The screens for signing a payment: password, factor, code, decision, and final pages --------
# Each step takes the submitted form and returns the next page. There is one signing per
# payment. Its key is in the URL only, and changes with the password: the link to the first
# screen comes from a TPP's call, so the TPP must not be able to continue in the customer's
# place.
Form: TypeAlias = Mapping[str, str]
#: The final pages of a signing, without a form.
Ending: TypeAlias = Literal[
    "disconnected", "locked", "closed", "elsewhere", "forbidden", "confirmed", "refused"
]

_WRONG_LOGIN = "This login and password do not go with the account to be debited."
_CHANGED = "The payment was changed meanwhile. Please look at it again."

_TITLES: Mapping[str, str] = {
    "password": "Log in",
    "factor": "Strong authentication",
    "code": "Your code",
    "confirm": "Is this payment right?",
}
_INTRODUCTION = "Somebody asks for a payment from your account. Log in to look at it."
_TYPES: Mapping[PaymentType, str] = {
    "immediate": "Credit transfer",
    "deferred": "Credit transfer on a later day",
    "instant": "Instant credit transfer",
}
#: Status, title and text of the final pages.
_ENDINGS: Mapping[str, tuple[int, str, str]] = {
    "disconnected": (
        410,
        "You were disconnected",
        "This took too long. Nothing was signed, and nothing will be paid.",
    ),
    "locked": (
        410,
        "This cannot go on",
        "There were too many wrong entries. Nothing was signed, and nothing will be paid.",
    ),
    "closed": (
        410,
        "Nothing to sign",
        "This payment cannot be signed, or can no longer be signed.",
    ),
    "forbidden": (403, "Not allowed", "This payment cannot be made."),
    "elsewhere": (409, "Signing has begun", "This payment is being signed in another window."),
    "confirmed": (200, "Thank you", "The payment was signed. You can close this window."),
    "refused": (200, "Refused", "You refused this payment. You can close this window."),
    "unknown": (404, "Nothing here", "This page does not exist, or has expired."),
    "maintenance": (503, "Closed", "The bank is closed for maintenance. Please come back later."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the customer sees next: a screen, a final page or another site."""

    page: Step | Ending | None = None
    message: str = ""
    #: Where the browser is redirected instead.
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submitted form, with the payment and the signing it belongs to."""

    context: PaymentContext
    payment: Payment
    signing: Signing
    form: Form

    def go_on(self) -> View:
        """Advance to the next screen."""
        signing = self.signing
        signing.step = self.context.policies.follows(signing.step, signing.factor)
        return self.show()

    def show(self, message: str = "") -> View:
        """Return the screen of the current step."""
        if self.signing.step == "confirm":
            self.signing.shown = self.payment.terms
        return View(page=self.signing.step, message=message)

    def wrong(self, message: str) -> View:
        """Return the same screen again, or lock the signing after too many wrong entries."""
        self.signing.wrong += 1
        if not self.context.policies.locked(self.signing.wrong):
            return self.show(message)
        self.signing.step = "locked"
        self.payment.status = "expired"
        return View(page="locked")


def begin(context: PaymentContext, payment: Payment) -> View:
    """Open the link to the first screen; again, as long as the customer has not logged in."""
    if context.policies.reopens(payment):
        payment.status, payment.signing, payment.reopened = "received", None, True
    signing = payment.signing
    if signing is None and payment.status == "received":
        now, step = context.world.now, context.policies.begins
        signing = Signing(key="", step=step, first=now, last=now)
        payment.signing = signing
        context.book.rekey(payment, signing)
    if signing is None:
        return View(page="closed")
    if signing.step not in (context.policies.begins, "done", "locked", "disconnected"):
        return View(page="elsewhere")
    return look(context, payment, signing)


def look(context: PaymentContext, payment: Payment, signing: Signing) -> View:
    """Return the current page of a signing."""
    return (
        _over(context, payment, signing, "look")
        or Submission(context=context, payment=payment, signing=signing, form={}).show()
    )


def submit(context: PaymentContext, payment: Payment, signing: Signing, form: Form) -> View:
    """Process the form of a screen."""
    over = _over(context, payment, signing, "form")
    if over is not None:
        return over
    submission = Submission(context=context, payment=payment, signing=signing, form=form)
    return _STEPS[signing.step](submission)


def _over(
    context: PaymentContext, payment: Payment, signing: Signing, doing: Activity
) -> View | None:
    """Return the final page of an ended signing; otherwise restart the idle timer."""
    if signing.lapse is not None:
        target = context.policies.disconnected[signing.lapse](payment.terms)
        return View(page="disconnected", target=target)
    if signing.step == "locked":
        return View(page="locked")
    if payment.status != "received":
        return View(page="closed")
    if context.policies.renews[doing]:
        signing.last = context.world.now
    return None


def _password(submission: Submission) -> View:
    login, password = submission.form.get("login", ""), submission.form.get("password", "")
    owner = submission.context.owner(submission.payment)
    matching = [
        customer
        for customer in submission.context.world.customers.values()
        if customer.login == login
        and (
            submission.context.policies.password(password, customer.password)
            or not submission.context.policies.checks("password", submission.signing.wrong)
        )
    ]
    if not matching or not submission.context.policies.signs(matching[0] is owner):
        return submission.wrong(_WRONG_LOGIN)
    submission.signing.customer = matching[0].id
    submission.context.book.rekey(submission.payment, submission.signing)
    return submission.go_on()


def _factor(submission: Submission) -> View:
    policies = submission.context.policies
    offered = policies.factors[submission.context.owner(submission.payment).segment]
    for factor in FACTORS:
        if factor == submission.form.get("factor") and policies.takes(factor, offered):
            submission.signing.factor = factor
            return submission.go_on()
    return submission.show(NO_FACTOR)


def _code(submission: Submission) -> View:
    factor = submission.signing.factor
    entered = submission.form.get("code", "").strip()
    who = submission.context.world.customers.get(
        submission.signing.customer, submission.context.owner(submission.payment)
    )
    right = who.factors[factor] if factor else ""
    policies = submission.context.policies
    checked = policies.checks("code", submission.signing.wrong)
    if factor is None or (checked and not policies.code(factor, entered, right)):
        return submission.wrong(WRONG_CODE)
    return submission.go_on()


def _confirm(submission: Submission) -> View:
    signing, terms = submission.signing, submission.payment.terms
    decision: Decision | None = next(
        (choice for choice in DECISIONS if choice == submission.form.get("decision")), None
    )
    if decision is None:
        return submission.show(NO_DECISION)
    if signing.shown != terms:
        return submission.show(_CHANGED)
    if submission.context.policies.forbids(submission.payment):
        submission.payment.status, signing.step = "rejected", "done"
        return View(page="forbidden")
    sign(submission.context, submission.payment, signing.factor, decision)
    signing.step = "done"
    leaving = Return(terms=terms, decision=decision, asked=submission.form.get("returnUrl", ""))
    target = submission.context.policies.returns(leaving)
    return View(page="confirmed" if decision == "confirm" else "refused", target=target or None)


_STEPS: Mapping[Step, Callable[[Submission], View]] = {
    "password": _password,
    "factor": _factor,
    "code": _code,
    "confirm": _confirm,
}


def render_view(context: PaymentContext, payment: Payment, view: View) -> Answer:
    """Return the answer that shows a view."""
    signing, page = payment.signing, view.page
    if view.target is not None:
        return redirect_to(view.target)
    if signing is None or page is None or page not in _TITLES:
        return final_page(page or "unknown")
    content: dict[str, object] = {
        "message": view.message,
        "action": f"/signing/{context.world.id}/{signing.key}",
    }
    forms = "'self'"
    match page:
        case "password":
            content["introduction"] = _INTRODUCTION
        case "factor":
            offered = context.policies.factors[context.owner(payment).segment]
            content["factors"] = labelled(offered)
        case "code" if signing.factor is not None:
            content["prompt"] = prompt(signing.factor)
        case "confirm":
            content["rows"] = _rows(payment.terms)
            forms = _forms(payment.terms)
        case _:
            pass
    return show_page(page, _TITLES[page], content, forms=forms)


def final_page(page: str) -> Answer:
    """Return a page without a form."""
    status, title, text = _ENDINGS[page]
    answer = show_page(page, title, {"text": text}, forms="'none'", status=status)
    if page == "maintenance":
        return replace(answer, headers=(*answer.headers, ("Retry-After", "3600")))
    return answer


def _forms(terms: Terms) -> str:
    """Return the allowed form targets: browsers check redirections against them too."""
    origins = {origin(url) for url in (terms.success_url, terms.failure_url) if url}
    return " ".join(["'self'", *sorted(origins - {""})])


def _rows(terms: Terms) -> list[tuple[str, str]]:
    rows = [
        ("What", _TYPES[terms.type]),
        ("Amount", f"{terms.amount} {terms.currency}"),
        ("From", terms.debtor),
        ("To", terms.creditor),
        ("Purpose", terms.purpose),
    ]
    if terms.day is not None:
        rows.append(("On", terms.day.isoformat()))
    if terms.reference:
        rows.append(("Reference", terms.reference))
    return rows
