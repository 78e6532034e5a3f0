"""`listing` compares whole walks with what the customer plainly owns."""

from dataclasses import replace
from datetime import timedelta

from account_information import (
    AT,
    FAILED,
    LOST,
    NO,
    account,
    ask,
    card,
    check,
    consent,
    item,
    owner,
    ruled,
)
from rows import for_each

from assay.testing import listed

PSU = owner("psu", account("A1"), account("A2"), card("C1"))
ALL = listed("A1", "A2", "C1")
ONLY = {"only-consented": True}


def says(*events):
    return check("accounts.listing", *events)


@for_each(
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


def test_a_card_whose_last_use_is_not_known_is_expected_on_the_first_day_only():
    """Two months later it may be hidden, and the accounts are not."""
    later = AT + timedelta(days=90)
    for shown, at, agreement in (
        (("A1", "A2"), AT, "disagrees"),
        (("A1", "A2"), later, "agrees"),
        (("A1",), later, "disagrees"),
    ):
        assert [f"all-without-consent {agreement} 1"] == says(
            PSU, ask("accounts", listed(*shown), at=at)
        )


@for_each("shown", [("A1",), ("A1", "C1"), ("A1", "A2", "C1")])
def test_after_consent_all_may_be_listed_or_only_what_is_consented_to(shown):
    """The document says it of the time before; it speaks of the list of consented accounts, too."""
    assert ["consented-with-consent agrees 2"] == says(
        PSU, consent("A1"), ask("accounts", listed(*shown))
    )


@for_each(
    ("consented", "shown", "agreement"),
    [
        (("A1",), ("A1",), "agrees"),
        (("A1",), ("A1", "A2"), "disagrees"),
        (("A1", "A2"), ("A1", "A2"), "agrees"),
        (("A1", "A2", "C1"), ("A1", "A2", "C1"), None),
        (("A1",), (), None),
    ],
)
def test_where_only_the_consented_is_listed_nothing_else_is(consented, shown, agreement):
    """It counts beside something that was consented to, and for a new customer alone."""
    events = consent(*consented), ask("accounts", listed(*shown))
    other = [f"nothing-else {agreement} 2"] if agreement else []

    assert other == [
        line
        for line in check("accounts.listing", PSU, *events, **ONLY)
        if line.startswith("nothing")
    ]
    past = check("accounts.listing", replace(PSU, fresh=False), *events, **ONLY)
    assert not [line for line in past if line.startswith("nothing")]


def test_after_consent_what_is_consented_to_is_listed():
    """Whatever else is."""
    assert ["consented-with-consent disagrees 2"] == says(
        PSU, consent("A1", "C1"), ask("accounts", listed("A1", "A2"))
    )
    assert ["consented-with-consent unclear 2"] == says(
        PSU, consent("A1", "C1"), ask("accounts", listed("A1", item()))
    )


def test_of_several_consents_only_the_last_is_sure():
    """It may have replaced the first, or been added to it."""
    twice = (consent("A1"), consent("A2"))
    assert ["consented-with-consent agrees 3"] == says(PSU, *twice, ask("accounts", listed("A2")))
    assert ["consented-with-consent disagrees 3"] == says(
        PSU, *twice, ask("accounts", listed("A1"))
    )


def test_a_consent_to_what_is_not_listed_owes_nothing():
    """An account that is not eligible is left out with a consent, too."""
    psu = owner("psu", account("A1"), account("A2", savings=True))
    assert [] == says(psu, consent("A2"), ask("accounts", listed("A1")))


@for_each("shown", [(), ("A1",), ("A1", "A2", "C1")])
def test_a_consent_that_names_nothing_owes_nothing(shown):
    """It may be a consent, and may be none."""
    assert [] == says(PSU, consent(), ask("accounts", listed(*shown)))


def test_a_consent_while_pages_are_turned():
    """The pages before it and after it are no list, whatever is missing; the next list is one."""
    pages = ask("accounts", listed("A2", next="2")), ask("accounts", listed(), follow="2")
    walk = PSU, pages[0], consent("A1"), pages[1]
    assert [] == says(*walk)
    assert "consented-with-consent disagrees 4" in says(*walk, ask("accounts", listed("A2")))


def test_everything_is_listed_on_all_pages():
    """A target file that lacks the way to the next page leaves open what is missing."""
    needed = {
        each.id: {(one.operation, one.feature) for one in each.requires}
        for each in ruled("accounts.listing").facets()
    }
    paged = {id_ for id_, wants in needed.items() if ("accounts", "next") in wants}
    assert {"all-without-consent", "consented-with-consent"} == paged


# -- customers who were there before ---------------------------------------------------------

OLD = owner("psu", account("A1"), account("A2"), card("C1"), fresh=False)


def test_an_earlier_consent_may_narrow_the_list():
    """Nobody knows what was consented to before: nothing is missing for sure."""
    assert ["all-without-consent agrees 1"] == says(OLD, ask("accounts", ALL))
    assert ["all-without-consent unclear 1"] == says(OLD, ask("accounts", listed("A1")))


def test_what_was_consented_to_here_is_known():
    """So it is judged, whatever was before."""
    assert ["consented-with-consent disagrees 2"] == says(
        OLD, consent("A1", "A2"), ask("accounts", listed("A1"))
    )


# -- what belongs to others ------------------------------------------------------------------

OTHER = owner("other", account("B1"), account("A2"))


def test_what_belongs_to_another_customer_is_not_listed():
    """Unless both own it; of what nobody here owns nothing is known."""
    assert ["all-without-consent agrees 1", "only-own agrees 1"] == says(
        PSU, OTHER, ask("accounts", listed("A1", "A2", "C1", "more"))
    )
    assert ["all-without-consent agrees 1", "only-own disagrees 1"] == says(
        PSU, OTHER, ask("accounts", listed("A1", "A2", "C1", "B1"))
    )
    assert "only-own disagrees 1" in says(OLD, OTHER, ask("accounts", listed("B1")))


def test_an_empty_list_shows_nothing_of_others():
    """It would show nothing of them at a bank that mixes customers up."""
    assert ["all-without-consent disagrees 1"] == says(PSU, OTHER, ask("accounts", listed()))
    assert ["all-without-consent unclear 1", "only-own unclear 1"] == says(
        PSU, OTHER, ask("accounts", listed("A1", item()))
    )


# -- what says nothing -----------------------------------------------------------------------
def test_pages_of_two_days_are_no_one_list():
    """A card may have been left out at midnight."""
    late, early = AT.replace(hour=23, minute=59), AT.replace(day=17, hour=0, minute=0)
    pages = (
        ask("accounts", listed("A1", next="2"), at=late),
        ask("accounts", listed("A2"), follow="2", at=early),
    )
    assert [] == says(PSU, *pages)


@for_each("came", [LOST, FAILED])
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

    assert [
        "all-without-consent agrees 1,4",
        "only-own agrees 1,4",
        "all-without-consent disagrees 2,3",
        "only-own disagrees 2,3",
    ] == says(
        PSU,
        other,
        ask("accounts", listed("A1", "A2", next="2")),
        ask("accounts", listed("B1", next="2"), by="other"),
        ask("accounts", listed("A2"), by="other", follow="2"),
        ask("accounts", listed("C1"), follow="2"),
    )


@for_each(
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
)
def test_what_cannot_tell_is_no_evidence(events):
    """Only a whole walk by somebody who owns something is judged."""
    assert [] == says(*events)
