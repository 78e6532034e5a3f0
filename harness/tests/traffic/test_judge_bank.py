"""Recorded traffic of a client, judged for the bank: what it shows, and what it does not."""

import json
from contextlib import suppress

import pytest
from clients import BASE, PRESENT, VIOLATIONS, Client, clean, write

from assay.contract.model import Party
from assay.errors import Exit, InputError
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.sandbox.policies import SOUND
from assay.traffic.session import open_recording

BROKEN = {one.id: one for one in (*MUTANTS, *PIS_MUTANTS)}


#: Faults that an ordinary client meets.
SHOWN = {
    "euro.balance-first-in-dollars",
    "links.balances-self-elsewhere",
    "pis.content.categoryPurpose",
    "pis.form.read-as-text",
}
#: Obligations that such a fault violates as well, in traffic that no probe makes.
ALSO = {
    "pis.modify.shows-as-created": {"pis/payments.content/amount"},
    # The fees stand on the page before the entries, which are as many as ever.
    "consistent.reading-books-a-fee": {"aisp/transactions.page-size/first-page"},
}


def judged(har, tmp_path, **options):
    """Return the verdicts on a bank's recording, by obligation."""
    result = open_recording(har, **options).close(tmp_path / "journal.jsonl")
    return {one.obligation: one.standing for one in result.verdicts}


def bank(name):
    """Return the sandbox with one fault."""
    return make_app(BROKEN[name].change(SOUND), base_url=BASE)


def test_a_sound_bank(tmp_path):
    """A sound bank violates nothing; much stays unverified, and does not pass."""
    client = Client()
    clean(client)
    standings = judged(client.har(tmp_path / "x.har"), tmp_path)
    assert not {name for name, one in standings.items() if one is Standing.VIOLATES}
    kept = {name for name, one in standings.items() if one is Standing.CONFORMS}
    assert {"aisp/euro/balance", "pis/payments.content/amount", "aisp/well-formed/json"} <= kept
    # The recording does not show what the customer owns, nor that the customer is new.
    assert {"aisp/accounts.listing/all-without-consent", "aisp/cards.eligible/hides-inactive"} <= {
        name for name, one in standings.items() if one is Standing.UNVERIFIED
    }


@pytest.mark.parametrize(
    ("fault", "clause"),
    [(one.id, next(iter(one.breaks))) for one in (*MUTANTS, *PIS_MUTANTS) if one.id in SHOWN],
)
def test_a_fault_that_traffic_shows(fault, clause, tmp_path):
    """A fault that an ordinary client meets is found in that client's traffic."""
    client = Client(app=bank(fault))
    clean(client)
    found = judged(client.har(tmp_path / "x.har"), tmp_path)
    assert Standing.VIOLATES is found[clause]
    assert BROKEN[fault].breaks >= {k for k, one in found.items() if one is Standing.VIOLATES}


@pytest.mark.parametrize("breach", VIOLATIONS)
def test_refusing_a_breach_of_the_tpp_violates_nothing(breach, tmp_path):
    """The call with which a TPP violates its duty may be refused in any way, by any clause."""
    client = Client()
    VIOLATIONS[breach](client, clean(client))
    path = client.har(tmp_path / "x.har")
    log = json.loads(path.read_text("utf-8"))
    answer = log["log"]["entries"][-1]["response"]
    answer["status"] = 404
    answer["content"] = {"mimeType": "application/json", "text": '{"code": "UNKNOWN"}'}
    path.write_text(json.dumps(log), "utf-8")
    standings = judged(path, tmp_path, complete=True, bank_clock=True)
    assert [] == [name for name, one in standings.items() if one is Standing.VIOLATES]


@pytest.mark.parametrize("fault", sorted(BROKEN)[4::30])
def test_no_false_alarm(fault, tmp_path):
    """The traffic of a faulty bank shows no violation but its fault."""
    client = Client(app=bank(fault))
    with suppress(KeyError, TypeError, ValueError):  # the recording ends where the client gives up
        clean(client)
    found = judged(client.har(tmp_path / "x.har"), tmp_path)
    broken = {name for name, one in found.items() if one is Standing.VIOLATES}
    assert broken <= BROKEN[fault].breaks | ALSO.get(fault, set())


def test_requests_that_match_no_call(tmp_path):
    """Token endpoints, other hosts and unknown paths are counted by kind, and not judged."""
    client = Client()
    psu = client.customer()
    client.get("/accounts", psu)
    client.call("POST", "/oauth/token?code=geheim", psu["token"])
    client.call("DELETE", "/accounts", psu["token"])
    client.call("GET", "/accounts", psu["token"], base="https://other.example")
    session = open_recording(client.har(tmp_path / "x.har"))
    assert 1 == session.exchanges
    assert {
        f"POST {BASE}/oauth/token": 1,
        f"DELETE {BASE}/accounts": 1,
        "GET https://other.example/accounts": 1,
    } == dict(session.unmatched)


def test_another_base_url(tmp_path):
    """A recording made through a proxy is read as if the client had called the target."""
    client = Client()
    psu = client.customer()
    client.get("/accounts", psu, base="http://127.0.0.1:9000")
    har = client.har(tmp_path / "x.har")
    assert 0 == open_recording(har).exchanges
    assert 1 == open_recording(har, bases=["http://127.0.0.1:9000"]).exchanges


def test_a_request_without_its_body(tmp_path):
    """A request whose body was not recorded is counted, and not judged."""
    client = Client()
    psu = client.customer()
    client.pay(psu)
    har = client.har(tmp_path / "x.har")
    log = json.loads(har.read_text())
    del log["log"]["entries"][0]["request"]["postData"]
    log["log"]["entries"][0]["request"]["bodySize"] = 300
    session = open_recording(write(har, log), party=Party.TPP)
    assert (0, 1) == (session.exchanges, session.unread)


def test_an_unexplained_part_of_a_request(tmp_path):
    """A bank may refuse a request with a part that no contract describes."""
    client = Client()
    psu = client.customer()
    client.get("/accounts", psu)
    for _ in range(2):
        client.get("/accounts", psu, params={"limit": "-1"})
    for number, (_, _, answer) in enumerate(client.entries):
        answer.status_code = 400 if number else 200
    found = judged(client.har(tmp_path / "x.har"), tmp_path)
    assert not {name for name, one in found.items() if one is Standing.VIOLATES}


def test_an_empty_recording(tmp_path):
    """An empty recording shows neither conformity nor a violation."""
    har = write(tmp_path / "x.har", {"log": {"entries": []}})
    for party in Party:
        result = open_recording(har, party=party).close(tmp_path / f"{party.value}.jsonl")
        kinds = {one.standing for one in result.verdicts}
        assert Standing.UNVERIFIED in kinds
        assert not kinds & {Standing.CONFORMS, Standing.VIOLATES, Standing.INDETERMINATE}
        assert Exit.INCOMPLETE is result.exit


def test_nothing_private_is_written(tmp_path):
    """The journal of a recording has no token, key, login or password in it."""
    client = Client()
    psu = clean(client)
    client.call(
        "PUT",
        "/consents",
        psu["token"],
        json={"accounts": [], "login": psu["login"], "password": psu["password"]},
    )
    client.call("GET", "/accounts", psu["token"], headers={**PRESENT, "X-Own": psu["token"]})
    session = open_recording(client.har(tmp_path / "x.har"), party=Party.TPP)
    session.close(tmp_path / "journal.jsonl")
    text = (tmp_path / "journal.jsonl").read_text(encoding="utf-8")
    secrets = [psu["token"], psu["password"], psu["name"], client.tpp]
    secrets += [one["key"] for one in psu["holdings"]]
    assert [] == [one for one in secrets if one in text]


def test_nothing_is_selected(tmp_path):
    """An expression that selects no obligation is an error of the user."""
    har = write(tmp_path / "x.har", {"log": {"entries": []}})
    with pytest.raises(InputError, match="nothing is selected"):
        open_recording(har, party=Party.TPP, keywords="maintenance")
