"""Local days: which they are, how long, and which comes next."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from account_information import AT, PARIS
from rows import for_each

from assay.rules.state.calendar import (
    as_written,
    at,
    dates,
    length,
    local_day,
    next_day,
    wall_time,
    within_a_day,
)

LONG, SHORT = date(2026, 10, 25), date(2026, 3, 29)


@for_each(
    ("day", "hours"), [(LONG, 25), (SHORT, 23), (date(2026, 9, 16), 24), (date(2026, 12, 31), 24)]
)
def test_a_day_lasts_23_24_or_25_hours(day, hours):
    """The clocks of Paris change twice a year."""
    assert timedelta(hours=hours) == length(day, PARIS)


def test_half_an_hour_is_enough_to_make_a_day_odd():
    """Lord Howe Island moves its clocks by thirty minutes."""
    assert timedelta(hours=24.5) == length(date(2026, 4, 5), ZoneInfo("Australia/Lord_Howe"))


@for_each(
    ("how", "day"),
    [
        ({}, date(2026, 9, 17)),
        ({"weekday": 6}, date(2026, 9, 20)),
        ({"weekday": 2}, date(2026, 9, 23)),
        ({"longer": True}, LONG),
        ({"shorter": True}, date(2027, 3, 28)),
        ({"weekday": 6, "shorter": True}, date(2027, 3, 28)),
        ({"weekday": 0, "longer": True}, None),
        ({"longer": True, "shorter": True}, None),
    ],
)
def test_the_next_day_that_fits(how, day):
    """Today never fits, and nobody waits longer than 400 days."""
    assert day == next_day(AT, PARIS, **how)


def test_the_next_day_is_after_the_local_one():
    """22:30 in UTC is already tomorrow in Paris."""
    assert date(2026, 9, 18) == next_day(datetime(2026, 9, 16, 22, 30, tzinfo=UTC), PARIS)


def test_an_instant_is_when_local_clocks_show_it():
    """Ten in Paris is eight in UTC in summer."""
    assert datetime(2026, 9, 16, 8, 0, tzinfo=UTC) == at(date(2026, 9, 16), time(10), PARIS)


@for_each(
    ("zone", "wall", "instant", "shown"),
    [
        # The hour that clocks skip: 02:00 would have been the instant at which they show 03:00.
        ("Europe/Paris", "2027-03-28T02:00", "2027-03-28T01:00Z", "2027-03-28T03:00"),
        ("Europe/Paris", "2027-03-28T02:30", "2027-03-28T01:30Z", "2027-03-28T03:30"),
        ("Europe/Paris", "2027-10-31T02:30", "2027-10-31T00:30Z", "2027-10-31T02:30"),
        ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45Z", "2026-10-04T02:45"),
        ("Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45Z", "2026-04-05T01:45"),
        # Days that begin at one o'clock, and one that does not exist.
        ("Africa/Cairo", "2026-04-24T00:00", "2026-04-23T22:00Z", "2026-04-24T01:00"),
        ("Asia/Beirut", "2026-03-29T00:00", "2026-03-28T22:00Z", "2026-03-29T01:00"),
        ("America/Santiago", "2026-09-06T00:00", "2026-09-06T04:00Z", "2026-09-06T01:00"),
        ("America/Santiago", "2026-04-05T00:00", "2026-04-05T04:00Z", "2026-04-05T00:00"),
        ("Pacific/Apia", "2011-12-30T00:00", "2011-12-30T10:00Z", "2011-12-31T00:00"),
    ],
)
def test_an_instant_where_clocks_change(zone, wall, instant, shown):
    """A time that is shown twice is the first one, and one that is skipped is after the change."""
    found = at(date.fromisoformat(wall[:10]), time.fromisoformat(wall[11:]), ZoneInfo(zone))
    assert datetime.fromisoformat(instant) == found
    assert shown == wall_time(found, ZoneInfo(zone)).isoformat(timespec="minutes")
    assert shown == found.replace(tzinfo=None).isoformat(timespec="minutes")


@for_each(
    "zone",
    ["Europe/Paris", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Beirut", "America/Santiago"],
)
def test_days_follow_one_another_without_a_gap(zone):
    """Each instant of a year lies in its own local day, and the lengths of the days add up."""
    place, day = ZoneInfo(zone), date(2026, 1, 1)
    total = timedelta()
    while day.year == 2026:
        begin = at(day, time(0), place)
        total += length(day, place)
        for hours in range(int(length(day, place) / timedelta(hours=1))):
            assert day == local_day(begin + timedelta(hours=hours), place)
        day += timedelta(days=1)
    assert at(day, time(0), place) - at(date(2026, 1, 1), time(0), place) == total


def test_instants_of_a_zone_are_apart_by_what_passes():
    """An hour that clocks skip does not pass, and one that they show twice passes twice."""
    early, late = (at(date(2027, 3, 28), time(hour), PARIS) for hour in (1, 3))
    assert (timedelta(hours=1), late) == (late - early, early + timedelta(hours=1))
    early, late = (at(date(2027, 10, 31), time(hour), PARIS) for hour in (1, 3))
    assert timedelta(hours=3) == late - early


def test_a_skipped_day_is_never_the_next_one():
    """Apia had no 30th of December in 2011, which is no short day either."""
    apia = ZoneInfo("Pacific/Apia")
    assert timedelta() == length(date(2011, 12, 30), apia)
    before = datetime(2011, 12, 29, 12, tzinfo=UTC)
    assert date(2011, 12, 30) != next_day(before, apia, shorter=True)


def test_what_is_written_keeps_its_digits():
    """A time that clocks skip is written with the offset before the change."""
    written = as_written(datetime.fromisoformat("2027-03-28T02:30"), PARIS)
    assert "2027-03-28T02:30:00+01:00" == written.isoformat()


@for_each(
    ("hour", "zone", "days"),
    [
        (22, PARIS, [17]),
        (21, PARIS, [16]),
        (0, None, [15, 16]),
        (11, None, [15, 16, 17]),
        (12, None, [16, 17]),
        (9, None, [15, 16]),
    ],
)
def test_an_instant_has_a_date_or_several(hour, zone, days):
    """With no zone known, all that clocks show anywhere."""
    found = dates(datetime(2026, 9, 16, hour, tzinfo=UTC), zone)

    assert days == [one.day for one in found]


def test_two_instants_are_surely_of_one_day():
    """By the date where the zone is known, else by the quarter of an hour."""
    noon = datetime(2026, 9, 16, 12, 14, 59, tzinfo=UTC)

    assert within_a_day(noon, PARIS) == within_a_day(noon + timedelta(hours=9), PARIS)
    assert within_a_day(noon, PARIS) != within_a_day(noon + timedelta(hours=10), PARIS)
    assert within_a_day(noon, None) == within_a_day(noon - timedelta(minutes=14), None)
    assert within_a_day(noon, None) != within_a_day(noon + timedelta(seconds=1), None)
    assert within_a_day(noon, None) == within_a_day(noon.astimezone(PARIS), None)
