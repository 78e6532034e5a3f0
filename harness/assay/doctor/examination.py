"""The examination: checks in the order in which problems should be fixed, and their results.

Each check is a function that yields findings; `STEPS` is the table of them. A check whose
requirements failed is skipped: what it would find follows from what is already known. The
probes pass the same guards as the calls of a run; the pages of the SCA screens are recorded
too, as far as they come over the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from assay.doctor import (
    executed_requests,
    fixtures,
    ignored_arguments,
    pointers,
    preflight,
    request_effects,
    request_states,
    request_values,
    statuses,
)
from assay.doctor.context import (
    DoctorContext,
    Finding,
    Weight,
    from_problem,
)
from assay.doctor.coverage import COVERED, IN_PART
from assay.doctor.probes import DoctorCost, cost
from assay.doctor.probing import make_calls, probe_plans
from assay.errors import InputError
from assay.execution.environment import set_up
from assay.fixtures.providers import Customers, customers_of
from assay.judging.verdict import Exit
from assay.planning.prepare import Prepared, prepare

__all__ = [
    "EXAMINED_BY",
    "NOT_EXAMINED",
    "STEPS",
    "Check",
    "CheckResult",
    "Examination",
    "examine",
]

#: Called with the name of each check as it begins, and with the cost of the calls.
OnStep = Callable[[str, DoctorCost | None], None]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, its success message, its function, and the checks it depends on."""

    name: str
    passed: str
    look: Callable[[DoctorContext], Iterator[Finding]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The findings of a check; None where it was skipped because `requires` failed.

    `idle` says why there was nothing to examine, if there was nothing.
    """

    step: Check
    findings: tuple[Finding, ...] | None
    requires: str = ""
    idle: str = ""

    @property
    def word(self) -> str:
        """The word for the whole check in the output: that of its weightiest finding, if any."""
        if self.findings is None:
            return "skipped"
        if self.findings:
            return min((each.weight for each in self.findings), key=[*Weight].index).value
        return "none" if self.idle else "ok"

    @property
    def sound(self) -> bool:
        """Whether checks that need this one can run."""
        return self.findings is not None and not any(finding.blocking for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The results of all checks, and how many calls they took."""

    outcomes: tuple[CheckResult, ...]
    calls: int

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order in which to fix them."""
        return tuple(finding for each in self.outcomes for finding in each.findings or ())

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that must be fixed before a run."""
        return tuple(finding for finding in self.findings if finding.blocking)

    @property
    def exit(self) -> Exit:
        """The exit code: no problems, problems, or not everything could be checked."""
        if self.blocking:
            return Exit.USAGE
        unseen = any(finding.weight is Weight.UNSEEN for finding in self.findings)
        return Exit.INCOMPLETE if unseen else Exit.OK


def _target_file(context: DoctorContext) -> Iterator[Finding]:
    """Read the target file and bind it to its contracts."""
    try:
        context.prepared = context.prepared or prepare(context.contracts, context.target_name)
    except InputError as error:
        yield from map(from_problem, error.problems)
        return
    context.makes_customers = customers_of(context.target) is Customers.CREATED
    names = [step.name for step in STEPS]
    for place, what, hint in preflight.wrong_confirmations(
        context.target, context.contracts_bound, names
    ):
        yield context.finding(place, "", what, hint, weight=Weight.FAULT)


def _ready(context: DoctorContext) -> Iterator[Finding]:
    """Set up the connection, the fixtures and the signer."""
    try:
        context.environment = set_up(context.target, ledger=context.ledger)
        if context.prepared is not None:
            context.environment.guard.learn_operations(context.prepared.plan)
    except InputError as error:
        yield from map(from_problem, error.problems)


#: All checks, in the order in which to fix problems.
STEPS: Final[Sequence[Check]] = (
    Check("target", "the file can be read and fits the contracts", _target_file),
    Check("unused", "every key has an effect", preflight.unused, ("target",)),
    Check("words", "every word has its usual meaning", preflight.words, ("target",)),
    Check("waivers", "no waiver has expired", preflight.waivers, ("target",)),
    Check("guessed", "no line is marked as a guess", preflight.guessed, ("target",)),
    Check("secrets", "every secret is set", preflight.secrets, ("target",)),
    Check("files", "certificates and keys are usable", preflight.certificates, ("secrets",)),
    Check("host", "every host name resolves", preflight.resolves, ("target",)),
    Check("port", "every host accepts connections", preflight.connects, ("host",)),
    Check("answers", "TLS and HTTP work", preflight.answers, ("port", "files")),
    Check("clocks", "the clocks agree", preflight.clocks, ("answers",)),
    Check("ready", "the target can be set up", _ready, ("answers",)),
    Check("fixtures", "the fixture provider answers", fixtures.answers, ("ready",)),
    Check("calls", "an ordinary call can be made", make_calls, ("fixtures",)),
    Check("zone", "the time zone is the bank's", fixtures.zone, ("calls",)),
    Check("static", "answers depend on the request", request_effects.static_answers, ("fixtures",)),
    Check("status", "every answer matches an outcome", statuses.examine, ("static",)),
    Check("pointers", "every pointer finds its value", pointers.examine, ("static",)),
    Check("pages", "the next page can be read", request_effects.pages, ("static",)),
    Check("dates", "date arguments have an effect", request_effects.dates, ("static",)),
    Check("presence", "the presence header has an effect", request_effects.presence, ("status",)),
    Check("screens", "the SCA screens are known", fixtures.screens, ("static",)),
    Check("effects", "executed requests are reported", executed_requests.effects, ("screens",)),
    Check(
        "states",
        "requests are shown in their actual state",
        request_states.examine,
        ("pointers", "screens"),
    ),
    Check("values", "every mode and second value is accepted", request_values.examine, ("status",)),
    Check(
        "arguments",
        "headers and query parameters are read",
        ignored_arguments.examine,
        ("status", "pointers"),
    ),
)
#: The check that examines each binding feature.
EXAMINED_BY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("method", "path", "aliases", "headers", "argument", "mode"), "status"),
    **dict.fromkeys(("outcomes", "submission", "submitted", "given"), "status"),
    **dict.fromkeys(pointers.POINTERS, "pointers"),
    "next": "pages",
    "other": "values",
}
#: The features that no check examines, each with the reason.
NOT_EXAMINED: Final[Mapping[str, str]] = {
    "queries": "a refusal names arguments, which look like values that are always sent",
    "template": "a refusal names arguments, which look like values that are always sent",
    "unlisted": "an ordinary call names an item that is listed",
    "credentials": "an ordinary call carries no customer credentials, because banks must refuse those",
    "whole": "a bank may refuse a change for other reasons than its form",
}


def examine(
    target: str | None,
    contracts: Sequence[str] = (),
    *,
    prepared: Prepared | None = None,
    ledger: Path | None = None,
    quick: bool = False,
    on_step: OnStep = lambda _name, _cost: None,
    on_call: Callable[[], None] = lambda: None,
) -> Examination:
    """Examine a target; `prepared` is its file as already read, if it was.

    With `quick` at most three calls are made. `ledger` is the file of accesses, if not the usual one: the examination spends none.
    Problems of the target are findings, never exceptions.
    """
    context = DoctorContext(
        target_name=target,
        contracts=tuple(contracts),
        prepared=prepared,
        ledger=ledger,
        quick=quick,
        on_call=on_call,
    )
    done: dict[str, CheckResult] = {}
    try:
        for step in STEPS:
            on_step(step.name, _cost(context) if step.name == "calls" and not quick else None)
            done[step.name] = _result(step, context, done)
    finally:
        if context.environment:
            context.environment.close()
    outcomes = tuple(_masked(context, result) for result in done.values())
    return Examination(outcomes=outcomes, calls=len(context.answers))


def _masked(context: DoctorContext, result: CheckResult) -> CheckResult:
    """Return a result with all that is private masked; at the end, all of it is known."""
    if context.environment:
        context.redactor.secrets = context.environment.secrets
    if result.findings is None:
        return result
    mask = context.redactor.link
    return replace(
        result,
        findings=tuple(
            replace(
                finding,
                expected=mask(finding.expected),
                found=mask(finding.found),
                hint=mask(finding.hint),
            )
            for finding in result.findings
        ),
    )


def _result(step: Check, context: DoctorContext, done: Mapping[str, CheckResult]) -> CheckResult:
    """Perform one check, if those that it needs passed."""
    failed = next((name for name in step.needs if not done[name].sound), "")
    if failed:
        return CheckResult(step=step, findings=None, requires=failed)
    findings = tuple(_confirmed(step, context, _once(step.look(context))))
    context.reported += findings
    blocking = any(finding.blocking for finding in findings)
    silent = not findings or (step.name in IN_PART and not blocking)
    gap = COVERED[step.name](context) if step.name in COVERED and silent else None
    if gap and gap.place:
        unseen = gap.finding(context)
        findings = (*findings, unseen)
        context.reported.append(unseen)
    idle = gap.found if gap and not gap.place else ""
    return CheckResult(step=step, findings=findings, idle=idle)


def _confirmed(
    step: Check, context: DoctorContext, findings: Sequence[Finding]
) -> Iterator[Finding]:
    """Yield findings, a doubt that the file confirms as a note; note what is in doubt no longer."""
    given = context.target.confirmed if context.prepared else {}
    left = {name: why for name, why in given.items() if name.partition("/")[0] == step.name}
    for finding in findings:
        if finding.weight is not Weight.DOUBT:
            yield finding
            continue
        name = f"{step.name}/{finding.key}"
        left.pop(name, None)
        if why := given.get(name):
            yield replace(finding, weight=Weight.NOTE, hint=f"confirmed: {why}")
        else:
            yield replace(finding, confirmation=name)
    for name in left:
        place, found = ("confirmed", name), "nothing: the line can be removed"
        yield context.finding(place, "a doubt that is confirmed", found, weight=Weight.NOTE)


def _once(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    """Return each finding once: one line may be wrong for many operations."""
    distinct: dict[tuple[str, int, str, str], Finding] = {}
    for finding in findings:
        distinct.setdefault(
            (
                finding.inherited or finding.path,
                finding.line,
                finding.key.rpartition(".")[2],
                finding.found,
            ),
            finding,
        )
    return tuple(distinct.values())


def _cost(context: DoctorContext) -> DoctorCost:
    total = DoctorCost()
    for plan in probe_plans(context) if context.environment else ():
        cost(plan, total)
    return total
