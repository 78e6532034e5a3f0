"""Reader of HAR 1.2 files, as browsers and proxies write them.

Writers differ: bodies are text or base64, or are left out; headers come in any case, with those of
HTTP/2; an answer may come from a cache, or never. What is missing is read as missing. Every size is
bounded.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from assay.errors import InputError
from assay.history import Wire
from assay.traffic.har_to_history import RecordedEntry

#: The largest file that is read, and the largest body, in bytes.
MOST_FILE, MOST_BODY = 512 * 1024 * 1024, 4 * 1024 * 1024
#: More headers than these are no message's.
MOST_HEADERS = 256
NO_BODY = "the recording does not hold the body of the answer"
#: What a recorder notes where it kept only the beginning.
CUT = "cut off"
NO_ANSWER = "the recording holds no answer"
#: What is a status, and how many milliseconds a call may have taken.
STATUSES, LONGEST = range(100, 1000), 1e9
#: An answer with one of these has no body: 204, 205, 304.
EMPTY = frozenset({204, 205, 304})
#: What a line of a journal begins with; a HAR begins with the log.
HINT = "a HAR file is one object with a 'log', as browsers and `assay proxy` write it"

Object = dict[str, Any]


def read_har(path: Path, zone: ZoneInfo | None = None) -> list[RecordedEntry]:
    """Read a HAR file; a time without an offset is read in `zone`, or in UTC.

    Raises:
        InputError: it is no HAR 1.2, or larger than is read.

    """
    log = _object(_document(path), "log")
    if log is None:
        raise InputError.one(str(path), "no 'log' in this file", hint=HINT)
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise InputError.one(str(path), "no list 'log.entries' in this file", hint=HINT)
    listed: list[Any] = entries
    found: list[RecordedEntry] = []
    for number, one in enumerate(listed, 1):
        try:
            found += _entry(one, zone)
        except (ValueError, TypeError, OverflowError) as error:
            what = f"entry {number} of the log cannot be read: {error}"
            raise InputError.one(str(path), what, hint=HINT) from None
    return found


def _document(path: Path) -> Any:
    try:
        if path.stat().st_size > MOST_FILE:
            what = f"larger than {MOST_FILE // 1024 // 1024} MiB"
            raise InputError.one(str(path), what, hint="record less, or split it")
        text = path.read_bytes().decode("utf-8-sig")
        return json.loads(text)
    except OSError as error:
        raise InputError.one(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError.one(str(path), "not UTF-8", hint=HINT) from None
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg}"
        hint = "is the file whole? some recorders write its end when they are closed"
        raise InputError.one(str(path), what, line=error.lineno, hint=hint) from None
    except (RecursionError, ValueError):
        raise InputError.one(str(path), "no JSON that can be read", hint=HINT) from None


def _entry(one: Any, zone: ZoneInfo | None) -> Iterator[RecordedEntry]:
    """Read one entry; nothing of one that never went to a bank."""
    entry = _given(one)
    request, answer = _object(entry, "request"), _object(entry, "response") or {}
    if request is None:
        raise ValueError("it has no 'request'")
    url = _text(request, "url")
    if not url.lower().startswith(("http://", "https://")) or _cached(entry, answer):
        return
    sent, asked_lost = _sent(request)
    wire = Wire(
        method=_text(request, "method"),
        url=url,
        request_headers=_headers(request),
        request_body=sent,
    )
    wire, lost = _answered(wire, answer)
    took = entry.get("time")
    yield RecordedEntry(
        at=_moment(_text(entry, "startedDateTime"), zone),
        wire=wire,
        ms=float(took) if isinstance(took, int | float) and 0 <= took < LONGEST else 0.0,
        lost=lost,
        asked_lost=asked_lost,
    )


def _cached(entry: Object, answer: Object) -> bool:
    """Whether an answer came out of the browser, so that nothing was asked of anybody."""
    held = entry.get("_fromCache") or answer.get("_fetchedViaServiceWorker")
    return bool(held) or entry.get("_resourceType") == "websocket"


def _answered(wire: Wire, answer: Object) -> tuple[Wire, str]:
    status = answer.get("status")
    if not isinstance(status, int) or isinstance(status, bool) or status not in STATUSES:
        return wire, NO_ANSWER
    wire = replace(wire, status=status, headers=_headers(answer))
    content = _object(answer, "content") or {}
    text = content.get("text")
    if not isinstance(text, str):
        size = max(_number(content, "size"), _number(answer, "bodySize"))
        # Nought and -1 are written for "none" and for "not known" alike.
        empty = status in EMPTY or (size <= 0 and wire.media_type == "")
        return wire, "" if empty or _said_empty(answer) else NO_BODY
    body = _body(text, content.get("encoding"))
    cut = len(body) > MOST_BODY or _cut(content)
    return replace(wire, body=body[:MOST_BODY], truncated=cut), ""


def _cut(part: Object) -> bool:
    return str(part.get("comment") or "").startswith(CUT)


def _said_empty(answer: Object) -> bool:
    """Whether the answer itself said that it has no body."""
    return any(
        name.lower() == "content-length" and value.strip() == "0"
        for name, value in _headers(answer)
    )


def _sent(request: Object) -> tuple[bytes, bool]:
    """Return what was sent, and whether there was something that is not recorded."""
    posted = _object(request, "postData")
    if posted is None:
        return b"", _number(request, "bodySize") > 0
    text, params = posted.get("text"), posted.get("params")
    if _cut(posted):
        return b"", True
    if isinstance(text, str) and (text or not params):
        return _body(text, posted.get("encoding") or posted.get("_encoding")), False
    if isinstance(params, list):
        fields: list[Any] = params
        named = [_given(one) for one in fields]
        return urlencode(
            [(str(one.get("name")), str(one.get("value", ""))) for one in named]
        ).encode(), False
    return b"", _number(request, "bodySize") > 0


def _body(text: str, encoding: object) -> bytes:
    if encoding == "base64":
        return base64.b64decode(text)
    # Lone surrogates stand in some files for bytes that are no text.
    return text.encode("utf-8", "replace")


def _headers(message: Object) -> tuple[tuple[str, str], ...]:
    """Return the headers of a message, without those that only HTTP/2 has."""
    given = message.get("headers")
    listed: list[Any] = given if isinstance(given, list) else []
    pairs = [(one.get("name"), one.get("value")) for one in map(_given, listed[:MOST_HEADERS])]
    return tuple(
        (name, value)
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, str) and not name.startswith(":")
    )


def _moment(text: str, zone: ZoneInfo | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone or UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("its 'startedDateTime' is no time of ISO 8601") from None


def _given(value: Any) -> Object:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return cast("Object", value)


def _object(value: Mapping[str, Any] | Any, name: str) -> Object | None:
    found: Any = cast("Object", value).get(name) if isinstance(value, dict) else None
    return cast("Object", found) if isinstance(found, dict) else None


def _text(value: Object, name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise TypeError(f"it has no text {name!r}")
    return found


def _number(value: Object, name: str) -> int:
    found = value.get(name)
    return found if isinstance(found, int) else 0
