"""Start-up times: of `--help`, to the first exchange, of a whole run, and what the plugin adds.

A small server notes when the first call of `assay run` arrives; the command is then stopped.
The whole run is on the embedded sandbox. The last figure is what the installed plugin adds
to a pytest run that has nothing to do with Assay.

All figures but the whole run are processor time, with bytecode written as pip leaves it. The
first three are the least of several rounds, which end as soon as one is below the bound. If the
whole run misses its bound because other programs use the processors, its processor time counts.
A command that does not end is stopped after a minute.
`python harness/bench/start.py 2` makes two rounds for each of the first three.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROUNDS = 7
#: The bounds, in seconds.
HELP, FIRST, WHOLE, PLUGIN = 0.06, 0.4, 5.0, 0.020
#: Seconds after which a command is stopped.
TIMEOUT = 60.0
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
ASSAY = [sys.executable, "-c", "from assay.cli.start import main; main()"]


class Stopwatch(ThreadingHTTPServer):
    """A server that notes that the first request arrived, and serves nothing."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ClosingHandler)
        self.arrived = threading.Event()


class ClosingHandler(BaseHTTPRequestHandler):
    """Closes every connection; the stopwatch notes when the first came."""

    def handle_one_request(self) -> None:
        """Note that it came, and read nothing."""
        if isinstance(self.server, Stopwatch):
            self.server.arrived.set()
        self.close_connection = True


def first_exchange(folder: str) -> float:
    """Return the processor seconds from starting `assay run` to its first call."""
    before = children_time()
    with Stopwatch() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [*ASSAY, "run", "--target", f"http://127.0.0.1:{server.server_port}"]
        with subprocess.Popen(  # noqa: S603 -- our own command
            command,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        ) as child:
            arrived = server.arrived.wait(TIMEOUT)
            child.kill()
        server.shutdown()
    if not arrived:
        raise SystemExit(f"no call of `assay run` within {TIMEOUT:.0f} s")
    return children_time() - before


def help_page(folder: str) -> float:
    """Return the processor seconds of `assay --help`."""
    return processor_time([*ASSAY, "--help"], folder)


def whole_run(folder: str) -> float:
    """Return the seconds of `assay run` on the embedded sandbox."""
    began = time.perf_counter()
    run([*ASSAY, "run"], folder)
    return time.perf_counter() - began


def run(command: list[str], folder: str) -> None:
    """Run a command that must succeed."""
    try:
        subprocess.run(  # noqa: S603 -- our own command
            command, cwd=folder, capture_output=True, check=True, timeout=TIMEOUT, env=ENVIRONMENT
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise SystemExit(f"{error}\n{(error.stderr or b'').decode()}") from None


def fastest(measure: Callable[[str], float], folder: str, bound: float, rounds: int) -> float:
    """Return the least of some rounds; the first below the bound ends them.

    On a busy machine, a result above the bound is replaced by the least processor time.
    """
    least = least_processor_time = float("inf")
    for _ in range(rounds):
        before = children_time()
        least = min(least, measure(folder))
        least_processor_time = min(least_processor_time, children_time() - before)
        if least < bound:
            return least
    if os.getloadavg()[0] <= (os.cpu_count() or 1):
        return least
    print(f"busy machine: {least * 1000:.1f} ms elapsed; the processor time counts", flush=True)
    return least_processor_time


def plugin(folder: str, rounds: int) -> float:
    """Return the processor seconds that the plugin adds to one unrelated test.

    Other installed plugins are off: their time varies more than the bound.
    """
    Path(folder, "test_unrelated.py").write_text("def test_nothing():\n    assert True\n")
    command = [sys.executable, "-m", "pytest", "-q", "test_unrelated.py", "-p", "no:cacheprovider"]
    with_plugin = [*command, "-p", "assay.pytest_plugin"]
    run(with_plugin, folder)  # writes the bytecode, so that no round pays for it
    pairs = [
        (processor_time(with_plugin, folder), processor_time(command, folder))
        for _ in range(max(rounds, ROUNDS))
    ]
    with_, without = (min(times) for times in zip(*pairs, strict=True))
    return with_ - without


def processor_time(command: list[str], folder: str) -> float:
    """Return the processor time of a command, in seconds."""
    before = children_time()
    run(command, folder)
    return children_time() - before


def children_time() -> float:
    """Return the processor time of all commands so far, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Print the figures next to their bounds; return 1 if a bound is missed."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, bound, measure in (
            ("--help", HELP, lambda: fastest(help_page, folder, HELP, rounds)),
            ("first exchange", FIRST, lambda: fastest(first_exchange, folder, FIRST, rounds)),
            ("whole run", WHOLE, lambda: fastest(whole_run, folder, WHOLE, rounds)),
            ("plugin adds", PLUGIN, lambda: plugin(folder, rounds)),
        ):
            seconds = measure()
            missed = missed or seconds >= bound
            line = f"{name:<16} {seconds * 1000:8.1f} ms   bound {bound * 1000:,.0f} ms"
            print(line, flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
