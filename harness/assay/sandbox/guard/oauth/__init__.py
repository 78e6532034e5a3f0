"""What the authorization server learns from the control API, and adds to it.

It stands around a bank and does not look inside: worlds, clocks, customers and providers
become known by the answers of the control API as they pass. Each provider is given a
client identifier and a secret on the way. The demo world was never made by a call: it is
the same in every bank, so it is read from one that is made for that.

OAuth2 in front of a bank: an authorization server, and what it issues demanded.

A token that was issued here is exchanged for the bank's own before the bank sees the
call; the bank's own are worth nothing from outside. Calls that show no bearer token go
through as they are: what a bank makes of a customer's own credentials is its affair, and
one of the things that are checked.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from assay.sandbox.control import PREFIX
from assay.sandbox.guard.middleware import (
    AUTHORIZE,
    OAUTH,
    ORGANIZATION,
    SCREENS,
    TOKEN,
    half,
    is_control,
    third_party,
)
from assay.sandbox.guard.oauth.authorize import answer_authorize, answer_screen
from assay.sandbox.guard.oauth.state import Client, Office, Person
from assay.sandbox.guard.oauth.token import answer_token
from assay.sandbox.holdings import DEMO_PROVIDERS, open_demo
from assay.sandbox.messages import Answer, decoded_path, error, send
from assay.sandbox.policies import SOUND
from assay.sandbox.world import DEMO, Registry

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


#: What a bank with an authorization server offers beside the rest.
CAPABILITY = "clients"

_DONE = range(200, 300)


def demo(office: Office) -> None:
    """Get to know the demo world, and its third parties."""
    registry = Registry()
    open_demo(registry, SOUND)
    world = registry.world(DEMO)
    if world is None:
        return
    office.open(DEMO, world.now)
    for customer in world.customers.values():
        office.welcome(
            Person(
                world=DEMO,
                token=customer.token,
                login=customer.login,
                password=customer.password,
                segment=customer.segment,
                factors=customer.factors,
            )
        )
    ids = {token: token for token in DEMO_PROVIDERS} | {ORGANIZATION: DEMO_PROVIDERS[0]}
    for name, token in ids.items():
        office.register(Client(id=name, secret=f"{token}-secret", world=DEMO, token=token))


def demo_accounts() -> Iterator[str]:
    """Tell who can log in, and who can ask for tokens, in words for a person."""
    office = Office()
    demo(office)
    for person in office.people.values():
        codes = ", ".join(f"{factor} {code}" for factor, code in person.factors.items())
        yield f"login {person.login}, password {person.password}, codes {codes}"
    for client in office.clients.values():
        yield f"client_id {client.id}, client_secret {client.secret}"


def learn(environ: "WSGIEnvironment", status: int, body: bytes, office: Office) -> bytes:
    """Learn from an answer of the control API, and give it back with what is added."""
    verb = environ["REQUEST_METHOD"]
    steps = decoded_path(environ)[len(PREFIX) :].strip("/").split("/")
    if status not in _DONE:
        return body
    told: dict[str, Any] = json.loads(body) if body else {}
    with office.lock:
        return _learn(verb, steps, told, office) or body


def _learn(verb: str, steps: Sequence[str], told: dict[str, Any], office: Office) -> bytes | None:
    match (verb, *steps):
        case ("GET", ""):
            return _encoded(_offered(told))
        case ("POST", "worlds"):
            office.open(told["world"], datetime.fromisoformat(told["now"]))
        case ("DELETE", "worlds", id):
            office.close(id)
        case (_, "worlds", id, *_) if id not in office.worlds:
            pass
        case ("POST", "worlds", id, "clock"):
            office.worlds[id].now = datetime.fromisoformat(told["now"])
        case ("POST", "worlds", id, "customers"):
            office.welcome(_person(id, told))
        case ("POST", "worlds", id, "providers"):
            client = _client(id, told)
            office.register(client)
            return _encoded({**told, "client_id": client.id, "client_secret": client.secret})
        case _:
            pass
    return None


def _offered(told: Mapping[str, Any]) -> dict[str, Any]:
    offered = [*told["capabilities"], CAPABILITY]
    return {**told, "capabilities": offered, "oauth": {"authorize": AUTHORIZE, "token": TOKEN}}


def _person(world: str, told: Mapping[str, Any]) -> Person:
    return Person(
        world=world,
        token=told["token"],
        login=told["login"],
        password=told["password"],
        segment=told["segment"],
        factors=cast("dict[Any, str]", told["factors"]),
    )


def _client(world: str, told: Mapping[str, Any]) -> Client:
    name = f"{world}-{told['provider']}"
    secret = sha256(f"client {name}".encode()).hexdigest()[:32]
    return Client(id=name, secret=secret, world=world, token=told["token"])


def _encoded(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, separators=(",", ":")).encode("ascii")


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
