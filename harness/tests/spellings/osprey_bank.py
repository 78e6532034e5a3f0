"""Kestrel Bank behind another gate: its token stands in the body, in headers of its own, or in the query.

Nothing here knows of Assay. The gate demands the token in each place that it has, and answers 401
where one is missing, is unknown, or is not that of the others.
"""

import json
from typing import Any
from urllib.parse import parse_qs

from kestrel_bank import Answer, Kestrel, Refused


class Osprey(Kestrel):
    """The token is in the body of a POST, and in a header of every call."""

    def tickets(self, environ: dict[str, Any], body: dict[str, Any]) -> list[object]:
        """Return what stands where a token is expected."""
        head = body.get("head")
        found: list[object] = [environ.get("HTTP_X_TICKET")]
        if environ["REQUEST_METHOD"] == "POST":
            inside = head.get("ticket") if isinstance(head, dict) else None
            found.append(str(inside).removeprefix("T:") if str(inside)[:2] == "T:" else None)
        return found

    def admitted(self, tickets: list[object], body: dict[str, Any]) -> str:
        """Return the customer of a call."""
        known = {*self.accounts.values()}
        if len(set(tickets)) != 1 or tickets[0] not in known:
            raise Refused(401)
        return str(tickets[0])

    def answer(self, environ: dict[str, Any], steps: list[str], content: bytes) -> Answer:
        """Answer a call in the name of the customer whose token it has."""
        try:
            body = json.loads(content) if content else {}
        except ValueError:
            raise Refused(400) from None
        if not isinstance(body, dict):
            raise Refused(400)
        customer = self.admitted(self.tickets(environ, body), body)
        environ["HTTP_AUTHORIZATION"] = f"Bearer {customer}"
        body.pop("head", None)
        status, shown, headers = super().answer(environ, steps, json.dumps(body).encode())
        return status, self.echoed(shown, customer), headers

    def echoed(self, shown: Any, customer: str) -> Any:
        """Return an answer."""
        return shown


class Querying(Osprey):
    """The token is a query parameter."""

    def tickets(self, environ: dict[str, Any], body: dict[str, Any]) -> list[object]:
        """Return what stands in the query."""
        return [*parse_qs(environ["QUERY_STRING"]).get("ticket", [None])]


class Echoing(Osprey):
    """It repeats the token in every answer, under a name that says nothing."""

    def echoed(self, shown: Any, customer: str) -> Any:
        """Return an answer with the token in it."""
        return {**shown, "seen": f"T:{customer}", customer: 1}


class NoGate(Osprey):
    """Who asks for accounts without a token sees those of the last customer."""

    def admitted(self, tickets: list[object], body: dict[str, Any]) -> str:
        """Return the customer of a call."""
        if body.get("type") and "account" not in body and not any(tickets):
            return [*self.accounts.values()][-1]
        return super().admitted(tickets, body)


class AnyTicket(Osprey):
    """Who asks for accounts with a token that was never issued sees those of the last customer."""

    def admitted(self, tickets: list[object], body: dict[str, Any]) -> str:
        """Return the customer of a call."""
        if body.get("type") and "account" not in body and all(tickets):
            known = [*self.accounts.values()]
            return str(tickets[0]) if tickets[0] in known else known[-1]
        return super().admitted(tickets, body)


class OpenPages(Osprey):
    """Of a call for a further page, only the header is looked at, and it may be any."""

    def admitted(self, tickets: list[object], body: dict[str, Any]) -> str:
        """Return the customer of a call, or the owner of the account."""
        if body.get("pageId") and tickets[0]:
            return self.accounts.get(str(body.get("account")), "")
        return super().admitted(tickets, body)
