"""Requests that are wrong in one way, for each kind that refuses them: what counts as refused, and beside what."""

from dataclasses import replace

import pytest
from account_information import AT, BROKEN, FAILED, GONE, LOST, NO, ODD, UNKNOWN, ask
from payment_initiation import (
    DONE,
    ENDED,
    OPEN,
    REJECTED,
    cancel,
    check,
    effects,
    make,
    modify,
    payer,
    read,
    shown,
    sign,
    withdrawn,
)
from rows import for_each

from assay.history import Ending, Lacking, Malformed
from assay.testing import accepted, refused

#: By clause and facet, how a request is wrong.
WRONG = {
    ("charge-bearer", "other-value"): {"chargeBearer": "SHAR"},
    ("mandatory-fields", "chargeBearer-missing"): {"without": ("chargeBearer",)},
}


@pytest.fixture(params=WRONG.items(), ids=lambda one: "/".join(one[0]))
def wrong(request):
    """Return what is said of the facet, without its name, and what makes a wrong request."""
    (clause, facet), varied = request.param

    def says(*events, people=None):
        found = check(clause, *(people if people is not None else [payer()]), *events)
        assert all(line.startswith(f"{facet} ") for line in found)
        return [line.partition(" ")[2] for line in found]

    def bent(came=None, **changes):
        without = (*varied.get("without", ()), *changes.pop("without", ()))
        came = came or shown("P2")
        return make(came, key="P2", **{**varied, **changes, "without": without})

    return says, bent


# -- how it was answered ---------------------------------------------------------------
@for_each("came", [NO, GONE, refused(status=400), refused(status=422)])
def test_any_refusal_will_do(wrong, came):
    """The document gives no codes."""
    says, bent = wrong
    assert ["agrees 1,2"] == says(make(), bent(came))
    assert [] == says(make(NO), bent(came))


@for_each("came", [LOST, FAILED, ODD, UNKNOWN])
def test_an_answer_that_tells_nothing(wrong, came):
    """It is unclear beside a control, and nothing without one."""
    says, bent = wrong
    assert ["unclear 1,2"] == says(make(), bent(came))
    assert [] == says(make(came), bent(came), bent(NO))


def test_a_failure_is_no_refusal(wrong):
    """Beside an accepted control the target fails over what is wrong; overloaded, it may be anything."""
    says, bent = wrong
    assert ["disagrees 1,2"] == says(make(), bent(BROKEN))
    assert [] == says(bent(BROKEN))
    assert [] == says(make(BROKEN), bent(BROKEN))


def test_accepted_is_wrong_without_a_control(wrong):
    """It was not to be accepted, whatever became of a valid one, and with nothing in the answer."""
    says, bent = wrong
    look = read(shown("P2", OPEN), key="P2")
    assert ["disagrees 1,2"] == says(bent(), look)
    assert ["disagrees 2,3"] == says(make(NO), bent(), look)
    assert ["disagrees 1,2"] == says(make(), bent(accepted(status=201)))


def test_what_nobody_looked_at_may_have_been_rejected(wrong):
    """A bank may take a request first, and show it as rejected when it is read."""
    says, bent = wrong
    assert ["unclear 1"] == says(bent())
    assert ["unclear 1,2"] == says(make(), bent())
    assert ["unclear 1,2,3"] == says(make(), bent(), sign(key="P2"))


# -- what was shown later --------------------------------------------------------------
def test_rejected_later_is_refused(wrong):
    """The document does not say when a rejection comes; in the same answer it may come, too."""
    says, bent = wrong
    later = bent(), read(shown("P2", REJECTED), key="P2")
    assert ["agrees 1,2,3"] == says(make(), *later)
    assert [] == says(make(NO), *later)
    assert ["agrees 1,2"] == says(make(), bent(shown("P2", REJECTED)))


@for_each(
    "touch",
    [
        sign(key="P2"),
        sign(Ending.REFUSED, key="P2"),
        sign(Ending.DISCONNECTED, key="P2"),
        cancel(shown("P2"), key="P2"),
        cancel(LOST, key="P2"),
        modify(key="P2", amount="1.00"),
        withdrawn(key="P2"),
    ],
)
def test_rejected_for_what_became_of_it_since(wrong, touch):
    """A bank may call a cancelled one rejected, and one that was signed may break another rule."""
    says, bent = wrong
    late = read(shown("P2", REJECTED), key="P2")
    (found,) = says(make(), bent(), touch, late)
    assert "unclear" == found.partition(" ")[0]
    assert [] == says(make(NO), bent(), touch, late)


@for_each("state", [OPEN, DONE, ENDED])
def test_read_as_anything_else_is_wrong(wrong, state):
    """A look that does not show it rejected changes nothing."""
    says, bent = wrong
    assert ["disagrees 1,2,3"] == says(make(), bent(), read(shown("P2", state), key="P2"))


@for_each("came", [LOST, FAILED, NO])
def test_a_look_that_failed_excuses_nothing(wrong, came):
    """It was accepted, and no answer shows it as rejected."""
    says, bent = wrong
    assert ["disagrees 1,2,3"] == says(make(), bent(), read(came, key="P2"))


@for_each("came", [shown("P2", None), accepted()])
def test_a_state_that_the_profile_does_not_know_is_unclear(wrong, came):
    """It may be the target's word for rejected."""
    says, bent = wrong
    assert ["unclear 1,2,3"] == says(make(), bent(), read(came, key="P2"))


def test_the_last_look_counts(wrong):
    """A word that is not known, followed by one that is, leaves no doubt."""
    says, bent = wrong
    looks = [read(shown("P2", None), key="P2"), read(shown("P2", OPEN), key="P2")]
    assert ["disagrees 1,2,4"] == says(make(), bent(), *looks)
    assert ["unclear 1,2,3,4"] == says(make(), bent(), *looks[::-1])


def test_rejected_and_then_changed_it_is_open_for_what_it_says_since(wrong):
    """A bank may accept a change of what it rejected: that is another request then."""
    says, bent = wrong
    since = [modify(shown("P2"), key="P2"), read(shown("P2", OPEN), key="P2")]
    for state, word in ((REJECTED, "unclear"), (OPEN, "disagrees")):
        (found,) = says(make(), bent(shown("P2", state)), *since)
        assert word == found.partition(" ")[0]


def test_carried_out_is_wrong_whatever_is_shown(wrong):
    """The world's word outweighs a state that says otherwise, or none."""
    says, bent = wrong
    for state in (REJECTED, None):
        events = [bent(), read(shown("P2", state), key="P2"), effects("P2")]
        assert ["disagrees 1,2,3"] == says(make(), *events)


# -- the control -----------------------------------------------------------------------
@for_each(
    "changes",
    [
        {"by": "other"},
        {"tpp": "second"},
        {"mode": "instant"},
        {"host": 0},
        {"amount": "9.99"},
        {"currency": "USD"},
        {"without": ("debtorAccount",)},
    ],
)
def test_another_request_is_no_control(wrong, changes):
    """It is the same but for what is wrong, of the same customer, by the same TPP."""
    says, bent = wrong
    people = payer(), payer("other")
    assert [] == says(make(), bent(NO, **changes), people=people)
    assert [] == says(make(**changes), bent(NO), people=people)
    assert ["agrees 1,2"] == says(make(**changes), bent(NO, **changes), people=people)
    look = read(shown("P2", OPEN), key="P2")
    assert ["disagrees 2,3"] == says(make(), bent(**changes), look, people=people)


def test_a_customer_who_was_introduced_anew_is_somebody_else(wrong):
    """It may be another bank, which offers less; recorded traffic does not say whose customer it is."""
    says, bent = wrong
    assert [] == says(make(), Lacking(mode="instant", now=AT), payer(), bent(NO))
    assert ["agrees 1,2"] == says(make(), bent(NO), people=())


@for_each("then", [read(shown(state=REJECTED)), read(shown(state=DONE)), sign(), effects("P1")])
def test_a_control_that_was_rejected_or_signed_is_none(wrong, then):
    """Everything rejected in the end is no merit, and a repeat may be refused as one."""
    says, bent = wrong
    assert [] == says(make(), then, bent(NO))
    (found,) = says(make(), then, bent(), read(shown("P2", OPEN), key="P2"))
    assert found in {"disagrees 2,3", "disagrees 3,4"}


def test_a_control_that_was_ended_is_one(wrong):
    """It was accepted, and then cancelled, which is no rejection."""
    says, bent = wrong
    deferred = {"mode": "deferred", "date": "2026-09-19"}
    assert ["agrees 1,3"] == says(make(**deferred), cancel(), bent(NO, **deferred))


def test_the_control_may_come_later_and_be_changed(wrong):
    """What counts is what was sent when it was made."""
    says, bent = wrong
    assert ["agrees 1,2"] == says(bent(NO), make())
    later = [make(mode="deferred"), modify(amount="1.00")]
    assert ["agrees 1,2"] == says(bent(NO, mode="deferred"), *later)


def test_calls_that_are_bent_otherwise_are_not_judged(wrong):
    """A body that does not read, credentials, and other operations are other rules' matters."""
    says, bent = wrong
    taken = bent()
    assert [] == says(
        make(),
        replace(taken, call=replace(taken.call, malformed=Malformed.TRUNCATED)),
        replace(taken, call=replace(taken.call, credentials=True)),
        modify(NO, chargeBearer="SHAR"),
        ask("modify-payment", NO, arguments={"chargeBearer": None}),
        read(NO, key="P9"),
    )
