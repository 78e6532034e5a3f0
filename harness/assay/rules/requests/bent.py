"""Requests that are bent in one way, each judged beside its control.

For rules that say how a request must not be made. One that is refused at once was not
accepted, and neither was one that is shown as rejected later, before anybody has signed
or ended it. One that is accepted, and not shown as rejected by the end of the history,
was: what does not meet the contract is not to be taken in the first place, so nobody
needs to sign it to find out, and nobody should. A refusal counts only beside a control: the same request without the deviation,
made for the same customer, which was accepted. An answer that never came, a failing
target, and a state that the profile does not know decide nothing.
"""

from __future__ import annotations

from typing import TypeAlias

from assay.rules.folds import AGREES, DISAGREES, UNAUTHENTICATED, UNCLEAR
from assay.rules.requests import Fate, Request
from assay.verdict import Evidence

#: All that a request has besides one of its arguments.
Frame: TypeAlias = tuple[object, ...]


def frame(request: Request, field: str) -> Frame:
    """Return all that was sent but for one argument: what it shares with its control.

    A customer who was introduced anew is somebody else, perhaps at another bank.
    """
    call = request.made.call
    rest = sorted((name, repr(value)) for name, value in call.arguments.items() if name != field)
    who = call.subject, id(request.subject), call.by
    return who, call.mode, call.host, call.alias, call.present, tuple(rest)


def taken(request: Request) -> bool:
    """Whether a request was accepted, and not rejected later."""
    return request.made.accepted and request.fate is not Fate.REJECTED


def control(request: Request) -> bool:
    """Whether others can be compared with a request.

    One that was signed is no control any more: its repeat may be rejected for being one.
    """
    return taken(request) and not request.done and request.signed is None


def judge(facet: str, request: Request, beside: Request | None, why: str) -> Evidence | None:
    """Judge a request that must not be accepted; None where it could not come out otherwise."""
    made, seen = request.made, request.tell()
    if taken(request):
        agreement = DISAGREES
        if _unknown(request):
            agreement = UNCLEAR
            seen += "; where it stands now is no word that the profile knows"
    elif beside is None:
        return None
    elif made.accepted and _touched(request):
        agreement = UNCLEAR
        seen += "; it may have been rejected for what became of it since"
    elif made.accepted or (made.refused and made.wire.status != UNAUTHENTICATED):
        agreement = AGREES
    else:
        agreement = UNCLEAR
    numbers = {*request.numbers, *((beside.made.n,) if beside else ())}
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=f"a refusal: {why}",
        seen=seen,
        exchanges=tuple(sorted(numbers)),
        deviation=made.call.deviation,
    )


def _touched(request: Request) -> bool:
    """Whether somebody signed, changed or ended a request, which may have got it rejected."""
    return bool(request.signings or request.changes or request.ends or request.withdrawn)


def _unknown(request: Request) -> bool:
    """Whether somebody looked at a request last without learning where it stands."""
    looks = [one for one in (*request.reads, *request.changes, *request.ends) if one.accepted]
    last = max(looks, key=lambda one: one.n, default=None)
    return last is not None and not request.done and (not last.item or last.item.state is None)
