"""Exchanges a second: a whole run against a bare httpx loop, on one transport.

The requests of one run are recorded and then sent again by plain httpx calls to
a bank in the same state of arrangement, so that both sides do the same work at
the target. Rounds alternate; the median of the ratios is what counts.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from assay.prepare import Prepared, prepare
from assay.run.client import Client, Sent
from assay.run.conduct import Session, conduct
from assay.run.journal import Journal
from assay.run.stage import set_up
from assay.sandbox.app import make_app
from assay.sandbox.serve import listen
from assay.target.encode import Request

ROUNDS, BOUND = 7, 0.5


def run(prepared: Prepared) -> tuple[int, float]:
    """Hold every trial, journal and all; return the exchanges and the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(prepared.profile)
        began = time.perf_counter()
        session = Session(
            plan=prepared.plan, stage=stage, journal=Journal.at(Path(folder) / "journal.jsonl")
        )
        result = conduct(session)
        seconds = time.perf_counter() - began
        stage.close()
    return result.exchanges, seconds


def requests_of(prepared: Prepared) -> list[Request]:
    """Return the requests that a run sends, in order."""
    sent: list[Request] = []
    stage = set_up(prepared.profile)
    send = Client.send

    def spy(self: Client, request: Request) -> Sent:
        sent.append(request)
        return send(self, request)

    Client.send = spy  # type: ignore[method-assign]
    try:
        conduct(Session(plan=prepared.plan, stage=stage, journal=Journal(out=None)))
    finally:
        Client.send = send  # type: ignore[method-assign]
        stage.close()
    return sent


def bare(requests: list[Request], transport: httpx.BaseTransport | None) -> tuple[int, float]:
    """Send the requests as anybody would with httpx; return count and seconds."""
    with httpx.Client(transport=transport, trust_env=False) as http:
        began = time.perf_counter()
        for one in requests:
            http.request(one.method, one.url, headers=dict(one.headers), content=one.body).read()
        return len(requests), time.perf_counter() - began


def compare(
    name: str, prepared: Prepared, transport: Callable[[], httpx.BaseTransport | None]
) -> float:
    """Print both rates on one transport, and return the median of their ratios."""
    requests = requests_of(prepared)
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
    embedded = prepare()
    url = embedded.profile.base_url
    found = [
        compare("embedded", embedded, lambda: httpx.WSGITransport(app=make_app(base_url=url)))
    ]
    server = listen("127.0.0.1", 0, make_app())
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    served = prepare(target=f"http://127.0.0.1:{server.effective_port}")
    found.append(compare("loopback", served, lambda: None))
    server.close()
    print(f"bound: at least {BOUND:.2f}")
    return 0 if min(found) >= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
