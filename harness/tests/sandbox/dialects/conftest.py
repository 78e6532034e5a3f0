"""A small in-process client of the STET dialect."""

from typing import Any

import httpx
import pytest

from assay.sandbox.app import make_app
from assay.sandbox.dialects import BASE_PATHS, DIALECTS

ROOT = BASE_PATHS["stet"]
HOST = "http://bank.test"


class Stet:
    """A world of a bank with the STET dialect, and the calls of a TPP."""

    def __init__(self, bank: Any, **how: Any) -> None:
        app = DIALECTS["stet"](make_app(bank.policies))
        bank.http = httpx.Client(transport=httpx.WSGITransport(app=app), base_url=HOST)
        self.http, self.world = bank.http, bank.world(**how)

    def call(self, who: Any, method: str, path: str, **how: Any) -> httpx.Response:
        """Call with a token; ``batch=True`` without the customer."""
        headers = {"Authorization": f"Bearer {who.token}", **how.pop("headers", {})}
        if not how.pop("batch", False):
            headers["PSU-IP-Address"] = "192.0.2.7"
        url = path if path.startswith("http") else f"{HOST}{ROOT}{path}"
        return self.http.request(method, url, headers=headers, **how)

    def get(self, who: Any, path: str, **how: Any) -> httpx.Response:
        return self.call(who, "GET", path, **how)

    def rows(self, who: Any) -> list[dict[str, Any]]:
        return self.get(who, "/accounts").json()["accounts"]

    def ids(self, who: Any) -> list[str]:
        return [row["resourceId"] for row in self.rows(who)]

    def consent(self, who: Any, *accounts: Any, **members: Any) -> httpx.Response:
        """Consent to the balances and transactions of some accounts."""
        body = {
            "balances": accounts,
            "transactions": accounts,
            "trustedBeneficiaries": False,
            "psuIdentity": True,
            **members,
        }
        kept = {name: value for name, value in body.items() if value is not ...}
        return self.call(who, "PUT", "/consents", json=kept)

    def ready(self, *holdings: dict[str, Any]) -> tuple[Any, list[str]]:
        """Create a customer who consents to all accounts; return the identifiers too."""
        guest = self.world.customer(*holdings)
        rows = self.rows(guest)
        assert self.consent(guest, *(row["accountId"] for row in rows)).status_code == 201
        return guest, [row["resourceId"] for row in rows]

    def walk(self, who: Any, path: str, what: str) -> list[list[dict[str, Any]]]:
        """Follow the links of a list to its end."""
        pages: list[list[dict[str, Any]]] = []
        url: str | None = path
        while url and len(pages) < 9:
            body = self.get(who, url).json()
            pages.append(body[what])
            url = body["_links"].get("next", {}).get("href")
        return pages

    def pay(self, tpp: Any, body: dict[str, Any]) -> str | None:
        """Create a payment; return its link, or None if refused."""
        answer = self.call(tpp, "POST", "/payment-requests", json=body)
        return answer.headers["Location"] if answer.is_success else None

    def payment(self, tpp: Any, link: str) -> dict[str, Any]:
        return self.get(tpp, link).json()["paymentRequest"]


def request(guest: Any, **changes: Any) -> dict[str, Any]:
    """Build a valid payment request with some members changed; `...` omits one."""
    whole = {
        "paymentInformationId": "PI-17",
        "creationDateTime": "2026-09-16T10:00:00.000+02:00",
        "numberOfTransactions": 1,
        "initiatingParty": {"name": "A third party"},
        "paymentTypeInformation": {"serviceLevel": "SEPA", "categoryPurpose": "DVPM"},
        "debtorAccount": {"iban": guest.keys()[0]} if guest else ...,
        "beneficiary": {
            "creditor": {"name": "Zoé Exemple"},
            "creditorAccount": {"iban": "FR7630006000011234567890189"},
        },
        "chargeBearer": "SLEV",
        "creditTransferTransaction": [transfer("250.00")],
        "supplementaryData": {
            "acceptedAuthenticationApproach": ["REDIRECT"],
            "successfulReportUrl": "https://tpp.example/yes?flow=17",
            "unsuccessfulReportUrl": "https://tpp.example/no",
        },
        **changes,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def transfer(amount: Any, currency: Any = "EUR", **changes: Any) -> dict[str, Any]:
    return {
        "paymentId": {"instructionId": "I-17", "endToEndId": "E-17"},
        "instructedAmount": {"amount": amount, "currency": currency},
        "remittanceInformation": ["Invoice 17"],
        **changes,
    }


@pytest.fixture
def open_stet(open_bank):
    """Return a function that opens a bank with the STET dialect, with other policies if given."""
    return lambda **how: Stet(open_bank(**how))


@pytest.fixture
def stet(open_stet) -> Stet:
    """Open a world of the sound bank, on 16 September 2026 at ten."""
    return open_stet()


@pytest.fixture
def payer(stet):
    return stet.world.payer()


@pytest.fixture
def tpp(stet):
    return stet.world.tpp()


@pytest.fixture
def write():
    """Return functions that build payment requests and transfers."""
    return request, transfer
