"""A bank that counts in cents and takes whole orders, in plain WSGI; nothing here knows of Assay.

Accounts have ids of the bank's own in paths, and IBANs in queries. A change sends the whole order
again, a DELETE calls it off, and orders stand below their product. Its control API
(`assay-control/1`) makes customers. What mutants change is in methods of its own.
"""

import json
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any
from urllib.parse import parse_qs

NOW = "2026-09-16T10:00:00+00:00"


class Refused(Exception):  # noqa: N818 -- no error: an answer
    """The status of a refusal."""


class Plover:
    """The bank; one instance is one run."""

    def __init__(self) -> None:
        self.numbers = count(1)
        self.owners: dict[str, str] = {}
        self.orders: dict[str, dict[str, Any]] = {}

    # -- what mutants change ---------------------------------------------------------
    def shown_price(self, cents: int) -> object:
        """Return the price of an order as it is shown."""
        return cents

    def by_iban(self, amount: int) -> int:
        """Return the balance that is shown for an IBAN."""
        return amount

    def changed(self, body: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
        """Return an order after a change."""
        return sent

    def called_off(self, order: dict[str, Any]) -> None:
        """Call an order off."""
        order["stage"] = "OFF"

    def confirm(self) -> int:
        """Return the status of a confirmation."""
        return 405

    # -- the interface ---------------------------------------------------------------
    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request."""
        steps = environ["PATH_INFO"].strip("/").split("/")
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        try:
            if steps[0] == "assay-control":
                status, body = self.control(environ["REQUEST_METHOD"], steps, content)
            else:
                status, body = self.answer(environ, steps, content)
        except Refused as refusal:
            status, body = refusal.args[0], {}
        start_response(f"{status} .", [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    def answer(self, environ: dict[str, Any], steps: list[str], content: bytes) -> tuple[int, Any]:
        """Answer a call of the interface."""
        customer = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        query = parse_qs(environ["QUERY_STRING"])
        match environ["REQUEST_METHOD"], steps:
            case "GET", ["accounts"]:
                own = [each for each, owner in self.owners.items() if owner == customer]
                return 200, {"items": [{"id": f"A-{each[-6:]}", "iban": each} for each in own]}
            case "GET", ["accounts", own_id, "balances"]:
                return self.balances(customer, lambda each: f"A-{each[-6:]}" == own_id)
            case "GET", ["balances"]:
                (asked,) = query.get("account", [""])
                status, body = self.balances(customer, lambda each: each == asked)
                (shown,) = body["items"]
                return status, {"items": [{**shown, "amount": self.by_iban(shown["amount"])}]}
            case "POST", ["orders", product]:
                return 201, self.made(customer, product, self.read(content))
            case "POST", ["orders", product, number, "confirmation"]:
                self.order(customer, product, number)
                return self.confirm(), {}
            case method, ["orders", product, number]:
                return 200, self.about(method, self.order(customer, product, number), content)
        raise Refused(404)

    def balances(self, customer: str, is_asked: Callable[[str], bool]) -> tuple[int, Any]:
        """Return the balances of an account of a customer."""
        for each, owner in self.owners.items():
            if owner == customer and is_asked(each):
                return 200, {"items": [{"of": each, "amount": int(each[-3:])}]}
        raise Refused(404)

    def read(self, content: bytes) -> dict[str, Any]:
        """Return the body of an order: it has all members, and its price in whole cents."""
        try:
            body = json.loads(content)
        except ValueError:
            raise Refused(400) from None
        if not isinstance(body, dict) or body.keys() != {"account", "cents", "day", "memo"}:
            raise Refused(422)
        if type(body["cents"]) is not int or not isinstance(body["memo"], str):
            raise Refused(422)
        return body

    def made(self, customer: str, product: str, body: dict[str, Any]) -> Any:
        """Make an order."""
        if product not in {"later", "express"} or self.owners.get(str(body["account"])) != customer:
            raise Refused(422)
        number = f"O-{next(self.numbers)}"
        self.orders[number] = {"of": customer, "product": product, "stage": "NEW", "body": body}
        return self.shown(number)

    def order(self, customer: str, product: str, number: str) -> str:
        """Return the number of an order of a customer and a product."""
        order = self.orders.get(number)
        if order is None or (order["of"], order["product"]) != (customer, product):
            raise Refused(404)
        return number

    def about(self, method: str, number: str, content: bytes) -> Any:
        """Show, change or call off an order."""
        order = self.orders[number]
        if method not in {"GET", "PUT", "DELETE"} or (content and method != "PUT"):
            raise Refused(400)
        if method != "GET" and order["stage"] != "NEW":
            raise Refused(409)
        if method == "PUT":
            body = self.read(content)
            if order["product"] != "later" or body["account"] != order["body"]["account"]:
                raise Refused(409)
            order["body"] = self.changed(order["body"], body)
        if method == "DELETE":
            self.called_off(order)
        return self.shown(number)

    def shown(self, number: str) -> Any:
        """Return an order in the form in which it is shown."""
        order = self.orders[number]
        cents = self.shown_price(order["body"]["cents"])
        return {"number": number, **order["body"], "cents": cents, "stage": order["stage"]}

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
                number = f"IT60X0542811101{next(self.numbers):012d}"
                self.owners[number] = token
                made = {"resource": holding["resource"], "key": number, "traits": {}}
                holdings.append({**made, "entries": []})
        return 201, {"customer": token, "token": token, "holdings": holdings, "now": NOW}
