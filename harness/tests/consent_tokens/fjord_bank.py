"""A small bank with an authorization server, whose tokens belong to one consent each, in plain WSGI.

A TPP makes a consent with its own token. The customer authorises it at the authorization server, and the
TPP exchanges the code for a token of that consent. Each rule of fjord.yaml is a method of its own,
which a fault overrides. Nothing here knows of Assay but the control API, `assay-control/1`.
"""

import base64
import hashlib
import html
import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Europe/Oslo")
NOW = datetime(2026, 9, 16, 9, 0, tzinfo=ZONE)
PAGE, A_DAY = 3, 4
LIFETIME = timedelta(minutes=10)
BACK = "https://tpp.example/back"


class RefusedError(Exception):
    """A refusal: its status, and the error that the header WWW-Authenticate names, if any."""


@dataclass
class Customer:
    """A customer, with accounts and their entries."""

    login: str
    password: str
    accounts: dict = field(default_factory=dict)
    calls: dict = field(default_factory=dict)


@dataclass
class Consent:
    """A consent; its customer is known once it is authorised."""

    id: str
    tpp: str
    accounts: list
    until: str
    status: str = "awaiting"
    customer: Customer | None = None
    marks: set = field(default_factory=set)


@dataclass
class Token:
    """An access token: of a TPP, or, with the customer, of a consent."""

    world: object
    tpp: str
    until: datetime
    consent: Consent | None = None


@dataclass
class World:
    """One test environment."""

    now: datetime = NOW
    customers: dict = field(default_factory=dict)
    consents: dict = field(default_factory=dict)
    tpps: dict = field(default_factory=dict)


class Bank:
    """A WSGI application."""

    def __init__(self):
        self.worlds, self.numbers = {}, count(1)
        self.tokens, self.refreshing, self.codes, self.sessions = {}, {}, {}, {}

    # -- the rules ---------------------------------------------------------------------
    def usable(self, consent, now):
        return consent.status == "authorised" and not self.expired(consent, now)

    def expired(self, consent, now):
        return now.astimezone(ZONE).date().isoformat() > consent.until

    def authorise(self, consent, customer, world):
        """Put a consent in force; it takes the place of the others of its customer."""
        consent.customer = customer
        for other in world.consents.values():
            if other.customer is customer and other is not consent and other.tpp == consent.tpp:
                self.replace(other)
        consent.status = "authorised"

    def replace(self, former):
        if former.status == "authorised":
            former.status = "revoked"

    def decline(self, consent):
        """Refuse a consent; return the parameters of the redirect."""
        consent.status = "rejected"
        return {"error": "access_denied"}

    def revoke(self, consent):
        consent.status = "revoked"

    def shown(self, consent, now):
        late = consent.status == "authorised" and self.expired(consent, now)
        return "expired" if late else consent.status

    def covers(self, token, number):
        return number in token.consent.accounts

    def opened(self, token, now):
        """Check the token of a call for data, which must be that of a consent in force."""
        if token.consent is None:
            raise RefusedError(403, "insufficient_scope")
        if now >= token.until or not self.usable(token.consent, now):
            raise RefusedError(401, "invalid_token")

    def refreshable(self, consent, now):
        return self.usable(consent, now)

    # -- the authorization server ------------------------------------------------------
    def login(self, environ, steps):
        method, given = environ["REQUEST_METHOD"], form(environ)
        match method, steps:
            case "GET", ["authorize"]:
                return self.authorize(dict(parse_qsl(environ["QUERY_STRING"])))
            case "POST", ["screens", key]:
                return self.screen(key, given)
            case "POST", ["token"]:
                return self.token(environ, given)
        raise RefusedError(404)

    def asked(self, given):
        """Return the id of the consent that an authorization request names."""
        return given["consent_id"]

    def authorize(self, given):
        world = self.world_of(given["client_id"])
        consent = world.consents.get(self.asked(given))
        fits = given["response_type"] in {"code", "code id_token"} and given["redirect_uri"] == BACK
        if consent is None or consent.tpp != given["client_id"] or not fits:
            raise RefusedError(400)
        if consent.status != "awaiting" or given.get("scope") != "accounts":
            return self.back(given, {"error": "invalid_request"})
        key = f"s-{next(self.numbers)}"
        self.sessions[key] = {"given": given, "world": world, "consent": consent}
        return page(key, '<input name="user"><input name="secret" type="password">')

    def screen(self, key, given):
        session = self.sessions[key]
        if "customer" not in session:
            customer = session["world"].customers.get(given["user"])
            if customer is None or customer.password != given["secret"]:
                return page(key, '<input name="user"><input name="secret" type="password">')
            session["customer"] = customer
            return page(
                key,
                '<button name="answer" value="allow">Allow</button>'
                '<button name="answer" value="deny">Deny</button>',
            )
        del self.sessions[key]
        consent, world = session["consent"], session["world"]
        if given["answer"] != "allow" or not {*consent.accounts} <= {*session["customer"].accounts}:
            answer = self.decline(consent)
        else:
            self.authorise(consent, session["customer"], world)
            answer = {"code": self.code(session)}
        return self.back(session["given"], answer)

    def code(self, session):
        code = f"code-{secrets.token_hex(12)}"
        self.codes[code] = session
        return code

    def back(self, given, answer):
        answer = {**answer, "state": given["state"]}
        return 302, "", [("Location", f"{given['redirect_uri']}?{urlencode(answer)}")]

    def token(self, environ, given):
        scheme, _, pair = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        client, _, secret = base64.b64decode(pair).decode().partition(":")
        world = self.world_of(client)
        if scheme != "Basic" or world.tpps[client] != secret:
            return 401, {"error": "invalid_client"}, []
        match given["grant_type"]:
            case "client_credentials":
                return self.issued(world, client, None)
            case "authorization_code":
                session = self.codes.pop(given["code"], None)
                if session and session["given"]["client_id"] == client and proven(session, given):
                    return self.issued(world, client, session["consent"])
            case "refresh_token":
                consent = self.refreshing.get((client, given["refresh_token"]))
                if consent and self.refreshable(consent, world.now):
                    return self.issued(world, client, consent)
        return 400, {"error": "invalid_grant"}, []

    def issued(self, world, client, consent):
        token = f"access-{secrets.token_hex(12)}"
        self.tokens[token] = Token(world, client, world.now + LIFETIME, consent)
        body = {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME.seconds}
        if consent is not None:
            body["refresh_token"] = f"refresh-{secrets.token_hex(12)}"
            self.refreshing[client, body["refresh_token"]] = consent
        return 200, body, []

    def world_of(self, client):
        return next(world for world in self.worlds.values() if client in world.tpps)

    # -- the interface -----------------------------------------------------------------
    def __call__(self, environ, start_response):
        steps = [unquote(step) for step in environ["PATH_INFO"].strip("/").split("/")]
        handlers = {"assay-control": self.control, "consents": self.answer, "accounts": self.answer}
        try:
            status, body, headers = handlers.get(steps[0], self.login)(environ, steps)
        except RefusedError as refusal:
            status, body, headers = refusal.args[0], {"error": "refused"}, []
            if refusal.args[1:]:
                headers = [("WWW-Authenticate", f'Bearer error="{refusal.args[1]}"')]
        except (LookupError, TypeError, ValueError, AttributeError, StopIteration):
            status, body, headers = 400, {"error": "invalid"}, []
        kind = "text/html" if isinstance(body, str) else "application/json"
        start_response(f"{status} .", [("Content-Type", kind), *headers])
        content = body if isinstance(body, str) else json.dumps(body)
        return [content.encode() if status != 204 else b""]

    def answer(self, environ, steps):
        bearer = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        token = self.tokens.get(bearer)
        if token is None:
            raise RefusedError(401, "invalid_token")
        world, method = token.world, environ["REQUEST_METHOD"]
        match method, steps:
            case "POST", ["consents"]:
                return self.make(read(environ), self.own(token), world)
            case _, ["consents", id_]:
                return self.consent(method, id_, self.own(token), world)
            case "GET", ["accounts"]:
                self.opened(token, world.now)
                return self.accounts(environ, token)
            case "GET", ["accounts", number, "entries"]:
                self.opened(token, world.now)
                return self.entries(environ, number, token, world)
        raise RefusedError(404)

    def own(self, token):
        """Return the TPP whose own token a call has."""
        if token.consent is not None:
            raise RefusedError(403, "insufficient_scope")
        if token.world.now >= token.until:
            raise RefusedError(401, "invalid_token")
        return token.tpp

    def make(self, body, tpp, world):
        said = body["consent"]
        numbers = [each["number"] for each in said["accounts"]]
        datetime.fromisoformat(said["until"])
        known = {number for each in world.customers.values() for number in each.accounts}
        if not numbers or len(set(numbers)) < len(numbers) or not {*numbers} <= known:
            raise RefusedError(422)
        consent = Consent(f"c-{secrets.token_hex(6)}", tpp, numbers, said["until"])
        world.consents[consent.id] = consent
        return 201, {"consent": {"id": consent.id, "status": self.shown(consent, world.now)}}, []

    def consent(self, method, id_, tpp, world):
        consent = world.consents.get(id_)
        if consent is None or consent.tpp != tpp:
            raise RefusedError(404)
        if method == "DELETE":
            self.revoke(consent)
            return 204, {}, []
        status = self.shown(consent, world.now)
        return 200, {"consent": {"id": id_, "status": status, "until": consent.until}}, []

    def listed(self, token):
        return token.consent.accounts

    def accounts(self, environ, token):
        query = parse_qs(environ.get("QUERY_STRING", ""))
        start = int(query.get("from", ["0"])[0])
        numbers = self.listed(token)
        body = {"accounts": [{"number": each} for each in numbers[start : start + PAGE]]}
        if start + PAGE < len(numbers):
            body["next"] = f"/accounts?from={start + PAGE}"
        return 200, {**body, "owner": f"owner of {token.consent.customer.login}"}, []

    def entries(self, environ, number, token, world):
        owner = self.owner(token, number)
        if not self.covers(token, number) or owner is None:
            raise RefusedError(403)
        if environ.get("HTTP_CUSTOMER_HERE") != "1":
            day = world.now.astimezone(ZONE).date()
            owner.calls[day] = owner.calls.get(day, 0) + 1
            if owner.calls[day] > A_DAY:
                raise RefusedError(429)
        days = owner.accounts[number]
        entries = [{"id": f"{number}-{n}", "day": day} for n, day in enumerate(days)]
        return 200, {"entries": entries}, []

    def owner(self, token, number):
        customer = token.consent.customer
        return customer if number in customer.accounts else None

    # -- the control API -----------------------------------------------------------------
    def control(self, environ, steps):
        method, body = environ["REQUEST_METHOD"], read(environ)
        if method == "DELETE":
            del self.worlds[steps[3]]
            return 200, {}, []
        if steps[2:] == ["worlds"]:
            id_ = f"w-{next(self.numbers)}"
            self.worlds[id_] = World()
            return 201, {"world": id_, "now": NOW.isoformat()}, []
        world = self.worlds[steps[3]]
        match steps[4:]:
            case ["clock"]:
                world.now = datetime.fromisoformat(body["to"])
                return 200, {"now": world.now.isoformat()}, []
            case ["customers"]:
                return self.customer(body, world)
            case ["tpps"]:
                client, secret = f"tpp-{next(self.numbers)}", secrets.token_hex(12)
                world.tpps[client] = secret
                return 201, {"tpp": client, "client_id": client, "client_secret": secret}, []
        raise RefusedError(404)

    def customer(self, body, world):
        n = next(self.numbers)
        customer = Customer(login=f"login-{n}", password=f"password-{secrets.token_hex(6)}")
        world.customers[customer.login] = customer
        holdings = []
        for holding in body["holdings"]:
            for _ in range(holding["count"]):
                number, days = f"NO-{next(self.numbers):06d}", holding.get("entries") or []
                customer.accounts[number] = days
                entries = [{"key": f"{number}-{n}", "date": day} for n, day in enumerate(days)]
                owned = {"resource": holding["resource"], "key": number, "traits": {}}
                holdings.append({**owned, "entries": entries})
        return (
            201,
            {
                "customer": customer.login,
                "token": f"no-token-{n}",
                "login": customer.login,
                "password": customer.password,
                "name": f"Name {n}",
                "holdings": holdings,
                "now": world.now.isoformat(),
            },
            [],
        )


def proven(session, given):
    """Whether the proof key is that of the authorization request (RFC 7636)."""
    challenge = session["given"].get("code_challenge")
    digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
    return challenge in {None, base64.urlsafe_b64encode(digest).decode().rstrip("=")}


def page(key, fields):
    """Return a screen with a form."""
    action = html.escape(f"/screens/{key}")
    return 200, f'<form method="post" action="{action}">{fields}<button>Go</button></form>', []


def form(environ):
    """Return a form that was sent."""
    return dict(parse_qsl(body_of(environ).decode()))


def read(environ):
    """Return a body as JSON."""
    content = body_of(environ)
    return json.loads(content) if content else {}


def body_of(environ):
    """Return the body of a request."""
    return environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
