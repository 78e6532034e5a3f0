"""`history-depth` finds what is older than so many local days, and asks no more."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from account_information import (
    AT,
    FAILED,
    LOST,
    NO,
    NONE,
    TODAY,
    UNKNOWN,
    account,
    ask,
    check,
    item,
    owner,
)
from rows import for_each

from assay.testing import listed, refused

PSU = owner("psu", account("A1", 1, 89, 90, 91, 120), account("A2", 1, 89))


def days(*ages):
    return [item(f"A1-{n}", on=TODAY - timedelta(days=n)) for n in ages]


def says(*events, **how):
    return check("transactions.depth", *events, **how)


@for_each(
    ("edge", "oldest", "agreement"),
    [
        ("unspecified", 89, "agrees"),
        ("unspecified", 90, "agrees"),
        ("unspecified", 91, "disagrees"),
        ("included", 90, "agrees"),
        ("included", 91, "disagrees"),
        ("excluded", 89, "agrees"),
        ("excluded", 90, "agrees"),
        ("excluded", 91, "disagrees"),
    ],
)
def test_nothing_is_older_than_the_edge(edge, oldest, agreement):
    """The ninetieth day itself has a facet of its own; a shorter history is no violation."""
    event = ask("transactions", listed(*days(1, oldest)), "A1")
    said = [each for each in says(PSU, event, edge=edge) if "edge" not in each]
    assert [f"default {agreement} 1"] == said


@for_each("came", [NO, FAILED, LOST, NONE, listed(item("x"))])
def test_what_shows_no_dates_leaves_it_open(came):
    """A refusal, failure, time-out, empty list or undated item neither agrees nor disagrees."""
    assert ["default unclear 1"] == says(PSU, ask("transactions", came, "A1"))


def test_nothing_is_said_of_what_has_nothing_older():
    """An account whose entries are all young could not have shown an older one."""
    assert [] == says(PSU, ask("transactions", listed(*days(1, 89)), "A2"))
    assert [] == says(ask("transactions", listed(*days(1, 89)), "A1"))


def test_recorded_traffic_shows_violations_without_a_roster():
    """An item that is too old speaks for itself."""
    assert ["default disagrees 1"] == says(ask("transactions", listed(*days(1, 91)), "A1"))


def test_the_old_one_may_be_on_the_last_page_of_one_of_two_walks():
    """Pages of walks that are interleaved are told apart."""
    assert ["default agrees 1,3", "default disagrees 2,4"] == says(
        PSU,
        owner("other", account("B1", 1, 99)),
        ask("transactions", listed(*days(1), next="p2"), "A1"),
        ask("transactions", listed(*days(1), next="p2"), "B1", by="other"),
        ask("transactions", listed(*days(2)), "A1", follow="p2"),
        ask("transactions", listed(*days(99)), "B1", by="other", follow="p2"),
    )


def asked(came, since, **how):
    return ask("transactions", came, "A1", arguments={"since": since}, **how)


LONG_AGO, RECENTLY = "2026-02-28", "2026-09-01"
PLAIN = ask("transactions", listed(*days(1)), "A1")


@for_each(
    ("came", "agreement"),
    [
        (NO, "agrees"),
        (listed(*days(1, 90)), "agrees"),
        (listed(*days(1, 91)), "disagrees"),
        (refused(item("x", on=TODAY - timedelta(days=100)), status=400), "disagrees"),
        (NONE, "unclear"),
        (FAILED, "unclear"),
        (LOST, "unclear"),
    ],
)
def test_asking_for_older_gives_nothing_older_or_a_refusal(came, agreement):
    """A failure is no refusal."""
    assert [f"asked-older {agreement} 2"] == says(PSU, PLAIN, asked(came, LONG_AGO))[1:]


@for_each("came", [NO, UNKNOWN])
def test_a_refusal_of_one_who_was_shown_nothing_is_no_evidence(came):
    """Its control is the same question without a date, with something in the answer."""
    assert [] == says(PSU, asked(came, LONG_AGO))
    assert [] == says(PSU, ask("transactions", NO, "A1"), asked(came, LONG_AGO))[1:]


@for_each("since", [RECENTLY, "2026-06-18", "yesterday", 7])
def test_asking_for_what_is_in_reach_bears_on_nothing(since):
    """Who asks from the ninetieth day on is not asking for older."""
    assert [] == says(PSU, PLAIN, asked(listed(*days(1)), since))[1:]


def test_modes_and_other_arguments_are_not_this_clauses():
    """A page-size or a mode may change what is shown."""
    assert [] == says(PSU, ask("transactions", listed(*days(91)), "A1", mode="m"))
    assert [] == says(PSU, ask("transactions", listed(*days(91)), "A1", arguments={"limit": 1}))


@for_each(("age", "agreement"), [(90, "agrees"), (91, "disagrees")])
def test_just_after_local_midnight_it_is_the_local_day_that_counts(age, agreement):
    """At 00:30 in Paris a bank that counts in UTC shows one day too many."""
    night = AT.replace(hour=0, minute=30)
    psu = owner("psu", account("A1", 1, 91), now=night)

    assert [f"local-day {agreement} 1"] == says(
        psu, ask("transactions", listed(*days(1, age)), "A1", at=night)
    )


@for_each(
    ("oldest", "said"),
    [
        (90, ["local-day agrees 1", "default agrees 1"]),
        (91, ["local-day disagrees 1", "default agrees 1"]),
        (120, ["local-day disagrees 1", "default disagrees 1"]),
    ],
)
def test_what_is_older_by_any_day_is_shown_by_default(oldest, said):
    """A run may take place at an hour at which it is another day in UTC, from its first call to its last."""
    night = AT.replace(hour=0, minute=30)
    psu = owner("psu", account("A1", 1, 91, 120), now=night)
    assert said == says(psu, ask("transactions", listed(*days(1, oldest)), "A1", at=night))


def test_the_clock_may_be_told_in_utc():
    """22:30 in UTC is after midnight in Paris, and judged by that day."""
    night = datetime(2026, 9, 15, 22, 30, tzinfo=UTC)
    psu = owner("psu", account("A1", 1, 91))

    assert ["local-day disagrees 1"] == says(
        psu, ask("transactions", listed(*days(1, 91)), "A1", at=night)
    )


def test_with_no_zone_the_widest_reading_of_today_is_taken():
    """Half past midnight in UTC is still yesterday twelve hours to the west."""
    night = datetime(2026, 9, 16, 0, 30, tzinfo=UTC)
    psu = owner("psu", account("A1", 1, 91, 92))

    for age, agreement in ((91, "agrees"), (92, "disagrees")):
        assert [f"default {agreement} 1"] == says(
            psu, ask("transactions", listed(*days(1, age)), "A1", at=night), zone=None
        )


def test_the_zone_of_the_clock_does_not_matter():
    """The same instant told in Tokyo's time is judged alike."""
    night = datetime(2026, 9, 16, 0, 30, tzinfo=UTC).astimezone(ZoneInfo("Pacific/Kiritimati"))
    psu = owner("psu", account("A1", 1, 91, 92))

    assert ["default agrees 1"] == says(
        psu, ask("transactions", listed(*days(1, 91)), "A1", at=night), zone=None
    )


def test_days_across_the_end_of_summer_time_are_calendar_days():
    """Ninety days before 1 November are counted by dates, whatever the clocks did."""
    late = datetime(2026, 11, 1, 12, 0, tzinfo=ZoneInfo("Europe/Paris"))
    first = late.date() - timedelta(days=90)
    psu = owner("psu", account("A1", 1, 300))

    for on, agreement in ((first, "agrees"), (first - timedelta(days=1), "disagrees")):
        assert [f"default {agreement} 1"] == says(
            replace(psu, now=late), ask("transactions", listed(item("x", on=on)), "A1", at=late)
        )


@for_each(("age", "agreement"), [(90, "agrees"), (91, "disagrees")])
def test_a_week_later_the_days_have_moved_on(age, agreement):
    """The last day that was shown is too old then."""
    later = AT + timedelta(days=7)
    shown = item("x", on=later.date() - timedelta(days=age))

    assert [f"later {agreement} 1"] == says(PSU, ask("transactions", listed(shown), "A1", at=later))


@for_each(
    ("came", "agreement"),
    [(days(90), "agrees"), (days(89, 91), "disagrees"), ([], "unclear")],
)
def test_a_last_day_without_a_first_one_gives_nothing_older(came, agreement):
    """The days are counted from today."""
    asked = {"arguments": {"until": str(TODAY - timedelta(days=20))}}

    assert [f"until-alone {agreement} 1"] == says(
        PSU, ask("transactions", listed(*came), "A1", **asked)
    )
    for odd in ({"arguments": {"until": "soon"}}, {**asked, "mode": "m"}):
        assert [] == says(PSU, ask("transactions", listed(*came), "A1", **odd))


@for_each(("came", "agreement"), [(NONE, "agrees"), (NO, "agrees"), (LOST, "unclear")])
@for_each("since", [None, 400])
def test_what_lies_wholly_beyond_the_limit_is_refused_or_empty(since, came, agreement):
    """Beside a list that shows what is in reach."""
    days_asked = {"until": 95} | ({} if since is None else {"since": since})
    asked = {name: str(TODAY - timedelta(days=n)) for name, n in days_asked.items()}
    control = ask("transactions", listed(*days(1, 89)), "A1")
    facet = "until-alone" if since is None else "asked-older"

    told = says(PSU, control, ask("transactions", came, "A1", arguments=asked))
    assert ["default agrees 1", f"{facet} {agreement} 2"] == told
    begun = ask("transactions", listed(next="2"), "A1", arguments=asked)
    assert f"{facet} unclear 2" in says(PSU, control, begun)
    older = ask("transactions", listed(*days(100)), "A1", arguments=asked)
    assert [f"{facet} disagrees 1"] == says(PSU, older)
