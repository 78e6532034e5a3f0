"""One foreign bank, in plain WSGI; nothing here knows of Assay but the control API it speaks.

What a bank is like is a row of a table (`dialects.py`): which calls it has, how it spells what it
shows, and what it decides. A fault is a row, too (`faults.py`): what it replaces of that. So
whatever differs between banks, or is wrong in one, is an attribute or a method of its own here.
"""

import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import count
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote

from foreign.login import Login

NEVER = "2999-01-01"
A_DAY = timedelta(days=1)


class Refused(Exception):  # noqa: N818 -- no error: an answer
    """A refusal: its status, and the error that the header WWW-Authenticate names, if any."""

    def __init__(self, status=400, error=None):
        super().__init__(status, error)
        self.status, self.error = status, error


@dataclass
class Customer:
    """A customer; `accounts` have the days of their entries."""

    token: str
    login: str
    password: str
    accounts: dict = field(default_factory=dict)


@dataclass
class World:
    """A clock, and everything that happened by it."""

    now: datetime
    customers: list = field(default_factory=list)
    tpps: dict = field(default_factory=dict)
    requests: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    calls: dict = field(default_factory=dict)


@dataclass
class Request:
    """What a TPP asks for: a consent, an order, a booking. `marks` are for faults."""

    id: str
    world: World
    owner: Customer | None
    tpp: str | None
    body: dict
    mode: str = ""
    status: str = "open"
    executions: int = 0
    executed_on: date | None = None
    reads: int = 0
    marks: set = field(default_factory=set)

    @property
    def accounts(self):
        """The numbers that a consent names."""
        return [each["number"] for each in self.body["accounts"]]


@dataclass
class Grant:
    """Whom a token lets in: a customer, a TPP in a scope, or a TPP with a consent."""

    world: World
    customer: Customer | None = None
    tpp: str | None = None
    consent: Request | None = None
    scope: str | None = None
    until: datetime | None = None


class Call:
    """One call of the interface, or of the control API; `grant` is what its token stands for."""

    def __init__(self, environ):
        self.method, self.host = environ["REQUEST_METHOD"], environ.get("HTTP_HOST", "")
        self.steps = [unquote(step) for step in environ["PATH_INFO"].strip("/").split("/")]
        self.query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
        self.content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        self.environ, self.grant = environ, None

    def header(self, name):
        return self.environ.get(f"HTTP_{name.upper().replace('-', '_')}")

    @property
    def json(self):
        try:
            return json.loads(self.content) if self.content else {}
        except (ValueError, RecursionError):
            raise Refused from None

    @property
    def form(self):
        return dict(parse_qsl(self.content.decode()))

    @property
    def world(self):
        return self.grant.world

    @property
    def customer(self):
        return self.grant.customer


class Bank(Login):
    """A WSGI application; one instance is one run."""

    # -- how it spells ---------------------------------------------------------------------
    #: The answers, by method and path; a path may begin with a host, and `*` is handed over.
    routes = MappingProxyType({})
    #: The answers that need no token.
    public = frozenset()
    now = "2026-09-16T08:00:00+00:00"
    zone = UTC
    number = "A-{}"
    #: Lists: bare, in a member, with a link to the next page, or with a cursor for it.
    paging = "member"
    page_size = 3
    paged = ("accounts",)
    #: The member with a list, if it has not the name of what is listed.
    list_name = None
    #: The words for the states of a request, and the members with its id and its state.
    words = MappingProxyType({})
    id_form = "R-{}"
    id_name, state_name = "id", "status"
    #: The link where a request is signed, and the header Location of a request.
    sign_link = location = None
    #: The header whose value an answer repeats, and the one in which it does.
    echoes = None
    #: The header with a key that makes a request once.
    key_header = None
    #: Whether a refusal has the media type of a problem, and which have another status.
    problem = False
    as_403 = frozenset()

    # -- what it decides -------------------------------------------------------------------
    first = "open"
    confirmed, declined, ended = "accepted", "refused", "cancelled"
    final = frozenset({"done", "refused", "cancelled"})
    ends_with = 200
    foreign = 403
    key_hours = 24
    window = timedelta(minutes=1)

    def __init__(self):
        super().__init__()
        self.numbers, self.worlds, self.grants, self.seen = count(1), {}, {}, []

    # -- calls -----------------------------------------------------------------------------
    def tickets(self, call):
        """Return what stands where a token is expected."""
        return [(call.header("Authorization") or "").removeprefix("Bearer ")]

    def admitted(self, tickets, call):
        """Return whom a call is from."""
        if len({*tickets}) != 1 or tickets[0] not in self.grants:
            raise Refused(401, "invalid_token")
        return self.grants[tickets[0]]

    def let_in(self, token, **whom):
        """Remember whom a token lets in."""
        self.grants[token] = Grant(**whom)

    def check_call(self, call):
        """Refuse a call that lacks what every call has."""

    def echoed(self, call, shown):
        """Return an answer with what it repeats of the call."""
        return shown

    def echo(self, sent, status):
        """Return what an answer says of the header that it repeats."""
        return sent

    def error(self, status):
        """Return the body of a refusal."""
        return {}

    def limits(self, call, number):
        """Return the limits that a call counts for, and what is counted."""
        return []

    def count(self, call, number=""):
        """Refuse a call beyond a limit; a call that is refused does not count."""
        now, calls = call.world.now, call.world.calls
        counted = self.limits(call, number)
        for limit, name in counted:
            if sum(now - at < self.window for at in calls.get(name, ())) >= limit:
                raise Refused(429)
        for _, name in counted:
            calls.setdefault(name, []).append(now)

    # -- accounts --------------------------------------------------------------------------
    def numbered(self, n):
        """Return the number of an account."""
        return self.number.format(n)

    def opened(self, call):
        """Return the consent under which a call reads, if it needs one."""

    def listed(self, call, consent):
        """Return the numbers of the accounts that are listed."""
        return consent.accounts if consent else [*call.customer.accounts]

    def account(self, consent, number):
        """Return an account as it is shown."""
        return {"number": number}

    def beside(self, call, consent):
        """Return what stands beside a list of accounts."""
        return {}

    def owner_of(self, call, consent, number):
        """Return the customer whose account is read; None if it is not the caller's."""
        who = call.customer or consent.owner
        return who if number in who.accounts else None

    def covers(self, consent, number):
        """Whether a consent opens an account."""
        return number in consent.accounts

    def entries(self, call, consent, number, days):
        """Return the entries of an account as they are shown."""
        return [{"id": f"{number}-{n}", "day": day} for n, day in enumerate(days)]

    def balance(self, call, number):
        """Return the balance of an account."""
        return int(number[-3:])

    def page_after(self, start):
        """Return where the page after the one at a place begins."""
        return start + self.page_size

    def page(self, call, name, items):
        """Return a page of a list, as the bank spells it."""
        if self.paging == "bare":
            return items
        if name not in self.paged or self.paging == "member":
            return {self.list_name or name: items}
        at = call.json.get("pageId") if self.paging == "cursor" else call.query.get("from")
        if not str(at or 0).isdecimal():
            raise Refused
        start = int(at or 0)
        after = self.page_after(start)
        shown = {self.list_name or name: items[start : start + self.page_size]}
        following = after < len(items)
        if self.paging == "cursor":
            return {**shown, "page": {"next": str(after)} if following else {}}
        return {**shown, "next": f"/{name}?from={after}"} if following else shown

    def list_accounts(self, call):
        consent = self.opened(call)
        self.count(call)
        items = [self.account(consent, number) for number in self.listed(call, consent)]
        shown, beside = self.page(call, "accounts", items), self.beside(call, consent)
        return 200, {**shown, **beside} if beside else shown

    def list_entries(self, call, number=""):
        consent = self.opened(call)
        number = number or call.json.get("account")
        owner = self.owner_of(call, consent, number)
        if owner is None or (consent and not self.covers(consent, number)):
            raise Refused(self.foreign)
        self.count(call, number)
        days = owner.accounts.get(number, [])
        return 200, self.page(call, "entries", self.entries(call, consent, number, days))

    def list_balances(self, call, own_id=None):
        """Return the balance of an account, named by the bank's own id or by its number."""
        asked = [own_id, call.query.get("account")][own_id is None]
        for number in call.customer.accounts:
            if asked == (number if own_id is None else f"A-{number[-6:]}"):
                return 200, {"items": [{"of": number, "amount": self.balance(call, number)}]}
        raise Refused(404)

    # -- requests --------------------------------------------------------------------------
    def check(self, call, mode, body):
        """Refuse a request that is not right."""

    def kept(self, call, body):
        """Return what the bank keeps of a request."""
        return body

    def on_making(self, request):
        """Do what the making of a request causes."""

    def is_own(self, call, request):
        """Whether a request is the caller's."""
        return request.owner is call.customer

    def is_at(self, request, mode=None):
        """Whether a request stands below a mode."""
        return mode in {None, request.mode}

    def read(self, request):
        """Return a request that is read."""
        return request

    def state(self, request):
        """Return the state that is shown of a request."""
        late = request.status == "valid" and self.expired(request)
        return "expired" if late else request.status

    def fields(self, request):
        """Return the fields that are shown of a request."""
        return request.body

    def wrapped(self, shown):
        """Return a request in the member in which it is shown."""
        return shown

    def shown(self, request):
        state = self.state(request)
        named = {self.id_name: request.id, self.state_name: self.words.get(state, state)}
        return {**named, **self.fields(request)}

    def known(self, call, body):
        """Return the request that was made with a key before."""
        made = self.key_header and call.world.keys.get(self.key_of(call))
        if not made or call.world.now - made[2] >= timedelta(hours=self.key_hours):
            return None
        return self.repeated(made[1]) if made[0] == body else self.conflicting(made[1])

    def key_of(self, call):
        return call.customer.token, call.header(self.key_header or "") or ""

    def repeated(self, request):
        """Return what is shown where a key comes again with the same body; None to make another."""
        return request

    def conflicting(self, request):
        """Return the same where it comes with another body."""
        raise Refused(409)

    def changed(self, request, body):
        """Return the body of a request that is changed."""
        return body

    def end(self, request):
        """End a request."""
        request.status = self.ended

    def make(self, call, mode=""):
        body = call.json
        self.check(call, mode, body)
        known = self.known(call, body)
        if known:
            return 201, self.shown(known)
        grant, kept = call.grant, self.kept(call, body)
        id_ = self.id_form.format(f"{next(self.numbers)}-{secrets.token_hex(6)}")
        request = Request(id_, grant.world, grant.customer, grant.tpp, kept, mode, self.first)
        self.on_making(request)
        grant.world.requests[id_] = request
        if self.key_header:
            grant.world.keys[self.key_of(call)] = body, request, grant.world.now
        shown, place = self.shown(request), {"mode": mode, "id": id_}
        if self.sign_link:
            shown["sign"] = self.sign_link.format(**place)
        headers = [("Location", self.location.format(**place))] if self.location else []
        return 201, self.wrapped(shown), headers

    def own(self, call, *where):
        request = call.world.requests.get(where[-1])
        there = request and self.is_own(call, request) and self.is_at(request, *where[:-1])
        if not there:
            raise Refused(404)
        return request

    def show(self, call, *where):
        request = self.own(call, *where)
        request.reads += 1
        return 200, self.wrapped(self.shown(self.read(request)))

    def change(self, call, *where):
        request = self.own(call, *where)
        if request.status in self.final:
            raise Refused(409)
        self.check(call, request.mode, call.json, request)
        request.body = self.changed(request, call.json)
        return 200, self.wrapped(self.shown(request))

    def stop(self, call, *where):
        request = self.own(call, *where)
        if request.status in self.final:
            raise Refused(409)
        self.end(request)
        return self.ends_with, self.wrapped(self.shown(request))

    # -- consents --------------------------------------------------------------------------
    def usable(self, consent):
        return self.signed(consent) and not self.expired(consent) and not self.over(consent)

    def signed(self, consent):
        return consent.status not in {"open", "rejected"}

    def over(self, consent):
        return consent.status == "ended"

    def expired(self, consent, at=timedelta()):
        """Whether the last day of a consent is over; `at` is how the clock differs."""
        today = (consent.world.now + at).astimezone(self.zone).date()
        return today.isoformat() > consent.body["until"]

    def on_signature(self, consent):
        """Put a consent in force; it takes the place of the others of its customer."""
        for other in consent.world.requests.values():
            same = (other.owner, other.tpp) == (consent.owner, consent.tpp)
            if same and other is not consent and other.status == "valid":
                self.replace(other)
        consent.status = "valid"

    def replace(self, former):
        former.status = "ended"

    # -- time and signatures ---------------------------------------------------------------
    def sign(self, request, decision):
        """Confirm or refuse a request."""
        request.status = self.confirmed if decision == "confirm" else self.declined
        self.pass_time(request.world)

    def pass_time(self, world):
        """Carry out what is due."""
        for request in world.requests.values():
            due = date.fromisoformat(request.body.get("day") or "1970-01-01")
            if request.status == "accepted" and due <= world.now.date():
                request.status, request.executions = "done", request.executions + 1
                # A clock that skips days leaves a put-off request its own one.
                request.executed_on = due if "day" in request.body else world.now.date()

    # -- the interface ---------------------------------------------------------------------
    def __call__(self, environ, start_response):
        call = Call(environ)
        own = call.steps[0] == "assay-control"
        try:
            status, body, *headers = (self.control if own else self.answer)(call)
            headers = [*headers[0]] if headers else []
        except Refused as refusal:
            named = refusal.error and f'Bearer error="{refusal.error}"'
            headers = [("WWW-Authenticate", named)] if named else []
            status, body = refusal.status, self.error(refusal.status)
        except (LookupError, TypeError, ValueError, AttributeError):
            status, body, headers = 400, self.error(400), []
        sent = self.echoes and call.header(self.echoes[0])
        said = self.echo(sent, status) if sent is not None and not own else None
        if said is not None and self.echoes:
            headers.append((self.echoes[1], said))
        kind = "application/problem+json; charset=utf-8" if self.problem else "application/json"
        if isinstance(body, str) or status < 400:
            kind = "text/html" if isinstance(body, str) else "application/json"
        status = 403 if status in self.as_403 and not own else status
        start_response(f"{status} .", [("Content-Type", kind), *headers])
        content = body if isinstance(body, str) else json.dumps(body)
        return [content.encode() if status != 204 else b""]

    def answer(self, call):
        name, given = self.route(call)
        if name not in self.public:
            call.grant = self.admitted(self.tickets(call), call)
            self.check_call(call)
        if not name:
            raise Refused(404)
        status, shown, *headers = getattr(self, name)(call, *given)
        return status, self.echoed(call, shown), *headers

    def route(self, call):
        """Return the name of the answer to a call, and what its path hands over."""
        for pattern, name in self.routes.items():
            method, _, path = pattern.partition(" ")
            steps = path.split("/")
            given = [call.host, *call.steps] if "." in steps[0] else call.steps
            pairs = [*zip(steps, given, strict=False)] if len(steps) == len(given) else []
            if pairs and method == call.method and all(a in {"*", b} for a, b in pairs):
                return name, [b for a, b in pairs if a == "*"]
        return "", []

    # -- the control API -------------------------------------------------------------------
    def control(self, call):
        match call.method, call.steps[3:]:
            case "DELETE", [_]:
                return 200, {}
            case "POST", []:
                name, world = f"w-{next(self.numbers)}", World(datetime.fromisoformat(self.now))
                self.worlds[name] = world
                return 201, {"world": name, "now": world.now.isoformat()}
            case _, [name, *words]:
                return self.controlled(call, self.worlds[name], words)
        raise Refused(404)

    def controlled(self, call, world, words):
        match call.method, words:
            case "POST", ["clock"]:
                world.now = datetime.fromisoformat(call.json["to"])
                self.pass_time(world)
                return 200, {"now": world.now.isoformat()}
            case "POST", ["customers"]:
                return 201, self.new_customer(call, world)
            case "POST", ["tpps"]:
                return 201, self.new_tpp(world)
            case "POST", ["payments", id_, "sign"]:
                request = world.requests[id_]
                if request.status != self.first:
                    raise Refused(409)
                self.sign(request, call.json["decision"])
                return 200, {"payment": id_, "status": request.status}
            case "GET", ["executions"]:
                done = [each for each in world.requests.values() for _ in range(each.executions)]
                return 200, {
                    "executions": [
                        {"payment": each.id, "date": str(each.executed_on or world.now.date())}
                        for each in done
                    ]
                }
        raise Refused(404)

    def new_tpp(self, world):
        client, secret = f"tpp-{next(self.numbers)}", secrets.token_hex(12)
        world.tpps[client] = secret
        return {"tpp": client, "token": client, "client_id": client, "client_secret": secret}

    def new_customer(self, call, world):
        n = next(self.numbers)
        customer = Customer(f"token-{n}-of-a-customer", f"login-{n}", secrets.token_hex(6))
        world.customers.append(customer)
        self.let_in(customer.token, world=world, customer=customer)
        holdings = []
        for holding in call.json["holdings"]:
            for _ in range(holding["count"]):
                key, days = self.numbered(next(self.numbers)), holding.get("entries") or []
                customer.accounts[key] = days
                entries = [{"key": f"{key}-{n}", "date": day} for n, day in enumerate(days)]
                made = {"resource": holding["resource"], "key": key, "traits": {}}
                holdings.append({**made, "entries": entries})
        return {
            "customer": customer.token,
            "token": customer.token,
            "login": customer.login,
            "password": customer.password,
            "name": f"Name {n}",
            "holdings": holdings,
            "now": world.now.isoformat(),
        }
