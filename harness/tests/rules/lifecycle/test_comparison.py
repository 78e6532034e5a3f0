"""Comparison of requests: return addresses are compared by scheme alone."""

from dataclasses import replace
from datetime import UTC, datetime

from payment_initiation import PIS, make, payer
from rows import for_each

from assay.rules.lifecycle.comparison import return_scheme, sort_of
from assay.rules.lifecycle.tracker import Tracker, lifecycle_of_request
from assay.testing import history

LIFE = lifecycle_of_request(PIS, "payment")
HERE = "https://tpp.example/back"


def asked(**arguments):
    """Return a request that was made with these arguments."""
    book = Tracker(lifecycle=LIFE)
    for event in history(payer(), make(**arguments)).events:
        book.note(event)
    (found,) = book.requests
    return found


def back(address):
    """Return the sort of a request that leads back to an address."""
    return sort_of(LIFE, asked(successfulReportUrl=address))


@for_each(
    "address",
    [
        HERE,
        "https://tpp.example/there?state=2",
        "https://other.example:8443/",
        "HTTPS://tpp.example/back",
    ],
)
def test_wherever_it_leads_it_is_one_sort(address):
    """Every request may have an address of its own."""
    assert back(HERE) == back(address)
    assert "https" == return_scheme(LIFE, asked(successfulReportUrl=address))


@for_each(
    "address",
    [
        *(None, "", "nowhere", "/back", "tpp:back", "https://", "https://[", "https://a:b", "//a"),
        *(f"{HERE} x", f"{HERE}?a=%zz", f"{HERE}/{'a' * 600}", "https://tpp.ex\u00e4mple/"),
        *("https://tpp.example:99999/", "https://tpp.example:0/", 7, ["https://tpp.example"]),
    ],
)
def test_what_leads_nowhere_is_only_like_itself(address):
    """It may be rejected for that, and is nobody's control but its own."""
    assert back(HERE) != back(address)
    assert back(f"{address}x") != back(address)
    assert back(address) == back(address)


def test_another_scheme_is_another_sort():
    """Some are sent back to an application, or in the open."""
    assert 3 == len({back(HERE), back("http://tpp.example/back"), back("tpp://back/")})


def test_a_day_that_has_begun_makes_another_sort():
    """The same request may be refused then because it is late."""
    deferred = {"mode": "deferred", "date": "2026-09-20"}
    before, later = (
        sort_of(LIFE, asked(at=datetime(2026, 9, day, 12, tzinfo=UTC), **deferred))
        for day in (16, 23)
    )
    immediate = [
        sort_of(LIFE, asked(at=datetime(2026, 9, day, 12, tzinfo=UTC))) for day in (16, 23)
    ]

    assert before != later
    assert immediate[0] == immediate[1]


def test_none_is_not_null():
    """What was left out was not sent."""
    left_out = sort_of(LIFE, asked(without=("successfulReportUrl",)))

    assert 3 == len({left_out, back(None), back(HERE)})


def test_an_interface_that_leads_nobody_back_has_one_sort():
    """Then the address is an argument like others."""
    nowhere = replace(LIFE, create=replace(LIFE.create, returns=None))

    assert return_scheme(nowhere, asked()) == return_scheme(
        nowhere, asked(successfulReportUrl="nowhere")
    )
    assert sort_of(nowhere, asked()) != sort_of(nowhere, asked(successfulReportUrl="nowhere"))
