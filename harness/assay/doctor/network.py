"""The way to the target: its name, its port, its certificate and ours, its clock.

One unauthenticated request is sent, and what it says does not matter, but for its date.
Only what TLS says is told apart here; what a call means is not known.

The secrets and the files that the profile names: there, readable, and in time.
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
from assay.doctor.finding import Finding, Weight, at, told
from assay.errors import InputError
from assay.transport.auth.tls import context, explainer
from assay.transport.secrets import unset

#: How far clocks may be apart: tokens, signatures and calendar days bear no more.
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


def resolves(patient: DoctorContext) -> Iterator[Finding]:
    """Look up the name of every host that is called."""
    if not patient.networked:
        return
    for key, url in _urls(patient.target):
        try:
            socket.getaddrinfo(url.hostname, _port(url), type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            what = f"no address for {url.hostname}"
            yield at(patient.target, key, "a host that can be looked up", what)


def connects(patient: DoctorContext) -> Iterator[Finding]:
    """Open a connection to every host that is called, and close it."""
    if not patient.networked:
        return
    for key, url in _urls(patient.target):
        where = url.hostname or "", _port(url)
        try:
            socket.create_connection(where, timeout=patient.target.timeout).close()
        except OSError as error:
            why = "no answer in time" if isinstance(error, TimeoutError) else error.strerror
            what = f"{why or 'no connection'} at {where[0]}:{where[1]}"
            yield at(patient.target, key, "somebody who listens", what)


def _port(url: SplitResult) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def answers(patient: DoctorContext) -> Iterator[Finding]:
    """Send one request without a token, as the profile's TLS has it; keep the date."""
    if not patient.networked:
        return
    for key, url in _urls(patient.target):
        found = _asked(patient, key, url)
        if found is not None:
            yield found


def _asked(patient: DoctorContext, key: Pointer, url: SplitResult) -> Finding | None:
    target = patient.target
    try:
        answer = _head(target, url)
    except ssl.SSLError as error:
        why = explainer(target)(error)
        return told(why) if why else None
    except (OSError, HTTPException) as error:
        if url.scheme == "https" and target.tls and target.tls.certificate_file:
            # Some servers hang up on a certificate that they do not like, without a word.
            what = f"the connection closed ({type(error).__name__}) after our certificate"
            return at(target, ("tls", "certificate_file"), "a certificate that is taken", what)
        what = f"none that can be read ({type(error).__name__})"
        hint = "is it plain http?" if url.scheme == "https" else "is it https?"
        return at(target, key, "an answer over HTTP", what, hint)
    date = answer.getheader("Date")
    if key == ("base_url",) and date:
        patient.ahead = _ahead(date)
    return None


def _head(target: Target, url: SplitResult) -> HTTPResponse:
    timeout, port = target.timeout, _port(url)
    if url.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(
            url.hostname or "", port, timeout=timeout, context=context(target, os.environ)
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


def clocks(patient: DoctorContext) -> Iterator[Finding]:
    """Compare the date of an answer with our own."""
    if patient.ahead is None or abs(patient.ahead) <= MOST_APART:
        return
    target, seconds = patient.target, int(patient.ahead.total_seconds())
    key = "signature" if target.signature else "auth" if target.auth.oauth else "base_url"
    way = "ahead of" if seconds > 0 else "behind"
    what = f"the bank's {abs(seconds)} s {way} ours"
    hint = "set the clock of this machine; tokens, signatures and days depend on it"
    yield at(target, (key,), f"clocks within {MOST_APART.seconds} s", what, hint)


#: A certificate that expires within this is worth a word.
SOON: Final = timedelta(days=30)


def secrets(patient: DoctorContext) -> Iterator[Finding]:
    """Say which variables of the environment hold nothing to call with."""
    yield from map(told, unset(patient.target, os.environ))


def papers(patient: DoctorContext) -> Iterator[Finding]:
    """Read certificates and keys, and say what is wrong with them."""
    target = patient.target
    if not target.tls and not target.signature:
        return
    from assay.transport.auth.certificates import check  # noqa: PLC0415 -- cryptography, seldom needed

    now = datetime.now(UTC)
    try:
        check(target, os.environ, now)
    except InputError as error:
        yield from map(told, error.problems)
        return
    try:
        check(target, os.environ, now + SOON)
    except InputError as error:
        for problem in error.problems:
            place = ("tls", "certificate_file")
            what = told(problem).found.replace("expired", "expires")
            yield at(target, place, "a certificate with time left", what, weight=Weight.NOTE)
