"""Local days: which they are, how long, and which comes next."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from building import AT, PARIS

from assay.rules.state.calendar import at, dates, length, next_day, within_a_day

LONG, SHORT = date(2026, 10, 25), date(2026, 3, 29)


@pytest.mark.parametrize(
    ("day", "hours"), [(LONG, 25), (SHORT, 23), (date(2026, 9, 16), 24), (date(2026, 12, 31), 24)]
)
def test_a_day_lasts_23_24_or_25_hours(day, hours):
    """The clocks of Paris change twice a year."""
    assert timedelta(hours=hours) == length(day, PARIS)


def test_half_an_hour_is_enough_to_make_a_day_odd():
    """Lord Howe Island moves its clocks by thirty minutes."""
    assert timedelta(hours=24.5) == length(date(2026, 4, 5), ZoneInfo("Australia/Lord_Howe"))


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
