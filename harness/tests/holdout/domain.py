"""What the holdout bank keeps: worlds, customers, what they own, and their payments."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

PARIS = ZoneInfo("Europe/Paris")
PREFIX = "/openbank/v1"

# Kinds of payments, and where a payment stands.
NOW, LATER, INSTANT = "COMPTANT", "DIFFERE", "INSTANTANE"
OPEN, PLANNED, DONE, CLOSED = "EN_ATTENTE", "PROGRAMME", "EXECUTE", "CLOS"
REJECTED, DECLINED, EXPIRED, CANCELLED = "REJET", "REFUS", "EXPIRATION", "ANNULATION"

# How a customer can sign.
SMS, CAP, APP, MAIL = "OTP_SMS", "LECTEUR", "APPLI", "COURRIEL"


@dataclass
class Entry:
    """A transaction of an account, or a slip of a card."""

    key: str
    on: date
    cents: int


@dataclass
class Item:
    """An account or a delayed debit card."""

    ref: str
    key: str
    card: bool
    traits: dict[str, Any]
    entries: list[Entry] = field(default_factory=list)

    def is_(self, trait: str) -> bool:
        return self.traits.get(trait) is True

    @property
    def last_used(self) -> date | None:
        text = self.traits.get("last-used")
        return date.fromisoformat(text) if isinstance(text, str) else None


@dataclass
class Customer:
    """A customer of the bank."""

    id: str
    segment: str
    login: str
    secret: str
    name: str
    codes: dict[str, str]
    items: list[Item] = field(default_factory=list)
    known: dict[str, datetime] = field(default_factory=dict)

    def item(self, key: object) -> Item | None:
        return next((item for item in self.items if item.key == key), None)


@dataclass(frozen=True)
class Order:
    """What a payment request asks for, as it was sent."""

    kind: Any
    charge: Any
    purpose: Any
    creditor: Any
    debtor: Any
    amount: Any
    currency: Any
    date: Any
    success: Any

    def with_(self, **changes: Any) -> "Order":
        return replace(self, **changes)

    @property
    def day(self) -> date:
        return date.fromisoformat(str(self.date)[:10])


@dataclass
class Session:
    """A customer before the screens."""

    id: str
    started: datetime
    touched: datetime
    customer: Customer | None = None
    factor: str = ""
    failures: int = 0
    host: str = ""


@dataclass
class Payment:
    """A payment request."""

    id: str
    tpp: str
    order: Order
    made: datetime
    host: str
    state: str = OPEN
    cause: str | None = None
    customer: Customer | None = None
    factor: str = ""
    signed: datetime | None = None
    session: Session | None = None
    executed: date | None = None
    changes: int = 0
    first: Order | None = None


@dataclass(frozen=True)
class Movement:
    """Money that was moved."""

    payment: str
    on: date
    amount: str
    creditor: str
    debtor: str
    currency: str = "EUR"


@dataclass(frozen=True)
class Grant:
    """Whom a token stands for."""

    tpp: str
    customer: Customer | None
    until: datetime | None = None
    renewed: bool = False


@dataclass
class World:
    """One bank with its customers and its clock, apart from all others."""

    id: str
    seed: int
    moment: datetime
    customers: list[Customer] = field(default_factory=list)
    payments: dict[str, Payment] = field(default_factory=dict)
    movements: list[Movement] = field(default_factory=list)
    consents: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    accesses: Counter[Any] = field(default_factory=Counter)
    counts: Counter[Any] = field(default_factory=Counter)
    lacking: set[str] = field(default_factory=set)
    grants: dict[str, Grant] = field(default_factory=dict)
    clients: dict[str, str] = field(default_factory=dict)
    codes: dict[str, tuple[str, Customer, str]] = field(default_factory=dict)
    refreshes: dict[str, Grant] = field(default_factory=dict)
    chance: random.Random = field(default_factory=random.Random)
    serial: int = 0

    @property
    def now(self) -> datetime:
        """The time in Paris, with its offset as a fixed one: ages are counted in hours that passed."""
        local = self.moment.astimezone(PARIS)
        return local.replace(tzinfo=timezone(local.utcoffset()))

    @property
    def today(self) -> date:
        return self.now.date()

    def number(self) -> int:
        self.serial += 1
        return self.serial

    def customer(self, id: str) -> Customer | None:
        return next((one for one in self.customers if one.id == id), None)

    def owner(self, key: object) -> Customer | None:
        return next((one for one in self.customers if one.item(key)), None)

    def token(self, grant: Grant) -> str:
        token = f"jeton.{self.id}.{self.number()}.{self.chance.randrange(16**12):012x}"
        self.grants[token] = grant
        return token


@dataclass
class Call:
    """One call of the interface, as far as decisions depend on it."""

    world: World
    operation: str
    method: str
    host: str
    route: str
    tpp: str = ""
    customer: Customer | None = None
    absent: bool = False
    renewed: bool = False
    basic: bool = False
    args: Mapping[str, str] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def base(self) -> str:
        return f"http://{self.host}{PREFIX}"

    @property
    def consent(self) -> tuple[str, ...] | None:
        return self.world.consents.get((self.customer.id if self.customer else "", self.tpp))

    def said(self, pointer: str) -> Any:
        """What the body says at this pointer."""
        found = self.body
        for step in pointer.split("/")[1:]:
            found = found.get(step) if isinstance(found, dict) else None
        return found


class RefusedError(Exception):
    """The call is refused: a status, and the bank's word for the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def months_before(day: date, months: int) -> date:
    """The same day so many months earlier, or the last one of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    for last in (day.day, 30, 29, 28):
        try:
            return date(year, month + 1, min(day.day, last))
        except ValueError:
            continue
    raise AssertionError(day)


def days_before(day: date, days: int) -> date:
    return day - timedelta(days=days)


def iban(bank: str, number: int) -> str:
    """A French IBAN of this bank."""
    bban = f"{bank}00410{number:011d}"
    rib = 97 - (89 * int(bank) + 15 * 410 + 3 * number) % 97
    bban += f"{rib:02d}"
    return f"FR{98 - int(bban + '152700') % 97:02d}{bban}"


def iban_holds(text: object) -> bool:
    """Whether this is an IBAN with its check digits."""
    if not isinstance(text, str) or not text.isascii() or not text.isalnum():
        return False
    if not 15 <= len(text) <= 34 or not text[2:4].isdigit():
        return False
    try:
        return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1
    except ValueError:
        return False
