"""The banks, each a row of ways in which it differs from the plain one of `bank.py`.

A way is an attribute or a method of the bank; a function gets the bank first. Each dialect is there
for a few keys of the target language, which its comment names.
"""

import json
import re
from datetime import date, datetime, timedelta
from urllib.parse import parse_qsl
from zoneinfo import ZoneInfo

from faulty import changed
from foreign.bank import A_DAY, NEVER, Bank, Refused

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LONG = timedelta(days=999)


def dialect(name, bank=Bank, **ways):
    """Return a row of the table: a bank with ways of its own."""
    return type(name, (bank,), ways)


# -- consents --------------------------------------------------------------------------------
def unattended(bank, call, number):
    """Limit the calls for entries without the customer to four a day."""
    if not number or call.header("Customer-Here") == "1":
        return []
    day = call.world.now.astimezone(bank.zone).date()
    return [(4, ((call.customer or call.grant.consent.owner).token, day))]


def check_consent(bank, call, mode, body):
    """Refuse a consent that names nothing, or what is not there."""
    body = bank.kept(call, body)
    numbers = [each["number"] for each in body["accounts"]]
    datetime.fromisoformat(body["until"])
    there = [call.customer] if call.customer else call.world.customers
    known = {number for each in there for number in each.accounts}
    if not numbers or len({*numbers}) < len(numbers) or not {*numbers} <= known:
        raise Refused(422)


def owner(bank, call, consent):
    return {"owner": f"owner of {(call.customer or consent.owner).login}"}


CONSENTS = {
    "now": "2026-09-16T09:00:00+01:00",
    "id_form": "c-{}",
    "paging": "link",
    "first": "open",
    "confirmed": "valid",
    "declined": "rejected",
    "ended": "ended",
    "final": frozenset(),
    "ends_with": 204,
    "window": LONG,
    "limits": unattended,
    "check": check_consent,
    "beside": owner,
    "fields": lambda bank, consent: {"until": consent.body["until"]},
}
CONSENT_ROUTES = {
    "POST consents": "make",
    "GET consents/*": "show",
    "DELETE consents/*": "stop",
    "GET accounts": "list_accounts",
    "GET accounts/*/entries": "list_entries",
}


def chosen(bank, call):
    """Return the consent that a call names."""
    consent = call.world.requests.get(call.header("Consent-ID"))
    if consent is None or consent.owner is not call.customer:
        raise Refused(403)
    return consent


def opened_by_id(bank, call):
    consent = bank.chosen(call)
    if not bank.usable(consent):
        raise Refused(bank.unusable)
    return consent


def signed_by_control(bank, consent, decision):
    if decision == "confirm":
        bank.on_signature(consent)
    else:
        consent.status = bank.declined


def with_holder(bank, consent, number):
    named = bank.names_holder(consent, number)
    return {"number": number, **({"holder": f"holder of {number}"} if named else {})}


def with_payers(bank, call, consent, number, days):
    payer = {"name": "Maria"} if bank.names_payer(call, consent) else None
    return [{"id": f"{number}-{n}", "day": day, "from": payer} for n, day in enumerate(days)]


def names_holder(bank, consent, number):
    asked = consent.body.get("names", {}).get("holders", [])
    return number in [each["number"] for each in asked]


#: Consents have an id, a signature and an end, and modes that disclose more.
QUAY = dialect(
    "Quay",
    **{**CONSENTS, "zone": ZoneInfo("Europe/Lisbon")},
    routes=CONSENT_ROUTES,
    number="PT-{:06d}",
    words={"open": "received"},
    sign_link="https://quay.example/sign/{id}",
    opened=opened_by_id,
    chosen=chosen,
    unusable=403,
    names_holder=names_holder,
    names_payer=lambda bank, call, consent: consent.body.get("payers", False),
    sign=signed_by_control,
    account=with_holder,
    entries=with_payers,
)


def opened_by_token(bank, call):
    """Return the consent of a token, which must be in force."""
    consent = call.grant.consent
    if consent is None:
        raise Refused(403, "insufficient_scope")
    if call.world.now >= call.grant.until or not bank.usable(consent):
        raise Refused(401, "invalid_token")
    return consent


def own_token(bank, call):
    """Refuse a call about a consent that has not the TPP's own token."""
    if call.steps[0] == "consents":
        if call.grant.consent is not None:
            raise Refused(403, "insufficient_scope")
        if call.world.now >= call.grant.until:
            raise Refused(401, "invalid_token")


#: The token of a consent is issued for a code of the authorization server.
FJORD = dialect(
    "Fjord",
    **{**CONSENTS, "now": "2026-09-16T09:00:00+02:00", "zone": ZoneInfo("Europe/Oslo")},
    routes={
        **CONSENT_ROUTES,
        "GET authorize": "authorize",
        "POST screens/*": "screen",
        "POST token": "token",
    },
    public=frozenset({"authorize", "screen", "token"}),
    number="NO-{:06d}",
    words={"open": "awaiting", "valid": "authorised", "ended": "revoked"},
    check_call=own_token,
    opened=opened_by_token,
    is_own=lambda bank, call, consent: consent.tpp == call.grant.tpp,
    kept=lambda bank, call, body: body["consent"],
    wrapped=lambda bank, shown: {"consent": shown},
)


# -- orders ----------------------------------------------------------------------------------
def italian_iban(bank, n):
    """Return a valid IBAN of an Italian bank."""
    bban = f"X0542811101{n:012d}"
    digits = "".join(str(int(sign, 36)) for sign in f"{bban}IT00")
    return f"IT{98 - int(digits) % 97:02d}{bban}"


def searched_right(bank, call):
    """Refuse what lacks the version, or the form of a search."""
    today = call.world.now.astimezone(bank.zone).date()
    body = call.json
    search = {"type": "LIST", "until": f"{today + A_DAY}T00:00:00Z"}
    right = call.query.get("api-version") == "7" and isinstance(body, dict)
    if not right or (call.steps[-1] == "search" and not search.items() <= body.items()):
        raise Refused


def check_payment(bank, call, mode, body):
    today = call.world.now.astimezone(bank.zone).date()
    right = (
        mode in {"ordinary", "instant"}
        and body.get("debtor") in call.customer.accounts
        and bank.recurring_is_right(body.get("recurring"))
        and body.get("validUntil") == f"{today + 30 * A_DAY}"
        and type(body.get("priority")) is int
    )
    if not right:
        raise Refused(422)


def identified(bank, consent, number):
    ids = [{"scheme": "KEY", "value": number}, {"scheme": "IBAN", "value": number}]
    return {"ids": ids, "active": True}


#: Lists are read by POST, page by page; accounts have several identifications; a path has the mode.
KESTREL = dialect(
    "Kestrel",
    routes={
        "POST accounts/search": "list_accounts",
        "POST entries/search": "list_entries",
        "POST payments/*": "make",
        "GET payments/*/*": "show",
    },
    now="2026-09-16T23:30:00+00:00",
    zone=ZoneInfo("Europe/Athens"),
    numbered=italian_iban,
    paging="cursor",
    page_size=2,
    paged=("accounts", "entries"),
    list_name="items",
    words={"open": "NEW"},
    id_name="number",
    state_name="stage",
    location="https://kestrel.example/payments/{mode}/{id}",
    check_call=searched_right,
    api_key="",
    account=identified,
    recurring_is_right=lambda bank, value: value is False,
    check=check_payment,
)


def ticket_in_body(bank, call):
    """Return the tokens in the header and in the body of a POST."""
    found = [call.header("X-Ticket")]
    if call.method == "POST":
        head = call.json.get("head")
        inside = str(head.get("ticket")) if isinstance(head, dict) else ""
        found.append(inside.removeprefix("T:") if inside.startswith("T:") else None)
    return found


#: The token stands in the body and in a header of its own.
OSPREY = changed(
    KESTREL,
    "Osprey",
    tickets=ticket_in_body,
    kept=lambda bank, call, body: {name: body[name] for name in body if name != "head"},
)
#: The token is a query parameter.
QUERYING = changed(KESTREL, "Querying", tickets=lambda bank, call: [call.query.get("ticket")])


def with_key_and_tpp(bank, call):
    """Refuse a call without the key of the gateway, the customer's id, or in a body the TPP."""
    searched_right(bank, call)
    tpp = call.json.get("head", {}).get("tpp") if call.method == "POST" else None
    tpps = [f"T:{each}" for each in call.world.tpps] if call.method == "POST" else [None]
    if call.header("X-Api-Key") != bank.api_key or tpp not in tpps:
        raise Refused(401)
    if call.query.get("customer") != f"id-of-{call.customer.login}":
        raise Refused(403)


def new_customer_with_id(bank, call, world):
    made = Bank.new_customer(bank, call, world)
    return {**made, "customer": f"id-of-{made['login']}"}


#: A call has three credentials beside the token.
HARRIER = changed(
    KESTREL,
    "Harrier",
    api_key="gate-key-of-harrier",
    check_call=with_key_and_tpp,
    new_customer=new_customer_with_id,
    kept=lambda bank, call, body: {name: body[name] for name in body if name != "head"},
)


def check_whole_order(bank, call, mode, body, order=None):
    """Refuse an order that has not all members, or not a price in whole cents."""
    if not isinstance(body, dict) or body.keys() != {"account", "cents", "day", "memo"}:
        raise Refused(422)
    if type(body["cents"]) is not int or not isinstance(body["memo"], str):
        raise Refused(422)
    there = mode in {"later", "express"} and body["account"] in call.customer.accounts
    if order is None and not there:
        raise Refused(422)
    if order is not None and (mode != "later" or body["account"] != order.body["account"]):
        raise Refused(409)


def without_body(bank, call):
    if call.content and call.method in {"GET", "DELETE"}:
        raise Refused


def confirm(bank, call, *where):
    bank.own(call, *where)
    return bank.confirmation, {}


#: Amounts are in cents, a change sends the whole order, and accounts have ids of the bank's own.
PLOVER = dialect(
    "Plover",
    routes={
        "GET accounts": "list_accounts",
        "GET accounts/*/balances": "list_balances",
        "GET balances": "list_balances",
        "POST orders/*": "make",
        "POST orders/*/*/confirmation": "confirm",
        "GET orders/*/*": "show",
        "PUT orders/*/*": "change",
        "DELETE orders/*/*": "stop",
    },
    now="2026-09-16T10:00:00+00:00",
    number="IT60X0542811101{:012d}",
    list_name="items",
    words={"open": "NEW", "cancelled": "OFF"},
    id_name="number",
    state_name="stage",
    account=lambda bank, consent, number: {"id": f"A-{number[-6:]}", "iban": number},
    check_call=without_body,
    confirm=confirm,
    confirmation=405,
    check=check_whole_order,
)


def in_mode(bank, call, mode, body):
    """Refuse a payment in a mode that the bank does not offer; remember what came."""
    kind, scope = call.query.get("kind"), call.grant.scope
    bank.seen.append((call.host, kind, scope))
    if scope not in bank.served:
        raise Refused(403)
    if kind not in {None, "plain"}:
        raise Refused(422)


def token_in_scope(bank, call):
    token = f"t-{next(bank.numbers)}"
    bank.let_in(token, world=[*bank.worlds.values()][-1], scope=call.form.get("scope"))
    return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600}


#: The mode of a payment is in its token, or in its host.
SISTER = dialect(
    "Sister",
    routes={
        "POST login.example/token": "scoped",
        "GET one.example/v1/accounts": "list_accounts",
        "POST one.example/v1/payments": "make",
        "POST two.example/v2/payments": "make",
    },
    public=frozenset({"scoped"}),
    scoped=token_in_scope,
    served=("payments", "payments trusted"),
    paging="bare",
    words={"done": "PAID"},
    first="done",
    id_name="number",
    state_name="stage",
    fields=lambda bank, order: {},
    check=in_mode,
)


def short_token(bank, call):
    """Issue a token for an audience."""
    if call.form.get("audience") != "https://one.example":
        return 400, {"error": "invalid_request"}
    status, body = token_in_scope(bank, call)
    return status, {name: body[name] for name in body if name != "expires_in"}


#: The tokens of the TPP are issued for an audience, and do not say how long they last.
COUSIN = changed(SISTER, "Cousin", scoped=short_token)


# -- odd answers -----------------------------------------------------------------------------
def page_after_id(bank, call, name, items):
    """Return three items after the one with an id, and whether more follow."""
    if name != "entries":
        return {bank.list_name: items}
    after = call.query.get("startingAfter")
    ids = [each["id"] for each in items]
    start = bank.start_after(ids, after) if after else 0
    shown = items[start : start + bank.page_size]
    return {bank.list_name: shown, "hasMore": bank.page_after(start) < len(items)}


def linked(bank, consent, number):
    return {"links": {"self": f"https://heron.example/accounts/{number}/?part=1"}}


def listed_of_account(bank, call, number):
    status, page = Bank.list_entries(bank, call, number)
    return status, {**page, "account": {"number": bank.account_of_page(number)}}


def in_days(bank, call, consent, number, days):
    """Return the entries of the days that a call asks for, the last one excluded."""
    first, last = (
        datetime.strptime(f"{call.query.get(name, usual)} Z", "%d.%m.%Y %z").date().isoformat()
        for name, usual in (("from", "01.01.1970"), ("before", "01.01.2999"))
    )
    return [
        {"id": f"{number}-{n}", "booked": int(day.replace("-", ""))}
        for n, day in enumerate(days)
        if bank.in_range(day, first, last)
    ]


def order_with_links(bank, order):
    links = [{"rel": "up", "href": "/orders"}, {"rel": "self", "href": f"/orders/{order.id}"}]
    shown = {"links": links, "stage": bank.words.get(order.status, order.status)}
    return {**shown, **bank.fields(order)}


def check_slip(bank, call, mode, body):
    """Refuse an order that has not the form of this bank."""
    there = isinstance(body, dict) and body.get("account") in call.customer.accounts
    if not there or not isinstance(body.get("memo"), str):
        raise Refused(422)
    if type(body.get("dueDay")) is not int or type(body.get("expires")) is not int:
        raise Refused(422)
    due = datetime.strptime(str(body["dueDay"]), "%Y%m%d").replace(tzinfo=bank.zone)
    expires = datetime.fromtimestamp(body["expires"] // 1000, bank.zone)
    if due.date() < bank.earliest(call) or (expires.hour, expires.minute) != (0, 0):
        raise Refused(422)


#: What all items have stands beside their list, and ids are the ends of links.
HERON = dialect(
    "Heron",
    routes={
        "GET accounts": "list_accounts",
        "GET accounts/*/entries": "list_entries",
        "POST orders": "make",
        "GET orders/*": "show",
    },
    now="2026-09-16T10:00:00+00:00",
    zone=ZoneInfo("Europe/Rome"),
    numbered=italian_iban,
    list_name="items",
    page=page_after_id,
    start_after=lambda bank, ids, after: ids.index(after) + 1,
    words={"open": "NEW"},
    account=linked,
    beside=lambda bank, call, consent: {"currency": bank.currency},
    currency="EUR",
    list_entries=listed_of_account,
    account_of_page=lambda bank, number: number,
    shown=order_with_links,
    check=check_slip,
    entries=in_days,
    in_range=lambda bank, day, first, last: first <= day < last,
    earliest=lambda bank, call: call.world.now.astimezone(bank.zone).date(),
)


def answered_form(bank, call):
    """Answer a form with an order as one in JSON: days are numbers, the payer is below its name."""
    if call.method == "POST" and call.steps == ["orders"]:
        media = call.environ.get("CONTENT_TYPE", "")
        given = dict(parse_qsl(call.content.decode("utf-8", "replace"), keep_blank_values=True))
        if media != "application/x-www-form-urlencoded":
            raise Refused(415)
        order = {name: given.pop(f"payer[{name}]", None) for name in ("account",)}
        days = {name: int(given.pop(name)) for name in ("dueDay", "expires")}
        tags = [value for name, value in parse_qsl(call.content.decode()) if name == "tags[]"]
        if tags != ["a", "b"]:
            raise Refused(422)
        call.content = json.dumps({**order, **days, "memo": given.get("memo")}).encode()
    return HERON.answer(bank, call)


#: Orders are made by forms.
STORK = changed(HERON, "Stork", answer=answered_form)


# -- the desk --------------------------------------------------------------------------------
def with_request_id(bank, call):
    """Refuse a call without a request id, or with one that is no UUID."""
    sent = call.header("X-Request-ID")
    if (sent is None and bank.needs_request_id) or (sent is not None and not bank.is_id(sent)):
        raise Refused


def selected(bank, call, consent, number, days):
    """Return entries in a status, in a range of days, and so many of them."""
    wanted, rows = call.query.get("status"), call.query.get("rows", "100")
    rows = int(rows) if rows.isascii() and rows.isdecimal() else 100
    if not bank.is_status(wanted) or rows > bank.most_rows:
        raise Refused
    first, last = call.query.get("from", "1970-01-01"), call.query.get("to", NEVER)
    listed = [
        {"id": f"{number}-{n}", "date": day, "status": ("booked", "pending")[n % 2]}
        for n, day in enumerate(days)
    ]
    return [
        each
        for each in bank.edited(listed, wanted)
        if bank.in_range(each["date"], first, last) and bank.selects(each, wanted)
    ][:rows]


def is_day(value):
    """Whether a value is a day: YYYY-MM-DD."""
    try:
        return isinstance(value, str) and value == date.fromisoformat(value).isoformat()
    except ValueError:
        return False


def check_order(bank, call, mode, body):
    """Refuse an order with a value that has not the right form."""
    if not isinstance(body, dict) or not isinstance(body.get("number"), str):
        raise Refused
    if body["number"] not in call.customer.accounts:
        raise Refused(404)
    if not (bank.label or "label" in body):
        raise Refused(422)
    label = body.get("label", bank.label)
    texts = all(isinstance(each, str) for each in (label, body.get("amount"), body.get("until")))
    day = body.get("day") or NEVER
    right = (
        texts
        and re.fullmatch("[0-9]{1,12}([.][0-9]{1,9})?", body["amount"])
        and len(body["amount"].partition(".")[2]) <= bank.decimals
        and is_day(body["until"])
        and is_day(day)
        and day >= bank.earliest(call)
        and len(label) <= bank.longest_label
        and re.fullmatch(bank.label_form, label)
    )
    if not right:
        raise Refused(422)


def kept_order(bank, call, body):
    """Return an order with two decimals, and a last day that is not too far."""
    whole, _, decimals = body["amount"].partition(".")
    kept = {"amount": f"{whole}.{decimals:0<2}", "until": bank.last_day(call, body)}
    return {"label": bank.label, **body, **kept}


def selects(bank, entry, wanted):
    return entry["status"] == wanted or wanted not in {"booked", "pending"}


def last_day(bank, call, body):
    return min(body["until"], (call.world.now.date() + 180 * A_DAY).isoformat())


#: Headers, filters, forms of values, keys and states that are no bank's alone.
DESK = dialect(
    "Desk",
    routes={
        "GET accounts": "list_accounts",
        "GET accounts/*/entries": "list_entries",
        "POST orders": "make",
        "GET orders/*": "show",
        "DELETE orders/*": "stop",
    },
    paging="bare",
    foreign=404,
    words={"open": "received"},
    id_name="orderId",
    key_header="Order-Key",
    echoes=("X-Request-ID", "X-Request-ID"),
    check_call=with_request_id,
    needs_request_id=True,
    is_id=lambda bank, sent: UUID.fullmatch(sent),
    entries=selected,
    is_status=lambda bank, status: status in {"booked", "pending", "both"},
    in_range=lambda bank, day, first, last: first <= day < last,
    selects=selects,
    edited=lambda bank, entries, wanted: entries,
    most_rows=100,
    check=check_order,
    decimals=2,
    label="Order",
    longest_label=30,
    label_form="[A-Za-z0-9 ]*",
    earliest=lambda bank, call: call.world.now.date().isoformat(),
    kept=kept_order,
    last_day=last_day,
)


def counted(bank, call, number):
    """Limit both lists to five calls a minute, and the entries of an account to three."""
    if number:
        return [(3, (call.customer.token, number))]
    return [(5, call.customer.token)]


def not_over(bank, tickets, call):
    grant = DESK.admitted(bank, tickets, call)
    if grant.until is not None and grant.world.now >= grant.until:
        raise Refused(401, "invalid_token")
    return grant


def renewed_token(bank, call, world, words):
    """Renew the token of a customer, which lasts ten minutes."""
    match call.method, words:
        case "POST", ["customers", id_, "token"]:
            (customer,) = (each for each in world.customers if each.login == id_)
            token = f"renewed-{next(bank.numbers)}"
            until = world.now + timedelta(minutes=10)
            bank.let_in(token, world=world, customer=customer, until=until)
            return 201, {"token": token}
    return DESK.controlled(bank, call, world, words)


def customer_for_a_while(bank, call, world):
    made = Bank.new_customer(bank, call, world)
    bank.grants[made["token"]].until = world.now + timedelta(minutes=10)
    return {**made, "customer": made["login"]}


#: The tokens of customers last ten minutes.
BRIEF = changed(
    DESK, "Brief", admitted=not_over, controlled=renewed_token, new_customer=customer_for_a_while
)


#: Limits on calls: one for two lists together, and one for each account.
COUNTED = changed(
    DESK,
    "CountingDesk",
    routes={**DESK.routes, "GET favourites": "list_accounts"},
    limits=counted,
)


def explained(bank, status):
    """Return the body of a refusal: its class, and a code or a number."""
    number = {"detail": {}, "number": bank.limit_code}
    code = {"detail": {"code": bank.codes.get(status, "?")}}
    error = {**bank.error_class(status), **(number if status == 429 else code)}
    return {bank.error_at: {"errors": [error, *bank.more_errors]}}


#: Refusals have a body with a class, and a code or a number.
ERRORS = dialect(
    "ErrorDesk",
    COUNTED,
    problem=True,
    error=explained,
    error_at="problem",
    error_class=lambda bank, status: {"class": "L" if status == 429 else "C"},
    codes={400: "bad-header", 401: "token", 404: "nothing-there", 409: "CONFLICT", 422: "value"},
    limit_code=1042,
    more_errors=(),
    limits=lambda bank, call, number: [] if number else counted(bank, call, number),
)


# -- bookings --------------------------------------------------------------------------------
def check_booking(bank, call, mode, body):
    right = body.get("size") in {"small", "large"}
    if not right or body.get("locker") not in call.customer.accounts:
        raise Refused(422)
    if call.header("Booking-Key") is None:
        raise Refused


#: Parcel lockers: a key books once, and answers repeat the trace of a call.
LOCKERS = dialect(
    "Lockers",
    routes={"GET lockers/*/parcels": "list_entries", "POST bookings": "make"},
    number="L-{}",
    paging="bare",
    foreign=404,
    id_name="reference",
    key_header="Booking-Key",
    key_hours=9999,
    echoes=("Trace", "Parcel-Trace"),
    entries=lambda bank, call, consent, number, days: [{"id": f"{number}-1"}],
    fields=lambda bank, booking: {},
    check=check_booking,
)
