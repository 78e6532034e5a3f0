"""The examination: steps in the order in which one would mend things, and what they found.

Each step is a function that yields findings; `STEPS` is the visible table of them. A step
whose needs have failed is not reached: what it would find follows from what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from assay.binding.target import FixtureKind
from assay.doctor import (
    fixtures,
    network,
    pagination,
    pointers,
    request_effects,
    static_checks,
    statuses,
)
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, Weight, told
from assay.doctor.probes import DoctorCost, cost
from assay.doctor.runner import lacking, run_probes, tellings
from assay.errors import InputError
from assay.execution.environment import set_up
from assay.judging.verdict import Exit
from assay.planning.prepare import Prepared, prepare

__all__ = ["STEPS", "Check", "CheckResult", "Examination", "examine"]

#: Told of each step as it begins, and of what the calls will cost.
OnStep = Callable[[str, DoctorCost | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that is looked at: its name, what it says when sound, what must be sound before."""

    name: str
    says: str
    needs: tuple[str, ...]
    look: Callable[[DoctorContext], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a step found; None for `findings` where it was not reached, for want of `after`."""

    step: Check
    findings: tuple[Finding, ...] | None
    after: str = ""

    @property
    def sound(self) -> bool:
        """Whether later steps can build on it."""
        return self.findings is not None and not any(one.grave for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """A whole examination, with all that it asked of the target."""

    outcomes: tuple[CheckResult, ...]
    calls: int

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found, in the order to mend it."""
        return tuple(one for each in self.outcomes for one in each.findings or ())

    @property
    def grave(self) -> tuple[Finding, ...]:
        """What a run must not judge by."""
        return tuple(one for one in self.findings if one.grave)

    @property
    def exit(self) -> Exit:
        """Sound, at fault, or not wholly seen."""
        if self.grave:
            return Exit.USAGE
        unseen = any(one.weight is Weight.UNSEEN for one in self.findings)
        return Exit.INCOMPLETE if unseen else Exit.OK


def _profile(patient: DoctorContext) -> Iterator[Finding]:
    """Read the target file and join it to its contracts."""
    try:
        patient.prepared = patient.prepared or prepare(patient.contracts, patient.target_name)
    except InputError as error:
        yield from map(told, error.problems)
        return
    patient.whole = patient.target.fixtures.kind is FixtureKind.CONTROL


def _ready(patient: DoctorContext) -> Iterator[Finding]:
    """Make the target ready; what can go wrong then is told with its line."""
    try:
        patient.environment = set_up(patient.target, ledger=patient.ledger)
    except InputError as error:
        yield from map(told, error.problems)


def _told(patient: DoctorContext) -> Iterator[Finding]:
    run_probes(patient)
    yield from lacking(patient)


#: What is looked at, in the order in which one would mend it.
STEPS: Final[Sequence[Check]] = (
    Check(name="profile", says="the file reads, and fits the contracts", needs=(), look=_profile),
    Check(
        name="unused", says="every key has an effect", needs=("profile",), look=static_checks.unused
    ),
    Check(
        name="guessed",
        says="nothing is only guessed",
        needs=("profile",),
        look=static_checks.guessed,
    ),
    Check(name="secrets", says="every secret is set", needs=("profile",), look=network.secrets),
    Check(
        name="files",
        says="certificates and keys can be used",
        needs=("secrets",),
        look=network.papers,
    ),
    Check(name="host", says="every host has an address", needs=("profile",), look=network.resolves),
    Check(name="port", says="somebody listens", needs=("host",), look=network.connects),
    Check(
        name="answers",
        says="TLS and HTTP are understood",
        needs=("port", "files"),
        look=network.answers,
    ),
    Check(name="clocks", says="the clocks agree", needs=("answers",), look=network.clocks),
    Check(name="ready", says="everything can be set up", needs=("answers",), look=_ready),
    Check(name="fixtures", says="the world answers", needs=("ready",), look=fixtures.answers),
    Check(name="calls", says="an ordinary call can be made", needs=("fixtures",), look=_told),
    Check(name="zone", says="the calendar day is the bank's", needs=("calls",), look=fixtures.zone),
    Check(
        name="static",
        says="answers depend on what is asked",
        needs=("fixtures",),
        look=request_effects.static_answers,
    ),
    Check(name="status", says="every answer is known", needs=("static",), look=statuses.examine),
    Check(
        name="pointers",
        says="every pointer finds what it should",
        needs=("static",),
        look=pointers.examine,
    ),
    Check(name="pages", says="pages are turned", needs=("static",), look=pagination.pages),
    Check(
        name="dates",
        says="days that are asked for are understood",
        needs=("static",),
        look=pagination.dates,
    ),
    Check(
        name="presence",
        says="presence makes a difference",
        needs=("status",),
        look=request_effects.presence,
    ),
    Check(name="screens", says="the screens are known", needs=("static",), look=fixtures.screens),
    Check(
        name="effects",
        says="what was carried out is told",
        needs=("screens",),
        look=fixtures.effects,
    ),
)


def examine(
    target: str | None,
    contracts: Sequence[str] = (),
    *,
    prepared: Prepared | None = None,
    ledger: Path | None = None,
    on_step: OnStep = lambda _name, _cost: None,
    on_call: Callable[[], None] = lambda: None,
) -> Examination:
    """Examine a target; `prepared` is what was read of it already, if it was.

    `ledger` is where accesses are kept, if not as usual: none are spent here.

    Nothing is raised for what is wrong with it: that is a finding.
    """
    patient = DoctorContext(
        target_name=target,
        contracts=tuple(contracts),
        prepared=prepared,
        ledger=ledger,
        on_call=on_call,
    )
    done: dict[str, CheckResult] = {}
    try:
        for step in STEPS:
            on_step(step.name, _cost(patient) if step.name == "calls" else None)
            done[step.name] = _taken(step, patient, done)
    finally:
        if patient.environment:
            patient.environment.close()
    return Examination(outcomes=tuple(done.values()), calls=len(patient.answers))


def _taken(step: Check, patient: DoctorContext, done: Mapping[str, CheckResult]) -> CheckResult:
    """Take one step, if those that it needs were sound."""
    after = next((name for name in step.needs if not done[name].sound), "")
    if after:
        return CheckResult(step=step, findings=None, after=after)
    return CheckResult(step=step, findings=_once(step.look(patient)))


def _once(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    """Return each finding once: what is spelt once for many operations is wrong once."""
    found: dict[tuple[str, int, str, str], Finding] = {}
    for one in findings:
        found.setdefault((one.path, one.line, one.key.rpartition(".")[2], one.found), one)
    return tuple(found.values())


def _cost(patient: DoctorContext) -> DoctorCost:
    total = DoctorCost()
    for telling in tellings(patient) if patient.environment else ():
        cost(telling, total)
    return total
