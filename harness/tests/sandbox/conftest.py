"""A tiny client of the sandbox bank, in process."""

from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND, Policies


@dataclass(kw_only=True)
class Guest:
    """A customer of the bank, as a third party meets them."""

    http: httpx.Client
    token: str
    name: str
    login: str
    password: str
    holdings: list[dict[str, Any]]

    def call(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Call for the customer; ``batch=True`` without them being there."""
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
        """Follow the links of a list; never more than so many pages."""
        pages, url = [], path
        while url and len(pages) < most:
            body = self.get(url).json()
            pages.append(body[what])
            url = body["links"].get("next")
        return pages


@dataclass(kw_only=True)
class World:
    """A world of the bank, and the hands on its clock."""

    http: httpx.Client
    id: str
    now: str

    def at(self, moment: str) -> httpx.Response:
        url = f"/assay-control/1/worlds/{self.id}/clock"
        return self.http.post(url, json={"to": moment})

    def customer(self, *holdings: dict[str, Any]) -> Guest:
        url = f"/assay-control/1/worlds/{self.id}/customers"
        answer = self.http.post(url, json={"holdings": list(holdings)})
        assert answer.status_code == 201, answer.text
        made = answer.json()
        names = ("token", "name", "login", "password", "holdings")
        return Guest(http=self.http, **{name: made[name] for name in names})


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
    """Give the way to open a bank with other policies."""
    return Bank


@pytest.fixture
def bank() -> Bank:
    """Open the bank of the document."""
    return Bank()


@pytest.fixture
def world(bank: Bank) -> World:
    """Open a world of the sound bank, on 16 September 2026 at ten."""
    return bank.world()
