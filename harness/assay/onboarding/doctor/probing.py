"""The calls of an examination: their cost; every probe is run, and what it saw is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from assay.binding.model.submission import SUBMISSION
from assay.binding.model.target import ScaKind
from assay.binding.wire.encode import Access, HttpRequest
from assay.contract.model import Contract
from assay.errors import CannotArrange, InputError, Problem, TargetError
from assay.history import Accepted, Authorise, Authorised, Call, Event, Exchange, Subject, Wire
from assay.onboarding.doctor.probe_plan import ProbePlan
from assay.onboarding.doctor.probes import DoctorProbe, doctor_probes, quick_probes
from assay.onboarding.doctor.record import Examined, Finding, Weight, from_problem, one_line
from assay.planning.plan import submitting
from assay.rules.consent_probes import with_consents
from assay.rules.dry_run import DryTarget, dry_run
from assay.rules.steps import perform_all
from assay.running.executor import executing
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.protocol import Delivery, Transport

#: The most calls of a quick examination.
_QUICK = 3
#: The most steps of a probe that its cost is estimated from.
_MOST_STEPS = 300


@dataclass(slots=True, kw_only=True)
class DoctorCost:
    """Estimate of what the probes send: calls by operation, requests, consents and signatures."""

    attended: Counter[str] = field(default_factory=Counter[str])
    alone: Counter[str] = field(default_factory=Counter[str])
    made: int = 0
    consents: int = 0
    signatures: int = 0

    @property
    def calls(self) -> int:
        """The number of all calls."""
        return self.attended.total() + self.alone.total()


def cost(plan: ProbePlan, total: DoctorCost) -> None:
    """Add an estimate of what the probes of a contract will send."""
    for probe in doctor_probes(plan):
        script = with_consents(plan.contract, probe.start())
        dry_target = DryTarget(contract=plan.contract, submitted=submitting(plan.target))
        for step in dry_run(script, dry_target, _MOST_STEPS):
            match step:
                case Call(operation=name, present=present):
                    operation = plan.contract.operations[name]
                    (total.attended if present else total.alone)[name] += 1
                    total.made += bool(operation.makes)
                    total.consents += bool(operation.grants)
                case Authorise():
                    total.signatures += 1
                case _:
                    pass
        if dry_target.submissions:
            total.attended[SUBMISSION] += dry_target.submissions


@dataclass(slots=True, kw_only=True)
class RecordingTransport:
    """A transport that remembers the last answer."""

    transport: Transport
    base_url: str = field(init=False)
    reached: bool = False
    last: Wire = field(default_factory=lambda: Wire(method="", url=""))

    def __post_init__(self) -> None:
        self.base_url = self.transport.base_url

    def send(self, request: HttpRequest) -> Delivery:
        """Send a request and remember its answer."""
        sent = self.transport.send(request)
        self.last, self.reached = sent.wire, self.transport.reached
        return sent

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the control API."""
        return self.transport.control(method, path, body)

    def close(self) -> None:
        """Close the transport."""
        self.transport.close()


def make_calls(record: Examined) -> Iterator[Finding]:
    """Run every probe, keep the answers, and report which could not be completed."""
    numbers, problems, unfinished = count(1), dict[Problem, None](), list[Finding]()
    plans = tuple(probe_plans(record))
    lists_only = any(plan.makes for plan in plans)
    for plan in plans:
        record.counted |= plan.counted() is not None
        left = _QUICK - len(record.answers)
        quick = quick_probes(plan, left, lists_only=lists_only)
        for probe in quick if record.quick else doctor_probes(plan):
            try:
                _run(record, plan.contract, probe, numbers)
            except InputError as error:
                problems |= dict.fromkeys(error.problems)
            except AuthenticationError as error:
                problems[error.problem] = None
            except (CannotArrange, TargetError) as error:
                if not probe.optional:
                    unfinished.append(_unfinished(record, plan.contract, probe, error))
    yield from map(from_problem, problems)
    yield from unfinished


def _unfinished(
    record: Examined,
    contract: Contract,
    probe: DoctorProbe,
    error: CannotArrange | TargetError,
) -> Finding:
    """Report a probe that could not be completed, at the key that provides what was missing."""
    missing = one_line(record.redactor.text(str(error)))
    events = record.events[f"{contract.id} {probe.name}"]
    if probe.segment and not any(isinstance(event, Subject) for event in events):
        expected = f"the bank's word for {probe.segment}"
        return record.finding(("fixtures", "segments", probe.segment), expected, missing)
    if isinstance(error, TargetError):
        what = f"a call could not be made: {missing}"
        return record.finding(("fixtures",), "", what, weight=Weight.FAULT)
    where = error.key or ("fixtures",)
    # No fixture can prepare it, or the file does not say how a call is made.
    weight = Weight.UNSEEN if not error.key or where[0] == "operations" else Weight.DOUBT
    return record.finding(where, "", f"a call could not be made: it needs {missing}", weight=weight)


def probe_plans(record: Examined) -> Iterator[ProbePlan]:
    """Yield the probe plan of each contract."""
    for contract in record.contracts_bound:
        yield ProbePlan(
            contract=contract,
            target=record.target,
            makes_customers=record.makes_customers,
            today=record.today,
        )


def _run(record: Examined, contract: Contract, probe: DoctorProbe, numbers: Iterator[int]) -> None:
    """Run one probe as far as possible.

    Raises:
        CannotArrange, TargetError: the probe could not be completed.
        InputError, AuthenticationError: the target file is wrong.

    """
    environment = record.environment
    if environment is None:
        raise TypeError("the target was not set up")
    name, script = f"{contract.id} {probe.name}", with_consents(contract, probe.start())
    watching = RecordingTransport(transport=environment.screens or environment.client)

    def keep(event: Event, access: Access) -> None:
        record.redactor.learn_access(access)
        if isinstance(event, Subject):
            record.redactor.learn(event, access)
            record.role_of[f"{name} {event.name}"] = access.id or ""
        record.note(name, contract, event)
        # Nobody signs it, so looking at its first screen changes nothing.
        signed = environment.target.sca.kind is not ScaKind.NONE or environment.target.is_live
        made = event.outcome if isinstance(event, Exchange) and not signed else None
        if isinstance(made, Accepted) and made.approval and record.page is None:
            record.page = watching.send(HttpRequest(method="GET", url=made.approval)).wire
        if isinstance(event, Authorised) and not probe.optional:
            record.signed.append((event, watching.last))
        record.on_call()

    target = probe.target or environment.target
    watched = replace(environment, screens=watching, target=target)
    try:
        with executing(
            watched, contract.operations, number=lambda: next(numbers), record=keep
        ) as executor:
            perform_all(script, executor.perform)
    finally:
        script.close()
