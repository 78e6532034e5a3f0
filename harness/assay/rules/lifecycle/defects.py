"""Rules on requests with a defect: a missing argument or a wrong value.

Acceptance itself is the violation, unless the request is shown as rejected before anybody
has signed or ended it: such requests are not signed. An answer that never came, and a state
that the target file does not list decide nothing. A refusal counts only beside a control:
the same request with the one argument as it should be, accepted. A target that fails (5xx)
beside such a control does not refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.contract.model import Capability, Json
from assay.history import Call, Exchange, History
from assay.rules import steps
from assay.rules.controls import Shared, same_but
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.tracker import Instance, InstanceOutcome, Lifecycle, instances
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Purpose,
    Scenario,
    Script,
    TppFacet,
    bound,
    facts_of,
    needs,
)
from assay.rules.scope import Calls, Scope
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Agreement,
    Evidence,
    failed_instead,
    tpp_evidence,
)


def shared(request: Instance, argument: str) -> tuple[int, Shared]:
    """Return what a request shares with its controls: all but one argument.

    A customer of the same name who was arranged again counts as another customer.
    """
    return id(request.subject), same_but(request.made.call, argument)


def stays_accepted(request: Instance) -> bool:
    """Whether a request was accepted, and not rejected later."""
    return request.made.accepted and request.outcome is not InstanceOutcome.REJECTED


def is_control(request: Instance, *, repeatable: bool = False) -> bool:
    """Whether a request can be the control of others.

    One that was executed, or will be, cannot: another like it may be rejected as a repeat.
    Where nobody signs it can, if no rule rejects repeats (`repeatable`).
    """
    signed = request.signed is not None and not request.unsigned
    over = request.done or signed
    return stays_accepted(request) and (not over or (repeatable and request.unsigned))


def judge(facet: str, request: Instance, beside: Instance | None, why: str) -> Evidence | None:
    """Judge a request that must not be accepted; None where no control shows anything."""
    made, seen = request.made, request.describe()
    if stays_accepted(request):
        agreement = UNCLEAR if request.undecided else DISAGREES
        if _unknown(request):
            agreement = UNCLEAR
            seen += "; its current state is not listed in the target file"
    elif beside is None:
        return None
    elif made.accepted and _touched(request):
        agreement = UNCLEAR
        seen += "; it may have been rejected for something that happened to it since"
    elif made.accepted or (made.refused and made.wire.status != UNAUTHENTICATED):
        agreement = AGREES
    elif failed_instead(made):
        agreement = DISAGREES
    else:
        agreement = UNCLEAR
    controls = (beside.made.n,) if beside else ()
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=f"a refusal: {why}",
        seen=seen,
        exchanges=tuple(sorted({*request.numbers, *controls})),
        variation=made.call.variation,
        decisive=made.n,
        controls=controls,
    )


def _touched(request: Instance) -> bool:
    """Whether a request was signed, changed or ended, which can be why it was rejected."""
    return bool(request.screen_flows or request.changes or request.ends or request.withdrawn)


def _unknown(request: Instance) -> bool:
    """Whether the last answer about a request did not show its state."""
    looks = [look for look in (*request.reads, *request.changes, *request.ends) if look.accepted]
    last = max(looks, key=lambda look: look.n, default=None)
    return last is not None and not request.done and (not last.item or last.item.state is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A defect of an argument of a request, the facet that it shows, and the reason."""

    argument: str
    facet: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectRule(RefusingKind):
    """Base of the kinds that say what a good value of an argument of a request is.

    A subclass defines `defects`, `judged_arguments`, `duty` and `judge_sent`; both checks follow
    from them. A request with several defects is evidence for none of them.
    """

    purpose = Purpose.LIMIT
    scope = Scope(calls=Calls.NAMED)
    applies_to = ("makes",)

    #: The id of the TPP's obligation.
    duty_facet: ClassVar[str]

    lifecycle: Lifecycle = the_request()  # noqa: RUF009 -- declares a parameter

    def defects(self, made: Sequence[Instance]) -> Iterator[Sequence[Defect] | None]:
        """Yield the defects of each request; None for one that is neither defective nor a control."""
        raise NotImplementedError

    def judged_arguments(self) -> Sequence[str]:
        """Return the arguments to which the rule applies."""
        raise NotImplementedError

    def duty(self) -> str:
        """Return what every request of the TPP must be like."""
        raise NotImplementedError

    def judge_sent(self, exchange: Exchange) -> tuple[Agreement, str, str] | None:
        """Judge the arguments of a request that the TPP made: what is owed, and what it did."""
        raise NotImplementedError

    def argument_facet(
        self,
        id_: str,
        description: str,
        argument: str,
        scenario: str,
        *requires: BindingRequirement,
        not_applicable_because: str = "",
    ) -> Facet:
        """Return a facet on the values of an argument, which the target file must bind."""
        return Facet(
            id=id_,
            description=description,
            scenario=Scenario(id=scenario),
            needs=needs(Capability.PSU, Capability.WRITE),
            requires=(*bound(self.lifecycle.create, "argument", argument), *requires),
            not_applicable_because=not_applicable_because,
        )

    def send_and_read(self, calls: Iterable[Call]) -> Script:
        """Make each request, and read it."""
        for call in calls:
            made = yield from steps.send(call)
            yield from request_steps.read(self.lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every request with one defect, beside the same request without it."""
        made = tuple(instances(history, self.lifecycle))
        defects = tuple(self.defects(made))
        if all(wrong is None or len(wrong) != 1 for wrong in defects):
            return
        contract, name = self.lifecycle.contract, self.lifecycle.request.id
        repeatable = name not in facts_of(contract).unrepeatable
        controls: Mapping[tuple[int, Shared], Instance] = {
            shared(request, argument): request
            for request, wrong in zip(made, defects, strict=True)
            if wrong is not None and not wrong and is_control(request, repeatable=repeatable)
            for argument in self.judged_arguments()
        }
        for request, wrong in zip(made, defects, strict=True):
            if wrong is None or len(wrong) != 1:
                continue
            (defect,) = wrong
            beside = controls.get(shared(request, defect.argument))
            evidence = judge(defect.facet, request, beside, defect.why)
            if evidence is not None:
                yield evidence

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=self.duty_facet,
            description=self.duty(),
            requires=bound(self.lifecycle.create, "argument", self.judged_arguments()),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every request that is made."""
        for exchange in history.exchanges:
            call = exchange.call
            if call.operation == self.lifecycle.create.id and not call.malformed:
                judged = self.judge_sent(exchange)
                if judged is not None:
                    agreement, owed, done = judged
                    yield tpp_evidence(self.duty_facet, agreement, exchange, owed, done)


def replaced(call: Call, argument: str, value: Json, description: str = "") -> Call:
    """Return a call with another value of an argument; `description` says which, if it is bad."""
    sent = {**call.arguments, argument: value}
    varied = tuple(name for name in call.varied if name != argument)
    variation = f"{argument} is {description}" if description else ""
    return replace(call, arguments=sent, varied=varied, variation=variation)
