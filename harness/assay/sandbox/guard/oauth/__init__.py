"""OAuth2 middleware: an authorization server in front of the bank.

A token issued here is exchanged for the bank's own token before the bank sees the call;
the bank's own tokens are not accepted from outside. Calls without a bearer token pass
unchanged: how the bank treats customers' credentials is one of the things to check. The
middleware learns about worlds, clocks, customers and TPPs from the answers of the
control API, and adds a client identifier and a secret for each TPP. The demo world is
the same in every bank, so it is read from a bank created for that purpose.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from assay.sandbox.control import PREFIX
from assay.sandbox.guard.calls import (
    AUTHORIZE,
    OAUTH,
    ORGANIZATION,
    SCREENS,
    TOKEN,
    is_control,
    is_third_party_call,
    required_scope,
)
from assay.sandbox.guard.oauth.authorize import answer_authorize, answer_screen
from assay.sandbox.guard.oauth.state import Client, LoginCustomer, OAuthStore
from assay.sandbox.guard.oauth.token import answer_token
from assay.sandbox.messages import Answer, decoded_path, error, send
from assay.sandbox.policies import SOUND
from assay.sandbox.world import DEMO, DEMO_TPPS, Registry, open_demo

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


#: Additional capability of a bank with an authorization server.
CAPABILITY = "clients"

_DONE = range(200, 300)


def register_demo(store: OAuthStore) -> None:
    """Register the demo world, its customers and its TPPs."""
    registry = Registry()
    open_demo(registry, SOUND)
    world = registry.world(DEMO)
    if world is None:
        return
    store.open(DEMO, world.now)
    for customer in world.customers.values():
        store.add_customer(
            LoginCustomer(
                world=DEMO,
                token=customer.token,
                login=customer.login,
                password=customer.password,
                segment=customer.segment,
                factors=customer.factors,
            )
        )
    ids = {token: token for token in DEMO_TPPS} | {ORGANIZATION: DEMO_TPPS[0]}
    for name, token in ids.items():
        store.add_client(Client(id=name, secret=f"{token}-secret", world=DEMO, token=token))


def demo_accounts() -> Iterator[str]:
    """Yield the demo logins and clients as lines for people."""
    store = OAuthStore()
    register_demo(store)
    for customer in store.customers.values():
        codes = ", ".join(f"{factor} {code}" for factor, code in customer.factors.items())
        yield f"login {customer.login}, password {customer.password}, codes {codes}"
    for client in store.clients.values():
        yield f"client_id {client.id}, client_secret {client.secret}"


def learn_from_control(
    environ: "WSGIEnvironment", status: int, body: bytes, store: OAuthStore
) -> bytes:
    """Register what an answer of the control API created; return it, extended."""
    verb = environ["REQUEST_METHOD"]
    steps = decoded_path(environ)[len(PREFIX) :].strip("/").split("/")
    if status not in _DONE:
        return body
    content: dict[str, Any] = json.loads(body) if body else {}
    with store.lock:
        return _learn(verb, steps, content, store) or body


def _learn(
    verb: str, steps: Sequence[str], content: dict[str, Any], store: OAuthStore
) -> bytes | None:
    match (verb, *steps):
        case ("GET", ""):
            return _encoded(_offered(content))
        case ("POST", "worlds"):
            store.open(content["world"], datetime.fromisoformat(content["now"]))
        case ("DELETE", "worlds", id):
            store.close(id)
        case (_, "worlds", id, *_) if id not in store.worlds:
            pass
        case ("POST", "worlds", id, "clock"):
            store.worlds[id].now = datetime.fromisoformat(content["now"])
        case ("POST", "worlds", id, "customers"):
            store.add_customer(_person(id, content))
        case ("POST", "worlds", id, "tpps"):
            client = _client(id, content)
            store.add_client(client)
            return _encoded({**content, "client_id": client.id, "client_secret": client.secret})
        case _:
            pass
    return None


def _offered(content: Mapping[str, Any]) -> dict[str, Any]:
    offered = [*content["capabilities"], CAPABILITY]
    return {**content, "capabilities": offered, "oauth": {"authorize": AUTHORIZE, "token": TOKEN}}


def _person(world: str, content: Mapping[str, Any]) -> LoginCustomer:
    return LoginCustomer(
        world=world,
        token=content["token"],
        login=content["login"],
        password=content["password"],
        segment=content["segment"],
        factors=cast("dict[Any, str]", content["factors"]),
    )


def _client(world: str, content: Mapping[str, Any]) -> Client:
    name = f"{world}-{content['tpp']}"
    secret = sha256(f"client {name}".encode()).hexdigest()[:32]
    return Client(id=name, secret=secret, world=world, token=content["token"])


def _encoded(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode("ascii")


def require_token(app: "WSGIApplication", redirects: Iterable[str] = ()) -> "WSGIApplication":
    """Require a token of the authorization server for TPP calls."""
    store, registered = OAuthStore(), frozenset(redirects)
    register_demo(store)

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = decoded_path(environ)
        answer: Answer | None = None
        if is_control(environ):
            return _pass_control(app, environ, start_response, store)
        with store.lock:
            if path.startswith(OAUTH):
                answer = _answer(environ, path, store, registered)
            elif is_third_party_call(environ):
                answer = _exchange(environ, store)
        if answer is not None:
            return send(answer, environ["REQUEST_METHOD"], start_response)
        return app(environ, start_response)

    return guarded


def _answer(
    environ: "WSGIEnvironment", path: str, store: OAuthStore, registered: frozenset[str]
) -> Answer:
    if path == AUTHORIZE:
        return answer_authorize(environ, store, registered)
    if path == TOKEN:
        return answer_token(environ, store)
    if path.startswith(SCREENS):
        return answer_screen(environ, path, store)
    return error(404, "no such operation")


def _exchange(environ: "WSGIEnvironment", store: OAuthStore) -> Answer | None:
    """Put the bank's own token into a call; return an answer if there is none."""
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    access = store.tokens.get(rest.strip())
    if access is None or not store.is_valid(access):
        challenge = ("WWW-Authenticate", 'Bearer error="invalid_token"')
        return error(401, "the token is unknown or has expired", challenge)
    needed = required_scope(environ)
    if access.scope != needed:
        says = f'Bearer error="insufficient_scope", scope="{needed}"'
        return error(
            403, f"a token with the scope {needed} is required", ("WWW-Authenticate", says)
        )
    environ["HTTP_AUTHORIZATION"] = f"Bearer {access.token}"
    return None


def _pass_control(
    app: "WSGIApplication",
    environ: "WSGIEnvironment",
    start_response: "StartResponse",
    store: OAuthStore,
) -> Iterable[bytes]:
    """Pass a request to the control API, and learn from the answer."""
    begun: list[tuple[str, list[tuple[str, str]]]] = []

    def start(
        status: str, headers: list[tuple[str, str]], _: object = None
    ) -> Callable[[bytes], object]:
        begun.append((status, headers))
        return lambda _: None

    body = b"".join(app(environ, start))
    status, headers = begun[-1]
    content = learn_from_control(environ, int(status[:3]), body, store)
    if content is not body:
        headers = [pair for pair in headers if pair[0] != "Content-Length"]
        headers.append(("Content-Length", str(len(content))))
    start_response(status, headers)
    return [content]
