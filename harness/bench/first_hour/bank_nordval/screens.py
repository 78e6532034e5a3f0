"""Nordval Bank: the screen on which a customer decides with a one-time code."""

import html
import secrets
from urllib.parse import parse_qs, urlencode

from engine import DEVICES, IDLE, MAX_FAILURES, STAY, Customer, Task, bank
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

router = APIRouter(prefix="/sign", include_in_schema=False)


def page(text: str, status: int = 200, ref: str = "") -> Response:
    """Make a page, with the form when the screen goes on."""
    form = (
        f"<form method='post' action='/sign/{ref}'>"
        "<p>Customer number <input name='customerNumber'></p>"
        "<p>Password <input name='password' type='password'></p>"
        "<p>Device <select name='device'><option>sms</option><option>cap_reader</option>"
        "<option>soft_token</option></select></p>"
        "<p>One-time code <input name='oneTimeCode'></p>"
        "<button name='action' value='approve'>Approve</button>"
        "<button name='action' value='refuse'>Refuse</button></form>"
    )
    body = f"<p>{html.escape(text)}</p>{form if ref else ''}"
    return HTMLResponse(f"<!doctype html><title>Nordval Bank</title>{body}", status)


def gone(task: Task) -> bool:
    """Tell whether the customer was disconnected: idle too long, or too long overall."""
    if task.opened is None or task.last is None:
        return False
    return bank.now - task.last >= IDLE or bank.now - task.opened >= STAY


def find(ref: str) -> Task | None:
    """Return the task of a screen that still waits for a decision."""
    waiting = [t for t in bank.tasks.values() if t.status == "awaiting_authorisation"]
    return next((t for t in waiting if t.ref == ref), None)


def leave(task: Task) -> Response:
    """Send the customer back to the TPP."""
    if task.request is None:
        outcome = "active" if task.status == "active" else "refused"
        url, args = task.back, {"linkId": task.id, "status": outcome}
    else:
        bad = task.request.unsuccessful_report_url if task.status == "rejected" else None
        url = bad or task.request.successful_report_url
        args = {"paymentId": task.id, "status": task.status}
    return RedirectResponse(url + ("&" if "?" in url else "?") + urlencode(args), 303)


def wrong(task: Task, customer: Customer | None, form: dict[str, str]) -> str | None:
    """Return what is wrong with the entries of the customer, or None."""
    if customer is None or customer.password != form.get("password"):
        return "Wrong customer number or password."
    if form.get("action") == "approve" and form.get("oneTimeCode") != task.code:
        return "Wrong one-time code."
    return None


@router.get("/{ref}")
async def show(ref: str) -> Response:
    """Open the screen; a one-time code is sent to the customer."""
    task = find(ref)
    if task is None:
        return page("This page is no longer valid.", 404)
    if gone(task) or task.opened is None:
        task.opened, task.code = bank.now, f"{secrets.randbelow(10**6):06d}"
    task.last = bank.now
    text = f"{task.client} asks for access to your accounts."
    if task.request:
        amount = f"{task.request.amount_minor / 100:.2f} EUR"
        text = f"{task.client} asks to pay {amount} to {task.request.creditor_account.iban}."
    return page(text, ref=ref)


@router.post("/{ref}")
async def decide(ref: str, request: Request) -> Response:
    """Take the decision of the customer."""
    task = find(ref)
    form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
    if task is None or task.opened is None:
        return page("This page is no longer valid.", 404)
    if gone(task):
        return page("You were disconnected. Open the link again to go on.", 403)
    task.last, customer = bank.now, bank.customers.get(form.get("customerNumber", ""))
    mistake, device = wrong(task, customer, form), form.get("device", "")
    if mistake or customer is None:
        task.failures += 1
        if task.failures < MAX_FAILURES:
            return page(mistake or "", 401, ref)
        task.end("rejected", "authentication_failed")
    elif form.get("action") == "refuse":
        task.end("rejected", "refused_by_customer")
    elif task.request and customer.segment not in ("PART", "PRO"):
        task.end("rejected", "segment_not_served")
    elif device not in DEVICES.get(customer.segment, {"sms", "cap_reader"}):
        return page("This device cannot be used.", 403, ref)
    else:
        bank.sign(task, customer, device)
    return leave(task)
