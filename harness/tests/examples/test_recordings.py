"""A client's recorded traffic with the bank of the example, call by call."""

import pytest
from literal_har import entry, standings
from xs2a_example import CONTRACT, TARGET

from assay.rules.verdict import Standing

BASE = "http://127.0.0.1:8781/v1"
IBAN, RETURNED = "DE61370400440870507289", "xs2a/request-id.returned/transactions-returned"
OPTIONS = {"contracts": (str(CONTRACT),), "target_name": str(TARGET)}
IDS = [f"d95214bf-9ee1-5adc-8262-064269fe28b{n}" for n in range(4)]


def call(n, path, body, *, returned=None, **options):
    """Return a call with an id of its own, and its answer with the same one."""
    headers = {"X-Request-ID": IDS[n], "Consent-ID": "c-1", "PSU-IP-Address": "192.0.2.7"}
    at = f"2026-11-24T12:00:0{n}+01:00"
    answered = {"X-Request-ID": returned or IDS[n]}
    return entry(at, "GET", f"{BASE}{path}", 200, body, headers=headers, answered=answered)


def pages(**second):
    """List the accounts, and the transactions of one on two pages."""
    path = "/accounts/r-1/transactions?bookingStatus=booked"
    following = f"{path}&start=20"
    linked = {"_links": {"next": {"href": f"{BASE}{following}"}}}
    accounts = {"accounts": [{"resourceId": "r-1", "iban": IBAN, "currency": "EUR"}]}
    booked = [{"transactionId": "T1", "bookingDate": "2026-11-20", "bookingStatus": "booked"}]
    first = {"transactions": {"booked": booked, **linked}}
    last = {"transactions": {"booked": [{**booked[0], "transactionId": "T2"}]}}
    return [
        call(0, "/accounts", accounts),
        call(1, path, first),
        call(2, following, last, **second),
    ]


@pytest.mark.parametrize(
    ("returned", "standing"),
    [(None, Standing.CONFORMS), (IDS[1], Standing.VIOLATES)],
    ids=["its own", "that of the first page"],
)
def test_the_id_of_the_call_for_a_page(returned, standing, tmp_path):
    """A link has no headers: the next page is asked for under another id, which the answer repeats."""
    har = tmp_path / "x.har"
    assert standing is standings(har, pages(returned=returned), **OPTIONS)[RETURNED]
