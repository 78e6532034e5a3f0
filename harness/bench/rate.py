"""Exchanges a second: a whole run against a bare httpx loop, on one transport.

All requests of one run, those of the control API included, are recorded and sent again
by plain httpx calls to a fresh bank. It issues the same tokens, so the target does the
same work for both: in this process by httpx.WSGITransport, and over loopback. Rounds
alternate; the median ratio counts. Only account information is measured: the links by
which payments are signed cannot be guessed, so their requests cannot be sent again.
`python harness/bench/rate.py 2` makes two rounds.
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


def rounds() -> int:
    """Return the number of rounds: the argument, if there is one."""
    return int(sys.argv[1]) if sys.argv[1:] else ROUNDS


def run(prepared: Prepared) -> tuple[int, float]:
    """Run every trial and write the journal; return the number of exchanges and the seconds."""
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
    """Transport that keeps every request, those of the control API included."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self.transport, self.requests = transport, list[httpx.Request]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Keep a request and pass it on."""
        self.requests.append(request)
        return self.transport.handle_request(request)


def requests_of(prepared: Prepared) -> list[httpx.Request]:
    """Return the requests of a run, in order; sending them again has the same effect."""
    spy = Spy(httpx.WSGITransport(app=make_app(base_url=prepared.target.base_url)))
    client = HttpClient(base_url=prepared.target.base_url, transport=spy)
    fixtures = ControlProvider(send=client.control)
    environment = Environment(target=prepared.target, client=client, fixtures=fixtures)
    run_session(Session(plan=prepared.plan, environment=environment, journal=Journal(out=None)))
    return spy.requests


def bare(requests: list[httpx.Request], transport: httpx.BaseTransport | None) -> tuple[int, float]:
    """Send the requests with a plain httpx client; return the number of exchanges and the seconds.

    Calls of the control API are sent for the state of the bank, and not counted.
    """
    with httpx.Client(transport=transport, trust_env=False) as http:
        began = time.perf_counter()
        for request in requests:
            http.request(
                request.method, request.url, headers=request.headers, content=request.content
            ).read()
        seconds = time.perf_counter() - began
    return sum("/assay-control/" not in request.url.path for request in requests), seconds


def compare(
    name: str,
    prepared: Prepared,
    requests: list[httpx.Request],
    transport: Callable[[], httpx.BaseTransport | None],
) -> float:
    """Print both rates on one transport, and return the median of their ratios."""
    ratios: list[float] = []
    rates: list[tuple[float, float]] = []
    for _ in range(rounds()):
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
    ratios = [
        compare(
            "embedded",
            embedded,
            requests_of(embedded),
            lambda: httpx.WSGITransport(app=make_app(base_url=url)),
        )
    ]
    ratios.append(over_loopback())
    print(f"bound: at least {BOUND:.2f}")
    return 0 if min(ratios) >= BOUND else 1


class RenewableBank:
    """A bank that can be replaced by a fresh one while it is served."""

    def __init__(self) -> None:
        self.app = make_app()

    def __call__(self, *call: Any) -> Any:
        """Serve a request."""
        return self.app(*call)

    def renew(self) -> None:
        """Start again with a fresh bank."""
        self.app = make_app()


def over_loopback() -> float:
    """Compare over HTTP: each side calls a server of its own in this process."""
    bank = RenewableBank()
    ours, theirs = listen("127.0.0.1", 0, make_app()), listen("127.0.0.1", 0, bank)
    for server in (ours, theirs):
        threading.Thread(target=server.run, daemon=True).start()
    served = prepare(["aisp"], f"http://127.0.0.1:{ours.effective_port}")
    port = int(theirs.effective_port)
    requests = [
        httpx.Request(
            request.method,
            request.url.copy_with(port=port),
            headers=_without_host(request),
            content=request.content,
        )
        for request in requests_of(served)
    ]
    return compare("loopback", served, requests, bank.renew)


def _without_host(request: httpx.Request) -> list[tuple[str, str]]:
    return [(name, value) for name, value in request.headers.multi_items() if name != "host"]


if __name__ == "__main__":
    sys.exit(main())
