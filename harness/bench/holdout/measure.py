"""What the harness finds of the faults of the holdout bank.

    python harness/bench/holdout/measure.py                 all 150 faults
    python harness/bench/holdout/measure.py -n 2 duplicate cash-never
    python harness/bench/holdout/measure.py --kind context --json found.json
    python harness/bench/holdout/measure.py --seen          whether the faults themselves can be seen

Every run is what a stranger would do: the bank behind a port, and `assay run` on its target
file. A fault is found if an obligation is violated that is not violated at the sound bank.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
HOLDOUT = TESTS / "holdout"
sys.path.insert(0, str(TESTS))

from faults import BY_ID, FAULTS, Fault  # noqa: E402
from holdout.bank import Bank, Served  # noqa: E402
from holdout.policy import Policy  # noqa: E402
from probes import PROBES, trace  # noqa: E402

FILES = ("target.yaml", "target-oauth.yaml", "adapter.py")
ASSAY = shutil.which("assay") or str(Path(sys.executable).with_name("assay"))
KINDS = ("plain", "context", "consequence")


@dataclass(frozen=True)
class Run:
    """One run of the harness on one bank."""

    fault: str
    violated: tuple[str, ...]
    counts: dict[str, int]
    code: int
    seconds: float
    trouble: str = ""


@dataclass(frozen=True)
class Job:
    """What is to be run."""

    fault: str
    target: str
    options: tuple[str, ...]
    limit: float


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run(job: Job) -> Run:
    """Serve one bank, and run the harness on it."""
    policy = BY_ID[job.fault].policy() if job.fault else Policy()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Served(Bank(policy)) as served:
        place = Path(folder)
        for name in FILES:
            shutil.copy(HOLDOUT / name, place / name)
            if name.endswith(".yaml"):
                text = (place / name).read_text(encoding="utf-8")
                place.joinpath(name).write_text(
                    text.replace(":8765", f":{served.port}"), encoding="utf-8"
                )
        command = [
            *(ASSAY, "run", "--target", str(place / job.target)),
            *("--out", str(place / "out"), "--ledger", str(place / "ledger.sqlite")),
            *("--examples", "none", "--allow-incomplete", "--quiet", *job.options),
        ]
        paths = [str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=job.limit,
                check=False,
            )
            code, said = done.returncode, done.stderr.strip()[-300:]
        except subprocess.TimeoutExpired:
            code, said = -1, f"no end after {job.limit:.0f} s"
        report = place / "out" / "report.json"
        seconds = time.monotonic() - begun
        if not report.exists():
            return Run(job.fault, (), {}, code, seconds, said or "no report")
        found = json.loads(report.read_text(encoding="utf-8"))
    violated = [one["id"] for one in found["obligations"] if one["verdict"] == "violates"]
    return Run(job.fault, tuple(violated), found["counts"], code, seconds)


def table(runs: Sequence[Run], sound: Run) -> None:
    usual = set(sound.violated)
    for made in runs:
        fault = BY_ID[made.fault]
        news = sorted(set(made.violated) - usual)
        word = "found " if news else "MISSED"
        why = ", ".join(news) or made.trouble or fault.sentence
        say(f"{word} {fault.kind:<12} {fault.id:<28} {why}")


def rates(runs: Sequence[Run], sound: Run) -> None:
    usual = set(sound.violated)
    for kind in (*KINDS, "all"):
        mine = [made for made in runs if kind in (BY_ID[made.fault].kind, "all")]
        found = [made for made in mine if set(made.violated) - usual]
        if mine:
            say(f"{kind:<12} {len(found):>3} of {len(mine):>3}  {len(found) / len(mine):.0%}")


def keep(file: Path | None, runs: Sequence[Run]) -> None:
    """Write what is known so far."""
    if file is not None:
        text = json.dumps([asdict(made) for made in runs], indent=1)
        file.write_text(text + "\n", encoding="utf-8")


def unseen(faults: Sequence[Fault]) -> list[str]:
    """Return the faults with which a bank answers every probe as the sound one does."""
    sound = {probe: trace(Policy(), probe) for probe in PROBES}
    return [
        fault.id
        for fault in faults
        if all(trace(fault.policy(), probe) == sound[probe] for probe in PROBES)
    ]


def chosen(names: Sequence[str], kind: str | None) -> list[Fault]:
    unknown = sorted(set(names) - set(BY_ID))
    if unknown:
        raise SystemExit(f"no such fault: {', '.join(unknown)}")
    faults = [BY_ID[name] for name in names] if names else list(FAULTS)
    return [fault for fault in faults if kind in (None, fault.kind)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("faults", nargs="*", help="ids of faults; default: all")
    parser.add_argument("--kind", choices=KINDS, help="only faults of this class")
    parser.add_argument("--sound", action="store_true", help="only the sound bank")
    parser.add_argument("--seen", action="store_true", help="only whether faults can be seen")
    parser.add_argument("-n", type=int, default=1, help="so many runs at a time")
    parser.add_argument("--target", default="target.yaml", choices=FILES[:2])
    parser.add_argument("--doctor", action="store_true", help="with the preflight check")
    for name in ("--seed", "--journeys", "--fields"):
        parser.add_argument(name, default="0")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each run")
    parser.add_argument("--json", type=Path, help="write every run to this file")
    args = parser.parse_args()
    options = ["--seed", args.seed, "--journeys", args.journeys, "--fields", args.fields]
    options += [] if args.doctor else ["--no-doctor"]
    faults = [] if args.sound else chosen(args.faults, args.kind)
    if args.seen:
        raise SystemExit(", ".join(unseen(faults)) or None)
    ids = ["", *(fault.id for fault in faults)]
    jobs = [Job(name, args.target, tuple(options), args.limit) for name in ids]
    sound = run(jobs[0])
    say(f"sound bank: {sound.counts} in {sound.seconds:.1f} s {sound.trouble}")
    for name in sound.violated:
        say(f"false alarm  {name}")
    keep(args.json, [sound])
    runs: list[Run] = []
    with multiprocessing.Pool(args.n) as pool:
        for made in pool.imap(run, jobs[1:]):
            runs.append(made)
            table([made], sound)
            keep(args.json, [sound, *runs])
    rates(runs, sound)


if __name__ == "__main__":
    main()
