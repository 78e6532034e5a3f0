"""A small bank that is sound and unusual: what the doctor asks about it can be confirmed, and runs go on."""

import json
from itertools import count

import pytest
from command_line import assay

from assay.onboarding.doctor import examine
from assay.sandbox.serve import serving

CONTRACT = """\
assay: 1
contract: small
title: Small
version: "1"
interface: small
document: Guide
zone: UTC
resources:
  account: {says: an account, key: iban, fields: [iban]}
  entry: {says: an entry, of: account, key: entryId, fields: [entryId, amount]}
  order: {says: an order, key: orderId, fields: [orderId, what]}
operations:
  accounts: {method: GET, path: /accounts, lists: [account]}
  entries: {method: GET, path: "/accounts/{iban}/entries", lists: [entry], about: iban}
  order: {method: POST, path: /orders, makes: order, arguments: [what]}
rules:
  - id: accounts
    kind: available
    operation: accounts
    says: Accounts are read.
    source: {section: S, line: 1}
"""
TARGET = """\
assay: 1
target: small
contracts: [./small.yaml]
transport: http
base_url: URL
auth: {kind: bearer}
fixtures:
  kind: roles
  offers: [psu, two-psu, roster, write]
  roles:
    a: {token_env: SMALL_A, owns: [{resource: account, key: AT-0001}]}
    b: {token_env: SMALL_B, owns: [{resource: account, key: AT-0002}]}
operations:
  accounts: {list: /accounts, item: {key: /iban, fields: {iban: /iban}}}
  entries: {list: /entries, item: {key: /entryId, fields: {entryId: /entryId, amount: /amount}}}
  order: {one: "", arguments: {what: {body: /what, value: tea}}, item: {key: /id, fields: {what: /what}}}
"""

CREATED = """\
fixtures: {kind: python, adapter: "reset:Fixtures", customers: created, offers: [psu, write]}
"""
#: Fixtures of customers who are created, each with the first account.
RESET = """\
from datetime import UTC, datetime
from assay.fixtures.spi import *

class Fixtures:
    def open(self):
        return Fixture()

class Fixture(ReadOnlyFixture):
    def arrange(self, step):
        owns = tuple(
            Owned(key="AT-0001", resource=each.resource, traits={}, entries=tuple(
                Entry(key=f"E-{n}", on=day) for n, day in enumerate(each.entries or ())
            ))
            for each in step.holdings for _ in range(each.count)
        )
        return Subject(name=step.subject, now=self.clock(None), owns=owns), Access(token="token-of-a")

    def clock(self, to):
        return datetime.now(UTC)

    def close(self):
        pass
"""


def bank(ids):
    """Return a bank of two customers, which takes the ids of orders from `ids` by the customer."""

    def app(environ, start):
        path = environ["PATH_INFO"]
        who = environ.get("HTTP_AUTHORIZATION", "")[-1:]
        key = {"a": "AT-0001", "b": "AT-0002"}.get(who)
        if key is None:
            status, body = "401 Unauthorized", {"code": "token"}
        elif path == "/accounts":
            status, body = "200 OK", {"accounts": [{"iban": key}]}
        elif path.endswith("/entries"):
            entry = {"entryId": f"E-{key}", "account": key, "amount": "1.00"}
            status, body = "200 OK", {"entries": [entry]}
        else:
            sent = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            status, body = "201 Created", {"id": ids(who), "what": sent["what"]}
        start(status, [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    return app


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Give a function that writes the files for a served bank and returns the path of the target."""
    monkeypatch.setenv("SMALL_A", "token-of-a")
    monkeypatch.setenv("SMALL_B", "token-of-b")
    (tmp_path / "small.yaml").write_text(CONTRACT, encoding="utf-8")

    def written(url, more=""):
        path = tmp_path / "target.yaml"
        path.write_text(TARGET.replace("URL", url) + more, encoding="utf-8")
        return path

    return written


def test_the_key_of_an_entry_is_not_that_of_an_account(file):
    """An entry has a key of its own: another member with the account's is not what was meant."""
    numbers = count(1)
    with serving(bank(lambda who: f"order-{who}-{next(numbers)}")) as url:
        assert () == examine(str(file(url))).blocking


def test_a_bank_that_is_reset_for_each_trial(file, tmp_path):
    """Its orders have the same ids again: the doctor asks, and once it is confirmed, the run goes on."""
    run = "run", "--target", "target.yaml", "--out", "out"
    (tmp_path / "reset.py").write_text(RESET, encoding="utf-8")
    with serving(bank(lambda _: "order-1")) as url:
        path = file(url)
        roles, operations = path.read_text(encoding="utf-8").split("fixtures:")
        text = f"{roles}{CREATED}operations:{operations.partition('operations:')[2]}"
        path.write_text(text, encoding="utf-8")
        code, _, said = assay(*run, cwd=tmp_path)
        lines = [row.removeprefix("assay: ") for row in said.splitlines() if ": REASON" in row]
        assert (2, True) == (code, "  pointers/operations.order.item.key: REASON" in lines)
        assert "found the same value in many requests; is this intended?" in said
        path.write_text("\n".join([f"{text}confirmed:", *lines]), encoding="utf-8")
        code, out, said = assay(*run, cwd=tmp_path)
    assert (0, "") == (code, said)
    assert "The gateway meets" in out
