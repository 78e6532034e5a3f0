"""Runs of `assay run` against hostile banks, and the table of their results.

`python -m support.hostile_table` in `harness/tests` writes `reports/reference/hostile.md`;
`--json` prints the results instead, `-k TEXT` selects behaviours by name, `--keep DIR` keeps the
reports. Each run is a process of its own, so that its peak memory can be measured; what each
sends, how long it takes and what it says are compared with the bounds below.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path

from support.hostile import Behaviour, serve
from support.hostile_behaviours import BEHAVIOURS

from assay.cli.main import main as assay
from assay.transport.http import (
    HttpClient,  # noqa: F401 -- as above
    tls_context,  # noqa: F401 -- imported before the runs fork
)

__all__ = ["MOST_MEMORY", "TABLE", "TIMEOUT", "Result", "results", "table"]

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "reports" / "reference" / "hostile.md"
#: The timeout of the target file, in seconds: where a client has to end the exchange, and where
#: the bank does, however busy the machine is.
TIMEOUT, LONG_TIMEOUT = 1.5, 10.0
#: Seconds of the processor that a run may need.
MOST_WORK = 6.0
#: The most memory of a run, in MB.
MOST_MEMORY = 300
#: Runs at the same time; most of them wait.
AT_ONCE = 5
#: A run is killed after this many seconds; the behaviours go on for longer.
KILL_AFTER = 60.0

TARGET = """\
assay: 1
target: hostile
extends: sandbox
contracts: [{contract}]
transport: http
base_url: "{url}"
hosts: null
timeout: {timeout}
"""
OAUTH = """\
auth:
  kind: authorization-code
  authorize_url: {url}/oauth/authorize
  token_url: {url}/oauth/token
  redirect_uri: https://tpp.example/back
  client_id: demo-tpp
  client_secret_env: HOSTILE_CLIENT_SECRET
  scope: aisp
"""

AISP = "(accounts.available and answers) or (balances.available and answers) or all-without-consent"
#: For each place: what is selected, and the obligation that the behaviour concerns.
SELECTIONS = {
    "api": (AISP, "aisp/balances.available/answers"),
    "control": (AISP, "aisp/balances.available/answers"),
    "token": (AISP, "aisp/balances.available/answers"),
    "screen": ("main-flow or create-payment-links", "pis/execution/main-flow"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one run; `others` are the verdicts on what the behaviour does not concern."""

    name: str
    about: str
    harmless: bool
    exit: int
    verdict: str
    others: tuple[str, ...]
    reason: str
    calls: int
    slowest: float
    seconds: float
    work: float
    megabytes: int
    output: str

    @property
    def faults(self) -> list[str]:
        """What is not as it must be."""
        wanted = "conforms" if self.harmless else "neither conforms nor violates"
        fits = (
            self.verdict == "conforms"
            if self.harmless
            else self.verdict in {"unverified", "indeterminate"}
        )
        checks = {
            f"exit {self.exit}": self.exit == (0 if self.harmless else 3),
            f"{self.verdict}, expected that it {wanted}": fits,
            f"others: {self.others}": set(self.others) == {"conforms"},
            f"a request took {self.slowest:.1f} s": self.slowest <= 2 * TIMEOUT,
            f"{self.work:.1f} s of the processor": self.work <= MOST_WORK,
            f"{self.megabytes} MB": self.megabytes <= MOST_MEMORY,
            f"a traceback: {self.output[-300:]}": "Traceback" not in self.output,
        }
        return [fault for fault, holds in checks.items() if not holds]


def results(chosen: Iterable[Behaviour], folder: Path) -> Iterator[Result]:
    """Run against each behaviour; yield the results as the runs end."""
    sockets = {
        behaviour: socket.create_server(("127.0.0.1", 0), backlog=64) for behaviour in chosen
    }
    _warm_up(folder / "first")
    server = os.fork()
    if not server:
        _serve(sockets)
    ports = {behaviour: own.getsockname()[1] for behaviour, own in sockets.items()}
    for own in sockets.values():
        own.close()
    waiting, running = list(ports.items()), dict[int, tuple[Behaviour, Path, float]]()
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                behaviour, port = waiting.pop(0)
                own = folder / f"{len(waiting)}"
                own.mkdir()
                running[_start(behaviour, port, own)] = behaviour, own, time.monotonic()
            number, status, usage = os.wait4(-1, 0)
            if number == server:
                raise RuntimeError("the hostile server ended")
            behaviour, own, began = running.pop(number)
            code = os.waitstatus_to_exitcode(status)
            seconds = time.monotonic() - began
            work = usage.ru_utime + usage.ru_stime
            yield _result(behaviour, own, code, (seconds, work, usage.ru_maxrss // 1024))
    finally:
        for number in (server, *running):
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)


def _warm_up(folder: Path) -> None:
    """Run once without a network, so that what all runs need is imported before they fork."""
    folder.mkdir()
    file = folder / "target.yaml"
    file.write_text("assay: 1\ntarget: first\nextends: sandbox\n")
    with redirect_stdout(io.StringIO()):
        _run(file, SELECTIONS["screen"][0], folder / "out")


def _run(target: Path, selection: str, out: Path) -> int:
    """Run `assay run`; return its exit code."""
    options = ["--contexts", "base", "--no-doctor", "--examples", "none", "--out", str(out)]
    # One after another, so that a behaviour meets the call that it is meant for.
    options += ["--concurrency", "1"]
    sys.argv = ["assay", "run", "--quiet", "--target", str(target), "-k", selection, *options]
    try:
        assay()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 71
    return 0


def _serve(sockets: dict[Behaviour, socket.socket]) -> None:
    for behaviour, own in sockets.items():
        serve(behaviour, own)
    while True:
        signal.pause()


def _start(behaviour: Behaviour, port: int, folder: Path) -> int:
    """Start a run in a process of its own."""
    number = os.fork()
    if number:
        return number
    code = 70
    try:
        signal.alarm(int(KILL_AFTER))
        url = f"http://127.0.0.1:{port}"
        text = TARGET + (OAUTH if behaviour.place == "token" else "")
        file = folder / "target.yaml"
        timeout = TIMEOUT if behaviour.act.waits else LONG_TIMEOUT
        contract = SELECTIONS[behaviour.place][1].partition("/")[0]
        file.write_text(text.format(url=url, timeout=timeout, contract=contract))
        os.environ["HOSTILE_CLIENT_SECRET"] = "demo-tpp-secret"
        for stream in (sys.stdout, sys.stderr):
            output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(output, stream.fileno())
        code = _run(file, SELECTIONS[behaviour.place][0], folder / "out")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _result(
    behaviour: Behaviour, folder: Path, code: int, used: tuple[float, float, int]
) -> Result:
    verdicts: dict[str, tuple[str, str]] = {}
    calls = 0
    report = folder / "out" / "report.json"
    if report.exists():
        content = json.loads(report.read_text(encoding="utf-8"))
        calls = content["run"]["exchanges"]
        verdicts = {
            entry["id"]: (entry["verdict"], entry.get("reason", ""))
            for entry in content["obligations"]
        }
    _, concerned = SELECTIONS[behaviour.place]
    verdict, reason = verdicts.pop(concerned, ("none", ""))
    return Result(
        name=behaviour.name,
        about=behaviour.about,
        harmless=behaviour.harmless,
        exit=code,
        verdict=verdict,
        others=tuple(sorted(verdict for verdict, _ in verdicts.values())) or ("none",),
        reason=reason,
        calls=calls,
        slowest=_slowest(folder / "out" / "journal.jsonl"),
        seconds=round(used[0], 2),
        work=round(used[1], 2),
        megabytes=used[2],
        output=(folder / "output").read_text(errors="replace"),
    )


def _slowest(journal: Path) -> float:
    """Return the seconds of the slowest request; a signature is several."""
    lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
    events = [json.loads(line) for line in lines]
    requests = [event for event in events if event.get("operation") not in {None, "signing"}]
    return max((event["ms"] / 1000 for event in requests if "ms" in event), default=0.0)


def table(ended: Iterable[Result]) -> str:
    """Return the table of all results."""
    order = {behaviour.name: number for number, behaviour in enumerate(BEHAVIOURS)}
    rows = sorted(ended, key=lambda result: order[result.name])
    slowest = max(result.seconds for result in rows)
    largest = max(result.megabytes for result in rows)
    lines = [
        "# Hostile banks",
        "",
        f"{len(rows)} behaviours of a bank on the wire. Each run tests three or two obligations with",
        f"`timeout: {TIMEOUT}`; the behaviour concerns one of them. Each request must end within twice",
        f"the timeout, and a run need at most {MOST_MEMORY} MB, exit with 3 (or with 0 where the",
        "behaviour is harmless), call nothing a violation, and verify all other obligations.",
        f"The slowest run took {slowest:.1f} s, the largest {largest} MB.",
        "",
        "Generated by `python -m support.hostile_table` in `harness/tests`; the tests run the same.",
    ]
    about = ""
    for result in rows:
        if result.about != about:
            about = result.about
            lines += [
                "",
                f"## {about.capitalize()}",
                "",
                "| Behaviour | Exit | Verdict | Others | Seconds | MB |",
                "|---|---:|---|---|---:|---:|",
            ]
        others = f"{result.others.count('conforms')} of {len(result.others)} conform"
        name = result.name.replace("|", "\\|").replace("<", "&lt;")
        lines.append(
            f"| {name} | {result.exit} | {result.verdict} | {others}"
            f" | {result.seconds:.1f} | {result.megabytes} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run all, or a selection; write the table, or print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", default="", help="only behaviours whose name contains this")
    parser.add_argument("--json", action="store_true", help="print the results as JSON lines")
    parser.add_argument("--keep", type=Path, help="keep the reports of the runs in this folder")
    options = parser.parse_args()
    chosen = [behaviour for behaviour in BEHAVIOURS if options.k in behaviour.name]
    with tempfile.TemporaryDirectory() as temporary:
        ended: list[Result] = []
        for result in results(chosen, options.keep or Path(temporary)):
            ended.append(result)
            if options.json:
                sys.stdout.write(json.dumps({**asdict(result), "faults": result.faults}) + "\n")
            elif result.faults:
                sys.stderr.write(f"{result.name}: {'; '.join(result.faults)}\n")
    if not options.json and not options.k:
        TABLE.write_text(table(ended), encoding="utf-8")
    sys.exit(any(result.faults for result in ended))


if __name__ == "__main__":
    main()
