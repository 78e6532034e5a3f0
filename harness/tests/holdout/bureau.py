"""The back office of the holdout bank: it sets up test data, and is no part of the API."""

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdout.domain import (
    APP,
    CAP,
    INSTANT,
    MAIL,
    OPEN,
    PARIS,
    SMS,
    Customer,
    Entry,
    Grant,
    Item,
    World,
    days_before,
    iban,
)
from holdout.payments import carry_out
from holdout.screens import sign
from werkzeug.exceptions import BadRequest, NotFound
from werkzeug.wrappers import Request

if TYPE_CHECKING:
    from holdout.bank import Bank

EPOCH = datetime(2026, 9, 15, 10, 12, tzinfo=PARIS)
FIRST_NAMES = ("Ada", "Blaise", "Camille", "Denis", "Elise", "Fanny", "Gaspard", "Henri")
LAST_NAMES = ("Aubert", "Besson", "Carlier", "Dumont", "Evrard", "Faure", "Girard", "Huet")


def answer(bank: "Bank", request: Request, path: str) -> Any:
    """One order of the back office: `mondes`, or `mondes/<world>/<word>`."""
    steps = path.split("/")
    body = request.get_json(force=True, silent=True) or {}
    if steps == ["mondes"] and request.method == "POST":
        return opened(bank, int(body.get("graine", 0)))
    world = bank.worlds.get(steps[1]) if len(steps) > 1 and steps[0] == "mondes" else None
    if world is None:
        raise NotFound
    if request.method == "DELETE":
        del bank.worlds[world.id]
        return {}
    order = ORDERS.get("/".join(steps[2:]))
    if order is None:
        raise NotFound
    carry_out(bank.policy, world)
    return order(bank, world, body)


def first_moment(seed: int) -> datetime:
    return EPOCH + timedelta(days=seed % 28)


def opened(bank: "Bank", seed: int) -> Any:
    bank.serial += 1
    world = World(
        id=f"m{bank.serial}",
        seed=seed,
        moment=first_moment(seed),
        chance=random.Random(f"holdout {seed} {bank.serial}"),
    )
    bank.worlds[world.id] = world
    client = new_client(world)
    return {"monde": world.id, "maintenant": world.now.isoformat(), "tiers": client}


def new_client(world: World) -> dict[str, str]:
    client = f"tiers.{world.id}.{len(world.clients) + 1}"
    world.clients[client] = f"{world.chance.randrange(16**16):016x}"
    token = world.token(Grant(client, None))
    return {"client": client, "secret": world.clients[client], "jeton": token}


def customers(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    number = len(world.customers) + 1
    name = f"{world.chance.choice(FIRST_NAMES)} {world.chance.choice(LAST_NAMES)} {number}"
    customer = Customer(
        id=f"k{number}",
        segment=body.get("segment") or "PART",
        login=f"{world.chance.randrange(10**9):09d}{number}",
        secret=f"{world.chance.randrange(10**6):06d}",
        name=name,
        codes={
            word: f"{world.chance.randrange(10**6):06d}{digit}"
            for digit, word in enumerate((SMS, CAP, APP, MAIL))
        },
    )
    world.customers.append(customer)
    for wanted in body.get("avoirs", ()):
        for _ in range(int(wanted.get("nombre", 1))):
            customer.items.append(owned(world, wanted))
    client = next(iter(world.clients))
    return {
        "client": customer.id,
        "maintenant": world.now.isoformat(),
        "jeton": world.token(Grant(client, customer)),
        "tiers": {"client": client, "secret": world.clients[client]},
        "identifiant": customer.login,
        "secret": customer.secret,
        "nom": customer.name,
        "codes": customer.codes,
        "avoirs": [described(item) for item in customer.items],
    }


def owned(world: World, wanted: dict[str, Any]) -> Item:
    number = world.number()
    traits = dict(wanted.get("etats") or {})
    is_card = wanted["genre"] == "carte"
    if is_card:
        key = f"PAN{world.chance.randrange(16**24):024x}"
        if not traits.get("never-used"):
            traits.setdefault("last-used", days_before(world.today, 3).isoformat())
    else:
        key = iban("30099", world.chance.randrange(10**7, 10**11))
    ref = f"{world.chance.randrange(36**6):07d}-{number:03d}"
    days = wanted.get("mouvements")
    if days is None:
        days = [days_before(world.today, back).isoformat() for back in (2, 9, 16)]
    entries = [
        Entry(f"MVT{world.number():06d}", datetime.fromisoformat(day).date(), 1000 + 37 * place)
        for place, day in enumerate(days)
    ]
    return Item(ref, key, is_card, traits, entries)


def described(item: Item) -> dict[str, Any]:
    return {
        "cle": item.key,
        "genre": "carte" if item.card else "compte",
        "etats": item.traits,
        "mouvements": [{"cle": entry.key, "jour": entry.on.isoformat()} for entry in item.entries],
    }


def clock(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    if body.get("vers"):
        world.moment = max(world.moment, datetime.fromisoformat(body["vers"]))
        carry_out(bank.policy, world)
    return {"maintenant": world.now.isoformat()}


def tpps(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    return new_client(world)


def lacking(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    world.lacking.add(str(body.get("mode") or INSTANT))
    return {"maintenant": world.now.isoformat()}


def customer_of(world: World, body: dict[str, Any]) -> Customer:
    customer = world.customer(str(body.get("client")))
    if customer is None:
        raise BadRequest
    return customer


def creditors(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    since = world.now - timedelta(seconds=float(body["age"]))
    customer_of(world, body).known[body["iban"]] = since
    return {"depuis": since.isoformat()}


def withdrawals(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    payment = world.payments.get(body["dossier"])
    if payment is None or not bank.policy.may_withdraw(world, payment):
        return {"accepte": False}
    bank.policy.withdrawn(world, payment)
    return {"accepte": True}


def signatures(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    """A signature without screens."""
    policy, customer = bank.policy, customer_of(world, body)
    payment = world.payments.get(body["dossier"])
    if payment is None or payment.state != OPEN or not policy.signer_ok(world, payment, customer):
        return {"accepte": False}
    factor = str(body.get("moyen", ""))
    if not policy.factor_ok(world, payment, customer, factor):
        return {"accepte": False}
    if body.get("choix") == "ABANDONNER":
        policy.declined(world, payment)
    else:
        sign(policy, world, payment, customer, factor)
    return {"accepte": True}


def movements(bank: "Bank", world: World, body: dict[str, Any]) -> Any:
    return {
        "virements": [
            {
                "dossier": movement.payment,
                "jour": movement.on.isoformat(),
                "montant": movement.amount,
                "devise": movement.currency,
                "beneficiaire": movement.creditor,
                "debiteur": movement.debtor,
            }
            for movement in world.movements
        ]
    }


ORDERS: dict[str, Any] = {
    "clients": customers,
    "horloge": clock,
    "tiers": tpps,
    "manques": lacking,
    "creanciers": creditors,
    "retraits": withdrawals,
    "signatures": signatures,
    "virements": movements,
}
