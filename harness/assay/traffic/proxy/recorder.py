"""Recorder of exchanges to a HAR file that can be read at any moment.

The end of the file is written after each entry, and the next entry overwrites it: a process that is
killed leaves a whole record of what was over by then. An existing file is never overwritten. Only
its owner can read the file, for it has customers' data.
"""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import TextIO
from urllib.parse import parse_qsl, urlsplit

import harfile

from assay import __version__
from assay.errors import InputError
from assay.traffic.proxy.masking import Headers, SecretMasker
from assay.traffic.proxy.messages import MOST, first, unpacked

__all__ = ["BodySample", "HarRecorder", "PassedExchange"]

#: What ends a HAR file after an entry, as the library writes it.
END = "\n        ]\n    }\n}"


@dataclass(slots=True)
class BodySample:
    """A body that passes by: its first bytes, and its whole size in bytes."""

    data: bytearray = field(default_factory=bytearray)
    size: int = 0

    def take(self, part: bytes) -> bytes:
        """Keep what is not too much of a part, and give it on."""
        self.data += part[: MOST - len(self.data)]
        self.size += len(part)
        return part


@dataclass(slots=True, kw_only=True)
class PassedExchange:
    """A request that came, and what became of it.

    `url` is the upstream's; spans are in seconds. `status` is 0 where the upstream gave
    no answer, and `trouble` says why; it is also set where an answer broke off.
    """

    started: datetime
    method: str
    url: str
    version: str
    asked: Headers
    sent: BodySample = field(default_factory=BodySample)
    status: int = 0
    reason: str = ""
    answered: Headers = ()
    received: BodySample = field(default_factory=BodySample)
    sending: float = 0.0
    waiting: float = 0.0
    receiving: float = 0.0
    trouble: str = ""


class HarRecorder:
    """A HAR file that grows; used by several threads.

    Raises:
        InputError: the file is there already, or cannot be made.

    """

    def __init__(self, path: Path) -> None:
        try:
            number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            hint = "name another: a record is never written over"
            raise InputError.one(str(path), "this file exists already", hint=hint) from None
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise InputError.one(str(path), what, hint="is the path right?") from None
        self.exchanges = 0
        self._secrets = SecretMasker()
        self._lock = Lock()
        self._file: TextIO = os.fdopen(number, "w+", encoding="utf-8", newline="\n")
        maker = harfile.Creator(name="assay proxy", version=__version__)
        self._har = harfile.HarFile(self._file, creator=maker)
        self._end = 0

    def add(self, one: PassedExchange) -> None:
        """Write an exchange; what comes after the end is left out."""
        started = one.started.astimezone(UTC).isoformat(timespec="milliseconds")
        spans = [round(1000 * span, 3) for span in (one.sending, one.waiting, one.receiving)]
        request, response = self._request(one), self._response(one)
        with self._lock:
            if self._har.closed:
                return
            self._cut()
            self._har.add_entry(
                startedDateTime=started.replace("+00:00", "Z"),
                time=round(sum(spans), 3),
                request=request,
                response=response,
                timings=harfile.Timings(send=spans[0], wait=spans[1], receive=spans[2]),
                comment=one.trouble or None,
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
                self._cut()
                self._har.close()
                self._file.close()

    def _cut(self) -> None:
        """Take the end away that stands there in case that nothing follows."""
        self._file.seek(self._end)
        self._file.truncate()

    def _request(self, one: PassedExchange) -> harfile.Request:
        url = self._secrets.parameters(one.url)
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
        headers = self._secrets.headers(one.asked)
        posted = None
        if one.sent.size:
            media_type = first(one.asked, "content-type")
            data, note = unpacked(bytes(one.sent.data), first(one.asked, "content-encoding"), MOST)
            text = self._secrets.body(data.decode("utf-8", "replace"), media_type)
            note = note or _cut_off(one.sent, data)
            posted = harfile.PostData(mimeType=media_type, text=text, comment=note or None)
        return harfile.Request(
            method=one.method,
            url=url,
            httpVersion=one.version,
            headers=_named(headers),
            queryString=[harfile.Record(name=name, value=value) for name, value in pairs],
            postData=posted,
            bodySize=one.sent.size,
        )

    def _response(self, one: PassedExchange) -> harfile.Response:
        headers = self._secrets.headers(one.answered)
        return harfile.Response(
            status=one.status,
            statusText=one.reason or _phrase(one.status),
            httpVersion=one.version,
            headers=_named(headers),
            content=self._content(one),
            redirectURL=first(headers, "location"),
            bodySize=one.received.size if one.status else -1,
        )

    def _content(self, one: PassedExchange) -> harfile.Content:
        media_type = first(one.answered, "content-type")
        if not one.received.size:
            return harfile.Content(size=0, mimeType=media_type)
        coding = first(one.answered, "content-encoding")
        data, note = unpacked(bytes(one.received.data), coding, MOST)
        note = note or _cut_off(one.received, data)
        size = len(data) if coding else one.received.size
        content = harfile.Content(size=size, mimeType=media_type, comment=note or None)
        try:
            # What was cut off may end within a character.
            text = data.decode(errors="ignore" if len(data) == MOST else "strict")
            content.text = self._secrets.body(text, media_type)
        except UnicodeDecodeError:
            content.text, content.encoding = b64encode(data).decode(), "base64"
        return content


def _named(headers: Headers) -> list[harfile.Record]:
    return [harfile.Record(name=name, value=value) for name, value in headers]


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""


def _cut_off(kept: BodySample, data: bytes) -> str:
    cut = kept.size > len(kept.data) or len(data) == MOST
    return f"cut off after {MOST // 1024 // 1024} MiB" if cut else ""
