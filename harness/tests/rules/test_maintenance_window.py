"""`maintenance-window` knows the announced hours, and judges those around them."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from account_information import AISP, AT, FAILED, LOST, NO, PARIS, ask, check, ruled
from rows import for_each

from assay.rules.kinds.access.maintenance_window import MaintenanceWindow
from assay.rules.rule import clauses_of
from assay.testing import listed

DATA = listed("A1")
QUIET = ask("accounts", DATA)


def sunday(hour, minute=0, second=0, *, day=20):
    return datetime(2026, 9, day, hour, minute, second, tzinfo=PARIS)


def says(*events, **how):
    return check("maintenance", *events, **how)


@for_each(
    ("instant", "inside"),
    [
        (sunday(2), True),
        (sunday(5, 59, 59), True),
        (sunday(1, 59, 59), False),
        (sunday(6), False),
        (sunday(3, day=21), False),
        (sunday(3, day=19), False),
        (datetime(2026, 9, 20, 0, 30, tzinfo=UTC), True),
        (datetime(2026, 9, 20, 4, 30, tzinfo=UTC), False),
        (datetime(2026, 10, 25, 2, 30, tzinfo=PARIS), True),
        (datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=PARIS), True),
        (datetime(2026, 3, 29, 3, 30, tzinfo=PARIS), True),
        (datetime(2026, 3, 29, 1, 30, tzinfo=PARIS), False),
    ],
)
def test_the_hours_are_those_of_the_wall_clock(instant, inside):
    """Also when told in UTC, and when the clocks change."""
    (window,) = (one for one in clauses_of(AISP) if isinstance(one, MaintenanceWindow))

    assert inside is window.covers(instant)


def test_with_no_zone_nothing_is_inside():
    """Whose Sunday it is, nobody knows."""
    params = ruled("maintenance", zone=None)

    assert not params.covers(sunday(3))
    assert [] == says(QUIET, ask("accounts", FAILED, at=sunday(6, 1)), zone=None)


@for_each(
    ("begin", "end", "inside"),
    [
        ("22:00", "02:00", [(20, 22), (20, 23), (21, 1)]),
        ("00:00", "00:00", [(20, 1), (20, 22), (20, 23)]),
    ],
)
def test_a_window_may_go_past_midnight(begin, end, inside):
    """It then ends on the next day; from midnight to midnight is a whole day."""
    params = ruled("maintenance", **{"from": begin, "to": end})
    asked = [(day, hour) for day in (19, 20, 21) for hour in (1, 22, 23)]

    assert inside == [(day, hour) for day, hour in asked if params.covers(sunday(hour, day=day))]


@for_each(
    ("instant", "facet"),
    [
        (sunday(1, 59, 30), "before"),
        (sunday(1, 0), "before"),
        (sunday(6, 0), "after"),
        (sunday(6, 59, 59), "after"),
        (sunday(3, day=19), "other-days"),
        (sunday(5, 59, day=21), "other-days"),
        (datetime(2026, 3, 29, 6, 0, 30, tzinfo=PARIS), "short-night"),
        (datetime(2026, 10, 25, 6, 0, 30, tzinfo=PARIS), "after"),
    ],
)
@for_each(
    ("came", "agreement"),
    [(DATA, "agrees"), (FAILED, "disagrees"), (LOST, "unclear"), (NO, "unclear")],
)
def test_outside_the_window_it_answers(instant, facet, came, agreement):
    """Only a failure of the target is a disturbance; a time-out may be the line's."""
    assert [f"{facet} {agreement} 2"] == says(QUIET, ask("accounts", came, at=instant))


@for_each(
    "instant",
    [sunday(2), sunday(4), sunday(5, 59, 59), sunday(0, 59), sunday(7), sunday(12), AT],
)
def test_inside_and_far_from_the_window_nothing_is_said(instant):
    """Disturbances are possible there, and elsewhere it is others' business."""
    assert [] == says(QUIET, ask("accounts", FAILED, at=instant))


@for_each(
    "control",
    [[], [ask("accounts", NO)], [ask("accounts", DATA, by="other")], [ask("balances", DATA, "A1")]],
)
def test_without_the_control_nothing_is_said(control):
    """The same method must have answered the same customer before."""
    assert [] == says(*control, ask("accounts", FAILED, at=sunday(6, 1)))


def test_any_answer_before_is_a_control():
    """Also one in the hours that are judged."""
    assert ["other-days disagrees 2"] == says(
        ask("accounts", DATA, at=sunday(3, day=18)), ask("accounts", FAILED, at=sunday(3, day=19))
    )


@for_each("how", [{"present": False}, {"mode": "m"}, {"follow": "2"}])
def test_only_plain_attended_calls_are_judged(how):
    """Others may fail for reasons of their own."""
    assert [] == says(QUIET, ask("accounts", FAILED, at=sunday(6, 1), **how))


def test_around_a_window_past_midnight_the_days_are_right():
    """It closes on the day after the one on which it opens."""
    window = {"from": "22:00", "to": "02:00"}
    asked = [
        (sunday(21, 30), "before"),
        (sunday(2, 1, day=21), "after"),
        (sunday(23, day=19), "other-days"),
        (sunday(1, day=20), "other-days"),
        (sunday(12, day=20), None),
    ]
    for instant, facet in asked:
        found = says(QUIET, ask("accounts", DATA, at=instant), **window)

        assert ([f"{facet} agrees 2"] if facet else []) == found


def test_a_window_is_as_long_as_the_wall_clock_says():
    """Four hours from two to six, and four from ten in the evening to two."""
    for begin, end in (("02:00", "06:00"), ("22:00", "02:00")):
        params = ruled("maintenance", **{"from": begin, "to": end})

        assert timedelta(hours=4) == params.spans
    assert time(2, 0) == ruled("maintenance").begin


def test_the_facets_hold_in_a_zone_far_from_the_clocks():
    """Sunday 06:30 in Auckland is Saturday evening in UTC."""
    zone = ZoneInfo("Pacific/Auckland")
    instant = datetime(2026, 9, 20, 6, 30, tzinfo=zone).astimezone(UTC)

    assert ["after disagrees 2"] == says(QUIET, ask("accounts", FAILED, at=instant), zone=zone)
