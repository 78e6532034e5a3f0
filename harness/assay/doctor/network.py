"""Checks of the network: host names, ports, TLS, HTTP and clocks.

One unauthenticated request is sent to each address; only its TLS errors and the date of
the answer are used.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Final
from urllib.parse import SplitResult, urlsplit

from assay.binding.target import Target
from assay.contract.files.document import Pointer
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, at, from_problem
from assay.transport.auth.tls import explainer, tls_context

#: How far clocks may differ: tokens, signatures and calendar days tolerate no more.
MOST_APART: Final = timedelta(seconds=60)


def _urls(target: Target) -> Iterator[tuple[Pointer, SplitResult]]:
    yield ("base_url",), urlsplit(target.base_url)
    if target.fixtures.url:
        yield ("fixtures", "url"), urlsplit(target.fixtures.url)
    for n, host in enumerate(() if target.nearby else target.hosts):
        yield ("hosts", n), urlsplit(host)
    for name, auth in (("auth",), target.auth), (("auth", "provider"), target.auth.provider):
        if auth and auth.oauth:
            yield (*name, "token_url"), urlsplit(auth.oauth.token_url)


def resolves(context: DoctorContext) -> Iterator[Finding]:
    """Resolve the name of every host that is called."""
    if not context.networked:
        return
    for key, url in _urls(context.target):
        try:
            socket.getaddrinfo(url.hostname, _port(url), type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            yield at(context.target, key, "", f"cannot resolve host name {url.hostname}")


def connects(context: DoctorContext) -> Iterator[Finding]:
    """Open a connection to every host that is called, and close it."""
    if not context.networked:
        return
    for key, url in _urls(context.target):
        where = url.hostname or "", _port(url)
        try:
            socket.create_connection(where, timeout=context.target.timeout).close()
        except OSError as error:
            reason = "timed out" if isinstance(error, TimeoutError) else error.strerror
            found = f"cannot connect to {where[0]}:{where[1]} ({reason or 'no reason given'})"
            yield at(context.target, key, "", found)


def _port(url: SplitResult) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def answers(context: DoctorContext) -> Iterator[Finding]:
    """Send one request without a token over the configured TLS; keep the date."""
    if not context.networked:
        return
    for key, url in _urls(context.target):
        finding = _request(context, key, url)
        if finding is not None:
            yield finding


def _request(context: DoctorContext, key: Pointer, url: SplitResult) -> Finding | None:
    target = context.target
    try:
        answer = _head(target, url)
    except ssl.SSLError as error:
        problem = explainer(target)(error)
        return from_problem(problem) if problem else None
    except (OSError, HTTPException) as error:
        if url.scheme == "https" and target.tls and target.tls.certificate_file:
            # Some servers close the connection without an alert when they reject a certificate.
            found = f"a connection closed after our certificate was sent ({type(error).__name__})"
            expected = "a certificate that the bank accepts"
            return at(target, ("tls", "certificate_file"), expected, found)
        found = f"none that can be read ({type(error).__name__})"
        hint = "does the address speak plain http?" if url.scheme == "https" else "is it https?"
        return at(target, key, "an HTTP response", found, hint)
    date = answer.getheader("Date")
    if key == ("base_url",) and date:
        context.ahead = _ahead(date)
    return None


def _head(target: Target, url: SplitResult) -> HTTPResponse:
    timeout, port = target.timeout, _port(url)
    if url.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(
            url.hostname or "", port, timeout=timeout, context=tls_context(target, os.environ)
        )
    else:
        connection = HTTPConnection(url.hostname or "", port, timeout=timeout)
    try:
        connection.request("HEAD", url.path or "/", headers={"Accept": "application/json"})
        return connection.getresponse()
    finally:
        connection.close()


def _ahead(date: str) -> timedelta | None:
    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return None
    return (theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)) - datetime.now(UTC)


def clocks(context: DoctorContext) -> Iterator[Finding]:
    """Compare the date of an answer with our own clock."""
    if context.ahead is None or abs(context.ahead) <= MOST_APART:
        return
    target, seconds = context.target, int(context.ahead.total_seconds())
    key = "signature" if target.signature else "auth" if target.auth.oauth else "base_url"
    way = "ahead of" if seconds > 0 else "behind"
    found = f"the bank's clock {abs(seconds)} s {way} ours"
    hint = "set the clock of this machine: tokens, signatures and calendar days depend on it"
    yield at(target, (key,), f"clocks within {MOST_APART.seconds} s", found, hint)
