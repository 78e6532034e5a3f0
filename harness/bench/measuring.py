"""What the harness finds of the faults of the holdout bank: run by run, and as a table.

Every run is what a stranger would do: the bank behind a port, and `assay run` on its target
file. A fault is found if an obligation is violated that is not violated at the sound bank.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, Protocol

TESTS = Path(__file__).resolve().parents[1] / "tests"
HOLDOUT = TESTS / "holdout"
sys.path.insert(0, str(TESTS))

from holdout.api import Api  # noqa: E402
from holdout.bank import Bank, Served  # noqa: E402

FILES = ("target.yaml", "target-oauth.yaml", "adapter.py")
ASSAY = shutil.which("assay") or str(Path(sys.executable).with_name("assay"))
KINDS = ("plain", "context", "consequence")
#: Short sequences of calls, by their names.
Probes = Mapping[str, Callable[[Api], None]]


class Fault(Protocol):
    """One way in which the bank is wrong."""

    id: str
    kind: str
    sentence: str

    def bank(self) -> Bank:
        """Return a bank that has it."""


@dataclass(frozen=True)
class Run:
    """One run of the harness on one bank, and how often its fault took effect, if it counts."""

    fault: str
    violated: tuple[str, ...]
    counts: dict[str, int]
    code: int
    seconds: float
    trouble: str = ""
    triggered: int | None = None
    contexts: str = ""


@dataclass(frozen=True)
class Setting:
    """How the harness is run."""

    target: str
    contexts: str
    options: tuple[str, ...]
    limit: float


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run(setting: Setting, fault: Fault | None) -> Run:
    """Serve one bank, and run the harness on it."""
    bank, name = (fault.bank(), fault.id) if fault else (Bank(), "")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Served(bank) as served:
        place = Path(folder)
        for file in FILES:
            shutil.copy(HOLDOUT / file, place / file)
            if file.endswith(".yaml"):
                text = (place / file).read_text(encoding="utf-8")
                place.joinpath(file).write_text(
                    text.replace(":8765", f":{served.port}"), encoding="utf-8"
                )
        command = [
            *(ASSAY, "run", "--target", str(place / setting.target)),
            *("--out", str(place / "out"), "--ledger", str(place / "ledger.sqlite")),
            *("--contexts", setting.contexts, *setting.options),
            *("--examples", "none", "--allow-incomplete", "--quiet"),
        ]
        paths = [str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        try:
            done = subprocess.run(  # noqa: S603 -- our own command
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=setting.limit,
                check=False,
            )
            code, said = done.returncode, done.stderr.strip()[-300:]
        except subprocess.TimeoutExpired:
            code, said = -1, f"no end after {setting.limit:.0f} s"
        report = place / "out" / "report.json"
        seconds = time.monotonic() - begun
        triggered = getattr(bank.policy, "triggered", None)
        if not report.exists():
            trouble = said or "no report"
            return Run(name, (), {}, code, seconds, trouble, triggered, setting.contexts)
        found = json.loads(report.read_text(encoding="utf-8"))
    violated = [one["id"] for one in found["obligations"] if one["verdict"] == "violates"]
    counts = found["counts"]
    return Run(name, tuple(violated), counts, code, seconds, "", triggered, setting.contexts)


def table(runs: Sequence[Run], sound: Run, faults: dict[str, Fault]) -> None:
    """Print what is violated with each fault, or that it was missed."""
    usual = set(sound.violated)
    for made in runs:
        fault = faults[made.fault]
        news = sorted(set(made.violated) - usual)
        word = "found " if news else "MISSED"
        why = ", ".join(news) or made.trouble or fault.sentence
        say(f"{word} {fault.kind:<12} {fault.id:<28} {why}")


def rates(runs: Sequence[Run], sound: Run, faults: dict[str, Fault]) -> None:
    """Print how many were found, by class."""
    usual = set(sound.violated)
    for kind in (*KINDS, "all"):
        mine = [made for made in runs if kind in (faults[made.fault].kind, "all")]
        found = [made for made in mine if set(made.violated) - usual]
        if mine:
            say(f"{kind:<12} {len(found):>3} of {len(mine):>3}  {len(found) / len(mine):.0%}")


def keep(file: Path | None, runs: Sequence[Run]) -> None:
    """Write what is known so far."""
    if file is not None:
        text = json.dumps([asdict(made) for made in runs], indent=1)
        file.write_text(text + "\n", encoding="utf-8")


def kept(files: Sequence[Path]) -> list[Run]:
    """Return the runs that `--json` wrote."""
    return [Run(**made) for file in files for made in json.loads(file.read_text(encoding="utf-8"))]


def trace(bank: Bank, probe: Callable[[Api], None]) -> list[Any]:
    """Return everything that a bank answers to a probe."""
    api = Api(bank.policy, bank)
    probe(api)
    return api.trace


def unseen(faults: Sequence[Fault], probes: Probes) -> list[str]:
    """Return the faults with which a bank answers every probe as the sound one does."""
    sound = {name: trace(Bank(), probe) for name, probe in probes.items()}
    return [
        fault.id
        for fault in faults
        if all(trace(fault.bank(), probe) == sound[name] for name, probe in probes.items())
    ]


def chosen(faults: dict[str, Fault], names: Sequence[str], kind: str | None) -> list[Fault]:
    """Return the faults with these ids, or all, of one class or of all."""
    unknown = sorted(set(names) - set(faults))
    if unknown:
        raise SystemExit(f"no such fault: {', '.join(unknown)}")
    wanted = [faults[name] for name in names] if names else list(faults.values())
    return [fault for fault in wanted if kind in (None, fault.kind)]


def parser(doc: str) -> argparse.ArgumentParser:
    """Return the options that every measurement has."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("faults", nargs="*", help="ids of faults; default: all")
    made.add_argument("--kind", choices=KINDS, help="only faults of this class")
    made.add_argument("--sound", action="store_true", help="only the sound bank")
    made.add_argument("--seen", action="store_true", help="only whether faults can be seen")
    made.add_argument("-n", type=int, default=1, help="so many runs at a time")
    made.add_argument("--target", default="target.yaml", choices=FILES[:2])
    made.add_argument("--doctor", action="store_true", help="with the preflight check")
    for name in ("--seed", "--journeys", "--fields"):
        made.add_argument(name, default="0")
    made.add_argument("--contexts", choices=("base", "each", "pairs"), default="each")
    made.add_argument("--limit", type=float, default=600, help="seconds for each run")
    made.add_argument("--json", type=Path, help="write every run to this file")
    made.add_argument("--missed", type=Path, help="only faults that the runs of this file missed")
    made.add_argument("-x", dest="first", action="store_true", help="end at the first violation")
    return made


def measure(args: argparse.Namespace, known: Sequence[Fault], probes: Probes) -> list[Run]:
    """Run the harness on the sound bank and on each faulty one, and print what it finds."""
    by_id = {fault.id: fault for fault in known}
    faults = [] if args.sound else chosen(by_id, args.faults, args.kind)
    if args.missed:
        missed = {each.fault for each in kept([args.missed]) if not each.violated}
        faults = [fault for fault in faults if fault.id in missed]
    if args.seen:
        raise SystemExit(", ".join(unseen(faults, probes)) or None)
    names = ("seed", "journeys", "fields")
    options = [text for name in names for text in (f"--{name}", getattr(args, name))]
    options += [] if args.doctor else ["--no-doctor"]
    setting = Setting(args.target, args.contexts, tuple(options), args.limit)
    sound = run(setting, None)
    if args.first:  # the sound bank is run to the end
        setting = replace(setting, options=(*setting.options, "-x"))
    say(f"sound bank: {sound.counts} in {sound.seconds:.1f} s {sound.trouble}")
    for name in sound.violated:
        say(f"false alarm  {name}")
    keep(args.json, [sound])
    runs: list[Run] = []
    with ThreadPool(args.n) as pool:
        for made in pool.imap(partial(run, setting), faults):
            runs.append(made)
            table([made], sound, by_id)
            keep(args.json, [sound, *runs])
    rates(runs, sound, by_id)
    return runs
