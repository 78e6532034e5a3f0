"""`disclosed-when` compares what is told before and after a consent."""

import pytest
from building import FAILED, LOST, NO, ask, check, consent, listed, owner

TOLD, SILENT = listed("A1", PsuIdentity="P1"), listed("A1")
PSU = owner("psu")


def says(*events):
    return check("psu-identity", *events)


def read(came, **how):
    return ask("accounts", came, **how)


def test_it_is_withheld_before_and_given_after():
    """Before is judged where it was seen afterwards."""
    assert ["disclosed-after agrees 3", "withheld-before agrees 1"] == says(
        PSU, read(SILENT), consent("A1"), read(TOLD)
    )


@pytest.mark.parametrize("given", [None, "", {}, [], {"name": None}, [{"name": ""}]])
def test_an_empty_value_is_not_given(given):
    """Null and nothing are no identity, nor is a structure of them."""
    assert ["disclosed-after disagrees 2"] == says(
        PSU, consent("A1"), read(listed("A1", PsuIdentity=given))
    )


def test_a_value_told_too_early_is_a_violation():
    """It needs no control: what is seen is seen."""
    assert ["withheld-before disagrees 1"] == says(PSU, read(TOLD))


def test_a_value_that_never_shows_may_stand_elsewhere():
    """Not given before is no merit where it is not given after."""
    assert ["disclosed-after disagrees 3"] == says(PSU, read(SILENT), consent("A1"), read(SILENT))


@pytest.mark.parametrize(
    "events",
    [
        [read(SILENT)],
        [consent("A1", came=LOST), read(SILENT)],
        [consent("A1", came=FAILED), read(TOLD)],
        [consent("A1"), read(NO)],
        [consent("A1"), read(LOST)],
        [consent("A1"), read(SILENT, follow="2")],
        [consent(), read(SILENT)],
    ],
    ids=["alone", "doubt", "doubt and told", "refused", "lost", "second page", "empty consent"],
)
def test_what_cannot_tell_is_no_evidence(events):
    """Doubtful consents, refusals and page turns say nothing."""
    assert [] == says(PSU, *events)


def test_a_consent_that_was_refused_first_does_no_harm():
    """The second one counts."""
    assert ["disclosed-after agrees 4", "withheld-before agrees 2"] == says(
        PSU, consent("A1", came=NO), read(SILENT), consent("A1"), read(TOLD)
    )


def test_consents_are_counted_by_customer():
    """Another's consent discloses nothing of this one."""
    assert ["withheld-before disagrees 2"] == says(
        PSU, owner("other"), consent("B1", by="other"), read(TOLD)
    )


@pytest.mark.parametrize("events", [[owner("psu", fresh=False)], []])
def test_of_one_who_was_there_before_an_early_value_is_open(events):
    """An older consent may still hold."""
    assert ["withheld-before unclear 1"] == says(*events, read(TOLD))
