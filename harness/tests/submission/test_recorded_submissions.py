"""A recorded consent, its submission, and what reads the payment since then are one request."""

from pathlib import Path

import pytest
from literal_har import entry, standings, violated, write

from assay.contract.model import Party
from assay.history import Exchange, History, State, Submitted
from assay.rules.verdict import Standing
from assay.traffic import judge
from assay.traffic.session import open_recording

TARGET = Path(__file__).parent / "merlin-target.yaml"
BASE = "https://merlin.example"
OPTIONS = {"contracts": ("pis",), "target_name": str(TARGET), "complete": True, "bank_clock": True}
AMOUNT, REPEATED = "pis/payments.content/amount", "pis/duplicate/not-repeated"
PAYMENT = {
    "paymentType": "immediate",
    "debtorAccount": "FR7630001007941234567890185",
    "creditorAccount": "FR7630006000011234567890189",
    "amount": "12.30",
    "currency": "EUR",
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "successfulReportUrl": "https://tpp.example/return?state=4711",
}


def at(n):
    """Return the time of the n-th call."""
    return f"2026-11-24T12:{n // 60:02d}:{n % 60:02d}+01:00"


def consented(n, key="c-4711"):
    """Make a consent to a payment."""
    body = {"paymentRequestResourceId": key, "status": "received", "links": {}}
    return entry(at(n), "POST", f"{BASE}/payment-consents", 201, body, sent=PAYMENT)


def submitted(n, key="c-4711", payment="p-1", status=201):
    """Submit it."""
    body = {"paymentId": payment, "status": "executed"} if status == 201 else {"error": "no"}
    sent = {**PAYMENT, "consent": key}
    return entry(at(n), "POST", f"{BASE}/payments", status, body, sent=sent)


def read(n, path, key, *, status="executed", code=200, **shown):
    """Read the payment, or its consent."""
    body = {**PAYMENT, "paymentRequestResourceId": key, "status": status, "links": {}, **shown}
    body = body if code == 200 else {}
    return entry(at(n), "GET", f"{BASE}/{path}/{key}", code, body)


def events(tmp_path, *entries):
    """Return the events of a recording."""
    session = open_recording(write(tmp_path / "x.har", entries), **OPTIONS)
    return session, session.histories[0].history.events


def plain(shown):
    """Return what was called and answered, and whether by a submission."""
    return [
        (isinstance(each, Submitted), each.n, each.at, each.call, each.outcome, each.wire)
        for each in shown
    ]


def test_one_request(tmp_path):
    """The submission is no second payment, and answers about it are under one key."""
    calls = consented(1), submitted(2), read(3, "payments", "p-1")
    _, (made, sent, shown) = events(tmp_path, *calls)
    assert (Exchange, Submitted, Exchange) == (type(made), type(sent), type(shown))
    assert "c-4711" == made.item.key == sent.request == sent.item.key == shown.item.key
    assert "c-4711" == shown.call.arguments["paymentRequestResourceId"]
    assert (made.call, State.DONE) == (sent.call, shown.item.state)
    found = standings(tmp_path / "x.har", calls, **OPTIONS)
    assert Standing.CONFORMS is found[AMOUNT]
    assert not {name for name, each in found.items() if each is Standing.VIOLATES}
    wrong = read(3, "payments", "p-1", amount="13.30")
    assert {AMOUNT} == violated(tmp_path / "x.har", [*calls[:2], wrong], **OPTIONS)


def test_a_payment_that_was_carried_out_twice(tmp_path):
    """The TPP repeats a payment by a second consent, not by the submission of the first."""
    tpp = {**OPTIONS, "party": Party.TPP}
    calls = consented(1), submitted(2), read(3, "payments", "p-1")
    assert set() == violated(tmp_path / "x.har", [*calls], **tpp)
    assert {REPEATED} == violated(tmp_path / "x.har", [*calls, consented(4, "c-4712")], **tpp)


def test_what_is_not_judged(tmp_path):
    """A consent once it was submitted, and what a consent from before the recording made."""
    session, shown = events(
        tmp_path,
        submitted(1, "c-before"),
        read(2, "payments", "p-before"),
        consented(3),
        submitted(4),
        read(5, "payment-consents", "c-4711", status="received"),
    )
    assert ["create-payment"] * 2 == [each.call.operation for each in shown]
    assert 3 == sum(session.unmatched.values())


@pytest.mark.parametrize("code", [403, 500])
def test_a_refused_submission_may_come_too_early(code, tmp_path):
    """Whether the customer had signed is not recorded: what is shown since then decides nothing."""
    state = State.OPEN if code == 500 else None
    calls = [consented(1), submitted(2, status=code), read(3, "payment-consents", "c-4711")]
    calls[-1] = read(3, "payment-consents", "c-4711", status="received")
    _, shown = events(tmp_path, *calls)
    seen = [each for each in shown if isinstance(each, Exchange)][1:]
    # Of a failure it is not known whether the bank took it: its consent is not judged any more.
    assert ([state] if code == 403 else []) == [each.item.state for each in seen]
    assert set() == violated(tmp_path / "x.har", calls, **OPTIONS)
    again = [*calls, submitted(4), read(5, "payments", "p-1")]
    assert set() == violated(tmp_path / "x.har", again, **OPTIONS)
    assert State.DONE is events(tmp_path, *again)[1][-1].item.state


def test_submissions_in_a_part_of_a_recording(tmp_path):
    """They keep their places in the part of a history that has the calls of some operations."""
    calls = [
        each
        for n in range(0, 60, 3)
        for each in (
            consented(n, f"c-{n}"),
            submitted(n + 1, f"c-{n}", f"p-{n}"),
            read(n + 2, "payments", f"p-{n}"),
        )
    ]
    _, whole = events(tmp_path, *calls)
    part = judge.part_of(History(events=tuple(whole)), frozenset({"create-payment"}))
    made = (each for each in whole if each.call.operation == "create-payment")
    assert plain(made) == plain(part.events)
    assert 20 == len(part.exchanges)
