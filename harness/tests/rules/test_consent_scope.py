"""`consent-scope` judges who was served what, by whose consent."""

from dataclasses import replace
from datetime import timedelta

from account_information import (
    AT,
    DONE,
    FAILED,
    GONE,
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

from assay.history import Item, Malformed
from assay.testing import listed, refused

IBAN = "FR7630006000011234567890189"
USED = {"last-used": "2026-09-15"}
PSU = owner("psu", account("A1", 1, 2), account("A2", 1), card("C1", 1, **USED))
OTHER = owner("other", account("B1", 1), account("B2", 1))
DATA = listed("x")


def says(*events):
    return check("consent.scope", PSU, OTHER, *events)


def balances(came, about="A1", **how):
    return ask("balances", came, about, **how)


@for_each(
    ("came", "agreement"),
    [
        (DATA, "agrees"),
        (NO, "disagrees"),
        (GONE, "disagrees"),
        (NONE, "disagrees"),
        (UNKNOWN, "unclear"),
        (DONE, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_what_was_consented_to_is_served(came, agreement):
    """Nothing at all is a violation where something is; a failure is none."""
    assert [f"balance-granted {agreement} 2"] == says(consent("A1"), balances(came))


def test_an_empty_page_says_nothing_where_another_follows():
    """The data may be on the next page, which the document does not forbid."""
    psu = owner("psu", account("A1", 1))
    first = ask("transactions", listed(next="2"), "A1")
    assert ["transaction-granted unclear 2"] == check("consent.scope", psu, consent("A1"), first)
    whole = ask("transactions", NONE, "A1")
    assert ["transaction-granted disagrees 2"] == check("consent.scope", psu, consent("A1"), whole)


@for_each("ages", [(), (30, 60), (-3,)])
def test_an_empty_answer_is_open_where_nothing_need_be_shown(ages):
    """A history may be short, and an account empty."""
    psu = owner("psu", account("A1", *ages))

    assert ["transaction-granted unclear 2"] == check(
        "consent.scope", psu, consent("A1"), ask("transactions", NONE, "A1")
    )


@for_each(
    ("came", "agreement"),
    [
        (NO, "agrees"),
        (GONE, "agrees"),
        (UNKNOWN, "agrees"),
        (DATA, "disagrees"),
        (DONE, "disagrees"),
        (refused("x"), "disagrees"),
        (NONE, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_what_was_not_is_refused(came, agreement):
    """Before any consent, for another account, and for another's account."""
    control = consent("A1"), balances(DATA)
    theirs = consent("B1", by="other"), balances(DATA, "B1", by="other")

    assert f"balance-before {agreement} 1" in says(balances(came), *control)
    assert f"balance-refused {agreement} 3" in says(*control, balances(came, "A2"))
    assert f"balance-foreign {agreement} 5" in says(*control, *theirs, balances(came, "B1"))


@for_each("malformed", [Malformed.LOWER_CASE_IDENTIFIER, Malformed.GROUPED_IDENTIFIER])
def test_a_key_in_another_spelling_opens_nothing(malformed):
    """It may be refused to everybody; what is not certainly the thing of the call proves nothing."""
    psu = owner("psu", account(IBAN, 1), account("A2", 1))

    def says_of(came, key=IBAN, operation="balances"):
        odd = ask(operation, came, key, malformed=malformed)
        found = check("consent.scope", psu, consent("A2"), ask(operation, DATA, "A2"), odd)
        return [evidence for evidence in found if evidence.endswith(" 3")]

    grouped = "FR76 3000 6000 0112 3456 7890 189"
    for iban in (IBAN, grouped):
        shown = listed(Item(key=None, resource="balance", fields={"iban": iban}))
        assert ["balance-refused disagrees 3"] == says_of(shown)
    entry = listed(psu.owns[0].entries[0].key)
    assert ["transaction-refused disagrees 3"] == says_of(entry, operation="transactions")
    assert ["balance-refused agrees 3"] == says_of(GONE)
    assert [] == says_of(DATA) == says_of(NONE)
    assert [] == says_of(GONE, "A2") == says_of(DATA, "A2")


def absent(came, about="A1", **how):
    return balances(came, about, present=False, **how)


def test_the_consent_counts_without_the_customer_too():
    """What is shown counts; a refusal of what is consented to may be for the number of calls."""
    assert ["balance-granted agrees 2"] == says(consent("A1"), absent(DATA))
    assert [] == says(consent("A1"), absent(NO)) == says(consent("A1"), absent(NONE))
    control, theirs = (
        (consent("A1"), absent(DATA)),
        (consent("B1", by="other"), balances(DATA, "B1", by="other")),
    )
    for came, agreement in ((DATA, "disagrees"), (refused("x"), "disagrees"), (NO, "agrees")):
        assert f"balance-before {agreement} 1" in says(absent(came), *control)
        assert f"balance-refused {agreement} 3" in says(*control, absent(came, "A2"))
        assert f"balance-foreign {agreement} 5" in says(*control, *theirs, absent(came, "B1"))


def test_a_control_with_the_customer_is_none_without_her():
    """A bank may refuse every call without the customer, once they are too many."""
    assert ["balance-granted agrees 2"] == says(consent("A1"), balances(DATA), absent(NO, "A2"))
    assert ["balance-granted agrees 2"] == says(consent("A1"), absent(DATA), balances(NO, "A2"))


def test_a_call_with_days_shows_nothing_that_no_consent_covers():
    """It need not be served, so a refusal of what is consented to is no violation."""

    def ranged(came, about="A1"):
        days = {"iban": about, "since": "2026-09-01"}
        return ask("transactions", came, about, arguments=days)

    assert ["transaction-granted agrees 2"] == says(consent("A1"), ranged(DATA))
    assert [] == says(consent("A1"), ranged(NO)) == says(consent("A1"), ranged(NONE))
    control = consent("A1"), ranged(DATA)
    for came, agreement in ((DATA, "disagrees"), (NO, "agrees")):
        assert f"transaction-refused {agreement} 3" in says(*control, ranged(came, "A2"))
        plain_control = consent("A1"), ask("transactions", DATA, "A1")
        assert ["transaction-granted agrees 2"] == says(*plain_control, ranged(came, "A2"))


def test_beyond_the_quota_only_what_is_shown_counts():
    """The fifth call of a day may be refused for its number, and any of an old customer."""
    four = consent("A1"), *[absent(DATA)] * 4
    granted = [f"balance-granted agrees {n}" for n in (2, 3, 4, 5)]
    assert granted == says(*four, absent(NO, "A2"))
    assert [*granted, "balance-refused disagrees 6"] == says(*four, absent(DATA, "A2"))
    later = replace(absent(NO, "A2"), at=AT + timedelta(days=1))
    assert [*granted, "balance-refused agrees 6"] == says(*four, later)
    old = replace(PSU, fresh=False)
    assert ["balance-granted agrees 2"] == check(
        "consent.scope", old, consent("A1"), absent(DATA), absent(NO, "A2")
    )


@for_each(
    "control",
    [
        [],
        [consent("A1")],
        [consent("A1"), balances(NO)],
        [consent("A1"), balances(NONE)],
        [balances(DATA)],
        [consent("A1", came=LOST), balances(DATA)],
        [consent("C1"), ask("transactions", DATA, "C1")],
    ],
)
def test_without_the_control_a_refusal_and_a_leak_say_nothing(control):
    """The same question about a granted thing must have been answered."""
    for came in (NO, DATA):
        assert not [
            line
            for line in says(balances(came, "A2"), *control)
            if "before" in line or "refused" in line
        ]


def test_what_is_foreign_takes_two_controls():
    """Its owner was served it, and the caller something own."""
    ours = [consent("A1"), balances(DATA)]
    theirs = [consent("B1", by="other"), balances(DATA, "B1", by="other")]
    for events in (ours, theirs, []):
        assert [] == [line for line in says(*events, balances(NO, "B1")) if "foreign" in line]

    # The owner's consent is for another one: it may be refused for want of that.
    assert [] == [line for line in says(*ours, *theirs, balances(NO, "B2")) if "foreign" in line]


def test_a_thing_of_two_owners_is_foreign_to_neither():
    """A joint account may be read by each with an own consent."""
    other = owner("other", account("A1", 1, 2), account("B1", 1))

    assert ["balance-granted agrees 3", "balance-granted agrees 4"] == check(
        "consent.scope",
        PSU,
        other,
        consent("A1"),
        consent("A1", by="other"),
        balances(DATA),
        balances(DATA, by="other"),
    )


def test_a_second_consent_leaves_the_first_ones_account_open():
    """It may replace the former or add to it."""
    events = [consent("A1"), balances(DATA), consent("A2"), balances(DATA, "A2")]

    for came in (NO, DATA):
        assert ["balance-granted agrees 2", "balance-granted agrees 4"] == says(
            *events, balances(came)
        )
    assert "outstanding-granted agrees 6" in says(*events, consent("C1"), balances(DATA, "C1"))


@for_each("came", [LOST, FAILED])
def test_a_consent_that_failed_may_have_been_taken(came):
    """What follows it is neither before a consent nor outside it."""
    later = [consent("A1"), balances(DATA)]

    assert ["balance-granted agrees 4"] == says(consent("A1", came=came), balances(DATA), *later)
    assert ["balance-granted agrees 4", "balance-refused disagrees 5"] == says(
        consent("A1", came=came), balances(NO), *later, balances(DATA, "A2")
    )


def test_a_refused_consent_is_none():
    """What is served after it is served before any consent."""
    assert "balance-before disagrees 2" in says(
        consent("A1", came=NO), balances(DATA), consent("A1"), balances(DATA)
    )


def test_of_a_customer_who_was_there_before_only_refusals_are_sure():
    """An older consent may still hold: that can agree, but not disagree."""
    psu = owner("psu", *PSU.owns, fresh=False)
    later = [consent("A1"), balances(DATA)]

    def first(came):
        return check("consent.scope", psu, balances(came, "A2"), *later)

    assert "balance-before agrees 1" in first(NO)
    assert "balance-before unclear 1" in first(DATA)


@for_each(
    ("before", "agreement"),
    [
        (balances(NO, "A2"), "disagrees"),
        (balances(GONE, "A2"), "disagrees"),
        (balances(UNKNOWN, "A2"), "unclear"),
        (balances(refused(status=429), "A2"), "unclear"),
        (balances(FAILED, "A2"), "unclear"),
        (absent(NO, "A2"), "unclear"),
        (replace(balances(NO, "A2"), call=replace(balances(NO, "A2").call, by="x")), "unclear"),
        (ask("transactions", NO, "A2"), "unclear"),
        (balances(NO, "A1"), "unclear"),
    ],
)
def test_what_was_refused_before_was_not_covered_by_an_earlier_consent(before, agreement):
    """The same call, refused for what it asks before any consent, shows that none covered it."""
    psu = owner("psu", *PSU.owns, fresh=False)
    events = before, consent("A1"), balances(DATA), balances(DATA, "A2")
    assert f"balance-refused {agreement} 4" in check("consent.scope", psu, *events)


def test_a_refusal_after_a_consent_may_be_of_an_earlier_one():
    """A consent that was given and replaced in between says nothing about earlier ones."""
    psu = owner("psu", *PSU.owns, fresh=False)
    events = consent("A1"), balances(DATA), balances(NO, "A2"), balances(DATA, "A2")
    assert "balance-refused unclear 4" in check("consent.scope", psu, *events)


@for_each(
    "how",
    [
        {"present": False},
        {"arguments": {"since": "2020-01-01"}},
        {"mode": "m"},
        {"follow": "p2"},
        {"credentials": True},
    ],
)
def test_other_kinds_of_calls_may_be_refused_for_other_reasons(how):
    """Without the customer there is a quota, and odd questions have odd answers."""
    assert [] == says(consent("A1"), balances(NO, **how))
    assert ["balance-granted agrees 2"] == says(
        consent("A1"), balances(DATA), balances(NO, "A2", **how)
    )


def test_what_is_not_listed_need_not_be_served():
    """A consent to a savings account gives no right to it."""
    psu = owner("psu", account("A1", 1, savings=True))

    assert [] == check("consent.scope", psu, consent("A1"), balances(NO))


def test_each_kind_of_data_has_its_own_facets():
    """Slips are a card's transactions."""
    assert ["slip-granted agrees 2", "slip-granted disagrees 3"] == says(
        consent("C1"),
        ask("transactions", DATA, "C1"),
        ask("transactions", NO, "C1", at=AT + timedelta(days=1)),
    )


def test_a_card_whose_last_use_is_not_known_may_be_hidden_on_a_later_day():
    """The day on which its owner was made, it is an ordinary one."""
    psu = owner("psu", card("C1", 1))
    used = consent("C1"), ask("transactions", NO, "C1")
    assert ["slip-granted disagrees 2"] == check("consent.scope", psu, *used)
    later = consent("C1"), ask("transactions", NO, "C1", at=AT + timedelta(days=1))
    assert [] == check("consent.scope", psu, *later)


def test_traffic_without_a_roster_says_nothing():
    """Nobody knows whose account it is."""
    assert [] == check("consent.scope", consent("A1"), balances(NO), balances(DATA, "A2"))


@for_each("taken", [DONE, NO, FAILED])
@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees"), (NONE, "unclear")])
def test_naming_a_strangers_account_gives_nothing(came, agreement, taken):
    """Whatever becomes of the consent; the same question was refused before it."""
    events = [
        consent("A1"),
        balances(DATA),
        consent("B1", by="other"),
        balances(DATA, "B1", by="other"),
    ]
    named = consent("A1", "B1", came=taken)

    assert f"balance-usurped {agreement} 7" in says(
        *events, balances(NO, "B1"), named, balances(came, "B1")
    )
    for before in ([], [balances(DATA, "B1")], [balances(refused("x"), "B1")]):
        assert not [
            one for one in says(*events, *before, named, balances(came, "B1")) if "usurped" in one
        ]
