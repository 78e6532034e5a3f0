"""A bank that spells nearly everything in another way, in plain WSGI; nothing here knows of Assay.

Lists are read by POST, page by page; accounts have several identifications, by scheme; payments
have their product in their path. Its control API (`assay-control/1`) makes customers. What
mutants change is in methods of its own.
"""

import json
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from itertools import count
from typing import Any
from urllib.parse import parse_qs

NOW = "2026-09-16T23:30:00+00:00"
#: The bank is in Athens, where the next day has begun.
TODAY = date(2026, 9, 17)
PAGE = 2
Answer = tuple[int, Any, dict[str, str]]


class Refused(Exception):  # noqa: N818 -- no error: an answer
    """The status of a refusal."""


def iban(number: int) -> str:
    """Return a valid IBAN of an Italian bank."""
    bban = f"X0542811101{number:012d}"
    digits = "".join(str(int(sign, 36)) for sign in f"{bban}IT00")
    return f"IT{98 - int(digits) % 97:02d}{bban}"


class Kestrel:
    """The bank; one instance is one run."""

    host = "kestrel.example"

    def __init__(self) -> None:
        self.numbers = count(1)
        self.accounts: dict[str, str] = {}
        self.entries: dict[str, list[dict[str, str]]] = {}
        self.payments: dict[str, tuple[str, str, dict[str, Any]]] = {}

    # -- what mutants change ---------------------------------------------------------
    def identifications(self, number: str) -> list[dict[str, str]]:
        """Return the identifications of an account."""
        return [{"scheme": "KEY", "value": number}, {"scheme": "IBAN", "value": number}]

    def is_active(self) -> object:
        """Return whether an account can be used."""
        return True

    def page_after(self, place: int) -> int:
        """Return where the page after the one at a place begins."""
        return place + PAGE

    def check_recurring(self, value: object) -> bool:
        """Whether the field `recurring` is right."""
        return value is False

    def is_at(self, product: str, made: str) -> bool:
        """Whether a payment of a product stands below another one."""
        return product == made

    def shown_priority(self, priority: int) -> int:
        """Return the priority of a payment as it is shown."""
        return priority

    # -- the interface ---------------------------------------------------------------
    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request."""
        steps = environ["PATH_INFO"].strip("/").split("/")
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        headers: dict[str, str] = {}
        try:
            if steps[0] == "assay-control":
                status, body = self.control(environ["REQUEST_METHOD"], steps, content)
            else:
                status, body, headers = self.answer(environ, steps, content)
        except Refused as refusal:
            status, body = refusal.args[0], {}
        lines = [("Content-Type", "application/json"), *headers.items()]
        start_response(f"{status} .", lines)
        return [json.dumps(body).encode()]

    def answer(self, environ: dict[str, Any], steps: list[str], content: bytes) -> Answer:
        """Answer a call of the interface."""
        if parse_qs(environ["QUERY_STRING"]).get("api-version") != ["7"]:
            raise Refused(400)
        customer = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        try:
            body = json.loads(content) if content else {}
        except ValueError:
            raise Refused(400) from None
        if not isinstance(body, dict):
            raise Refused(400)
        match environ["REQUEST_METHOD"], steps:
            case "POST", ["accounts", "search"]:
                return self.listed(body, self.shown_accounts(customer))
            case "POST", ["entries", "search"]:
                if self.accounts.get(str(body.get("account"))) != customer:
                    raise Refused(403)
                return self.listed(body, self.entries[body["account"]])
            case "POST", ["payments", product]:
                return self.pay(customer, product, body)
            case "GET", ["payments", product, number]:
                return 200, self.shown(customer, product, number), {}
        raise Refused(404)

    def listed(self, body: Any, items: list[Any]) -> Answer:
        """Return a page of a list."""
        if body.get("type") != "LIST" or body.get("until") != f"{TODAY + timedelta(1)}T00:00:00Z":
            raise Refused(400)
        place = body.get("pageId") or "0"
        if not str(place).isdecimal():
            raise Refused(400)
        place = int(place)
        after = self.page_after(place)
        page = {"next": str(after)} if after < len(items) else {}
        return 200, {"items": items[place : place + PAGE], "page": page}, {}

    def shown_accounts(self, customer: str) -> list[Any]:
        """Return the accounts of a customer."""
        owned = (number for number, owner in self.accounts.items() if owner == customer)
        return [
            {"ids": self.identifications(number), "active": self.is_active()} for number in owned
        ]

    def pay(self, customer: str, product: str, body: Any) -> Answer:
        """Make a payment."""
        valid = (
            product in {"ordinary", "instant"}
            and self.accounts.get(str(body.get("debtor"))) == customer
            and self.check_recurring(body.get("recurring"))
            and body.get("validUntil") == f"{TODAY + timedelta(30)}"
            and type(body.get("priority")) is int
        )
        if not valid:
            raise Refused(422)
        number = f"P-{next(self.numbers)}"
        self.payments[number] = (customer, product, body)
        link = f"https://{self.host}/payments/{product}/{number}"
        return 201, self.as_shown(number, body), {"Location": link}

    def shown(self, customer: str, product: str, number: str) -> Any:
        """Return a payment."""
        owner, made, body = self.payments.get(number, ("", "", {}))
        if owner != customer or not self.is_at(product, made):
            raise Refused(404)
        return self.as_shown(number, body)

    def as_shown(self, number: str, body: Any) -> Any:
        """Return a payment in the form in which it is shown."""
        priority = self.shown_priority(body["priority"])
        return {"number": number, **body, "priority": priority, "stage": "NEW"}

    def control(self, method: str, steps: list[str], content: bytes) -> tuple[int, Any]:
        """Answer a call of the control API."""
        if method == "DELETE":
            return 200, {}
        if method != "POST":
            raise Refused(404)
        if steps[-1] == "worlds":
            return 201, {"world": f"w-{next(self.numbers)}", "now": NOW}
        token = f"t-{next(self.numbers)}"
        holdings: list[Any] = []
        for holding in json.loads(content)["holdings"]:
            for _ in range(holding["count"]):
                number = iban(next(self.numbers))
                days = holding.get("entries") or []
                entries = [{"key": f"E-{next(self.numbers)}", "date": str(day)} for day in days]
                self.accounts[number] = token
                self.entries[number] = [
                    {"id": entry["key"], "day": entry["date"]} for entry in entries
                ]
                made = {"resource": holding["resource"], "key": number, "traits": {}}
                holdings.append({**made, "entries": entries})
        return 201, {"customer": token, "token": token, "holdings": holdings, "now": NOW}
