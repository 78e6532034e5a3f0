"""The HAR 1.2 file of a run: every exchange of its journal, in the order in which it was recorded.

The journal is read line by line and each entry is written at once, so memory does not grow with the
run. Bodies and headers are what the journal has of them: redacted, and bounded by it. What is no
HTTP, such as a signature by a customer, is an entry too; its method says so (`SIGN`). The comment
of an entry has the trial, the number of the exchange in it, the variation and the outcome.

The file is for people and their tools, not to be judged again: without the tokens, which the journal
hides, customers cannot be told apart. `connection` says so to `assay judge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import TextIO
from urllib.parse import parse_qsl, urlsplit

import harfile

from assay.journal.lines import Line
from assay.report.formats.pipeline import in_utc
from assay.report.journal_exchanges import RUN_CONNECTION, exchange_lines, milliseconds
from assay.report.sanitize import clean
from assay.report.values import Report
from assay.report.wording import headline

#: The time of an exchange whose time the journal does not have.
NO_TIME = "1970-01-01T00:00:00.000Z"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}

Pairs = Sequence[tuple[str, str]]


def render(report: Report, out: TextIO) -> None:
    """Write the exchanges of the report's journal as HAR."""
    creator = harfile.Creator(name="assay", version=report.header.version)
    with harfile.HarFile(out, creator=creator, comment=headline(report)) as har:
        for line in exchange_lines(report.journal):
            took = milliseconds(line)
            har.add_entry(
                startedDateTime=_started(line.text("at", "")),
                time=took,
                request=_request(line.inner("request")),
                response=_response(line.inner("response")),
                timings=harfile.Timings(send=0, wait=took, receive=0),
                connection=f"{RUN_CONNECTION} {line.text('trial', '')}",
                comment=_comment(line),
            )
    out.write("\n")


def _started(text: str) -> str:
    return text if in_utc(text) else NO_TIME


def _comment(line: Line) -> str:
    outcome = line.inner("outcome")
    parts = (
        f"{line.text('trial', '')} exchange {line.number_of('n', 0)}",
        line.text("operation", ""),
        f"customer {line.text('subject', '')}" if line.text("subject", "") else "",
        f"variation: {line.text('variation', '')}" if line.text("variation", "") else "",
        ": ".join(filter(None, (outcome.text("kind", ""), outcome.text("why", "")))),
    )
    return " · ".join(filter(None, parts))


def _request(request: Line) -> harfile.Request:
    headers, body = request.pairs("headers"), request.text("body", "")
    return harfile.Request(
        method=request.text("method", ""),
        url=request.text("url", ""),
        httpVersion="HTTP/1.1",
        headers=_records(headers),
        queryString=_records(_query(request.text("url", ""))),
        postData=harfile.PostData(mimeType=_media_type(headers), text=body) if body else None,
        bodySize=_size(body),
    )


def _response(response: Line) -> harfile.Response:
    headers, body = response.pairs("headers"), response.text("body", "")
    status = response.number_of("status", 0)
    cut = response.flag("truncated", default=False)
    return harfile.Response(
        status=status,
        statusText=_PHRASES.get(status, ""),
        httpVersion="HTTP/1.1",
        headers=_records(headers),
        content=harfile.Content(
            size=_size(body),
            mimeType=_media_type(headers),
            text=body or None,
            comment="cut off in the journal" if cut else None,
        ),
        redirectURL=_first(headers, "location"),
        bodySize=_size(body) if status else -1,
    )


def _query(url: str) -> Pairs:
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:  # a URL that a target invented
        return ()
    return [(clean(name), clean(value)) for name, value in pairs]


def _size(body: str) -> int:
    return len(body.encode(errors="replace"))


def _media_type(headers: Pairs) -> str:
    return _first(headers, "content-type")


def _first(headers: Pairs, name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")


def _records(pairs: Pairs) -> list[harfile.Record]:
    return [harfile.Record(name=name, value=value) for name, value in pairs]
