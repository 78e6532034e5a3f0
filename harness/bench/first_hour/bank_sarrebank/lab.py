"""Sarrebank: the test side of the sandbox."""

import secrets
from typing import Any

import falcon
from book import FACTORS, Matter, book, new_account


class Lab:
    """The test side of the sandbox."""

    def on_post(self, req: falcon.Request, resp: falcon.Response, what: str) -> None:
        """Do one of the test calls."""
        calls = ("wipe", "time", "shift", "persons", "tokens", "payees", "recall")
        if what not in calls:
            raise falcon.HTTPNotFound
        try:
            resp.media = getattr(self, what)(req.get_media(default_when_empty={}))
        except KeyError as error:
            raise falcon.HTTPBadRequest(title=f"Missing or unknown: {error}") from None

    def wipe(self, _: dict[str, Any]) -> dict[str, Any]:
        """Forget everything."""
        book.wipe()
        return {"done": True}

    def time(self, body: dict[str, Any]) -> dict[str, Any]:
        """Set the clock, which then stands still, or only read it."""
        book.time = int(body.get("now", book.time))
        book.run()
        return {"now": book.now()}

    def shift(self, body: dict[str, Any]) -> dict[str, Any]:
        """Move the clock."""
        return self.time({"now": book.now() + int(body["ms"])})

    def persons(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create a customer."""
        number = f"P{book.number():06d}"
        made = [new_account(spec) for spec in body.get("accounts", [{}])]
        person = {"number": number, "name": body.get("name", "Eva Klein"), "password": "saar"}
        person |= {"segment": body.get("segment", "PART"), "consents": {}, "payees": {}}
        person["codes"] = {name: f"{secrets.randbelow(10**6):06d}" for name in FACTORS["PART"]}
        person["accounts"] = {account["iban"]: account for account in made}
        book.persons[number] = person
        shown = {name: person[name] for name in ("number", "password", "codes")}
        return shown | {"accounts": [{n: a[n] for n in ("iban", "type")} for a in made]}

    def tokens(self, body: dict[str, Any]) -> dict[str, Any]:
        """Give an access token for a customer without an approval."""
        matter = Matter(body.get("tpp", "tpp-7001"), book.now(), None)
        book.approve(matter, book.persons[body["number"]], "SMS", None)
        return {"accessToken": matter.token}

    def payees(self, body: dict[str, Any]) -> dict[str, Any]:
        """Register a creditor IBAN as the customer does through direct access."""
        since = int(body.get("since", book.now()))
        book.persons[body["number"]]["payees"][body["iban"]] = since
        return {"since": since}

    def recall(self, body: dict[str, Any]) -> dict[str, Any]:
        """Cancel a deferred order as the customer does through direct access."""
        matter = book.matters[body["order"].rsplit("/", 1)[-1]]
        if matter.state == "APPROVED" and matter.order and matter.order["executeOn"]:
            matter.close("WITHDRAWN", "D71")
        return {"state": matter.state}
