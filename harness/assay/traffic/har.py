"""Reader of HAR 1.2 files, as browsers and proxies write them.

Writers differ: bodies are text or base64, or are left out; header names have any case, and there are
those of HTTP/2; a response may come from a cache, or never. What is missing is read as missing. Every
size is bounded but that of the file, which is read entry by entry.
"""

from __future__ import annotations

import base64
import codecs
import json
import os
import pickle
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias, cast
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from assay.errors import InputError
from assay.history import Wire
from assay.report.journal_exchanges import RUN_CONNECTION
from assay.rules.state.calendar import as_written, leaves_room

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEntry:
    """A recorded request with its response; `ms` are milliseconds.

    `lost` says why the response is unknown, `body_lost` that the body of the request is missing,
    `zoned` that the time has an offset.
    """

    at: datetime
    wire: Wire
    ms: float = 0.0
    lost: str = ""
    body_lost: bool = False
    zoned: bool = True


def read_har(path: Path, zone: ZoneInfo | None = None) -> list[RecordedEntry]:
    """Read a HAR file; a time without an offset is read in `zone`, or in UTC.

    The messages are kept in a temporary file.

    Raises:
        InputError: it is not HAR 1.2, or cannot be read.

    """
    recorded: list[RecordedEntry] = []
    messages = WireStore()
    try:
        with path.open("rb") as stream:
            for number, entry in enumerate(JsonStream(stream).read_list("log", "entries"), 1):
                _check_recorded(path, entry)
                try:
                    read = _entry(entry, zone)
                    recorded += [replace(each, wire=messages.keep(each.wire)) for each in read]
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


# -- Messages of a recording, in a temporary file ------------------------------------------------
# A recording is larger than memory, and its headers and bodies are most of it. What every rule reads
# of a message (method, status) stays in memory.
#: The parts of a message that are in the file.
_STORED = ("url", "request_headers", "request_body", "headers", "body")


class WireStore:
    """A temporary file without a name, which is gone when nothing refers to it any more."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the store
        self._last: tuple[int, Mapping[str, Any]] = (-1, {})
        weakref.finalize(self, self._file.close)

    def keep(self, wire: Wire) -> StoredWire:
        """Return a message that is equal to another one, and is in the file.

        Raises:
            OSError: the disk is full.

        """
        place, parts = (
            self._file.seek(0, os.SEEK_END),
            {name: getattr(wire, name) for name in _STORED},
        )
        pickle.dump(parts, self._file)
        self._last = place, parts
        return StoredWire.at(self, place, wire, wire.links)

    def read(self, place: int) -> Mapping[str, Any]:
        """Return the parts of a message; the last one is at hand."""
        if self._last[0] != place:
            self._file.seek(place)
            self._last = place, pickle.load(self._file)  # noqa: S301 -- written by this process
        return self._last[1]


class StoredWire(Wire):
    """A message in a `WireStore`: what is not set is read from the file. `replace` sets all."""

    __slots__ = ("_place", "_store")

    _store: WireStore
    _place: int

    @classmethod
    def at(cls, store: WireStore, place: int, wire: Wire, links: tuple[str, ...]) -> StoredWire:
        """Return the message at a place of a store; `wire` has what is not in the file."""
        stored = object.__new__(cls)
        for name, value in (
            *(("_store", store), ("_place", place), ("method", wire.method)),
            *(("status", wire.status), ("truncated", wire.truncated), ("links", links)),
        ):
            object.__setattr__(stored, name, value)
        return stored

    def __getattr__(self, name: str) -> Any:
        """Return a part that is in the file."""
        if name not in _STORED:
            raise AttributeError(name)
        return self._store.read(self._place)[name]

    def with_links(self, links: tuple[str, ...]) -> StoredWire:
        """Return this message with the links in its response."""
        return self.at(self._store, self._place, self, links)


# -- Reader of one list in a large JSON document, member by member, in bounded memory ------------
# The list is a member of a member of the document, such as `log.entries`. Everything else is parsed
# as well, one value at a time, so that a document that is no JSON is refused wherever it is broken.
#: How many bytes are read at once.
CHUNK = 1024 * 1024
#: The longest single value (an entry of the log), in characters.
MAX_VALUE = 128 * 1024 * 1024
#: The error of a value that is cut off is this near to the end of what was read.
_NEAR = 16
#: What may follow the digits of a number that is cut off, in characters.
_TAIL = 2
_SPACE = " \t\n\r"
_UNENDED = "Unterminated string"
#: Takes a value at a place, and returns it with the place behind it.
_Scan: TypeAlias = Callable[[str, int], tuple[Any, int]]


class StreamError(ValueError):
    """The document is not what it must be: what is wrong, and the line, or 0."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line


@dataclass(slots=True)
class JsonStream:
    """The rest of a document: text that was read, a place in it, and the file behind it.

    `lines` are the line breaks before the text.
    """

    stream: BinaryIO
    text: str = ""
    place: int = 0
    ended: bool = False
    lines: int = 0
    size: int = CHUNK
    _scan: _Scan = field(default_factory=lambda: json.JSONDecoder().raw_decode)
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8-sig")
    )

    def read_list(self, outer: str, inner: str) -> Iterator[Any]:
        """Yield the members of the list at `outer` and `inner`, each as soon as it was read.

        Raises:
            StreamError: it is no JSON, or has no such list.
            UnicodeDecodeError: it is not UTF-8.

        """
        if self._next() != "{":
            self._value()
            self._finish()
            raise StreamError(f"no {outer!r} in this file")
        objects = lists = 0
        for name in self._names():
            if name != outer or self._next() != "{":
                self._value()
                continue
            objects += 1
            if objects > 1:
                self._refuse(f"a second {outer!r} in this file")
            for member in self._names():
                if member != inner or self._next() != "[":
                    self._value()
                    continue
                lists += 1
                if lists > 1:
                    self._refuse(f"a second '{outer}.{inner}' in this file")
                yield from self._members()
        self._finish()
        if not objects:
            raise StreamError(f"no {outer!r} in this file")
        if not lists:
            raise StreamError(f"no list '{outer}.{inner}' in this file")

    def _names(self) -> Iterator[str]:
        """Yield the names of an object; its caller takes each value."""
        self.place += 1
        if self._next() == "}":
            self.place += 1
            return
        while True:
            if self._next() != '"':
                self._broken("Expecting property name enclosed in double quotes")
            name: str = self._value()
            if self._next() != ":":
                self._broken("Expecting ':' delimiter")
            self.place += 1
            yield name
            if not self._goes_on("}"):
                return

    def _members(self) -> Iterator[Any]:
        self.place += 1
        if self._next() == "]":
            self.place += 1
            return
        while True:
            yield self._value()
            if not self._goes_on("]"):
                return

    def _goes_on(self, end: str) -> bool:
        sign = self._next()
        if sign not in {",", end}:
            self._broken("Expecting ',' delimiter")
        self.place += 1
        return sign == ","

    def _next(self) -> str:
        """Return the next sign that is no space, without taking it; "" at the end."""
        while True:
            while self.place < len(self.text):
                sign = self.text[self.place]
                if sign not in _SPACE:
                    return sign
                self.place += 1
            if not self._more():
                return ""

    def _value(self) -> Any:
        """Take one value; read on until it is there as a whole."""
        self._next()
        while True:
            try:
                value, end = self._scan(self.text, self.place)
            except json.JSONDecodeError as error:
                near = error.pos >= len(self.text) - _NEAR or error.msg.startswith(_UNENDED)
                if near and self._more():
                    continue
                self._broken(error.msg, error.lineno)
            except RecursionError:
                self._refuse("not JSON that can be read")
            except ValueError:  # a number beyond all limits
                self._refuse("not JSON that can be read")
            # A number at the end of the text may go on behind it, also as `1.` or `1e+`.
            unended = isinstance(value, int | float) and len(self.text) - end <= _TAIL
            if unended and self._more():
                continue
            self.place = end
            self.size = CHUNK
            return value

    def _more(self) -> bool:
        """Read on; return whether there is more. What was taken is dropped."""
        if self.ended:
            return False
        self.lines += self.text.count("\n", 0, self.place)
        rest = self.text[self.place :]
        if len(rest) > MAX_VALUE:
            self._refuse(f"one value is longer than {MAX_VALUE // 1024 // 1024} MiB")
        part = self.stream.read(self.size)
        self.size = max(self.size, len(rest))  # a long value is not scanned again and again
        self.ended = not part
        self.text, self.place = rest + self._decoder.decode(part, final=self.ended), 0
        return True

    def _finish(self) -> None:
        if self._next():
            self._broken("Extra data")

    def _broken(self, what: str, line: int = 0) -> NoReturn:
        here = line or self.text.count("\n", 0, self.place) + 1
        raise StreamError(f"not JSON: {what}", self.lines + here)

    def _refuse(self, what: str) -> NoReturn:
        raise StreamError(what, self.lines + self.text.count("\n", 0, self.place) + 1)
