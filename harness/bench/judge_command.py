"""The cost of `assay judge` as a command, and of `assay report` on what it writes.

Recordings of growing length are made of one recorded run of the sandbox (`multiplied`). Each is
judged by the command in a process of its own. The processor time is compared with that of
`json.loads` of the same file, which has to read it as well; rounds are interleaved, and the
smallest figures count. Memory is the largest resident set. A file of 10^6 exchanges is too large
for `json.loads`, which needs several times its size.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import multiplied

#: Prints the largest resident set of this program alone; `getrusage` includes that of its parent.
PEAK = "import atexit,re,sys;atexit.register(lambda:print(re.search(r'VmHWM:\\s+(\\d+)',open('/proc/self/status').read())[1],file=sys.stderr));"
START = "from assay.cli.start import main; main()"
LOADS = "import json, sys; json.loads(open(sys.argv[1], 'rb').read())"
#: How often each size is measured; larger ones are measured once.
ROUNDS = {10**3: 3, 10**4: 2}
#: The longest recording that `json.loads` reads as well.
LOADED = 10**5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Processor seconds, and MiB of memory."""

    seconds: float
    mebibytes: float


def cost(program: str, *arguments: str) -> Cost:
    """Run a program in a process of its own; a recording never shows everything."""
    command = [sys.executable, "-c", PEAK + program, *arguments]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)  # noqa: S603 -- this file's programs
        _, status, used = os.wait4(child.pid, 0)
        errors.seek(0)
        lines = errors.read().split()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in {0, 3}:
        raise SystemExit(f"{' '.join(arguments)} ended with {child.returncode}")
    return Cost(seconds=used.ru_utime + used.ru_stime, mebibytes=int(lines[-1]) / 1024)


def smallest(costs: Sequence[Cost]) -> Cost:
    """Return the smallest of both figures."""
    return Cost(
        seconds=min(each.seconds for each in costs),
        mebibytes=min(each.mebibytes for each in costs),
    )


def row(made: list[dict[str, object]], size: int, folder: Path) -> str:
    """Measure one size; return the row of the table."""
    har = folder / f"{size}.har"
    multiplied.write(har, made, size)
    costs: dict[str, list[Cost]] = {"loads": [], "judge": [], "report": []}
    for n in range(ROUNDS.get(size, 1)):
        out = folder / f"{size}-{n}"
        if size <= LOADED:
            costs["loads"].append(cost(LOADS, str(har)))
        costs["judge"].append(cost(START, "judge", str(har), "--quiet", "--out", str(out)))
        journal = str(out / "journal.jsonl")
        costs["report"].append(cost(START, "report", journal, "-f", "json"))
    judge, report = smallest(costs["judge"]), smallest(costs["report"])
    loads = min((each.seconds for each in costs["loads"]), default=0.0)
    length = har.stat().st_size
    har.unlink()
    return (
        f"| {size:,} | {length / 2**20:,.0f} | {f'{loads:.2f}' if loads else '-'} | {judge.seconds:.2f}"
        f" | {f'{judge.seconds / loads:.1f}' if loads else '-'} | {1e6 * judge.seconds / size:,.0f}"
        f" | {judge.mebibytes:.0f} | {report.seconds:.2f} | {report.mebibytes:.0f} |"
    )


def measure(sizes: Sequence[int]) -> None:
    """Print a Markdown table."""
    print(f"`python harness/bench/judging.py command {sizes[-1]}`\n")
    print(
        "| exchanges | MiB | `json.loads`, CPU s | `assay judge`, CPU s | times `json.loads` "
        "| us per exchange | MiB of memory | `assay report`, CPU s | MiB of memory |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    made = multiplied.entries()
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            print(row(made, size, Path(folder)), flush=True)
