"""Faults of the history's depth: too much, by a day or by a year; another zone's day.

What is wrong in general is wrong in office hours only, when worlds begin: so the clause
about the local day, which is looked at just after midnight, stays right.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from assay.sandbox.calendar import Depth, Extended, Span, local, ninety_days
from assay.sandbox.mutants.mutant import Change, breaking

__all__ = ["DEPTH"]

_OFFICE_HOURS = range(8, 20)


def _in_office_hours(oldest: Callable[[date, Span], date]) -> Change:
    def depth(span: Span) -> date:
        right = ninety_days(span)
        if local(span.now).hour not in _OFFICE_HOURS:
            return right
        return oldest(right, span)

    return lambda bank: replace(bank, depth=depth)


def _unasked(days: int) -> Change:
    """Show more days when no first day was asked for."""
    more = timedelta(days=days)
    return _in_office_hours(lambda right, span: right if span.asked else right - more)


def _asked(most: int) -> Change:
    """Give what was asked for, up to so many days more."""
    more = timedelta(days=most)
    return _in_office_hours(lambda right, span: max(span.asked or right, right - more))


def _utc_day(span: Span) -> date:
    return span.now.date() - timedelta(days=90)


def _day_from_two(span: Span) -> date:
    """Begin the day at two in the morning."""
    return (local(span.now) - timedelta(hours=2)).date() - timedelta(days=90)


def _depth(depth: Depth) -> Change:
    return lambda bank: replace(bank, depth=depth)


def _extended(more: int) -> Change:
    def extended(span: Span) -> date:
        return ninety_days(span) - timedelta(days=more)

    mode: Extended = extended
    return lambda bank: replace(bank, extended=mode)


DEPTH = (
    breaking(
        "depth.one-day-more",
        "transactions.depth/default",
        "91 days are shown",
        _unasked(1),
    ),
    breaking(
        "depth.half-a-year",
        "transactions.depth/default",
        "half a year is shown",
        _unasked(92),
    ),
    breaking(
        "depth.asked-one-day-more",
        "transactions.depth/asked-older",
        "91 days are shown when they are asked for",
        _asked(1),
    ),
    breaking(
        "depth.asked-is-given",
        "transactions.depth/asked-older",
        "whatever is asked for is shown",
        _asked(10_000),
    ),
    breaking(
        "depth.utc-day",
        "transactions.depth/local-day",
        "the 90 days are counted from the UTC day",
        _depth(_utc_day),
    ),
    breaking(
        "depth.day-from-two",
        "transactions.depth/local-day",
        "the bank's day begins at two in the morning",
        _depth(_day_from_two),
    ),
    breaking(
        "extended.one-day-more",
        "no-extended-history/gives-no-more",
        "the extended mode gives 91 days",
        _extended(1),
    ),
    breaking(
        "extended.two-years",
        "no-extended-history/gives-no-more",
        "the extended mode gives two years",
        _extended(640),
    ),
)
