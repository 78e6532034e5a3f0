"""Runs at a bank with latency: their time, against the longest trial and what the lanes allow.

    python harness/bench/latency.py [--latency 0,50,200] [--lanes 8,32] [--contexts base,each]
    python harness/bench/latency.py --seeds 20

A trial is a chain of calls that depend on each other, and so is a life, so no run can be shorter than
the longest of them times the latency, nor than the sum of all waits divided by the number of lanes.
The calls of every trial are counted on a bank in this process, those of
the control API and of a customer's screens included. Then `assay run` tests a bank in a process of
its own that waits before each answer.

With --seeds, runs of this number of seeds are compared: one after another, and 32 side by side at a bank
that delays one answer in ten, by up to 0.5 s. Verdicts and numbers of exchanges must be the same.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.contexts.context import STRENGTH, Depth
from assay.fuzzing.lives import lives_of
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.running.environment import set_up
from assay.running.parallel_trials import performed
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app

#: The most that a run may take with these lanes in the base context, in longest trials.
BOUNDS = {8: 5.0, 32: 2.0}
#: The lines of a journal that say how a run ended.
FINAL = {"verdict", "footer"}


def chains(depth: Depth) -> list[int]:
    """Return the number of calls of each trial and of each life."""
    trials: list[int] = []

    def bank(base_url: str) -> Any:
        app = make_app(base_url=base_url)

        def counted(environ: dict[str, Any], start: Any) -> Any:
            if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"].endswith("/worlds"):
                trials.append(0)
            trials[-1] += 1
            return app(environ, start)

        return counted

    prepared = prepare(contexts=depth)
    environment = set_up(prepared.target, bank=bank)
    run_session(Session(plan=prepared.plan, environment=environment, journal=Journal(out=None)))
    for contract in prepared.plan.contracts.values():
        for life in lives_of(contract, prepared.target, STRENGTH[depth]):
            performed(life, environment)
    environment.close()
    return trials


def serve(milliseconds: float, share: float) -> None:
    """Serve a sandbox that waits before each answer; print its port."""
    from waitress.server import create_server  # noqa: PLC0415 -- only in this process

    delays = random.Random(0)  # noqa: S311 -- no secret
    apps: list[Any] = []

    def slow(environ: dict[str, Any], start: Any) -> Any:
        if not share or delays.random() < share:
            time.sleep(milliseconds / 1000 * (delays.random() if share else 1))
        return apps[0](environ, start)

    server: Any = create_server(slow, host="127.0.0.1", port=0, threads=80, connection_limit=400)
    apps.append(make_app(base_url=f"http://127.0.0.1:{server.effective_port}"))
    print(server.effective_port, flush=True)
    server.run()


@contextmanager
def bank(milliseconds: float, share: float = 0.0) -> Iterator[str]:
    """Serve a slow bank in a process of its own; yield its URL."""
    command = [sys.executable, __file__, "--serve", str(milliseconds), "--share", str(share)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 -- ours
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def run(url: str, lanes: int, contexts: str, seed: int = 0) -> tuple[float, float, dict[str, Any]]:
    """Run `assay run`; return wall seconds, processor seconds, and the verdicts by obligation."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        options = ["--concurrency", str(lanes), "--contexts", contexts, "--seed", str(seed)]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        code = "from assay.cli.main import main; main()"
        command = [sys.executable, "-c", code, "run", "--quiet", "--no-doctor", "--target", url]
        command += [*options, "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 -- ours
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with (out / "journal.jsonl").open("rb") as journal:
            records = [each for each in map(json.loads, journal) if each["type"] in FINAL]
    verdicts = {each["obligation"]: each["verdict"] for each in records[:-1]}
    return wall, work, {"calls": records[-1]["exchanges"], **verdicts}


def measure(latencies: list[float], lanes: list[int], contexts: list[str]) -> bool:
    """Print the table; return whether the bounds hold."""
    print(
        "| contexts | latency | lanes | wall | CPU | sum of waits | longest trial | wall / longest "
        "| wall / what the lanes allow |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    good = True
    for depth in contexts:
        trials = chains(Depth(depth))
        for latency in latencies:
            with bank(latency) as url:
                for number in lanes:
                    wall, work, _ = run(url, number, depth)
                    total, longest = (
                        calls * latency / 1000 for calls in (sum(trials), max(trials))
                    )
                    ratio = wall / longest if longest else 0.0
                    good &= depth != "base" or ratio <= BOUNDS.get(number, ratio)
                    allowed = max(total / number, longest)
                    shown = (f"{ratio:.1f}", f"{wall / allowed:.2f}") if longest else ("-", "-")
                    row = (depth, f"{latency:g} ms", number, f"{wall:.1f} s", f"{work:.1f} s")
                    waits = f"{total:.0f} s ({sum(trials):,})", f"{longest:.1f} s ({max(trials)})"
                    print("|", " | ".join(map(str, (*row, *waits, *shown))), "|", flush=True)
    return good


def compare(seeds: int) -> bool:
    """Print how runs of many seeds, with random delays, differ from runs one after another."""
    different = 0
    with bank(0) as quick, bank(500, share=0.1) as delayed:
        for seed in range(seeds):
            *_, serial = run(quick, 1, "base", seed)
            *_, several = run(delayed, 32, "base", seed)
            different += serial != several
    print(f"{seeds} seeds, 32 lanes, one answer in ten delayed: {different} differ")
    return not different


def main() -> None:
    """Measure, or serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", default="0,50,200")
    parser.add_argument("--lanes", default="8,32")
    parser.add_argument("--contexts", default="base,each")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--serve", type=float)
    parser.add_argument("--share", type=float, default=0.0)
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve, given.share)
    elif given.seeds:
        sys.exit(not compare(given.seeds))
    else:
        latencies = [float(each) for each in given.latency.split(",")]
        lanes = [int(each) for each in given.lanes.split(",")]
        sys.exit(not measure(latencies, lanes, given.contexts.split(",")))


if __name__ == "__main__":
    main()
