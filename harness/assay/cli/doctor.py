"""`assay doctor`: whether the target file is right, before anything is judged by it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import click

from assay.binding.target import AuthKind, ScaKind, Target, TransportKind
from assay.cli import options
from assay.planning.prepare import Prepared
from assay.transport.secrets import look_up

if TYPE_CHECKING:
    from assay.doctor import Examination
    from assay.doctor.finding import Finding
    from assay.doctor.probes import DoctorCost

F = TypeVar("F", bound=Callable[..., Any])

EPILOG = """\b
Examples:
  assay doctor --target bank.yaml
  assay doctor --target bank.yaml --contract aisp --json

\b
Exit codes:
  0  sound           2  something in the file is wrong
  3  sound as far as could be seen, and not everything could
"""


@click.command(epilog=EPILOG)
@options.contracts
@options.target
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else.")
def command(contracts: Sequence[str], target: str | None, as_json: bool) -> int:
    """Examine a target file before any verdict, and name the lines that are wrong.

    Each operation is called with an ordinary request, and every pointer of the file is
    held against what came. The bank is never blamed: what may be odd is asked.
    """
    from assay.doctor import examine  # noqa: PLC0415 -- only here

    if as_json:
        examined = examine(target, contracts)
        click.echo(json.dumps(_document(target, examined), indent=2))
        return examined.exit.value
    with Working(sys.stderr.isatty()) as working:
        examined = examine(target, contracts, on_step=working.on_step, on_call=working.on_call)
    for line in _lines(examined):
        click.echo(line)
    click.echo(_next(target, examined))
    return examined.exit.value


def no_doctor(command: F) -> F:
    """Add `--no-doctor`."""
    return click.option(
        "--no-doctor",
        is_flag=True,
        help="Do not examine the target file first: what it says is right, odd or not.",
    )(command)


def fit(prepared: Prepared, target_name: str | None, ledger: Path | None, *, quiet: bool) -> bool:
    """Examine a target file before a run, and say whether anything may be judged by it.

    What Assay brings along is right: only a file of the user's is examined, and only where
    there is a network between.

    Raises:
        InputError: secrets are not set.

    """
    target = prepared.target
    shown = target_name is None or target_name.startswith(("http://", "https://"))
    if shown or target.transport is not TransportKind.HTTP or _asks_a_person(target):
        return True
    look_up(target, os.environ)  # as a run does, which without them would not begin
    from assay.doctor import examine  # noqa: PLC0415 -- only for a file, over a network

    with Working(sys.stderr.isatty(), _silent if quiet else click.echo) as working:
        examined = examine(
            target_name,
            prepared=prepared,
            ledger=ledger,
            on_step=working.on_step,
            on_call=working.on_call,
        )
    for finding in examined.grave:
        click.echo(f"assay: {finding}", err=True)
    if examined.grave:
        hint = f"`assay doctor --target {target_name}` tells more; --no-doctor runs all the same"
        click.echo(f"assay: nothing was judged by this file; {hint}", err=True)
    return not examined.grave


def _asks_a_person(target: Target) -> bool:
    """Whether an examination would ask a person for what the run asks for again."""
    auths = (target.auth, *([target.auth.provider] if target.auth.provider else []))
    code = any(one.kind is AuthKind.CODE for one in auths)
    return code and target.sca.kind is ScaKind.MANUAL


def _silent(_text: str) -> None:
    """Say nothing."""


class Working:
    """Says what is being looked at, on a terminal, and what it will cost, everywhere."""

    def __init__(self, terminal: bool, say: Callable[[str], None] = click.echo) -> None:
        self.terminal = terminal
        self.say = say
        self.name, self.calls = "", 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._show("")

    def on_step(self, name: str, cost: DoctorCost | None) -> None:
        """Tell of the next step."""
        self.name = name
        if cost is not None and cost.calls:
            self._show("")
            self.say(f"doctor: {announced(cost)}")
        self._show(name)

    def on_call(self) -> None:
        """Tell that something came of a call."""
        self.calls += 1
        self._show(f"{self.name}: {self.calls}")

    def _show(self, text: str) -> None:
        if self.terminal:
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)


def announced(cost: DoctorCost) -> str:
    """Say in one line what is going to be asked of the target."""
    names = ", ".join(f"{name} {n}" for name, n in sorted((cost.attended + cost.alone).items()))
    more = [
        f"{number} {what}"
        for number, what in (
            (cost.alone.total(), "without the customer"),
            (cost.consents, "that transmit a consent"),
            (cost.made, "that make a request"),
        )
        if number
    ]
    line = f"about {cost.calls} calls ({names})"
    line += f"; of these {', '.join(more)}" if more else ""
    signatures = "a signature" if cost.signatures == 1 else f"{cost.signatures} signatures"
    return line + (f"; {signatures}" if cost.signatures else "")


def _lines(examined: Examination) -> list[str]:
    """Return a line a step, with what it found below it."""
    lines: list[str] = []
    for one in examined.outcomes:
        if one.findings is None:
            lines.append(f"  …        {one.step.name}: not reached, for the sake of {one.after}")
        elif not one.findings:
            lines.append(f"  ok       {one.step.name}: {one.step.says}")
        lines += [
            f"  {each.weight.value:<8} {one.step.name}: {each}" for each in one.findings or ()
        ]
    return lines


def _next(target: str | None, examined: Examination) -> str:
    """Return the closing lines: what was found, and what to do next."""
    named = f" --target {target}" if target else ""
    grave = len(examined.grave)
    if grave:
        first = examined.grave[0]
        where = f"{first.path}:{first.line}" if first.line else first.path
        things = "1 thing" if grave == 1 else f"{grave} things"
        return f"{things} to mend, the first at {where}; then again: assay doctor{named}"
    unseen = sum(one.weight.value == "not seen" for one in examined.findings)
    seen = f"nothing wrong, but {unseen} not seen" if unseen else "sound"
    return f"{seen}; next: assay run{named}"


def _document(target: str | None, examined: Examination) -> dict[str, object]:
    return {
        "assay-doctor": 1,
        "target": target or "sandbox",
        "exit": examined.exit.value,
        "calls": examined.calls,
        "steps": [
            {
                "name": one.step.name,
                "reached": one.findings is not None,
                "findings": [_finding(each) for each in one.findings or ()],
            }
            for one in examined.outcomes
        ],
    }


def _finding(one: Finding) -> dict[str, object]:
    return {
        "weight": one.weight.value,
        "path": one.path,
        "line": one.line,
        "key": one.key,
        "expected": one.expected,
        "found": one.found,
        "hint": one.hint,
    }
