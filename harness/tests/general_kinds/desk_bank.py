"""A small service desk with accounts and orders, in plain WSGI; nothing here knows of Assay.

Its control API (`assay-control/1`) makes worlds and customers, moves clocks, signs orders and
lists what was executed. `faults` are the names of what it does wrong, empty for a sound desk.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import count
from typing import Any

NOW = "2026-09-16T08:00:00+00:00"
START = date(2026, 9, 16)
MINUTE = timedelta(minutes=1)
NEVER = "2999-01-01"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Answer = tuple[int, Any]
ENDED = {"done", "refused", "cancelled"}


class Refused(Exception):  # noqa: N818 -- no error: an answer
    """The status of a refusal."""

    def __init__(self, status: int = 400) -> None:
        super().__init__(status)
        self.status = status


def is_day(value: object) -> bool:
    """Whether a value is a day: YYYY-MM-DD."""
    try:
        return isinstance(value, str) and value == date.fromisoformat(value).isoformat()
    except ValueError:
        return False


@dataclass
class Order:
    """One order; `due` is its day, `done` when it was executed."""

    id: str
    owner: str
    fields: dict[str, Any]
    status: str = "received"
    executions: int = 0
    reads: int = 0

    hidden: str = ""
    suffix: str = ""

    @property
    def shown(self) -> dict[str, Any]:
        """What an answer says of it."""
        shown = {"orderId": self.id, "status": self.status, **self.fields}
        shown["amount"] += self.suffix
        return {name: value for name, value in shown.items() if name != self.hidden}


@dataclass
class World:
    """A clock, and everything that happened by it."""

    now: datetime
    accounts: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    keys: dict[tuple[str, str], tuple[Any, str, datetime]] = field(default_factory=dict)
    calls: dict[str, list[datetime]] = field(default_factory=dict)


class Desk:
    """The service; one instance is one run."""

    def __init__(self, *faults: str) -> None:
        self.faults = {*faults}
        self.numbers = count(1)
        self.worlds: dict[str, World] = {}
        self.tokens: dict[str, World] = {}

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request."""
        steps = environ["PATH_INFO"].strip("/").split("/")
        own = steps[:1] == ["assay-control"]
        try:
            status, body = (self.control if own else self.answer)(environ, steps)
        except Refused as refusal:
            status, body = refusal.status, self.error(refusal.status, steps)
        headers = [("Content-Type", self.media_type(status))]
        said = self.request_id(environ, status)
        if said:
            headers.append(("X-Request-ID", said))
        start_response(f"{status} .", headers)
        return [json.dumps(body).encode()]

    def error(self, status: int, steps: list[str]) -> Any:
        """Return the body of a refusal."""
        return {}

    def media_type(self, status: int) -> str:
        """Return the media type of an answer."""
        return "application/json"

    # -- headers ---------------------------------------------------------------------
    def request_id(self, environ: dict[str, Any], status: int) -> str | None:
        """Return what the answer says of the request id."""
        sent = environ.get("HTTP_X_REQUEST_ID")
        if sent is None or ("no echo" in self.faults and status < 400):
            return None
        if "no echo in refusals" in self.faults and status >= 400:
            return None
        return sent.upper() if "loud echo" in self.faults and status < 400 else sent

    def check_request_id(self, environ: dict[str, Any]) -> None:
        """Refuse a call without a request id, or with one that is no UUID."""
        sent = environ.get("HTTP_X_REQUEST_ID")
        if sent is None and "no request id" not in self.faults:
            raise Refused
        if sent is not None and not UUID.fullmatch(sent) and "any request id" not in self.faults:
            raise Refused

    def count(self, world: World, token: str, steps: list[str]) -> None:
        """Refuse a call beyond a limit; a call that is refused does not count."""
        for limit, name in self.limits(token, steps):
            span = MINUTE * 3 if "remembers for three minutes" in self.faults else MINUTE
            span = MINUTE / 2 if "forgets in half a minute" in self.faults else span
            recent = [at for at in world.calls.get(name, []) if world.now - at < span]
            if len(recent) >= limit:
                raise Refused(429)
        for _, name in self.limits(token, steps):
            world.calls.setdefault(name, []).append(world.now)

    def limits(self, token: str, steps: list[str]) -> list[tuple[int, str]]:
        """Return the limits that a call counts for."""
        return []

    # -- the interface ---------------------------------------------------------------
    def answer(self, environ: dict[str, Any], steps: list[str]) -> Answer:
        """Answer a call of the interface."""
        token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        world = self.tokens.get(token)
        if world is None:
            raise Refused(401)
        self.check_request_id(environ)
        self.count(world, token, steps)
        query = dict(
            part.split("=", 1) for part in environ.get("QUERY_STRING", "").split("&") if part
        )
        match environ["REQUEST_METHOD"], steps:
            case "GET", ["accounts"]:
                every = "lists the accounts of all" in self.faults
                return 200, [
                    {"number": key}
                    for key, (owner, _) in world.accounts.items()
                    if every or owner == token
                ]
            case "GET", ["accounts", number, "entries"]:
                return 200, self.entries(world, token, number, query)
            case "POST", ["orders"]:
                return self.order(environ, world, token)
            case "GET", ["orders", id_]:
                return 200, self.read(self.own(world, token, id_)).shown
            case "DELETE", ["orders", id_]:
                return 200, self.cancel(self.own(world, token, id_)).shown
            case _:
                raise Refused(404)

    def entries(self, world: World, token: str, number: str, query: dict[str, str]) -> Any:
        """Return the entries of an account: a status, a range of days, a number of rows."""
        owner, days = world.accounts.get(number, ("", []))
        if owner != token and "serves everybody" not in self.faults:
            raise Refused(404)
        if "shows the entries of another account" in self.faults:
            number, (_, days) = next(iter(world.accounts.items()))
        wanted = query.get("status")
        if wanted is None and "no status" not in self.faults:
            raise Refused
        known = ("booked", "pending", "both")
        if wanted not in (None, *known) and "any status" not in self.faults:
            raise Refused
        if wanted == "pending" and "no pending" in self.faults:
            raise Refused
        rows = (
            int(query["rows"])
            if query.get("rows", "x").isascii() and query.get("rows", "x").isdecimal()
            else 100
        )
        most = 99 if "fewer rows" in self.faults else 100
        if rows > most and "any rows" not in self.faults:
            raise Refused
        listed = [
            {"id": f"{number}-{n}", "date": day, "status": ("booked", "pending")[n % 2]}
            for n, day in enumerate(days)
        ]
        if "hides an id" in self.faults:
            listed = [{**each, "id": ""} if each["id"].endswith("-12") else each for each in listed]
        if "has another word" in self.faults and wanted == "both":
            listed = [{**each, "status": "open"} for each in listed[:1]] + listed[1:]
        return [each for each in listed if self.selects(each, wanted or "both", query)][:rows]

    def selects(self, entry: dict[str, str], wanted: str, query: dict[str, str]) -> bool:
        """Whether an entry is in the range of days, and has the status that is wanted."""
        first, last = query.get("from", "1970-01-01"), query.get("to", "2999-01-01")
        day = entry["date"]
        begun = day > first if "leaves out the first day" in self.faults else day >= first
        ended = day > last if "shows the last day" in self.faults else day >= last
        if not begun or ended:
            return False
        left_out = {"booked": "-4", "pending": "-3", "both": "-1"}
        if f"leaves out {wanted} ones" in self.faults and entry["id"].endswith(left_out[wanted]):
            return False
        if f"shows all as {wanted}" in self.faults:
            return True
        return entry["status"] == wanted or wanted not in ("booked", "pending")

    def order(self, environ: dict[str, Any], world: World, token: str) -> Answer:
        """Make an order, once for a key."""
        try:
            body = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
        except ValueError:
            raise Refused from None
        if not isinstance(body, dict) or not isinstance(body.get("number"), str):
            raise Refused
        if world.accounts.get(body.get("number"), ("", []))[0] != token:
            raise Refused(404)
        self.check_order(world, body)
        key = token, environ.get("HTTP_ORDER_KEY", "")
        known = self.known(world, key, body)
        if known is not None:
            return 201, known.shown
        whole, _, decimals = body["amount"].partition(".")
        amount = f"{whole}.{decimals:0<2}"
        kept = {**body, "amount": amount, "until": self.until(world, body)}
        order = Order(id=f"O-{next(self.numbers)}", owner=token, fields=kept)
        if "begins in the middle" in self.faults:
            order.status = "accepted"
        order.hidden = "amount" if "hides the amount" in self.faults else ""
        order.suffix = "0" if "shows a third decimal" in self.faults else ""
        world.orders[order.id] = order
        world.keys[key] = (body, order.id, world.now)
        return 201, order.shown

    def known(self, world: World, key: tuple[str, str], body: Any) -> Order | None:
        """Return the order that was made with a key within a day."""
        known = world.keys.get(key)
        hours = 20 if "forgets soon" in self.faults else 24
        if not known or world.now - known[2] >= timedelta(hours=hours):
            return None
        if known[0] != body:
            if "takes another order" in self.faults:
                return None
            raise Refused(409)
        if "repeats" in self.faults:
            return None
        if "refuses repeats" in self.faults:
            raise Refused(409)
        order = world.orders[known[1]]
        if "executes again" in self.faults and order.status == "done":
            order.executions += 1
        return order

    def until(self, world: World, body: Any) -> str:
        """Return the last day of an order, which is reduced."""
        last = world.now.date() + timedelta(days=180)
        if date.fromisoformat(body["until"]) <= last or "keeps far days" in self.faults:
            return body["until"]
        if "refuses far days" in self.faults:
            raise Refused(422)
        return last.isoformat()

    def check_order(self, world: World, body: Any) -> None:
        """Refuse an order with a value that has not the right form."""
        if not all(isinstance(body.get(name), str) for name in ("label", "amount", "until")):
            raise Refused(422)
        if not re.fullmatch("[0-9]{1,12}([.][0-9]{1,9})?", body["amount"]):
            raise Refused(422)
        for day in (body["until"], body.get("day") or NEVER):
            if not is_day(day):
                raise Refused(422)
        most = 31 if "long labels" in self.faults else 29 if "short labels" in self.faults else 30
        if len(body["label"]) > most:
            raise Refused(422)
        if not re.fullmatch("[A-Za-z0-9 ]*", body["label"]) and "any label" not in self.faults:
            raise Refused(422)
        decimals = 3 if "many decimals" in self.faults else 2
        if len(body["amount"].partition(".")[2]) > decimals:
            raise Refused(422)
        past = date.fromisoformat(body.get("day") or NEVER) < world.now.date()
        if past and "past days" not in self.faults:
            raise Refused(422)

    def own(self, world: World, token: str, id_: str) -> Order:
        """Return an order of this customer."""
        order = world.orders.get(id_)
        if order is None or order.owner != token:
            raise Refused(404)
        return order

    def read(self, order: Order) -> Order:
        """Show an order."""
        order.reads += 1
        if "moves back" in self.faults and order.status == "accepted" and order.reads % 2:
            order.status = "received"
        if "lives again" in self.faults and order.status == "cancelled" and order.reads > 1:
            order.status = "accepted"
        if "signs in silence" in self.faults and order.status == "accepted":
            return replace(order, status="received")
        return order

    def cancel(self, order: Order) -> Order:
        """Cancel an order that is still to be executed."""
        if order.status in ENDED:
            raise Refused(409)
        order.status = "gone" if "has a word of its own" in self.faults else "cancelled"
        if "ends as refused" in self.faults:
            order.status = "refused"
        return order

    def sign(self, world: World, id_: str, decision: str) -> Answer:
        """Sign an order, or refuse it."""
        order = world.orders.get(id_)
        if order is None:
            raise Refused(404)
        begun = "begins in the middle" in self.faults and order.status == "accepted"
        if order.status != "received" and not begun:
            raise Refused(409)
        refused = "cancelled" if begun else "refused"
        order.status = "accepted" if decision == "confirm" else refused
        self.pass_time(world)
        return 200, {"payment": order.id, "status": order.status}

    def pass_time(self, world: World) -> None:
        """Carry out what is due."""
        for order in world.orders.values():
            due = date.fromisoformat(order.fields.get("day") or "1970-01-01")
            if "wakes up" in self.faults and order.status == "refused":
                order.status = "accepted" if world.now.date() > START else "refused"
            if order.status == "accepted" and due <= world.now.date():
                order.status, order.executions = "done", order.executions + 1

    # -- the control API ---------------------------------------------------------------
    def control(self, environ: dict[str, Any], steps: list[str]) -> Answer:
        """Answer a call of the control API: `/assay-control/1/worlds/...`."""
        size = int(environ.get("CONTENT_LENGTH") or 0)
        body = json.loads(environ["wsgi.input"].read(size)) if size else {}
        match environ["REQUEST_METHOD"], steps[3:]:
            case "POST", []:
                name = f"w-{next(self.numbers)}"
                self.worlds[name] = World(now=datetime.fromisoformat(NOW))
                return 201, {"world": name, "now": NOW}
            case "DELETE", [_]:
                return 200, {}
            case "POST", [name, "customers"]:
                return 201, self.customer(self.worlds[name], body)
            case "POST", [name, "clock"]:
                world = self.worlds[name]
                world.now = datetime.fromisoformat(body["to"])
                self.pass_time(world)
                return 200, {"now": world.now.isoformat()}
            case "POST", [name, "payments", id_, "sign"]:
                return self.sign(self.worlds[name], id_, body["decision"])
            case "GET", [name, "executions"]:
                done = [
                    {"payment": order.id, "date": self.worlds[name].now.date().isoformat()}
                    for order in self.worlds[name].orders.values()
                    for _ in range(order.executions)
                ]
                return 200, {"executions": done}
            case _:
                raise Refused(404)

    def customer(self, world: World, body: Any) -> Any:
        """Make a customer."""
        token = f"t-{next(self.numbers)}"
        self.tokens[token] = world
        holdings: list[Any] = []
        for holding in body["holdings"]:
            for _ in range(holding["count"]):
                number, days = f"A-{next(self.numbers)}", holding.get("entries") or []
                world.accounts[number] = (token, days)
                entries = [{"key": f"{number}-{n}", "date": day} for n, day in enumerate(days)]
                made = {"resource": "account", "key": number, "traits": {}, "entries": entries}
                holdings.append(made)
        now = world.now.isoformat()
        return {"customer": token, "token": token, "holdings": holdings, "now": now}
