"""Control API ``assay-control/1``: worlds, clocks and customers.

It offers what a conformance run needs and no bank offers in production.
``contract/control-api.yaml`` describes it for banks that want to add it to their own sandbox. It answers
during maintenance too. It has no access control: never expose it publicly. Only requests of
pages in a browser, which have an origin or a site, are refused.

A signature given here has the same effect as one on the screens, for runs that cannot operate
the screens.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar, cast

from assay.sandbox.accounts import Item, iban
from assay.sandbox.calendar import local, parse_day, parse_moment
from assay.sandbox.messages import Answer, Json, Resource, decoded_path, read_body
from assay.sandbox.payments.lifecycle import PaymentContext, advance, cancel, sign
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.terms import DECISIONS, FACTORS, SEGMENTS, Decision, Segment, is_iban
from assay.sandbox.policies import Policies
from assay.sandbox.world import DEMO, Customer, HoldingSpec, Registry, World, open_holdings

# -- Contents of control requests ------------------------------------------------------------------
#: Traits that can be requested of an item.
TRAITS: Mapping[Resource, tuple[str, ...]] = {
    "account": ("savings", "inactive", "offline"),
    "card": ("inactive", "last-used", "never-used", "immediate-debit"),
}

_Name = TypeVar("_Name", bound=str)

_HOLDINGS = 100
_ITEMS = 1_000
_ENTRIES = 100_000
#: Entries counted against the limit for an item with generated entries.
_OWN_ENTRIES = 400


class ControlError(Exception):
    """A control request that cannot be carried out; says what was expected."""

    def __init__(self, message: str, status: int = 400) -> None:
        """Store the message and the status of the answer."""
        super().__init__(message)
        self.message = message
        self.status = status


def read_seed(content: Mapping[str, object]) -> int:
    """Parse the seed of a world; 0 if absent."""
    seed = content.get("seed", 0)
    if not _is_count(seed) or seed >= 2**63:
        raise ControlError("seed: expected an integer from 0 to 2^63 - 1")
    return seed


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_moment(content: Mapping[str, object], name: str) -> datetime | None:
    """Parse a moment; None if absent."""
    if name not in content:
        return None
    text = content[name]
    moment = parse_moment(text) if isinstance(text, str) else None
    if moment is None:
        raise ControlError(f"{name}: expected a moment like 2026-09-16T10:00:00+02:00")
    return moment


def read_choice(
    content: Mapping[str, object],
    name: str,
    choices: tuple[_Name, ...],
    default: _Name | None = None,
) -> _Name:
    """Parse one of several names."""
    value = content.get(name, default)
    for choice in choices:
        if choice == value:
            return choice
    raise ControlError(f"{name}: expected {', '.join(choices[:-1])} or {choices[-1]}")


def read_offers(content: Mapping[str, object]) -> bool:
    """Parse whether the bank offers instant payments."""
    offers = content.get("offers", {})
    if not isinstance(offers, dict):
        raise ControlError("offers: expected an object")
    offered = cast("dict[str, object]", offers)
    if unknown := offered.keys() - {"instant"}:
        raise ControlError(f"offers: unknown offer {min(unknown)!r}; expected instant")
    instant = offered.get("instant", True)
    if not isinstance(instant, bool):
        raise ControlError("instant: expected true or false")
    return instant


def read_holdings(content: Mapping[str, object]) -> list[HoldingSpec]:
    """Parse the holdings of a new customer."""
    holdings = content.get("holdings", [])
    if not isinstance(holdings, list):
        raise ControlError("holdings: expected a list")
    if len(cast("list[object]", holdings)) > _HOLDINGS:
        raise ControlError(f"holdings: at most {_HOLDINGS}")
    orders = [
        _order(holding, f"holdings[{at}]")
        for at, holding in enumerate(cast("list[object]", holdings))
    ]
    items = sum(order.count for order in orders)
    if items > _ITEMS:
        raise ControlError(f"holdings: at most {_ITEMS} items in all, not {items}")
    entries = sum(
        order.count * (_OWN_ENTRIES if order.entries is None else len(order.entries))
        for order in orders
    )
    if entries > _ENTRIES:
        raise ControlError(f"holdings: at most {_ENTRIES} entries in all, not {entries}")
    return orders


def _order(holding: object, where: str) -> HoldingSpec:
    if not isinstance(holding, dict):
        raise ControlError(f"{where}: expected an object")
    content = cast("dict[str, object]", holding)
    unknown = content.keys() - {"resource", "count", "traits", "entries"}
    if unknown:
        raise ControlError(f"{where}: unknown member {min(unknown)!r}")
    resource = content.get("resource")
    if resource not in ("account", "card"):
        raise ControlError(f"{where}.resource: expected account or card")
    count = content.get("count", 1)
    if not _is_count(count) or count == 0:
        raise ControlError(f"{where}.count: expected an integer from 1")
    traits = _traits_of(content.get("traits", {}), resource, f"{where}.traits")
    last_used = traits.pop("last-used", None)
    return HoldingSpec(
        resource=resource,
        count=count,
        entries=_entries(content, f"{where}.entries"),
        last_used=last_used if isinstance(last_used, date) else None,
        savings=bool(traits.get("savings")),
        inactive=bool(traits.get("inactive")),
        offline=bool(traits.get("offline")),
        never_used=bool(traits.get("never-used")),
        immediate_debit=bool(traits.get("immediate-debit")),
    )


def _traits_of(value: object, resource: Resource, where: str) -> dict[str, bool | date]:
    if not isinstance(value, dict):
        raise ControlError(f"{where}: expected an object")
    traits: dict[str, bool | date] = {}
    for name, wanted in cast("dict[str, object]", value).items():
        if name not in TRAITS[resource]:
            known = ", ".join(TRAITS[resource])
            raise ControlError(f"{where}: unknown {resource} trait {name!r}; expected {known}")
        traits[name] = _trait(name, wanted, where)
    if traits.get("never-used") and "last-used" in traits:
        raise ControlError(f"{where}: last-used and never-used exclude each other")
    return traits


def _trait(name: str, wanted: object, where: str) -> bool | date:
    if name == "last-used":
        return _day(wanted, f"{where}.{name}")
    if not isinstance(wanted, bool):
        raise ControlError(f"{where}.{name}: expected true or false")
    return wanted


def _entries(content: Mapping[str, object], where: str) -> tuple[date, ...] | None:
    value = content.get("entries")
    if value is None:
        return None
    if not isinstance(value, list):
        raise ControlError(f"{where}: expected a list of days")
    days = cast("list[object]", value)
    if len(days) > _ENTRIES:
        raise ControlError(f"{where}: at most {_ENTRIES}")
    return tuple(_day(day, f"{where}[{at}]") for at, day in enumerate(days))


def _day(value: object, where: str) -> date:
    day = parse_day(value) if isinstance(value, str) else None
    if day is None:
        raise ControlError(f"{where}: expected a day like 2026-09-16")
    return day


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
    "tpp-tokens",
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
            return lambda content: _answer_payments(
                method,
                steps[2:],
                _PaymentRequest(context=context, registry=registry, content=content),
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
    with world.lock:
        customer = registry.add_customer(world, segment=segment)
        holdings = [
            _holding(item)
            for order in orders
            for item in open_holdings(world, customer, order, policies)
        ]
    body: dict[str, Json] = {
        "customer": customer.id,
        "name": customer.name,
        "token": customer.token,
        "tokens": customer.tokens,
        "login": customer.login,
        "password": customer.password,
        "segment": customer.segment,
        "factors": {factor: customer.factors[factor] for factor in FACTORS},
        "now": _local_text(world.now),
        "holdings": holdings,
    }
    return Answer(status=201, body=body)


def _holding(item: Item) -> Json:
    entries = [
        {"key": entry.id, "date": entry.date.isoformat()} for entry in item.ledger.arranged()
    ]
    return {
        "resource": item.resource,
        "key": item.key,
        "traits": _traits(item),
        "entries": entries,
    }


def _traits(item: Item) -> Json:
    """Return the traits of an item that are not the default, and the last use of a card."""
    traits: dict[str, Json] = {
        "savings": item.savings,
        "inactive": not item.active,
        "offline": not item.online,
        "never-used": item.resource == "card" and item.last_used is None,
        "immediate-debit": item.immediate_debit,
    }
    traits = {name: True for name, is_so in traits.items() if is_so}
    if item.last_used is not None:
        traits["last-used"] = item.last_used.isoformat()
    return traits


_MOST_HOURS = 24 * 365 * 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _PaymentRequest:
    """One control request about a world's payments."""

    context: PaymentContext
    registry: Registry
    content: Mapping[str, object]


_Action: TypeAlias = Callable[[_PaymentRequest], Answer]


def _answer_payments(method: str, steps: Sequence[str], request: _PaymentRequest) -> Answer:
    """Answer a control request; `steps` are the path segments below the world."""
    action = _payment_action(method, steps)
    with request.context.world.lock:
        return action(request)


def _payment_action(method: str, steps: Sequence[str]) -> _Action:
    match (method, *steps):
        case ("POST", "tpps"):
            return _add_tpp
        case ("POST", "tpps" | "customers" as party, id, "token"):
            renew = _renew_tpp if party == "tpps" else _renew_customer
            return lambda request: renew(request, id)
        case ("GET", "executions"):
            return _executions
        case ("POST", "customers", id, "creditors"):
            return lambda request: _register_creditor(request, id)
        case ("POST", "payments", id, "cancel"):
            return lambda request: _cancel(request, _payment(request, id))
        case ("POST", "payments", id, "sign"):
            return lambda request: _sign(request, _payment(request, id))
        case _:
            raise ControlError("no such control; see GET /assay-control/1/", 404)


def _payment(request: _PaymentRequest, id: str) -> Payment:
    payment = request.context.book.payments.get(id)
    if payment is None:
        raise ControlError(f"no payment {id[:40]!r} in this world", 404)
    return payment


def _customer(request: _PaymentRequest, id: str) -> Customer:
    customer = request.context.world.customers.get(id)
    if customer is None:
        raise ControlError(f"no customer {id[:40]!r} in this world", 404)
    return customer


def _add_tpp(request: _PaymentRequest) -> Answer:
    tpp = request.registry.add_tpp(request.context.world)
    return Answer(status=201, body={"tpp": tpp.id, "token": tpp.token})


def _renew_tpp(request: _PaymentRequest, id: str) -> Answer:
    """Renew the token of a TPP."""
    tpp = request.context.book.tpps.get(id)
    if tpp is None:
        raise ControlError(f"no TPP {id[:40]!r} in this world", 404)
    token = request.registry.renew_tpp(request.context.world, tpp)
    return Answer(status=201, body={"tpp": id, "token": token})


def _renew_customer(request: _PaymentRequest, id: str) -> Answer:
    """Renew the token of a customer."""
    token = request.registry.renew_customer(request.context.world, _customer(request, id))
    return Answer(status=201, body={"customer": id, "token": token})


def _executions(request: _PaymentRequest) -> Answer:
    rows = [
        {
            "payment": execution.payment,
            "date": execution.date.isoformat(),
            "debtor": execution.debtor,
            "creditor": execution.creditor,
            "amount": execution.amount,
        }
        for execution in request.context.book.executions
    ]
    return Answer(status=200, body={"executions": rows})


def _register_creditor(request: _PaymentRequest, id: str) -> Answer:
    """Register a creditor; of several registrations the first counts."""
    customer, world = _customer(request, id), request.context.world
    moment = _registered(request.content, world.now)
    creditor = request.content.get("iban")
    if creditor is None:
        creditor = iban(world.next_id_seed())
    if not isinstance(creditor, str) or not is_iban(creditor):
        raise ControlError("iban: expected an IBAN in capitals without spaces")
    since = min(moment, customer.creditors.get(creditor, moment))
    customer.creditors[creditor] = since
    return Answer(status=201, body={"iban": creditor, "registered": local(since).isoformat()})


def _registered(content: Mapping[str, object], now: datetime) -> datetime:
    match content.get("registered"):
        case {"hours_ago": int() | float() as hours} if (
            not isinstance(hours, bool) and 0 <= hours <= _MOST_HOURS
        ):
            return now - timedelta(hours=hours)
        case str():
            moment = read_moment(content, "registered")
            if moment is not None and moment <= now:
                return moment
        case _:
            pass
    raise ControlError('registered: expected a past moment or {"hours_ago": 73}')


def _sign(request: _PaymentRequest, payment: Payment) -> Answer:
    """Confirm or refuse as the customer, without screens."""
    context, content = request.context, request.content
    named = content.get("customer")
    customer = _customer(request, named if isinstance(named, str) else "")
    factor = read_choice(content, "factor", FACTORS)
    decision: Decision = read_choice(content, "decision", DECISIONS)
    if payment.status != "received":
        raise ControlError(f"this payment is {payment.status}; there is nothing to sign", 409)
    if customer is not context.owner(payment):
        raise ControlError("this customer does not own the account to be debited", 409)
    if factor not in context.policies.factors[customer.segment]:
        raise ControlError(f"factor: {factor} is not offered to {customer.segment}", 409)
    sign(context, payment, factor, decision)
    return _status_of(context, payment)


def _cancel(request: _PaymentRequest, payment: Payment) -> Answer:
    """Cancel as the customer, through the bank's direct access."""
    if not cancel(request.context, payment, by_customer=True):
        raise ControlError(f"this {payment.terms.type} payment is {payment.status}", 409)
    return _status_of(request.context, payment)


def _status_of(context: PaymentContext, payment: Payment) -> Answer:
    body = {"payment": payment.id, "status": context.policies.shown(payment)}
    return Answer(status=200, body=body)
