"""A fleet of banks over loopback with latency: two workers of `assay fleet` against one.

    python harness/bench/fleet.py [--banks 40] [--latency 20] [--rounds 1] [-k EXPR]

The banks are sandboxes in a process of their own, which waits before each answer as a network
would. Each run is a whole command with its start, its reports and its end; runs with one worker
and with two alternate, and the best of each counts. The banks count the requests that they got,
which must be the same for any number of workers. A Markdown table is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

GOAL = 1.7
#: About 100 calls at each bank.
SOME = "listing or psu-identity or quota"
COMMAND = (sys.executable, "-c", "from assay.cli.main import main; main()", "fleet")
TEMPLATE = """\
assay: 1
target: gateway
extends: sandbox
transport: http
base_url: ${url}
fixtures: {url: "${url}"}
"""


class SlowBank:
    """A sandbox that waits before each answer, and counts its requests."""

    def __init__(self, seconds: float) -> None:
        from assay.sandbox.app import make_app  # noqa: PLC0415 -- in the process of the banks

        self.app, self.seconds, self.requests = make_app(), seconds, 0

    def __call__(self, environ: Any, start_response: Any) -> Any:
        """Serve a request."""
        time.sleep(self.seconds)
        self.requests += 1
        return self.app(environ, start_response)


def serve(pipe: Connection, number: int, seconds: float) -> None:
    """Serve banks until they are to end; send their addresses, and their counts when asked."""
    from assay.sandbox.serve import serving  # noqa: PLC0415 -- in the process of the banks

    banks = [SlowBank(seconds) for _ in range(number)]
    with ExitStack() as stack:
        pipe.send([stack.enter_context(serving(bank)) for bank in banks])
        while pipe.recv() == "count":
            pipe.send([bank.requests for bank in banks])
            for bank in banks:
                bank.requests = 0


def run(folder: Path, workers: int, name: str, keywords: str) -> tuple[float, float]:
    """Run the fleet, and return the seconds and the CPU seconds of the whole command."""
    before, began = _cpu(), time.perf_counter()
    options = ("--workers", str(workers), "--out", str(folder / name), "--quiet", "--no-doctor")
    subprocess.run(  # noqa: S603 -- our own command
        [*COMMAND, str(folder / "banks.yaml"), *options, "-k", keywords, "--contexts", "base"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ,
    )
    return time.perf_counter() - began, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--banks", type=int, default=40)
    parser.add_argument("--latency", type=float, default=20, help="milliseconds")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("-k", dest="keywords", default=SOME)
    options = parser.parse_args()
    best, counts = measure(options)
    show(options, best, counts)
    if len({tuple(each) for each in counts}) > 1:
        print(f"the banks got different numbers of requests: {counts}")
        return 1
    return 0 if best[1][0] / best[2][0] >= GOAL else 1


def measure(options: argparse.Namespace) -> tuple[dict[int, tuple[float, float]], list[list[int]]]:
    """Return the best seconds by number of workers, and what the banks counted in each run."""
    context = get_context("spawn")
    here, there = context.Pipe()
    arguments = (there, options.banks, options.latency / 1000)
    banks = context.Process(target=serve, args=arguments, daemon=True)
    banks.start()
    best: dict[int, tuple[float, float]] = {}
    counts: list[list[int]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, here.recv())
        for number in range(options.rounds):
            for workers in (1, 2):
                measured = run(folder, workers, f"{number}-{workers}", options.keywords)
                best[workers] = min(measured, best.get(workers, measured))
                here.send("count")
                counts.append(here.recv())
    here.send("end")
    banks.join(10)
    return best, counts


def show(
    options: argparse.Namespace, best: dict[int, tuple[float, float]], counts: list[list[int]]
) -> None:
    """Print the table, with its command on top."""
    print(f"`{' '.join(['python', 'harness/bench/fleet.py', *sys.argv[1:]])}`")
    print()
    print(f"{options.banks} banks, {options.latency:g} ms, {sum(counts[0]):,} requests in each run")
    print()
    print("| Workers | Seconds | CPU seconds |")
    print("|---:|---:|---:|")
    for workers, (seconds, cpu) in best.items():
        print(f"| {workers} | {seconds:.1f} | {cpu:.1f} |")
    print()
    ratio = best[1][0] / best[2][0]
    print(f"Two workers are {ratio:.2f} times as fast as one (goal: at least {GOAL}).")


def _write(folder: Path, urls: list[str]) -> None:
    (folder / "gateway.yaml").write_text(TEMPLATE)
    banks = {f"bank-{number}": {"variables": {"url": url}} for number, url in enumerate(urls, 1)}
    file = {"assay": 1, "fleet": "bench", "template": "gateway.yaml", "contracts": ["aisp"]}
    (folder / "banks.yaml").write_text(json.dumps({**file, "banks": banks}))


if __name__ == "__main__":
    sys.exit(main())
