"""Banque du Littoral: accounts, payments and the rules of the bank, without any HTTP."""

import calendar
import secrets
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

PARIS = ZoneInfo("Europe/Paris")
FACTORS = {"PART": ("SMS", "CAP", "SOFT")}  # every other segment: SMS and CAP
URLS = ("successfulReportUrl", "unsuccessfulReportUrl")


@dataclass
class Item:
    """A payment request, or a request for account access, that a customer decides on."""

    id: str
    tpp: str
    body: dict[str, Any]
    made: datetime
    facts: dict[str, Any]
    screen: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: str = "ACTC"
    reason: str | None = None
    changed: datetime | None = None
    opened: datetime | None = None
    last: datetime | None = None
    login: str | None = None
    failures: int = 0
    signed: datetime | None = None
    executed: datetime | None = None


class Bank:
    """Everything the bank remembers."""

    def __init__(self) -> None:
        """Start with the state after a reset."""
        self.reset()

    def reset(self) -> None:
        """Start empty, on the machine's time until the clock is set."""
        self.clock: datetime | None = None
        self.serial = 0
        self.customers: dict[str, dict[str, Any]] = {}
        self.items: dict[str, Item] = {}
        self.tokens: dict[str, tuple[str, str, str | None, datetime]] = {}
        self.codes: dict[str, Item] = {}
        self.accesses: dict[tuple[str, str, str, date], int] = {}


bank = Bank()


def now() -> datetime:
    """Return the bank's time."""
    return bank.clock or datetime.now(UTC)


def day_of(moment: datetime | None = None) -> date:
    """Return the Paris calendar day of a moment, by default of now."""
    return (moment or now()).astimezone(PARIS).date()


def stamp(moment: datetime | None) -> str | None:
    """Write a moment in Paris time with its offset."""
    return moment.astimezone(PARIS).isoformat(timespec="seconds") if moment else None


def money(cents: int) -> dict[str, str]:
    """Write an amount as value and currency."""
    sign = "-" if cents < 0 else ""
    return {"value": f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}", "currency": "EUR"}


def cents_of(text: str) -> int:
    """Read a decimal amount text."""
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0"))


def iban_ok(iban: str) -> bool:
    """Check the check digits of an IBAN."""
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


def listed(account: dict[str, Any]) -> bool:
    """Tell whether an account or card is in the scope of account information."""
    if account["type"] == "CARD":
        day = day_of()
        year, month = divmod(day.year * 12 + day.month - 3, 12)
        limit = date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
        return account["active"] and bool(account["lastUsed"]) and account["lastUsed"] >= limit
    return account["type"] == "CACC" and account["active"] and account["online"]


def find(iban: str | None) -> dict[str, Any]:
    """Return an account of this bank, or an empty one."""
    every = [c["accounts"] for c in bank.customers.values()]
    return next((accounts[iban] for accounts in every if iban in accounts), {})


def may_pay(account: dict[str, Any]) -> bool:
    """Tell whether payments can be made from an account."""
    return bool(account) and account["type"] == "CACC" and listed(account) and account["payable"]


def balance(account: dict[str, Any], by: str = "booked") -> int:
    """Return the accounting balance, or the value date balance."""
    return account["opening"] + sum(e["cents"] for e in account["entries"] if e[by] <= day_of())


def book(account: dict[str, Any], cents: int, day: date, label: str, valued: date) -> None:
    """Book an entry on an account of this bank."""
    bank.serial += 1
    entry = {"reference": f"E{bank.serial:08d}", "cents": cents, "label": label}
    account["entries"].append(entry | {"booked": day, "valued": valued})


def is_twin(item: Item, day: date) -> bool:
    """Tell whether an identical payment was already executed on a day."""
    skipped = (*URLS, "requestedExecutionDate")
    mine = {name: value for name, value in item.facts.items() if name not in skipped}
    done = [p for p in bank.items.values() if p.executed and p is not item]
    return any(day_of(p.executed) == day and mine.items() <= p.facts.items() for p in done)


def due(item: Item) -> datetime:
    """Return when a signed payment is to be executed."""
    if item.facts["requestedExecutionDate"]:
        return datetime.combine(item.facts["requestedExecutionDate"], time(6), PARIS)
    return (item.signed or now()) + timedelta(minutes=0 if item.facts["localInstrument"] else 30)


def execute(item: Item, moment: datetime) -> None:
    """Execute a signed payment, or reject it."""
    facts, account, day = item.facts, find(item.facts["debtor"]), day_of(moment)
    if is_twin(item, day):
        item.reason = "AM05"
    elif not may_pay(account):
        item.reason = "AG01"
    elif balance(account) < facts["value"]:
        item.reason = "AM04"
    elif facts["remittanceInformation"] == "TEST AC04":
        item.reason = "AC04"
    else:
        item.executed = moment
        book(account, -facts["value"], day, f"Transfer to {facts['creditor']}", day)
        if receiver := find(facts["creditor"]):
            book(receiver, facts["value"], day, f"Transfer from {facts['debtor']}", day)
    item.state = "ACSC" if item.executed else "RJCT"


def sign(item: Item, customer: dict[str, Any], factor: str) -> None:
    """Take the signature of a customer for a payment, or reject the payment."""
    item.state, item.signed = "ACSP", now()
    known = customer["registered"].get(item.facts["creditor"])
    registered = known is not None and now() - known > timedelta(hours=72)
    barred = item.facts["categoryPurpose"] == "CASH" and factor != "SOFT" and not registered
    if barred or not may_pay(customer["accounts"].get(item.facts["debtor"], {})):
        item.state, item.reason = "RJCT", "AG01"
    elif is_twin(item, item.facts["requestedExecutionDate"] or day_of()):
        item.state, item.reason = "RJCT", "AM05"
    settle()


def settle() -> None:
    """Do the work that fell due: customers who left, payments to execute."""
    for item in [i for i in bank.items.values() if i.state == "ACTC"]:
        idle, stay = now() - (item.last or now()), now() - (item.opened or now())
        old = now() - (item.changed or item.made) >= timedelta(hours=24)
        if idle >= timedelta(minutes=4) or stay >= timedelta(minutes=30) or old:
            item.state, item.reason = "RJCT", "NOAS"
    for item in sorted([i for i in bank.items.values() if i.state == "ACSP"], key=due):
        if due(item) <= now():
            execute(item, due(item))
