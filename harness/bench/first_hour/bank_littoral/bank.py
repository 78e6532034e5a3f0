"""Banque du Littoral: account information and payment initiation gateway (sandbox)."""

import re
import secrets
import sys
from datetime import date, timedelta
from typing import Any, NoReturn
from urllib.parse import urlencode

import rules
import sandbox
import screens
from flask import Flask, Response, abort, jsonify, make_response, request
from rules import Item, bank, day_of, money, now, stamp
from werkzeug.exceptions import HTTPException

BASE = "/open/v1.0"
CLIENTS = {"tpp-one": "secret-one", "tpp-two": "secret-two"}
BATCH_LIMIT, MAX_SIZE, HISTORY_DAYS, MAX_DAYS_AHEAD = 4, 100, 90, 365
CREDENTIALS = {"password", "otp", "psuCredentials", "psuAuthenticationFactor"}
URL, IBAN = r"https?://\S+", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}"
MANDATORY = {
    "chargeBearer": "SLEV",
    "paymentTypeInformation.categoryPurpose": "[A-Z]{4}",
    "creditorAccount.iban": IBAN,
    "supplementaryData.successfulReportUrl": URL,
    "creditTransferTransaction.0.instructedAmount.currency": "EUR",
    "creditTransferTransaction.0.instructedAmount.value": r"\d{1,9}(\.\d{1,2})?",
}
OPTIONAL = {
    "paymentTypeInformation.localInstrument": "INST",
    "requestedExecutionDate": r"\d{4}-[01]\d-[0-3]\d",
    "debtorAccount.iban": IBAN,
    "supplementaryData.unsuccessfulReportUrl": URL,
    "creditTransferTransaction.0.remittanceInformation": ".{0,140}",
    "creditTransferTransaction.0.endToEndId": ".{0,35}",
    "creditor.name": ".{0,70}",
}

app = Flask(__name__)
app.register_blueprint(screens.pages)
app.register_blueprint(sandbox.tests, url_prefix="/sandbox")
app.before_request(rules.settle)


def refuse(status: int, error: str, message: str) -> NoReturn:
    """Refuse a request of a TPP."""
    body = {"timestamp": stamp(now()), "status": status, "error": error, "message": message}
    abort(make_response(jsonify(body | {"path": request.path}), status))


@app.errorhandler(HTTPException)
def other_error(error: HTTPException) -> Response:
    """Answer an unknown path or method in the error format of the bank."""
    if error.response is not None:
        return make_response(error.response)
    name = error.name.upper().replace(" ", "_")
    body = {"timestamp": stamp(now()), "status": error.code, "error": name}
    answer = body | {"message": error.description, "path": request.path}
    return make_response(jsonify(answer), error.code)


@app.post("/oauth/token")
def post_token() -> tuple[Response, int]:
    """Give an access token for client credentials or for an authorisation code."""
    form, header = request.form, request.authorization
    tpp = (header.username if header else form.get("client_id")) or ""
    secret = header.password if header else form.get("client_secret")
    if tpp not in CLIENTS or CLIENTS[tpp] != secret:
        return jsonify(error="invalid_client"), 401
    scope, customer, life = "pisp", None, timedelta(hours=1)
    if form.get("grant_type") == "authorization_code":
        access = bank.codes.pop(form.get("code", ""), None)
        good = access is not None and access.tpp == tpp and access.signed is not None
        if not good or access.body["redirect_uri"] != form.get("redirect_uri"):
            return jsonify(error="invalid_grant"), 400
        if now() - access.signed > timedelta(minutes=10):
            return jsonify(error="invalid_grant"), 400
        scope, customer, life = "aisp", access.login, timedelta(days=90)
    elif form.get("grant_type") != "client_credentials":
        return jsonify(error="unsupported_grant_type"), 400
    elif form.get("scope", "pisp") != "pisp":
        return jsonify(error="invalid_scope"), 400
    token = secrets.token_urlsafe(24)
    bank.tokens[token] = (tpp, scope, customer, now() + life)
    answer = {"access_token": token, "token_type": "Bearer", "scope": scope}
    return jsonify(answer | {"expires_in": int(life.total_seconds())}), 200


def read_json() -> dict[str, Any]:
    """Return the JSON object of a request."""
    body = request.get_json(silent=True)
    return body if isinstance(body, dict) else refuse(400, "FORMAT_ERROR", "JSON object expected")


def caller(scope: str) -> tuple[str, dict[str, Any]]:
    """Check the bearer token and return the TPP and the customer."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    known = bank.tokens.get(token) if kind.lower() == "bearer" else None
    if known is None or known[3] <= now():
        refuse(401, "INVALID_TOKEN", "The access token is missing, unknown or expired")
    if known[1] != scope:
        refuse(403, "INSUFFICIENT_SCOPE", f"This method needs a token of scope {scope}")
    return known[0], bank.customers.get(known[2] or "", {})


def count(tpp: str, customer: dict[str, Any], method: str) -> None:
    """Count an access made without the customer and refuse the fifth of the day."""
    key = (tpp, customer["number"], method, day_of())
    if not request.headers.get("PSU-IP-Address"):
        if bank.accesses.get(key, 0) >= BATCH_LIMIT:
            refuse(429, "ACCESS_EXCEEDED", "4 accesses a day without the customer are allowed")
        bank.accesses[key] = bank.accesses.get(key, 0) + 1


def page_of(rows: list[Any], default: int) -> tuple[list[Any], dict[str, Any]]:
    """Cut a page out of a list and make its links."""
    texts = request.args.get("page", "1"), request.args.get("size", str(default))
    if not all(re.fullmatch(r"[1-9]\d{0,5}", text) for text in texts) or int(texts[1]) > MAX_SIZE:
        refuse(400, "FORMAT_ERROR", "page and size are positive integers, size 100 at most")
    number, size = int(texts[0]), int(texts[1])
    links = {"self": number} | ({"next": number + 1} if number * size < len(rows) else {})
    args = request.args.to_dict() | {"size": str(size)}
    made = {rel: link(request.path, args | {"page": str(n)}) for rel, n in links.items()}
    return rows[(number - 1) * size : number * size], made


def link(path: str, args: dict[str, str] | None = None) -> dict[str, str]:
    """Make a link relative to the host."""
    return {"href": path + ("?" + urlencode(args) if args else "")}


def consented(use: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the account named by the iban parameter when consent was given for its use."""
    tpp, customer = caller("aisp")
    account = customer["accounts"].get(request.args.get("iban", ""))
    if account is None or not rules.listed(account):
        refuse(404, "ACCOUNT_NOT_FOUND", "The parameter iban names no available account")
    if account["iban"] not in customer["consents"].get(tpp, {}).get(use, []):
        refuse(403, "NO_CONSENT", f"No consent was given for the {use} of this account")
    return tpp, customer, account


@app.get(BASE + "/accounts")
def get_accounts() -> Response:
    """List the accounts and delayed debit cards, or the consented ones."""
    tpp, customer = caller("aisp")
    consent = customer["consents"].get(tpp, {})
    uses = {use: consent.get(use, []) for use in ("balances", "transactions")}
    rows = [a for a in customer["accounts"].values() if rules.listed(a)]
    rows = [a for a in rows if not consent or any(a["iban"] in ibans for ibans in uses.values())]
    cut, links = page_of(rows, 5)
    count(tpp, customer, "accounts")
    items = []
    for account in cut:
        iban, item = account["iban"], {"cashAccountType": account["type"], "name": account["name"]}
        item["accountId"] = {"iban": iban, "currency": "EUR"}
        item["usage"] = "PRIV" if customer["segment"] == "PART" else "ORGA"
        open_uses = [use for use, ibans in uses.items() if iban in ibans]
        item["_links"] = {u: link(f"{BASE}/accounts/{u}", {"iban": iban}) for u in open_uses}
        items.append(item)
    named = {"psuIdentity": customer["name"]} if consent.get("psuIdentity") else {}
    return jsonify(accounts=items, _links=links, **named)


@app.put(BASE + "/consents")
def put_consents() -> tuple[str, int]:
    """Keep the customer's consent for a set of accounts."""
    tpp, customer = caller("aisp")
    body, consent = read_json(), {}
    for use in ("balances", "transactions"):
        rows = body.get(use, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            refuse(400, "FORMAT_ERROR", f"{use} must be a list of objects with an iban")
        consent[use] = [str(row.get("iban")) for row in rows]
        for iban in consent[use]:
            if iban not in customer["accounts"] or not rules.listed(customer["accounts"][iban]):
                refuse(400, "UNKNOWN_ACCOUNT", f"{iban} is not an available account")
    count(tpp, customer, "consents")
    customer["consents"].pop(tpp, None)
    if consent["balances"] or consent["transactions"]:
        customer["consents"][tpp] = consent | {"psuIdentity": body.get("psuIdentity") is True}
    return "", 204


@app.get(BASE + "/accounts/balances")
def get_balances() -> Response:
    """Report the balances of an account or the outstandings of a card."""
    tpp, customer, account = consented("balances")
    count(tpp, customer, "balances")
    if account["type"] == "CARD":
        month = day_of().replace(day=1)
        rows = {"OTHR": sum(e["cents"] for e in account["entries"] if e["booked"] >= month)}
    else:
        held = [i.facts for i in bank.items.values() if i.state == "ACSP"]
        held = [
            f for f in held if f["debtor"] == account["iban"] and not f["requestedExecutionDate"]
        ]
        rows = {"CLBD": rules.balance(account), "VALU": rules.balance(account, "valued")}
        rows["OTHR"] = rows["CLBD"] - sum(f["value"] for f in held)
    day = {"referenceDate": str(day_of())}
    items = [day | {"balanceType": t, "balanceAmount": money(c)} for t, c in rows.items()]
    return jsonify(accountId={"iban": account["iban"]}, balances=items)


@app.get(BASE + "/accounts/transactions")
def get_transactions() -> Response:
    """List the transactions of an account or the slips of a card, up to 90 days back."""
    tpp, customer, account = consented("transactions")
    rows = [e for e in account["entries"] if 0 <= (day_of() - e["booked"]).days <= HISTORY_DAYS]
    rows.sort(key=lambda e: (e["booked"], e["reference"]), reverse=True)
    cut, links = page_of(rows, 15)
    count(tpp, customer, "transactions")
    items = []
    for entry in cut:
        item = {"entryReference": entry["reference"], "remittanceInformation": entry["label"]}
        item["creditDebitIndicator"] = "CRDT" if entry["cents"] > 0 else "DBIT"
        item |= {"bookingDate": str(entry["booked"]), "valueDate": str(entry["valued"])}
        items.append(item | {"transactionAmount": money(abs(entry["cents"]))})
    return jsonify(accountId={"iban": account["iban"]}, transactions=items, _links=links)


@app.get(BASE + "/trustedBeneficiaries")
@app.get(BASE + "/endUserIdentity")
@app.post(BASE + "/payment-requests/<payment_id>/confirmation")
def not_available(payment_id: str = "") -> NoReturn:
    """Refuse the methods that this bank does not offer."""
    refuse(501, "NOT_AVAILABLE", "This method is not available at this bank")


def look(body: Any, path: str) -> Any:
    """Return the member of a request body at a path, or None."""
    for step in path.split("."):
        if step == "0":
            body = body[0] if isinstance(body, list) and len(body) == 1 else None
        else:
            body = body.get(step) if isinstance(body, dict) else None
    return body


def read_date(text: str) -> date:
    """Read a date of a request."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        refuse(400, "CONTRACT_ERROR", f"{text} is not a date")


def check_payment(tpp: str, body: dict[str, Any]) -> Item:
    """Check the body of a payment request against the contract and make the payment."""

    def need(fine: Any, message: str) -> None:
        """Refuse the request unless a condition holds."""
        if not fine:
            refuse(400, "CONTRACT_ERROR", message)

    facts: dict[str, Any] = {}
    need(not CREDENTIALS & set(body), "Customer credentials must not be sent")
    for path, pattern in (MANDATORY | OPTIONAL).items():
        value = look(body, path)
        fine = isinstance(value, str) and re.fullmatch(pattern, value)
        need(fine or (value is None and path in OPTIONAL), f"{path}: expected {pattern}")
        facts[path.removesuffix("Account.iban").rpartition(".")[2]] = value
    need(rules.iban_ok(facts["creditor"]), "creditorAccount.iban has wrong check digits")
    facts["value"] = rules.cents_of(facts["value"])
    need(facts["value"] > 0, "The amount must be positive")
    if facts["debtor"]:
        account = rules.find(facts["debtor"])
        need(rules.may_pay(account), "debtorAccount is not eligible for payments")
    approach = look(body, "supplementaryData.acceptedAuthenticationApproach")
    need("REDIRECT" in str(approach or "REDIRECT"), "Only the REDIRECT approach is supported")
    if facts["requestedExecutionDate"]:
        facts["requestedExecutionDate"] = read_date(facts["requestedExecutionDate"])
        ahead = (facts["requestedExecutionDate"] - day_of()).days
        need(1 <= ahead <= MAX_DAYS_AHEAD, "requestedExecutionDate must be 1 to 365 days ahead")
        need(not facts["localInstrument"], "An instant payment cannot be deferred")
    item = Item(f"PR{secrets.token_hex(8)}", tpp, body, now(), facts)
    if facts["debtor"] and rules.is_twin(item, facts["requestedExecutionDate"] or day_of()):
        refuse(403, "DUPLICATE_PAYMENT", "An identical payment was already executed")
    return item


def own_payment(payment_id: str) -> Item:
    """Return a payment of the calling TPP."""
    tpp, _ = caller("pisp")
    item = bank.items.get(payment_id)
    if item is None or item.tpp != tpp or not item.facts:
        refuse(404, "PAYMENT_NOT_FOUND", "Unknown payment request")
    return item


def show_payment(item: Item) -> Response:
    """Answer with a payment request."""
    shown = item.body | {"resourceId": item.id, "creationDateTime": stamp(item.made)}
    shown |= {"paymentInformationStatus": item.state, "statusReasonInformation": item.reason}
    shown |= {"executionDateTime": stamp(item.executed)}
    links = {"self": link(f"{BASE}/payment-requests/{item.id}")}
    if item.state == "ACTC":
        links["consentApproval"] = link(f"{request.host_url}screens/{item.screen}")
    return jsonify(paymentRequest=shown, _links=links)


@app.post(BASE + "/payment-requests")
def post_payment() -> tuple[Response, int]:
    """Create a payment request."""
    tpp, _ = caller("pisp")
    item = check_payment(tpp, read_json())
    bank.items[item.id] = item
    links = {"consentApproval": link(f"{request.host_url}screens/{item.screen}")}
    answer = jsonify(appliedAuthenticationApproach="REDIRECT", _links=links)
    answer.headers["Location"] = f"{BASE}/payment-requests/{item.id}"
    return answer, 201


@app.get(BASE + "/payment-requests/<payment_id>")
def get_payment(payment_id: str) -> Response:
    """Read a payment request."""
    return show_payment(own_payment(payment_id))


@app.put(BASE + "/payment-requests/<payment_id>")
def put_payment(payment_id: str) -> Response:
    """Modify or cancel a deferred payment request."""
    item, body = own_payment(payment_id), read_json()
    if not item.facts["requestedExecutionDate"] or item.state not in ("ACTC", "ACSP"):
        message = "Only a deferred payment that is not finished can be modified or cancelled"
        refuse(403, "CHANGE_NOT_ALLOWED", message)
    if body.get("paymentInformationStatus") == "CANC":
        item.state, item.reason = "CANC", "DS02"
        return show_payment(item)
    changed = check_payment(item.tpp, body)
    if not changed.facts["requestedExecutionDate"]:
        refuse(400, "CONTRACT_ERROR", "A deferred payment must keep a requestedExecutionDate")
    changed.id, changed.made, changed.changed = item.id, item.made, now()
    bank.items[item.id] = changed
    return show_payment(changed)


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), threaded=False)
