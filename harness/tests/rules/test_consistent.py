"""`consistent` judges answers by other answers, where nothing may have changed between them."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from account_information import (
    AT,
    DONE,
    FAILED,
    LOST,
    NO,
    NONE,
    PARIS,
    TODAY,
    Obliging,
    account,
    ask,
    check,
    consent,
    item,
    owner,
    ruled,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import for_each
from tiers import examples

from assay.contract.model import Operation
from assay.history import (
    Advanced,
    Entry,
    Item,
    Lacking,
    Malformed,
    Owned,
    Registered,
    Subject,
    Withdrawn,
)
from assay.planning.plan import count_calls
from assay.rules.kinds.requests import consistent
from assay.rules.state import answers
from assay.rules.verdict import Agreement, Standing
from assay.testing import history, listed, refused

FRESH = owner("psu", account("A1"))
LIVED = owner("psu", account("A1"), fresh=False)
MIDNIGHT = AT.replace(hour=0) + timedelta(days=1)


def entry(key, days=1, **fields):
    """Make an entry of so many days ago."""
    return item(key, TODAY - timedelta(days=days), **fields)


def balance(amount):
    """Make a balance, which has no key."""
    return item(balanceType="CLBD", amount=amount)


def reads(came, about="A1", **how):
    return ask("transactions", came, about, **how)


def balances(*amounts, **how):
    return ask("balances", listed(*map(balance, amounts)), "A1", **how)


def accounts(*keys, by="psu", **values):
    return ask("accounts", listed(*keys, values=values), by=by)


def days(came, since=None, until=None, **how):
    """Ask for a range, by how many days ago it begins and ends."""
    named = {"since": since, "until": until}
    given = {k: str(TODAY - timedelta(days=v)) for k, v in named.items() if v is not None}
    return reads(came, arguments=given, **how)


def through(tpp, exchange):
    """Let another TPP make a call."""
    return replace(exchange, call=replace(exchange.call, by=tpp))


def says(*events, psu=FRESH, **how):
    return check("consistent", psu, *events, **how)


def of(facet, *events, **how):
    """Return what is said of one facet: an agreement for each."""
    return [line.split()[1] for line in says(*events, **how) if line.startswith(f"{facet} ")]


# -- the same question -------------------------------------------------------------
ONE = listed(entry("T1", amount="1"), entry("T2", amount="2"))


@for_each(
    ("again", "agreement"),
    [
        (ONE, "agrees"),
        (listed(entry("T2", amount="2"), entry("T1", amount="1")), "agrees"),
        (listed(entry("T1", amount="1"), entry("T2", amount="2"), next="p2"), "agrees"),
        (listed(entry("T1", amount="1"), entry("T2", amount="3")), "disagrees"),
        (listed(entry("T1", amount="1")), "disagrees"),
        (listed(*[entry("T1", amount="1"), entry("T2", amount="2")] * 2), "disagrees"),
        (listed(entry("T1", amount="1"), entry("T2", days=2, amount="2")), "disagrees"),
        (NONE, "disagrees"),
    ],
)
def test_the_same_question_twice(again, agreement):
    """Items are the same by key and content, in whatever order."""
    assert [f"same-twice {agreement} 1,2"] == says(reads(ONE), reads(again))


def test_items_are_compared_whole_where_the_profile_allows_it():
    """What the contract does not name is in the digest, and nothing else counts then."""
    same, other = Item(key="T1", digest="a"), Item(key="T1", digest="b")
    assert ["agrees"] == of("same-twice", reads(listed(same)), reads(listed(same)))
    assert ["disagrees"] == of("same-twice", reads(listed(same)), reads(listed(other)))


@for_each("came", [NO, FAILED, LOST, DONE, refused("T1")])
def test_an_answer_that_did_not_come_is_compared_with_nothing(came):
    """A refusal may have its reason, and a failure is no answer."""
    assert [] == says(reads(came), reads(ONE))
    assert ["same-twice agrees 1,3"] == says(reads(ONE), reads(came), reads(ONE))


def test_two_empty_answers_say_nothing():
    """They could hardly have differed."""
    assert [] == says(reads(NONE), reads(NONE))


@for_each(
    ("before", "after", "agreement"),
    [
        ({"PsuIdentity": "X"}, {"PsuIdentity": "X"}, "agrees"),
        ({"PsuIdentity": "X"}, {"PsuIdentity": "token-2"}, "agrees"),
        ({"PsuIdentity": "X"}, {}, "disagrees"),
        ({}, {"PsuIdentity": "X"}, "disagrees"),
        ({"PsuIdentity": None}, {}, "agrees"),
    ],
)
def test_what_stands_beside_the_list_is_given_or_not(before, after, agreement):
    """How it reads may be another each time."""
    asked = accounts("A1", **before), accounts("A1", **after)
    assert [f"same-twice {agreement} 1,2"] == says(*asked)


OTHERS = [
    accounts("A1"),
    reads(ONE),
    reads(NO),
    reads(LOST),
    ask("trusted-beneficiaries", NO),
    ask("balances", NO, "A1", malformed=Malformed.BAD_IDENTIFIER),
    balances("9", present=False),
    balances("9", alias=0),
]


@for_each("between", OTHERS)
def test_reading_changes_nothing(between):
    """Whatever else was read, and whatever came of it, the answer is as it was."""
    for amount, agreement in (("1", "agrees"), ("2", "disagrees")):
        asked = balances("1"), between, balances(amount)
        assert [f"unchanged-by-reading {agreement} 1,3"] == says(*asked)


def test_what_others_read_is_nothing_that_was_read_between():
    """Another customer's calls leave it the same question twice."""
    theirs = ask("balances", listed(balance("5")), "B1", by="other")
    assert ["same-twice agrees 1,3"] == says(balances("1"), theirs, balances("1"))


def test_a_contract_of_one_operation_has_no_others_to_read():
    """Then only the same question twice is asked."""
    params = ruled("consistent", operations=["transactions"])
    assert ["same-twice", "shorter-range", "meeting-ranges", "smaller-consent"] == [
        facet.id for facet in params.facets()
    ]
    one = history(FRESH, reads(ONE), balances("1"), reads(NONE))
    assert [] == list(params.check(one))


# -- what may change an answer -----------------------------------------------------
CHANGES = [
    [consent("A1")],
    [consent("A1", came=NO)],
    [consent("A1", came=LOST)],
    [consent("A1", malformed=Malformed.EMPTY)],
    [Advanced(now=MIDNIGHT)],
    [Advanced(now=MIDNIGHT), Advanced(now=AT)],
    [owner("psu", account("A1"))],
    [Registered(subject="psu", argument="x", value="y", since=AT)],
    [Lacking(mode="instant", now=AT)],
    [Withdrawn(subject="psu", request="P1", done=True, now=AT)],
    [ask("nothing-known", NO)],
]


@for_each("between", CHANGES)
def test_what_may_change_an_answer_begins_anew(between):
    """Neither agreement nor disagreement is drawn from before it."""
    other = listed(entry("T7"))
    since = days(NONE, since=5)
    meeting = [days(listed(entry("T1", 4)), since=2)]
    assert [] == says(reads(ONE), *between, reads(other))
    assert [] == of("shorter-range", reads(ONE), *between, since)
    assert [] == of("meeting-ranges", reads(ONE), days(NONE, until=1), *between, *meeting)


@for_each(
    "how",
    [
        {"present": False},
        {"alias": 0},
        {"host": 0},
        {"mode": "extended_transaction_history"},
        {"arguments": {"limit": 3}},
        {"varied": ("x",)},
        {"without": ("x",)},
    ],
)
def test_another_way_of_asking_is_another_question(how):
    """Such answers need not be the same, but each must be as it was."""
    assert [] == says(reads(ONE), reads(NONE, **how))
    asked = reads(ONE), reads(NONE, **how), reads(ONE)
    assert ["unchanged-by-reading agrees 1,3"] == says(*asked)
    assert [] == says(reads(ONE), through("second", reads(NONE)))


@for_each("how", [{"malformed": Malformed.JUNK_QUERY}, {"credentials": True}])
def test_what_should_not_have_been_asked_has_no_answer_to_compare(how):
    """Whatever came of it."""
    assert [] == says(reads(ONE, **how), reads(NONE, **how))


def test_time_that_passes_within_a_day_changes_nothing():
    """The day is the bank's own."""
    late = AT.replace(hour=23, minute=59)
    assert ["disagrees"] == of("same-twice", reads(ONE), Advanced(now=late), reads(NONE, at=late))
    assert [] == says(reads(ONE), reads(NONE, at=MIDNIGHT))
    # An item may show the time of its answer, in a member that the contract does not name.
    first, again = (listed(replace(entry("T1", amount="1"), digest=each)) for each in "ab")
    moved = Advanced(now=AT + timedelta(hours=4))
    assert ["unclear"] == of("same-twice", reads(first), moved, reads(again, at=moved.now))
    assert ["disagrees"] == of("same-twice", reads(first), reads(again))
    changed = listed(replace(entry("T1", amount="2"), digest="b"))
    assert ["disagrees"] == of("same-twice", reads(first), moved, reads(changed, at=moved.now))
    # Where no zone is known, it may be midnight anywhere at any quarter of an hour.
    assert ["disagrees"] == of("same-twice", reads(ONE), reads(NONE), zone=None)
    later = AT + timedelta(minutes=15)
    assert [] == says(reads(ONE), reads(NONE, at=later), zone=None)


def test_maintenance_hours_may_change_everything():
    """What is said before, in and after them is compared with its like only."""
    sunday = AT.replace(day=20)
    before, inside, after = (sunday.replace(hour=hour) for hour in (1, 3, 7))
    psu = owner("psu", account("A1"), now=before)
    one, other = ((reads(ONE, at=at), reads(NONE, at=at)) for at in (before, after))
    assert [] == says(one[0], other[1], psu=psu)
    assert [] == says(reads(ONE, at=inside), reads(NONE, at=inside), psu=psu)
    assert [] == says(one[0], Advanced(now=inside), Advanced(now=before), one[1], psu=psu)
    assert ["same-twice disagrees 1,2"] == says(*other, psu=psu)


def test_a_customer_who_ordered_something_is_settled_no_more():
    """A request may be executed at any later time, of which the history tells nothing."""
    events = [Withdrawn(subject="psu", request="P1", done=False, now=AT)]
    assert ["unclear"] == of("same-twice", *events, balances("1"), balances("2"))


# -- customers who live on ---------------------------------------------------------
OLD, LATE = entry("T1", 30, amount="1"), entry("T2", 2, amount="2")


@for_each(
    ("again", "agreement"),
    [
        ([OLD, LATE], "agrees"),
        ([entry("T3", 0), OLD, LATE], "unclear"),
        ([entry("T3", 40), OLD, LATE], "unclear"),
        ([OLD], "unclear"),
        ([OLD, entry("T2", 2, amount="9")], "unclear"),
        ([LATE], "disagrees"),
        ([entry("T1", 30, amount="9"), LATE], "disagrees"),
    ],
)
def test_of_a_customer_in_use_only_what_is_old_is_sure(again, agreement):
    """New entries come, and late ones go; a month later nothing is rewritten."""
    asked = reads(listed(OLD, LATE)), reads(listed(*again))
    assert [agreement] == of("same-twice", *asked, psu=LIVED)
    assert [agreement] == of("same-twice", *asked, psu=owner("somebody-else"))


def test_what_has_left_a_page_may_be_on_the_next():
    """A new entry moves all others on: that is no loss, but a rewriting still is one."""
    first, moved = listed(LATE, OLD, next="p2"), listed(entry("T3", 0), LATE, next="p2")
    rewritten = listed(entry("T1", 30, amount="9"), next="p2")
    assert ["unclear"] == of("same-twice", reads(first), reads(moved), psu=LIVED)
    assert ["disagrees"] == of("same-twice", reads(first), reads(rewritten), psu=LIVED)


def test_balances_of_a_customer_in_use_are_no_violation():
    """They may change at any time."""
    assert ["unclear"] == of("same-twice", balances("1"), balances("2"), psu=LIVED)


# -- pages -------------------------------------------------------------------------
def page(number, *keys, next=None):
    follow = f"p{number}" if number > 1 else None
    return reads(listed(*(entry(key) for key in keys), next=next), follow=follow)


def test_pages_are_compared_one_by_one():
    """Each with the same page of the last answer."""
    walk = page(1, "T1", "T2", next="p2"), page(2, "T3")
    assert ["same-twice agrees 1,3", "same-twice agrees 2,4"] == says(*walk, *walk)
    other = walk[0], page(2, "T4")
    assert ["same-twice agrees 1,3", "same-twice disagrees 2,4"] == says(*walk, *other)
    assert ["same-twice agrees 1,3"] == says(*walk, walk[0], consent("A1"), page(2, "T4"))


def test_the_order_of_a_list_is_open_over_its_pages():
    """Another order puts other items on a page: a list of several pages is compared as a whole."""
    walk = page(1, "T1", "T2", next="p2"), page(2, "T3")
    turned = page(1, "T3", "T1", next="p2"), page(2, "T2")
    assert ["same-twice agrees 2,4"] == says(*walk, *turned)
    assert ["same-twice agrees 2,5"] == says(
        *walk, *(page(1, "T3", next="p2"), page(2, next="p3")), page(3, "T1", "T2")
    )
    assert ["same-twice disagrees 2,4"] == says(*walk, turned[0], page(2, "T4"))
    changed = reads(listed(entry("T3"), entry("T1", amount="9"), next="p2"))
    assert "same-twice disagrees 1,3" in says(*walk, changed, turned[1])


def test_a_page_that_nobody_named_is_a_question_of_its_own():
    """It is compared with nothing, but something else was read."""
    asked = reads(ONE), page(2, "T3"), reads(ONE)
    assert ["unchanged-by-reading agrees 1,3"] == says(*asked)


# -- ranges ------------------------------------------------------------------------
FIVE = [entry(f"T{n}", n) for n in range(1, 6)]
WHOLE = reads(listed(*FIVE))


def shown(*ages):
    return listed(*(entry(f"T{n}", n) for n in ages))


@for_each(
    ("ages", "agreement"),
    [
        ((1, 2, 3), "agrees"),
        ((1, 2), "agrees"),
        ((1, 2, 3, 4), "disagrees"),
        ((1, 3), "disagrees"),
        ((1,), "disagrees"),
        ((), "disagrees"),
    ],
)
def test_a_range_is_its_part_of_the_whole(ages, agreement):
    """From three days ago on; whether the third day itself is in is left open."""
    asked = WHOLE, days(shown(*ages), since=3)
    assert [f"shorter-range {agreement} 1,2"] == says(*asked)


@for_each(
    ("ages", "agreement"),
    [((5, 4, 3), "agrees"), ((5, 4), "agrees"), ((5,), "disagrees"), ((5, 4, 3, 2), "disagrees")],
)
def test_a_range_has_another_end(ages, agreement):
    """Up to three days ago, from the first."""
    assert [f"shorter-range {agreement} 1,2"] == says(WHOLE, days(shown(*ages), until=3))


def test_a_range_of_both_ends():
    """What is between them is owed, and nothing outside of them."""
    assert ["agrees"] == of("shorter-range", WHOLE, days(shown(3), since=4, until=2))
    assert ["agrees"] == of("shorter-range", WHOLE, days(shown(4, 3, 2), since=4, until=2))
    assert ["disagrees"] == of("shorter-range", WHOLE, days(shown(4, 2), since=4, until=2))
    # Of a single day nothing is owed, for its edges are open.
    assert [] == of("shorter-range", WHOLE, days(NONE, since=3, until=3))
    assert ["disagrees"] == of("shorter-range", WHOLE, days(shown(2), since=3, until=3))


def test_a_range_shows_nothing_that_the_whole_lacks():
    """Where the whole goes further back, it should have had it."""
    strange = listed(*FIVE[:3], entry("X", 2))
    assert ["disagrees"] == of("shorter-range", WHOLE, days(strange, since=4))
    # What is newer than all of the whole, or of its first day, may have been cut off there.
    for age in (0, 5):
        more = listed(*FIVE[:4], entry("X", age))
        assert ["agrees"] == of("shorter-range", WHOLE, days(more, since=5))


def test_a_range_may_go_further_back_than_the_whole():
    """Unasked, a bank may show a shorter history; too far, it may refuse by showing none."""
    for came in (NONE, shown(1), listed(*FIVE, entry("X", 40), entry("Y", 3))):
        assert [] == says(WHOLE, days(came, since=60))
    assert ["shorter-range disagrees 2"] == says(WHOLE, days(listed(entry("X", 61)), since=60))


def test_what_is_outside_of_a_range_is_so_without_any_whole():
    """Its own date shows that it is wrong."""
    assert ["shorter-range disagrees 1"] == says(days(shown(1, 4), since=3))
    assert [] == says(days(shown(1, 2), since=3))
    assert ["disagrees"] == of("shorter-range", days(shown(1, 4), since=3), psu=LIVED)


@for_each("whole", [NONE, NO, LOST, listed("T1", "T2"), listed(item(on=TODAY))])
def test_a_whole_without_keys_and_dates_is_none(whole):
    """Nobody can tell what of it belongs into a range."""
    assert [] == says(reads(whole), days(shown(2), since=3))


def test_a_thing_of_two_dates_has_the_first():
    """It is one thing, and owed once."""
    whole = reads(listed(*FIVE, entry("T1", 4)))
    assert ["agrees"] == of("shorter-range", whole, days(shown(1, 2), since=3))
    assert ["disagrees"] == of("shorter-range", whole, days(shown(2), since=3))


def test_a_whole_of_several_pages():
    """It is whole when its last page is there, and so is a range."""
    walk = [
        reads(listed(*FIVE[:3], next="p2")),
        reads(listed(*FIVE[3:]), follow="p2"),
    ]
    ranged = [
        days(listed(FIVE[0], next="r2"), since=4),
        days(shown(2), since=4, follow="r2"),
    ]
    assert ["shorter-range disagrees 1,3,4"] == says(*walk, *ranged)
    assert [] == says(walk[0], *ranged)
    assert [] == says(*walk, ranged[0])


@for_each(
    "arguments",
    [
        {"since": "soon"},
        {"since": 7},
        {"since": "2026-09-14", "until": "2026-09-12"},
        {"since": "2027-01-01"},
        {"since": "2026-09-13", "limit": 1},
        {"until": "2026-02-30"},
    ],
)
def test_a_range_that_makes_no_sense_is_none(arguments):
    """Whatever is answered to it."""
    assert [] == says(WHOLE, reads(listed(entry("X", 30)), arguments=arguments))
    assert [] == says(WHOLE, days(shown(1), since=4, mode="extended_transaction_history"))


def test_a_range_of_a_customer_in_use():
    """What is new may not be in the whole yet; what is old is still owed."""
    whole = reads(listed(*(entry(f"T{n}", n) for n in (1, 20, 30, 40))))
    for came, said in (
        (shown(1, 20, 30), "agrees"),
        (shown(20, 30), "agrees"),
        (listed(entry("X", 3), *(entry(f"T{n}", n) for n in (20, 30))), "unclear"),
        (shown(1, 20), "disagrees"),
    ):
        assert [said] == of("shorter-range", whole, days(came, since=35), psu=LIVED)


@for_each(
    ("first", "second", "agreement"),
    [
        ((5, 4, 3), (3, 2, 1), "agrees"),
        ((5, 4), (3, 2, 1), "agrees"),
        ((5, 4, 3), (2, 1), "agrees"),
        ((5, 4), (2, 1), "disagrees"),
    ],
)
def test_ranges_that_meet_lose_nothing(first, second, agreement):
    """The day on which they meet is in one of them, whichever is asked first."""
    asked = days(shown(*first), until=3), days(shown(*second), since=3)
    for one, other in (asked, asked[::-1]):
        assert [agreement] == of("meeting-ranges", WHOLE, one, other)


def test_ranges_of_a_single_day_meet_none():
    """Their one day may be left out, as the edge that it is on either side."""
    single, before = days(NONE, since=3, until=3), days(shown(5, 4), until=3)
    assert [] == of("meeting-ranges", WHOLE, before, single)


def test_ranges_meet_where_there_is_something():
    """A day on which nothing is cannot be lost, nor one of which the whole says nothing."""
    gap = reads(listed(FIVE[0], FIVE[4]))
    asked = days(shown(5), until=3), days(shown(1), since=3)
    assert [] == of("meeting-ranges", gap, *asked)
    assert [] == of("meeting-ranges", *asked)
    # A newer whole may have more than those who asked before it could see.
    assert [] == of("meeting-ranges", WHOLE, asked[0], WHOLE, asked[1])


def test_ranges_of_a_customer_in_use_meet_where_nothing_changes_any_more():
    """On a day of last month."""
    whole = reads(listed(*(entry(f"T{n}", n) for n in (1, 3, 20, 30, 40))))
    late = days(shown(40, 30, 20), until=3), days(shown(1), since=3)
    old = days(shown(40), until=30), days(shown(20, 3, 1), since=30)
    assert [] == of("meeting-ranges", whole, *late, psu=LIVED)
    assert ["disagrees"] == of("meeting-ranges", whole, *old, psu=LIVED)


# -- consents ----------------------------------------------------------------------
def test_a_smaller_consent_shows_no_more():
    """What the larger did not show is not shown by the smaller, whichever rule replaces it."""
    larger, smaller = consent("A1", "A2"), consent("A1")
    for keys, agreement in ((["A1", "A2"], "agrees"), (["A1"], "agrees"), (["A3"], "disagrees")):
        asked = larger, accounts("A1", "A2"), smaller, accounts(*keys)
        assert [f"smaller-consent {agreement} 2,4"] == says(*asked)
    asked = larger, reads(ONE), smaller, reads(shown(1, 2, 3))
    assert ["disagrees"] == of("smaller-consent", *asked)
    assert ["unclear"] == of("smaller-consent", *asked, psu=LIVED)


@for_each(
    "later",
    [
        [consent("A3")],
        [consent("A1", "A3")],
        [consent("A1", came=NO)],
        [consent("A3", came=LOST), consent("A1")],
        [consent("A1", malformed=Malformed.TRUNCATED)],
        [through("second", consent("A1"))],
        [ask("consents", DONE, arguments={"accounts": "A1"})],
        [consent("A1"), consent("A2")],
        [consent("A1"), Advanced(now=MIDNIGHT), Advanced(now=AT)],
    ],
)
def test_another_consent_may_show_more(later):
    """It covers what was not covered, or nobody can be sure that it does not."""
    assert [] == says(consent("A1", "A2"), accounts("A1"), *later, accounts("A1", "A3"))


def test_one_smaller_consent_after_another():
    """All of them cover what the first one covered."""
    many, two, one = consent("A1", "A2", "A3"), consent("A1", "A2"), consent("A1")
    asked = many, accounts("A1"), two, one, accounts("A1", "A2")
    assert ["smaller-consent disagrees 2,5"] == says(*asked)
    # The same consent once more covers no more either.
    assert ["disagrees"] == of("smaller-consent", two, accounts("A1"), two, accounts("A2"))


def test_nothing_else_is_compared_across_consents():
    """With a smaller one an answer may hold less, and each thing may be told otherwise."""
    larger, smaller = consent("A1", "A2"), consent("A1")
    assert [] == says(larger, balances("1"), smaller, balances("2"))
    asked = larger, accounts("A1"), smaller, ask("accounts", listed(item("A1", name="other")))
    assert ["smaller-consent agrees 2,4"] == says(*asked)
    assert [] == of("shorter-range", larger, WHOLE, smaller, days(shown(1), since=4))


def test_what_the_larger_consent_did_not_show_in_full_says_nothing():
    """There may be more on the next page, and a thing without a key may be any."""
    larger, smaller = consent("A1", "A2"), consent("A1")
    for before in (listed("A1", next="p2"), listed("A1", item(name="x"))):
        first = ask("accounts", before)
        assert [] == says(larger, first, smaller, accounts("A1", "A2"))


@for_each(
    ("before", "after", "agreement"),
    [({"PsuIdentity": "X"}, {}, "agrees"), ({}, {"PsuIdentity": "X"}, "disagrees")],
)
def test_a_smaller_consent_discloses_no_more(before, after, agreement):
    """Nor is a value given beside the list that was not given before."""
    asked = consent("A1", "A2"), accounts("A1", **before), consent("A1"), accounts("A1", **after)
    assert [agreement] == of("smaller-consent", *asked)


# -- what is asked -----------------------------------------------------------------
def test_a_range_that_the_bank_does_not_offer_is_not_applicable():
    """The document is silent on its arguments, so there is nothing that would be owed."""
    params = ruled("consistent")
    wants = {
        (one.id, want.name): want.if_missing
        for one in params.facets()
        for want in one.requires
        if want.feature == "argument"
    }
    assert {
        ("shorter-range", "since"): Standing.NOT_APPLICABLE,
        ("meeting-ranges", "since"): Standing.NOT_APPLICABLE,
        ("meeting-ranges", "until"): Standing.NOT_APPLICABLE,
    } == wants


@for_each(
    ("since", "until", "ids"),
    [
        ("since", "until", ["shorter-range", "meeting-ranges"]),
        ("since", None, ["shorter-range"]),
        (None, "until", ["shorter-range"]),
        (None, None, []),
    ],
)
def test_the_facets_are_those_that_the_arguments_allow(since, until, ids):
    """Without an end of a range there is no such range to ask for."""
    params = ruled("consistent")
    ranged = replace(params.ranged, since=since, until=until)
    operations = tuple(ranged if one == params.ranged else one for one in params.operations)
    params = replace(params, operations=operations, ranged=ranged if ids else None)
    assert ids == [facet.id for facet in params.facets() if facet.id.endswith(("range", "ranges"))]
    for scenario in ids:
        steps = list(consistent._ranges(ranged, scenario, TODAY))
        assert all("" not in step for step in steps)
        assert steps


@for_each(
    ("operations", "granted", "ids"),
    [
        (["accounts"], True, ["same-twice", "smaller-consent"]),
        (["accounts", "balances"], False, ["same-twice", "unchanged-by-reading"]),
        (["transactions"], False, ["same-twice", "shorter-range", "meeting-ranges"]),
    ],
)
def test_what_a_contract_lacks_is_not_asked(operations, granted, ids):
    """Without consents or dates the rest is asked all the same, at its price."""
    params = ruled("consistent", operations=operations)
    params = params if granted else replace(params, grant=None)
    assert ids == [facet.id for facet in params.facets()]
    for scenario in ids:
        played = Obliging().play(params, scenario)
        assert count_calls(params, params.scenario(scenario)) == len(played.calls)
        found = {
            (evidence.facet, evidence.agreement.value) for evidence in params.check(played.history)
        }
        assert {(scenario, "agrees")} <= found


# -- sound banks, used at random ---------------------------------------------------
@dataclass
class Bank:
    """A bank that keeps one account's entries, in one of the ways that are fair.

    `first_in` and `last_in`: whether the days that a range names are in it; `adds`:
    whether a consent adds to the former one; `lives`: whether customers spend money.
    """

    first_in: bool = True
    last_in: bool = True
    adds: bool = False
    lives: bool = False
    unasked: int = 90
    now: object = AT
    booked: dict = field(default_factory=lambda: {f"T{n}": n for n in range(0, 100, 3)})
    covers: frozenset = frozenset()
    events: list = field(default_factory=list)
    calls: int = 0

    def entries(self, since, until):
        today = self.now.astimezone(PARIS).date()
        first = today - timedelta(days=90 if since else self.unasked)
        kept = []
        for key, age in self.booked.items():
            on = TODAY - timedelta(days=age)
            late = since and (on < since or (on == since and not self.first_in))
            early = until and (on > until or (on == until and not self.last_in))
            if first <= on <= today and not late and not early:
                kept.append(item(key, on))
        return kept

    def tell(self, what):
        self.events.append(replace(what, at=self.now))
        self.calls += 1
        if self.lives and not self.calls % 3:
            today = (TODAY - self.now.astimezone(PARIS).date()).days
            self.booked[f"N{self.calls}"] = today

    def read(self, name, since, until):
        if name not in self.covers:
            self.tell(reads(NO, name))
            return
        given = {"since": since, "until": until}
        given = {k: TODAY - timedelta(days=v) for k, v in given.items() if v is not None}
        kept = self.entries(given.get("since"), given.get("until"))
        arguments = {key: str(value) for key, value in given.items()}
        pages = [kept[n : n + 15] for n in range(0, len(kept), 15)] or [[]]
        for n, page in enumerate(pages):
            follow, next_ = f"{arguments}{n}" if n else None, f"{arguments}{n + 1}"
            # Within a page the order is anything.
            turned = page[::-1] if self.calls % 2 else page
            came = listed(*turned, next=next_ if n + 1 < len(pages) else None)
            self.tell(reads(came, name, arguments=arguments, follow=follow))

    def list(self):
        named = {"PsuIdentity": f"X{self.calls}"} if self.covers else {}
        self.tell(ask("accounts", listed("A1", "A2", values=named)))

    def balance(self, name):
        came = listed(balance(str(sorted(self.booked)))) if name in self.covers else NO
        self.tell(ask("balances", came, name))

    def consent(self, *keys):
        self.covers = frozenset(keys) | (self.covers if self.adds else frozenset())
        self.tell(consent(*keys))

    def wait(self, hours):
        self.now += timedelta(hours=hours)
        self.events.append(Advanced(now=self.now))


NAMES = st.sampled_from(["A1", "A1", "A2"])
AGES = st.none() | st.sampled_from([0, 3, 6, 9, 12, 30, 60, 90, 120])
ACTS = st.one_of(
    st.tuples(st.just("read"), NAMES, st.none(), st.none()),
    st.tuples(st.just("read"), NAMES, AGES, AGES),
    st.tuples(st.just("read"), NAMES, AGES, AGES),
    st.tuples(st.just("list")),
    st.tuples(st.just("balance"), NAMES),
    st.tuples(st.just("consent"), st.just("A1"), st.just("A2")),
    st.tuples(st.just("consent"), NAMES),
    st.tuples(st.just("wait"), st.sampled_from([0, 1, 13, 24])),
)
WAYS = st.fixed_dictionaries(
    {
        "first_in": st.booleans(),
        "last_in": st.booleans(),
        "adds": st.booleans(),
        "lives": st.booleans(),
        "unasked": st.sampled_from([90, 30]),
    }
).filter(lambda ways: ways["first_in"] or ways["last_in"])


def lived(acts, **ways):
    """Return what happened at a bank whose customer did all that."""
    bank = Bank(**ways)
    bank.consent("A1", "A2")
    for name, *rest in acts:
        getattr(bank, name)(*rest)
    fresh = not ways.get("lives")
    return history(owner("psu", account("A1"), account("A2"), fresh=fresh), *bank.events)


@settings(max_examples=examples(300))
@given(st.lists(ACTS, max_size=25), WAYS)
def test_a_sound_bank_never_violates(acts, ways):
    """Whichever of the fair readings it has, and whatever it is asked."""
    events = lived(acts, **ways)
    for zone in (PARIS, None):
        params = ruled("consistent", zone)
        wrong = [
            evidence
            for evidence in params.check(events)
            if evidence.agreement is Agreement.DISAGREES
        ]
        assert [] == wrong


def test_the_life_of_such_a_bank_shows_something():
    """Else it would be no wonder that nothing is violated."""
    reading = ("read", "A1", None, None), ("read", "A1", 30, None), ("read", "A1", None, 30)
    acts = [("list",), *reading, *reading, ("balance", "A1"), ("balance", "A1")]
    acts += [("consent", "A1"), ("list",), ("read", "A1", None, None)]
    params = ruled("consistent")
    said = {(evidence.facet, evidence.agreement.value) for evidence in params.check(lived(acts))}
    assert {(facet.id, "agrees") for facet in params.facets()} == said


# -- what it costs -----------------------------------------------------------------
def test_an_exchange_costs_no_more_however_many_came_before(monkeypatch):
    """Items are looked at as often as they are shown, times a number that does not grow."""
    looked = [0]
    plain = answers.mark

    def counted(one):
        looked[0] += 1
        return plain(one)

    monkeypatch.setattr(answers, "mark", counted)
    params = ruled("consistent")
    reading = ("read", "A1", None, None), ("read", "A1", 30, None), ("read", "A1", None, 30)
    round_ = [*reading, ("list",), ("consent", "A1"), *reading, ("consent", "A1", "A2")]
    costs = []
    for times in (4, 16):
        looked[0] = 0
        events = lived(round_ * times)
        list(params.check(events))
        costs.append(looked[0] / sum(len(exchange.items) for exchange in events.exchanges))
    assert [1.0, 1.0] == costs


def test_dates_are_those_of_the_history():
    """The tests above count days back from the day on which they play."""
    assert date(2026, 9, 16) == TODAY == AT.date()


def test_ranges_of_a_customer_with_a_past_meet_on_days_that_stay_as_they_are():
    """What is listed of the last week may still change, so the ranges meet before it."""
    now = datetime(2026, 9, 16, 10, tzinfo=UTC)
    days = [now.date() - timedelta(days=n) for n in range(1, 31)]
    owned = Owned(
        key="A1",
        resource="account",
        entries=tuple(Entry(key=f"T{n}", on=day) for n, day in enumerate(days)),
    )
    psu = Subject(name="psu", now=now, owns=(owned,), fresh=False)
    known = consistent._known_days(psu, ())
    assert max(known) < now.date() - timedelta(days=7)
    operation = Operation(id="t", method="GET", path="/t", since="from", until="to")
    first, middle, last = consistent._ranges(operation, "meeting-ranges", now.date(), known)
    assert first["to"] == middle["from"] < middle["to"] == last["from"]
    assert {date.fromisoformat(first["to"]), date.fromisoformat(last["from"])} <= {*known}
    assert () == consistent._known_days(replace(psu, fresh=True), ())
    # Where the target file lists no entries, the days are those that the whole list shows.
    unlisted = replace(psu, owns=(replace(owned, entries=()),))
    shown = reads(listed(*(entry(f"T{n}", n) for n in (1, 20, 30, 40))))
    assert [40, 30, 20] == [
        (now.date() - day).days for day in consistent._known_days(unlisted, [shown])
    ]
