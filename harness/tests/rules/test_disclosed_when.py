"""`disclosed-when` compares what is told before and after a consent."""

from dataclasses import replace
from datetime import timedelta

from account_information import FAILED, LOST, NO, TODAY, account, ask, card, check, consent, owner
from rows import for_each

from assay.testing import listed

TOLD, SILENT = listed("A1", values={"PsuIdentity": "P1"}), listed("A1")
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


@for_each("given", [None, "", {}, [], {"name": None}, [{"name": ""}]])
def test_an_empty_value_is_not_given(given):
    """Null and nothing are no identity, nor is a structure of them."""
    assert ["disclosed-after disagrees 2"] == says(
        PSU, consent("A1"), read(listed("A1", values={"PsuIdentity": given}))
    )


def test_a_value_may_be_on_another_page():
    """A page that names another one lacks nothing, and withholds nothing."""
    begun = read(listed("A1", next="2"))
    told = ["disclosed-after unclear 3", "disclosed-after agrees 4"]
    assert told == says(PSU, begun, consent("A1"), begun, read(TOLD))


def test_a_value_told_too_early_is_a_violation():
    """It needs no control: what is seen is seen."""
    assert ["withheld-before disagrees 1"] == says(PSU, read(TOLD))


def test_a_value_that_never_shows_may_stand_elsewhere():
    """Not given before is no merit where it is not given after."""
    assert ["disclosed-after disagrees 3"] == says(PSU, read(SILENT), consent("A1"), read(SILENT))


@for_each(
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
)
def test_what_cannot_tell_is_no_evidence(events):
    """Doubtful consents, refusals and page turns say nothing."""
    assert [] == says(PSU, *events)


def test_a_consent_to_what_is_not_served_may_be_no_consent():
    """A bank may ignore a savings account in a consent; that of an ordinary one counts."""
    customer = owner("psu", account("A1"), account("S1", savings=True))
    assert [] == says(customer, consent("S1"), read(SILENT))
    assert ["disclosed-after disagrees 2"] == says(customer, consent("S1", "A1"), read(SILENT))


@for_each(
    ("traits", "counts"),
    [
        ({"last-used": TODAY}, True),
        ({"last-used": TODAY, "immediate-debit": True}, False),
        ({"last-used": TODAY - timedelta(days=200)}, False),
        ({"last-used": TODAY, "closed": True}, False),
    ],
)
def test_a_consent_to_a_card_counts_where_the_card_is_served(traits, counts):
    """A customer with a card alone is named as well; a card that is not listed is no account."""
    customer = owner("psu", card("C1", **traits))
    expected = ["disclosed-after disagrees 2"] if counts else []
    assert expected == says(customer, consent("C1"), read(SILENT))


def test_a_consent_to_what_belongs_to_somebody_else_may_be_no_consent():
    """A bank may grant nothing of it; beside a thing of the customer it counts."""
    customer, other = owner("psu", account("A1")), owner("other", account("B1"))
    assert [] == says(customer, other, consent("B1"), read(SILENT))
    assert ["disclosed-after disagrees 2"] == says(
        customer, other, consent("B1", "A1"), read(SILENT)
    )


def test_a_consent_that_names_nothing_may_be_a_consent():
    """After an empty list, a bank may name the customer, or may not."""
    assert [] == says(PSU, consent(), read(TOLD))
    assert ["disclosed-after agrees 4"] == says(
        PSU, consent(), read(SILENT), consent("A1"), read(TOLD)
    )


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


@for_each("events", [[owner("psu", fresh=False)], []])
def test_of_one_who_was_there_before_an_early_value_is_open(events):
    """An older consent may still hold."""
    assert ["withheld-before unclear 1"] == says(*events, read(TOLD))


def named(name, identity):
    """Write down that a customer exists whose name the fixture has."""
    return replace(owner(name), identity=identity)


@for_each(
    ("names", "values", "says_"),
    [
        (("Ann", "Bob"), ("1", "2"), ["own-value agrees 4"]),
        (("Ann", "Bob"), ("1", "1"), ["own-value disagrees 2,4"]),
        (("Ann", "Bob"), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ["own-value disagrees 2,4"]),
        (("Ann", "Ann"), ("1", "1"), ["own-value unclear 2,4"]),
        (("Ann", ""), ("1", "1"), ["own-value unclear 2,4"]),
        (("", ""), ("1", "2"), ["own-value agrees 4"]),
        (("Ann", "Bob"), ("1", None), []),
    ],
)
def test_two_customers_of_different_names_are_not_shown_the_same(names, values, says_):
    """Two may have one name, and what the value looks like is for the bank to say."""
    events = [
        step
        for by, value in zip(("psu", "other"), values, strict=True)
        for step in (consent("A1", by=by), read(listed("A1", values={"PsuIdentity": value}), by=by))
    ]
    subjects = [named(by, name) for by, name in zip(("psu", "other"), names, strict=True)]

    assert says_ == [line for line in says(*subjects, *events) if "own-value" in line]


def test_of_one_customer_there_is_nothing_to_compare():
    """Nor of one whom no fixture knows."""
    assert [] == [
        line
        for line in says(PSU, consent("A1"), read(TOLD), read(TOLD), read(TOLD, by="else"))
        if "own-value" in line
    ]
