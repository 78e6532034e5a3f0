"""Reader of HAR 1.2 files, as browsers and proxies write them.

Writers differ: bodies are text or base64, or are left out; header names have any case, and there are
those of HTTP/2; a response may come from a cache, or never. What is missing is read as missing. Every
size is bounded.
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
MAX_FILE, MAX_BODY = 512 * 1024 * 1024, 4 * 1024 * 1024
#: How many headers of a message are read.
MAX_HEADERS = 256
#: Reasons why a response is unknown.
NO_BODY = "the recording does not have the body of the response"
NO_RESPONSE = "the recording has no response"
#: How the comment of a body begins of which a recorder kept only the beginning.
CUT_OFF = "cut off"
#: The valid statuses, and the longest duration of a call in milliseconds.
STATUSES, MAX_DURATION = range(100, 1000), 1e9
#: Statuses whose responses have no body.
BODILESS = frozenset({204, 205, 304})
HINT = "a HAR file is one object with a 'log', as browsers and `assay proxy` write it"

Object = dict[str, Any]


def read_har(path: Path, zone: ZoneInfo | None = None) -> list[RecordedEntry]:
    """Read a HAR file; a time without an offset is read in `zone`, or in UTC.

    Raises:
        InputError: it is not HAR 1.2, or too large.

    """
    log = _object(_document(path), "log")
    if log is None:
        raise InputError.one(str(path), "no 'log' in this file", hint=HINT)
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise InputError.one(str(path), "no list 'log.entries' in this file", hint=HINT)
    listed: list[Any] = entries
    recorded: list[RecordedEntry] = []
    for number, entry in enumerate(listed, 1):
        try:
            recorded += _entry(entry, zone)
        except (ValueError, TypeError, OverflowError) as error:
            what = f"entry {number} of the log cannot be read: {error}"
            raise InputError.one(str(path), what, hint=HINT) from None
    return recorded


def _document(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_FILE:
            what = f"larger than {MAX_FILE // 1024 // 1024} MiB"
            raise InputError.one(str(path), what, hint="record less, or split the file")
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
        raise InputError.one(str(path), "not JSON that can be read", hint=HINT) from None


def _entry(raw: Any, zone: ZoneInfo | None) -> Iterator[RecordedEntry]:
    """Read one entry; yield nothing if no request was sent to a server."""
    entry = _checked_object(raw)
    request, response = _object(entry, "request"), _object(entry, "response") or {}
    if request is None:
        raise ValueError("it has no 'request'")
    url = _text(request, "url")
    if not url.lower().startswith(("http://", "https://")) or _is_local(entry, response):
        return
    body, body_lost = _request_body(request)
    wire = Wire(
        method=_text(request, "method"),
        url=url,
        request_headers=_headers(request),
        request_body=body,
    )
    wire, lost = _with_response(wire, response)
    ms = entry.get("time")
    yield RecordedEntry(
        at=_moment(_text(entry, "startedDateTime"), zone),
        wire=wire,
        ms=float(ms) if isinstance(ms, int | float) and 0 <= ms < MAX_DURATION else 0.0,
        lost=lost,
        body_lost=body_lost,
    )


def _is_local(entry: Object, response: Object) -> bool:
    """Whether a response came from the browser itself, or the entry is a WebSocket."""
    cached = entry.get("_fromCache") or response.get("_fetchedViaServiceWorker")
    return bool(cached) or entry.get("_resourceType") == "websocket"


def _with_response(wire: Wire, response: Object) -> tuple[Wire, str]:
    """Return a message with its response, and why that is unknown if it is."""
    status = response.get("status")
    if not isinstance(status, int) or isinstance(status, bool) or status not in STATUSES:
        return wire, NO_RESPONSE
    wire = replace(wire, status=status, headers=_headers(response))
    content = _object(response, "content") or {}
    text = content.get("text")
    if not isinstance(text, str):
        size = max(_number(content, "size"), _number(response, "bodySize"))
        # Recorders write 0 and -1 for "none" and for "unknown" alike.
        empty = status in BODILESS or (size <= 0 and wire.media_type == "")
        announced_empty = (wire.header("content-length") or "").strip() == "0"
        return wire, "" if empty or announced_empty else NO_BODY
    body = _body(text, content.get("encoding"))
    truncated = len(body) > MAX_BODY or _is_cut_off(content)
    return replace(wire, body=body[:MAX_BODY], truncated=truncated), ""


def _is_cut_off(part: Object) -> bool:
    return str(part.get("comment") or "").startswith(CUT_OFF)


def _request_body(request: Object) -> tuple[bytes, bool]:
    """Return the body of a request, and whether there was one that is not recorded."""
    posted = _object(request, "postData")
    if posted is None:
        return b"", _number(request, "bodySize") > 0
    text, params = posted.get("text"), posted.get("params")
    if _is_cut_off(posted):
        return b"", True
    if isinstance(text, str) and (text or not params):
        return _body(text, posted.get("encoding") or posted.get("_encoding")), False
    if isinstance(params, list):
        listed: list[Any] = params
        fields = [_checked_object(param) for param in listed]
        pairs = [(str(field.get("name")), str(field.get("value", ""))) for field in fields]
        return urlencode(pairs).encode(), False
    return b"", _number(request, "bodySize") > 0


def _body(text: str, encoding: object) -> bytes:
    if encoding == "base64":
        return base64.b64decode(text)
    # Some recorders write lone surrogates for bytes that are not text.
    return text.encode("utf-8", "replace")


def _headers(message: Object) -> tuple[tuple[str, str], ...]:
    """Return the headers of a message, without the pseudo-headers of HTTP/2."""
    raw = message.get("headers")
    listed: list[Any] = raw if isinstance(raw, list) else []
    headers = map(_checked_object, listed[:MAX_HEADERS])
    pairs = [(header.get("name"), header.get("value")) for header in headers]
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
        raise ValueError("its 'startedDateTime' is not a time of ISO 8601") from None


def _checked_object(value: Any) -> Object:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return cast("Object", value)


def _object(value: Mapping[str, Any] | Any, name: str) -> Object | None:
    member: Any = cast("Object", value).get(name) if isinstance(value, dict) else None
    return cast("Object", member) if isinstance(member, dict) else None


def _text(value: Object, name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise TypeError(f"it has no text {name!r}")
    return text


def _number(value: Object, name: str) -> int:
    number = value.get(name)
    return number if isinstance(number, int) else 0
