"""STET values: nested JSON, dates, opaque identifiers and payment statuses.

Access to nested JSON never fails. A container of a wrong type differs from a missing
one, since the bank refuses the first as a wrong type and the second as missing.

STET writes days as dates or date-times, of which the calendar day counts as written. The
end of a period is exclusive in STET, and inclusive in the bank. Malformed dates are
passed on for the bank to refuse.

An opaque identifier stands for an IBAN or an encrypted PAN in a path. It is a keyed
digest, so it is the same in every answer of one application and reveals nothing; issued
identifiers are stored, because a digest cannot be reversed. It grants no access.

Each status of the bank corresponds to a pair of status and reason in STET. An unknown
status is passed on, and is no valid status of STET.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from hmac import digest
from secrets import token_bytes
from threading import Lock
from typing import Final, TypeAlias, cast
from urllib.parse import quote, unquote_plus

from assay.sandbox.messages import Malformed, read_identifier
from assay.sandbox.payments.terms import ABSENT

#: A JSON object.
Content: TypeAlias = dict[str, object]
#: Names of members and indices of lists.
JsonPath: TypeAlias = tuple[str | int, ...]

#: Marks a value of a wrong type: neither a text nor empty.
UNFIT: Final = True


def members(value: object) -> Content:
    """Return an object; anything else counts as an empty one."""
    return cast("Content", value) if isinstance(value, dict) else {}


def listed(value: object) -> list[object]:
    """Return a list; anything else counts as an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def find(content: object, path: JsonPath) -> object:
    """Return the value at a path: `ABSENT` if missing, `UNFIT` if a container is of a wrong type.

    A null on the path is a null at its end.
    """
    here = content
    for step in path:
        if here is None or here is ABSENT:
            return here
        if isinstance(step, int):
            items = listed(here)
            barred = not isinstance(here, list)
            here = items[step] if step < len(items) else ABSENT
        else:
            barred = not isinstance(here, dict)
            here = members(here).get(step, ABSENT)
        if barred:
            return UNFIT
    return here


def with_value(node: object, path: JsonPath, value: object) -> object:
    """Copy a tree with a value set at a path, creating containers as needed.

    The value `ABSENT` removes what is there, and creates nothing.
    """
    if not path:
        return value
    if node is ABSENT and value is ABSENT:
        return ABSENT
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = listed(node)
        item = with_value(items[step] if step < len(items) else ABSENT, rest, value)
        return items if item is ABSENT else [*items[:step], item, *items[step + 1 :]]
    known = members(node)
    member = with_value(known.get(step, ABSENT), rest, value)
    if member is ABSENT:
        return {name: kept for name, kept in known.items() if name != step}
    return {**known, step: member}


#: The two ends of a period, in both interfaces.
FROM, TO = "dateFrom", "dateTo"

_DAY_LENGTH = len("2026-09-16")
_WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def calendar_day(text: str) -> str | None:
    """Return the calendar day of a date or a date-time; None if it is neither."""
    if not _WRITTEN.fullmatch(text):
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return text[:_DAY_LENGTH]


def shifted(day: str, days: int) -> str:
    """Add days to a day; a malformed day, or one at the limit, is returned unchanged."""
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return day


def to_bank_query(query: str) -> str:
    """Translate the two dates in a query; everything else stays as it was sent."""
    return "&".join(_asked(pair) for pair in query.split("&"))


def _asked(pair: str) -> str:
    name, _, value = pair.partition("=")
    name = unquote_plus(name)
    day = calendar_day(unquote_plus(value)) if name in (FROM, TO) else None
    if day is None:
        return pair
    return f"{name}={quote(shifted(day, -1 if name == TO else 0))}"


#: Maximum number of stored identifiers; the oldest are removed.
_MOST = 200_000
#: Length of an identifier; the standard allows 35 characters.
_LENGTH = 32
#: A well-formed key that does not exist.
_UNKNOWN = "UNKNOWN"


@dataclass(slots=True)
class OpaqueIds:
    """The opaque identifiers of one application."""

    _secret: bytes = field(default_factory=lambda: token_bytes(32), repr=False)
    _keys: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    _lock: Lock = field(default_factory=Lock)

    def issue(self, key: str) -> str:
        """Return the identifier of a key."""
        opaque = digest(self._secret, key.encode("utf-8", "replace"), "sha256").hex()[:_LENGTH]
        with self._lock:
            self._keys[opaque] = key
            self._keys.move_to_end(opaque)
            while len(self._keys) > _MOST:
                self._keys.popitem(last=False)
        return opaque

    def key(self, id: str) -> str:
        """Return the key of an identifier.

        An identifier that was never issued gets a key that does not exist; otherwise an IBAN
        would work as an identifier. A malformed one is passed on for the bank to refuse.
        """
        known = self._keys.get(id)
        if known is not None:
            return known
        try:
            read_identifier(id)
        except Malformed:
            return id
        return _UNKNOWN


_PAIRS: Mapping[str, tuple[str, str | None]] = {
    "received": ("ACTC", None),
    "pending": ("ACSP", None),
    "executed": ("ACSC", None),
    "rejected": ("RJCT", "FF01"),
    "refused": ("RJCT", "CUST"),
    "expired": ("RJCT", "NOAS"),
    "cancelled": ("RJCT", "DS02"),
}
#: Codes of the reasons for rejecting a signed payment.
_REASONS: Mapping[str, str] = {"duplicate": "MS03", "cash": "FRAD", "scope": "AG01"}

#: Status and reason by which a TPP cancels.
CANCELLED = _PAIRS["cancelled"]


def status_members(content: Content) -> Content:
    """Return the payment's status and reason in STET's codes."""
    status, why = content.get("status"), content.get("reason")
    if not isinstance(status, str):
        return {}
    word, reason = _PAIRS.get(status, (status, None))
    if status == "rejected" and isinstance(why, str):
        reason = _REASONS.get(why, why)
    shown: Content = {"paymentInformationStatus": word}
    return {**shown, "statusReasonInformation": reason} if reason else shown
