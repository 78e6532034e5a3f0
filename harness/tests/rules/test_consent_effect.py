"""`consent-effect` judges what a consent opens, and that a refused one changes nothing."""

from dataclasses import replace

from account_information import (
    AISP,
    BROKEN,
    DONE,
    FAILED,
    LOST,
    NO,
    NONE,
    UNKNOWN,
    account,
    ask,
    card,
    check,
    consent,
    owner,
)
from rows import for_each

from assay.history import Malformed
from assay.testing import listed, refused

PSU = owner("psu", *(account(f"A{n}", 1) for n in range(1, 7)))
DATA = listed("x")


def says(*events, psu=PSU, **changed):
    return check("consent.effect", psu, *events, **changed)


def read(came, about="A1", **how):
    return ask("balances", came, about, **how)


def sent(value, came=DONE, **how):
    """Write a consent down whose list is anything."""
    return ask("consents", came, arguments={"accounts": value}, **how)


BOTH = consent("A1", "A2"), read(DATA, "A1")


@for_each(
    ("came", "agreement"),
    [(DATA, "agrees"), (NO, "disagrees"), (NONE, "disagrees"), (FAILED, "unclear")],
)
def test_each_thing_that_a_consent_names_is_served(came, agreement):
    """The last like the first, if any of them is."""
    assert f"each-named {agreement} 3" in says(*BOTH, read(came, "A2"))


def test_where_nothing_is_served_the_scope_is_judged_and_not_the_list():
    """A consent of which nothing came is no question of which thing it names."""
    assert ["each-named unclear 2"] == says(consent("A1", "A2"), read(NO, "A1"))


def test_what_an_operation_cannot_be_about_need_not_be_served():
    """A card is covered by the consent, and has no balances."""
    both = owner("psu", account("A1"), account("A2"), card("C1"))
    balances = replace(AISP.operations["balances"], lists=("balance",))
    without = replace(AISP, operations={**AISP.operations, "balances": balances})
    events = consent("A1", "A2", "C1"), read(DATA, "A1"), read(NO, "C1")

    assert "each-named disagrees 3" in says(*events, psu=both)
    assert ["each-named agrees 2"] == says(*events, psu=both, contract=without)


def test_a_consent_of_one_thing_says_nothing_of_each():
    """There is nothing to tell the last from the first."""
    assert [] == says(consent("A1"), read(DATA))


@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees"), (refused("x"), "disagrees")])
def test_a_refused_consent_grants_nothing_without_the_customer_either(came, agreement):
    """The reads beside it are without her, too; the reason need not be the number of calls."""
    away = {"present": False}
    control = consent("A1", "A2"), read(DATA, "A1", **away), read(NO, "A3", **away)
    unknown = sent(["A3", "B7"], NO, **away)
    assert f"refused-grants-nothing {agreement} 5" in says(
        *control, unknown, read(came, "A3", **away)
    )
    assert ["each-named agrees 2"] == says(*control, unknown, read(came, "A3"))


def test_a_refusal_without_the_customer_takes_no_access_away():
    """It may be for the number of calls."""
    assert "each-named agrees 3" in says(*BOTH[:1], read(DATA), read(DATA, "A2", present=False))
    assert not any("disagrees" in line for line in says(*BOTH, read(NO, "A2", present=False)))


@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_what_a_later_consent_names_is_served(came, agreement):
    """It takes effect, whether it replaces the former or adds to it."""
    assert [f"later-served {agreement} 4"] == says(
        consent("A1"), read(DATA), consent("A2"), read(came, "A2")
    )


@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees"), (refused("x"), "disagrees")])
@for_each(
    "refused",
    [consent("A3", "Z9", came=NO), consent("A3", came=NO, malformed=Malformed.TRUNCATED)],
)
def test_what_only_a_refused_consent_names_is_refused(refused, came, agreement):
    """As before it was transmitted."""
    assert f"refused-grants-nothing {agreement} 5" in says(
        *BOTH, read(NO, "A3"), refused, read(came, "A3")
    )


@for_each("came", [DONE, LOST, FAILED])
def test_a_consent_that_may_have_been_taken_grants_what_it_names(came):
    """Only one that was refused surely grants nothing."""
    events = *BOTH, read(NO, "A3"), consent("A3", "Z9", came=came), read(DATA, "A3")

    assert [] == [line for line in says(*events) if "grants" in line]


def test_a_call_refused_for_its_token_is_no_refused_consent():
    """It says nothing of the consent."""
    events = *BOTH, read(NO, "A3"), consent("A3", came=UNKNOWN), read(NO, "A3")

    assert [] == [line for line in says(*events) if "grants" in line]


def test_what_was_served_before_it_is_not_blamed_on_a_refused_consent():
    """That it is served without any consent is the matter of the consent's scope."""
    events = *BOTH, read(DATA, "A3"), consent("A3", "Z9", came=NO), read(DATA, "A3")

    assert [] == [line for line in says(*events) if "grants" in line]


def test_the_past_of_a_customer_who_was_there_before_is_not_known():
    """A consent from before may have come into force."""
    events = *BOTH, read(NO, "A3"), consent("A3", came=NO), read(DATA, "A3")

    assert "refused-grants-nothing unclear 5" in says(*events, psu=replace(PSU, fresh=False))


@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees"), (LOST, "unclear")])
def test_a_refused_consent_takes_nothing_away(came, agreement):
    """What was served before it still is."""
    assert f"refused-keeps {agreement} 4" in says(*BOTH, consent("Z9", came=NO), read(came))


def test_a_consent_that_was_taken_may_take_away():
    """It may replace the former one, also with nothing."""
    assert [] == [line for line in says(*BOTH, sent([]), read(NO)) if "keeps" in line]


@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees"), (NONE, "unclear")])
@for_each("taken", [DONE, NO])
@for_each("value", [[], None, "A1", ["A1", 42], ["A1", "A1"], ["A1", "Z9"]])
def test_a_malformed_list_gives_no_access_to_what_it_does_not_name(value, taken, came, agreement):
    """Whether it is taken or refused."""
    events = *BOTH, read(NO, "A4"), sent(value, taken), read(came, "A4")
    told = [line for line in says(*events) if "malformed" in line]

    # A readable list that was refused says nothing of what it does not name.
    silent = value == ["A1", "Z9"] and taken is NO
    assert ([] if silent else [f"malformed-grants-nothing {agreement} 5"]) == told


@for_each(
    ("came", "agreement"),
    [(DONE, "agrees"), (NO, "agrees"), (BROKEN, "disagrees"), (FAILED, "unclear")],
)
def test_no_list_makes_the_bank_fail(came, agreement):
    """A bank that says that it is overloaded says nothing."""
    assert f"survives-lists {agreement} 3" in says(*BOTH, sent([], came))
    assert [] == says(sent([], came))


@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees")])
def test_a_consent_beyond_the_limit_grants_nothing(came, agreement):
    """It is refused without the customer, for the number of calls."""
    events = *BOTH, read(NO, "A3"), consent("A3", came=NO, present=False), read(came, "A3")

    assert f"beyond-limit-grants-nothing {agreement} 5" in says(*events)
