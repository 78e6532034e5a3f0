"""A recorder's clock may not be the bank's: what another clock explains is no violation."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from literal_har import entry, standings, violated, write

from assay.contract.model import Party
from assay.history import Call, History
from assay.rules.verdict import Standing
from assay.testing import accepted, exchange
from assay.traffic.doubts import other_clocks
from assay.traffic.har import read_har
from assay.traffic.readings import bank_time, is_skewed, readings

BASE = "https://www.30001.live.sandbox.example"
OLD, QUOTA = "aisp/transactions.depth/nothing-older-asked", "aisp/batch-quota/not-exceeded"
EURO = "pis/euro/value-kept"
#: A target whose clock nobody can move.
REAL = """\
assay: 1
target: real
extends: sandbox
transport: http
fixtures:
  kind: roles
  offers: [psu, consent]
  roles:
    ada: {token_env: ADA, owns: [{resource: account, key: FR7630001007941234567890185}]}
"""
PAYMENT = {
    "paymentType": "immediate",
    "debtorAccount": "FR7630001007941234567890185",
    "creditorAccount": "FR7630006000011234567890189",
    "amount": "12.30",
    "currency": "USD",
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "successfulReportUrl": "https://tpp.example/return?state=4711",
}


def at(**later):
    """Return a time of the recorder."""
    return (datetime.fromisoformat("2026-11-24T12:00:00+01:00") + timedelta(**later)).isoformat()


def times(count):
    """Return times of the recorder, milliseconds apart."""
    return [datetime.fromisoformat(at(milliseconds=n)) for n in range(count)]


def entries_of_a_day(date=None):
    """Ask for entries since a day 83 days before 16 September, when the bank's clock stands there."""
    url = f"{BASE}/accounts/transactions?iban=FR7630001007941234567890185&dateFrom=2026-06-25"
    body = {"transactions": [], "links": {}}
    answered = {"Date": date} if date else {}
    present = {"PSU-IP-Address": "203.0.113.7"}
    return [entry(at(), "GET", url, 200, body, headers=present, answered=answered)]


def batch_accesses():
    """Read the accounts eight times in a minute; the bank's clock was moved by a day after four."""
    body = {"accounts": [], "links": {}}
    return [entry(at(seconds=n), "GET", f"{BASE}/accounts", 200, body) for n in range(8)]


@pytest.fixture
def real(tmp_path):
    """Return a target whose clock is real."""
    path = tmp_path / "real.yaml"
    path.write_text(REAL, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("obligation", "calls"),
    [(OLD, entries_of_a_day), (QUOTA, batch_accesses)],
    ids=["day", "count"],
)
def test_a_clock_that_can_be_moved(obligation, calls, real, tmp_path):
    """What the time alone makes a violation is none, unless the times are those of the bank."""
    har, tpp = tmp_path / "x.har", {"party": Party.TPP, "complete": True}
    assert Standing.INDETERMINATE is standings(har, calls(), **tpp)[obligation]
    assert {obligation} == violated(har, calls(), bank_clock=True, **tpp)
    assert {obligation} == violated(har, calls(), target_name=real, **tpp)


def test_what_no_clock_explains(tmp_path):
    """A wrong value is wrong at any time."""
    sent = [entry(at(), "POST", f"{BASE}/payment-requests", 400, {}, sent=PAYMENT)]
    assert {EURO} == violated(tmp_path / "x.har", sent, party=Party.TPP)


def test_the_time_of_the_answers(real, tmp_path):
    """A recorder's clock that is wrong by weeks shows no violation; one that is right does."""
    har, options = tmp_path / "x.har", {"party": Party.TPP, "complete": True, "target_name": real}
    wrong, right = "Wed, 16 Sep 2026 10:00:00 GMT", "Tue, 24 Nov 2026 11:00:01 GMT"
    assert Standing.INDETERMINATE is standings(har, entries_of_a_day(wrong), **options)[OLD]
    assert {OLD} == violated(har, entries_of_a_day(right), **options)


@pytest.mark.parametrize(
    ("headers", "skewed"),
    [
        ({}, False),
        ({"Date": "Tue, 24 Nov 2026 11:00:01 GMT"}, False),
        ({"Date": "Tue, 24 Nov 2026 10:59:59 GMT"}, False),
        ({"Date": "Tue, 24 Nov 2026 11:00:09 GMT"}, True),
        ({"Date": "Tue, 24 Nov 2026 10:00:00 GMT", "Age": "3600"}, False),
        ({"Date": "Tue, 24 Nov 2026 10:00:00 GMT", "Age": "1"}, True),
        ({"Date": "yesterday"}, False),
        ({"Date": "Tue, 24 Nov 9999 11:00:00 GMT"}, False),
        ({"Date": "x" * 10_000}, False),
        ({"Date": "Tue, 24 Nov 2026 11:00:00 GMT", "Age": "9" * 5000}, False),
    ],
)
def test_whether_two_clocks_differ(headers, skewed, tmp_path):
    """`Date` has whole seconds, and a kept answer an age; what is no time says nothing."""
    entries = entries_of_a_day()
    entries[0]["response"]["headers"] += [
        {"name": name, "value": value} for name, value in headers.items()
    ]
    read = read_har(write(tmp_path / "x.har", entries))
    assert skewed is is_skewed(read[0])
    assert 1 + skewed == len([*readings(read)])
    other = [*readings(read)][-1][0].at
    assert other == (bank_time(read[0]) if skewed else read[0].at)


def test_other_clocks_keep_calls_in_their_order():
    """All clocks have all calls; some are earlier, later, on one day, or days apart."""
    answer = accepted()
    calls = [
        replace(exchange(Call(operation="accounts", subject="psu"), answer, at=at), n=n)
        for n, at in enumerate(times(29), 1)
    ]
    days = []
    for history in other_clocks(History(events=tuple(calls)), ()):
        moved = [*history.exchanges]
        assert [each.n for each in calls] == [each.n for each in moved]
        assert moved == [*history.events] == [*history.exchanges]
        assert sorted(moved, key=lambda each: each.at) == moved
        days.append((moved[0].at.year, (moved[-1].at - moved[0].at).days))
    assert {2024, 2026, 2029} <= {year for year, _ in days}
    assert {0} < {span for _, span in days}
    assert max(span for _, span in days) > 365
