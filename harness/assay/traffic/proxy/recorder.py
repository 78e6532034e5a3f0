"""Recorder of exchanges to a HAR file that is complete at any moment, without secrets.

The end of the file is written after each entry, and the next entry overwrites it: the file of a
process that is killed has every exchange that was over by then. An existing file is never
overwritten. Only its owner can read it, because it has customers' data.

`masking` replaces the secrets by pseudonyms before anything is written.
"""

from __future__ import annotations

import os
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
from assay.traffic.proxy.masking import HarMasker, MaskedMessages
from assay.traffic.proxy.messages import MAX_BODY, Headers, decompress, first_header

__all__ = ["BodySample", "HarRecorder", "ProxiedExchange"]

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
            number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            hint = "choose another name; recordings are never overwritten"
            raise InputError.one(str(path), "this file already exists", hint=hint) from None
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise InputError.one(str(path), what, hint="check the path") from None
        self.exchanges = 0
        self._masker = HarMasker(keep_bodies=keep_bodies)
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
        masked, sent_note, note = self._masked(exchange)
        request = self._request(exchange, masked, sent_note)
        response = self._response(exchange, masked, note)
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
                comment=masked.failure or None,
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

    def _masked(self, exchange: ProxiedExchange) -> tuple[MaskedMessages, str, str]:
        """Mask an exchange; also return what is missing from its bodies."""
        sent, sent_note = _decompressed(exchange.request_body, exchange.request_headers)
        received, note = _decompressed(exchange.response_body, exchange.response_headers)
        masked = self._masker.mask(
            url=exchange.url,
            reason=exchange.reason,
            failure=exchange.failure,
            request_headers=exchange.request_headers,
            response_headers=exchange.response_headers,
            request_body=(sent, sent_note.startswith(CUT_OFF)),
            response_body=(received, note.startswith(CUT_OFF)),
        )
        return masked, sent_note, note

    def _request(
        self, exchange: ProxiedExchange, masked: MaskedMessages, note: str
    ) -> harfile.Request:
        pairs = parse_qsl(urlsplit(masked.url).query, keep_blank_values=True)
        sample, body = exchange.request_body, masked.request_body
        posted = None
        if sample.size:
            posted = harfile.PostData(
                mimeType=first_header(masked.request_headers, "content-type"),
                text=body.text,
                comment=_comment(note, body.note),
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

    def _response(
        self, exchange: ProxiedExchange, masked: MaskedMessages, note: str
    ) -> harfile.Response:
        known = exchange.status in set(HTTPStatus)
        return harfile.Response(
            status=exchange.status,
            statusText=masked.reason or (HTTPStatus(exchange.status).phrase if known else ""),
            httpVersion=exchange.version,
            headers=_records(masked.response_headers),
            content=_content(exchange, masked, note),
            redirectURL=first_header(masked.response_headers, "location"),
            bodySize=exchange.response_body.size if exchange.status else -1,
        )


def _content(exchange: ProxiedExchange, masked: MaskedMessages, note: str) -> harfile.Content:
    sample, body = exchange.response_body, masked.response_body
    media_type = first_header(masked.response_headers, "content-type")
    if not sample.size:
        return harfile.Content(size=0, mimeType=media_type)
    data, _ = _decompressed(sample, exchange.response_headers)
    size = len(data) if first_header(exchange.response_headers, "content-encoding") else sample.size
    return harfile.Content(
        size=size,
        mimeType=media_type,
        text=body.text or None,
        encoding="base64" if body.packed else None,
        comment=_comment(note, body.note),
    )


def _comment(*notes: str) -> str | None:
    return "; ".join(filter(None, notes)) or None


def _decompressed(sample: BodySample, headers: Headers) -> tuple[bytes, str]:
    """Return what is kept of a body without its compression, and what is missing."""
    data, note = decompress(bytes(sample.data), first_header(headers, "content-encoding"))
    return data, note or _cut_off(sample, data)


def _records(pairs: Headers | list[tuple[str, str]]) -> list[harfile.Record]:
    return [harfile.Record(name=name, value=value) for name, value in pairs]


def _cut_off(sample: BodySample, data: bytes) -> str:
    cut = sample.size > len(sample.data) or len(data) == MAX_BODY
    return f"{CUT_OFF} after {MAX_BODY // 1024 // 1024} MiB" if cut else ""
