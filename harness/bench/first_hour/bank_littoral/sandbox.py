"""Banque du Littoral: the test side of the sandbox."""

import secrets
from datetime import date, datetime, timedelta
from typing import Any

import rules
from flask import Blueprint, Response, abort, jsonify, request
from rules import bank, day_of, now, stamp

tests = Blueprint("sandbox", __name__)


def new_iban() -> str:
    """Make a valid French IBAN of this bank."""
    bank.serial += 1
    key = 97 - (89 * 18315 + 15 * 10000 + 3 * bank.serial) % 97
    bban = f"1831510000{bank.serial:011d}{key:02d}"
    return f"FR{98 - int(bban + '152700') % 97:02d}{bban}"


def new_account(spec: dict[str, Any], card: bool) -> dict[str, Any]:
    """Make an account or a card with its entries."""
    account: dict[str, Any] = {
        "iban": f"ENC{secrets.token_hex(16).upper()}" if card else new_iban()
    }
    account |= {"type": "CARD" if card else spec.get("type", "CACC"), "opening": 0, "entries": []}
    account["name"] = spec.get("name", "Delayed debit card" if card else "Current account")
    for flag in ("active", "online", "payable"):
        account[flag] = bool(spec.get(flag, True))
    last = spec.get("lastUsed", str(day_of()))
    account["lastUsed"] = date.fromisoformat(last) if card and last else None
    for n in range(int(spec.get("entries", 0))):
        day = day_of() - timedelta(days=n * int(spec.get("spacingDays", 1)))
        credit = n % 2 == 0 and not card
        label = f"Card slip {n + 1}" if card else f"Entry {n + 1}"
        cents = 2500 + n if credit else -(2000 + n)
        rules.book(account, cents, day, label, day + timedelta(days=1) if credit else day)
    if not card:
        account["opening"] = rules.cents_of(spec.get("balance", "5000.00")) - rules.balance(account)
    return account


@tests.delete("/state")
def reset() -> tuple[str, int]:
    """Forget everything; the clock follows the machine again."""
    bank.reset()
    return "", 204


@tests.get("/clock")
@tests.put("/clock")
def clock() -> Response:
    """Show the clock, or set it to a given time, at which it then stands still."""
    if request.method == "PUT":
        bank.clock = datetime.fromisoformat(request.get_json()["now"])
        if bank.clock.tzinfo is None:
            bank.clock = bank.clock.replace(tzinfo=rules.PARIS)
        rules.settle()
    return jsonify(now=stamp(now()))


@tests.post("/clock/advance")
def advance() -> Response:
    """Advance the clock by days, hours, minutes and seconds."""
    bank.clock = now() + timedelta(**request.get_json())
    rules.settle()
    return jsonify(now=stamp(now()))


@tests.post("/customers")
def post_customer() -> tuple[Response, int]:
    """Create a customer with accounts and cards."""
    spec = request.get_json()
    number = spec.get("number") or f"C{len(bank.customers) + 1:05d}"
    customer = {"number": number, "name": spec.get("name", "CLAIRE MOREAU"), "consents": {}}
    customer |= {"password": spec.get("password", "sesame"), "registered": {}}
    customer["segment"] = spec.get("segment", "PART")
    made = [new_account(one, False) for one in spec.get("accounts", [{}])]
    made += [new_account(one, True) for one in spec.get("cards", [])]
    customer["accounts"] = {account["iban"]: account for account in made}
    bank.customers[number] = customer
    shown = [{"iban": a["iban"], "type": a["type"], "name": a["name"]} for a in made]
    return jsonify(number=number, password=customer["password"], accounts=shown), 201


@tests.post("/customers/<number>/creditors")
def post_creditor(number: str) -> tuple[str, int]:
    """Register a creditor IBAN as the customer does through direct access."""
    spec = request.get_json()
    if number not in bank.customers:
        abort(404)
    moment = datetime.fromisoformat(spec["registeredAt"]) if "registeredAt" in spec else now()
    bank.customers[number]["registered"][spec["iban"]] = moment
    return "", 204


@tests.post("/tokens")
def post_token() -> Response:
    """Give an account information token for a customer without the screens."""
    spec, token = request.get_json(), secrets.token_urlsafe(24)
    if spec["customer"] not in bank.customers:
        abort(404)
    tpp = spec.get("client", "tpp-one")
    bank.tokens[token] = (tpp, "aisp", spec["customer"], now() + timedelta(days=90))
    answer = {"access_token": token, "token_type": "Bearer", "scope": "aisp"}
    return jsonify(answer | {"expires_in": 90 * 86400})


@tests.post("/payment-requests/<payment_id>/direct-access-cancellation")
def cancel(payment_id: str) -> tuple[str, int]:
    """Cancel a deferred payment as the customer does through direct access."""
    item = bank.items.get(payment_id)
    if item is None or item.state != "ACSP" or not item.facts["requestedExecutionDate"]:
        abort(409)
    item.state, item.reason = "CANC", "CUST"
    return "", 204
