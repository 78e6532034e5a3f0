"""The authorization server's screens, in the look of the bank's other screens.

Their page, style and forms are those of signing a payment, and so are the names of the
fields; only what the customer is asked differs. Every text is escaped by Jinja, which is
only loaded when the first screen is shown. Not for deciding what comes next.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from assay.sandbox.guard.demands import SCREENS
from assay.sandbox.guard.oauth.state import Sitting
from assay.sandbox.payments.formats import Factor, origin
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.screens import page_headers
from assay.sandbox.wire import Answer

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["away", "ending", "screen"]

_HTML = "text/html; charset=utf-8"
_TITLES: Mapping[str, str] = {
    "password": "Log in",
    "factor": "Strong authentication",
    "code": "Your code",
    "confirm": "May they see your accounts?",
}
#: What each factor is called where it is chosen, and where its code is asked for.
_FACTORS: Mapping[Factor, tuple[str, str]] = {
    "sms": ("A code by SMS", "Code from the SMS"),
    "cap": ("A code from the card reader (CAP)", "Code from the card reader"),
    "soft-token": ("The app on your phone (soft token)", "Code from the app"),
    "email": ("A code by e-mail", "Code from the e-mail"),
}
#: Title and text of pages with no form.
_ENDINGS: Mapping[str, tuple[int, str, str]] = {
    "unfit": (
        400,
        "This cannot be asked",
        "Whoever sent you here is not known, or wants you to be sent on to an unknown place.",
    ),
    "unknown": (404, "Nothing here", "There is no such page, or not any more."),
}
_OWN = ("password.html.j2",)


def _load(name: str) -> str:
    package = "assay.sandbox.guard.oauth" if name in _OWN else "assay.sandbox.payments"
    return files(package).joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 -- see above

    return Environment(loader=FunctionLoader(_load), autoescape=True, undefined=StrictUndefined)


def screen(sitting: Sitting, message: str = "") -> Answer:
    """Show the screen of a customer's step."""
    step, asked = sitting.step, sitting.asked
    content: dict[str, object] = {
        "title": _TITLES[step],
        "message": message,
        "action": SCREENS + sitting.key,
        "client": asked.client.id,
    }
    if step == "factor" and sitting.person:
        offered = SOUND_PAYMENTS.factors[sitting.person.segment]
        content["factors"] = [(factor, _FACTORS[factor][0]) for factor in offered]
    if step == "code" and sitting.factor:
        content["prompt"] = _FACTORS[sitting.factor][1]
    if step == "confirm":
        content["rows"] = [("Who", asked.client.id), ("What", "Accounts, balances, transactions")]
    # Browsers apply `form-action` to the way back as well.
    forms = f"'self' {origin(asked.redirect)}"
    return _page(step, step, 200, content, forms)


def ending(page: str) -> Answer:
    """Show a page with no form."""
    status, title, says = _ENDINGS[page]
    return _page("ending", page, status, {"title": title, "message": "", "says": says}, "'none'")


def away(target: str) -> Answer:
    """Send the customer elsewhere."""
    return Answer(status=303, body=b"", headers=(("Location", target), *page_headers("'none'")))


def _page(
    template: str, page: str, status: int, content: Mapping[str, object], forms: str
) -> Answer:
    text = _environment().get_template(f"{template}.html.j2").render(**content, page=page)
    body = text.encode("utf-8", "replace")
    return Answer(status=status, body=body, media=_HTML, headers=page_headers(forms))
