"""Recorder of exchanges to a HAR file that is complete at any moment, without secrets.

The end of the file is written with each entry, and the next entry overwrites it: the file of a
process that is killed has every exchange that was over by then. An existing file is never
overwritten. Only its owner can read it, because it has customers' data.

`masking` replaces the secrets by pseudonyms before anything is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from base64 import b64encode
from binascii import Error, a2b_base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qsl, urlsplit

import harfile

from assay import __version__
from assay.errors import InputError
from assay.journal.redact.known_values import SHORTEST, KnownValues, replaced
from assay.journal.redact.secret_positions import headers as masked_headers
from assay.journal.redact.secret_positions import (
    json_members,
    json_strings,
    labelled,
    markup,
    may_have_secrets,
    parameters,
)
from assay.traffic.proxy.messages import MAX_BODY, Headers, decompress, first_header

__all__ = [
    "FORM",
    "BodySample",
    "HarMasker",
    "HarRecorder",
    "MaskedBody",
    "MaskedMessages",
    "ProxiedExchange",
]

#: How the note on a body begins of which only the beginning is kept.
CUT_OFF = "cut off"
#: The end of a HAR file after an entry, as the library writes it.
END = "\n        ]\n    }\n}"


@dataclass(slots=True)
class BodySample:
    """A body that passes through: its first bytes, and its whole size in bytes."""

    data: bytearray = field(default_factory=bytearray)
    size: int = 0

    def take(self, part: bytes) -> bytes:
        """Keep as much of a part as fits the bound, and return the whole part."""
        self.data += part[: MAX_BODY - len(self.data)]
        self.size += len(part)
        return part


@dataclass(slots=True, kw_only=True)
class ProxiedExchange:
    """A request of the client with the response of the upstream.

    `url` is the upstream's; `sending`, `waiting` and `receiving` are seconds. `status` is 0 if the
    upstream did not answer. `failure` says why, and also why a response is incomplete.
    """

    started: datetime
    method: str
    url: str
    version: str
    request_headers: Headers
    request_body: BodySample = field(default_factory=BodySample)
    status: int = 0
    reason: str = ""
    response_headers: Headers = ()
    response_body: BodySample = field(default_factory=BodySample)
    sending: float = 0.0
    waiting: float = 0.0
    receiving: float = 0.0
    failure: str = ""


class HarRecorder:
    """A HAR file that grows; used by several threads.

    `keep_bodies` keeps bodies that cannot be read for secrets.

    Raises:
        InputError: the file exists, or cannot be created.

    """

    def __init__(self, path: Path, *, keep_bodies: bool = False) -> None:
        try:
            self._file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            hint = "choose another name; recordings are never overwritten"
            raise InputError.one(str(path), "this file already exists", hint=hint) from None
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise InputError.one(str(path), what, hint="check the path") from None
        self.exchanges = 0
        self._masker = HarMasker(keep_bodies=keep_bodies)
        self._lock = Lock()
        #: What is to be written next, and where.
        self._next, self._end = StringIO(), 0
        creator = harfile.Creator(name="assay proxy", version=__version__)
        self._har = harfile.HarFile(self._next, creator=creator)

    def add(self, exchange: ProxiedExchange) -> None:
        """Write an exchange; nothing is written once the file is closed."""
        started = exchange.started.astimezone(UTC).isoformat(timespec="milliseconds")
        seconds = (exchange.sending, exchange.waiting, exchange.receiving)
        spans = [round(1000 * span, 3) for span in seconds]
        masked = self._masker.mask(exchange)
        request, response = _request(exchange, masked), _response(exchange, masked)
        with self._lock:
            if self._har.closed:
                return
            self._har.add_entry(
                startedDateTime=started.replace("+00:00", "Z"),
                time=round(sum(spans), 3),
                request=request,
                response=response,
                timings=harfile.Timings(send=spans[0], wait=spans[1], receive=spans[2]),
                comment=masked.failure or None,
            )
            self._write(end=END)
            self.exchanges += 1

    def close(self) -> None:
        """End the file."""
        with self._lock:
            if not self._har.closed:
                self._har.close()
                self._write()
                os.close(self._file)

    def _write(self, end: str = "") -> None:
        """Write what is next over the former end, and the end behind it, all at once."""
        data, ending = self._next.getvalue().encode(), end.encode()
        os.pwrite(self._file, data + ending, self._end)
        self._end += len(data)
        self._next.seek(0)
        self._next.truncate()


def _request(exchange: ProxiedExchange, masked: MaskedMessages) -> harfile.Request:
    pairs = parse_qsl(urlsplit(masked.url).query, keep_blank_values=True)
    sample, body = exchange.request_body, masked.request_body
    posted = None
    if sample.size:
        posted = harfile.PostData(
            mimeType=first_header(masked.request_headers, "content-type"),
            text=body.text,
            comment=body.note or None,
        )
    return harfile.Request(
        method=exchange.method,
        url=masked.url,
        httpVersion=exchange.version,
        headers=_records(masked.request_headers),
        queryString=_records(pairs),
        postData=posted,
        bodySize=sample.size,
    )


def _response(exchange: ProxiedExchange, masked: MaskedMessages) -> harfile.Response:
    known = exchange.status in set(HTTPStatus)
    body = masked.response_body
    content = harfile.Content(
        size=body.size,
        mimeType=first_header(masked.response_headers, "content-type"),
        text=body.text or None,
        encoding="base64" if body.packed else None,
        comment=body.note or None,
    )
    return harfile.Response(
        status=exchange.status,
        statusText=masked.reason or (HTTPStatus(exchange.status).phrase if known else ""),
        httpVersion=exchange.version,
        headers=_records(masked.response_headers),
        content=content,
        redirectURL=first_header(masked.response_headers, "location"),
        bodySize=exchange.response_body.size if exchange.status else -1,
    )


def _records(pairs: Headers | list[tuple[str, str]]) -> list[harfile.Record]:
    return [harfile.Record(name=name, value=value) for name, value in pairs]


# -- Masking of the exchanges that the proxy records: secrets by position and by value -----------
# What stands under a secret's name becomes a pseudonym, such as `<token-1>`, always the same one; so
# callers can be distinguished, and an issued token is recognised where it is used. The same values
# are then masked wherever else they occur, in any encoding. JSON and forms can be read for names;
# a body of another kind is withheld, unless the user keeps it: then it is masked as well as its
# text allows. Other private data stay: without them nothing could be judged.
FORM = "application/x-www-form-urlencoded"
#: How many values are searched for anywhere; earlier ones only as whole words.
MAX_CURRENT = 200
#: The kinds of values that are often no secrets, and how long one is that surely is one.
OFTEN_SETTINGS = {"cookie": 8, "field": 16, "session": 8, "key": 6}
#: Words and numbers that are searched for nowhere, though they stand under a secret's name.
_ORDINARY = re.compile(r"true|false|none|null|\d{1,3}|<[a-z-]+-\d+>", re.IGNORECASE)
_CHARSET = re.compile(r"charset=\"?([\w-]{1,32})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedBody:
    """A body as it is recorded; `packed` says that the text is base64, `note` what is missing.

    `size` is that of the body without its compression, in bytes.
    """

    text: str = ""
    packed: bool = False
    note: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedMessages:
    """The parts of an exchange, masked."""

    url: str
    reason: str
    failure: str
    request_headers: Headers
    response_headers: Headers
    request_body: MaskedBody
    response_body: MaskedBody


@dataclass(slots=True, kw_only=True)
class HarMasker:
    """Replaces secrets by pseudonyms; used by several threads."""

    keep_bodies: bool = False
    values: KnownValues = field(default_factory=KnownValues)
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _lock: Lock = field(default_factory=Lock)

    def mask(self, exchange: ProxiedExchange) -> MaskedMessages:
        """Mask an exchange: all of it by position first, so that no value is still unknown."""
        with self._lock:
            if len(self.values.current) > MAX_CURRENT:
                self.values.begin()
            url = parameters(exchange.url, self.pseudonym)
            sent = masked_headers(exchange.request_headers, self._header_value)
            received = masked_headers(exchange.response_headers, self._header_value)
            sent_body = self._body(exchange.request_body, exchange.request_headers, answer=False)
            received_body = self._body(
                exchange.response_body, exchange.response_headers, answer=True
            )
            return MaskedMessages(
                url=self.text(url),
                reason=self.text(exchange.reason),
                failure=self.text(exchange.failure),
                request_headers=tuple((self.text(name), self.text(value)) for name, value in sent),
                response_headers=tuple(
                    (self.text(name), self.text(value)) for name, value in received
                ),
                request_body=sent_body(),
                response_body=received_body(),
            )

    def pseudonym(self, value: str, kind: str) -> str:
        """Return the pseudonym of a secret, and search for it from now on."""
        if value not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[value] = f"<{kind}-{self._counts[kind]}>"
        shortest = OFTEN_SETTINGS.get(kind, SHORTEST)
        if len(value) >= shortest and not _ORDINARY.fullmatch(value):
            self.values.add(value, self._names[value])
        return self._names[value]

    def _header_value(self, value: str, kind: str) -> str:
        """Return the pseudonym of a secret in a header; a Basic header has two more."""
        pseudonym = self.pseudonym(value, kind)
        if kind == "credentials":
            try:
                pair = a2b_base64(value.encode("ascii", "replace")).decode("utf-8", "replace")
            except Error:
                pair = ""
            if pair.partition(":")[2]:
                self.pseudonym(pair, kind)
                self.pseudonym(pair.partition(":")[2], "basic-secret")
        return pseudonym

    def text(self, text: str) -> str:
        """Return a text with every known secret masked."""
        return replaced(text, self.values.spans(text)) if text else text

    def _json(self, text: str) -> str:
        """Return JSON with every known secret masked; a number becomes a text."""
        return json_strings(text, self.text) if self.values.spans(text) else text

    def _body(
        self, sample: BodySample, headers: Headers, *, answer: bool
    ) -> Callable[[], MaskedBody]:
        """Mask a body by position; return what masks it by value."""
        if not sample.size:
            return MaskedBody
        coding, declared = (first_header(headers, f"content-{of}") for of in ("encoding", "type"))
        data, note = decompress(bytes(sample.data), coding)
        cut = not note and (sample.size > len(sample.data) or len(data) == MAX_BODY)
        if cut:
            note = f"{CUT_OFF} after {MAX_BODY // 1024 // 1024} MiB"
        body = MaskedBody(note=note, size=len(data) if coding else sample.size)
        if not data:
            return lambda: body
        media_type = declared.partition(";")[0].strip().lower()
        text, encoding = _decoded(data, declared, cut=cut)
        if text is not None and _is_json(text, cut=cut):
            masked = text
            if may_have_secrets(text):
                masked = json_members(text, self.pseudonym, answer=answer)
            return lambda: _recorded(body, self._json(masked), encoding)
        if text is not None and media_type == FORM:
            form = parameters(text, self.pseudonym)
            return lambda: _recorded(body, self.text(form), encoding)
        if not self.keep_bodies:
            kind = media_type[:60] if declared else "a body without a Content-Type"
            mark = hashlib.blake2b(data, digest_size=9, key=self._key).hexdigest()
            withheld = f"withheld: {kind}, digest {mark} (see assay proxy --keep-bodies)"
            notes = f"{note}; {withheld}" if note else withheld
            return lambda: replace(body, note=self.text(notes))
        kept = text if text is not None else data.decode("latin-1")
        if "<" in kept:
            kept = markup(kept, self.pseudonym)
        kept = labelled(parameters(kept, self.pseudonym), self.pseudonym)
        return lambda: _recorded(body, self.text(kept), encoding)


def _recorded(body: MaskedBody, text: str, encoding: str) -> MaskedBody:
    """Return a body with its masked text; one that was not UTF-8 keeps its bytes."""
    if encoding == "utf-8":
        return replace(body, text=text)
    return replace(body, text=b64encode(text.encode(encoding, "replace")).decode(), packed=True)


def _decoded(data: bytes, declared: str, *, cut: bool) -> tuple[str | None, str]:
    """Return a body as text, None if it is none, and its encoding."""
    charset = _CHARSET.search(declared)
    named = charset[1].lower() if charset else "utf-8"
    for encoding in (json.detect_encoding(data), named):
        try:
            # A body that was cut off may end within a character.
            text = data.decode(encoding, "ignore" if cut else "strict")
        except (UnicodeDecodeError, LookupError):
            continue
        return text, encoding
    return None, "latin-1"


def _is_json(text: str, *, cut: bool) -> bool:
    """Whether a text is JSON, or the beginning of an object or a list."""
    begun = text.lstrip()[:1] in {"{", "["}
    if cut:
        return begun
    try:
        json.loads(text)
    except RecursionError:
        return begun
    except ValueError:
        return False
    return True
