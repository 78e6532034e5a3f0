"""The control API `assay-control/1` of the bank: worlds, customers, a clock, executions."""

import json
import random
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from nordhafen import consents, payments
from nordhafen.domain import Account, Caller, Customer, Entry, World, iban_of
from nordhafen.screens import FACTORS

if TYPE_CHECKING:
    from nordhafen.application import Bank

START = "2026-09-16T10:00:00+02:00"
CAPABILITIES = (
    "customers",
    "clock",
    "roster",
    "consent",
    "credentials",
    "tpps",
    "segments",
    "executions",
    "sign",
    "cancel",
    "tokens",
)
NAMES = ("Ada Ahlers", "Bo Brandt", "Cem Claasen", "Dana Dirks", "Emil Evers", "Frida Franke")
#: The ages of the entries of an account, in days, where a run does not name any.
AGES = range(1, 100, 3)
#: How many pending entries an account has.
PENDING = 2


class ControlError(Exception):
    """A call of the control API that cannot be answered."""


def answer(bank: "Bank", request: Request, path: str) -> Response:
    """Answer one call."""
    steps = [step for step in path.split("/") if step]
    body = json.loads(request.get_data() or b"{}")
    try:
        status, result = routed(bank, request.method, steps, body)
    except ControlError as error:
        status, result = error.args
    return Response(json.dumps(result), status, content_type="application/json")


def routed(  # noqa: C901, PLR0911 -- the table of paths
    bank: "Bank", method: str, steps: list[str], body: Any
) -> tuple[int, Any]:
    """Answer one call, by its path."""
    if not steps:
        traits: dict[str, Any] = {"account": []}
        return 200, {"api": "assay-control/1", "capabilities": CAPABILITIES, "traits": traits}
    if steps == ["worlds"]:
        return create(bank, body)
    world = bank.worlds.get(steps[1]) if steps[0] == "worlds" else None
    if world is None:
        raise ControlError(404, {"message": "there is no such world"})
    match method, steps[2:]:
        case "DELETE", []:
            del bank.worlds[world.id]
            return 204, {}
        case "POST", ["clock"]:
            world.now = datetime.fromisoformat(body["to"])
            payments.execute_due(bank.policy, world)
            return 200, {"now": shown_now(bank, world)}
        case "POST", ["customers"]:
            return 201, new_customer(bank, world, body)
        case "POST", ["tpps"]:
            return 201, new_tpp(world)
        case "POST", ["customers" | "tpps", key, "token"]:
            return 201, renewed(world, key)
        case "POST", ["payments", key, "sign"]:
            return sign(bank, world, key, body)
        case "POST", ["payments", key, "cancel"]:
            return cancel(world, key)
        case "GET", ["executions"]:
            return 200, {"executions": world.executions}
    raise ControlError(404, {"message": "there is no such control"})


def create(bank: "Bank", body: Any) -> tuple[int, Any]:
    """Create a world."""
    bank.serial += 1
    seed = int(body.get("seed", 0))
    start = datetime.fromisoformat(body.get("now") or START)
    if not body.get("now"):
        start += timedelta(days=seed % 50, hours=seed * 7 % 13)
    chance = random.Random(f"{seed}-{bank.serial}")  # noqa: S311 -- a sandbox
    world = World(id=f"w{bank.serial}", now=start, chance=chance)
    world.tpps.append("p1")
    bank.worlds[world.id] = world
    return 201, {"world": world.id, "now": shown_now(bank, world)}


def shown_now(bank: "Bank", world: World) -> str:
    """Return the bank's local time."""
    return payments.local(bank.policy, world).isoformat()


def new_token(world: World, caller: Caller) -> str:
    """Issue a token."""
    token = f"{world.id}-{world.new_id()}"
    world.tokens[token] = caller
    return token


def new_tpp(world: World) -> Any:
    """Create a TPP; the first one is the one that uses the customers' tokens."""
    known = {caller.tpp for caller in world.tokens.values() if caller.customer is None}
    tpp = "p1" if "p1" not in known else f"p{len(world.tpps) + 1}"
    if tpp not in world.tpps:
        world.tpps.append(tpp)
    return {"tpp": tpp, "token": new_token(world, Caller(tpp=tpp))}


def renewed(world: World, key: str) -> Any:
    """Replace the token of a customer or of a TPP."""
    for token, caller in [*world.tokens.items()]:
        if key == (caller.customer.id if caller.customer else caller.tpp):
            del world.tokens[token]
            return {"token": new_token(world, caller)}
    raise ControlError(404, {"message": "there is no such party"})


def new_customer(bank: "Bank", world: World, body: Any) -> Any:
    """Create a customer with accounts."""
    number = len(world.customers) + 1
    customer = Customer(
        id=f"c{number}",
        name=f"{NAMES[(bank.serial + number) % len(NAMES)]} {number}",
        login=f"{world.id}-c{number}",
        password=f"{world.chance.randrange(16**12):012x}",
        codes={factor: f"{world.chance.randrange(10**6):06d}" for factor in FACTORS},
    )
    for holding in body.get("holdings", ()):
        if holding["resource"] != "account" or holding.get("traits"):
            raise ControlError(400, {"message": "only ordinary accounts can be created"})
        for _ in range(holding.get("count", 1)):
            customer.accounts.append(new_account(bank, world, holding.get("entries")))
    world.customers.append(customer)
    return {
        "customer": customer.id,
        "name": customer.name,
        "token": new_token(world, Caller(tpp="p1", customer=customer)),
        "login": customer.login,
        "password": customer.password,
        "factors": customer.codes,
        "now": shown_now(bank, world),
        "holdings": [described(account) for account in customer.accounts],
    }


def new_account(bank: "Bank", world: World, days: list[str] | None) -> Account:
    """Create an account, with entries on these days or on usual ones."""
    today = payments.today_of(bank.policy, world)
    if days is None:
        booked = [today - timedelta(days=age) for age in AGES]
    else:
        booked = [date.fromisoformat(day) for day in days]
    entries: list[date | None] = [*booked, *([None] * PENDING)]
    iban = iban_of(world.chance.randrange(10**7, 10**10), valid=bank.policy.iban_valid)
    return Account(
        resource_id=world.new_id(),
        iban=iban,
        entries=[
            Entry(id=f"T{world.number():07d}", booked=day, amount=f"{10 + place}.50")
            for place, day in enumerate(entries)
        ],
    )


def described(account: Account) -> Any:
    """Return what a run may know of an account."""
    entries = [
        {"key": entry.id, "date": entry.booked.isoformat()}
        for entry in account.entries
        if entry.booked is not None
    ]
    return {"resource": "account", "key": account.iban, "traits": {}, "entries": entries}


def sign(bank: "Bank", world: World, key: str, body: Any) -> tuple[int, Any]:
    """Sign a consent or a payment without screens."""
    subject = world.payments.get(key) or world.consents.get(key)
    customer = next((one for one in world.customers if one.id == body.get("customer")), None)
    if subject is None or customer is None:
        raise ControlError(404, {"message": "there is no such payment or customer"})
    visit = subject.authorisation
    signs = consents.may_sign if key in world.consents else payments.may_sign
    if visit.sca_status != "received" or body.get("factor") not in FACTORS:
        raise ControlError(409, {"message": "it cannot be signed in this way"})
    if not signs(subject, customer):  # type: ignore[arg-type]
        raise ControlError(409, {"message": "it cannot be signed in this way"})
    if body.get("decision") == "refuse":
        visit.sca_status = "failed"
        subject.status = "rejected" if key in world.consents else "RJCT"
    elif key in world.consents:
        visit.sca_status = "finalised"
        consents.authorised(bank.policy, world, world.consents[key], customer)
    else:
        visit.sca_status = "finalised"
        payments.authorised(bank.policy, world, world.payments[key], body["factor"])
    return 200, {"payment": key, "status": subject.status}


def cancel(world: World, key: str) -> tuple[int, Any]:
    """Cancel a payment as the customer does, outside the TPP."""
    payment = world.payments.get(key)
    if payment is None or payment.status not in ("RCVD", "ACTC"):
        raise ControlError(409, {"message": "it cannot be cancelled any more"})
    payment.status = "CANC"
    return 200, {"payment": key, "status": payment.status}
