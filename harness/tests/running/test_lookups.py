"""Look-up of the target's own ids: why one is missing."""

import json
from datetime import UTC, datetime
from itertools import count

import httpx
import pytest

from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.files.load import loads
from assay.fixtures.protocol import Access
from assay.history import Call, Owned, Subject
from assay.preparation.target_file import read_document
from assay.running.calls import TrialCalls
from assay.running.environment import Environment
from assay.running.executor import Executor
from assay.running.trial_state import TrialState
from assay.transport.http import HttpClient

NOW = datetime(2026, 9, 16, tzinfo=UTC)
BASE = "https://bank.example"
FILE = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
operations:
  accounts: {list: /items, item: {key: /iban, id: /handle}}
  balances: {path: "/items/{handle}", arguments: {iban: {path: handle, found: accounts}}}
"""
OPERATIONS = {
    "accounts": Operation(id="accounts", method="GET", path="/accounts", lists=("account",)),
    "balances": Operation(id="balances", method="GET", path="/balances", about="iban"),
}


class Bank:
    """A bank with one answer for its list, and what an executor needs besides."""

    def __init__(self, status, body, text=FILE):
        self.answer, numbers = (status, body), count(1)
        client = HttpClient(base_url=BASE, transport=httpx.MockTransport(self.respond))
        environment = Environment(target=read_document(loads(text)), client=client, fixtures=self)
        trial = TrialState(
            environment=environment,
            fixture=self,
            signer=None,
            operations=OPERATIONS,
            number=lambda: next(numbers),
        )
        self.executor = Executor(calls=TrialCalls(trial=trial), record=lambda event, access: None)
        self.executor.trial.owners["A1"] = "psu"

    def respond(self, request):
        """Answer every request alike."""
        status, body = self.answer
        return httpx.Response(status, stream=httpx.ByteStream(json.dumps(body).encode()))

    def clock(self, to):
        """Show the time."""
        return NOW

    def tpp(self):
        """Return the credentials of a further TPP."""
        return Access()

    def ask(self):
        """Call what needs an id."""
        call = Call(operation="balances", subject="psu", arguments={"iban": "A1"})
        return self.executor.perform(call)


@pytest.mark.parametrize(
    ("status", "body", "why", "key"),
    [
        (
            400,
            {},
            "a list of accounts for iban: it was refused (400)",
            ("operations", "accounts"),
        ),
        (
            503,
            {},
            "a list of accounts for iban: the target failed (503)",
            ("operations", "accounts"),
        ),
        (
            200,
            {"items": [{"iban": "A2", "handle": "h2"}]},
            "the target's own id for iban, which accounts did not list (operations.accounts.item.id)",
            ("operations", "accounts", "item", "id"),
        ),
    ],
)
def test_why_an_id_is_missing(status, body, why, key):
    """A list that was not served is no mistake in the pointer to its ids."""
    with pytest.raises(CannotArrange) as caught:
        Bank(status, body).ask()
    assert (why, key) == (str(caught.value), caught.value.key)


@pytest.mark.parametrize(
    ("listed", "used"),
    [([], "told"), ([{"iban": "A1", "handle": "h1"}], "h1")],
)
def test_an_id_that_the_fixture_says(listed, used):
    """A list need not show everything, such as savings accounts; what it shows comes first."""
    bank = Bank(200, {"items": listed})
    owned = Owned(key="A1", resource="account", id="told")
    bank.executor.trial.learn("psu", Subject(name="psu", now=NOW, owns=(owned,)), Access())
    assert bank.ask().wire.url.endswith(f"/items/{used}")


def test_the_tpp_that_calls_looks_ids_up():
    """The list of another TPP may have other ids, and shows what was consented to for that TPP."""
    offers = "fixtures: {kind: control, offers: [psu, tpps]}\n"
    bank = Bank(200, {"items": [{"iban": "A1", "handle": "h1"}]}, FILE + offers)
    call = Call(operation="balances", subject="psu", arguments={"iban": "A1"}, by="tpp-2")
    bank.executor.trial.access["psu"] = Access(tokens={"tpp-2": "t"})
    bank.executor.perform(call)
    assert {"tpp-2"} == {each.call.by for each in bank.executor.history.exchanges}


@pytest.mark.parametrize("listed", [True, False])
def test_an_id_that_was_known_before_is_not_lost(listed):
    """A later list may be shorter; only what customers who stay own has the same id later."""
    roles = "fixtures: {kind: roles, offers: [psu], roles: {a: {owns: [{resource: a, key: A1}]}}}\n"
    bank = Bank(200, {"items": [{"iban": "A1", "handle": "h1"}]}, FILE + (roles if listed else ""))
    assert bank.ask().wire.url.endswith("/items/h1")
    bank.answer = (200, {"items": []})
    bank.executor.calls.values.ids.clear()
    if listed:
        assert bank.ask().wire.url.endswith("/items/h1")
    else:
        with pytest.raises(CannotArrange):
            bank.ask()
