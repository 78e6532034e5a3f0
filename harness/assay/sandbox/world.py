"""A world: a clock that stands still, its customers, and what was done to them.

Each trial has its own, so nothing leaks between trials and they can run side by side.
The registry finds the world behind a token. State is held here and nowhere else; what
it means is decided by policies. Not persistent.

Whom a call speaks for.

A third party shows a token. Customers' own credentials are understood, so that a bank
which honours them can be told apart from one that does not, and by the sound bank are
never honoured (the document: no embedded process is allowed). No cryptography here.
"""

from base64 import b64decode
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from threading import RLock

from assay.sandbox.access import Uses
from assay.sandbox.accounts import IdSeed, Item, person
from assay.sandbox.calendar import PARIS
from assay.sandbox.messages import Request, credentials_in
from assay.sandbox.payments.records import PaymentBook, Provider
from assay.sandbox.payments.terms import FACTORS, Factor, Segment
from assay.sandbox.policies import Approach

#: The world that is there from the start, and stays.
DEMO = "demo"

_WORLDS = 10_000
_SEED_ZERO = datetime(2026, 9, 16, 10, 0, tzinfo=PARIS)


@dataclass(slots=True, kw_only=True)
class Customer:
    """Somebody who banks here."""

    id: str
    name: str
    token: str
    login: str
    password: str
    #: By their keys, in the order they were opened.
    items: dict[str, Item] = field(default_factory=dict[str, Item])
    #: The consent in force; None when there never was one.
    consent: frozenset[str] | None = None
    segment: Segment = "PART"
    #: The code that each factor shows.
    factors: Mapping[Factor, str]
    #: The IBANs registered through the bank's direct access, and since when.
    creditors: dict[str, datetime] = field(default_factory=dict[str, datetime])


@dataclass(slots=True, kw_only=True)
class World:
    """One small universe of the bank."""

    id: str
    seed: int
    #: In UTC; moved only by the control API.
    now: datetime
    customers: dict[str, Customer] = field(default_factory=dict[str, Customer])
    #: Who owns the item with this key.
    owners: dict[str, Customer] = field(default_factory=dict[str, Customer])
    uses: Uses = field(default_factory=Uses)
    payments: PaymentBook = field(default_factory=PaymentBook)
    lock: RLock = field(default_factory=RLock)
    _serial: int = 0

    def next_id_seed(self) -> IdSeed:
        """Give the next number that something can be made from."""
        self._serial += 1
        return IdSeed(seed=self.seed, serial=self._serial)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Whose data a call is about."""

    world: World
    customer: Customer


def _code(secret: str, at: int) -> str:
    """Take the six digits of a factor from a customer's secret, or from what follows of it."""
    start = 40 + 8 * at
    digits = (secret + sha256(secret.encode()).hexdigest())[start : start + 8]
    return f"{int(digits, 16) % 10**6:06d}"


def start(seed: int) -> datetime:
    """Give a seed its first moment: never a Sunday, never near a clock change."""
    if seed == 0:
        return _SEED_ZERO.astimezone(UTC)
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    while True:
        minutes = random.randrange(730 * 540)
        day = datetime(2026, 1, 1, 9, tzinfo=PARIS) + timedelta(days=minutes // 540)
        around = {(day + timedelta(days=d)).utcoffset() for d in (-2, -1, 0, 1, 2)}
        if day.isoweekday() <= 6 and len(around) == 1:  # noqa: PLR2004
            return (day + timedelta(minutes=minutes % 540)).astimezone(UTC)


@dataclass(slots=True)
class Registry:
    """All worlds; the oldest make room for new ones."""

    _worlds: OrderedDict[str, World] = field(default_factory=OrderedDict[str, World])
    _tokens: dict[str, Session] = field(default_factory=dict[str, Session])
    _logins: dict[str, Session] = field(default_factory=dict[str, Session])
    _providers: dict[str, tuple[World, Provider]] = field(
        default_factory=dict[str, tuple[World, Provider]]
    )
    _lock: RLock = field(default_factory=RLock)
    _made: int = 0

    def open(self, seed: int, now: datetime | None, id: str | None = None) -> World:
        """Make a world; without a moment, the seed's own."""
        with self._lock:
            self._made += 1
            moment = (now or start(seed)).astimezone(UTC)
            world = World(id=id or f"w{self._made}", seed=seed, now=moment)
            self._worlds[world.id] = world
            while len(self._worlds) > _WORLDS:
                self.close(next(old for old in self._worlds if old != DEMO))
            return world

    def close(self, id: str) -> bool:
        """Forget a world and its tokens; False when there is none."""
        with self._lock:
            world = self._worlds.pop(id, None)
            if world is None:
                return False
            for customer in world.customers.values():
                self._tokens.pop(customer.token, None)
                self._logins.pop(customer.login, None)
            for provider in world.payments.providers.values():
                self._providers.pop(provider.token, None)
            return True

    def world(self, id: str) -> World | None:
        """Find a world."""
        return self._worlds.get(id)

    def add_customer(
        self, world: World, token: str | None = None, segment: Segment = "PART"
    ) -> Customer:
        """Make a customer with nothing yet; a token is made up unless given."""
        id_seed = world.next_id_seed()
        number = f"c{len(world.customers) + 1}"
        secret = sha256(f"{world.id} {number}".encode()).hexdigest()
        customer = Customer(
            id=number,
            name=person(id_seed),
            token=token or f"{world.id}-{number}-{secret[:24]}",
            login=f"{world.id}-{number}",
            password=secret[24:40],
            segment=segment,
            factors={factor: _code(secret, at) for at, factor in enumerate(FACTORS)},
        )
        session = Session(world=world, customer=customer)
        with self._lock:
            world.customers[number] = customer
            self._tokens[customer.token] = session
            self._logins[customer.login] = session
        return customer

    def add_provider(self, world: World, token: str | None = None) -> Provider:
        """Make a provider; a token is made up unless given."""
        number = f"p{len(world.payments.providers) + 1}"
        secret = sha256(f"{world.id} {number}".encode()).hexdigest()
        provider = Provider(id=number, token=token or f"{world.id}-{number}-{secret[:24]}")
        with self._lock:
            world.payments.providers[number] = provider
            self._providers[provider.token] = (world, provider)
        return provider

    def by_provider(self, token: str) -> tuple[World, Provider] | None:
        """Find the provider whose token this is, and its world."""
        return self._providers.get(token)

    def by_token(self, token: str) -> Session | None:
        """Find whom a token stands for."""
        return self._tokens.get(token)

    def by_login(self, login: str, password: str) -> Session | None:
        """Find whom credentials belong to, when the password is right."""
        session = self._logins.get(login)
        if session is None or session.customer.password != password:
            return None
        return session


def find_session(
    request: Request, registry: Registry, honours: frozenset[Approach]
) -> Session | None:
    """Find the session of a request, by the approaches that are honoured."""
    scheme, _, rest = request.authorization.partition(" ")
    match scheme.lower():
        case "bearer" if "token" in honours:
            return registry.by_token(rest.strip())
        case "basic" if "basic" in honours:
            return find_session_by_basic(rest, registry)
        case "" if "body" in honours:
            found = credentials_in(request.body)
            return registry.by_login(*found) if found else None
        case _:
            return None


def find_session_by_basic(encoded: str, registry: Registry) -> Session | None:
    """Find whom a login and password belong to, packed as HTTP does (RFC 7617)."""
    try:
        login, _, password = b64decode(encoded).decode().partition(":")
    except ValueError:
        return None
    return registry.by_login(login, password)
