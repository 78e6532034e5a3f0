"""The calls of an examination: every probe is run, and what it saw is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

from assay.binding.encode import Access, HttpRequest
from assay.contract.model import Contract, Operation
from assay.errors import CannotArrange, InputError, TargetError
from assay.history import Authorised, Call, Event, Holding, Subject, Wire
from assay.onboarding.doctor.context import (
    DoctorContext,
    EarlyEnd,
    Finding,
    Weight,
    from_problem,
    one_line,
)
from assay.onboarding.doctor.probe_plan import ProbePlan
from assay.onboarding.doctor.probes import READS, REQUESTS, DoctorProbe, doctor_probes
from assay.rules import steps
from assay.rules.consent_probes import with_consents
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.rule import Script
from assay.rules.steps import perform_all
from assay.running.executor import executing
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.protocol import Delivery, Transport

#: The most calls of a quick examination.
_QUICK = 3


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


def make_calls(context: DoctorContext) -> Iterator[Finding]:
    """Run every probe, keep the answers, and report which could not be completed."""
    numbers = count(1)
    plans = tuple(probe_plans(context))
    lists_only = any(plan.makes for plan in plans)
    for plan in plans:
        context.counted |= plan.counted() is not None
        left = _QUICK - len(context.answers)
        quick = quick_probes(plan, left, lists_only=lists_only)
        for probe in quick if context.quick else doctor_probes(plan):
            early = _run(context, plan.contract, probe, numbers)
            if early and not probe.optional:
                missing = one_line(context.redactor.text(early.missing))
                events = context.events[f"{plan.contract.id} {probe.name}"]
                created = any(isinstance(event, Subject) for event in events)
                segment = "" if created else probe.segment
                context.early_ends.append(replace(early, missing=missing, segment=segment))
    yield from _ended_early(context)


def probe_plans(context: DoctorContext) -> Iterator[ProbePlan]:
    """Yield the probe plan of each contract."""
    for contract in context.contracts_bound:
        yield ProbePlan(
            contract=contract,
            target=context.target,
            makes_customers=context.makes_customers,
            today=context.today,
        )


def _run(
    context: DoctorContext, contract: Contract, probe: DoctorProbe, numbers: Iterator[int]
) -> EarlyEnd | None:
    """Run one probe as far as possible; return what was missing to complete it, if anything."""
    environment = context.environment
    if environment is None:
        return EarlyEnd(missing="a target")
    name, script = probe.name, with_consents(contract, probe.start())
    watching = RecordingTransport(transport=environment.screens or environment.client)

    def record(event: Event, access: Access) -> None:
        context.redactor.learn_access(access)
        if isinstance(event, Subject):
            context.redactor.learn(event, access)
            context.role_of[f"{contract.id} {name} {event.name}"] = access.id or ""
        context.note(f"{contract.id} {name}", contract, event)
        if isinstance(event, Authorised) and not probe.optional:
            context.signed.append((event, watching.last))
        context.on_call()

    target = probe.target or environment.target
    watched = replace(environment, screens=watching, target=target)
    try:
        with executing(
            watched, contract.operations, number=lambda: next(numbers), record=record
        ) as executor:
            perform_all(script, executor.perform)
    except InputError as error:
        context.problems += error.problems
    except AuthenticationError as error:
        context.problems.append(error.problem)
    except CannotArrange as error:
        return EarlyEnd(missing=str(error), key=error.key, unprepared=not error.key)
    except TargetError as error:
        return EarlyEnd(missing=str(error), failed=True)
    finally:
        script.close()
    return None


def _ended_early(context: DoctorContext) -> Iterator[Finding]:
    """Report which probes could not be completed, and what was missing."""
    for problem in dict.fromkeys(context.problems):
        yield from_problem(problem)
    for early in context.early_ends:
        if early.segment:
            expected = f"the bank's word for {early.segment}"
            place = ("fixtures", "segments", early.segment)
            yield context.finding(place, expected, early.missing)
            continue
        where = early.key or ("fixtures",)
        unseen = early.unprepared or where[0] == "operations"
        weight = Weight.UNSEEN if unseen else Weight.DOUBT
        needs = "" if early.failed else "it needs "
        found = f"a call could not be made: {needs}{early.missing}"
        yield context.finding(where, "", found, weight=weight)


# -- The doctor's probes of a quick examination: three calls at most, of all contracts together --
# A list is read first, then a request is made and shown; where no request can be made, a consent
# is transmitted, and one item is asked about. What these calls do not show is not seen.
def quick_probes(plan: ProbePlan, left: int, *, lists_only: bool) -> Iterator[DoctorProbe]:
    """Yield the probes of a contract that make at most `left` calls.

    With `lists_only`, the calls after the list are left to the requests of another contract.
    """
    if plan.lists and left > 0:
        reads = partial(_reads, plan, 1 if lists_only else left)
        yield DoctorProbe(name=READS, start=reads)
        left -= 1
    if plan.makes and left > 0:
        yield DoctorProbe(name=REQUESTS, start=partial(_request, plan, plan.makes, left))


def _reads(plan: ProbePlan, left: int) -> Script:
    """Read one list; where calls are left for it, transmit a consent and ask about an item."""
    owner = plan.owner()
    psu = yield from steps.arrange("psu", *([Holding(resource=owner)] if owner else []))
    yield from steps.send(Call(operation=plan.lists[0].id, subject="psu"))
    about = [each for each in plan.reads if each.available and each.about]
    if not about or not psu.owns:
        return
    if plan.grant and left > 2:  # noqa: PLR2004 -- the list, the consent and the item
        yield from steps.grant(plan.grant, "psu", *(owned.key for owned in psu.owns))
    if left > 1:
        arguments = steps.arguments(about[0], psu.owns[0].key)
        yield from steps.send(Call(operation=about[0].id, subject="psu", arguments=arguments))


def _request(plan: ProbePlan, create: Operation, left: int) -> Script:
    """Make a request, and show it where a call is left for that."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    psu = yield from request_steps.customer(lifecycle)
    made = yield from steps.send(request_steps.request(lifecycle, psu))
    if left > 1:
        yield from request_steps.read(lifecycle, made)
