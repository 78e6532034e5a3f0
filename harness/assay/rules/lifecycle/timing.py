"""The pace of customers going through the screens, measured against time limits.

There are two measures: the idle time, and the total time. Within half a second of a
limit nothing is concluded: a document seldom says which side includes the limit.
Nothing is judged here: see `timeout`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from assay.history import History
from assay.rules.lifecycle import signing
from assay.rules.lifecycle.signing import Signing
from assay.rules.lifecycle.tracker import Lifecycle

IDLE, OVERALL = "idle", "overall"
#: The distance from a limit at which both sides are certain.
CLEAR = timedelta(seconds=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """All limits that there are, by their measures, and the one that is asked about."""

    measure: str
    spans: Mapping[str, timedelta]

    @property
    def limit(self) -> timedelta:
        """The limit that is asked about."""
        return self.spans[self.measure]

    @property
    def idle(self) -> bool:
        """Whether it is asked about idleness."""
        return self.measure == IDLE

    def __str__(self) -> str:
        minutes = int(self.limit.total_seconds() // 60)
        return f"{minutes} minutes " + ("idle" if self.idle else "in all")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedFlow:
    """A plain way through the screens, and how its time went by.

    `last` is the idle time before the end, `since` how long after the first page the
    customer was last seen to be connected.
    """

    signing: Signing
    total: timedelta
    longest: timedelta
    last: timedelta
    since: timedelta

    def __str__(self) -> str:
        return f"{_minutes_and_seconds(self.total)} in all, the last {_minutes_and_seconds(self.last)} idle"

    def within(self, limits: TimeLimits, measure: str) -> bool:
        """Whether it surely stayed within a limit, if there is such a one."""
        took = self.longest if measure == IDLE else self.total
        return measure not in limits.spans or took <= limits.spans[measure] - CLEAR

    def beyond(self, limits: TimeLimits) -> bool:
        """Whether it surely took longer than the limit that is asked about.

        Of one who was disconnected in the end only the last pause can be why.
        """
        idle = self.longest if self.signing.confirmed else self.last
        return (idle if limits.idle else self.total) >= limits.limit + CLEAR


def timed_flows(lifecycle: Lifecycle, history: History) -> Iterator[TimedFlow]:
    """Return every way of which only its pace can have decided how it ended."""
    for one in signing.signings(lifecycle, history):
        moments, screens = list(one.event.moments), one.event.screens
        # Who logged in twice began anew; who was seen on no screen may have been anywhere.
        seen = len(moments) > 1 and screens and screens.count("password") <= 1
        if seen and one.plain and one.alone and not one.failed:
            gaps = [later - sooner for sooner, later in itertools.pairwise(moments)]
            yield TimedFlow(
                signing=one,
                total=moments[-1] - moments[0],
                longest=max(gaps),
                last=gaps[-1],
                since=moments[-2] - moments[0],
            )


def _minutes_and_seconds(span: timedelta) -> str:
    """Tell a span in minutes and seconds."""
    minutes, seconds = divmod(span.total_seconds(), 60)
    return f"{minutes:.0f}:{seconds:04.1f}"
