"""Unusual targets: static answers, wrong clocks, other services, listed customers."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
from command_line import assay
from examined_banks import BANK, Wrap, bank, rewritten

from assay._resources import contract_dir
from assay.errors import Exit
from assay.onboarding.doctor import Weight, examine

#: Neither today nor at night: in the hours of maintenance no answer counts.
NOW = "2026-09-16T10:00:00+02:00"


def said(findings):
    """Return the line, key and weight of each finding."""
    return [(one.line, one.key, one.weight) for one in findings]


def dated(shift: timedelta) -> Wrap:
    """Put a clock that is wrong before an application."""

    def wrap(app):
        def shifted(environ, start):
            def begin(status, headers, *rest):
                date = format_datetime(datetime.now(UTC) + shift, usegmt=True)
                return start(status, [*headers, ("Date", date)], *rest)

            return app(environ, begin)

        return shifted

    return wrap


@pytest.mark.parametrize(("minutes", "way"), [(10, "ahead of"), (-10, "behind")])
def test_a_clock_that_is_wrong(minutes, way, tmp_path):
    """Clocks that are minutes apart are in doubt: a test bank may have another date on purpose."""
    with bank(tmp_path, dated(timedelta(minutes=minutes))) as (path, _):
        (found,) = examine(path).findings
    assert (6, "base_url", Weight.DOUBT) == (found.line, found.key, found.weight)
    assert f" s {way} ours" in found.found


def test_a_clock_that_is_nearly_right(tmp_path):
    """A difference of half a minute is accepted."""
    with bank(tmp_path, dated(timedelta(seconds=30))) as (path, _):
        assert Exit.OK == examine(path).exit


def unacceptable(app):
    """Answer every request with 406, except those of the control API."""

    def answer(environ, start):
        if environ["PATH_INFO"].startswith("/assay-control/"):
            return app(environ, start)
        start("406 Not Acceptable", [("Content-Type", "application/json")])
        return [b"{}"]

    return answer


def without_second_pages(status):
    """Return what answers each request for a further page with a status."""

    def wrap(app):
        def answer(environ, start):
            if "page=" not in environ.get("QUERY_STRING", ""):
                return app(environ, start)
            start(status, [("Content-Type", "application/json"), ("Retry-After", "1")])
            return [b"{}"]

        return answer

    return wrap


@pytest.mark.parametrize(
    ("status", "weight"),
    [("503 Service Unavailable", Weight.UNSEEN), ("404 Not Found", Weight.DOUBT)],
)
def test_a_page_that_is_not_there_just_now_is_not_doubted(status, weight, tmp_path):
    """It may be there the next time; one that does not exist is doubted."""
    with bank(tmp_path, without_second_pages(status)) as (path, _):
        found = [one for one in examine(path).findings if one.key.endswith(".next")]
    assert {weight} == {one.weight for one in found}


#: The checks that need answers of the bank.
ANSWERED = ("calls", "static", "pointers", "pages", "dates", "screens", "effects")


def test_what_was_not_seen_is_never_ok(tmp_path):
    """At a bank that accepts nothing, no check that needs its answers says that it passed."""
    with bank(tmp_path, unacceptable) as (path, _):
        examined = examine(path)
    words = {one.step.name: one.word for one in examined.outcomes}
    assert {"not seen"} == {words[name] for name in ANSWERED}
    assert "doubt" == words["status"]


def test_a_refused_token_leaves_nothing_examined(tmp_path, monkeypatch):
    """Where the only token is refused, every later check says that it saw nothing."""
    with bank(tmp_path, text=roles()) as (path, _):
        for name in ("DOCTOR_ALICE", "DOCTOR_BOB"):
            monkeypatch.setenv(name, "nonsense")
        code, out, _ = assay("doctor", "--json", "--target", path, "-c", "aisp", cwd=tmp_path)
    steps = {one["name"]: one for one in json.loads(out)["steps"]}
    assert 2 == code
    for name in ("calls", "zone", "static", "pointers", "pages", "dates"):
        assert "not seen" == steps[name]["result"], name
        assert steps[name]["findings"]


def keyed(app):
    """Require a key for the control API."""

    def checked(environ, start):
        control = environ["PATH_INFO"].startswith("/assay-control/")
        if control and environ.get("HTTP_ASSAY_CONTROL_KEY") != "right":
            start("401 Unauthorized", [("Content-Type", "application/json")])
            return [b"{}"]
        return app(environ, start)

    return checked


@pytest.mark.parametrize(
    ("key", "findings"), [("right", []), ("wrong", [(17, "fixtures.key_env")])]
)
def test_the_key_of_the_control_api(key, findings, tmp_path, monkeypatch):
    """A refused key of the control API is reported at its variable."""
    monkeypatch.setenv("DOCTOR_KEY", key)
    text = BANK.replace("  kind: control\n", "  kind: control\n  key_env: DOCTOR_KEY\n")
    with bank(tmp_path, keyed, text) as (path, _):
        found = examine(path).findings
    assert findings == [(one.line, one.key) for one in found]


def page(_app):
    """Answer every request with a web page."""

    def answer(_environ, start):
        start("200 OK", [("Content-Type", "text/html")])
        return [b"<!doctype html><title>Welcome to our bank</title><p>How can we help you?"]

    return answer


def mock(app):
    """Answer every request with the same JSON, as a mock does."""

    def answer(_environ, start):
        start("200 OK", [("Content-Type", "application/json")])
        told = {"accounts": [{"iban": "FR7630001007941234567890185", "kind": "account"}]}
        return [json.dumps({**told, "balances": [], "transactions": []}).encode()]

    return answer


def roles(alice="FR7630001007941234567890185", bob="FR4730001007940000000000185") -> str:
    """Return a target file with listed customers, as for a bank without a control API."""
    return f"""\
assay: 1
target: listed
extends: sandbox
transport: http
base_url: URL
auth: {{kind: bearer}}
sca: null
hosts: null
fixtures:
  kind: roles
  offers: [psu, two-psu, consent, roster]
  segments: null
  effects: null
  roles:
    alice:
      token_env: DOCTOR_ALICE
      owns: [{{resource: account, key: {alice}}}]
    bob:
      token_env: DOCTOR_BOB
      owns: [{{resource: account, key: {bob}}}]
  now: "{NOW}"
"""


def same_accounts(app):
    """Answer with the accounts of the first customer, whoever asks, as a mock with examples does."""
    first: list[bytes] = []

    def answer(environ, start):
        if environ["PATH_INFO"] != "/accounts":
            return app(environ, start)
        first.append(b"".join(app(environ, lambda *_: None)))
        start("200 OK", [("Content-Type", "application/json")])
        return first[:1]

    return answer


def test_the_same_list_for_every_customer(tmp_path, monkeypatch):
    """The list of one customer for another one, who owns something else, is a static answer."""
    with bank(tmp_path, same_accounts, roles()) as (path, url):
        listed(path, url, monkeypatch)
        (found,) = examine(path, ["aisp"]).blocking
    assert "the same body from accounts for every customer" == found.found


@pytest.mark.parametrize("wrap", [page, mock])
def test_what_is_no_bank_at_all(wrap, tmp_path, monkeypatch):
    """A web page, or the same answer to everything, is reported at the address and not at pointers."""
    monkeypatch.setenv("DOCTOR_ALICE", "demo-alice")
    monkeypatch.setenv("DOCTOR_BOB", "demo-bob")
    with bank(tmp_path, wrap, roles()) as (path, _):
        examined = examine(path, ["aisp"])
    assert [(5, "base_url", Weight.DOUBT)] == said(examined.blocking)


def customers(url: str, monkeypatch) -> dict[str, str]:
    """Create customers at the bank; return the key of an account of each."""
    with httpx.Client(base_url=f"{url}/assay-control/1/worlds", trust_env=False) as http:
        world = http.post("", json={"now": NOW}).json()["world"]
        made = {
            name: http.post(
                f"/{world}/customers", json={"holdings": [{"resource": "account", "count": 6}]}
            ).json()
            for name in ("alice", "bob")
        }
    for name, customer in made.items():
        monkeypatch.setenv(f"DOCTOR_{name.upper()}", customer["token"])
    monkeypatch.setenv("DOCTOR_WRONG", "nonsense")
    return {name: one["holdings"][0]["key"] for name, one in made.items()}


def listed(path: str, url: str, monkeypatch, right="", wrong="") -> None:
    """Write the target file of customers who are created now, with one text replaced."""
    text = roles(**customers(url, monkeypatch)).replace(right, wrong)
    Path(path).write_text(text.replace("URL", url), encoding="utf-8")


def calls(app, seen):
    """Record which operations are called, and whether with the customer present."""

    def noted(environ, start):
        if not environ["PATH_INFO"].startswith("/assay-control/"):
            token = environ.get("HTTP_AUTHORIZATION")
            seen.append((token, environ["PATH_INFO"], "HTTP_PSU_IP_ADDRESS" in environ))
        return app(environ, start)

    return noted


def test_listed_customers_are_called_once_each_with_the_customer_there(tmp_path, monkeypatch):
    """No call without the customer and no call twice; what was not checked is reported."""
    seen: list[tuple[str | None, str, bool]] = []
    with bank(tmp_path, lambda app: calls(app, seen), roles()) as (path, url):
        listed(path, url, monkeypatch)
        examined = examine(path, ["aisp"])
    assert Exit.INCOMPLETE == examined.exit
    assert {Weight.UNSEEN} == {one.weight for one in examined.findings}
    assert {
        "operations.accounts.values.PsuIdentity",
        "operations.accounts.next",
        "operations.transactions.next",
        "operations.transactions.arguments.since",
        "operations.transactions.arguments.until",
        "presence.header",
        "zone",
    } == {one.key for one in examined.findings}
    with_token = [one for one in seen if one[0]]
    assert len(with_token) == len(set(with_token)) == examined.calls == 7
    assert all(there for _, _, there in with_token)


def test_the_token_of_one_customer(tmp_path, monkeypatch):
    """A refused token is reported at its own customer."""
    with bank(tmp_path, text=roles()) as (path, url):
        for wrong, line in (("DOCTOR_ALICE", 16), ("DOCTOR_BOB", 19)):
            listed(path, url, monkeypatch, wrong, "DOCTOR_WRONG")
            name = wrong.removeprefix("DOCTOR_").lower()
            found = examine(path, ["aisp"]).blocking
            assert [(line, f"fixtures.roles.{name}.token_env", Weight.DOUBT)] == said(found)


def test_a_customer_who_owns_something_else(tmp_path, monkeypatch):
    """A list without the customer's items is questioned at the line of the customer."""
    with bank(tmp_path, text=roles()) as (path, url):
        keys = customers(url, monkeypatch)
        text = roles(alice=keys["bob"], bob=keys["bob"]).replace("URL", url)
        Path(path).write_text(text, encoding="utf-8")
        found = examine(path, ["aisp"]).blocking
    assert (17, "fixtures.roles.alice.owns", Weight.DOUBT) in said(found)


def test_a_live_bank_is_only_read(tmp_path, monkeypatch):
    """A live bank gets no consents and requests unless the file allows them."""
    seen: list[tuple[str | None, str, bool]] = []
    contract = tmp_path / "aisp.yaml"
    with bank(tmp_path, lambda app: calls(app, seen), roles()) as (path, url):
        live = "base_url: URL\nenvironment: live"
        listed(path, url, monkeypatch, "base_url: URL", live)
        # A live host has a form, which an address of this machine has not.
        said_of = (contract_dir() / "aisp.yaml").read_text(encoding="utf-8")
        form = 'hosts:\n  live: www.<bankcode>.live.<api_domain>\n  bankcode: "[0-9]{5}"\n'
        assert form in said_of
        contract.write_text(said_of.replace(form, ""), encoding="utf-8")
        examined = examine(path, [str(contract)])
    paths = [where for token, where, _ in seen if token]
    assert "/accounts" in paths
    assert "/consents" not in paths
    assert Exit.INCOMPLETE == examined.exit


def bent(value, into):
    """Return a JSON value in which every leaf is something else, and names stay."""
    if isinstance(value, dict):
        return {name: bent(one, into) for name, one in value.items()}
    if isinstance(value, list):
        return [bent(one, into) for one in value]
    return into


#: What may stand where a text should be.
STRANGE = [
    None,
    7,
    1.5e300,
    True,
    "",
    [],
    {},
    [[{}]],
    {"a": {"b": [1]}},
    "\x1b[31m\u202e",
    "x" * 9999,
]


@pytest.mark.parametrize("into", STRANGE, ids=lambda one: json.dumps(one)[:20])
def test_whatever_stands_in_an_answer(into, tmp_path):
    """No answer makes the examination fail, and its findings are short and printable."""
    with bank(tmp_path, rewritten(lambda value: bent(value, into))) as (path, _):
        examined = examine(path)
    assert examined.blocking
    for finding in examined.findings:
        assert len(str(finding)) < 1500
        assert str(finding).isprintable()
