"""Worlds: the isolated state of one trial, with its clock, customers and payments.

Each trial has its own world, so trials do not influence each other and can run side by
side. The registry finds the world and the customer of a token or of credentials. State is
kept here and nowhere else; policies decide what it means. Nothing is persistent.

The demo world always exists: Alice has one item for every kind of eligibility, and Bob has
enough accounts for a second page. Checks open worlds of their own.
"""

from base64 import b64decode
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from random import Random
from secrets import token_urlsafe
from threading import Barrier, BrokenBarrierError, RLock

from assay.sandbox.access import Uses
from assay.sandbox.accounts import IdSeed, Item, Ledger, customer_name
from assay.sandbox.calendar import PARIS, months_before, today
from assay.sandbox.messages import Request, Resource, credentials_in, login_in
from assay.sandbox.payments.records import PaymentBook, Tpp
from assay.sandbox.payments.terms import FACTORS, Factor, Segment
from assay.sandbox.policies import Approach, Policies

#: Id of the world that always exists.
DEMO = "demo"
#: The TPP for which each customer has a further token: the second one of the world.
SECOND_TPP = "p2"

#: How many characters the ending of a token has.
ALIKE = 12
_WORLDS = 10_000
_SEED_ZERO = datetime(2026, 9, 16, 10, 0, tzinfo=PARIS)


@dataclass(slots=True, kw_only=True)
class Customer:
    """A customer of the bank."""

    id: str
    name: str
    token: str
    login: str
    password: str
    #: By key, in the order of opening.
    items: dict[str, Item] = field(default_factory=dict[str, Item])
    #: The consent in force; None when there never was one.
    consent: frozenset[str] | None = None
    segment: Segment = "PART"
    #: The code of each factor.
    factors: Mapping[Factor, str]
    #: Registered creditor IBANs, with the moment of registration.
    creditors: dict[str, datetime] = field(default_factory=dict[str, datetime])
    #: How often the token was renewed.
    renewals: int = 0
    #: The token for each TPP but the first.
    tokens: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class World:
    """State of one trial."""

    id: str
    seed: int
    #: In UTC; moved only by the control API.
    now: datetime
    customers: dict[str, Customer] = field(default_factory=dict[str, Customer])
    #: The owner of each item, by key.
    owners: dict[str, Customer] = field(default_factory=dict[str, Customer])
    uses: Uses = field(default_factory=Uses)
    payments: PaymentBook = field(default_factory=PaymentBook)
    lock: RLock = field(default_factory=RLock)
    #: Where calls wait for another one; unused by the sound bank.
    _meeting: Barrier = field(default_factory=lambda: Barrier(2))
    _serial: int = 0

    def give_way(self) -> bool:
        """Let another call in until it gives way, too, or for half a second; the world is locked.

        Return whether the other one came first.
        """
        self.lock.release()
        try:
            return self._meeting.wait(timeout=0.5) > 0
        except BrokenBarrierError:
            self._meeting.reset()
            return False
        finally:
            self.lock.acquire()

    def next_id_seed(self) -> IdSeed:
        """Return the seed of the next identifier."""
        self._serial += 1
        return IdSeed(seed=self.seed, serial=self._serial)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The customer a call is about, the world, and the TPP that has the token."""

    world: World
    customer: Customer
    tpp: str = "p1"


def _code(secret: str, at: int) -> str:
    """Derive the six-digit code of a factor from a customer's secret."""
    start = 40 + 8 * at
    digits = (secret + sha256(secret.encode()).hexdigest())[start : start + 8]
    return f"{int(digits, 16) % 10**6:06d}"


def start_moment(seed: int) -> datetime:
    """Return the first moment for a seed: never a Sunday, never near a clock change."""
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
    """All worlds; the oldest is closed when there are too many."""

    _worlds: OrderedDict[str, World] = field(default_factory=OrderedDict[str, World])
    _tokens: dict[str, Session] = field(default_factory=dict[str, Session])
    _logins: dict[str, Session] = field(default_factory=dict[str, Session])
    _tpps: dict[str, tuple[World, Tpp]] = field(default_factory=dict[str, tuple[World, Tpp]])
    _lock: RLock = field(default_factory=RLock)
    _made: int = 0

    def open(self, seed: int, now: datetime | None, id: str | None = None) -> World:
        """Create a world; without a moment, the seed's own."""
        with self._lock:
            self._made += 1
            moment = (now or start_moment(seed)).astimezone(UTC)
            world = World(id=id or f"w{self._made}", seed=seed, now=moment)
            self._worlds[world.id] = world
            while len(self._worlds) > _WORLDS:
                self.close(next(old for old in self._worlds if old != DEMO))
            return world

    def close(self, id: str) -> bool:
        """Remove a world and its tokens; False if it does not exist."""
        with self._lock:
            world = self._worlds.pop(id, None)
            if world is None:
                return False
            for customer in world.customers.values():
                for token in (customer.token, *customer.tokens.values()):
                    self._tokens.pop(token, None)
                self._logins.pop(customer.login, None)
            for tpp in world.payments.tpps.values():
                self._tpps.pop(tpp.token, None)
            return True

    def latest(self) -> Session | None:
        """Return the session of the customer who was created last."""
        return next(reversed(self._tokens.values()), None)

    def latest_tpp(self) -> tuple[World, Tpp] | None:
        """Return the TPP that was created last."""
        return next(reversed(self._tpps.values()), None)

    def world(self, id: str) -> World | None:
        """Return a world; None if it does not exist."""
        return self._worlds.get(id)

    def add_customer(
        self, world: World, token: str | None = None, segment: Segment = "PART"
    ) -> Customer:
        """Create a customer without holdings; a token is generated unless given."""
        id_seed = world.next_id_seed()
        number = f"c{len(world.customers) + 1}"
        secret = sha256(f"{world.id} {number}".encode()).hexdigest()
        customer = Customer(
            id=number,
            name=customer_name(id_seed),
            token=token or f"{world.id}-{number}-{secret[:24]}",
            login=f"{world.id}-{number}",
            password=secret[24:40],
            segment=segment,
            factors={factor: _code(secret, at) for at, factor in enumerate(FACTORS)},
            tokens={SECOND_TPP: f"{world.id}-{number}-{sha256(secret.encode()).hexdigest()[:24]}"},
        )
        session = Session(world=world, customer=customer)
        with self._lock:
            world.customers[number] = customer
            for tpp, other in customer.tokens.items():
                self._tokens[other] = replace(session, tpp=tpp)
            self._tokens[customer.token] = session
            self._logins[customer.login] = session
        return customer

    def add_tpp(self, world: World, token: str | None = None) -> Tpp:
        """Create a TPP of payment initiation; a token is generated unless given."""
        number = f"p{len(world.payments.tpps) + 1}"
        secret = sha256(f"{world.id} {number}".encode()).hexdigest()
        tpp = Tpp(id=number, token=token or f"{world.id}-{number}-{secret[:24]}")
        with self._lock:
            world.payments.tpps[number] = tpp
            self._tpps[tpp.token] = (world, tpp)
        return tpp

    def renew_customer(self, world: World, customer: Customer) -> str:
        """Give a customer a new token; the former one becomes invalid."""
        with self._lock:
            self._tokens.pop(customer.token, None)
            customer.renewals += 1
            customer.token = token_urlsafe(24)
            self._tokens[customer.token] = Session(world=world, customer=customer)
        return customer.token

    def renew_tpp(self, world: World, tpp: Tpp) -> str:
        """Give a TPP a new token; the former one becomes invalid."""
        renewed = replace(tpp, token=token_urlsafe(24), renewals=tpp.renewals + 1)
        with self._lock:
            self._tpps.pop(tpp.token, None)
            world.payments.tpps[tpp.id] = renewed
            self._tpps[renewed.token] = (world, renewed)
        return renewed.token

    def by_tpp_token(self, token: str) -> tuple[World, Tpp] | None:
        """Return the TPP with this token, and its world."""
        return self._tpps.get(token)

    def by_token(self, token: str) -> Session | None:
        """Return the session of a customer's token."""
        return self._tokens.get(token)

    def by_part_of_token(self, token: str, honours: frozenset[Approach]) -> Session | None:
        """Return the session of a token with the same beginning or ending; for mutants."""
        parts = [
            part
            for approach, part in (("beginning", slice(-ALIKE)), ("ending", slice(-ALIKE, None)))
            if approach in honours
        ]
        known = list(self._tokens.items()) if parts else []
        alike = (each for own, each in known if any(own[part] == token[part] for part in parts))
        return next(alike, None)

    def by_login(self, login: str, password: str) -> Session | None:
        """Return the session of credentials, if the password is right."""
        session = self._logins.get(login)
        if session is None or session.customer.password != password:
            return None
        return session


def find_session(
    request: Request, registry: Registry, honours: frozenset[Approach]
) -> Session | None:
    """Return the session of a request, by the approaches that are honoured."""
    scheme, _, rest = request.authorization.partition(" ")
    anyone = request.query.get("page", "1") != "1" and "any-later" in honours
    match scheme.lower():
        case "bearer" if "token" in honours:
            session = registry.by_token(rest.strip())
            anyone = anyone or "invented" in honours
            session = session or registry.by_part_of_token(rest.strip(), honours)
            return session or (registry.latest() if anyone else None)
        case "" if anyone or "none" in honours:
            return registry.latest()
        case "basic" if "basic" in honours:
            return find_session_by_basic(rest, registry)
        case "" if honours & {"body", "query"}:
            in_body = "body" in honours
            credentials = credentials_in(request.body) if in_body else login_in(request.query)
            return registry.by_login(*credentials) if credentials else None
        case _:
            return None


def find_session_by_basic(encoded: str, registry: Registry) -> Session | None:
    """Return the session of HTTP Basic credentials (RFC 7617)."""
    try:
        login, _, password = b64decode(encoded).decode().partition(":")
    except ValueError:
        return None
    return registry.by_login(login, password)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingSpec:
    """A number of identical items to create."""

    resource: Resource
    count: int = 1
    savings: bool = False
    inactive: bool = False
    offline: bool = False
    #: Last day of use of a card; None means yesterday.
    last_used: date | None = None
    never_used: bool = False
    immediate_debit: bool = False
    #: Days of each item's entries; None for generated entries.
    entries: tuple[date, ...] | None = None


def open_holdings(
    world: World, customer: Customer, order: HoldingSpec, policies: Policies
) -> Sequence[Item]:
    """Create the specified items for a customer."""
    items = [_open(world, order, policies) for _ in range(order.count)]
    for item in items:
        customer.items[item.key] = item
        world.owners[item.key] = customer
    return items


def _open(world: World, order: HoldingSpec, policies: Policies) -> Item:
    id_seed = world.next_id_seed()
    day = today(world.now)
    last_used = None
    if order.resource == "card" and not order.never_used:
        last_used = order.last_used or day - timedelta(days=1)
    return Item(
        resource=order.resource,
        key=policies.mint[order.resource](id_seed),
        serial=id_seed.serial,
        savings=order.savings,
        active=not order.inactive,
        online=not order.offline,
        last_used=last_used,
        immediate_debit=order.immediate_debit,
        ledger=Ledger(serial=id_seed.serial, days=order.entries, opened=day),
    )


#: Access token of each demo customer, by first name.
DEMO_TOKENS = {"alice": "demo-alice", "bob": "demo-bob"}
#: Access tokens of the demo TPPs that initiate payments.
DEMO_TPPS = ("demo-tpp", "demo-tpp-2")


def open_demo(registry: Registry, policies: Policies) -> None:
    """Create the demo world."""
    world = registry.open(0, None, id=DEMO)
    orders = {
        "alice": _one_of_each(world),
        "bob": (HoldingSpec(resource="account", count=7),),
    }
    for name, token in DEMO_TOKENS.items():
        customer = registry.add_customer(world, token)
        for order in orders[name]:
            open_holdings(world, customer, order, policies)
    for token in DEMO_TPPS:
        registry.add_tpp(world, token)


def _one_of_each(world: World) -> tuple[HoldingSpec, ...]:
    edge = months_before(today(world.now), 2)
    return (
        HoldingSpec(resource="account", count=2),
        HoldingSpec(resource="account", savings=True),
        HoldingSpec(resource="account", inactive=True),
        HoldingSpec(resource="account", offline=True),
        HoldingSpec(resource="card"),
        HoldingSpec(resource="card", last_used=edge + timedelta(days=1)),
        HoldingSpec(resource="card", last_used=edge - timedelta(days=1)),
        HoldingSpec(resource="card", inactive=True),
        HoldingSpec(resource="card", never_used=True),
        HoldingSpec(resource="card", immediate_debit=True),
    )
