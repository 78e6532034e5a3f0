"""The name of a time zone -> its rules of the calendar day.

Which name counts, a contract's or a target's, is not decided here.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo, available_timezones

from assay.errors import did_you_mean

__all__ = ["read_zone"]


def read_zone(name: str) -> ZoneInfo | str:
    """Return the time zone of that name, or a hint if there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return did_you_mean(name, available_timezones()) or "an IANA name, as in Europe/Paris"
