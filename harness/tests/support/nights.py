"""Moments in the nights in which clocks change, and banks whose clock begins there.

The nights are of a Saturday and a Sunday: before the change, at it and after it, in the hours of
maintenance, and after them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from unittest.mock import patch

from holdout import bureau

from assay.sandbox import world

#: Both changes of Europe/Paris, and the days before them.
NIGHTS = tuple(
    datetime.fromisoformat(text).astimezone(UTC)
    for text in (
        "2027-03-27T23:30:00+01:00",
        "2027-10-30T23:30:00+02:00",
        "2027-03-28T00:30:00+01:00",
        "2027-10-31T00:30:00+02:00",
        "2027-03-28T01:58:00+01:00",
        "2027-10-31T02:58:00+02:00",
        "2027-03-28T03:00:00+02:00",
        "2027-10-31T02:30:00+01:00",
        "2027-03-27T10:00:00+01:00",
        "2027-10-30T10:00:00+02:00",
        "2027-03-28T06:05:00+02:00",
        "2027-10-31T06:05:00+01:00",
        "2026-03-29T12:00:00+02:00",
        "2026-10-25T12:00:00+01:00",
    )
)


def noon() -> str:
    """Return a zone in which it is noon, far from the end of a day and from the hours of maintenance."""
    hours = 12 - datetime.now(UTC).hour
    return f"Etc/GMT{-hours:+d}" if hours else "Etc/GMT"


@contextmanager
def beginning(moment: datetime) -> Iterator[None]:
    """Let the clocks of the sandbox and of the holdout bank begin at a moment, whatever the seed."""
    with (
        patch.object(world, "start_moment", lambda _: moment),
        patch.object(bureau, "first_moment", lambda _: moment),
    ):
        yield
