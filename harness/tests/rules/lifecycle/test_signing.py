"""Signatures: the state of the request before each, and the outcome after it."""

from dataclasses import replace

from account_information import LOST
from payment_initiation import (
    CONFIRMED,
    DISCONNECTED,
    DONE,
    ENDED,
    OPEN,
    PIS,
    REJECTED,
    STOPPED,
    effects,
    make,
    modify,
    page,
    payer,
    read,
    shown,
    story,
)
from rows import for_each

from assay.history import Item
from assay.rules.lifecycle import signing, tracker
from assay.rules.verdict import Agreement
from assay.testing import accepted, history

LIFE = tracker.lifecycle_of_request(PIS, "payment")
NAMELESS = accepted(Item(key="P1"), status=201)


def only(*events):
    """Return the one signature of a history."""
    (found,) = signing.signings(LIFE, history(payer(), *events))
    return found


def test_what_was_known_before():
    """Where the request was last seen to stand by then, if anywhere."""
    made, way, after = story("P1")
    assert OPEN is only(made, way, after).before
    assert ENDED is only(made, read(shown("P1", ENDED)), way).before
    assert None is only(make(NAMELESS), way, after).before


@for_each(("amount", "alone"), [("12.30", True), ("1.00", False)])
def test_a_change_to_what_was_said_already_decides_nothing(amount, alone):
    """An accepted change counts as something else that happened only if it says another thing."""
    made, way, after = story("P1")
    made = replace(
        made, call=replace(made.call, arguments={**made.call.arguments, "amount": "12.30"})
    )
    assert only(made, way, after).alone
    assert alone is only(made, modify(shown("P1", OPEN), amount=amount), way, after).alone
    assert not only(made, modify(LOST, amount="12.30"), way, after).alone


@for_each(("status", "failed"), [(0, True), (200, False), (303, False), (499, False), (500, True)])
def test_a_failing_target(status, failed):
    """It failed, or did not answer at all."""
    made, way, after = story("P1")
    assert failed is only(made, replace(way, wire=page(status)), after).failed


@for_each(
    ("state", "undone", "over"),
    [(OPEN, True, False), (DONE, False, False), (REJECTED, True, True), (ENDED, True, True)],
)
def test_somebody_looked_after_it(state, undone, over):
    """What was not executed may be yet, or never will be."""
    one = only(*story("P1", DISCONNECTED, state))
    assert (state is DONE, undone, over) == (one.done, one.undone, one.over)


def test_nobody_looked_after_it():
    """A look before it does not count, nor one that shows nothing."""
    made, way, _ = story("P1", DISCONNECTED)
    for events in (
        (made, way),
        (made, read(shown("P1", OPEN)), way),
        (made, way, read(LOST)),
        (made, way, read(NAMELESS)),
        (made, effects(), way),
    ):
        one = only(*events)
        assert (False, False, False) == (one.done, one.undone, one.over)


def test_the_world_was_asked():
    """Its word counts, whatever the interface shows."""
    made, way, _ = story("P1", DISCONNECTED)
    assert only(made, way, effects()).undone
    assert only(made, way, effects("P1")).done
    told = only(made, way, read(shown("P1", REJECTED)), effects("P1"))
    assert (True, False, False) == (told.done, told.undone, told.over)


def test_requests_that_share_a_key_are_left_out():
    """Nobody knows which of them was signed."""
    assert () == signing.signings(LIFE, history(payer(), make(), *story("P1")))


@for_each(
    ("ending", "description"),
    [
        (CONFIRMED, "the screens accepted the confirmation, and sent to https://tpp.example/back"),
        (DISCONNECTED, "the customer was disconnected"),
        (STOPPED, "the screens did not let the customer go on"),
    ],
)
def test_what_is_listed(ending, description):
    """How it ended, and what became of the request; what was out of the ordinary of either."""
    one = only(*story("P1", ending, ENDED))
    evidence = one.evidence("f", Agreement.AGREES, "that it does", 9)
    assert f"{description}; of the request, it was accepted (200), then ended" == evidence.seen
    assert ((1, 2, 3, 9), "") == (evidence.exchanges, evidence.variation)


@for_each(
    ("signed", "made", "variation"),
    [("slow", "", "slow"), ("", "odd", "odd"), ("slow", "odd", "slow")],
)
def test_the_deviation_is_that_of_the_signature_or_else_of_the_request(signed, made, variation):
    """One is what the evidence is about."""
    way = story("P1", step={"variation": signed}, arguments={"variation": made})
    assert variation == only(*way).evidence("f", Agreement.AGREES, "that it does").variation
