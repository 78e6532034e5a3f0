"""Sarrebank: the clock, customers, accounts and payment orders."""

import secrets
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import Any

MINUTE = 60_000
HOUR, IDLE, STAY, OPEN_LIFE = 60 * MINUTE, 4 * MINUTE, 30 * MINUTE, 24 * 60 * MINUTE
PAYEE_AGE, TEST_CENTS = 72 * HOUR, 66_600  # orders of 666.00 are sent back by the other bank
FACTORS = {"PART": ("SMS", "CAP", "TOKEN")}  # every other segment: SMS and CAP
IDENTICAL = ("debtor", "creditorAccount", "creditorName", "amount", "ccy", "speed", "text", "ref")


class Matter:
    """What a customer approves in the bank's app: a payment order or an access of a TPP."""

    def __init__(self, tpp: str, made: int, order: dict[str, Any] | None) -> None:
        """Open the matter."""
        self.id, self.key = secrets.token_hex(6), secrets.token_urlsafe(12)
        self.tpp, self.made, self.offered, self.order = tpp, made, made, order
        self.state, self.why = "OPEN", ""
        self.shown = self.last = self.approved = self.booked = 0
        self.mistakes, self.customer, self.token = 0, "", ""

    def close(self, state: str, why: str = "") -> None:
        """Give the matter another state."""
        self.state, self.why = state, why


class Book:
    """All data of the bank."""

    def __init__(self) -> None:
        """Start with the state after a wipe."""
        self.wipe()

    def wipe(self) -> None:
        """Forget everything; the clock is the machine's until it is set."""
        self.time = self.serial = 0
        self.persons: dict[str, dict[str, Any]] = {}
        self.matters: dict[str, Matter] = {}
        self.tokens: dict[str, tuple[str, str]] = {}
        self.calls: dict[tuple[str, str, str, date], int] = {}

    def now(self) -> int:
        """Return the bank's time in milliseconds."""
        return self.time or int(datetime.now(UTC).timestamp() * 1000)

    def day(self, moment: int = 0) -> date:
        """Return the UTC day of a moment, by default of now."""
        return datetime.fromtimestamp((moment or self.now()) / 1000, UTC).date()

    def number(self) -> int:
        """Return the next serial number."""
        self.serial += 1
        return self.serial

    def account(self, iban: Any) -> dict[str, Any]:
        """Find an account of the bank, or return an empty one."""
        every = [person["accounts"] for person in self.persons.values()]
        return next((some[iban] for some in every if iban in some), {})

    def listed(self, account: dict[str, Any]) -> bool:
        """Tell whether an account or card belongs to account information."""
        if account["type"] == "CARD":
            day = self.day()
            year, month = divmod(day.year * 12 + day.month - 3, 12)
            since = date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
            return account["active"] and (account["used"] or date.min) >= since
        return account["type"] == "CURRENT" and account["active"] and account["online"]

    def payable(self, account: dict[str, Any]) -> bool:
        """Tell whether payments can be made from an account."""
        usable = bool(account) and account["type"] == "CURRENT" and account["payable"]
        return usable and self.listed(account)

    def total(self, account: dict[str, Any], by: str = "day") -> int:
        """Return the balance of an account by booking day or by value day."""
        today = self.day()
        return account["opening"] + sum(e["cents"] for e in account["entries"] if e[by] <= today)

    def enter(self, account: dict[str, Any], cents: int, day: date, text: str) -> None:
        """Book an entry on an account or card."""
        entry = {"no": self.number(), "cents": cents, "day": day, "value": day, "text": text}
        account["entries"].append(entry)

    def balances(self, account: dict[str, Any]) -> dict[str, int]:
        """Return the balances of an account, or the outstandings of a card this month."""
        if account["type"] == "CARD":
            first = self.day().replace(day=1)
            return {"OTHR": sum(e["cents"] for e in account["entries"] if e["day"] >= first)}
        waiting = [m.order for m in self.matters.values() if m.state == "APPROVED" and m.order]
        mine = [o for o in waiting if o["debtor"] == account["iban"] and not o["executeOn"]]
        booked = self.total(account)
        held = sum(o["cents"] for o in mine)
        return {"CLBD": booked, "VALU": self.total(account, "value"), "OTHR": booked - held}

    def repeats(self, order: dict[str, Any], day: date) -> bool:
        """Tell whether an identical order was already executed on a day."""
        names = (*IDENTICAL, "chargeBearer", "categoryPurpose")
        done = [m for m in self.matters.values() if m.booked and m.order and m.order is not order]
        same = [m for m in done if all(m.order[n] == order[n] for n in names)]
        return any(self.day(m.booked) == day for m in same)

    def due(self, matter: Matter) -> int:
        """Return the run that executes an approved order."""
        wished = (matter.order or {}).get("executeOn")
        if wished:
            start = datetime.strptime(wished + "06+0000", "%Y%m%d%H%z")
            return int(start.timestamp() * 1000)
        return (matter.approved // HOUR + 1) * HOUR

    def execute(self, matter: Matter, moment: int) -> None:
        """Execute an approved order, or decline it."""
        order: dict[str, Any] = matter.order or {}
        source, target, day = (
            self.account(order["debtor"]),
            order["creditorAccount"],
            self.day(moment),
        )
        if self.repeats(order, day):
            return matter.close("DECLINED", "D40")
        if not self.payable(source):
            return matter.close("DECLINED", "D20")
        if self.total(source) < order["cents"]:
            return matter.close("DECLINED", "D50")
        if order["cents"] == TEST_CENTS:
            return matter.close("DECLINED", "D60")
        self.enter(source, -order["cents"], day, f"Order to {target}")
        if inside := self.account(target):
            self.enter(inside, order["cents"], day, f"Order from {source['iban']}")
        matter.booked = moment
        return matter.close("BOOKED")

    def run(self) -> None:
        """Close what customers left undecided and execute what is due."""
        now = self.now()
        for matter in [m for m in self.matters.values() if m.state == "OPEN"]:
            left = matter.shown and (now - matter.last >= IDLE or now - matter.shown >= STAY)
            if left or now - matter.offered >= OPEN_LIFE:
                matter.close("DECLINED", "D30")
        ready = [m for m in self.matters.values() if m.state == "APPROVED" and m.order]
        for matter in sorted(ready, key=self.due):
            if self.due(matter) <= now:
                self.execute(matter, self.due(matter))

    def approve(self, matter: Matter, person: dict[str, Any], factor: str, debtor: Any) -> None:
        """Take the approval of a customer."""
        matter.customer, matter.approved, order = person["number"], self.now(), matter.order
        if order is None:
            matter.token = f"ca-{secrets.token_urlsafe(18)}"
            self.tokens[matter.token] = (matter.tpp, person["number"])
            return matter.close("APPROVED")
        usable = [a["iban"] for a in person["accounts"].values() if self.payable(a)]
        order["debtor"] = order["debtor"] or debtor or next(iter(usable), None)
        known = person["payees"].get(order["creditorAccount"])
        settled = known is not None and self.now() - known > PAYEE_AGE
        if order["debtor"] not in usable:
            return matter.close("DECLINED", "D20")
        if order["categoryPurpose"] == "CASH" and factor != "TOKEN" and not settled:
            return matter.close("DECLINED", "D45")
        if self.repeats(order, self.day()) and not order["executeOn"]:
            return matter.close("DECLINED", "D40")
        return matter.close("APPROVED")


book = Book()


def new_iban(serial: int) -> str:
    """Make a valid German IBAN of this bank."""
    bban = f"59050999{serial:010d}"
    return f"DE{98 - int(bban + '131400') % 97:02d}{bban}"


def iban_ok(iban: str) -> bool:
    """Check the check digits of an IBAN."""
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


def new_account(spec: dict[str, Any]) -> dict[str, Any]:
    """Make an account or card of a test customer with its entries."""
    kind, today = spec.get("type", "CURRENT"), book.day()
    iban = f"pan:{secrets.token_urlsafe(21)}" if kind == "CARD" else new_iban(book.number())
    account = {"iban": iban, "type": kind, "title": spec.get("title", "Account"), "opening": 0}
    account |= {name: spec.get(name, True) for name in ("active", "online", "payable")}
    used = spec.get("lastUse", f"{today:%Y%m%d}")
    account["used"] = datetime.strptime(used, "%Y%m%d").replace(tzinfo=UTC).date() if used else None
    account["entries"] = []
    entries = spec.get("entries", {})
    count, oldest = entries.get("count", 0), entries.get("oldest", 30)
    for n in range(count):
        back = round(n * oldest / max(count - 1, 1))
        cents = 4200 + n if n % 4 == 0 and kind != "CARD" else -(1100 + n)
        book.enter(account, cents, today - timedelta(days=back), f"Posting {n + 1}")
        if cents > 0:
            account["entries"][-1]["value"] += timedelta(days=1)
    if kind != "CARD":
        account["opening"] = spec.get("cents", 500_000) - book.total(account)
    return account
