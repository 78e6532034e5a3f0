"""The examination: checks in the order in which problems should be fixed, and their results.

Each check is a function that yields findings; `STEPS` is the table of them. A check whose
requirements failed is skipped: what it would find follows from what is already known. The
probes pass the same guards as the calls of a run; the pages of the SCA screens are recorded
too, as far as they come over the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from assay.binding.model.spelling import OperationBinding
from assay.binding.model.target import ScaKind
from assay.contract.model import Capability, Operation
from assay.errors import Exit, InputError, TargetError
from assay.files.document import Pointer
from assay.fixtures.providers import Customers, customers_of
from assay.onboarding.doctor import (
    fixtures,
    made_requests,
    offers,
    pointers,
    preflight,
    statuses,
    unbound,
)
from assay.onboarding.doctor.probe_plan import arguments_of
from assay.onboarding.doctor.probes import (
    BARRED,
    CANCELLED,
    CHANGED,
    DENIED,
    IN_MODE,
    OTHERS,
    RULE,
    SIGNED,
    SINCE,
    UNKNOWN,
    UNTIL,
)
from assay.onboarding.doctor.probing import DoctorCost, cost, make_calls, probe_plans
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight, from_problem
from assay.onboarding.doctor.request_effects import (
    asked_for,
    dates,
    pages,
    place_of_mark,
    presence,
    static_answers,
)
from assay.onboarding.doctor.rule_answers import ignored_arguments
from assay.preparation.prepare import Prepared, prepare
from assay.running.environment import set_up

__all__ = [
    "EXAMINED_BY",
    "STEPS",
    "Check",
    "CheckResult",
    "Examination",
    "examine",
]

#: Called with the name of each check as it begins, and with the cost of the calls.
OnStep = Callable[[str, DoctorCost | None], None]


#: The checks that say what was not seen besides their findings, if those are no faults.
_IN_PART: Final = frozenset({"pointers"})


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, its success message, its function, and the checks it depends on.

    `gap` returns what it did not see; a check of the file itself has seen all of it.
    """

    name: str
    passed: str
    look: Callable[[Examined], Iterator[Finding]]
    needs: tuple[str, ...] = ()
    gap: Callable[[Examined], Gap | None] = lambda _: None


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


def _target_file(record: Examined) -> Iterator[Finding]:
    """Read the target file and bind it to its contracts."""
    try:
        record.prepared = record.prepared or prepare(record.contracts, record.target_name)
    except InputError as error:
        yield from map(from_problem, error.problems)
        return
    record.makes_customers = customers_of(record.target) is Customers.CREATED
    names = [step.name for step in STEPS]
    for place, what, hint in preflight.wrong_confirmations(
        record.target, record.contracts_bound, names
    ):
        yield record.finding(place, "", what, hint, weight=Weight.FAULT)


def _ready(record: Examined) -> Iterator[Finding]:
    """Set up the connection, the fixtures and the signer."""
    try:
        record.environment = set_up(record.target, ledger=record.ledger)
        record.environment.expect_closures(record.contracts_bound)
        if record.prepared is not None:
            record.environment.guard.learn_operations(record.prepared.plan)
    except InputError as error:
        yield from map(from_problem, error.problems)


def examine(
    target: str | None,
    contracts: Sequence[str] = (),
    *,
    prepared: Prepared | None = None,
    ledger: Path | None = None,
    quick: bool = False,
    concurrency: int | None = None,
    on_step: OnStep = lambda _name, _cost: None,
    on_call: Callable[[], None] = lambda: None,
) -> Examination:
    """Examine a target; `prepared` is its file as already read, if it was.

    With `quick` at most three calls are made. `concurrency` is how many trials a run after it was asked to
    make at a time. `ledger` is the file of accesses, if not the usual one: the examination spends none.
    Problems of the target are findings, never exceptions.
    """
    record = Examined(
        target_name=target,
        contracts=tuple(contracts),
        prepared=prepared,
        ledger=ledger,
        quick=quick,
        concurrency=concurrency,
        on_call=on_call,
    )
    done: dict[str, CheckResult] = {}
    try:
        for step in STEPS:
            on_step(step.name, _cost(record) if step.name == "calls" and not quick else None)
            done[step.name] = _result(step, record, done)
    finally:
        if record.untouched:
            with suppress(TargetError):
                record.untouched.close()
        if record.environment:
            record.environment.close()
    outcomes = tuple(_masked(record, result) for result in done.values())
    return Examination(outcomes=outcomes, calls=len(record.answers))


def _masked(record: Examined, result: CheckResult) -> CheckResult:
    """Return a result with all that is private masked; at the end, all of it is known."""
    if record.environment:
        record.redactor.secrets = record.environment.secrets
    if result.findings is None:
        return result
    mask = record.redactor.link
    masked = (
        replace(
            each,
            expected=mask(each.expected),
            found=mask(each.found),
            hint=mask(each.hint),
            answer=mask(each.answer),
        )
        for each in result.findings
    )
    return replace(result, findings=tuple(masked))


def _result(step: Check, record: Examined, done: Mapping[str, CheckResult]) -> CheckResult:
    """Perform one check, if those that it needs passed."""
    failed = next((name for name in step.needs if not done[name].sound), "")
    if failed:
        return CheckResult(step=step, findings=None, requires=failed)
    findings = tuple(_confirmed(step, record, _once(step.look(record))))
    record.reported += findings
    blocking = any(finding.blocking for finding in findings)
    silent = not findings or (step.name in _IN_PART and not blocking)
    gap = step.gap(record) if silent else None
    if gap and gap.place:
        unseen = record.finding(gap.place, gap.expected, gap.found, weight=Weight.UNSEEN)
        findings = (*findings, unseen)
        record.reported.append(unseen)
    idle = gap.found if gap and not gap.place else ""
    return CheckResult(step=step, findings=findings, idle=idle)


def _confirmed(step: Check, record: Examined, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, a doubt that the file confirms as a note; note what is in doubt no longer."""
    given = record.target.confirmed if record.prepared else {}
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
        yield record.finding(place, "a doubt that is confirmed", found, weight=Weight.NOTE)


def _once(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    """Return each finding once: one line may be wrong for many operations."""
    distinct: dict[tuple[str, int, str, str], Finding] = {}
    for each in findings:
        same = (each.inherited or each.path, each.line, each.key.rpartition(".")[2], each.found)
        distinct.setdefault(same, each)
    return tuple(distinct.values())


def _cost(record: Examined) -> DoctorCost:
    total = DoctorCost()
    for plan in probe_plans(record) if record.environment else ():
        cost(plan, total)
    return total


# -- Coverage of each check: the answers that it needs before its result means anything ----------
# A check without findings is only passed if the answers that it examines were there. The `gap` of
# a check is None if they were, or says what was missing; without a place, contracts and target file
# have nothing for the check to examine.
#: The most operations that one finding names.
_MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class Gap:
    """What a check did not see; `place` is the nearest key of the file, if it had to see it."""

    place: Pointer
    expected: str
    found: str


def _idle(found: str) -> Gap:
    """Return the gap of a check that has nothing to examine."""
    return Gap((), "", found)


def _offered(record: Examined) -> Iterator[Operation]:
    """Yield the available operations of the contracts."""
    for contract in record.contracts_bound:
        yield from (each for each in contract.operations.values() if each.available)


def _network(record: Examined) -> Gap | None:
    return None if record.networked else _idle("the target is not called over a network")


def _clocks(record: Examined) -> Gap | None:
    if not record.networked or record.ahead is not None:
        return _network(record)
    expected = "the date of an answer, to compare the clocks"
    return Gap(("base_url",), expected, "an answer without a date")


def _calls(record: Examined) -> Gap | None:
    if any(answer.accepted for answer in record.answers):
        return None
    return Gap(("operations",), "", "no accepted call" if record.answers else "no call")


def _offers(record: Examined) -> Gap | None:
    tried = record.makes_customers and not record.quick
    return None if tried else _idle("no customers are created")


def _zone(record: Examined) -> Gap | None:
    if record.target.zone is None:
        return _idle("the file names no time zone")
    if record.makes_customers and record.subjects:
        return None
    return Gap(("zone",), "the bank's clock", "no clock among the fixtures' offers")


def _static(record: Examined) -> Gap | None:
    good = [answer for answer in record.answers if answer.good and answer.operation.available]
    if any(_asked_differently(record, answer, other) for answer in good for other in good):
        return None
    found = "no operation that answered two different requests"
    return Gap(("base_url",), "two answers to compare", found)


def _asked_differently(record: Examined, answer: SeenAnswer, other: SeenAnswer) -> bool:
    """Whether two requests of one operation are for different things, which differ when shown."""
    if answer.operation.id != other.operation.id:
        return False
    pages_differ = answer.call.follow != other.call.follow
    return asked_for(record, answer) != asked_for(record, other) or pages_differ


def _pointers(record: Examined) -> Gap | None:
    """Name the operations with pointers of which no successful answer was seen."""
    reported = {finding.key for finding in record.reported}
    unseen = [
        operation.id
        for operation in _offered(record)
        if _points(record.binding(operation))
        and not any(answer.accepted for answer in record.of(operation.id))
        and not any(key.startswith(f"operations.{operation.id}") for key in reported)
    ]
    if not unseen and any(answer.accepted for answer in record.answers):
        return None
    place = ("operations", *(unseen if len(unseen) == 1 else ()))
    named, further = ", ".join(unseen[:_MOST_NAMES]) or "any", len(unseen) - _MOST_NAMES
    found = f"none of {named}" + (f" and {further} more" if further > 0 else "")
    return Gap(place, "a successful answer of each operation", found)


def _points(binding: OperationBinding) -> bool:
    return bool(binding.list or binding.one is not None or binding.links or binding.approval)


def _pages(record: Examined) -> Gap | None:
    lists = [each for each in _offered(record) if each.lists]
    if not lists:
        return _idle("the contracts have no lists")
    accepted = (each for one in lists for each in record.of(one.id) if each.accepted)
    if any(answer.call.follow or _whole(record, answer) for answer in accepted):
        return None
    return Gap(("operations", lists[0].id, "next"), "a second page of a list", "none")


def _whole(record: Examined, answer: SeenAnswer) -> bool:
    """Whether a list without pages was read of a customer whose items are all known."""
    known = record.makes_customers and answer.binding.next is None
    return known and answer.ordinary and bool(answer.raw_items)


def _dates(record: Examined) -> Gap | None:
    bound = [
        ("operations", operation.id, "arguments", name)
        for operation in _offered(record)
        for name in (operation.since, operation.until)
        if not operation.grants and name and name in record.binding(operation).arguments
    ]
    if not bound:
        return _idle("the file binds no date argument that limits a list")
    if any(answer.accepted for answer in record.varied(SINCE, UNTIL)):
        return None
    return Gap(bound[0], "a date with an effect", "no such accepted call")


def _presence(record: Examined) -> Gap | None:
    if record.target.presence is None:
        return _idle("the target file has no `presence`")
    if any(answer.accepted for answer in record.presences):
        return None
    if not record.counted:
        return _idle("the contracts set no limit on calls without the customer")
    found = "no accepted call without the customer"
    return Gap(place_of_mark(record.target), "a mark with an effect", found)


def _signs(record: Examined) -> bool:
    """Whether requests are made, and signed."""
    signed = record.target.sca.kind is not ScaKind.NONE
    return signed and any(operation.makes for operation in _offered(record))


def _screens(record: Examined) -> Gap | None:
    if not _signs(record):
        return _idle("nothing is signed")
    return None if record.signed else Gap(("sca",), "SCA screens", "no signed request")


def _effects(record: Examined) -> Gap | None:
    reported = Capability.EFFECTS in record.target.fixtures.offers
    if not reported or not any(operation.makes for operation in _offered(record)):
        return _idle("executed requests are not reported")
    if any(event.done for event in record.effects):
        return None
    return Gap(fixtures.effects_place(record), "an executed request", "no executed request")


def _states(record: Examined) -> Gap | None:
    if not _signs(record):
        return _idle("nothing is signed")
    if any(answer.accepted for answer in record.varied(SIGNED, DENIED, CANCELLED)):
        return None
    return Gap(("sca",), "a signed request, read back", "none")


def _values(record: Examined) -> Gap | None:
    making = (
        (each.id, record.binding(each)) for each in _offered(record) if each.makes or each.changes
    )
    varied = [
        name
        for name, binding in making
        if binding.modes or any(at.other is not None for at in binding.arguments.values())
    ]
    if not varied:
        return _idle("the file has no modes and no second values")
    if record.varied(IN_MODE, BARRED, UNKNOWN, OTHERS, CHANGED):
        return None
    return Gap(("operations", varied[0]), "requests in other modes and with other values", "none")


def _arguments_read(record: Examined) -> Gap | None:
    """Name an argument that a rule is about, if no probe of such a rule was performed."""
    places = [
        ("operations", operation, "arguments", argument)
        for contract, _, kind in record.rules
        for facet in kind.facets()
        for operation, argument, _ in arguments_of(contract, record.target, kind, facet)
    ]
    if not places:
        return _idle("no rule is about a header or a query parameter")
    if any(f" {RULE} " in answer.probe for answer in record.answers):
        return None
    return Gap(places[0], "a call that shows whether it is read", "none")


#: All checks, in the order in which to fix problems.
STEPS: Final[Sequence[Check]] = (
    Check("target", "the file can be read and fits the contracts", _target_file),
    Check("unused", "every key has an effect", preflight.unused, ("target",)),
    Check("words", "every word has its usual meaning", preflight.words, ("target",)),
    Check("waivers", "no waiver has expired", preflight.waivers, ("target",)),
    Check("guessed", "no line is marked as a guess", preflight.guessed, ("target",)),
    Check("secrets", "every secret is set", preflight.secrets, ("target",)),
    Check("files", "certificates and keys are usable", preflight.certificates, ("secrets",)),
    Check("host", "every host name resolves", preflight.resolves, ("target",), _network),
    Check("port", "every host accepts connections", preflight.connects, ("host",), _network),
    Check("answers", "TLS and HTTP work", preflight.answers, ("port", "files"), _network),
    Check("clocks", "the clocks agree", preflight.clocks, ("answers",), _clocks),
    Check("ready", "the target can be set up", _ready, ("answers",)),
    Check("fixtures", "the fixture provider answers", fixtures.answers, ("ready",)),
    Check("calls", "an ordinary call can be made", make_calls, ("fixtures",), _calls),
    Check(
        "offers",
        "the fixture provider does what it offers",
        offers.examine,
        ("calls",),
        _offers,
    ),
    Check("zone", "the time zone is the bank's", fixtures.zone, ("calls",), _zone),
    Check("static", "answers depend on the request", static_answers, ("fixtures",), _static),
    Check("status", "every answer matches an outcome", statuses.examine, ("static",), _calls),
    Check("pointers", "every pointer finds its value", pointers.examine, ("static",), _pointers),
    Check("pages", "the next page can be read", pages, ("static",), _pages),
    Check("dates", "date arguments have an effect", dates, ("static",), _dates),
    Check(
        "presence",
        "the mark of the customer's presence has an effect",
        presence,
        ("status",),
        _presence,
    ),
    Check("screens", "the SCA screens are known", fixtures.screens, ("static",), _screens),
    Check("effects", "executed requests are reported", fixtures.effects, ("screens",), _effects),
    Check(
        "states",
        "requests are shown in their actual state",
        made_requests.states,
        ("pointers", "screens"),
        _states,
    ),
    Check(
        "values",
        "every mode and second value is accepted",
        made_requests.values,
        ("status",),
        _values,
    ),
    Check(
        "arguments",
        "headers and query parameters are read",
        ignored_arguments,
        ("status", "pointers"),
        _arguments_read,
    ),
    Check(
        "unbound", "what answers show and rules need is bound", unbound.examine, ("static",), _calls
    ),
)
#: The check that examines each binding feature that has no `not_examined` in its row.
EXAMINED_BY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("method", "path", "aliases", "headers", "argument", "mode"), "status"),
    **dict.fromkeys(("outcomes", "submission", "submitted", "given"), "status"),
    **dict.fromkeys(pointers.POINTERS, "pointers"),
    "next": "pages",
    "other": "values",
}
