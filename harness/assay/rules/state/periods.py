"""Quota periods: the spans in which calls are counted, and how certain their edges are.

A document may say "an hour" and not which, and the time zone of a day may be unknown.
So a period has one edge for each reading: calls in one period by every reading certainly
count together, and calls in one period by no reading certainly do not. The module also has the
steps with which probes move a target's clock to such edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.rules import steps
from assay.rules.state.calendar import (
    DAY,
    ORDINARY,
    at,
    dates,
    local,
    local_day,
    next_day,
    wall_time,
)
from assay.rules.steps import Part

#: One moment, in UTC, for each reading that is open.
Edges: TypeAlias = tuple[datetime, ...]
#: From a moment and the zone, if known, to the edges around it.
Edge: TypeAlias = Callable[[datetime, ZoneInfo | None], Edges]

HOUR, QUARTER, MINUTE = timedelta(hours=1), timedelta(minutes=15), timedelta(minutes=1)
#: The smallest step of time: whether an hour is over at its last moment is open.
INSTANT = timedelta(microseconds=1)
#: The distance of "just before" and "just after" from the end of a period.
MARGIN = timedelta(seconds=30)
#: So long before the end of a day of 25 hours, more than 24 have passed. The middle of a day.
LATE, NOON = timedelta(minutes=30), time(12)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodWords:
    """The wording of a period; `next_facet` and `late_facet` are the facets at its edges.

    `label_format` is the format in which a moment names its period.
    """

    noun: str
    with_article: str
    this: str
    label_format: str
    next_facet: str
    next_description: str
    late_facet: str
    late_description: str


DAYS = PeriodWords(
    noun="day",
    with_article="a day",
    this="today",
    label_format="%Y-%m-%d",
    next_facet="next-day",
    next_description="calls are served again on the next calendar day",
    late_facet="before-midnight",
    late_description="calls are still refused just before midnight",
)
HOURS = PeriodWords(
    noun="hour",
    with_article="an hour",
    this="in this hour",
    label_format="%H:%M",
    next_facet="next-hour",
    next_description="calls are served again in the next hour",
    late_facet="before-end",
    late_description="calls are still refused just before the hour ends",
)

MINUTES = PeriodWords(
    noun="minute",
    with_article="a minute",
    this="in this minute",
    label_format="%H:%M:%S",
    next_facet="next-minute",
    next_description="calls are served again in the next minute",
    late_facet="before-end",
    late_description="calls are still refused just before the minute ends",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A span in which calls are counted, in a zone or where none is known.

    `begins` returns from when on calls count together with a call at a moment, `ends` when a
    call at a moment no longer counts. All moments are in UTC.
    """

    words: PeriodWords
    begins: Edge
    ends: Edge
    zone: ZoneInfo | None

    @property
    def has_known_end(self) -> bool:
        """Whether its end is known; the end of a day is unknown without a zone."""
        return self.words is not DAYS or self.zone is not None

    @property
    def margin(self) -> timedelta:
        """The distance of "just before" and "just after" from its end."""
        return MARGIN / 6 if self.words is MINUTES else MARGIN

    def is_long(self, moment: datetime) -> bool:
        """Whether a moment lies in what a day of this zone has beyond 24 hours."""
        if self.words is not DAYS or self.zone is None:
            return False
        return moment - at(local_day(moment, self.zone), time(0), self.zone) >= ORDINARY

    def latest_begin(self, moment: datetime) -> datetime:
        """Return from when on calls certainly belong to the period of a moment."""
        return max(self.begins(moment, self.zone))

    def earliest_begin(self, moment: datetime) -> datetime:
        """Return from when on calls may belong to it; earlier ones certainly do not."""
        return min(self.begins(moment, self.zone))

    def earliest_end(self, moment: datetime) -> datetime:
        """Return until when a call at a moment certainly counts."""
        return min(self.ends(moment, self.zone))

    def latest_end(self, moment: datetime) -> datetime:
        """Return from when on a call at a moment certainly no longer counts."""
        return max(self.ends(moment, self.zone))

    def label(self, moment: datetime) -> str:
        """Return the name of a moment's period."""
        return wall_time(moment, self.zone or UTC).strftime(self.words.label_format)


def period(word: str, zone: ZoneInfo | None) -> Period:
    """Return the period that a contract's word means."""
    wording, begins, ends = PERIODS[word]
    return Period(words=wording, begins=begins, ends=ends, zone=zone)


def _day_begins(moment: datetime, zone: ZoneInfo | None) -> Edges:
    """Return local midnight; in an unknown zone the latest possible one, and the earliest."""
    if zone is not None:
        return (at(local_day(moment, zone), time(0), zone).astimezone(UTC),)
    before = datetime.combine(dates(moment, None)[0] - 2 * DAY, time(12), UTC)
    return before, moment - (moment - EPOCH) % QUARTER


def _day_ends(moment: datetime, zone: ZoneInfo | None) -> Edges:
    if zone is None:
        return (moment + 2 * DAY,)
    return (at(local_day(moment, zone) + DAY, time(0), zone).astimezone(UTC),)


def _clock_hour_begins(moment: datetime, zone: ZoneInfo | None) -> Edges:
    """Return the last full hour, by the zone's clocks and by those of UTC.

    The two differ where a zone is off by a part of an hour. Where none is known, every
    quarter of an hour may be a full one.
    """
    if zone is None:
        offsets = {n * QUARTER for n in range(4)}
    else:
        offsets = {timedelta(0), local(moment, zone).utcoffset() or timedelta(0)}
    return tuple(moment - (moment - EPOCH + offset) % HOUR for offset in offsets)


def _clock_hour_ends(moment: datetime, zone: ZoneInfo | None) -> Edges:
    return tuple(begin + HOUR for begin in _clock_hour_begins(moment, zone))


def _rolling_hour_begins(moment: datetime, zone: ZoneInfo | None) -> Edges:
    return moment - HOUR, moment - HOUR + INSTANT


def _rolling_hour_ends(moment: datetime, zone: ZoneInfo | None) -> Edges:
    return (moment + HOUR,)


def _hour_begins(moment: datetime, zone: ZoneInfo | None) -> Edges:
    return _clock_hour_begins(moment, zone) + _rolling_hour_begins(moment, zone)


def _hour_ends(moment: datetime, zone: ZoneInfo | None) -> Edges:
    return _clock_hour_ends(moment, zone) + _rolling_hour_ends(moment, zone)


def _minute_begins(moment: datetime, _zone: ZoneInfo | None) -> Edges:
    full = moment - (moment - EPOCH) % MINUTE
    return full, moment - MINUTE, moment - MINUTE + INSTANT


def _minute_ends(moment: datetime, zone: ZoneInfo | None) -> Edges:
    return _minute_begins(moment, zone)[0] + MINUTE, moment + MINUTE


#: The periods by their names in contracts. A plain `hour` may be of either sort, and so may a minute.
PERIODS: Mapping[str, tuple[PeriodWords, Edge, Edge]] = {
    "calendar-day": (DAYS, _day_begins, _day_ends),
    "clock-hour": (HOURS, _clock_hour_begins, _clock_hour_ends),
    "rolling-hour": (HOURS, _rolling_hour_begins, _rolling_hour_ends),
    "hour": (HOURS, _hour_begins, _hour_ends),
    "minute": (MINUTES, _minute_begins, _minute_ends),
}


# -- steps that move the target's clock -------------------------------------------
def into_the_next(period_: Period) -> Part[None]:
    """Move the clock to where a new period has begun by every reading."""
    now = yield from steps.clock()
    if period_.has_known_end:
        yield from steps.clock(period_.latest_end(now.astimezone(UTC)) + period_.margin)


def clear_of_the_end(period_: Period) -> Part[None]:
    """Move the clock beyond the end of the period, if that is near; or if it is a long day's."""
    now = yield from steps.clock()
    end = period_.earliest_end(now.astimezone(UTC))
    if period_.has_known_end and (
        now >= end - 2 * period_.margin or period_.is_long(end - period_.margin)
    ):
        yield from steps.clock(end + period_.margin)


def to_the_end(period_: Period) -> Part[None]:
    """Move the clock to just before the earliest end of the period."""
    now = yield from steps.clock()
    if period_.has_known_end:
        yield from steps.clock(period_.earliest_end(now.astimezone(UTC)) - period_.margin)


def to_the_long_day(zone: ZoneInfo | None) -> Part[bool]:
    """Move the clock to noon of the next day of 25 hours; return False where the zone has none."""
    now = yield from steps.clock()
    day = next_day(now, zone, longer=True) if zone else None
    if day is not None and zone:
        yield from steps.clock(at(day, NOON, zone))
    return day is not None


def late_on_the_long_day(zone: ZoneInfo | None) -> Part[None]:
    """Move the clock to the last hour of the long day that it shows."""
    now = yield from steps.clock()
    if zone:
        yield from steps.clock(at(local_day(now, zone) + DAY, time(0), zone) - LATE)
