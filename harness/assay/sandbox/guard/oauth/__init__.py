"""OAuth2 in front of a bank: an authorization server, and what it issues demanded.

A token that was issued here is exchanged for the bank's own before the bank sees the
call; the bank's own are worth nothing from outside. Calls that show no bearer token go
through as they are: what a bank makes of a customer's own credentials is its affair, and
one of the things that are checked.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from assay.sandbox.guard.demands import (
    AUTHORIZE,
    OAUTH,
    SCREENS,
    TOKEN,
    half,
    is_control,
    third_party,
)
from assay.sandbox.guard.oauth.authorize import answer_authorize, answer_screen
from assay.sandbox.guard.oauth.control import demo, learn
from assay.sandbox.guard.oauth.state import Office
from assay.sandbox.guard.oauth.token import answer_token
from assay.sandbox.wire import Answer, decoded_path, error, send

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["authorised"]


def authorised(app: "WSGIApplication", redirects: Iterable[str] = ()) -> "WSGIApplication":
    """Let through to a bank what was authorised, and answer those who want to be."""
    office, registered = Office(), frozenset(redirects)
    demo(office)

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = decoded_path(environ)
        answer: Answer | None = None
        if is_control(environ):
            return _overheard(app, environ, start_response, office)
        with office.lock:
            if path.startswith(OAUTH):
                answer = _answer(environ, path, office, registered)
            elif third_party(environ):
                answer = _exchange(environ, office)
        if answer is not None:
            return send(answer, environ["REQUEST_METHOD"], start_response)
        return app(environ, start_response)

    return guarded


def _answer(
    environ: "WSGIEnvironment", path: str, office: Office, registered: frozenset[str]
) -> Answer:
    if path == AUTHORIZE:
        return answer_authorize(environ, office, registered)
    if path == TOKEN:
        return answer_token(environ, office)
    if path.startswith(SCREENS):
        return answer_screen(environ, path, office)
    return error(404, "no such method")


def _exchange(environ: "WSGIEnvironment", office: Office) -> Answer | None:
    """Put the bank's own token into a call; an answer when there is none to put."""
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    access = office.tokens.get(rest.strip())
    if access is None or not office.living(access):
        challenge = ("WWW-Authenticate", 'Bearer error="invalid_token"')
        return error(401, "the token is not known, or not any more", challenge)
    needed = half(environ)
    if access.scope != needed:
        says = f'Bearer error="insufficient_scope", scope="{needed}"'
        return error(403, f"a token with the scope {needed} is needed", ("WWW-Authenticate", says))
    environ["HTTP_AUTHORIZATION"] = f"Bearer {access.token}"
    return None


def _overheard(
    app: "WSGIApplication",
    environ: "WSGIEnvironment",
    start_response: "StartResponse",
    office: Office,
) -> Iterable[bytes]:
    """Let the control API answer, and learn from it."""
    begun: list[tuple[str, list[tuple[str, str]]]] = []

    def start(
        status: str, headers: list[tuple[str, str]], _: object = None
    ) -> Callable[[bytes], object]:
        begun.append((status, headers))
        return lambda _: None

    body = b"".join(app(environ, start))
    status, headers = begun[-1]
    told = learn(environ, int(status[:3]), body, office)
    if told is not body:
        headers = [pair for pair in headers if pair[0] != "Content-Length"]
        headers.append(("Content-Length", str(len(told))))
    start_response(status, headers)
    return [told]
