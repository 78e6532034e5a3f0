"""Limits of the sandbox bank, and the operators that make mutants of them."""

from datetime import UTC, datetime, timedelta

from rows import for_each

from assay.sandbox.access import BATCH, CARD_WINDOW
from assay.sandbox.calendar import MONDAY_NIGHT, NINETY_DAYS, SUNDAY_NIGHT, Threshold
from assay.sandbox.mutants.mutant import (
    allowing,
    always,
    edge_flipped,
    limited_to,
    never,
    one_less,
    one_more,
    only_when,
)
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.rules import MORE_THAN_72_HOURS, Times
from assay.sandbox.payments.terms import AT_MOST_ONE
from assay.sandbox.policies import SOUND

NUMBERS = range(-3, 12)
#: Every limit of the sound bank.
LIMITS = {
    "quota": BATCH.used_up,
    "depth": NINETY_DAYS.too_old,
    "card": CARD_WINDOW.too_old,
    "begun": SUNDAY_NIGHT.begun,
    "over": MONDAY_NIGHT.over,
    "transfers": AT_MOST_ONE.too_many,
    "locked": SOUND_PAYMENTS.locked,
    "cash": MORE_THAN_72_HOURS,
    "idle": SOUND_PAYMENTS.timers["idle"].expired,
    "overall": SOUND_PAYMENTS.timers["overall"].expired,
}


def passed(threshold):
    return {number for number in NUMBERS if threshold(number)}


@for_each(("inclusive", "first", "last"), [(True, 4, 3), (False, 5, 4)])
def test_a_threshold_is_passed_from_its_edge_on(inclusive, first, last):
    """The limit itself has passed if it is inclusive; `last` is the last value that has not."""
    threshold = Threshold(limit=4, inclusive=inclusive, unit=1)
    assert set(range(first, 12)) == passed(threshold)
    assert last == threshold.last


@for_each(
    ("operator", "first"),
    [
        (one_less, 3),
        (one_more, 5),
        (edge_flipped, 5),
        (limited_to(7), 7),
        (never, 12),
        (always, -3),
    ],
)
def test_an_operator_moves_the_edge(operator, first):
    """Each operator results in another limit, of the same unit."""
    threshold = Threshold(limit=4, inclusive=True, unit=1)
    assert set(range(first, 12)) == passed(operator(threshold))
    assert threshold.unit == operator(threshold).unit


@for_each("name", LIMITS)
def test_every_limit_of_the_bank_has_all_operators(name):
    """Every operator changes the answer at the limit or one unit beside it, and never raises."""
    limit = LIMITS[name]
    near = [limit.limit + step * limit.unit for step in (-1, 0, 1)]

    def answers(threshold):
        return tuple(threshold(value) for value in near)

    sound = answers(limit)
    assert (False, limit.inclusive, True) == sound
    for operator in (one_less, one_more, edge_flipped, never, always):
        assert sound != answers(operator(limit)), operator.__name__


def test_the_first_timer_to_expire_ends_a_signing():
    """Time left is comparable between timers, even where one never expires."""
    timers = SOUND_PAYMENTS.timers
    start = datetime(2026, 9, 16, 10, tzinfo=UTC)
    times = Times(first=start, last=start + timedelta(minutes=28))
    now = start + timedelta(minutes=31)
    assert not timers["idle"](times, now)
    assert timers["overall"](times, now)
    assert timedelta(minutes=1) == timers["idle"].left(times, now)
    assert timedelta(minutes=-1) == timers["overall"].left(times, now)


def test_only_when_decides_wrongly_in_some_situations():
    """The situation is what the policy is given."""
    policy = only_when(lambda day: day == 6, lambda _: "closed", lambda _: "open")
    assert ["open", "closed"] == [policy(day) for day in (5, 6)]


def test_allowing_adds_to_what_is_allowed():
    """What the right policy allows stays allowed."""
    policy = allowing(lambda number: number == 7, lambda number: number < 2)
    assert {0, 1, 7} == {number for number in range(9) if policy(number)}


def test_the_bank_has_no_other_limits():
    """The limits above are those of the sound bank's policies."""
    assert [(BATCH,)] == list({*SOUND.quota.values()})
    assert (NINETY_DAYS, SUNDAY_NIGHT) == (SOUND.depth, SOUND.closed)
    assert CARD_WINDOW == SOUND.eligible["card"] == SOUND.grantable["card"]
    assert (MONDAY_NIGHT, AT_MOST_ONE) == (SOUND_PAYMENTS.closed, SOUND_PAYMENTS.single)
    assert MORE_THAN_72_HOURS == SOUND_PAYMENTS.cash.trusted
