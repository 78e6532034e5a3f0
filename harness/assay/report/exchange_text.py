"""Exchanges as lines of plain text, and as commands that send them again.

Formats put these lines into their own syntax. A signature is no call: what the customer did on
the screens is written as such.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import cast

from assay.history.outcomes import HIDDEN
from assay.journal.codec import SIGNING
from assay.report.sanitize import bounded, clean, one_line
from assay.report.timeline import moment
from assay.report.values import EvidenceRole, Headers, ReportedExchange

#: The longest body that a command sends.
COMMAND_BODY = 4_000
#: Headers that curl writes itself.
_OWN_HEADERS = frozenset({"content-length", "host"})
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_TOO_LONG = " more characters left out)"


def exchange_title(exchange: ReportedExchange, role: EvidenceRole | None = None) -> str:
    """Return the line that identifies an exchange: number, operation, customer, time, role."""
    customer = f"{exchange.subject}, " if exchange.subject else ""
    presence = "customer present" if exchange.present else "customer absent"
    who = f"{customer}{presence}"
    title = f"exchange {exchange.n} · {exchange.operation} · {who} · clock {moment(exchange.at)}"
    return f"{title} · {role.value}" if role else title


def exchange_lines(exchange: ReportedExchange, *, body: int = 4_096) -> Iterator[str]:
    """Yield request (`>`), response (`<`), variation (`*`) and outcome (`=`) of an exchange."""
    request, response = exchange.request, exchange.response
    if exchange.variation:
        yield f"* variation: {exchange.variation}"
    if exchange.operation == SIGNING:
        yield from _signature_lines(exchange, body)
        return
    yield f"> {request.method} {request.url}"
    yield from _message(request.headers, request.body, ">", body)
    yield f"< {response.status or 'no response'}"
    yield from _message(response.headers, response.body, "<", body)
    if response.truncated:
        yield "* the response body is truncated in the journal"
    why = f": {exchange.why}" if exchange.why else ""
    yield f"= {exchange.outcome}{why} ({exchange.ms:g} ms)"


def _signature_lines(exchange: ReportedExchange, limit: int) -> Iterator[str]:
    """Yield what a customer did on the screens, which is no call and has no body."""
    yield f"> signature by {exchange.subject or 'the customer'} at {exchange.request.url}"
    for sign, text in ((">", exchange.request.body), ("<", exchange.response.body)):
        for name, value in _members(text):
            # Decoded from JSON, a text may have what was harmless in its escapes.
            yield one_line(clean(f"{sign} {name}: {value}", limit))
    status = f" (status {exchange.response.status})" if exchange.response.status else ""
    why = f": {exchange.why}" if exchange.why else ""
    yield f"= {exchange.outcome}{why}{status}"


def _members(text: str) -> Iterator[tuple[str, str]]:
    """Yield the members of a JSON object that say something, lists as words with commas."""
    try:
        values: object = json.loads(text or "{}")
    except (ValueError, RecursionError):
        yield "body", text
        return
    members = cast("dict[str, object]", values) if isinstance(values, dict) else {"body": text}
    for name, value in members.items():
        if isinstance(value, list):
            words = dict.fromkeys(str(item) for item in cast("list[object]", value))
            yield name, ", ".join(words)
        elif value not in (None, ""):
            yield name, str(value)


def _message(headers: Headers, text: str, sign: str, limit: int) -> Iterator[str]:
    for name, value in headers:
        yield f"{sign} {name}: {value}"
    if text:
        yield sign
        for line in bounded(text, limit).split("\n"):
            yield f"{sign} {line}"


def curl_command(exchange: ReportedExchange) -> str:
    """Return the command that sends a request again; "" for a signature, or without an address.

    A hidden header becomes a shell variable. Pseudonyms stay: the reader puts the values back.
    """
    request = exchange.request
    if exchange.operation == SIGNING or not request.url.startswith(("http://", "https://")):
        return ""
    method = [] if request.method == "GET" else ["-X", shlex.quote(request.method)]
    words = ["curl", "-i", *method, shlex.quote(request.url)]
    for name, value in request.headers:
        if name.lower() not in _OWN_HEADERS:
            words += ["-H", _header(name, value)]
    if request.body and len(request.body) <= COMMAND_BODY and not request.body.endswith(_TOO_LONG):
        words += ["--data-raw", shlex.quote(request.body)]
    return " ".join(words)


def _header(name: str, value: str) -> str:
    if value != HIDDEN:
        return shlex.quote(f"{name}: {value}")
    variable = _NO_NAME.sub("_", name).strip("_").upper() or "HIDDEN"
    return f'{shlex.quote(name + ": ")}"${{{variable}}}"'
