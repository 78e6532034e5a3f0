"""What the authorization server learns from the control API, and adds to it.

It stands around a bank and does not look inside: worlds, clocks, customers and providers
become known by the answers of the control API as they pass. Each provider is given a
client identifier and a secret on the way. The demo world was never made by a call: it is
the same in every bank, so it is read from one that is made for that.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from assay.sandbox.control import PREFIX
from assay.sandbox.guard.demands import AUTHORIZE, ORGANIZATION, TOKEN
from assay.sandbox.guard.oauth.state import Client, Office, Person
from assay.sandbox.holdings import DEMO_PROVIDERS, open_demo
from assay.sandbox.policies import SOUND
from assay.sandbox.wire import decoded_path
from assay.sandbox.world import DEMO, Registry

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["CAPABILITY", "demo", "demo_accounts", "learn"]

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
