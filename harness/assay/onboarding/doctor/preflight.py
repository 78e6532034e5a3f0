"""Checks before the first call: the target file, its secrets and certificates, and the network.

Nothing is sent but one unauthenticated request to each address, of which only TLS errors and
the date of the answer are used.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import yaml

from assay.binding.model.target import Target
from assay.binding.read.without_effect import other_meanings, without_effect
from assay.contract.model import Contract
from assay.errors import InputError, did_you_mean
from assay.files.document import Finding as FileFinding
from assay.files.document import Pointer
from assay.files.edits import flow
from assay.judging.waivers import WaiverState, untested
from assay.onboarding.doctor.record import Examined, Finding, Weight, from_problem, one_line
from assay.onboarding.init.yaml_writer import OPEN
from assay.report.wording import waiver_sentence
from assay.transport.http import explainer, tls_context
from assay.transport.proxies import proxy_for
from assay.transport.secrets import unset

#: The comments of `assay init` at a guessed line and at a gap.
_MARKS = (("# guessed:", "guessed"), ("# missing:", "missing"), ("# TODO:", "TODO"))
#: A line with a key, or a comment in its place; and the key and the example of a gap.
_HEADING: Final = re.compile(r"\s*(?:# (?=\S+:$))?([^\s#:]+|\"[^\"]*\"):(?= |$)")
_GAP: Final = re.compile(r"# TODO: .*, for example `([^:`]+): (.*)`$")
#: A certificate that expires within this time is reported.
SOON: Final = timedelta(days=30)
#: How far clocks may differ: tokens, signatures and calendar days tolerate no more.
MOST_APART: Final = timedelta(seconds=60)


# -- The file, its secrets and certificates


def wrong_confirmations(
    target: Target, contracts: Sequence[Contract], checks: Collection[str]
) -> Iterator[FileFinding]:
    """Yield what is confirmed and can never be in doubt: of no check, or of no operation."""
    operations = {*target.operations, *(name for each in contracts for name in each.operations)}
    for name in target.confirmed:
        check, _, key = name.partition("/")
        section, _, rest = key.partition(".")
        operation = rest.partition(".")[0]
        place = ("confirmed", name)
        if check not in checks:
            what = f"expected the name of a check, found {check!r}"
            yield place, what, did_you_mean(check, checks)
        elif section == "operations" and operation not in operations:
            what = f"there is no operation {operation!r}"
            yield place, what, did_you_mean(operation, operations)


def unused(record: Examined) -> Iterator[Finding]:
    """Report keys without an effect: most of them are spelling mistakes."""
    for place, found in without_effect(record.target, record.contracts_bound):
        yield record.finding(place, "a key with an effect", found, weight=Weight.FAULT)


def words(record: Examined) -> Iterator[Finding]:
    """Report words for states and factors under another heading than their own."""
    for place, expected, found in other_meanings(record.target, record.contracts_bound):
        yield record.finding(place, expected, found)


def waivers(record: Examined) -> Iterator[Finding]:
    """List the waivers that have expired, or expire soon."""
    for index, waiver in enumerate(record.target.waivers):
        result = untested(waiver, datetime.now(UTC).date())
        if result.state is not WaiverState.IN_FORCE:
            sentence = waiver_sentence(result)
            yield record.finding(("waivers", index), "", sentence, weight=Weight.NOTE)


def guessed(record: Examined) -> Iterator[Finding]:
    """List the lines marked as guesses or gaps, here and in what is extended, that nothing else answers."""
    document = record.target.document
    if document is None:
        return
    paths = {document.path, *(record.target.place(key)[0] for key in document.data)}
    for path in sorted(paths):
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for number, line, above in _nested(lines):
            for mark, word in _MARKS:
                before, marked, why = line.partition(mark)
                if marked and not _is_said(record, path, number, line, above):
                    yield Finding(
                        weight=Weight.NOTE if word == "guessed" else Weight.UNSEEN,
                        path=path,
                        line=number,
                        key=before.strip(" #-").partition(":")[0],
                        expected="the value from the bank's documentation",
                        found=f"{word}: {one_line(why.strip())}",
                        hint="remove the comment once the line is right",
                    )


def _nested(lines: Sequence[str]) -> Iterator[tuple[int, str, Pointer]]:
    """Yield each line of a draft, by number, with the keys above it; some of those are comments."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        indent = len(line) - len(line.lstrip())
        above = [each for each in above if each[0] < indent] if line.strip() else above
        yield number, line, tuple(key for _, key in above)
        if heading := _HEADING.match(line):
            above.append((indent, heading[1].strip('"')))


def _is_said(record: Examined, path: str, number: int, line: str, above: Pointer) -> bool:
    """Whether the target file says what a marked line guesses, or misses."""
    if guess := _HEADING.match(line):
        return record.target.place(*above, guess[1].strip('"'))[0] != path
    gap = _GAP.search(line)
    if gap is None or (above == ("operations",) and gap[1] in record.target.absent.operations):
        return gap is not None
    value: Any = record.target.document.data if record.target.document else None
    for step in (*above, gap[1]):
        value = value.get(step) if isinstance(value, dict) else None
    below = record.target.place(*above, gap[1]) == (path, number + 1)
    instead = "instead of the line below" in line
    return not (below and instead) and _fills(value, yaml.safe_load(gap[2]))


def _fills(value: Any, example: Any) -> bool:
    """Whether a value has what an example leaves open, each a `…`, or the words that it lists so."""
    if not isinstance(example, dict) or not isinstance(value, dict):
        return value is not None
    missing = {key: each for key, each in example.items() if OPEN in flow({key: each})}
    words = missing.pop(OPEN, ())
    return all(_fills(value.get(key), each) for key, each in missing.items()) and all(
        word in flow(value) for word in words
    )


def secrets(record: Examined) -> Iterator[Finding]:
    """Report the environment variables that hold no usable secret."""
    yield from map(from_problem, unset(record.target, os.environ))


def certificates(record: Examined) -> Iterator[Finding]:
    """Read certificates and keys, and report those that cannot be used or expire soon."""
    target = record.target
    if not target.has_keys:
        return
    from assay.transport.auth.keys import check, expiry  # noqa: PLC0415 -- cryptography

    now = datetime.now(UTC)
    try:
        check(target, os.environ, now)
    except InputError as error:
        yield from map(from_problem, error.problems)
        return
    expires = expiry(target)
    if expires is not None and expires < now + SOON:
        place, expected = ("tls", "certificate_file"), f"a certificate valid for {SOON.days} days"
        found = f"a certificate that expires on {expires:%Y-%m-%d}"
        yield record.finding(place, expected, found, weight=Weight.NOTE)


# -- The network


def _urls(record: Examined) -> Iterator[tuple[Pointer, SplitResult]]:
    """Yield the URLs that are called over a network, each with its key."""
    target = record.target
    if not record.networked:
        return
    yield ("base_url",), urlsplit(target.base_url)
    if target.fixtures.url:
        yield ("fixtures", "url"), urlsplit(target.fixtures.url)
    if not target.nearby:
        for n, host in enumerate(target.hosts):
            yield ("hosts", n), urlsplit(host)
        for n, host in enumerate(target.sca.hosts):
            yield ("sca", "hosts", n), urlsplit(host)
    for name, auth in (("auth",), target.auth), (("auth", "tpp"), target.auth.tpp):
        if auth and auth.oauth:
            yield (*name, "token_url"), urlsplit(auth.oauth.token_url)
            if auth.oauth.par_url:
                yield (*name, "par_url"), urlsplit(auth.oauth.par_url)


def _reached(record: Examined) -> Iterator[tuple[Pointer, SplitResult]]:
    """Yield where connections are made to: a host that is called, or the proxy for it."""
    for key, url in _urls(record):
        proxy = proxy_for(url.geturl())
        yield key, urlsplit(proxy) if proxy else url


def resolves(record: Examined) -> Iterator[Finding]:
    """Resolve the name of every host that is called, or of its proxy."""
    for key, url in _reached(record):
        try:
            socket.getaddrinfo(url.hostname, _port(url), type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = f"cannot resolve host name {url.hostname}"
            yield record.finding(key, "", found, weight=Weight.FAULT)


def connects(record: Examined) -> Iterator[Finding]:
    """Open a connection to every host that is called, or to its proxy, and close it."""
    for key, url in _reached(record):
        where = url.hostname or "", _port(url)
        try:
            socket.create_connection(where, timeout=record.target.timeout).close()
        except OSError as error:
            reason = "timed out" if isinstance(error, TimeoutError) else error.strerror
            found = f"cannot connect to {where[0]}:{where[1]} ({reason or 'no reason given'})"
            yield record.finding(key, "", found, weight=Weight.FAULT)


def _port(url: SplitResult) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def answers(record: Examined) -> Iterator[Finding]:
    """Send one request without a token over the configured TLS; keep the date."""
    yield from filter(None, (_request(record, key, url) for key, url in _urls(record)))


def _request(record: Examined, key: Pointer, url: SplitResult) -> Finding | None:
    target = record.target
    try:
        answer = _head(target, url)
    except ssl.SSLError as error:
        problem = explainer(target)(error)
        return from_problem(problem) if problem else None
    except UnansweredError:
        # Every host is asked for its base path, which need not exist.
        found = f"no answer to HEAD {url.path or '/'} within {target.timeout:g} s"
        return record.finding(key, "an HTTP response", found, weight=Weight.UNSEEN)
    except (OSError, HTTPException) as error:
        if url.scheme == "https" and target.tls and target.tls.certificate_file:
            # Some servers close the connection without an alert when they reject a certificate.
            found = f"a connection closed after our certificate was sent ({type(error).__name__})"
            expected = "a certificate that the bank accepts"
            return record.finding(("tls", "certificate_file"), expected, found)
        found = f"a response that cannot be read ({type(error).__name__})"
        hint = "does the address speak plain http?" if url.scheme == "https" else "is it https?"
        return record.finding(key, "an HTTP response", found, hint)
    date = answer.getheader("Date")
    if key == ("base_url",) and date:
        record.ahead = _ahead(date)
    return None


class UnansweredError(Exception):
    """A server accepted a connection and a request, and did not answer in time."""


def _head(target: Target, url: SplitResult) -> HTTPResponse:
    timeout, host, port = target.timeout, url.hostname or "", _port(url)
    if url.scheme == "https":
        context = tls_context(target, os.environ, [url.geturl()])
        connection: HTTPConnection = HTTPSConnection(host, port, timeout=timeout, context=context)
    else:
        connection = HTTPConnection(host, port, timeout=timeout)
    try:
        connection.connect()  # with TLS, including the handshake
        connection.request("HEAD", url.path or "/", headers={"Accept": "application/json"})
        return connection.getresponse()
    except TimeoutError as error:
        if connection.sock is None:
            raise
        raise UnansweredError from error
    finally:
        connection.close()


def _ahead(date: str) -> timedelta | None:
    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return None
    return (theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)) - datetime.now(UTC)


def clocks(record: Examined) -> Iterator[Finding]:
    """Compare the date of an answer with our own clock."""
    if record.ahead is None or abs(record.ahead) <= MOST_APART:
        return
    target, seconds = record.target, int(record.ahead.total_seconds())
    key = "signature" if target.signature else "auth" if target.auth.oauth else "base_url"
    way = "ahead of" if seconds > 0 else "behind"
    found = f"the bank's clock {abs(seconds)} s {way} ours"
    hint = "set the clock of this machine: tokens, signatures and calendar days depend on it"
    yield record.finding((key,), f"clocks within {MOST_APART.seconds} s", found, hint)
