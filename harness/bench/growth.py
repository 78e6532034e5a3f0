"""How commands grow with a contract: `check`, `plan`, `run` and `report` at 10, 100, 1,000 operations.

The contracts are generated: the operations and rules of the shipped `aisp`, again and again under
other names, with a target file that binds them all to the embedded sandbox. Each command is a
process of its own; the figures are its processor seconds and its peak memory, the least of some
rounds, with bytecode written. The last two columns are the growth since the next smaller contract.

`python harness/bench/growth.py` prints the table of `check` and `plan`; `--run` adds
`run --contexts base` and `report`, which take minutes at 1,000 operations, and numbers are other
sizes (`--run 10 100`). It exits with 1 if the time or the memory of a command
grows faster than the rules.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from assay._resources import contract_dir
from assay.files.load import load

SIZES = (10, 100, 1000)
ROUNDS = 2
#: The most that seconds and memory may grow in proportion to the rules; 1 is linear.
MOST = 1.3
TIMEOUT = 3600.0
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
ASSAY = [sys.executable, "-c", "from assay.cli.start import main; main()"]

#: The keys of a rule whose values are names of operations.
NAMING = ("operation", "grant", "control", "withholds", "operations")


def copies(size: int) -> int:
    """Return how many copies of the shipped operations have at least this many operations."""
    return -(-size // len(_data("aisp.yaml")["operations"]))


def contract(number: int) -> dict[str, Any]:
    """Return the shipped contract with its operations and rules this many times."""
    data = _data("aisp.yaml")
    operations: dict[str, Any] = {}
    rules: list[Any] = []
    for copy in range(number):
        names = {name: _name(name, copy) for name in data["operations"]}
        operations |= {names[name]: value for name, value in data["operations"].items()}
        rules += [_rule(rule, names, copy) for rule in data["rules"]]
    return {**data, "contract": "growth", "operations": operations, "rules": rules}


def target(number: int) -> dict[str, Any]:
    """Return the target file of the sandbox, of no group, with the bindings of every copy."""
    data = {key: value for key, value in _data("targets/sandbox.yaml").items() if key != "banks"}
    shipped = _data("aisp.yaml")["operations"]
    bindings = {name: value for name, value in data["operations"].items() if name in shipped}
    operations = {
        _name(name, copy): value for copy in range(number) for name, value in bindings.items()
    }
    return {**data, "target": "growth", "contracts": ["growth"], "operations": operations}


def write(folder: Path, number: int) -> None:
    """Write both files; JSON is YAML, too."""
    for name, data in (("contract", contract(number)), ("target", target(number))):
        text = json.dumps(data, indent=1, ensure_ascii=False, default=_number)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def _data(name: str) -> Any:
    return load(contract_dir() / name).data


def _name(name: str, copy: int) -> str:
    return f"{name}-{copy + 1}" if copy else name


def _rule(rule: dict[str, Any], names: dict[str, str], copy: int) -> dict[str, Any]:
    renamed: dict[str, Any] = {**rule, "id": _name(rule["id"], copy)}
    for key in NAMING:
        value = rule.get(key)
        if isinstance(value, list):
            renamed[key] = [names.get(name, name) for name in value]
        elif value is not None:
            renamed[key] = names.get(value, value)
    return renamed


def _number(value: object) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Processor seconds and peak memory of a command."""

    seconds: float
    mebibytes: float


def measured(command: list[str], folder: Path, rounds: int) -> Measured:
    """Return the least that a command took in some rounds."""
    each = [_measure(command, folder) for _ in range(rounds)]
    return Measured(
        seconds=min(one.seconds for one in each), mebibytes=min(one.mebibytes for one in each)
    )


def _measure(command: list[str], folder: Path) -> Measured:
    if command[0] == "run":
        shutil.rmtree(folder / "out", ignore_errors=True)
    with subprocess.Popen(  # noqa: S603 -- our own command
        [*ASSAY, *command],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as child:
        said = child.stderr.read().decode() if child.stderr else ""
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in {0, 3}:
        raise SystemExit(f"assay {' '.join(command)}: {child.returncode}\n{said}")
    return Measured(seconds=used.ru_utime + used.ru_stime, mebibytes=used.ru_maxrss / 1024)


def grows(before: Measured, now: Measured, rules: float) -> float:
    """Return how much faster time or memory grew than the rules, which grew by a factor."""
    return max(now.seconds / before.seconds, now.mebibytes / before.mebibytes) / rules


def commands(*, run: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield each command to measure, with its arguments."""
    both = ["--contract", "contract.yaml", "--target", "target.yaml"]
    yield "check", ["check", "contract.yaml", "target.yaml"]
    yield "plan --contexts base", ["plan", *both, "--contexts", "base"]
    yield "plan", ["plan", *both]
    if run:
        base = ["--contexts", "base", "--allow-incomplete", "--quiet"]
        yield "run --contexts base", ["run", *both, *base, "--out", "out"]
        yield "report", ["report", "out/journal.jsonl", "--format", "html", "--out", "page.html"]


def main() -> int:
    """Print the table; return 1 if a command grows too fast."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    print(f"`python harness/bench/growth.py {' '.join(sys.argv[1:])}`".replace(" `", "`"))
    print()
    print("| command | operations | rules | file | CPU s | MiB | ms a rule | CPU x | MiB x |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    missed, less = False, 1
    before: dict[str, Measured] = {}
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            number = copies(size)
            write(folder, number)
            made = contract(number)
            rules = len(made["rules"])
            length = (folder / "contract.yaml").stat().st_size / 1024
            for command, arguments in commands(run=given.run):
                now = measured(arguments, folder, given.rounds)
                last = before.get(command)
                growth = f"{now.seconds / last.seconds:.1f}" if last else "-"
                wider = f"{now.mebibytes / last.mebibytes:.1f}" if last else "-"
                missed = missed or (last is not None and grows(last, now, rules / less) > MOST)
                before[command] = now
                print(
                    f"| {command} | {len(made['operations']):,} | {rules:,} | {length:,.0f} KiB"
                    f" | {now.seconds:.2f} | {now.mebibytes:.0f}"
                    f" | {now.seconds * 1000 / rules:.2f} | {growth} | {wider} |",
                    flush=True,
                )
            less = rules
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
