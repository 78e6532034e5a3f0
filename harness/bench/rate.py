"""Exchanges a second: a whole run against a bare httpx loop, on one transport.

All that one run sends, the control API's calls too, is recorded and sent again
by plain httpx calls to a fresh bank, which deals out the same tokens, so that the
target does the same work for both: in this process by httpx.WSGITransport, and
over loopback. Rounds alternate; the median ratio counts. Account information alone:
the links by which payments are signed cannot be guessed, so nobody can send them again.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from assay.execution.environment import Environment, set_up
from assay.execution.session import Session, run_session
from assay.fixtures.control import ControlProvider
from assay.journal.writer import Journal
from assay.planning.prepare import Prepared, prepare
from assay.sandbox.app import make_app
from assay.sandbox.serve import listen
from assay.transport.http import HttpClient

ROUNDS, BOUND = 7, 0.5


def run(prepared: Prepared) -> tuple[int, float]:
    """Hold every trial, journal and all; return the exchanges and the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        environment = set_up(prepared.target)
        began = time.perf_counter()
        session = Session(
            plan=prepared.plan,
            environment=environment,
            journal=Journal.at(Path(folder) / "journal.jsonl"),
        )
        result = run_session(session)
        seconds = time.perf_counter() - began
        environment.close()
    return result.exchanges, seconds


class Spy(httpx.BaseTransport):
    """Keeps every request that passes, the control API's too."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self.transport, self.seen = transport, list[httpx.Request]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Keep a request and pass it on."""
        self.seen.append(request)
        return self.transport.handle_request(request)


def requests_of(prepared: Prepared) -> list[httpx.Request]:
    """Return all that a run sends, in order, so that sending it again does the same."""
    spy = Spy(httpx.WSGITransport(app=make_app(base_url=prepared.target.base_url)))
    client = HttpClient(base_url=prepared.target.base_url, transport=spy)
    world = ControlProvider(send=client.control)
    environment = Environment(target=prepared.target, client=client, world=world)
    run_session(Session(plan=prepared.plan, environment=environment, journal=Journal(out=None)))
    return spy.seen


def bare(requests: list[httpx.Request], transport: httpx.BaseTransport | None) -> tuple[int, float]:
    """Send the requests as anybody would with httpx; return the exchanges and seconds.

    The control API's calls are sent too, for the bank's state, but are no exchanges.
    """
    with httpx.Client(transport=transport, trust_env=False) as http:
        began = time.perf_counter()
        for one in requests:
            answer = http.request(one.method, one.url, headers=one.headers, content=one.content)
            answer.read()
        seconds = time.perf_counter() - began
    return sum("/assay-control/" not in one.url.path for one in requests), seconds


def compare(
    name: str,
    prepared: Prepared,
    requests: list[httpx.Request],
    transport: Callable[[], httpx.BaseTransport | None],
) -> float:
    """Print both rates on one transport, and return the median of their ratios."""
    ratios: list[float] = []
    rates: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        ours, our_time = run(prepared)
        theirs, their_time = bare(requests, transport())
        rates.append((ours / our_time, theirs / their_time))
        ratios.append((ours / our_time) / (theirs / their_time))
    mine, plain = (statistics.median(column) for column in zip(*rates, strict=True))
    ratio = statistics.median(ratios)
    print(f"{name:<10} assay {mine:7,.0f}/s   bare httpx {plain:7,.0f}/s   ratio {ratio:.2f}")
    return ratio


def main() -> int:
    """Compare embedded and over loopback HTTP."""
    embedded = prepare(["aisp"])
    url = embedded.target.base_url
    found = [
        compare(
            "embedded",
            embedded,
            requests_of(embedded),
            lambda: httpx.WSGITransport(app=make_app(base_url=url)),
        )
    ]
    found.append(over_loopback())
    print(f"bound: at least {BOUND:.2f}")
    return 0 if min(found) >= BOUND else 1


class Renewed:
    """A bank that can be replaced by a fresh one while it is served."""

    def __init__(self) -> None:
        self.app = make_app()

    def __call__(self, *call: Any) -> Any:
        """Serve a request."""
        return self.app(*call)

    def renew(self) -> None:
        """Begin anew."""
        self.app = make_app()


def over_loopback() -> float:
    """Compare against two servers of the same bank, ours and theirs, in this process."""
    bank = Renewed()
    ours, theirs = listen("127.0.0.1", 0, make_app()), listen("127.0.0.1", 0, bank)
    for server in (ours, theirs):
        threading.Thread(target=server.run, daemon=True).start()
    served = prepare(["aisp"], f"http://127.0.0.1:{ours.effective_port}")
    port = int(theirs.effective_port)
    requests = [
        httpx.Request(
            one.method, one.url.copy_with(port=port), headers=_plain(one), content=one.content
        )
        for one in requests_of(served)
    ]
    return compare("loopback", served, requests, bank.renew)


def _plain(request: httpx.Request) -> list[tuple[str, str]]:
    return [(name, value) for name, value in request.headers.multi_items() if name != "host"]


if __name__ == "__main__":
    sys.exit(main())
