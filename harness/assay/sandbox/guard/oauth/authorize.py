"""Authorization endpoint (``/oauth/authorize``) and the screens behind it.

Errors are reported to the TPP by redirecting the customer (RFC 6749, 4.1.2.1), unless
the client or the redirect URI is invalid. Then follow password, factor, code and
decision. There are no timers: the customer's world is not known before the login. The
pages are those of the screens for signing a payment.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from assay.sandbox.guard.calls import SCREENS
from assay.sandbox.guard.oauth.requests import (
    is_allowed_redirect,
    read_form,
    read_parameters,
    with_parameters,
)
from assay.sandbox.guard.oauth.state import AuthorizationRequest, LoginSession, OAuthStore, Step
from assay.sandbox.messages import Answer, error
from assay.sandbox.pages import (
    NO_DECISION,
    NO_FACTOR,
    WRONG_CODE,
    labelled,
    prompt,
    redirect_to,
    show_page,
)
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.terms import DECISIONS, origin

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


_TITLES: Mapping[str, str] = {
    "password": "Log in",
    "factor": "Strong authentication",
    "code": "Your code",
    "confirm": "May they see your accounts?",
}
#: Status, title and text of the final pages.
_ENDINGS: Mapping[str, tuple[int, str, str]] = {
    "unfit": (
        400,
        "Invalid request",
        "The application that sent you here is unknown, or its return address is not allowed.",
    ),
    "unknown": (404, "Nothing here", "This page does not exist, or has expired."),
}


def screen(session: LoginSession, message: str = "") -> Answer:
    """Return the screen of the current step."""
    step, request = session.step, session.request
    client = request.client.id
    content: dict[str, object] = {"message": message, "action": SCREENS + session.key}
    if step == "password":
        content["introduction"] = f"{client} asks to see your accounts. Log in to decide."
    if step == "factor" and session.customer:
        content["factors"] = labelled(SOUND_PAYMENTS.factors[session.customer.segment])
    if step == "code" and session.factor:
        content["prompt"] = prompt(session.factor)
    if step == "confirm":
        content["rows"] = [("Who", client), ("What", "Accounts, balances, transactions")]
    # Browsers check the redirection against `form-action` too.
    return show_page(step, _TITLES[step], content, forms=f"'self' {origin(request.redirect)}")


def final_page(page: str) -> Answer:
    """Return a page without a form."""
    status, title, text = _ENDINGS[page]
    return show_page(page, title, {"text": text}, forms="'none'", status=status)


_Form = Mapping[str, str]

#: The scope that a customer can grant.
_SCOPE = "aisp"
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_LONGEST_STATE = 2_000
_TRIES = 3
_WRONG_LOGIN = "This login and password are not right."


def answer_authorize(
    environ: "WSGIEnvironment", store: OAuthStore, registered: Collection[str]
) -> Answer:
    """Validate an authorization request, and show the first screen."""
    if environ["REQUEST_METHOD"] != "GET":
        # Not even HEAD: loading the first screen starts a session.
        return error(405, "method not allowed for this path", ("Allow", "GET"))
    parameters = read_parameters(environ.get("QUERY_STRING", ""))
    if parameters is None:
        return final_page("unfit")
    client = store.clients.get(parameters.get("client_id", ""))
    redirect = parameters.get("redirect_uri", "")
    if client is None or not is_allowed_redirect(redirect, registered):
        return final_page("unfit")
    request = AuthorizationRequest(
        client=client,
        redirect=redirect,
        state=parameters.get("state"),
        challenge=parameters.get("code_challenge"),
    )
    wrong = _wrong(parameters)
    if wrong is not None:
        return _refuse(request, wrong)
    session = LoginSession(request=request)
    store.renew_key(session)
    return screen(session)


def answer_screen(environ: "WSGIEnvironment", path: str, store: OAuthStore) -> Answer:
    """Show a screen, or process its form."""
    verb = environ["REQUEST_METHOD"]
    if verb not in ("GET", "POST"):
        return error(405, "method not allowed for this path", ("Allow", "GET, POST"))
    session = store.sessions.get(path.removeprefix(SCREENS))
    if session is None:
        return final_page("unknown")
    if verb == "GET":
        return screen(session)
    return _STEPS[session.step](store, session, read_form(environ) or {})


def _wrong(parameters: _Form) -> str | None:
    """Return the error code of an invalid request (RFC 6749); None if it is valid."""
    kind = parameters.get("response_type")
    method = parameters.get("code_challenge_method")
    challenge = parameters.get("code_challenge")
    if kind is None or len(parameters.get("state", "")) > _LONGEST_STATE:
        return "invalid_request"
    if kind != "code":
        return "unsupported_response_type"
    if parameters.get("scope", _SCOPE).split() != [_SCOPE]:
        return "invalid_scope"
    if challenge is None:
        return None if method is None else "invalid_request"
    return None if method == "S256" and _CHALLENGE.fullmatch(challenge) else "invalid_request"


def _refuse(request: AuthorizationRequest, why: str) -> Answer:
    state = request.state if request.state and len(request.state) <= _LONGEST_STATE else None
    return redirect_to(with_parameters(request.redirect, {"error": why, "state": state}))


def _wrong_entry(store: OAuthStore, session: LoginSession, message: str) -> Answer:
    """Show the screen again, or end the session after too many wrong entries."""
    session.wrong += 1
    if session.wrong < _TRIES:
        return screen(session, message)
    store.sessions.pop(session.key, None)
    return _refuse(session.request, "access_denied")


def _password(store: OAuthStore, session: LoginSession, form: _Form) -> Answer:
    customer = store.customers.get(form.get("login", ""))
    if (
        customer is None
        or customer.password != form.get("password")
        or not session.request.client.may_ask(customer)
    ):
        return _wrong_entry(store, session, _WRONG_LOGIN)
    session.customer, session.step = customer, "factor"
    # The key of the first screen may be known to others than the customer.
    store.renew_key(session)
    return screen(session)


def _factor(store: OAuthStore, session: LoginSession, form: _Form) -> Answer:
    offered = SOUND_PAYMENTS.factors[session.customer.segment] if session.customer else ()
    for factor in offered:
        if factor == form.get("factor"):
            session.factor, session.step = factor, "code"
            return screen(session)
    return screen(session, NO_FACTOR)


def _code(store: OAuthStore, session: LoginSession, form: _Form) -> Answer:
    customer, factor = session.customer, session.factor
    right = customer.factors[factor] if customer and factor else None
    if right is None or form.get("code", "").strip() != right:
        return _wrong_entry(store, session, WRONG_CODE)
    session.step = "confirm"
    return screen(session)


def _confirm(store: OAuthStore, session: LoginSession, form: _Form) -> Answer:
    decision, customer, request = form.get("decision"), session.customer, session.request
    if decision not in DECISIONS:
        return screen(session, NO_DECISION)
    store.sessions.pop(session.key, None)
    now = store.now(customer.world) if customer else None
    if decision == "refuse" or customer is None or now is None:
        return _refuse(request, "access_denied")
    code = store.issue_code(request, customer, now)
    return redirect_to(with_parameters(request.redirect, {"code": code, "state": request.state}))


_STEPS: Mapping[Step, Callable[[OAuthStore, LoginSession, _Form], Answer]] = {
    "password": _password,
    "factor": _factor,
    "code": _code,
    "confirm": _confirm,
}
