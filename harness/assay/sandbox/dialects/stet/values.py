"""Taking nested JSON apart and putting it together, with nothing that can fail.

Bodies are hostile. A thing that stands where a container should be is told apart from
one that is not there, since the bank refuses the first as a wrong type and the second
as missing. Not JSON pointers: ways are written by hand, and short.

Dates as STET writes them, and as the bank reads them.

STET writes a day or a date-time with or without an offset, of which the calendar day
counts as it is written; and the end of a period is the first moment that is not in it,
where the bank names the last day that is. What reads in neither way is passed on as it
is, for the bank to refuse.

Opaque identifiers: what stands in a path for an IBAN or an encrypted PAN.

An identifier is a keyed digest of what it stands for, so it is the same in every answer
of one application and tells nobody anything; what was issued is remembered, for a digest
cannot be read back. Not a secret: whoever has one may not read anything by it.

Where a payment stands: the bank's words, and STET's pairs of a status and a reason.

Every word of the bank has a pair of its own. What was rejected has one of several
reasons, none of which is that of a refusal, a time-out or a cancellation. A word that is
not known here is passed on as it is, and is no word of STET's.
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
#: Names of members, and positions in lists.
JsonPath: TypeAlias = tuple[str | int, ...]

#: Stands for what is there and is of a wrong type: no text, and not empty either.
UNFIT: Final = True


def members(value: object) -> Content:
    """Take a value for an object; anything else has no members."""
    return cast("Content", value) if isinstance(value, dict) else {}


def listed(value: object) -> list[object]:
    """Take a value for a list; anything else has no items."""
    return cast("list[object]", value) if isinstance(value, list) else []


def find(content: object, path: JsonPath) -> object:
    """Find what stands at the end of a way: `ABSENT`, or `UNFIT` where the way is barred.

    A null on the way is a null at its end.
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
    """Copy a tree with a value put at the end of a way, which is made where there is none.

    The value `ABSENT` takes away what stands there, and makes no way.
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
        return {name: other for name, other in known.items() if name != step}
    return {**known, step: member}


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


def to_bank_query(query: str) -> str:
    """Turn a query into one of the bank's: all but the two dates stays as it was sent."""
    return "&".join(_asked(pair) for pair in query.split("&"))


def _asked(pair: str) -> str:
    name, _, value = pair.partition("=")
    name = unquote_plus(name)
    day = calendar_day(unquote_plus(value)) if name in (FROM, TO) else None
    if day is None:
        return pair
    return f"{name}={quote(shifted(day, -1 if name == TO else 0))}"


#: The oldest make room for new ones.
_MOST = 200_000
#: Of 35 characters that the standard allows.
_LENGTH = 32
#: Reads well, and is nobody's.
_UNKNOWN = "UNKNOWN"


@dataclass(slots=True)
class OpaqueIds:
    """The identifiers of one application."""

    _secret: bytes = field(default_factory=lambda: token_bytes(32), repr=False)
    _keys: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str])
    _lock: Lock = field(default_factory=Lock)

    def issue(self, key: str) -> str:
        """Give the identifier that stands for a key."""
        opaque = digest(self._secret, key.encode("utf-8", "replace"), "sha256").hex()[:_LENGTH]
        with self._lock:
            self._keys[opaque] = key
            self._keys.move_to_end(opaque)
            while len(self._keys) > _MOST:
                self._keys.popitem(last=False)
        return opaque

    def key(self, id: str) -> str:
        """Give what an identifier stands for.

        One that was never issued stands for a key that nobody has; were it passed on as
        it is, an IBAN would do as well. One that the bank cannot even read is passed on,
        for the bank to refuse.
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
#: Why the bank rejects what was signed: a repeat, the rule about CASH, who is not served.
_REASONS: Mapping[str, str] = {"duplicate": "MS03", "cash": "FRAD", "scope": "AG01"}

#: What a provider writes to cancel.
CANCELLED = _PAIRS["cancelled"]


def status_members(content: Content) -> Content:
    """Say in STET's words where a payment stands, as far as the bank says it."""
    status, why = content.get("status"), content.get("reason")
    if not isinstance(status, str):
        return {}
    word, reason = _PAIRS.get(status, (status, None))
    if status == "rejected" and isinstance(why, str):
        reason = _REASONS.get(why, why)
    shown: Content = {"paymentInformationStatus": word}
    return {**shown, "statusReasonInformation": reason} if reason else shown
