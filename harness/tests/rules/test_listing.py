"""`listing` compares whole walks with what the customer plainly owns."""

import pytest
from building import FAILED, LOST, NO, account, ask, card, check, consent, item, listed, owner

PSU = owner("psu", account("A1"), account("A2"), card("C1"))
ALL = listed("A1", "A2", "C1")


def says(*events):
    return check("accounts.listing", *events)


@pytest.mark.parametrize(
    ("came", "agreement"),
    [
        (ALL, "agrees"),
        (listed("A1", "A2", "C1", "more"), "agrees"),
        (listed("A1", "A2"), "disagrees"),
        (listed(), "disagrees"),
        (listed("A1", "A2", item()), "unclear"),
    ],
)
def test_all_that_is_owned_is_listed_before_consent(came, agreement):
    """A missing one is a violation, unless some item does not say which it is."""
    assert [f"all-without-consent {agreement} 1"] == says(PSU, ask("accounts", came))


def test_after_consent_for_a_part_all_is_still_listed():
    """A bank that lists only what was consented to is found out."""
    assert ["all-with-consent agrees 2"] == says(PSU, consent("A1"), ask("accounts", ALL))
    assert ["all-with-consent disagrees 2"] == says(
        PSU, consent("A1"), ask("accounts", listed("A1"))
    )


def test_after_consent_for_all_listing_all_says_nothing():
    """A bank that lists only what was consented to would list the same."""
    everything = consent("A1", "A2", "C1")

    assert [] == says(PSU, everything, ask("accounts", ALL))
    assert ["all-with-consent disagrees 2"] == says(PSU, everything, ask("accounts", listed("A1")))


@pytest.mark.parametrize("came", [LOST, FAILED])
def test_after_a_doubtful_consent_nothing_is_said(came):
    """Nobody knows on which side of the consent the list stands."""
    assert [] == says(PSU, consent("A1", came=came), ask("accounts", ALL))


def test_another_customers_consent_does_not_count():
    """Before and after are told by customer."""
    assert ["all-without-consent agrees 2"] == says(
        PSU, consent("B1", by="other"), ask("accounts", ALL)
    )


def test_pages_of_two_walks_are_told_apart():
    """Two customers turn their pages in turn."""
    other = owner("other", account("B1"), account("B2"))

    assert ["all-without-consent agrees 1,4", "all-without-consent disagrees 2,3"] == says(
        PSU,
        other,
        ask("accounts", listed("A1", "A2", next="2")),
        ask("accounts", listed("B1", next="2"), by="other"),
        ask("accounts", listed("A2"), by="other", follow="2"),
        ask("accounts", listed("C1"), follow="2"),
    )


@pytest.mark.parametrize(
    "events",
    [
        [PSU, ask("accounts", NO)],
        [PSU, ask("accounts", LOST)],
        [PSU, ask("accounts", listed("A1", next="2"))],
        [PSU, ask("accounts", listed("A1", next="2")), ask("accounts", FAILED, follow="2")],
        [PSU, ask("accounts", listed("A1"), arguments={"limit": 1})],
        [ask("accounts", listed("A1"))],
        [owner("psu"), ask("accounts", listed())],
        [owner("psu", account("A1", savings=True)), ask("accounts", listed())],
    ],
    ids=[
        "refused",
        "timed out",
        "never turned",
        "a page failed",
        "asked for less",
        "no roster",
        "owns nothing",
        "owns nothing that is listed",
    ],
)
def test_what_cannot_tell_is_no_evidence(events):
    """Only a whole walk by somebody who owns something is judged."""
    assert [] == says(*events)
