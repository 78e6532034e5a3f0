"""Tokens of a recording: what other callers explain is no violation."""

import pytest
from literal_har import entry, standings, violated

from assay.contract.model import Party
from assay.rules.verdict import Standing

BASE = "https://www.30001.live.sandbox.example"
READ, SCOPE = "pis/payments.read/answers", "aisp/consent.scope/only-consented"
PRESENT = {"PSU-IP-Address": "203.0.113.7"}
OPTIONS = {"complete": True, "bank_clock": True}
IBANS = "FR7630001007941234567890185", "FR7630001100022004121950842"
PAYMENT = {
    "paymentType": "immediate",
    "debtorAccount": IBANS[0],
    "creditorAccount": "FR7630006000011234567890189",
    "amount": "12.30",
    "currency": "EUR",
    "chargeBearer": "SLEV",
    "categoryPurpose": "DVPM",
    "successfulReportUrl": "https://tpp.example/return?state=4711",
}


def at(n):
    """Return the time of the n-th call."""
    return f"2026-11-24T12:00:{n:02d}+01:00"


def payment_read(token):
    """Make a payment, and read it with a token: it is not found."""
    body = {"paymentRequestResourceId": "p-1", "status": "received", "links": {}}
    url = f"{BASE}/payment-requests"
    return [
        entry(at(1), "POST", url, 201, body, sent=PAYMENT, headers=PRESENT),
        entry(at(2), "GET", f"{url}/p-1", 404, {}, token=token, headers=PRESENT),
    ]


@pytest.mark.parametrize(
    ("token", "standing"),
    [
        ("token-1", Standing.VIOLATES),
        ("token-2", Standing.INDETERMINATE),
        ("", Standing.INDETERMINATE),
    ],
)
def test_another_tpp(token, standing, tmp_path):
    """A bank shows a payment to the TPP that made it; another token may be another TPP's."""
    found = standings(tmp_path / "x.har", payment_read(token), **OPTIONS)
    assert standing is found[READ]


def balances(token, iban, shown=IBANS):
    """Transmit a consent to the first account, and read the balances of one with a token."""
    listed = {"accounts": [{"iban": each, "currency": "EUR"} for each in shown], "links": {}}
    report = {"balances": [{"balanceType": "CLBD", "currency": "EUR", "iban": iban}], "links": {}}
    url = f"{BASE}/accounts/balances?iban={iban}"
    sent = {"accounts": [IBANS[0]]}
    return [
        entry(at(1), "GET", f"{BASE}/accounts", 200, listed, headers=PRESENT),
        entry(at(2), "PUT", f"{BASE}/consents", 201, {}, sent=sent, headers=PRESENT),
        entry(at(3), "GET", f"{BASE}/accounts", 200, listed, token=token, headers=PRESENT),
        entry(at(4), "GET", url, 200, report, token=token, headers=PRESENT),
    ]


def test_a_renewal_that_is_not_recorded(tmp_path):
    """The token after a renewal shows the same accounts: the consent of the first one may cover them.

    What that does not cover is not covered with any token.
    """
    har, tpp = tmp_path / "x.har", {"party": Party.TPP, **OPTIONS}
    for token in ("token-1", "token-2"):
        assert set() == violated(har, balances(token, IBANS[0]), **tpp)
    assert {SCOPE} == violated(har, balances("token-1", IBANS[1]), **tpp)
