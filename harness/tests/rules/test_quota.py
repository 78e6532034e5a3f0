"""`quota` counts what surely counts, and what may, and judges between the two."""

from datetime import UTC, datetime, timedelta

from account_information import (
    AT,
    FAILED,
    LOST,
    NO,
    NONE,
    ODD,
    PARIS,
    UNKNOWN,
    account,
    ask,
    check,
    consent,
    owner,
)
from rows import for_each

from assay.history import Malformed
from assay.testing import listed, refused

PSU, OTHER = owner("psu", account("A1")), owner("other", account("B1"))
DATA = listed("x")
ATTENDED = ask("balances", DATA, "A1")
OURS = [PSU, consent("A1")]
PERIODS = ["calendar-day", "clock-hour", "rolling-hour", "hour"]


def batch(came=DATA, about="A1", **how):
    return ask("balances", came, about, present=False, **how)


def four(**how):
    return [batch(**how) for _ in range(4)]


def says(*events, **how):
    return check("batch-quota", *events, **how)


@for_each("per", PERIODS)
def test_four_are_served_and_the_fifth_is_refused(per):
    """The control is an attended call of the same question, whenever it comes."""
    assert [
        *(f"balances-served agrees {n}" for n in (2, 3, 4, 5)),
        "balances-refused agrees 6",
    ] == says(*OURS, *four(), batch(NO), ATTENDED, per=per)


@for_each("per", PERIODS)
@for_each(
    ("came", "agreement"),
    [
        (NO, "agrees"),
        (DATA, "disagrees"),
        (refused("x"), "disagrees"),
        (NONE, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
        (ODD, "unclear"),
    ],
)
def test_the_fifth_must_be_refused(per, came, agreement):
    """A failure or a time-out is no refusal."""
    found = says(*OURS, *four(), batch(came), ATTENDED, per=per)

    assert f"balances-refused {agreement} 6" == found[-1]


@for_each("per", PERIODS)
@for_each(
    ("came", "agreement"),
    [
        (DATA, "agrees"),
        (NO, "disagrees"),
        (UNKNOWN, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_the_fourth_must_be_served(per, came, agreement):
    """A failure, a time-out and unknown credentials are no violation."""
    found = says(*OURS, *four()[:3], batch(came), ATTENDED, per=per)

    assert f"balances-served {agreement} 5" == found[-1]


@for_each(
    "extra",
    [
        batch(LOST),
        batch(FAILED),
        batch(NO),
        batch(follow="p2"),
        batch(alias=0),
        batch(mode="m"),
        batch(malformed=Malformed.JUNK_QUERY),
        batch(credentials=True),
    ],
)
def test_what_may_count_makes_room_for_a_refusal(extra):
    """Three and one that perhaps counted: the next may be refused or served."""
    events = [*OURS, *four()[:3], extra]
    for came in (NO, DATA):
        assert not [line for line in says(*events, batch(came), ATTENDED) if line.endswith(" 6")]


def test_another_name_of_a_method_may_have_a_count_of_its_own():
    """Two and two are four, or twice two."""
    two = [batch(), batch()]
    for came in (NO, DATA):
        found = says(*OURS, *two, *[batch(alias=0)] * 2, batch(came), ATTENDED)

        assert not [one for one in found if one.endswith(" 6")]


@for_each(
    "control",
    [
        [],
        [ask("balances", NO, "A1")],
        [ask("balances", LOST, "A1")],
        [ask("balances", DATA, "A2")],
        [ask("balances", DATA, "B1", by="other")],
        [ask("transactions", DATA, "A1")],
    ],
)
def test_without_an_attended_answer_nothing_is_said(control):
    """A method that answers nobody is not taken for a quota."""
    assert [] == says(*OURS, *control, *four(), batch(NO))
    assert [] == says(*OURS, *control, batch(NO))


@for_each(
    "before",
    [
        [PSU],
        [PSU, consent("A2")],
        [PSU, consent("A1", came=LOST)],
        [PSU, consent("A1", by="other")],
    ],
)
def test_a_refusal_for_want_of_consent_is_no_quota(before):
    """What needs a consent must surely have one to be served."""
    assert [] == says(*before, batch(NO), consent("A1"), ATTENDED)


def test_a_consent_may_be_transmitted_without_the_customer_too():
    """It needs no consent before it."""
    unattended = [consent("A1", present=False) for _ in range(5)]

    assert [
        *(f"consents-served agrees {n}" for n in (2, 3, 4, 5)),
        "consents-refused disagrees 6",
    ] == says(*OURS, *unattended)


@for_each("known", [[owner("psu", fresh=False)], []])
def test_of_a_customer_who_was_there_before_a_refusal_is_open(known):
    """Others may have called today; but five answers are five."""
    found = says(*known, consent("A1"), batch(NO), ATTENDED)

    assert ["balances-served unclear 2"] == found
    assert ["balances-refused disagrees 6"] == says(
        *known, consent("A1"), *four(), batch(DATA), ATTENDED
    )[-1:]


@for_each("minutes", [1, -1])
def test_near_the_end_of_the_day_five_answers_may_be_of_two_days(minutes):
    """Where nobody moves the clock, ours and the bank's are not quite the same."""
    known = owner("psu", fresh=False)
    near = AT.replace(hour=0, minute=0) + timedelta(days=1) - timedelta(minutes=minutes)
    day = [batch(at=near) for _ in range(5)]

    assert ["balances-refused unclear 6"] == says(known, consent("A1"), *day, ATTENDED)[-1:]


def test_attended_calls_and_other_customers_do_not_count():
    """Whoever is there, and whoever else is not, leaves the count alone."""
    events = [*OURS, OTHER, consent("B1", by="other")]
    strangers = [batch(about="B1", by="other") for _ in range(3)]

    assert [f"balances-served agrees {n}" for n in (9, 10, 11, 12)] == says(
        *events, *strangers, *[ATTENDED] * 3, *four()
    )


# -- days -------------------------------------------------------------------------
NEXT = AT.replace(day=17, hour=0, minute=0, second=30)
LATE = AT.replace(hour=23, minute=59, second=40)


@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_the_next_local_day_serves_again(came, agreement):
    """Half a minute after local midnight a new count begins."""
    found = says(*OURS, *four(), batch(NO), batch(came, at=NEXT), ATTENDED)

    assert f"balances-next-day {agreement} 7" == found[-1]


def test_the_next_day_is_judged_only_after_a_refusal():
    """Without one, nothing was enforced that midnight could have lifted."""
    found = says(*OURS, *four(), batch(at=NEXT), ATTENDED)

    assert "balances-served agrees 6" == found[-1]


def test_only_the_first_call_of_the_next_day_bears_on_it():
    """The others are neither here nor there."""
    found = says(*OURS, *four(), batch(NO), batch(at=NEXT), batch(at=NEXT), ATTENDED)

    assert ["balances-next-day agrees 7"] == [one for one in found if one.endswith((" 7", " 8"))]


@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees")])
def test_just_before_midnight_it_is_still_refused(came, agreement):
    """After a refusal the same day, the last half minute is no new day."""
    found = says(*OURS, *four(), batch(NO), batch(came, at=LATE), ATTENDED)

    assert f"before-midnight {agreement} 7" == found[-1]


def test_a_late_call_without_a_refusal_before_bears_on_nothing():
    """A bank without any quota has no midnight."""
    assert not [
        line for line in says(*OURS, *four(), batch(at=LATE), ATTENDED) if line.endswith(" 6")
    ]


def test_days_are_the_banks_whatever_the_clock_tells():
    """22:30 in UTC is the next day in Paris, 21:30 is not."""
    evening = datetime(2026, 9, 16, 21, 30, tzinfo=UTC)
    night = datetime(2026, 9, 16, 22, 30, tzinfo=UTC)
    used = [*OURS, *four(), batch(NO)]

    assert "balances-refused agrees 7" == says(*used, batch(NO, at=evening), ATTENDED)[-1]
    assert "balances-next-day disagrees 7" == says(*used, batch(NO, at=night), ATTENDED)[-1]


@for_each(("came", "agreement"), [(NO, "agrees"), (DATA, "disagrees")])
def test_a_day_of_25_hours_is_one_day(came, agreement):
    """An hour before the end of the long Sunday 24 hours have gone by."""
    noon = datetime(2026, 10, 25, 0, 30, tzinfo=PARIS)
    late = datetime(2026, 10, 25, 23, 40, tzinfo=PARIS)
    used = [batch(at=noon) for _ in range(4)]
    found = says(*OURS, *used, batch(NO, at=noon), batch(came, at=late), ATTENDED)

    assert f"long-day {agreement} 7" == found[-1]


def test_with_no_zone_calls_of_one_quarter_of_an_hour_are_of_one_day():
    """No midnight anywhere lies between them; later calls may be of the next day."""
    used = [*OURS, *four()]

    assert "balances-refused disagrees 6" == says(*used, batch(), ATTENDED, zone=None)[-1]
    for came in (NO, DATA):
        later = batch(came, at=AT + timedelta(hours=1))
        assert not [line for line in says(*used, later, ATTENDED, zone=None) if line.endswith(" 6")]


def test_with_no_zone_two_days_later_is_another_day():
    """Then the count begins anew wherever the bank is."""
    later = [batch(NO, at=AT + timedelta(days=3))]

    assert "balances-served disagrees 6" == (says(*OURS, *four(), *later, ATTENDED, zone=None)[-1])


# -- whose count ------------------------------------------------------------------
@for_each("per", PERIODS)
@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_each_method_has_its_own_count(per, came, agreement):
    """The first call of another method after one is used up."""
    lists = [
        ask("transactions", came, "A1", present=False),
        ask("transactions", DATA, "A1"),
    ]

    assert [f"per-method {agreement} 6"] == says(*OURS, *four(), *lists, ATTENDED, per=per)[4:]


@for_each("per", PERIODS)
@for_each(("came", "agreement"), [(DATA, "agrees"), (NO, "disagrees")])
def test_each_customer_has_an_own_count(per, came, agreement):
    """The first call of another customer after one's is used up."""
    theirs = [
        OTHER,
        consent("B1", by="other"),
        batch(came, "B1", by="other"),
        ask("balances", DATA, "B1", by="other"),
    ]

    assert [f"per-customer {agreement} 7"] == says(*OURS, *four(), *theirs, ATTENDED, per=per)[4:]


def test_a_method_that_is_not_named_has_no_quota():
    """The clause names four."""
    assert [] == says(*[ask("trusted-beneficiaries", DATA, present=False)] * 6)


# -- at one moment -------------------------------------------------------------------------
def at_once(*answers, group=1):
    return [batch(came, together=group) for came in answers]


@for_each("answers", [(NO, DATA, NO), (DATA, NO, NO), (NO, NO, DATA)])
def test_of_calls_at_one_moment_any_may_be_served(answers):
    """As many as were left; which of them came first is unknown."""
    said = says(*OURS, *four()[:3], *at_once(*answers), ATTENDED)
    assert ["balances-served"] * 3 == [line.split()[0] for line in said[:3]]
    assert ["at-once agrees"] * 2 == [line.rpartition(" ")[0] for line in said[3:]]


@for_each(
    ("answers", "words"),
    [
        ((NO, DATA, DATA), ["disagrees", "agrees"]),
        ((DATA, DATA, DATA), ["disagrees", "disagrees"]),
        ((NO, NO, NO), []),
        ((FAILED, NO, DATA), ["unclear", "agrees"]),
    ],
)
def test_of_calls_at_one_moment_no_more_are_served_than_are_left(answers, words):
    """A bank may serve none of them, and a failure is no refusal; the one that is left is no proof."""
    said = says(*OURS, *four()[:3], *at_once(*answers), ATTENDED)
    assert words == [line.split()[1] for line in said if line.startswith("at-once")]
    assert not any("served disagrees" in line or "-refused" in line for line in said)


def test_moments_are_judged_one_after_another():
    """What was served at the first is used up at the second, where the order is known."""
    first, second = at_once(NO, DATA), at_once(DATA, NO, group=2)
    said = says(*OURS, *four()[:3], *first, *second, ATTENDED)
    assert ["agrees 5", "disagrees 7", "agrees 8"] == [
        line.removeprefix("at-once ") for line in said if line.startswith("at-once")
    ]
