"""The doctor's probes of requests: make, show, change, sign and end one.

Where customers are created, every mode and every second value of the target file is sent
once, and a request is shown at each moment of its life, so that its words can be compared
with what was done. With listed customers, one request is made, shown, changed and ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, TypeAlias

from assay.binding.mode_values import repeats_argument
from assay.binding.target import ScaKind, Target
from assay.contract.model import Capability, Operation
from assay.history import (
    Accepted,
    Arrange,
    Authorise,
    Authorised,
    Call,
    Decision,
    Exchange,
    Holding,
    Subject,
)
from assay.onboarding.doctor.probe_plan import HOST, ProbePlan
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_operation
from assay.rules.rule import Script, facts_of
from assay.rules.steps import Part

#: The moments of a request at which it is shown, after that at which it was made.
SIGNED, WAITING = "after it was signed", "after it was signed, for a later day"
DENIED, LEFT = "after the customer refused", "after the customer was idle"
CANCELLED, CHANGED = "after it was cancelled", "after it was changed"
#: The variations of a call that makes or changes a request.
IN_MODE, OTHERS = "in a mode", "with other values"
BARRED, UNKNOWN = "in a mode that is refused", "in an invalid mode"
#: The variation of a request by a customer of a segment.
SEGMENT = "by a customer of a segment"
#: What makes a word of a bank one that it does not know.
_NO_WORD: Final = "-0"
#: A probe that has not begun.
_Start: TypeAlias = Callable[[], Script]
#: A signature that the customer refuses to give.
REFUSAL: Final = Authorise(
    subject="", request="", approval=None, decision=Decision.REFUSE, variation=DENIED
)
#: The signature of a customer of a segment, with the first factor that is offered.
IN_SEGMENT: Final = replace(request_steps.SIGN, variation=SEGMENT)


def requests(plan: ProbePlan, create: Operation) -> Script:
    """Create, read, change and end a request; where customers are created, sign another one."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    psu = yield from request_steps.customer(lifecycle)
    if plan.makes_customers:
        made = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from request_steps.read(lifecycle, made)
        yield from _shown_elsewhere(plan, lifecycle, made)
        for operation in plan.contract.operations.values():
            if not operation.available and operation.by_tpp:
                yield from request_steps.send_if_any(request_steps.call_about(operation, made))
        if plan.signs and made.item and _leads(plan, made):
            yield from request_steps.sign(lifecycle, made)
            yield from _shown(lifecycle, made, SIGNED)
            yield from _shown_elsewhere(plan, lifecycle, made, SIGNED)
            yield from request_steps.inquire()
    for host in plan.other_hosts if not plan.reads else ():
        elsewhere = replace(request_steps.request(lifecycle, psu), host=host, variation=HOST)
        yield from steps.send(elsewhere)
    mode = _changeable_mode(plan, lifecycle)
    made = yield from steps.send(request_steps.request(lifecycle, psu, mode))
    if not plan.makes_customers:
        if made.refused and mode != lifecycle.mode:
            made = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from request_steps.read(lifecycle, made)
    yield from request_steps.send_if_any(request_steps.plain_change(lifecycle, made))
    end = request_steps.call_about(lifecycle.end, made)
    yield from request_steps.send_if_any(end)
    if plan.makes_customers and end is not None:
        yield from _shown(lifecycle, made, CANCELLED)


def _changeable_mode(plan: ProbePlan, lifecycle: Lifecycle) -> str | None:
    """Return the mode of a request that can be changed, or the plain one if it is not bound."""
    mode = lifecycle.changeable_mode
    bound = mode in plan.binding(lifecycle.create).modes
    return mode if bound else lifecycle.mode


def _shown(lifecycle: Lifecycle, made: Exchange, moment: str) -> Part[Exchange | None]:
    """Read a request at a moment of its life."""
    call = request_steps.call_about(lifecycle.read, made)
    if call is None:
        return None
    return (yield from steps.send(replace(call, variation=moment)))


def _shown_elsewhere(
    plan: ProbePlan, lifecycle: Lifecycle, made: Exchange, moment: str = ""
) -> Part[None]:
    """Call the other operations that show a request: of its status, for example."""
    for operation in plan.contract.operations.values():
        if operation.shows == lifecycle.request.id and operation is not lifecycle.read:
            call = request_steps.call_about(operation, made) if operation.available else None
            if call is not None:
                yield from steps.send(replace(call, variation=moment))


def _leads(plan: ProbePlan, made: Exchange) -> bool:
    """Whether it is known where the request is signed."""
    if plan.target.sca.kind is ScaKind.CONTROL:
        return True
    return isinstance(made.outcome, Accepted) and made.outcome.approval is not None


def signature_probes(plan: ProbePlan, create: Operation) -> Iterator[tuple[str, _Start]]:
    """Yield the probes in which a request is signed late, for a later day, or not at all."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    if not plan.signs or lifecycle.read is None:
        return
    yield "refused signature", partial(_signed, plan, lifecycle, REFUSAL, DENIED)
    limits = facts_of(plan.contract).signing_limits.get(lifecycle.request.id, {})
    if limits and Capability.CLOCK in plan.target.fixtures.offers:
        idle = (max(limits.values()) + timedelta(minutes=1),)
        late = replace(request_steps.SIGN, linger=idle, variation=LEFT)
        yield "late signature", partial(_signed, plan, lifecycle, late, LEFT)
    mode = lifecycle.changeable_mode
    if lifecycle.deferred(mode) and mode in plan.binding(create).modes:
        yield "later day", partial(_signed, plan, lifecycle, request_steps.SIGN, WAITING, mode)


def _signed(
    plan: ProbePlan, lifecycle: Lifecycle, how: Authorise, moment: str, mode: str | None = None
) -> Script:
    """Make a request, sign it in one way, and show it."""
    psu = yield from request_steps.customer(lifecycle)
    made = yield from steps.send(
        replace(request_steps.request(lifecycle, psu, mode), variation=moment)
    )
    if not made.item or not _leads(plan, made):
        return
    signed = yield from request_steps.sign(lifecycle, made, how)
    if isinstance(signed, Authorised):
        yield from _shown(lifecycle, made, moment)
        yield from request_steps.inquire()


def modes(plan: ProbePlan, create: Operation) -> Script:
    """Make a request in every bound mode that the contract says is accepted."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    done = {lifecycle.mode, _changeable_mode(plan, lifecycle)}
    accepted = facts_of(plan.contract).accepted_modes.get(lifecycle.request.id, ())
    bound = plan.binding(create).modes
    for mode in (mode for mode in accepted if mode in bound and mode not in done):
        psu = yield from request_steps.customer(lifecycle, f"psu-{mode}")
        call = request_steps.request(lifecycle, psu, mode)
        yield from steps.send(replace(call, variation=IN_MODE))


def refused_modes(plan: ProbePlan, create: Operation) -> Script:
    """Make a request in every bound mode that the contract says is refused."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    accepted = facts_of(plan.contract).accepted_modes.get(lifecycle.request.id, ())
    bound = plan.binding(create).modes
    for mode in (mode for mode in create.modes if mode in bound and mode not in accepted):
        psu = yield from request_steps.customer(lifecycle, f"psu-{mode}")
        call = request_steps.request(lifecycle, psu, mode)
        made = yield from steps.send(replace(call, variation=BARRED))
        yield from _shown(lifecycle, made, BARRED)


def unknown_modes(plan: ProbePlan, create: Operation) -> Script:
    """Make a request in each accepted mode, whose word is one that no bank knows."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    for mode in _worded(plan, create):
        psu = yield from request_steps.customer(lifecycle, f"psu-{mode}")
        call = request_steps.request(lifecycle, psu, mode)
        yield from steps.send(replace(call, variation=UNKNOWN))


def _worded(plan: ProbePlan, create: Operation) -> tuple[str, ...]:
    """Return the accepted modes that a word of the bank requests."""
    binding = plan.binding(create)
    worded = {
        mode
        for mode, spelling in binding.modes.items()
        if isinstance(spelling.value, str) and not repeats_argument(spelling, binding)
    }
    accepted = facts_of(plan.contract).accepted_modes.get(create.makes or "", ())
    return tuple(mode for mode in accepted if mode in worded)


def with_unknown_words(plan: ProbePlan, create: Operation) -> Target:
    """Return the target with a word in place of that of each mode that no bank knows."""
    binding = plan.binding(create)
    unknown = {
        mode: replace(binding.modes[mode], value=f"{binding.modes[mode].value}{_NO_WORD}")
        for mode in _worded(plan, create)
    }
    altered = replace(binding, modes={**binding.modes, **unknown})
    return replace(plan.target, operations={**plan.target.operations, create.id: altered})


def others(plan: ProbePlan, create: Operation) -> Script:
    """Make a request with every second value; if that is refused, one with each of them."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    names = _second_values(plan, create)
    psu = yield from request_steps.customer(lifecycle)
    first = yield from steps.send(_varied(lifecycle, psu, *names))
    for name in () if first.accepted or len(names) == 1 else names:
        psu = yield from request_steps.customer(lifecycle, f"psu-{name}")
        yield from steps.send(_varied(lifecycle, psu, name))


def _second_values(plan: ProbePlan, operation: Operation) -> tuple[str, ...]:
    arguments = plan.binding(operation).arguments
    return tuple(
        name
        for name in operation.arguments
        if name in arguments and arguments[name].other is not None
    )


def _varied(lifecycle: Lifecycle, psu: Subject, *names: str) -> Call:
    call = request_steps.request(lifecycle, psu)
    return replace(call, varied=names, variation=OTHERS)


def changes(plan: ProbePlan, create: Operation) -> Script:
    """Change each argument of a request by itself, and show the request after it."""
    lifecycle = lifecycle_of_operation(plan.contract, create)
    if lifecycle.change is None:
        return
    psu = yield from request_steps.customer(lifecycle)
    mode = _changeable_mode(plan, lifecycle)
    call = request_steps.request(lifecycle, psu, mode)
    made = yield from steps.send(replace(call, variation=CHANGED))
    for name in _second_values(plan, lifecycle.change):
        change = request_steps.call_about(lifecycle.change, made)
        if change is not None:
            yield from steps.send(replace(change, varied=(name,), variation=CHANGED))
            yield from _shown(lifecycle, made, CHANGED)


def further_probes(plan: ProbePlan, create: Operation) -> Iterator[tuple[str, _Start]]:
    """Yield the probes that only created customers allow, with their names."""
    if not plan.makes_customers:
        return
    yield from signature_probes(plan, create)
    accepted = facts_of(plan.contract).accepted_modes.get(create.makes or "", ())
    if {*accepted} & {*plan.binding(create).modes}:
        yield "modes", partial(modes, plan, create)
        yield "refused modes", partial(refused_modes, plan, create)
    if _second_values(plan, create):
        yield "other values", partial(others, plan, create)
    yield "changes", partial(changes, plan, create)


def segment(plan: ProbePlan, name: str) -> Script:
    """Create a customer of a segment, who makes a request, and signs it if the factors matter."""
    owner, create = plan.owner(), plan.makes
    holdings = (Holding(resource=owner),) if owner else ()
    psu = yield Arrange(subject="psu", holdings=holdings, segment=name)
    if isinstance(psu, Subject) and create and (owner or not create.owned):
        lifecycle = lifecycle_of_operation(plan.contract, create)
        call = replace(request_steps.request(lifecycle, psu), variation=SEGMENT)
        made = yield from steps.send(call)
        offered = facts_of(plan.contract).factors_by_segment.get(lifecycle.request.id, {})
        if name in offered and plan.signs and made.item and _leads(plan, made):
            yield from request_steps.sign(lifecycle, made, IN_SEGMENT)
