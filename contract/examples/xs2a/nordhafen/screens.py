"""The customer's screens: login, factor, and the decision with its code."""

from html import escape
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from nordhafen import consents, payments
from nordhafen.domain import Authorisation, Consent, Customer, Payment, World

if TYPE_CHECKING:
    from nordhafen.application import Bank

FACTORS = ("smsTAN", "photoTAN")
TRIES = 3
#: The fields of each screen.
LOGIN = '<input name="login"><input name="password" type="password">'
FACTOR = "".join(f'<input type="radio" name="factor" value="{factor}">' for factor in FACTORS)
DECISION = (
    '<input name="code"><button name="decision" value="confirm">Confirm</button>'
    '<button name="decision" value="refuse">Refuse</button>'
)


def answer(bank: "Bank", request: Request, path: str) -> Response:
    """Show a screen, or take what was typed on it."""
    kind, _, key = path.partition("/")
    for world in bank.worlds.values():
        subject = (world.consents if kind == "consents" else world.payments).get(key)
        if subject is not None and kind in ("consents", "payments"):
            return Visit(bank, world, subject, request).answer()
    return page("This page is unknown", status=404)


class Visit:
    """One request of a customer's browser."""

    def __init__(
        self, bank: "Bank", world: World, subject: Consent | Payment, request: Request
    ) -> None:
        self.policy, self.world, self.subject, self.request = bank.policy, world, subject, request
        self.authorisation: Authorisation = subject.authorisation

    def answer(self) -> Response:
        """Answer the request."""
        visit, now = self.authorisation, self.world.now
        if visit.sca_status != "received" or self.subject.status not in ("received", "RCVD"):
            return page("This request is closed", status=410)
        if visit.last_activity is not None and now - visit.last_activity > self.policy.idle:
            return self.disconnected()
        if self.request.method == "GET":
            if visit.session is None or self.request.cookies.get("session") != visit.session:
                visit.session = self.world.new_id()
                visit.customer, visit.factor = None, ""
            visit.last_activity = now
            return self.screen()
        if self.request.form.get("session") != visit.session:
            return page("You are disconnected", status=410)
        visit.last_activity = now
        return self.submitted()

    def submitted(self) -> Response:
        """Take a form."""
        visit, form = self.authorisation, self.request.form
        if visit.customer is None:
            customer = self.login()
            if customer is None:
                return self.wrong()
            visit.customer = customer
        elif not visit.factor:
            if form.get("factor") not in FACTORS:
                return self.wrong()
            visit.factor = form["factor"]
        elif form.get("decision") == "refuse":
            self.refused()
            return self.left()
        elif form.get("decision") == "confirm" and form.get("code") == visit.customer.codes.get(
            visit.factor
        ):
            self.confirmed(visit.customer, visit.factor)
            return self.left()
        else:
            return self.wrong()
        return self.screen()

    def login(self) -> Customer | None:
        """Return the customer who has logged in, if the request is theirs."""
        form, subject = self.request.form, self.subject
        signs = consents.may_sign if isinstance(subject, Consent) else payments.may_sign
        for customer in self.world.customers:
            if customer.login == form.get("login") and customer.password == form.get("password"):
                return customer if signs(subject, customer) else None  # type: ignore[arg-type]
        return None

    def confirmed(self, customer: Customer, factor: str) -> None:
        """Authorise the request."""
        self.authorisation.sca_status = "finalised"
        if isinstance(self.subject, Consent):
            consents.authorised(self.policy, self.world, self.subject, customer)
        else:
            payments.authorised(self.policy, self.world, self.subject, factor)

    def refused(self) -> None:
        """End the request: its customer refused it, or did not finish."""
        self.authorisation.sca_status = "failed"
        self.subject.status = "rejected" if isinstance(self.subject, Consent) else "RJCT"

    def wrong(self) -> Response:
        """Show the screen again, three times at most."""
        self.authorisation.failures += 1
        if self.authorisation.failures >= TRIES:
            self.refused()
            return page("Too many wrong entries", status=403)
        return self.screen("This entry is wrong")

    def disconnected(self) -> Response:
        """End the visit of a customer who did nothing for too long."""
        self.refused()
        if self.policy.disconnected_goes_back:
            return self.left()
        return page("You are disconnected", status=410)

    def left(self) -> Response:
        """Send the browser back to the TPP."""
        to = self.authorisation.redirect_uri
        if self.policy.returns_to == "asked":
            to = self.request.form.get("next") or self.request.args.get("next") or to
        if self.policy.returns_to == "home":
            to = "https://www.nordhafen.example/"
        if not to:
            return page("You can close this window")
        return Response(status=303, headers={"Location": to})

    def screen(self, *lines: str) -> Response:
        """Show the screen that comes next."""
        visit = self.authorisation
        fields = LOGIN if visit.customer is None else DECISION if visit.factor else FACTOR
        hidden = f'<input type="hidden" name="session" value="{visit.session}">'
        form = f'<form method="post" action="{escape(self.request.full_path)}">{hidden}{fields}'
        response = page("Nordhafen Bank", *lines, form=f"{form}<button>Continue</button></form>")
        if visit.session is not None:
            response.set_cookie("session", visit.session, path=self.request.path, httponly=True)
        return response


def page(title: str, *lines: str, form: str = "", status: int = 200) -> Response:
    """Return a page."""
    text = "".join(f"<p>{escape(line)}</p>" for line in lines)
    html = f"<!doctype html><title>{escape(title)}</title><h1>{escape(title)}</h1>{text}{form}"
    return Response(html, status, content_type="text/html; charset=utf-8")
