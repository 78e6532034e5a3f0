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

from assay.binding.target import Profile
from assay.contract.files.document import Pointer
from assay.doctor.context import Patient
from assay.doctor.finding import Finding, Weight, at, told
from assay.errors import InputError
from assay.transport.auth.tls import context, explainer
from assay.transport.secrets import unset

#: How far clocks may be apart: tokens, signatures and calendar days bear no more.
MOST_APART: Final = timedelta(seconds=60)


def _urls(profile: Profile) -> Iterator[tuple[Pointer, SplitResult]]:
    yield ("base_url",), urlsplit(profile.base_url)
    if profile.world.url:
        yield ("world", "url"), urlsplit(profile.world.url)
    for n, host in enumerate(() if profile.nearby else profile.hosts):
        yield ("hosts", n), urlsplit(host)
    for name, auth in (("auth",), profile.auth), (("auth", "provider"), profile.auth.provider):
        if auth and auth.oauth:
            yield (*name, "token_url"), urlsplit(auth.oauth.token_url)


def resolves(patient: Patient) -> Iterator[Finding]:
    """Look up the name of every host that is called."""
    if not patient.networked:
        return
    for key, url in _urls(patient.profile):
        try:
            socket.getaddrinfo(url.hostname, _port(url), type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            what = f"no address for {url.hostname}"
            yield at(patient.profile, key, "a host that can be looked up", what)


def connects(patient: Patient) -> Iterator[Finding]:
    """Open a connection to every host that is called, and close it."""
    if not patient.networked:
        return
    for key, url in _urls(patient.profile):
        where = url.hostname or "", _port(url)
        try:
            socket.create_connection(where, timeout=patient.profile.timeout).close()
        except OSError as error:
            why = "no answer in time" if isinstance(error, TimeoutError) else error.strerror
            what = f"{why or 'no connection'} at {where[0]}:{where[1]}"
            yield at(patient.profile, key, "somebody who listens", what)


def _port(url: SplitResult) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def answers(patient: Patient) -> Iterator[Finding]:
    """Send one request without a token, as the profile's TLS has it; keep the date."""
    if not patient.networked:
        return
    for key, url in _urls(patient.profile):
        found = _asked(patient, key, url)
        if found is not None:
            yield found


def _asked(patient: Patient, key: Pointer, url: SplitResult) -> Finding | None:
    profile = patient.profile
    try:
        answer = _head(profile, url)
    except ssl.SSLError as error:
        why = explainer(profile)(error)
        return told(why) if why else None
    except (OSError, HTTPException) as error:
        if url.scheme == "https" and profile.tls and profile.tls.certificate_file:
            # Some servers hang up on a certificate that they do not like, without a word.
            what = f"the connection closed ({type(error).__name__}) after our certificate"
            return at(profile, ("tls", "certificate_file"), "a certificate that is taken", what)
        what = f"none that can be read ({type(error).__name__})"
        hint = "is it plain http?" if url.scheme == "https" else "is it https?"
        return at(profile, key, "an answer over HTTP", what, hint)
    date = answer.getheader("Date")
    if key == ("base_url",) and date:
        patient.ahead = _ahead(date)
    return None


def _head(profile: Profile, url: SplitResult) -> HTTPResponse:
    timeout, port = profile.timeout, _port(url)
    if url.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(
            url.hostname or "", port, timeout=timeout, context=context(profile, os.environ)
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


def clocks(patient: Patient) -> Iterator[Finding]:
    """Compare the date of an answer with our own."""
    if patient.ahead is None or abs(patient.ahead) <= MOST_APART:
        return
    profile, seconds = patient.profile, int(patient.ahead.total_seconds())
    key = "signature" if profile.signature else "auth" if profile.auth.oauth else "base_url"
    way = "ahead of" if seconds > 0 else "behind"
    what = f"the bank's {abs(seconds)} s {way} ours"
    hint = "set the clock of this machine; tokens, signatures and days depend on it"
    yield at(profile, (key,), f"clocks within {MOST_APART.seconds} s", what, hint)


#: A certificate that expires within this is worth a word.
SOON: Final = timedelta(days=30)


def secrets(patient: Patient) -> Iterator[Finding]:
    """Say which variables of the environment hold nothing to call with."""
    yield from map(told, unset(patient.profile, os.environ))


def papers(patient: Patient) -> Iterator[Finding]:
    """Read certificates and keys, and say what is wrong with them."""
    profile = patient.profile
    if not profile.tls and not profile.signature:
        return
    from assay.transport.auth.certificates import check  # noqa: PLC0415 -- cryptography, seldom needed

    now = datetime.now(UTC)
    try:
        check(profile, os.environ, now)
    except InputError as error:
        yield from map(told, error.problems)
        return
    try:
        check(profile, os.environ, now + SOON)
    except InputError as error:
        for problem in error.problems:
            place = ("tls", "certificate_file")
            what = told(problem).found.replace("expired", "expires")
            yield at(profile, place, "a certificate with time left", what, weight=Weight.NOTE)
