"""The examination: checks in the order in which problems should be fixed, and their results.

Each check is a function that yields findings; `STEPS` is the table of them. A check whose
requirements failed is skipped: what it would find follows from what is already known.
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
from assay.doctor.finding import Finding, Weight, from_problem
from assay.doctor.probes import DoctorCost, cost
from assay.doctor.runner import ended_early, probe_plans, run_probes
from assay.errors import InputError
from assay.execution.environment import set_up
from assay.judging.verdict import Exit
from assay.planning.prepare import Prepared, prepare

__all__ = ["STEPS", "Check", "CheckResult", "Examination", "examine"]

#: Called with the name of each check as it begins, and with the cost of the calls.
OnStep = Callable[[str, DoctorCost | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: its name, its success message, and the checks that must pass before it."""

    name: str
    passed: str
    needs: tuple[str, ...]
    look: Callable[[DoctorContext], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The findings of a check; None where it was skipped because `requires` failed."""

    step: Check
    findings: tuple[Finding, ...] | None
    requires: str = ""

    @property
    def sound(self) -> bool:
        """Whether checks that need this one can run."""
        return self.findings is not None and not any(one.blocking for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The results of all checks, and how many calls they took."""

    outcomes: tuple[CheckResult, ...]
    calls: int

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order in which to fix them."""
        return tuple(one for each in self.outcomes for one in each.findings or ())

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that must be fixed before a run."""
        return tuple(one for one in self.findings if one.blocking)

    @property
    def exit(self) -> Exit:
        """The exit code: no problems, problems, or not everything could be checked."""
        if self.blocking:
            return Exit.USAGE
        unseen = any(one.weight is Weight.UNSEEN for one in self.findings)
        return Exit.INCOMPLETE if unseen else Exit.OK


def _target_file(context: DoctorContext) -> Iterator[Finding]:
    """Read the target file and bind it to its contracts."""
    try:
        context.prepared = context.prepared or prepare(context.contracts, context.target_name)
    except InputError as error:
        yield from map(from_problem, error.problems)
        return
    context.makes_customers = context.target.fixtures.kind is FixtureKind.CONTROL


def _ready(context: DoctorContext) -> Iterator[Finding]:
    """Set up the connection, the fixtures and the signer."""
    try:
        context.environment = set_up(context.target, ledger=context.ledger)
    except InputError as error:
        yield from map(from_problem, error.problems)


def _probed(context: DoctorContext) -> Iterator[Finding]:
    run_probes(context)
    yield from ended_early(context)


#: All checks, in the order in which to fix problems.
STEPS: Final[Sequence[Check]] = (
    Check(
        name="target",
        passed="the file can be read and fits the contracts",
        needs=(),
        look=_target_file,
    ),
    Check(
        name="unused",
        passed="every key has an effect",
        needs=("target",),
        look=static_checks.unused,
    ),
    Check(
        name="guessed",
        passed="no line is marked as a guess",
        needs=("target",),
        look=static_checks.guessed,
    ),
    Check(
        name="secrets", passed="every secret is set", needs=("target",), look=static_checks.secrets
    ),
    Check(
        name="files",
        passed="certificates and keys are usable",
        needs=("secrets",),
        look=static_checks.certificates,
    ),
    Check(name="host", passed="every host name resolves", needs=("target",), look=network.resolves),
    Check(
        name="port", passed="every host accepts connections", needs=("host",), look=network.connects
    ),
    Check(
        name="answers",
        passed="TLS and HTTP work",
        needs=("port", "files"),
        look=network.answers,
    ),
    Check(name="clocks", passed="the clocks agree", needs=("answers",), look=network.clocks),
    Check(name="ready", passed="the target can be set up", needs=("answers",), look=_ready),
    Check(
        name="fixtures",
        passed="the fixture provider answers",
        needs=("ready",),
        look=fixtures.answers,
    ),
    Check(name="calls", passed="an ordinary call can be made", needs=("fixtures",), look=_probed),
    Check(name="zone", passed="the time zone is the bank's", needs=("calls",), look=fixtures.zone),
    Check(
        name="static",
        passed="answers depend on the request",
        needs=("fixtures",),
        look=request_effects.static_answers,
    ),
    Check(
        name="status",
        passed="every answer matches an outcome",
        needs=("static",),
        look=statuses.examine,
    ),
    Check(
        name="pointers",
        passed="every pointer finds its value",
        needs=("static",),
        look=pointers.examine,
    ),
    Check(
        name="pages", passed="the next page can be read", needs=("static",), look=pagination.pages
    ),
    Check(
        name="dates",
        passed="date arguments have an effect",
        needs=("static",),
        look=request_effects.dates,
    ),
    Check(
        name="presence",
        passed="the presence header has an effect",
        needs=("status",),
        look=request_effects.presence,
    ),
    Check(
        name="screens", passed="the SCA screens are known", needs=("static",), look=fixtures.screens
    ),
    Check(
        name="effects",
        passed="executed payments are reported",
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
    """Examine a target; `prepared` is its file as already read, if it was.

    `ledger` is the file of accesses, if not the usual one: the examination spends none.
    Problems of the target are findings, never exceptions.
    """
    context = DoctorContext(
        target_name=target,
        contracts=tuple(contracts),
        prepared=prepared,
        ledger=ledger,
        on_call=on_call,
    )
    done: dict[str, CheckResult] = {}
    try:
        for step in STEPS:
            on_step(step.name, _cost(context) if step.name == "calls" else None)
            done[step.name] = _result(step, context, done)
    finally:
        if context.environment:
            context.environment.close()
    return Examination(outcomes=tuple(done.values()), calls=len(context.answers))


def _result(step: Check, context: DoctorContext, done: Mapping[str, CheckResult]) -> CheckResult:
    """Perform one check, if those that it needs passed."""
    failed = next((name for name in step.needs if not done[name].sound), "")
    if failed:
        return CheckResult(step=step, findings=None, requires=failed)
    return CheckResult(step=step, findings=_once(step.look(context)))


def _once(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    """Return each finding once: one line may be wrong for many operations."""
    found: dict[tuple[str, int, str, str], Finding] = {}
    for one in findings:
        found.setdefault((one.path, one.line, one.key.rpartition(".")[2], one.found), one)
    return tuple(found.values())


def _cost(context: DoctorContext) -> DoctorCost:
    total = DoctorCost()
    for plan in probe_plans(context) if context.environment else ():
        cost(plan, total)
    return total
