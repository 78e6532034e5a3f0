"""Nordval Bank: customers, payments and the clock of the sandbox."""

import secrets
from calendar import monthrange
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from models import NewAccount, PaymentRequest

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
LINK_LIFE, IDLE, STAY = timedelta(minutes=60), timedelta(minutes=4), timedelta(minutes=30)
KNOWN_PAYEE_AGE, BATCH_LIMIT, MAX_FAILURES = timedelta(hours=72), 4, 3
DEVICES = {"PART": {"sms", "cap_reader", "soft_token"}}


class RefusedError(Exception):
    """A request that the bank refuses."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        """Keep what the answer says."""
        self.status, self.code, self.detail = status, code, detail


@dataclass
class Move:
    """A transaction of an account or a slip of a card."""

    id: str
    minor: int
    booked: date
    valued: date
    text: str


@dataclass
class Holding:
    """An account or a card of a customer."""

    iban: str
    settings: NewAccount
    opening: int = 0
    last_used: date | None = None
    moves: list[Move] = field(default_factory=list)


@dataclass
class Customer:
    """A customer of the bank."""

    number: str
    name: str
    password: str
    segment: str
    holdings: dict[str, Holding] = field(default_factory=dict)
    payees: dict[str, datetime] = field(default_factory=dict)


@dataclass
class Task:
    """Something a customer decides on a screen: a payment, or a link with a TPP."""

    id: str
    client: str
    back: str
    created: datetime
    offered: datetime
    ref: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    request: Any = None  # a PaymentRequest, or None for a link
    status: str = "awaiting_authorisation"
    reason: str | None = None
    opened: datetime | None = None
    last: datetime | None = None
    code: str = ""
    failures: int = 0
    customer: Any = None  # the Customer once decided
    signed: datetime | None = None
    executed: datetime | None = None
    consent: dict[str, list[str]] = field(default_factory=dict)
    share_identity: bool = False

    @property
    def deferred(self) -> bool:
        """Tell whether this is a deferred payment."""
        return self.request is not None and self.request.execution_date is not None

    def end(self, status: str, reason: str | None = None) -> None:
        """Give the task its last status."""
        self.status, self.reason = status, reason


class Engine:
    """The state of the bank and its rules."""

    def __init__(self) -> None:
        """Start the clock at the fixed first moment of the sandbox."""
        self.now, self.serial = START, 0
        self.wipe()

    def wipe(self) -> None:
        """Forget everything except the clock."""
        self.customers: dict[str, Customer] = {}
        self.tasks: dict[str, Task] = {}
        self.tokens: dict[str, tuple[str, list[str], datetime]] = {}
        self.pages: dict[str, tuple[str, str, int, datetime]] = {}
        self.batch: dict[tuple[str, str, str, date], int] = {}

    @property
    def today(self) -> date:
        """Return the bank's calendar day (UTC)."""
        return self.now.date()

    def forward(self, seconds: int) -> None:
        """Move the clock forward and do what falls due on the way."""
        self.now += timedelta(seconds=seconds)
        self.run()

    def number(self) -> int:
        """Return the next serial number."""
        self.serial += 1
        return self.serial

    def add(self, holding: Holding, minor: int, day: date, text: str, delay: int = 0) -> None:
        """Book a move on an account or card."""
        move_id = f"tx_{self.number():06d}"
        holding.moves.append(Move(move_id, minor, day, day + timedelta(days=delay), text))

    def visible(self, holding: Holding) -> bool:
        """Tell whether an account or card belongs to account information."""
        settings = holding.settings
        if settings.kind == "card":
            months = self.today.year * 12 + self.today.month - 3
            year, month = months // 12, months % 12 + 1
            since = date(year, month, min(self.today.day, monthrange(year, month)[1]))
            return settings.active and holding.last_used is not None and holding.last_used >= since
        return settings.kind == "current" and settings.active and settings.online

    def payable(self, holding: Holding | None) -> bool:
        """Tell whether payments can be made from an account."""
        current = holding is not None and holding.settings.kind == "current"
        return current and self.visible(holding) and holding.settings.payments_allowed

    def holding(self, iban: str | None) -> Holding | None:
        """Find an account of this bank."""
        every = (customer.holdings for customer in self.customers.values())
        return next((some[iban] for some in every if iban in some), None)

    def booked(self, holding: Holding) -> int:
        """Return the accounting balance of an account."""
        return holding.opening + sum(m.minor for m in holding.moves if m.booked <= self.today)

    def balances(self, holding: Holding) -> dict[str, int]:
        """Return the balances of an account, or the outstandings of a card this month."""
        if holding.settings.kind == "card":
            month = self.today.replace(day=1)
            return {"OTHR": sum(m.minor for m in holding.moves if m.booked >= month)}
        waiting = [t.request for t in self.tasks.values() if t.status == "processing"]
        held = sum(r.amount_minor for r in waiting if r.debtor_iban == holding.iban)
        valued = holding.opening + sum(m.minor for m in holding.moves if m.valued <= self.today)
        booked = self.booked(holding)
        return {"CLBD": booked, "VALU": valued, "OTHR": booked - held}

    def repeats(self, request: PaymentRequest, day: date) -> bool:
        """Tell whether an identical payment was already executed on that day."""
        other = {"execution_date", "successful_report_url", "unsuccessful_report_url"}
        mine = request.model_dump(exclude=other)
        done = [t for t in self.tasks.values() if t.request and t.executed]
        same = [t for t in done if t.request.model_dump(exclude=other) == mine]
        return any(t.executed and t.executed.date() == day for t in same)

    def due(self, task: Task) -> datetime:
        """Return when a signed payment is executed."""
        if task.request.execution_date:
            return datetime.combine(task.request.execution_date, time(5), UTC)
        wait = 0 if task.request.transfer_type == "SCT_INST" else 15
        return (task.signed or self.now) + timedelta(minutes=wait)

    def execute(self, task: Task, moment: datetime) -> None:
        """Execute a signed payment, or reject it."""
        request: PaymentRequest = task.request
        source, creditor = self.holding(request.debtor_iban), request.creditor_account
        if self.repeats(request, moment.date()):
            return task.end("rejected", "identical_payment")
        if source is None or not self.payable(source):
            return task.end("rejected", "debtor_account_not_eligible")
        if self.booked(source) < request.amount_minor:
            return task.end("rejected", "insufficient_funds")
        if creditor.holder == "CLOSED ACCOUNT":
            return task.end("rejected", "creditor_account_closed")
        self.add(source, -request.amount_minor, moment.date(), f"Payment to {creditor.iban}")
        if target := self.holding(creditor.iban):
            self.add(target, request.amount_minor, moment.date(), f"Payment from {source.iban}")
        task.executed = moment
        return task.end("executed")

    def run(self) -> None:
        """Expire what was not signed in time and execute what is due."""
        for task in self.tasks.values():
            if task.status == "awaiting_authorisation" and self.now - task.offered >= LINK_LIFE:
                task.end("expired", "not_signed_in_time")
        signed = [t for t in self.tasks.values() if t.status in ("scheduled", "processing")]
        for task in sorted(signed, key=self.due):
            if self.due(task) <= self.now:
                self.execute(task, self.due(task))

    def sign(self, task: Task, customer: Customer, device: str) -> None:
        """Take the customer's signature: open the link, or schedule or reject the payment."""
        task.customer, task.signed, request = customer, self.now, task.request
        if request is None:
            return task.end("active")
        if request.debtor_iban is None:
            usable = [h.iban for h in customer.holdings.values() if self.payable(h)]
            request.debtor_iban = usable[0] if usable else None
        if not self.payable(customer.holdings.get(request.debtor_iban or "")):
            return task.end("rejected", "debtor_account_not_eligible")
        known = customer.payees.get(request.creditor_account.iban)
        old = known is not None and self.now - known > KNOWN_PAYEE_AGE
        if request.category_purpose == "CASH" and device != "soft_token" and not old:
            return task.end("rejected", "cash_rule")
        if self.repeats(request, request.execution_date or self.today):
            return task.end("rejected", "identical_payment")
        task.end("scheduled" if task.deferred else "processing")
        return self.run()


bank = Engine()
