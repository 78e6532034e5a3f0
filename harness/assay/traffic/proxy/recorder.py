"""Recorder of exchanges to a HAR file that is complete at any moment, without secrets.

The end of the file is written after each entry, and the next entry overwrites it: the file of a
process that is killed has every exchange that was over by then. An existing file is never
overwritten. Only its owner can read it, because it has customers' data.

Each secret becomes a pseudonym, always the same one, so that callers can be distinguished and an
issued token is recognised where it is used. Secrets are found by the names under which they are
sent. Other private data stay: without them nothing could be judged.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import TextIO
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import harfile

from assay import __version__
from assay.errors import InputError
from assay.traffic.proxy.messages import MAX_BODY, Headers, decompress, first_header

__all__ = ["BodySample", "HarRecorder", "ProxiedExchange"]

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

    Raises:
        InputError: the file exists, or cannot be created.

    """

    def __init__(self, path: Path) -> None:
        try:
            number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            hint = "choose another name; recordings are never overwritten"
            raise InputError.one(str(path), "this file exists already", hint=hint) from None
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise InputError.one(str(path), what, hint="is the path right?") from None
        self.exchanges = 0
        self._secrets = SecretMasker()
        self._lock = Lock()
        self._file: TextIO = os.fdopen(number, "w+", encoding="utf-8", newline="\n")
        creator = harfile.Creator(name="assay proxy", version=__version__)
        self._har = harfile.HarFile(self._file, creator=creator)
        self._end = 0

    def add(self, exchange: ProxiedExchange) -> None:
        """Write an exchange; nothing is written once the file is closed."""
        started = exchange.started.astimezone(UTC).isoformat(timespec="milliseconds")
        seconds = (exchange.sending, exchange.waiting, exchange.receiving)
        spans = [round(1000 * span, 3) for span in seconds]
        request, response = self._request(exchange), self._response(exchange)
        with self._lock:
            if self._har.closed:
                return
            self._remove_end()
            self._har.add_entry(
                startedDateTime=started.replace("+00:00", "Z"),
                time=round(sum(spans), 3),
                request=request,
                response=response,
                timings=harfile.Timings(send=spans[0], wait=spans[1], receive=spans[2]),
                comment=exchange.failure or None,
            )
            self._file.flush()
            self._end = self._file.tell()
            self._file.write(END)
            self._file.flush()
            self.exchanges += 1

    def close(self) -> None:
        """End the file."""
        with self._lock:
            if not self._har.closed:
                self._remove_end()
                self._har.close()
                self._file.close()

    def _remove_end(self) -> None:
        """Remove the end that was written in case no entry followed."""
        self._file.seek(self._end)
        self._file.truncate()

    def _request(self, exchange: ProxiedExchange) -> harfile.Request:
        url = self._secrets.parameters(exchange.url)
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
        headers, sample = exchange.request_headers, exchange.request_body
        posted = None
        if sample.size:
            media_type = first_header(headers, "content-type")
            data, note = decompress(bytes(sample.data), first_header(headers, "content-encoding"))
            text = self._secrets.body(data.decode("utf-8", "replace"), media_type)
            note = note or _cut_off(sample, data)
            posted = harfile.PostData(mimeType=media_type, text=text, comment=note or None)
        return harfile.Request(
            method=exchange.method,
            url=url,
            httpVersion=exchange.version,
            headers=_records(self._secrets.headers(headers)),
            queryString=_records(pairs),
            postData=posted,
            bodySize=sample.size,
        )

    def _response(self, exchange: ProxiedExchange) -> harfile.Response:
        headers = self._secrets.headers(exchange.response_headers)
        known = exchange.status in set(HTTPStatus)
        return harfile.Response(
            status=exchange.status,
            statusText=exchange.reason or (HTTPStatus(exchange.status).phrase if known else ""),
            httpVersion=exchange.version,
            headers=_records(headers),
            content=self._content(exchange),
            redirectURL=first_header(headers, "location"),
            bodySize=exchange.response_body.size if exchange.status else -1,
        )

    def _content(self, exchange: ProxiedExchange) -> harfile.Content:
        headers, sample = exchange.response_headers, exchange.response_body
        media_type = first_header(headers, "content-type")
        if not sample.size:
            return harfile.Content(size=0, mimeType=media_type)
        coding = first_header(headers, "content-encoding")
        data, note = decompress(bytes(sample.data), coding)
        note = note or _cut_off(sample, data)
        size = len(data) if coding else sample.size
        content = harfile.Content(size=size, mimeType=media_type, comment=note or None)
        try:
            # A body that was cut off may end within a character.
            text = data.decode(errors="ignore" if len(data) == MAX_BODY else "strict")
            content.text = self._secrets.body(text, media_type)
        except UnicodeDecodeError:
            content.text, content.encoding = b64encode(data).decode(), "base64"
        return content


def _records(pairs: Headers | list[tuple[str, str]]) -> list[harfile.Record]:
    return [harfile.Record(name=name, value=value) for name, value in pairs]


def _cut_off(sample: BodySample, data: bytes) -> str:
    cut = sample.size > len(sample.data) or len(data) == MAX_BODY
    return f"cut off after {MAX_BODY // 1024 // 1024} MiB" if cut else ""


#: Members and parameters that hold a secret, with the kind of secret.
_SECRET_NAMES = {
    "access_token": "token",
    "refresh_token": "token",
    "id_token": "token",
    "client_secret": "secret",
    "client_assertion": "secret",
    "code_verifier": "secret",
    "code": "code",
    "password": "password",
    "passwd": "password",
    "pin": "password",
    "otp": "code",
    "api_key": "key",
    "apikey": "key",
}
#: `code` is a secret in a form and in a URL; in JSON it is the name of an error.
_MEMBER = re.compile(
    rf'("({"|".join(name for name in _SECRET_NAMES if name != "code")})"\s*:\s*)("(?:[^"\\]|\\.)*")',
    re.IGNORECASE,
)
_PARAMETER = re.compile(rf"((?:^|[?&#])({'|'.join(_SECRET_NAMES)})=)([^&#\s>;\"]+)", re.IGNORECASE)
#: Headers that hold a secret, to judge by their names.
_SECRET_HEADER = re.compile(r"api[-_]?key|secret|token|passw", re.IGNORECASE)
#: Headers that may contain a URL.
_URL_HEADERS = frozenset({"location", "referer", "link", "content-location"})
#: Authorization schemes whose value is no secret: a signature covers one request only.
_PUBLIC_SCHEMES = frozenset({"signature"})
FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class SecretMasker:
    """Replaces secrets by pseudonyms; used by several threads."""

    _known: dict[str, str] = field(default_factory=dict[str, str])
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _lock: Lock = field(default_factory=Lock)

    def pseudonym(self, value: str, kind: str) -> str:
        """Return the pseudonym of a secret, such as `<token-1>`."""
        with self._lock:
            if value not in self._known:
                self._counts[kind] = self._counts.get(kind, 0) + 1
                self._known[value] = f"<{kind}-{self._counts[kind]}>"
            return self._known[value]

    def headers(self, headers: Headers) -> Headers:
        """Return headers with their secrets masked."""
        return tuple((name, self._header(name.lower(), value)) for name, value in headers)

    def _header(self, name: str, value: str) -> str:
        if name == "authorization":
            return self._authorization(value)
        if name == "cookie":
            return "; ".join(self._cookie(pair.strip()) for pair in value.split(";"))
        if name == "set-cookie":
            pair, separator, attributes = value.partition(";")
            return self._cookie(pair.strip()) + separator + attributes
        if _SECRET_HEADER.search(name):
            return self.pseudonym(value, "key")
        return self.parameters(value) if name in _URL_HEADERS else value

    def _authorization(self, value: str) -> str:
        scheme, _, secret = value.strip().partition(" ")
        if not secret:
            return self.pseudonym(value, "token")
        if scheme.lower() in _PUBLIC_SCHEMES:
            return value
        kind = "credentials" if scheme.lower() == "basic" else "token"
        return f"{scheme} {self.pseudonym(secret.strip(), kind)}"

    def _cookie(self, pair: str) -> str:
        name, separator, value = pair.partition("=")
        return f"{name}={self.pseudonym(value, 'cookie')}" if separator else pair

    def parameters(self, text: str) -> str:
        """Return a URL, a query or a form with its secrets masked."""

        def hide(match: re.Match[str]) -> str:
            kind = _SECRET_NAMES[match[2].lower()]
            return match[1] + self.pseudonym(unquote_plus(match[3]), kind)

        return _PARAMETER.sub(hide, text)

    def body(self, text: str, media_type: str) -> str:
        """Return a body with its secrets masked: a form, or anything like JSON."""
        if media_type.partition(";")[0].strip().lower() == FORM:
            return self.parameters(text)

        def hide(match: re.Match[str]) -> str:
            try:
                value = json.loads(match[3], strict=False)
            except ValueError:
                value = match[3]
            return match[1] + json.dumps(self.pseudonym(value, _SECRET_NAMES[match[2].lower()]))

        return _MEMBER.sub(hide, text)
