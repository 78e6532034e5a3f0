"""Control API ``assay-control/1``: worlds, clocks and customers.

It offers what a conformance run needs and no bank offers in production. ``CONTROL.md``
specifies the protocol for banks that want to add it to their own sandbox. It answers
during maintenance too. It has no access control: never expose it publicly. Only requests of
pages in a browser, which have an origin or a site, are refused.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias, cast

from assay.sandbox.accounts import Item
from assay.sandbox.calendar import local
from assay.sandbox.control_requests import (
    TRAITS,
    ControlError,
    read_choice,
    read_flag,
    read_holdings,
    read_moment,
    read_offers,
    read_seed,
)
from assay.sandbox.messages import Answer, Json, decoded_path, read_body
from assay.sandbox.payments.control import ControlRequest, answer_payment_control
from assay.sandbox.payments.lifecycle import PaymentContext, advance
from assay.sandbox.payments.terms import FACTORS, SEGMENTS, Segment
from assay.sandbox.policies import Policies
from assay.sandbox.world import DEMO, HoldingSpec, Registry, World, open_holdings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["CAPABILITIES", "PREFIX", "answer_control"]

#: Path prefix of the control API.
PREFIX = "/assay-control/1"
#: Capabilities that the API reports.
CAPABILITIES = (
    "customers",
    "clock",
    "roster",
    "consent",
    "credentials",
    "tpps",
    "creditors",
    "segments",
    "offers",
    "executions",
    "sign",
    "cancel",
    "tokens",
)

_BODY_LIMIT = 1024 * 1024

_Content: TypeAlias = Mapping[str, object]


def answer_control(environ: "WSGIEnvironment", policies: Policies, registry: Registry) -> Answer:
    """Answer one control request."""
    site = environ.get("HTTP_SEC_FETCH_SITE", "none")
    if "HTTP_ORIGIN" in environ or site != "none":
        return Answer(status=403, body={"message": "the control API is not for browsers"})
    steps = decoded_path(environ)[len(PREFIX) :].strip("/").split("/")
    try:
        action = _route(environ["REQUEST_METHOD"], steps, policies, registry)
        return action(_content(environ))
    except ControlError as exc:
        return Answer(status=exc.status, body={"message": exc.message})


def _route(
    method: str, steps: Sequence[str], policies: Policies, registry: Registry
) -> Callable[[_Content], Answer]:
    """Return the action of a control request."""
    match (method, *steps):
        case ("GET", ""):
            return lambda _: _describe()
        case ("POST", "worlds"):
            return lambda content: _open(content, registry)
        case ("DELETE", "worlds", id):
            return lambda _: _close(id, registry)
        case ("POST", "worlds", id, "clock"):
            return lambda content: _move_clock(content, _payment_context(id, policies, registry))
        case ("POST", "worlds", id, "customers"):
            return lambda content: _add_customer(content, _world(id, registry), policies, registry)
        case (_, "worlds", id, _, *_):
            context = _payment_context(id, policies, registry)
            return lambda content: answer_payment_control(
                method,
                steps[2:],
                ControlRequest(context=context, registry=registry, content=content),
            )
        case _:
            raise ControlError("no such control; see GET /assay-control/1/", 404)


def _content(environ: "WSGIEnvironment") -> _Content:
    """Parse the body; no body means an empty object."""
    body = read_body(environ, _BODY_LIMIT)
    if len(body) > _BODY_LIMIT:
        raise ControlError(f"expected at most {_BODY_LIMIT} bytes")
    if not body:
        return {}
    try:
        content: object = json.loads(body)
    except (ValueError, RecursionError):
        raise ControlError("expected a JSON object, found invalid JSON") from None
    if not isinstance(content, dict):
        raise ControlError("expected a JSON object")
    return cast("dict[str, object]", content)


def _world(id: str, registry: Registry) -> World:
    world = registry.world(id)
    if world is None:
        raise ControlError(f"no world {id[:20]!r}; it was closed, or never opened", 404)
    return world


def _payment_context(id: str, policies: Policies, registry: Registry) -> PaymentContext:
    return PaymentContext(world=_world(id, registry), policies=policies.payments)


def _local_text(moment: datetime) -> str:
    return local(moment).isoformat()


def _describe() -> Answer:
    return Answer(
        status=200,
        body={
            "api": "assay-control/1",
            "capabilities": CAPABILITIES,
            "traits": dict(TRAITS.items()),
        },
    )


def _open(content: _Content, registry: Registry) -> Answer:
    instant = read_offers(content)
    world = registry.open(read_seed(content), read_moment(content, "now"))
    world.payments.instant = instant
    return Answer(status=201, body={"world": world.id, "now": _local_text(world.now)})


def _close(id: str, registry: Registry) -> Answer:
    _world(id, registry)
    if id == DEMO:
        raise ControlError("the demo world always exists", 409)
    registry.close(id)
    return Answer(status=204, body=b"")


def _move_clock(content: _Content, context: PaymentContext) -> Answer:
    """Move the clock and execute what became due."""
    world = context.world
    moment = read_moment(content, "to")
    if moment is None:
        raise ControlError("to: expected a moment like 2026-09-16T10:00:00+02:00")
    with world.lock:
        if moment < world.now:
            raise ControlError(f"to: the clock is already at {_local_text(world.now)}", 409)
        world.now = moment
        advance(context)
    return Answer(status=200, body={"now": _local_text(moment)})


def _add_customer(
    content: _Content, world: World, policies: Policies, registry: Registry
) -> Answer:
    orders = read_holdings(content)
    segment: Segment = read_choice(content, "segment", SEGMENTS, "PART")
    with_entries = read_flag(content, "roster", default=True)
    with world.lock:
        customer = registry.add_customer(world, segment=segment)
        holdings = [
            _holding(item, order, with_entries)
            for order in orders
            for item in open_holdings(world, customer, order, policies)
        ]
    body: dict[str, Json] = {
        "customer": customer.id,
        "name": customer.name,
        "token": customer.token,
        "login": customer.login,
        "password": customer.password,
        "segment": customer.segment,
        "factors": {factor: customer.factors[factor] for factor in FACTORS},
        "now": _local_text(world.now),
        "holdings": holdings,
    }
    return Answer(status=201, body=body)


def _holding(item: Item, order: HoldingSpec, with_entries: bool) -> Json:
    holding: dict[str, Json] = {
        "resource": item.resource,
        "key": item.key,
        "traits": _traits(item),
    }
    if with_entries or order.entries is not None:
        holding["entries"] = [
            {"key": entry.id, "date": entry.date.isoformat()} for entry in item.ledger.arranged()
        ]
    return holding


def _traits(item: Item) -> Json:
    """Return the traits of an item that are not the default, and the last use of a card."""
    traits: dict[str, Json] = {
        "savings": item.savings,
        "inactive": not item.active,
        "offline": not item.online,
        "never-used": item.resource == "card" and item.last_used is None,
    }
    traits = {name: True for name, is_so in traits.items() if is_so}
    if item.last_used is not None:
        traits["last-used"] = item.last_used.isoformat()
    return traits
