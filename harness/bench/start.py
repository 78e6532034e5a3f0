"""From starting the command: to the first exchange, and to the end of a run.

A tiny server notes when the first call arrives and refuses everything; the
whole run is on the embedded sandbox. Besides, what the installed plugin adds to
a pytest run that has nothing to do with Assay.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROUNDS = 9
#: What is measured, and its bound.
FIRST, WHOLE, PLUGIN = 1.0, 5.0, 0.020
ASSAY = [sys.executable, "-c", "from assay.cli.main import main; main()"]


class Stopwatch(BaseHTTPRequestHandler):
    """Notes when the first request came, and serves nobody."""

    arrived: float = 0.0

    def do_POST(self) -> None:
        """Note the time and refuse."""
        if not Stopwatch.arrived:
            Stopwatch.arrived = time.perf_counter()
        self.send_response(503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- its parent's name
        """Say nothing."""


def first_exchange(folder: str) -> float:
    """Return the seconds from starting `assay run` to its first call."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stopwatch)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Stopwatch.arrived = 0.0
    url = f"http://127.0.0.1:{server.server_port}"
    began = time.perf_counter()
    subprocess.run(  # noqa: S603 -- our own command
        [*ASSAY, "run", "--target", url], cwd=folder, capture_output=True, check=False
    )
    server.shutdown()
    return Stopwatch.arrived - began


def timed(command: list[str], folder: str) -> float:
    """Return the seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=True)  # noqa: S603 -- ours
    return time.perf_counter() - began


def plugin(folder: str) -> float:
    """Return the seconds that the plugin adds to one unrelated test: fastest against fastest.

    The fastest of many is what a machine can do when nobody disturbs it.
    """
    Path(folder, "test_unrelated.py").write_text("def test_nothing():\n    assert True\n")
    command = [sys.executable, "-m", "pytest", "-q", "test_unrelated.py", "-p", "no:cacheprovider"]
    pairs = [
        (timed(command, folder), timed([*command, "-p", "no:assay"], folder))
        for _ in range(2 * ROUNDS)
    ]
    with_, without = (min(column) for column in zip(*pairs, strict=True))
    return with_ - without


def main() -> int:
    """Print the three figures beside their bounds."""
    with tempfile.TemporaryDirectory() as folder:
        figures = (
            ("first exchange", FIRST, statistics.median(first_exchange(folder) for _ in range(5))),
            (
                "whole run",
                WHOLE,
                statistics.median(timed([*ASSAY, "run"], folder) for _ in range(5)),
            ),
            ("plugin adds", PLUGIN, plugin(folder)),
        )
    for name, bound, seconds in figures:
        print(f"{name:<16} {seconds * 1000:8.1f} ms   bound {bound * 1000:,.0f} ms")
    return 0 if all(seconds < bound for _, bound, seconds in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
