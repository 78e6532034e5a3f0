"""Test data for localstripe: accounts with charges and customers, in its one store."""

from datetime import UTC, datetime
from decimal import Decimal
from time import sleep
from typing import Any
from uuid import uuid4

import httpx

from assay.fixtures.spi import (
    Access,
    Arrange,
    CannotArrange,
    Effect,
    Holding,
    Owned,
    ReadOnlyFixture,
    Subject,
)

#: What each charge is about, in cents.
CENTS = 20000
#: How many things of a list that is longer than a page are a second older than the others.
EARLIER, PAGE = 5, 10


class Accounts:
    """Opens a fixture for each trial."""

    def __init__(self, base_url: str) -> None:
        self.url = base_url

    def open(self) -> "Account":
        return Account(self.url)


class Account(ReadOnlyFixture):
    """The accounts of a trial, each with a key of its own; localstripe has one for all of them."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, headers={"Authorization": "Bearer sk_test_fixtures"})
        self.http.delete("/_config/data").raise_for_status()
        self.ours: set[str] = set()

    def clock(self, to: datetime | None) -> datetime:
        """Return the real time, in whole seconds, as localstripe shows it."""
        if to is not None:
            raise CannotArrange("a clock that can be moved")
        return datetime.now(UTC).replace(microsecond=0)

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Make the charges and customers of an account, and its key."""
        owns: list[Owned] = []
        for holding in step.holdings:
            for n in range(holding.count):
                if n == EARLIER and holding.count > PAGE:
                    sleep(
                        1
                    )  # localstripe shows whole seconds, and a long list is to be in their order
                owns.append(self.make(holding))
        subject = Subject(name=step.subject, now=self.clock(None), owns=tuple(owns))
        return subject, Access(token=f"sk_test_{uuid4().hex}")

    def make(self, holding: Holding) -> Owned:
        """Make a customer, or a charge with a refund of 1.00, or of everything."""
        if holding.resource == "customer":
            return Owned(key=self.post("customers"), resource="customer")
        charge = self.post("charges", amount=CENTS, currency="usd", source="pm_card_visa")
        refunded = CENTS if holding.traits.get("refunded") else 100
        self.ours.add(self.post("refunds", charge=charge, amount=refunded))
        return Owned(key=charge, resource="charge", traits=dict(holding.traits))

    def post(self, path: str, **body: str | int) -> str:
        """Make a thing, and return its id."""
        return self.http.post(f"/v1/{path}", json=body).raise_for_status().json()["id"]

    def effects(self) -> tuple[Effect, ...]:
        """Return the charges that payments led to, and the refunds that were asked for."""
        charges = [
            effect(charge, charge["payment_intent"], currency=charge["currency"])
            for charge in self.all("charges")
            if charge["payment_intent"] and charge["captured"]
        ]
        refunds = [
            effect(refund, refund["id"], charge=refund["charge"])
            for refund in self.all("refunds")
            if refund["id"] not in self.ours
        ]
        return (*charges, *refunds)

    def all(self, path: str) -> list[dict[str, Any]]:
        """Return all things of a kind that were made in the trial."""
        return self.http.get(f"/v1/{path}", params={"limit": 1000}).json()["data"]

    def close(self) -> None:
        """End the trial."""
        self.http.close()


def effect(shown: dict[str, Any], request: str, **fields: str) -> Effect:
    """Return what a charge or a refund says of the request that it executes."""
    day = datetime.fromtimestamp(shown["created"], UTC).date()
    amount = str(Decimal(shown["amount"]) / 100)
    return Effect(request=request, on=day, fields={"amount": amount, **fields})
