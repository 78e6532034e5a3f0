"""Nordval Bank: the test side of the sandbox."""

import secrets
from datetime import timedelta
from typing import Any

import models as m
from engine import Customer, Holding, RefusedError, Task, bank
from fastapi import APIRouter

router = APIRouter(prefix="/test", tags=["test side"])


def new_iban() -> str:
    """Make a valid Belgian IBAN of this bank."""
    first = f"539{bank.number():07d}"
    bban = f"{first}{int(first) % 97 or 97:02d}"
    return f"BE{98 - int(bban + '111400') % 97:02d}{bban}"


def new_holding(spec: m.NewAccount) -> Holding:
    """Make an account or a card with its transactions."""
    card = spec.kind == "card"
    holding = Holding(f"PAN-{secrets.token_hex(14)}" if card else new_iban(), spec)
    for n in range(spec.transaction_count):
        day = bank.today - timedelta(days=n * spec.every_n_days)
        minor = 3100 + n if n % 3 == 0 and not card else -(1500 + n)
        bank.add(holding, minor, day, f"Movement {n + 1}", 1 if minor > 0 else 0)
    if card and spec.last_used_days_ago is not None:
        holding.last_used = bank.today - timedelta(days=spec.last_used_days_ago)
    if not card:
        holding.opening = spec.balance_minor - bank.booked(holding)
    return holding


def customer_of(number: str) -> Customer:
    """Return a test customer."""
    if number not in bank.customers:
        raise RefusedError(404, "customer-unknown", "No such customer")
    return bank.customers[number]


@router.get("/clock")
async def get_clock() -> dict[str, str]:
    """Read the clock."""
    return {"now": f"{bank.now:%Y-%m-%dT%H:%M:%SZ}"}


@router.post("/clock/forward")
async def forward(body: m.Forward) -> dict[str, str]:
    """Move the clock forward; there is no way back."""
    bank.now += timedelta(seconds=body.seconds)
    bank.run()
    return await get_clock()


@router.post("/reset", status_code=204)
async def reset() -> None:
    """Forget customers, payments, links and tokens; the clock stays."""
    bank.wipe()


@router.post("/customers", status_code=201)
async def post_customer(body: m.NewCustomer) -> dict[str, Any]:
    """Create a customer with accounts and cards."""
    number = f"{70000 + bank.number()}"
    customer = Customer(number, body.name, body.password, body.segment)
    made = [new_holding(spec) for spec in body.accounts]
    customer.holdings = {holding.iban: holding for holding in made}
    bank.customers[number] = customer
    shown = [{"iban": h.iban, "kind": h.settings.kind} for h in made]
    return {"customerNumber": number, "password": body.password, "accounts": shown}


@router.post("/customers/{number}/known-payees", status_code=204)
async def post_payee(number: str, body: m.Payee) -> None:
    """Register a creditor IBAN as the customer does through direct access."""
    customer_of(number).payees.setdefault(body.iban, bank.now)


@router.post("/links", status_code=201)
async def post_link(body: m.TestLink) -> dict[str, str]:
    """Make an active link between a TPP and a customer, without the screen."""
    task = Task(f"lnk_{secrets.token_hex(8)}", body.client_id, "", bank.now, bank.now)
    bank.sign(task, customer_of(body.customer_number), "sms")
    bank.tasks[task.id] = task
    return {"linkId": task.id, "status": task.status}


@router.get("/sign/{ref}/code")
async def get_code(ref: str) -> dict[str, str]:
    """Read the one-time code that the open screen sent to the customer."""
    codes = [task.code for task in bank.tasks.values() if task.ref == ref and task.code]
    if not codes:
        raise RefusedError(404, "code-unknown", "No code was sent yet")
    return {"oneTimeCode": codes[0]}


@router.post("/payments/{payment_id}/cancel-by-customer", status_code=204)
async def cancel(payment_id: str) -> None:
    """Cancel a deferred payment as the customer does through direct access."""
    task = bank.tasks.get(payment_id)
    if task is None or not task.deferred or task.status != "scheduled":
        raise RefusedError(409, "not-cancellable", "Only a scheduled payment can be cancelled")
    task.end("cancelled", "cancelled_by_customer")
