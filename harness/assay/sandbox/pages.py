"""HTML pages of the customer's screens, usable by a browser or by a program.

The form of a screen has `data-screen`, and the page `data-page`, with the name of the step
or of the final page. There are no scripts and no external references. Jinja escapes every
text; it is imported when the first page is shown. Which page is next is decided by the
screens for signing (:mod:`assay.sandbox.payments.routing`) and by those for granting
access (:mod:`assay.sandbox.guard.oauth.authorize`).
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from assay.sandbox.messages import Answer
from assay.sandbox.payments.terms import Factor

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = [
    "NO_DECISION",
    "NO_FACTOR",
    "WRONG_CODE",
    "labelled",
    "prompt",
    "redirect_to",
    "show_page",
]

WRONG_CODE = "This code is not right."
NO_FACTOR = "Please choose one of these."
NO_DECISION = "Please confirm or refuse."

#: Label of each factor, and label of its code.
_FACTORS: Mapping[Factor, tuple[str, str]] = {
    "sms": ("A code by SMS", "Code from the SMS"),
    "cap": ("A code from the card reader (CAP)", "Code from the card reader"),
    "soft-token": ("The app on your phone (soft token)", "Code from the app"),
    "email": ("A code by e-mail", "Code from the e-mail"),
}


def labelled(factors: Iterable[Factor]) -> list[tuple[Factor, str]]:
    """Return factors with their labels."""
    return [(factor, _FACTORS[factor][0]) for factor in factors]


def prompt(factor: Factor) -> str:
    """Return the label of a factor's code."""
    return _FACTORS[factor][1]


def show_page(
    page: str, title: str, content: Mapping[str, object], *, forms: str, status: int = 200
) -> Answer:
    """Return a page.

    `content` is what the template needs for this page, `forms` the sources to which its
    form may be sent or redirected.
    """
    given = {"message": "", **content}
    text = _template().render(page=page, title=title, **given)
    return Answer(
        status=status,
        body=text.encode("utf-8", "replace"),
        media="text/html; charset=utf-8",
        headers=_headers(forms),
    )


def redirect_to(target: str) -> Answer:
    """Redirect the browser."""
    return Answer(status=303, body=b"", headers=(("Location", target), *_headers("'none'")))


def _load(name: str) -> str:
    return files("assay.sandbox").joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _template() -> "Template":
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 -- see above

    loader = FunctionLoader(_load)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html.j2")


@cache
def _style_source() -> str:
    """Return the CSP source of the only style that pages may have, by its digest."""
    digest = sha256(_load("style.css").removesuffix("\n").encode()).digest()
    return f"'sha256-{b64encode(digest).decode('ascii')}'"


def _headers(forms: str) -> tuple[tuple[str, str], ...]:
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
