"""Banque du Littoral: the screens on which a customer allows an access or signs a payment."""

import html
import secrets
from typing import Any, NoReturn
from urllib.parse import urlencode

import rules
from flask import Blueprint, Response, abort, make_response, redirect, request
from rules import Item, bank, now

CODES = {"SMS": "111111", "CAP": "222222", "SOFT": "333333"}
TPPS, MAX_FAILURES = ("tpp-one", "tpp-two"), 3
pages = Blueprint("screens", __name__)


def page(text: str, form: str = "", status: int = 200) -> Response:
    """Make a page for the customer."""
    head = "<!doctype html><html lang='en'><title>Banque du Littoral</title><body>"
    body = f"{head}<h1>Banque du Littoral</h1><p>{html.escape(text)}</p>{form}</body></html>"
    return make_response(body, status)


def stop(status: int, text: str) -> NoReturn:
    """Show a page without any way on and without a redirection to the TPP."""
    abort(page(text, status=status))


def login_form(item: Item) -> str:
    """Make the login form of a screen."""
    return (
        f"<form method='post' action='/screens/{item.screen}/login'>"
        "<label>Customer number <input name='number'></label>"
        "<label>Password <input name='password' type='password'></label>"
        "<button name='login' value='1'>Log in</button></form>"
    )


def decision_form(item: Item, customer: dict[str, Any]) -> str:
    """Make the form by which the customer confirms or refuses."""
    debtors = [a for a in customer["accounts"].values() if rules.may_pay(a)]
    options = "".join(f"<option>{a['iban']}</option>" for a in debtors)
    choice = f"<label>Account <select name='debtor'>{options}</select></label>"
    allowed = rules.FACTORS.get(customer["segment"], ("SMS", "CAP"))
    factors = "".join(f"<option>{name}</option>" for name in allowed)
    return (
        f"<form method='post' action='/screens/{item.screen}/decision'>"
        f"{choice if item.facts and not item.facts['debtor'] else ''}"
        f"<label>Security device <select name='factor'>{factors}</select></label>"
        "<label>Code <input name='code'></label>"
        "<button name='decision' value='confirm'>Confirm</button>"
        "<button name='decision' value='refuse'>Refuse</button></form>"
    )


def open_item(screen: str) -> Item:
    """Return the item of a live screen and note that the customer is active."""
    item = next((i for i in bank.items.values() if i.screen == screen), None)
    if item is None:
        stop(404, "This page does not exist.")
    if item.reason == "NOAS":
        stop(403, "You have been disconnected. You can close this page.")
    if item.state != "ACTC":
        stop(403, "This request is closed. You can close this page.")
    item.opened, item.last = item.opened or now(), now()
    return item


def back(item: Item, good: bool) -> Response:
    """Send the customer back to the TPP after the decision."""
    if not item.facts:
        args = {"code": secrets.token_urlsafe(16)} if good else {"error": "access_denied"}
        if good:
            bank.codes[args["code"]] = item
        args |= {"state": item.body["state"]} if item.body.get("state") else {}
        mark = "&" if "?" in item.body["redirect_uri"] else "?"
        return redirect(item.body["redirect_uri"] + mark + urlencode(args), 302)
    url = item.facts["successfulReportUrl" if good else "unsuccessfulReportUrl"]
    return redirect(url, 302) if url else page("The payment was not made. You can close this page.")


def end(item: Item, reason: str) -> Response:
    """Close an item as refused and leave the screen."""
    item.state, item.reason = "RJCT", reason
    return back(item, False)


def failed(item: Item, text: str, form: str) -> Response:
    """Show a form again after a wrong entry, three times at most."""
    item.failures += 1
    return end(item, "AUTH") if item.failures >= MAX_FAILURES else page(text, form, 401)


@pages.get("/oauth/authorize")
def authorise() -> Response:
    """Start the screen on which a customer allows a TPP to read accounts."""
    args = request.args.to_dict()
    if args.get("client_id") not in TPPS or not args.get("redirect_uri"):
        stop(400, "client_id or redirect_uri is wrong.")
    if args.get("response_type") != "code" or args.get("scope", "aisp") != "aisp":
        stop(400, "response_type must be code and scope must be aisp.")
    item = Item(f"AC{secrets.token_hex(8)}", args["client_id"], args, now(), {})
    bank.items[item.id] = item
    return redirect(f"/screens/{item.screen}", 302)


@pages.get("/screens/<screen>")
def show(screen: str) -> Response:
    """Show the login page, or the page to decide once logged in."""
    item = open_item(screen)
    if item.login is None:
        return page("Please log in.", login_form(item))
    return page("Please confirm or refuse.", decision_form(item, bank.customers[item.login]))


@pages.post("/screens/<screen>/login")
def login(screen: str) -> Response:
    """Check the password of a customer and show what is to be decided."""
    item = open_item(screen)
    customer = bank.customers.get(request.form.get("number", ""))
    if customer is None or customer["password"] != request.form.get("password"):
        return failed(item, "Wrong number or password.", login_form(item))
    if item.facts and customer["segment"] not in ("PART", "PRO"):
        return end(item, "AG01")
    item.login = customer["number"]
    text = f"{item.tpp} asks to read your accounts."
    if item.facts:
        sum_of = rules.money(item.facts["value"])["value"]
        text = f"{item.tpp} asks to pay {sum_of} EUR to {item.facts['creditor']}."
    return page(text, decision_form(item, customer))


@pages.post("/screens/<screen>/decision")
def decide(screen: str) -> Response:
    """Take the decision of a customer who is logged in."""
    item = open_item(screen)
    if item.login is None:
        stop(401, "Please log in first.")
    customer, form = bank.customers[item.login], request.form
    if form.get("decision") == "refuse":
        return end(item, "CUST")
    if form.get("factor") not in rules.FACTORS.get(customer["segment"], ("SMS", "CAP")):
        return page("This device cannot be used.", decision_form(item, customer), 403)
    if form.get("decision") != "confirm" or form.get("code") != CODES[form["factor"]]:
        return failed(item, "Wrong code.", decision_form(item, customer))
    if not item.facts:
        item.state, item.signed = "DONE", now()
        return back(item, True)
    debtor = item.facts["debtor"] or form.get("debtor", "")
    item.facts["debtor"] = debtor
    item.body = item.body | {"debtorAccount": {"iban": debtor}}
    rules.sign(item, customer, form["factor"])
    return back(item, item.state != "RJCT")
