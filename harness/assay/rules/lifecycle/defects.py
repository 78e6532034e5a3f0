"""Rules on requests with a defect: a missing argument or a wrong value.

Acceptance itself is the violation, unless the request is shown as rejected before anybody
has signed or ended it: such requests are not signed. An answer that never came, and a state
that the target file does not list decide nothing. A refusal counts only beside a control:
the same request with the one argument as it should be, accepted. A target that fails (5xx)
beside such a control does not refuse.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.history import History
from assay.rules.evidence import AGREES, DISAGREES, UNAUTHENTICATED, UNCLEAR, failed_instead
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.tracker import Instance, InstanceOutcome, Lifecycle, instances
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import facts_of
from assay.rules.verdict import Evidence

#: A digest of everything in a request except one of its arguments: a long history has many.
Frame: TypeAlias = bytes


def frame(request: Instance, field: str) -> Frame:
    """Return everything that was sent except one argument: what it shares with its control.

    A customer of the same name who was arranged again counts as another customer.
    """
    call = request.made.call
    rest = sorted((name, repr(value)) for name, value in call.compared.items() if name != field)
    who = call.subject, id(request.subject), call.by
    return digest_of(who, call.mode, call.host, call.alias, call.present, rest)


def digest_of(*parts: object) -> bytes:
    """Return a digest that equal values share, and no others."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).digest()


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
    """Base of the kinds that forbid defects in the arguments of a request.

    A subclass defines `defects`; the check follows from it. A request with several defects
    is evidence for none of them.
    """

    lifecycle: Lifecycle = the_request()  # noqa: RUF009 -- declares a parameter

    def defects(self, made: Sequence[Instance]) -> Iterator[Sequence[Defect] | None]:
        """Yield the defects of each request; None for one that is neither defective nor a control."""
        raise NotImplementedError

    def judged_arguments(self) -> Sequence[str]:
        """Return the arguments to which the rule applies."""
        raise NotImplementedError

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every request with one defect, beside the same request without it."""
        made = tuple(instances(history, self.lifecycle))
        defects = tuple(self.defects(made))
        if all(wrong is None or len(wrong) != 1 for wrong in defects):
            return
        contract, name = self.lifecycle.contract, self.lifecycle.request.id
        repeatable = name not in facts_of(contract).unrepeatable
        controls: Mapping[tuple[str, Frame], Instance] = {
            (argument, frame(request, argument)): request
            for request, wrong in zip(made, defects, strict=True)
            if wrong is not None and not wrong and is_control(request, repeatable=repeatable)
            for argument in self.judged_arguments()
        }
        for request, wrong in zip(made, defects, strict=True):
            if wrong is None or len(wrong) != 1:
                continue
            (defect,) = wrong
            beside = controls.get((defect.argument, frame(request, defect.argument)))
            evidence = judge(defect.facet, request, beside, defect.why)
            if evidence is not None:
                yield evidence
