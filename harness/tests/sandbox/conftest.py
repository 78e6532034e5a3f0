"""A small in-process client of the sandbox bank."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest

from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND, Policies


@dataclass(kw_only=True)
class Guest:
    """A customer of the bank, as a TPP sees them."""

    http: httpx.Client
    token: str
    name: str
    login: str
    password: str
    holdings: list[dict[str, Any]]
    customer: str
    segment: str
    factors: dict[str, str]

    def call(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Call for the customer; ``batch=True`` without the customer present."""
        headers = {"Authorization": f"Bearer {self.token}", **how.pop("headers", {})}
        if not how.pop("batch", False):
            headers["PSU-IP-Address"] = "192.0.2.7"
        return self.http.request(method, path, headers=headers, **how)

    def get(self, path: str, **how: Any) -> httpx.Response:
        return self.call("GET", path, **how)

    def consent(self, *keys: str, **how: Any) -> httpx.Response:
        return self.call("PUT", "/consents", json={"accounts": keys}, **how)

    def keys(self) -> list[str]:
        return [holding["key"] for holding in self.holdings]

    def walk(self, path: str, what: str, most: int = 9) -> list[list[dict[str, Any]]]:
        """Follow the links of a list, up to a number of pages."""
        pages, url = [], path
        while url and len(pages) < most:
            body = self.get(url).json()
            pages.append(body[what])
            url = body["links"].get("next")
        return pages


@dataclass(kw_only=True)
class World:
    """A world of the bank, and control of its clock."""

    http: httpx.Client
    id: str
    now: str

    def at(self, moment: str) -> httpx.Response:
        url = f"/assay-control/1/worlds/{self.id}/clock"
        return self.http.post(url, json={"to": moment})

    def control(self, path: str, **content: Any) -> httpx.Response:
        return self.http.post(f"/assay-control/1/worlds/{self.id}/{path}", json=content)

    def customer(self, *holdings: dict[str, Any], **how: Any) -> Guest:
        answer = self.control("customers", holdings=list(holdings), **how)
        assert answer.status_code == 201, answer.text
        made = answer.json()
        names = ("token", "name", "login", "password", "holdings", "customer", "segment", "factors")
        return Guest(http=self.http, **{name: made[name] for name in names})

    def payer(self, segment: str = "PART", **traits: bool) -> Guest:
        """Create a customer with one account without entries."""
        account = {"resource": "account", "entries": [], "traits": traits}
        return self.customer(account, segment=segment)

    def tpp(self) -> "Provider":
        made = self.control("tpps").json()
        return Provider(http=self.http, token=made["token"], world=self)

    def register(self, guest: Guest, registered: Any, iban: str | None = None) -> str:
        """Register a creditor for a customer; return its IBAN."""
        content = {"registered": registered} | ({"iban": iban} if iban else {})
        answer = self.control(f"customers/{guest.customer}/creditors", **content)
        assert answer.status_code == 201, answer.text
        return answer.json()["iban"]

    def executions(self) -> list[dict[str, Any]]:
        url = f"/assay-control/1/worlds/{self.id}/executions"
        return self.http.get(url).json()["executions"]


#: Default payment request: no CASH, and no small amount.
PAYMENT = {
    "paymentType": "immediate",
    "creditorAccount": "FR7630006000011234567890189",
    "amount": "250.00",
    "currency": "EUR",
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "reference": "Invoice 17",
    "successfulReportUrl": "https://tpp.example/back/yes?flow=17&x=%C3%A9#done",
    "unsuccessfulReportUrl": "https://tpp.example/back/no?flow=17",
}


@dataclass(kw_only=True)
class Provider:
    """A TPP that initiates payments."""

    http: httpx.Client
    token: str
    world: World

    def call(self, method: str, path: str, **how: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}", **how.pop("headers", {})}
        return self.http.request(method, path, headers=headers, **how)

    def body(self, guest: Guest, **changes: Any) -> dict[str, Any]:
        """Build a valid request with some members changed; `...` omits one."""
        whole = {**PAYMENT, "debtorAccount": guest.keys()[0], **changes}
        if whole["paymentType"] == "deferred":
            whole.setdefault("requestedExecutionDate", "2026-09-18")
        return {name: value for name, value in whole.items() if value is not ...}

    def create(self, guest: Guest, how: dict[str, Any] | None = None, **changes: Any):
        return self.call(
            "POST", "/payment-requests", json=self.body(guest, **changes), **(how or {})
        )

    def pay(self, guest: Guest, **changes: Any) -> "Payment":
        """Create a payment; None if it is not accepted."""
        answer = self.create(guest, **changes)
        if not answer.is_success:
            return None
        made = answer.json()
        return Payment(
            tpp=self,
            guest=guest,
            id=made["paymentRequestResourceId"],
            approval=made["links"]["consentApproval"],
        )


@dataclass(kw_only=True)
class Payment:
    """A payment request, for all parties."""

    tpp: Provider
    guest: Guest
    id: str
    approval: str

    def read(self, tpp: Provider | None = None) -> httpx.Response:
        return (tpp or self.tpp).call("GET", f"/payment-requests/{self.id}")

    def modify(self, tpp: Provider | None = None, **changes: Any) -> httpx.Response:
        path = f"/payment-requests/{self.id}"
        return (tpp or self.tpp).call("PUT", path, json=changes)

    def confirmation(self) -> httpx.Response:
        return self.tpp.call("POST", f"/payment-requests/{self.id}/confirmation", json={})

    def status(self) -> str | None:
        answer = self.read()
        return answer.json()["status"] if answer.is_success else None

    def sign(self, factor: str = "sms", decision: str = "confirm", **who: str) -> "Payment":
        """Sign by the control API."""
        content = {"customer": self.guest.customer, "factor": factor, "decision": decision}
        self.tpp.world.control(f"payments/{self.id}/sign", **content, **who)
        return self

    def cancel(self, *, by: str) -> bool:
        """Cancel as the TPP or as the customer."""
        if by == "tpp":
            return self.modify(status="cancelled").is_success
        return self.tpp.world.control(f"payments/{self.id}/cancel").is_success

    def executed(self) -> list[dict[str, Any]]:
        """Return its executions."""
        return [row for row in self.tpp.world.executions() if self.id == row["payment"]]

    def screens(self) -> "Browser":
        browser = Browser(http=self.tpp.http, guest=self.guest)
        browser.open(self.approval)
        return browser


class _Page(HTMLParser):
    """The form of a page, its fields, and all its text."""

    def __init__(self) -> None:
        super().__init__()
        self.screen = self.action = self.name = None
        self.fields: dict[str, list[str]] = {}
        self.text = ""
        self.tags: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str]]) -> None:
        given = dict(attributes)
        self.tags.append((tag, given))
        if tag == "main":
            self.name = given["data-page"]
        elif tag == "form":
            self.screen, self.action = given["data-screen"], given["action"]
        elif tag in ("input", "button") and "name" in given:
            self.fields.setdefault(given["name"], []).append(given.get("value", ""))

    def handle_data(self, data: str) -> None:
        self.text += data


@dataclass(kw_only=True)
class Browser:
    """A browser without scripts and cookies, on the bank's screens."""

    http: httpx.Client
    guest: Guest
    answer: httpx.Response = field(init=False)
    page: _Page = field(init=False)

    def open(self, url: str) -> "Browser":
        return self._show(self.http.get(url))

    def submit(self, **fields: str) -> "Browser":
        return self._show(self.http.post(self.page.action, data=fields))

    def _show(self, answer: httpx.Response) -> "Browser":
        self.answer, self.page = answer, _Page()
        self.page.feed(answer.text)
        return self

    @property
    def screen(self) -> str | None:
        """Return the name of the screen; None if there is no form."""
        return self.page.screen

    @property
    def location(self) -> str | None:
        return self.answer.headers.get("Location")

    def fill(self, factor: str = "sms", decision: str = "confirm", **other: str) -> dict[str, str]:
        """Return the valid entries of this screen."""
        return {
            "password": {"login": self.guest.login, "password": self.guest.password},
            "factor": {"factor": factor},
            "code": {"code": self.guest.factors[factor]},
            "confirm": {"decision": decision},
        }[self.screen] | other

    def walk(self, to: str | None = None, **how: str) -> "Browser":
        """Fill in one screen after the other, up to a given one or to the end."""
        for _ in range(5):
            if self.screen in (None, to):
                break
            self.submit(**self.fill(**how))
        return self


@dataclass(kw_only=True)
class Bank:
    """A bank with its own registry of worlds."""

    policies: Policies = SOUND
    base_url: str | None = None
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        transport = httpx.WSGITransport(app=make_app(self.policies, self.base_url))
        self.http = httpx.Client(transport=transport, base_url="http://bank.test")

    def world(self, **how: Any) -> World:
        made = self.http.post("/assay-control/1/worlds", json=how).json()
        return World(http=self.http, id=made["world"], now=made["now"])


@pytest.fixture
def open_bank() -> type[Bank]:
    """Return a function that opens a bank with other policies."""
    return Bank


@pytest.fixture
def bank() -> Bank:
    """Open the bank of the document."""
    return Bank()


@pytest.fixture
def world(bank: Bank) -> World:
    """Open a world of the sound bank, on 16 September 2026 at ten."""
    return bank.world()
