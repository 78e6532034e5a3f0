"""HTML screens for signing a payment, usable by a browser or by a program.

The form of a screen has `data-screen`, and the page `data-page`, with the name of the
step or of the final page. There are no scripts and no external references. Jinja escapes
every text; it is imported when the first screen is shown. The order of the screens is
decided in :mod:`assay.sandbox.payments.signing`.
"""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from assay.sandbox.messages import Answer
from assay.sandbox.payments.lifecycle import PaymentContext
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.signing import View
from assay.sandbox.payments.terms import Factor, PaymentType, Terms, origin

if TYPE_CHECKING:
    from jinja2 import Environment, Template

__all__ = ["final_page", "page_headers", "render_view"]

_HTML = "text/html; charset=utf-8"
_TITLES: Mapping[str, str] = {
    "password": "Log in",
    "factor": "Strong authentication",
    "code": "Your code",
    "confirm": "Is this payment right?",
}
_LABELS: Mapping[Factor, str] = {
    "sms": "A code by SMS",
    "cap": "A code from the card reader (CAP)",
    "soft-token": "The app on your phone (soft token)",
    "email": "A code by e-mail",
}
_PROMPTS: Mapping[Factor, str] = {
    "sms": "Code from the SMS",
    "cap": "Code from the card reader",
    "soft-token": "Code from the app",
    "email": "Code from the e-mail",
}
_TYPES: Mapping[PaymentType, str] = {
    "immediate": "Credit transfer",
    "deferred": "Credit transfer on a later day",
    "instant": "Instant credit transfer",
}
#: Status, title and text of the final pages.
_ENDINGS: Mapping[str, tuple[int, str, str]] = {
    "disconnected": (
        410,
        "You were disconnected",
        "This took too long. Nothing was signed, and nothing will be paid.",
    ),
    "locked": (
        410,
        "This cannot go on",
        "There were too many wrong entries. Nothing was signed, and nothing will be paid.",
    ),
    "closed": (
        410,
        "Nothing to sign",
        "This payment cannot be signed, or can no longer be signed.",
    ),
    "elsewhere": (409, "Signing has begun", "This payment is being signed in another window."),
    "confirmed": (200, "Thank you", "The payment was signed. You can close this window."),
    "refused": (200, "Refused", "You refused this payment. You can close this window."),
    "unknown": (404, "Nothing here", "This page does not exist, or has expired."),
    "maintenance": (503, "Closed", "The bank is closed for maintenance. Please come back later."),
}


def _load(name: str) -> str:
    return files("assay.sandbox.payments").joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 -- see above

    return Environment(loader=FunctionLoader(_load), autoescape=True, undefined=StrictUndefined)


@cache
def _template(name: str) -> "Template":
    return _environment().get_template(f"{name}.html.j2")


@cache
def _style_source() -> str:
    """Return the CSP source of the only style that pages may have, by its digest."""
    digest = sha256(_load("style.css").removesuffix("\n").encode()).digest()
    return f"'sha256-{b64encode(digest).decode('ascii')}'"


def render_view(context: PaymentContext, payment: Payment, view: View) -> Answer:
    """Return the answer that shows a view."""
    signing, page = payment.signing, view.page
    if view.target is not None:
        headers = (("Location", view.target), *page_headers("'none'"))
        return Answer(status=303, body=b"", headers=headers)
    if signing is None or page is None or page not in _TITLES:
        return final_page(page or "unknown")
    content: dict[str, object] = {
        "title": _TITLES[page],
        "message": view.message,
        "action": f"/signing/{context.world.id}/{signing.key}",
    }
    forms = "'self'"
    match page:
        case "factor":
            offered = context.policies.factors[context.owner(payment).segment]
            content["factors"] = [(factor, _LABELS[factor]) for factor in offered]
        case "code" if signing.factor is not None:
            content["prompt"] = _PROMPTS[signing.factor]
        case "confirm":
            content["rows"] = _rows(payment.terms)
            forms = _forms(payment.terms)
        case _:
            pass
    return _page(page, page, 200, content, forms)


def final_page(page: str) -> Answer:
    """Return a page without a form."""
    status, title, says = _ENDINGS[page]
    content: dict[str, object] = {"title": title, "message": "", "says": says}
    answer = _page("ending", page, status, content, "'none'")
    if page == "maintenance":
        headers = (*answer.headers, ("Retry-After", "3600"))
        return Answer(status=status, body=answer.body, media=_HTML, headers=headers)
    return answer


def _page(
    template: str, page: str, status: int, content: Mapping[str, object], forms: str
) -> Answer:
    text = _template(template).render(**content, page=page)
    return Answer(
        status=status,
        body=text.encode("utf-8", "replace"),
        media=_HTML,
        headers=page_headers(forms),
    )


def page_headers(forms: str) -> tuple[tuple[str, str], ...]:
    """Return headers that keep a page private: its URL contains a key."""
    policy = (
        f"default-src 'none'; style-src {_style_source()}; "
        f"form-action {forms}; base-uri 'none'; frame-ancestors 'none'"
    )
    return (
        ("Content-Security-Policy", policy),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    )


def _forms(terms: Terms) -> str:
    """Return the allowed form targets: browsers check redirections against them too."""
    origins = {origin(url) for url in (terms.success_url, terms.failure_url) if url}
    return " ".join(["'self'", *sorted(origins - {""})])


def _rows(terms: Terms) -> list[tuple[str, str]]:
    rows = [
        ("What", _TYPES[terms.type]),
        ("Amount", f"{terms.amount} {terms.currency}"),
        ("From", terms.debtor),
        ("To", terms.creditor),
        ("Purpose", terms.purpose),
    ]
    if terms.day is not None:
        rows.append(("On", terms.day.isoformat()))
    if terms.reference:
        rows.append(("Reference", terms.reference))
    return rows
