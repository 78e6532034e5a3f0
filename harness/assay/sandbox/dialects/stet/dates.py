"""Dates as STET writes them, and as the bank reads them.

STET writes a day or a date-time with or without an offset, of which the calendar day
counts as it is written; and the end of a period is the first moment that is not in it,
where the bank names the last day that is. What reads in neither way is passed on as it
is, for the bank to refuse.
"""

import re
from datetime import date, datetime, timedelta
from urllib.parse import quote, unquote_plus

__all__ = ["FROM", "TO", "asked_period", "calendar_day", "shifted"]

#: The two ends of a period; both interfaces name them so.
FROM, TO = "dateFrom", "dateTo"

_DAY_LENGTH = len("2026-09-16")
_WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def calendar_day(text: str) -> str | None:
    """Read the calendar day of a date or a date-time; None when it is neither."""
    if not _WRITTEN.fullmatch(text):
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return text[:_DAY_LENGTH]


def shifted(day: str, days: int) -> str:
    """Go some days on from a day; stay where the calendar ends, or where there is no day."""
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return day


def asked_period(query: str) -> str:
    """Turn a query into one of the bank's: all but the two dates stays as it was sent."""
    return "&".join(_asked(pair) for pair in query.split("&"))


def _asked(pair: str) -> str:
    name, _, value = pair.partition("=")
    name = unquote_plus(name)
    day = calendar_day(unquote_plus(value)) if name in (FROM, TO) else None
    if day is None:
        return pair
    return f"{name}={quote(shifted(day, -1 if name == TO else 0))}"
