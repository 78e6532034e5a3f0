"""The processor time of `assay run`, against a bare replay of the very same requests.

    python harness/bench/replay.py [--rounds 5] [--contexts base]

All requests of a run of both contracts are recorded, those of the control API and of a customer's
screens included. Then two kinds of processes take turns: `assay run`, from its start to its report,
and a plain httpx loop that sends the recorded requests to a fresh bank. The links by which payments
are signed and all other names that the bank makes up are foreseeable here, so that the bank does
the same for both; the loop stops if an answer has another status than it had for the run.

Embedded, the bank is in the process that is measured; over loopback, it is in another one that is
not. The least processor time of the rounds counts.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import resource
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

#: The command that is measured.
RUN = ("-c", "from assay.cli.main import main; main()", "run", "--quiet", "--no-doctor")
#: The most that a run may take, in processor times of the replay.
BOUND = 1.5


def make_foreseeable() -> None:
    """Let the bank number what it otherwise makes up; call it before the sandbox is imported."""
    numbers = itertools.count()
    secrets.token_urlsafe = lambda size=24: f"{next(numbers):0{size * 4 // 3}x}"  # type: ignore[assignment]


def recorded(path: Path, app: Any) -> Any:
    """Return an application that writes each request and its status as a line of a file."""
    out = path.open("w", encoding="utf-8")

    def application(environ: dict[str, Any], start: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        path, query = environ["PATH_INFO"], environ["QUERY_STRING"]
        headers = {
            key[5:].replace("_", "-").title(): value
            for key, value in environ.items()
            if key.startswith("HTTP_") and key not in {"HTTP_HOST", "HTTP_CONNECTION"}
        }
        if environ.get("CONTENT_TYPE"):
            headers["Content-Type"] = environ["CONTENT_TYPE"]
        target = environ.get("REQUEST_URI") or (f"{path}?{query}" if query else path)
        host = f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}"
        request = [environ["REQUEST_METHOD"], host, target, headers, body.decode("latin-1")]

        def started(status: str, *rest: Any) -> Any:
            print(json.dumps([*request, int(status[:3])]), file=out, flush=True)
            return start(status, *rest)

        return app(environ, started)

    return application


def replay(path: Path, port: int | None) -> None:
    """Send recorded requests with a plain httpx client, to a bank here or on a port."""
    import httpx  # noqa: PLC0415 -- its import is part of what is measured

    transport = None
    if port is None:
        make_foreseeable()
        from assay.sandbox.app import make_app  # noqa: PLC0415 -- after the names are foreseeable

        host = json.loads(path.open(encoding="utf-8").readline())[1]
        transport = httpx.WSGITransport(app=make_app(base_url=host))
    with httpx.Client(transport=transport, trust_env=False) as client, path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            method, host, target, headers, body, status = json.loads(line)
            url = host + target
            if port is not None:  # the bank's other hosts are at the same address
                url = f"http://127.0.0.1:{port}{target}"
                headers["Host"] = host.partition("://")[2]
            answer = client.request(method, url, headers=headers, content=body.encode("latin-1"))
            if answer.status_code != status:
                sys.exit(
                    f"request {number} ({method} {target}): {answer.status_code}, not {status}"
                )


def serve(port: int, record: Path | None) -> None:
    """Serve a bank with foreseeable names."""
    make_foreseeable()
    from waitress.server import create_server  # noqa: PLC0415 -- only in this process

    from assay.sandbox.app import make_app  # noqa: PLC0415

    app: Any = make_app(base_url=f"http://127.0.0.1:{port}")
    served = recorded(record, app) if record else app
    server = create_server(served, host="127.0.0.1", port=port, threads=4)
    print("ready", flush=True)
    server.run()


def record_embedded(path: Path, contexts: str) -> None:
    """Record the requests of a run on a bank in this process."""
    make_foreseeable()
    from assay.contexts.context import Depth  # noqa: PLC0415
    from assay.journal.writer import Journal  # noqa: PLC0415
    from assay.preparation.prepare import prepare  # noqa: PLC0415
    from assay.running.environment import set_up  # noqa: PLC0415
    from assay.running.session import Session, run_session  # noqa: PLC0415
    from assay.sandbox.app import make_app  # noqa: PLC0415

    prepared = prepare(contexts=Depth(contexts))
    environment = set_up(
        prepared.target, bank=lambda base_url: recorded(path, make_app(base_url=base_url))
    )
    run_session(Session(plan=prepared.plan, environment=environment, journal=Journal(out=None)))


def work_of(*command: str) -> float:
    """Run a command, and return its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(  # noqa: S603 -- this very file, or our own command
        [sys.executable, *command], check=True, stdout=subprocess.DEVNULL, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def bank(port: int, *options: str) -> Iterator[None]:
    """Serve a bank in a process of its own."""
    command = [sys.executable, __file__, "serve", "--port", str(port), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 -- ours
        try:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                sys.exit("the bank did not start")
            yield
        finally:
            process.terminate()


def embedded(folder: Path, rounds: int, contexts: str) -> Iterator[tuple[float, float]]:
    """Yield the processor seconds of a run and of a replay, each with its bank."""
    record = folder / "requests.jsonl"
    work_of(__file__, "record", "--file", str(record), "--contexts", contexts)
    for number in range(rounds):
        ours = work_of(*RUN, "--contexts", contexts, "--out", f"{folder}/{number}")
        yield ours, work_of(__file__, "replay", "--file", str(record))


def loopback(folder: Path, rounds: int, contexts: str) -> Iterator[tuple[float, float]]:
    """Yield the processor seconds of a run and of a replay, without those of the bank."""
    record = folder / "requests.jsonl"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    target = ("--target", f"http://127.0.0.1:{port}", "--concurrency", "1")
    run = (*RUN, *target, "--contexts", contexts, "--out")
    with bank(port, "--file", str(record)):
        work_of(*run, f"{folder}/recorded")
    for number in range(rounds):
        with bank(port):
            ours = work_of(*run, f"{folder}/{number}")
        with bank(port):
            yield ours, work_of(__file__, "replay", "--file", str(record), "--port", str(port))


def measure(rounds: int, contexts: str) -> bool:
    """Print both ratios; return whether they are within the bound."""
    print("| bank | requests | `assay run` | bare replay | ratio |")
    print("|---|---|---|---|---|")
    ratios: list[float] = []
    for way in (embedded, loopback):
        with TemporaryDirectory() as name:
            times = [*way(Path(name), rounds, contexts)]
            with (Path(name) / "requests.jsonl").open("rb") as lines:
                count = sum(1 for _ in lines)
        ours, theirs = (min(column) for column in zip(*times, strict=True))
        ratios.append(ours / theirs)
        row = (way.__name__, f"{count:,}", f"{ours:.2f} s", f"{theirs:.2f} s", f"{ratios[-1]:.2f}")
        print("|", " | ".join(row), "|", flush=True)
    return max(ratios) <= BOUND


def main() -> None:
    """Measure; or record, serve or replay, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", default="measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--contexts", default="base")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    match given.what:
        case "record":
            record_embedded(given.file, given.contexts)
        case "serve":
            serve(given.port, given.file)
        case "replay":
            replay(given.file, given.port)
        case _:
            sys.exit(not measure(given.rounds, given.contexts))


if __name__ == "__main__":
    main()
