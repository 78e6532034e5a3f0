"""The processor time of `assay run` by room, from samples, and the memory that it needs.

    pip install py-spy
    python harness/bench/rooms.py                          base and each, embedded
    python harness/bench/rooms.py --contexts base --loopback
    python harness/bench/rooms.py --functions 30           also the functions with the most samples

A sample counts for the innermost function of Assay on its stack: what a library does counts for the
room that called it, and waiting counts for none. `all below` are the samples with anything of the room
on the stack. py-spy reads the process from outside, and needs the right to do so (root, or ptrace).
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

#: The command that is measured.
RUN = ("-c", "from assay.cli.main import main; main()", "run", "--quiet", "--no-doctor")
FRAME = re.compile(r"(?P<function>.*) \((?P<path>.*?)(?::\d+)?\)")


@dataclass(slots=True)
class Samples:
    """The samples of one run, by room and by function."""

    own: Counter[str] = field(default_factory=Counter)
    below: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)

    def add(self, stack: str, number: int) -> None:
        """Count a stack of py-spy: frames from the outermost to the innermost."""
        frames = [place for each in stack.split(";") if (place := _place(each))]
        if frames:
            room, function = frames[-1]
            self.own[room] += number
            self.functions[f"{function} ({room})"] += number
            self.below.update(dict.fromkeys({room for room, _ in frames}, number))


def _place(frame: str) -> tuple[str, str] | None:
    """Return the room and the function of a frame, if it is of Assay."""
    found = FRAME.fullmatch(frame)
    _, package, path = found["path"].rpartition("assay/") if found else ("", "", "")
    if not package or "site-packages" in path or not found:
        return None
    return path.partition("/")[0].removesuffix(".py"), found["function"]


@contextmanager
def _bank(loopback: bool) -> Iterator[Sequence[str]]:
    """Yield the options that name the bank: none where it is embedded."""
    if not loopback:
        yield ()
        return
    from assay.sandbox.app import make_app  # noqa: PLC0415 -- only over loopback
    from assay.sandbox.serve import serving  # noqa: PLC0415

    with serving(make_app()) as url:
        yield ("--target", url)


def sampled(contexts: str, rate: int, *, loopback: bool) -> tuple[Samples, int]:
    """Run once; return the samples, and the peak of its memory in MiB."""
    samples = Samples()
    with TemporaryDirectory() as folder, _bank(loopback) as options:
        out = Path(folder) / "samples"
        spy = ["py-spy", "record", "--gil", "--rate", str(rate), "--format", "raw", "-o", str(out)]
        command = [sys.executable, *RUN, *options, "--contexts", contexts]
        subprocess.run(  # noqa: S603 -- our own command
            [*spy, "--", *command, "--out", f"{folder}/run", "--ledger", f"{folder}/ledger"],
            env={**os.environ, "PYTHONPATH": sys.path[0]},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        for line in out.read_text(encoding="utf-8").splitlines():
            stack, _, number = line.rpartition(" ")
            samples.add(stack, int(number))
    return samples, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def main() -> None:
    """Print a table of rooms for each run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--contexts", nargs="+", default=["base", "each"])
    parser.add_argument("--loopback", action="store_true")
    parser.add_argument("--rate", type=int, default=200, help="samples a second")
    parser.add_argument("--functions", type=int, default=0, metavar="N")
    given = parser.parse_args()
    for contexts in given.contexts:
        samples, peak = sampled(contexts, given.rate, loopback=given.loopback)
        total = samples.own.total()
        where = "loopback" if given.loopback else "embedded"
        print(f"\n{contexts}, {where}: {total / given.rate:.1f} s of samples, {peak} MiB\n")
        print("| room | own | all below |\n|---|--:|--:|")
        for room, number in samples.own.most_common():
            if number > total / 200:
                below = samples.below[room] / total
                print(f"| `{room}` | {number / total:.1%} | {below:.1%} |")
        for function, number in samples.functions.most_common(given.functions):
            print(f"{number / total:6.1%}  {function}")


if __name__ == "__main__":
    main()
