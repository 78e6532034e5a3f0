"""Sarrebank: account information and payment initiation gateway (sandbox)."""

import logging
import re
import secrets
import sys
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import falcon
import waitress
from book import FACTORS, Matter, book, iban_ok
from lab import Lab

KEYS = {"tpp-7001": "key-7001", "tpp-7002": "key-7002"}
BATCH_LIMIT, MAX_LIMIT, HISTORY_DAYS, MAX_DAYS_AHEAD, MAX_MISTAKES = 4, 50, 90, 365, 3
IBAN, URL, DAY = r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", r"https?://\S{1,500}", r"\d{8}"
MANDATORY = {
    "amount": r"\d{1,9}\.\d{2}",
    "ccy": "EUR",
    "creditorAccount": IBAN,
    "chargeBearer": "SLEV",
    "categoryPurpose": "[A-Z]{4}",
    "successfulReportUrl": URL,
}
OPTIONAL = {
    "speed": "NORMAL|INSTANT",
    "executeOn": DAY,
    "debtor": IBAN,
    "creditorName": ".{1,70}",
    "text": ".{1,140}",
    "ref": ".{1,35}",
    "unsuccessfulReportUrl": URL,
}
Req, Resp, Fault = falcon.Request, falcon.Response, tuple[str, str, str]


class RefusedError(Exception):
    """A request that the bank refuses, with one error or more."""

    def __init__(self, status: int, *errors: Fault) -> None:
        """Keep the status and the errors (code, field, text)."""
        self.status, self.errors = status, errors


def refuse(status: int, code: str, field: str, text: str) -> NoReturn:
    """Refuse a request with one error."""
    raise RefusedError(status, (code, field, text))


def on_refused(_: Req, resp: Resp, error: RefusedError, __: Any) -> None:
    """Answer a refused request."""
    resp.status = error.status
    resp.delete_header("X-Next-Offset")
    resp.delete_header("X-Total-Count")
    names = ("code", "field", "text")
    resp.media = {"errors": [dict(zip(names, one, strict=True)) for one in error.errors]}


def on_http(req: Req, resp: Resp, error: falcon.HTTPError, params: Any) -> None:
    """Answer an unknown path or method, or a body that is not JSON."""
    status = falcon.http_status_to_code(error.status)
    resp.set_headers(error.headers or {})
    on_refused(req, resp, RefusedError(status, (f"G-{status}", "", error.title or "")), params)


class Clerk:
    """Does the due work before each request."""

    def process_request(self, _: Req, __: Resp) -> None:
        """Do what fell due since the last request."""
        book.run()


def body_of(req: Req) -> dict[str, Any]:
    """Return the JSON object of a request."""
    body = req.get_media(default_when_empty={})
    if not isinstance(body, dict):
        refuse(400, "G-400", "", "A JSON object is expected")
    return body


def tpp_of(req: Req) -> str:
    """Check the key of the TPP."""
    tpp = req.get_header("X-Tpp-Id", default="")
    if tpp not in KEYS or KEYS[tpp] != req.get_header("X-Tpp-Key"):
        refuse(401, "A-100", "X-Tpp-Key", "Unknown TPP or wrong key")
    return tpp


def customer_of(req: Req) -> tuple[str, dict[str, Any]]:
    """Check the access token and return the TPP and the customer."""
    tpp = tpp_of(req)
    owner, number = book.tokens.get(req.get_header("X-Access-Token", default=""), ("", ""))
    if owner != tpp:
        refuse(401, "A-110", "X-Access-Token", "The access token is missing or unknown")
    return tpp, book.persons[number]


def count(req: Req, tpp: str, person: dict[str, Any], method: str) -> None:
    """Count an access without the customer and refuse the fifth of a day."""
    key = (tpp, person["number"], method, book.day())
    if req.get_header("X-Psu-Present") != "1":
        if book.calls.get(key, 0) >= BATCH_LIMIT:
            refuse(429, "A-400", "X-Psu-Present", "4 accesses a day without the customer at most")
        book.calls[key] = book.calls.get(key, 0) + 1


def money(cents: int) -> str:
    """Write an amount as decimal text."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def day_of(text: str, field: str) -> datetime:
    """Read a day written YYYYMMDD."""
    try:
        return datetime.strptime(text, "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        refuse(422, "P-100", field, "A day is written YYYYMMDD")


def cut(req: Req, resp: Resp, rows: list[Any], default: int) -> list[Any]:
    """Cut a page out of a list and put the next offset into a header."""
    offset = req.get_param_as_int("offset", min_value=0, default=0)
    limit = req.get_param_as_int("limit", min_value=1, default=default)
    end = offset + min(limit, MAX_LIMIT)
    resp.set_header("X-Total-Count", str(len(rows)))
    if end < len(rows):
        resp.set_header("X-Next-Offset", str(end))
    return rows[offset:end]


def consented(req: Req) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the account that a call names when the customer gave consent for it."""
    tpp, person = customer_of(req)
    account = person["accounts"].get(req.get_param("iban", default=""))
    if account is None or not book.listed(account):
        refuse(404, "A-200", "iban", "No available account or card has this identifier")
    if account["iban"] not in person["consents"].get(tpp, []):
        refuse(403, "A-210", "iban", "No consent was given for this account")
    return tpp, person, account


class Accounts:
    """The list of accounts and cards."""

    def on_get(self, req: Req, resp: Resp) -> None:
        """List all accounts and cards, or the consented ones."""
        tpp, person = customer_of(req)
        given = person["consents"].get(tpp, [])
        only = req.get_param_as_bool("consented", default=False)
        rows = [a for a in person["accounts"].values() if book.listed(a)]
        rows = cut(req, resp, [a for a in rows if not only or a["iban"] in given], 5)
        count(req, tpp, person, "accounts")
        names = ("iban", "type", "title")
        items = [{n: a[n] for n in names} | {"consented": a["iban"] in given} for a in rows]
        resp.media = {"items": items}
        if only and given:
            resp.media["holder"] = person["name"]


class Consents:
    """The consent of the customer."""

    def on_put(self, req: Req, resp: Resp) -> None:
        """Keep the consent for a set of accounts and cards."""
        (tpp, person), ibans = customer_of(req), body_of(req).get("ibans")
        if not isinstance(ibans, list):
            refuse(422, "A-300", "ibans", "A list of identifiers is expected")
        usable = [a["iban"] for a in person["accounts"].values() if book.listed(a)]
        if unknown := [str(iban) for iban in ibans if iban not in usable]:
            refuse(422, "A-310", "ibans", f"Not available: {', '.join(unknown)}")
        count(req, tpp, person, "consents")
        person["consents"][tpp] = ibans
        resp.media = {"consent": {"ibans": ibans, "since": book.now()}}


class Balances:
    """The balances report of an account, or the outstandings report of a card."""

    def on_get(self, req: Req, resp: Resp) -> None:
        """Report the balances or outstandings."""
        tpp, person, account = consented(req)
        count(req, tpp, person, "balances")
        common, rows = {"ccy": "EUR", "at": book.now()}, book.balances(account)
        entries = [{"balanceType": k, "amount": money(n)} | common for k, n in rows.items()]
        resp.media = {"iban": account["iban"], "balances": entries}


class Transactions:
    """The transactions of an account, or the slips of a card."""

    def on_get(self, req: Req, resp: Resp) -> None:
        """List the transactions of up to 90 days, newest first."""
        tpp, person, account = consented(req)
        first = book.day() - timedelta(days=HISTORY_DAYS)
        if since := req.get_param("since"):
            first = max(first, day_of(since, "since").date())
        rows = [e for e in account["entries"] if first <= e["day"] <= book.day()]
        rows.sort(key=lambda e: (e["day"], e["no"]), reverse=True)
        rows = cut(req, resp, rows, 15)
        count(req, tpp, person, "transactions")
        resp.media = {
            "items": [
                {
                    "no": f"{e['no']:09d}",
                    "amount": money(e["cents"]),
                    "ccy": "EUR",
                    "booked": f"{e['day']:%Y%m%d}",
                    "value": f"{e['value']:%Y%m%d}",
                    "text": e["text"],
                }
                for e in rows
            ]
        }


class NotOffered:
    """The methods that the bank does not offer."""

    def on_get(self, req: Req, _: Resp, **__: Any) -> None:
        """Refuse a call."""
        tpp_of(req)
        raise falcon.HTTPMethodNotAllowed([], title="Not offered by this bank")

    on_post = on_get


def check_order(body: dict[str, Any]) -> dict[str, Any]:
    """Check an order against the contract and return it with all its members."""
    rules, faults = MANDATORY | OPTIONAL, []
    for name, value in body.items():
        if name not in rules:
            faults.append(("P-110", name, "Unknown member"))
        elif not isinstance(value, str) or not re.fullmatch(rules[name], value):
            faults.append(("P-100", name, f"Must match {rules[name]}"))
    faults += [("P-120", name, "Mandatory") for name in MANDATORY if name not in body]
    if faults:
        raise RefusedError(422, *faults)
    order = {name: body.get(name) for name in rules}
    order["speed"] = order["speed"] or "NORMAL"
    order["cents"] = int(order["amount"].replace(".", ""))
    if order["cents"] == 0 or not iban_ok(order["creditorAccount"]):
        refuse(422, "P-130", "amount, creditorAccount", "Zero amount or wrong check digits")
    if order["speed"] == "INSTANT":
        refuse(422, "P-310", "speed", "Instant payments are not offered by this bank")
    if order["executeOn"]:
        ahead = (day_of(order["executeOn"], "executeOn").date() - book.day()).days
        if not 1 <= ahead <= MAX_DAYS_AHEAD:
            refuse(422, "P-320", "executeOn", "1 to 365 days ahead")
    return order


def approval_url(req: Req, matter: Matter) -> str | None:
    """Return where the customer decides, as long as that is open."""
    return f"{req.prefix}/approvals/{matter.key}" if matter.state == "OPEN" else None


def show_order(req: Req, resp: Resp, matter: Matter) -> None:
    """Answer with an order."""
    order = {n: v for n, v in (matter.order or {}).items() if n != "cents" and v is not None}
    links = {"self": f"/xs2a/orders/{matter.id}", "approval": approval_url(req, matter)}
    times = {"made": matter.made, "booked": matter.booked or None}
    resp.media = {"order": order | {"state": matter.state, "why": matter.why or None} | times}
    resp.media["order"]["links"] = {name: url for name, url in links.items() if url}


def own(req: Req, matter_id: str, is_order: bool) -> Matter:
    """Return a matter of the calling TPP."""
    tpp, matter = tpp_of(req), book.matters.get(matter_id)
    if matter is None or matter.tpp != tpp or (matter.order is not None) != is_order:
        refuse(404, "P-200", "", "Unknown order or access request")
    return matter


def changeable(req: Req, matter_id: str) -> Matter:
    """Return a deferred order that is not finished."""
    matter = own(req, matter_id, True)
    deferred = matter.order is not None and matter.order["executeOn"]
    if not deferred or matter.state not in ("OPEN", "APPROVED"):
        refuse(409, "P-400", "", "Only a deferred order that is not finished can be changed")
    return matter


class Orders:
    """Payment orders."""

    def on_post(self, req: Req, resp: Resp) -> None:
        """Take a payment order."""
        tpp, order = tpp_of(req), check_order(body_of(req))
        matter = Matter(tpp, book.now(), order)
        book.matters[matter.id] = matter
        show_order(req, resp, matter)
        resp.status = 201


class Order:
    """A payment order."""

    def on_get(self, req: Req, resp: Resp, matter_id: str) -> None:
        """Read an order."""
        show_order(req, resp, own(req, matter_id, True))

    def on_put(self, req: Req, resp: Resp, matter_id: str) -> None:
        """Change a deferred order; the customer approves it again."""
        matter, changes = changeable(req, matter_id), body_of(req)
        if unknown := set(changes) - {"amount", "executeOn", "text"}:
            refuse(422, "P-110", ", ".join(sorted(unknown)), "This member cannot be changed")
        old = {n: v for n, v in (matter.order or {}).items() if n != "cents" and v is not None}
        matter.order = check_order(old | changes)
        matter.key, matter.offered = secrets.token_urlsafe(12), book.now()
        matter.shown = matter.approved = matter.mistakes = 0
        matter.close("OPEN")
        show_order(req, resp, matter)


class Withdrawal:
    """The cancellation of an order."""

    def on_post(self, req: Req, resp: Resp, matter_id: str) -> None:
        """Cancel a deferred order."""
        matter = changeable(req, matter_id)
        matter.close("WITHDRAWN", "D70")
        show_order(req, resp, matter)


class AccessRequests:
    """Requests for access to the accounts of a customer."""

    def on_post(self, req: Req, resp: Resp) -> None:
        """Ask for access."""
        matter = Matter(tpp_of(req), book.now(), None)
        book.matters[matter.id] = matter
        AccessRequest().on_get(req, resp, matter.id)
        resp.status = 201


class AccessRequest:
    """A request for access."""

    def on_get(self, req: Req, resp: Resp, matter_id: str) -> None:
        """Read an access request, with the access token once it is approved."""
        matter = own(req, matter_id, False)
        shown: dict[str, Any] = {"state": matter.state, "accessToken": matter.token or None}
        links = {
            "self": f"/xs2a/access-requests/{matter.id}",
            "approval": approval_url(req, matter),
        }
        shown["links"] = {name: url for name, url in links.items() if url}
        resp.media = {"accessRequest": shown}


class Approval:
    """The bank's approval screen, used by the customer's app and never by a TPP."""

    def on_get(self, req: Req, resp: Resp, key: str) -> None:
        """Show what is to be approved."""
        matter = self.live(key)
        matter.shown, matter.last = matter.shown or book.now(), book.now()
        order = matter.order or {}
        names = ("amount", "ccy", "creditorAccount", "creditorName", "executeOn", "debtor")
        resp.media = {"tpp": matter.tpp, "kind": "ORDER" if order else "ACCESS"}
        resp.media |= {n: order[n] for n in names if order.get(n)}

    def live(self, key: str) -> Matter:
        """Return a matter that still waits for the customer."""
        matter = next((m for m in book.matters.values() if m.key == key), None)
        if matter is None:
            refuse(404, "C-100", "", "Nothing to approve here")
        if matter.state != "OPEN":
            text = "Disconnected" if matter.why == "D30" else "Already decided"
            refuse(410, "C-110", "", text)
        return matter

    def on_post(self, req: Req, resp: Resp, key: str) -> None:
        """Take the decision of the customer."""
        matter, body = self.live(key), body_of(req)
        matter.shown, matter.last = matter.shown or book.now(), book.now()
        person = book.persons.get(str(body.get("customer")), {})
        factor, decision = str(body.get("factor")), body.get("decision")
        known = person and person["password"] == body.get("password")
        if known and decision == "DECLINE":
            matter.close("DECLINED", "D10")
        elif known and matter.order and person["segment"] not in ("PART", "PRO"):
            matter.close("DECLINED", "D21")
        elif known and factor not in FACTORS.get(person["segment"], ("SMS", "CAP")):
            refuse(403, "C-130", "factor", "This factor cannot be used")
        elif known and decision == "APPROVE" and person["codes"][factor] == body.get("code"):
            book.approve(matter, person, factor, body.get("debtor"))
        else:
            matter.mistakes += 1
            if matter.mistakes < MAX_MISTAKES:
                refuse(401, "C-120", "", "Wrong customer, password, code or decision")
            matter.close("DECLINED", "D15")
        urls, bad = matter.order or {}, matter.state == "DECLINED"
        back = urls.get("unsuccessfulReportUrl") if bad else urls.get("successfulReportUrl")
        resp.media = {"outcome": matter.state, "why": matter.why or None, "returnTo": back}


app = falcon.App(middleware=[Clerk()])
app.add_error_handler(RefusedError, on_refused)
app.add_error_handler(falcon.HTTPError, on_http)
ROUTES = {
    "/xs2a/accounts": Accounts(),
    "/xs2a/consents": Consents(),
    "/xs2a/balances": Balances(),
    "/xs2a/transactions": Transactions(),
    "/xs2a/trusted-payees": NotOffered(),
    "/xs2a/holder": NotOffered(),
    "/xs2a/orders": Orders(),
    "/xs2a/orders/{matter_id}": Order(),
    "/xs2a/orders/{matter_id}/withdrawal": Withdrawal(),
    "/xs2a/orders/{matter_id}/confirmation": NotOffered(),
    "/xs2a/access-requests": AccessRequests(),
    "/xs2a/access-requests/{matter_id}": AccessRequest(),
    "/approvals/{key}": Approval(),
    "/lab/{what}": Lab(),
}
for path, resource in ROUTES.items():
    app.add_route(path, resource)

if __name__ == "__main__":
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    waitress.serve(app, host="127.0.0.1", port=int(sys.argv[1]), threads=1)
