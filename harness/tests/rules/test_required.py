"""A header or query parameter that must be there: literal histories, and what the TPP owes."""

from dataclasses import replace
from pathlib import Path

from rows import for_each

from assay.history import Call, Malformed
from assay.history.events import Masked
from assay.rules.kinds.requests.required import Required
from assay.rules.rule import facts_of
from assay.testing import (
    accepted,
    evidence,
    exchange,
    failed,
    history,
    kind_in,
    listed,
    lost,
    play,
    refused,
)

DESK = Path(__file__).parents[1] / "general_kinds" / "desk.yaml"
GOOD = "6c1f8a52-7f0b-4c55-9a0c-1e6d3b2f9010"


def called(answer, operation="accounts", *, without=(), **changes):
    """Write down a call; names in `sent` have hyphens in place of low lines."""
    sent = {name.replace("_", "-"): value for name, value in changes.pop("sent", {}).items()}
    call = Call(operation=operation, subject="psu", arguments=sent, without=without)
    return exchange(replace(call, **changes), answer)


def request_id(answer, value=GOOD, **changes):
    """Write down a call with a request id."""
    return called(answer, sent={"X_Request_ID": value}, **changes)


def bare(answer, **changes):
    """Write down a call without one."""
    return called(answer, without=("X-Request-ID",), **changes)


def says(clause, *events, tpp=False):
    """Return what a clause says of a history."""
    return evidence(kind_in(DESK, clause), history(*events), tpp=tpp)


def test_a_missing_parameter_is_refused_beside_a_control():
    """The call that has it, accepted before or after, makes the refusal count."""
    assert [] == says("request-id", bare(refused()))
    assert ["accounts-missing agrees 1,2"] == says(
        "request-id", request_id(accepted("A")), bare(refused())
    )
    assert ["accounts-missing agrees 1,2"] == says(
        "request-id", bare(refused()), called(accepted("A"))
    )
    assert [] == says("request-id", bare(refused()), called(accepted("A"), subject="other"))


@for_each(
    ("answer", "agreement"),
    [
        (accepted("A"), "disagrees"),
        (refused("A"), "disagrees"),
        (failed(status=500), "disagrees"),
        (failed(status=503), "unclear"),
        (lost(), "unclear"),
        (listed(), "unclear"),
        (refused(status=401), "unclear"),
    ],
)
def test_what_is_no_refusal(answer, agreement):
    """What discloses something, and a failure beside a control, violate; the rest is open."""
    control = request_id(accepted("A"))

    assert [f"accounts-missing {agreement} 1,2"] == says("request-id", control, bare(answer))


def test_without_a_control_an_accepted_call_is_a_violation_all_the_same():
    """Nothing else is needed to see that it was served; a failure shows nothing."""
    assert ["accounts-missing disagrees 1"] == says("request-id", bare(accepted("A")))
    assert [] == says("request-id", bare(failed(status=500)))


@for_each(
    ("value", "facets"),
    [
        ("assay", ["accounts-invalid disagrees 1"]),
        (GOOD[:-1], ["accounts-invalid disagrees 1"]),
        (GOOD.upper(), []),
        (GOOD.replace("-", ""), []),
        (f"{{{GOOD}}}", []),
        ("", []),
        (None, []),
        ("<header-1>", []),
        (Masked("id-1"), []),
        (Masked("id-1", ["uuid"]), []),
    ],
)
def test_which_values_are_bad(value, facets):
    """A UUID in another spelling, an empty value and what a journal hides are open."""
    assert facets == says("request-id", request_id(accepted("A"), value))


def test_calls_that_are_not_judged():
    """A malformed call, a further page and a call of another operation show nothing."""
    control = request_id(accepted("A"))

    assert [] == says("status", control, bare(accepted("A")))
    for change in ({"malformed": Malformed.EMPTY}, {"follow": "p2"}, {"credentials": True}):
        assert [] == says("request-id", control, bare(accepted("A"), **change))


def entries(answer, **sent):
    """Write down a call for entries."""
    return called(answer, "entries", sent={"number": "A", **sent})


def test_each_value_is_served():
    """A refused value is a violation only between two that are served."""
    booked, none = entries(accepted("E"), status="booked"), entries(refused(), status="pending")

    assert ["entries-values agrees 1"] == says("status", booked)
    assert ["entries-values agrees 1", "entries-values unclear 1,2"] == says("status", booked, none)
    assert [
        "entries-values agrees 1",
        "entries-values disagrees 1,2,3",
        "entries-values agrees 3",
    ] == says("status", booked, none, booked)
    assert ["entries-values agrees 1", "entries-invalid agrees 1,2"] == says(
        "status", booked, entries(refused(), status="bookedx")
    )


def test_a_number_above_the_limit_is_refused():
    """The limit itself is served, as a text or a number; what is no number is open."""
    usual = entries(accepted("E"), rows="50")

    assert ["entries-limit agrees 1"] == says("rows", entries(accepted("E"), rows="100"))
    assert ["entries-beyond agrees 1,2"] == says("rows", usual, entries(refused(), rows=101))
    assert ["entries-beyond disagrees 1,2"] == says(
        "rows", usual, entries(accepted("E"), rows="101")
    )
    assert [] == says("rows", usual, entries(refused(), rows="ten"), entries(refused(), rows="0"))
    assert [] == says("rows", called(refused(), "entries", without=("rows",)), usual)


def test_a_call_that_ends_a_request_is_made_without_it_first():
    """It can be accepted only once, so its control comes last."""
    kind = kind_in(DESK, "request-id")
    calls = play(kind, "call-off", lambda call: accepted("O-1")).calls

    assert ["order", *["call-off"] * 4] == [call.operation for call in calls]
    assert [True, True, True, False] == [bool(call.variation) for call in calls[1:]]


def test_a_request_may_be_rejected_for_a_bad_value():
    """Other clauses leave open what such a request comes to."""
    facts = facts_of(kind_in(DESK, "request-id").contract)

    assert facts.may_reject("order", {"X-Request-ID": "assay"})
    assert not facts.may_reject("order", {"X-Request-ID": GOOD})
    assert not facts.may_reject("order", {})


def test_the_tpp_sends_it():
    """A call without it, or with a bad value, is a breach; an empty value is open."""
    assert [
        f"{Required.duty_facet} agrees 1",
        f"{Required.duty_facet} disagrees 2",
        f"{Required.duty_facet} disagrees 3",
    ] == says(
        "request-id",
        request_id(accepted("A")),
        bare(refused()),
        request_id(accepted("A"), "assay"),
        request_id(accepted("A"), ""),
        tpp=True,
    )
