"""A small bank whose consents have an id, a signature and an end, in plain WSGI.

Each rule of quay.yaml is a method of its own, which a fault overrides. Nothing here knows of Assay
but the control API, `assay-control/1`.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from urllib.parse import parse_qs, quote, unquote
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 9, 16, 9, 0, tzinfo=ZONE)
PAGE, A_DAY = 3, 4


class RefusedError(Exception):
    """A refusal, by its status."""


@dataclass
class Customer:
    """A customer, with accounts and their entries."""

    token: str
    accounts: dict = field(default_factory=dict)
    calls: dict = field(default_factory=dict)
    newest: object = None


@dataclass
class Consent:
    """A consent, as its customer made it."""

    id: str
    customer: Customer
    accounts: list
    until: str
    status: str = "received"
    opened: set = field(default_factory=set)
    holders: list = field(default_factory=list)
    payers: bool = False


@dataclass
class World:
    """One test environment."""

    now: datetime = NOW
    customers: dict = field(default_factory=dict)
    consents: dict = field(default_factory=dict)
    tpps: set = field(default_factory=set)


class Bank:
    """A WSGI application."""

    def __init__(self):
        self.worlds, self.numbers = {}, count(1)

    # -- the rules ---------------------------------------------------------------------
    def usable(self, consent, now):
        return self.signed(consent) and not self.expired(consent, now) and not self.over(consent)

    def signed(self, consent):
        return consent.status not in {"received", "rejected"}

    def over(self, consent):
        return consent.status == "ended"

    def expired(self, consent, now):
        return now.astimezone(ZONE).date().isoformat() > consent.until

    def on_signature(self, consent, world):
        """Sign a consent; it ends the others of its customer."""
        for other in world.consents.values():
            if (
                other.customer is consent.customer
                and other is not consent
                and other.status == "valid"
            ):
                self.replace(other)
        consent.status = "valid"

    def replace(self, former):
        former.status = "ended"

    def on_refusal(self, consent):
        consent.status = "rejected"

    def on_making(self, consent, world):
        """Do nothing: a consent waits for its signature."""

    def revoke(self, consent):
        consent.status = "ended"

    def shown(self, consent, now):
        if consent.status == "valid" and self.expired(consent, now):
            return "expired"
        return consent.status

    def covers(self, consent, number):
        return number in consent.accounts

    def chosen(self, consent_id, customer, world):
        """Return the consent that a call uses."""
        consent = world.consents.get(consent_id)
        if consent is None or consent.customer is not customer:
            raise RefusedError(403)
        return consent

    def listed(self, consent):
        return consent.accounts

    def names_holder(self, consent, number):
        return number in consent.holders

    def names_payer(self, consent, number):
        return consent.payers

    # -- the interface -----------------------------------------------------------------
    def __call__(self, environ, start_response):
        steps = [unquote(step) for step in environ["PATH_INFO"].strip("/").split("/")]
        try:
            own = steps[0] == "assay-control"
            status, body = (self.control if own else self.answer)(environ, steps)
        except RefusedError as refusal:
            status, body = refusal.args[0], {"error": "refused"}
        except (LookupError, TypeError, ValueError, AttributeError):
            status, body = 400, {"error": "invalid"}
        start_response(f"{status} .", [("Content-Type", "application/json")])
        return [json.dumps(body).encode() if status != 204 else b""]

    def answer(self, environ, steps):
        token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        world = next((each for each in self.worlds.values() if token in each.customers), None)
        if world is None:
            raise RefusedError(401)
        customer, method = world.customers[token], environ["REQUEST_METHOD"]
        match method, steps:
            case "POST", ["consents"]:
                return self.make(read(environ), customer, world)
            case _, ["consents", id_]:
                return self.consent(method, id_, customer, world)
            case "GET", ["accounts"]:
                return self.accounts(environ, customer, world)
            case "GET", ["accounts", number, "entries"]:
                return self.entries(environ, number, customer, world)
        raise RefusedError(404)

    def make(self, body, customer, world):
        numbers = [each["number"] for each in body["accounts"]]
        datetime.fromisoformat(body["until"])
        if (
            not numbers
            or len(set(numbers)) < len(numbers)
            or not {*numbers} <= {*customer.accounts}
        ):
            raise RefusedError(422)
        consent = Consent(
            f"c-{next(self.numbers)}-{len(world.consents)}",
            customer,
            numbers,
            body["until"],
            holders=[each["number"] for each in body.get("names", {}).get("holders", [])],
            payers=body.get("payers", False),
        )
        world.consents[consent.id] = consent
        self.on_making(consent, world)
        link = f"https://quay.example/sign/{quote(consent.id)}"
        return 201, {"id": consent.id, "status": self.shown(consent, world.now), "sign": link}

    def consent(self, method, id_, customer, world):
        consent = world.consents.get(id_)
        if consent is None or consent.customer is not customer:
            raise RefusedError(404)
        if method == "DELETE":
            self.revoke(consent)
            return 204, {}
        status = self.shown(consent, world.now)
        return 200, {"id": consent.id, "status": status, "until": consent.until}

    def opened(self, environ, customer, world):
        consent = self.chosen(environ.get("HTTP_CONSENT_ID"), customer, world)
        if not self.usable(consent, world.now):
            raise RefusedError(401 if self.late(consent, world.now) else 403)
        return consent

    def late(self, consent, now):
        return False

    def accounts(self, environ, customer, world):
        consent = self.opened(environ, customer, world)
        query = parse_qs(environ.get("QUERY_STRING", ""))
        start = int(query.get("from", ["0"])[0])
        numbers = self.listed(consent)
        shown = [self.account(consent, each) for each in numbers[start : start + PAGE]]
        body = {"accounts": shown}
        if start + PAGE < len(numbers):
            body["next"] = f"/accounts?from={start + PAGE}"
        return 200, {**body, "owner": f"owner of {customer.token}"}

    def account(self, consent, number):
        named = {"holder": f"holder of {number}"} if self.names_holder(consent, number) else {}
        return {"number": number, **named}

    def entries(self, environ, number, customer, world):
        consent = self.opened(environ, customer, world)
        if not self.covers(consent, number) or number not in customer.accounts:
            raise RefusedError(403)
        if environ.get("HTTP_CUSTOMER_HERE") != "1":
            day = world.now.astimezone(ZONE).date()
            customer.calls[day] = customer.calls.get(day, 0) + 1
            if customer.calls[day] > A_DAY:
                raise RefusedError(429)
        days = customer.accounts[number]
        named = {"from": {"name": "Maria"}} if self.names_payer(consent, number) else {"from": None}
        shown = [{"id": f"{number}-{n}", "day": day, **named} for n, day in enumerate(days)]
        return 200, {"entries": shown}

    # -- the control API -----------------------------------------------------------------
    def control(self, environ, steps):
        method, body = environ["REQUEST_METHOD"], read(environ)
        if method == "DELETE":
            del self.worlds[steps[3]]
            return 200, {}
        if steps[2:] == ["worlds"]:
            id_ = f"w-{next(self.numbers)}"
            self.worlds[id_] = World()
            return 201, {"world": id_, "now": NOW.isoformat()}
        world = self.worlds[steps[3]]
        match steps[4:]:
            case ["clock"]:
                world.now = datetime.fromisoformat(body["to"])
                return 200, {"now": world.now.isoformat()}
            case ["customers"]:
                return self.customer(body, world)
            case ["tpps"]:
                token = f"tpp-{next(self.numbers)}"
                return 201, {"tpp": token, "token": token}
            case ["payments", id_, "sign"]:
                return self.sign(id_, body, world)
        raise RefusedError(404)

    def customer(self, body, world):
        customer = Customer(token=f"token-{next(self.numbers)}-of-a-customer")
        world.customers[customer.token] = customer
        holdings = []
        for holding in body["holdings"]:
            for _ in range(holding["count"]):
                number, days = f"PT-{next(self.numbers):06d}", holding.get("entries") or []
                customer.accounts[number] = days
                entries = [{"key": f"{number}-{n}", "date": day} for n, day in enumerate(days)]
                owned = {"resource": holding["resource"], "key": number, "traits": {}}
                holdings.append({**owned, "entries": entries})
        return 201, {
            "customer": customer.token,
            "token": customer.token,
            "name": f"Name {next(self.numbers)}",
            "holdings": holdings,
            "now": world.now.isoformat(),
        }

    def sign(self, id_, body, world):
        consent = world.consents.get(id_)
        if consent is None or consent.status != "received":
            return 409, {}
        if body["decision"] == "confirm":
            self.on_signature(consent, world)
        else:
            self.on_refusal(consent)
        return 200, {}


def read(environ):
    """Return a body as JSON."""
    content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return json.loads(content) if content else {}
