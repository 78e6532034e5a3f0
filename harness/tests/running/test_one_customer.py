"""One customer of a live bank, in whatever words the target file describes her: four accesses a day.

The bank is a server of its own, which counts by the account that it serves.
"""

import json
import socket
import threading
from collections import Counter
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

import command_line
import pytest
import yaml

CONTRACT = """\
assay: 1
contract: mini
title: Mini
version: "1"
interface: mini
document: own
zone: unspecified
resources:
  account: {says: an account, key: iban, fields: [iban]}
  card: {says: a card, key: pan, fields: [pan]}
operations:
  accounts: {method: GET, path: /accounts, lists: [account]}
  cards: {method: GET, path: /cards, lists: [card]}
rules:
  - {id: quota, kind: quota, operations: [accounts, cards], limit: 4, per: calendar-day,
     refused-calls: unspecified, page-turns: unspecified,
     says: Four accesses a day without the customer., source: {section: S, line: 1}}
  - {id: listed, kind: available, operation: accounts, says: Accounts are read.,
     source: {section: S, line: 2}}
"""
#: The customers of the bank: their tokens (an old and a new one), and their accounts.
ANNA, BEN = ("anna-token-1", "anna-token-2"), ("ben-token-1", "ben-token-2")
OWNED = {"anna": ["account-1", "card-1"], "ben": ["account-2", "card-2"]}
PRESENCE = "PSU-IP-Address"


class Bank(ThreadingHTTPServer):
    """A bank below `/v1` that counts the accesses without the customer."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.alone = Counter()


class Handler(BaseHTTPRequestHandler):
    """One request to the bank."""

    def do_GET(self):
        """List the accounts of the customer whose token it is."""
        path = [part for part in unquote(urlsplit(self.path).path).split("/") if part.strip(".")]
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        name = {**dict.fromkeys(ANNA, "anna"), **dict.fromkeys(BEN, "ben")}.get(token)
        if path[:-1] != ["v1"] or path[-1:] not in (["accounts"], ["cards"]) or name is None:
            return self._answer(404 if name else 401, {"code": "no"})
        if not self.headers.get(PRESENCE):
            self.server.alone[name, path[-1]] += 1
        kind = path[-1].removesuffix("s")
        return self._answer(200, {"a": [{"id": key} for key in OWNED[name] if kind in key]})

    def _answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Write no log."""


@pytest.fixture
def bank(monkeypatch):
    """Serve a bank, which every host name leads to."""
    bank = Bank()
    there = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", bank.server_address)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: there)
    thread = threading.Thread(target=bank.serve_forever, daemon=True)
    thread.start()
    try:
        yield bank
    finally:
        bank.shutdown()
        bank.server_close()
        thread.join()


def role(*owns, token="ANNA"):
    """Return a listed customer."""
    entry = {
        "owns": [{"resource": key.strip().lower().partition("-")[0], "key": key} for key in owns]
    }
    return entry | ({"token_env": token} if token else {})


def target(base="http://bank.example/v1", *, roles=None, **more):
    """Return a target file as it is written first, or otherwise."""
    return {
        "assay": 1,
        "target": "bank",
        "contracts": ["./mini.yaml"],
        "transport": "http",
        "environment": "live",
        "base_url": base,
        "zone": "Europe/Paris",
        "auth": {"kind": "bearer"},
        "presence": {"header": PRESENCE, "value": "192.0.2.1"},
        "fixtures": {
            "kind": "roles",
            "offers": ["psu"],
            "roles": {"anna": role(*OWNED["anna"])} if roles is None else roles,
        },
        "operations": {
            "accounts": {"list": "/a", "item": {"key": "/id", "fields": {"iban": "/id"}}},
            "cards": {"list": "/a", "item": {"key": "/id", "fields": {"pan": "/id"}}},
        },
        **more,
    }


def run(folder, content, *options, name="live.yaml", command="run", **env):
    """Run a target file at the bank, with the one ledger."""
    (folder / "mini.yaml").write_text(CONTRACT)
    content = {key: value for key, value in content.items() if value is not None}
    (folder / name).write_text(yaml.safe_dump(content, sort_keys=False))
    out = ("--out", folder / f"out-{len([*folder.glob('out-*')])}") if command == "run" else ()
    tokens = {"ANNA": ANNA[0], "BEN": BEN[0], "OTHER": ANNA[0], **env}
    ledger = ("--ledger", folder / "ledger")
    return command_line.assay(
        command, "--target", folder / name, *ledger, *out, *options, cwd=folder, **tokens
    )


def elsewhere():
    """Return a zone in which it is another day than in Paris."""
    now = datetime.now(UTC)
    today = now.astimezone(ZoneInfo("Europe/Paris")).date()
    zones = ("Pacific/Kiritimati", "Pacific/Pago_Pago")
    return next(zone for zone in zones if now.astimezone(ZoneInfo(zone)).date() != today)


ONE, TWO = OWNED["anna"]
WAYS = {
    "again": target(),
    "items in another order": target(roles={"anna": role(TWO, ONE)}),
    "fewer items": target(roles={"anna": role(TWO)}),
    "items with spaces": target(roles={"anna": role(f" {ONE.upper()}", f"{TWO} ")}),
    "renamed": target(roles={"zoe": role(ONE, TWO)}),
    "renamed, with one item": target(roles={"zoe": role(TWO)}),
    "one token for all": target(
        roles={"anna": role(ONE, TWO, token=None)}, auth={"kind": "bearer", "token_env": "ANNA"}
    ),
    "another variable": target(roles={"anna": role(ONE, TWO, token="OTHER")}),
    "another variable for all": target(
        roles={"zoe": role(ONE, token=None)}, auth={"kind": "bearer", "token_env": "OTHER"}
    ),
    "another name and item": target(roles={"zoe": role("account-9", "card-9", token="OTHER")}),
    "a new token": target(roles={"anna": role(ONE, TWO, token="NEW")}),
    "a new token, another name": target(roles={"zoe": role(ONE, TWO, token="NEW")}),
    "two entries of one token": target(
        roles={"zoe": role("account-8", "card-8"), "amy": role("account-9", "card-9")}
    ),
    "a second token": target(roles={"zoe": role(ONE, TWO, token="NEW"), "amy": role(TWO, ONE)}),
    "a port": target("http://bank.example:80/v1"),
    "a slash": target("http://bank.example/v1/"),
    "two slashes": target("http://bank.example//v1"),
    "a dot": target("http://bank.example/./v1"),
    "two dots": target("http://bank.example/v2/../v1"),
    "escapes": target("http://bank.example/%76%31"),
    "escaped dots": target("http://bank.example/%2e/v1"),
    "an upper-case host": target("http://BANK.example/v1"),
    "an upper-case scheme": target("HTTP://bank.example/v1"),
    "the root of names": target("http://bank.example./v1"),
    "an escaped host": target("http://b%61nk.example/v1"),
    "a second host": target("http://bank.example/v1", hosts=["http://two.example/v1"]),
    "the path in the operations": target(
        "http://bank.example",
        operations={
            name: {**binding, "path": f"/v1/{name}"}
            for name, binding in target()["operations"].items()
        },
    ),
    "another zone": target(zone=elsewhere()),
    "no zone": target(zone=None),
    "another name of the target": {**target(), "target": "other"},
}


# -- the same customer ---------------------------------------------------------------
def test_no_spelling_gives_a_fifth_access(tmp_path, bank):
    """Whatever a target file says otherwise, the bank counts four accesses of its customer."""
    env = {"NEW": ANNA[1]}
    run(tmp_path, target())
    four = {("anna", "accounts"): 4, ("anna", "cards"): 4}
    assert four == bank.alone
    for way, content in WAYS.items():
        code, _, err = run(tmp_path, content, "--no-doctor", **env)
        assert (3, "") == (code, err), way
        assert four == bank.alone, way


def test_no_way_of_running_gives_a_fifth_access(tmp_path, bank):
    """Neither do a copy, a file that extends another, the doctor, a search or a resumed run."""
    run(tmp_path, target(), command="doctor")
    run(tmp_path, target(), "--journeys", "20", "--fields", "20")
    four = {("anna", "accounts"): 4, ("anna", "cards"): 4}
    assert four == bank.alone
    run(tmp_path, target(), name="copy.yaml")
    run(tmp_path, {"assay": 1, "target": "more", "extends": "./copy.yaml"}, name="more.yaml")
    run(tmp_path, target(), "--no-doctor", "--concurrency", "4", "--seed", "7")
    run(tmp_path, target(), "-k", "per-method", "--waive-nothing")
    assert four == bank.alone
    journal = next(tmp_path.glob("out-0/journal.jsonl"))
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:20]))
    run(tmp_path, target(), "--resume", tmp_path / "out-0")
    assert four == bank.alone


# -- another customer ----------------------------------------------------------------
@pytest.mark.parametrize(
    "content",
    [
        target(roles={"ben": role(*OWNED["ben"], token="BEN")}),
        target(roles={"anna": role(*OWNED["anna"]), "ben": role(*OWNED["ben"], token="BEN")}),
        target(
            roles={"ben": role(*OWNED["ben"], token=None)},
            auth={"kind": "bearer", "token_env": "BEN"},
        ),
    ],
    ids=["another file", "a second entry", "the one token"],
)
def test_another_customer_has_four_accesses(tmp_path, bank, content):
    """Somebody with other items and another token is another customer."""
    run(tmp_path, target())
    run(tmp_path, content)
    assert {(name, kind): 4 for name in OWNED for kind in ("accounts", "cards")} == bank.alone


def test_the_same_name_at_another_bank(tmp_path, bank):
    """A customer of the same name, with items of the same name, has four at each bank."""
    for base in ("http://bank.example/v1", "http://other.example/v1", "http://bank.example:81/v1"):
        run(tmp_path, target(base))
    assert {("anna", "accounts"): 12, ("anna", "cards"): 12} == bank.alone


def test_the_same_variable_for_another_customer(tmp_path, bank):
    """The value of a token identifies a customer, not the name of its variable."""
    auth = {"kind": "bearer", "token_env": "TOKEN"}
    for name, tokens in (("anna", ANNA), ("ben", BEN)):
        roles = {name: role(*OWNED[name], token=None)}
        run(tmp_path, target(roles=roles, auth=auth), TOKEN=tokens[0])
    assert {(name, kind): 4 for name in OWNED for kind in ("accounts", "cards")} == bank.alone
