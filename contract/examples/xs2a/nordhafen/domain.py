"""Values of the bank: customers with accounts, consents, payments, and the world around them."""

import random
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any


class RefusedError(Exception):
    """A call that is refused, with its status and the code of the error."""

    def __init__(self, status: int, code: str, text: str = "") -> None:
        super().__init__(status, code, text)
        self.status, self.code, self.text = status, code, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One transaction of an account; a pending one has no day yet."""

    id: str
    booked: date | None
    amount: str


@dataclass(slots=True, kw_only=True)
class Account:
    """One account of a customer."""

    resource_id: str
    iban: str
    entries: list[Entry]


@dataclass(slots=True, kw_only=True)
class Customer:
    """A customer, with what a person types on the screens."""

    id: str
    name: str
    login: str
    password: str
    codes: dict[str, str]
    accounts: list[Account] = field(default_factory=list)

    def owns(self, iban: str) -> bool:
        """Whether an account with this IBAN is the customer's."""
        return any(account.iban == iban for account in self.accounts)


@dataclass(slots=True, kw_only=True)
class Authorisation:
    """The way of one customer through the screens of one consent or payment."""

    redirect_uri: str | None
    session: str | None = None
    last_activity: datetime | None = None
    customer: Customer | None = None
    factor: str = ""
    failures: int = 0
    sca_status: str = "received"


@dataclass(slots=True, kw_only=True)
class Consent:
    """An account information consent."""

    id: str
    tpp: str
    content: dict[str, Any]
    valid_until: date
    authorisation: Authorisation
    status: str = "received"
    authorised_at: datetime | None = None
    deleted: bool = False

    @property
    def customer(self) -> Customer | None:
        """Who authorised it."""
        return self.authorisation.customer if self.authorised_at else None

    def names(self, iban: str, *kinds: str) -> bool:
        """Whether its access names an account, for one of these kinds of data."""
        access = self.content["access"]
        return any(
            reference.get("iban") == iban for kind in kinds for reference in access.get(kind) or ()
        )

    @property
    def recurring(self) -> bool:
        """Whether it is for more than one access."""
        return bool(self.content["recurringIndicator"])


@dataclass(slots=True, kw_only=True)
class Payment:
    """A payment, from its request to its execution."""

    id: str
    tpp: str
    product: str
    content: dict[str, Any]
    due: date | None
    authorisation: Authorisation
    status: str = "RCVD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: a TPP, and the customer whose token it uses, if it uses one."""

    tpp: str
    customer: Customer | None = None


@dataclass(slots=True, kw_only=True)
class World:
    """An isolated bank: its clock, its customers, and all that they asked for."""

    id: str
    now: datetime
    chance: random.Random
    customers: list[Customer] = field(default_factory=list)
    tpps: list[str] = field(default_factory=list)
    tokens: dict[str, Caller] = field(default_factory=dict)
    consents: dict[str, Consent] = field(default_factory=dict)
    payments: dict[str, Payment] = field(default_factory=dict)
    #: The payments made with an X-Request-ID: TPP and id, with the moment, the request, its answer.
    made: dict[tuple[str, str], tuple[datetime, Any, str]] = field(default_factory=dict)
    #: The accesses to accounts: whether the customer was present, consent, endpoint, account, day.
    calls: list[tuple[str, ...]] = field(default_factory=list)
    executions: list[dict[str, str]] = field(default_factory=list)
    serial: int = 0

    def number(self) -> int:
        """Return a number that this world did not use before."""
        self.serial += 1
        return self.serial

    def new_id(self) -> str:
        """Return an id that cannot be guessed."""
        return f"{self.chance.randrange(16**20):020x}{self.number():04x}"


def iban_of(number: int, *, valid: bool = True) -> str:
    """Return a German IBAN, with valid check digits or with wrong ones."""
    bban = f"37040044{number:010d}"
    check = 98 - int(f"{bban}131400") % 97
    check = check if valid else check % 96 + 2
    return f"DE{check:02d}{bban}"
