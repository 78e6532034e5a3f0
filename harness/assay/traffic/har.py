"""Reader of HAR 1.2 files, as browsers and proxies write them.

Writers differ: bodies are text or base64, or are left out; header names have any case, and there are
those of HTTP/2; a response may come from a cache, or never. What is missing is read as missing. Every
size is bounded but that of the file, which is read entry by entry.
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
from assay.report.journal_exchanges import RUN_CONNECTION
from assay.rules.state.calendar import as_written, leaves_room
from assay.traffic.json_stream import JsonStream, StreamError
from assay.traffic.recorded_entries import RecordedEntries, RecordedEntry

#: The largest body, in bytes.
MAX_BODY = 4 * 1024 * 1024
#: How many headers of a message are read.
MAX_HEADERS = 256
#: Reasons why a response is unknown.
NO_BODY = "the recording does not have the body of the response"
NO_RESPONSE = "the recording has no response"
#: How the comment of a body begins of which a recorder kept only the beginning.
CUT_OFF = "cut off"
#: How the comment of a body begins that `assay proxy` did not record, because it is not JSON.
WITHHELD = "withheld: "
#: The valid statuses, and the longest duration of a call in milliseconds.
STATUSES, MAX_DURATION = range(100, 1000), 1e9
#: The most digits of a length.
MAX_DIGITS = 16
#: Methods whose requests have a body, unless they say that it is empty.
BODIED = frozenset({"PUT", "POST", "PATCH"})
#: Statuses whose responses have no body.
BODILESS = frozenset({204, 205, 304})
HINT = "a HAR file is a JSON object with the key 'log', as written by browsers and `assay proxy`"

Object = dict[str, Any]


def read_har(path: Path, zone: ZoneInfo | None = None) -> RecordedEntries:
    """Read a HAR file; a time without an offset is read in `zone`, or in UTC.

    The messages are kept in a temporary file.

    Raises:
        InputError: it is not HAR 1.2, or cannot be read.

    """
    recorded = RecordedEntries()
    try:
        with path.open("rb") as stream:
            for number, entry in enumerate(JsonStream(stream).read_list("log", "entries"), 1):
                _check_recorded(path, entry)
                try:
                    for each in _entry(entry, zone):
                        recorded.append(each)
                except (ValueError, TypeError, OverflowError) as error:
                    what = f"entry {number} of the log cannot be read: {error}"
                    raise InputError.one(str(path), what, hint=HINT) from None
    except OSError as error:
        raise InputError.one(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError.one(str(path), "not UTF-8", hint=HINT) from None
    except StreamError as error:
        broken = error.what.startswith("not JSON: ")
        hint = "a HAR file is JSON; is the file complete? some recorders write the end of the file when they are closed"
        raise InputError.one(
            str(path), error.what, line=error.line, hint=hint if broken else HINT
        ) from None
    return recorded


def _check_recorded(path: Path, entry: Any) -> None:
    """Check that an entry was recorded, and not made from a journal, which has no credentials.

    Raises:
        InputError: it was; its customers could not be told apart.

    """
    connection: object = entry.get("connection") if isinstance(entry, dict) else None
    if isinstance(connection, str) and connection.startswith(RUN_CONNECTION):
        what = "made from the journal of a run, in which customers cannot be distinguished"
        raise InputError.one(str(path), what, hint="judge the journal instead: journal.jsonl")


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
    at, zoned = _moment(_text(entry, "startedDateTime"), zone)
    yield RecordedEntry(
        at=at,
        zoned=zoned,
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
    content = _object(response, "content") or {}
    wire = replace(wire, status=status, headers=_response_headers(response, content))
    comment = str(content.get("comment") or "")
    if comment.startswith(WITHHELD):
        # It says nothing but that it is no JSON; two bodies differ as their digests do.
        return replace(wire, body=comment.encode("utf-8", "replace")), ""
    size = max(_number(content, "size"), _number(response, "bodySize"))
    announced = _announced(wire.header("content-length"))
    text = content.get("text")
    if not isinstance(text, str) or not text:
        # Recorders write 0 and -1 for "none" and for "unknown" alike.
        said = text == "" and size == 0
        none = size <= 0 and (said or wire.media_type == "") and not announced
        return wire, "" if status in BODILESS or none or announced == 0 else NO_BODY
    body = _body(text, content.get("encoding"))
    if _is_cut_off(content):
        return replace(wire, body=body[:MAX_BODY], truncated=True), ""
    packed = wire.header("content-encoding") is not None
    whole = {size} if packed else {size, announced}
    if (_is_shorter(body, text, size) or len(body) not in whole) and not _is_json(body):
        return wire, NO_BODY
    return replace(wire, body=body[:MAX_BODY], truncated=len(body) > MAX_BODY), ""


def _response_headers(response: Object, content: Object) -> tuple[tuple[str, str], ...]:
    """Return the headers of a response; its media type may be recorded apart from them."""
    headers = _headers(response)
    kind = content.get("mimeType")
    if not isinstance(kind, str) or "/" not in kind:
        return headers
    named = any(name.lower() == "content-type" for name, _ in headers)
    return headers if named else (*headers, ("Content-Type", kind))


def _announced(length: str | None) -> int | None:
    """Return what a `Content-Length` says, if it is there."""
    length = (length or "").strip()
    return (
        int(length) if length.isascii() and length.isdigit() and len(length) < MAX_DIGITS else None
    )


def _is_shorter(body: bytes, text: str, size: int) -> bool:
    """Whether a recorded body is shorter than it was, by whatever a recorder counts."""
    return max(len(body), len(text)) < size


def _is_json(body: bytes) -> bool:
    """Whether a body is an object or a list of JSON, which no part of one is.

    It may have another length than it was sent with: recorders replace private texts.
    """
    try:
        return isinstance(json.loads(body), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_cut_off(part: Object) -> bool:
    return str(part.get("comment") or "").startswith(CUT_OFF)


def _request_body(request: Object) -> tuple[bytes, bool]:
    """Return the body of a request, and whether there was one that is not recorded as a whole."""
    posted = _object(request, "postData") or {}
    text, params = posted.get("text"), posted.get("params")
    lengths = [value for name, value in _headers(request) if name.lower() == "content-length"]
    announced = _announced(lengths[0]) if lengths else None
    size = max(_number(request, "bodySize"), announced or 0)
    if _is_cut_off(posted):
        return b"", True
    if isinstance(text, str) and text:
        body = _body(text, posted.get("encoding") or posted.get("_encoding"))
        return body, len(body) != size and not _is_json(body)
    if isinstance(params, list) and params:
        listed: list[Any] = params
        fields = [_checked_object(param) for param in listed]
        pairs = [(str(field.get("name")), str(field.get("value", ""))) for field in fields]
        return urlencode(pairs).encode(), False
    writes = str(request.get("method")).upper() in BODIED
    known = announced is not None or request.get("bodySize") == 0
    return b"", size > 0 or (writes and not known)


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


def _moment(text: str, zone: ZoneInfo | None) -> tuple[datetime, bool]:
    """Return an instant, and whether its text has an offset."""
    try:
        moment = datetime.fromisoformat(text)
        zoned = moment.tzinfo is not None
        moment = (moment if zoned else as_written(moment, zone or UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("its 'startedDateTime' is not a time of ISO 8601") from None
    if not leaves_room(moment):
        raise ValueError("its 'startedDateTime' is centuries away from any recording")
    return moment, zoned


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
