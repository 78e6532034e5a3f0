"""Whether a target says the same whatever it is asked, as a mock does.

Whether the header makes a difference by which a call says that the customer is there.

Only where a contract limits calls without the customer can that be seen: when they are
used up, calls with the customer are still served.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay.binding.target import FixtureKind
from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, Weight, at
from assay.history import Accepted

#: A body shorter than this says too little to be the same by chance.
_TELLING = 24


def static_answers(patient: DoctorContext) -> Iterator[Finding]:
    """Compare the bodies of good answers to different operations, or about different things."""
    asked: defaultdict[bytes, set[tuple[str, str]]] = defaultdict(set)
    for one in patient.answers:
        body, operation = one.exchange.wire.body, one.operation
        # A request is shown alike by whatever reads, changes or ends it.
        if one.good and len(body) >= _TELLING and operation.available and not operation.request:
            about = str(one.exchange.call.arguments.get(one.operation.about or "", ""))
            asked[body].add((operation.id, about if one.things else ""))
    for questions in asked.values():
        names = sorted({name for name, _ in questions})
        if len(names) > 1:
            what = f"the same bytes from {', '.join(names)}"
        elif len(questions) > 1:
            what = f"the same bytes from {names[0]}, whatever it is asked about"
        else:
            continue
        hint = "is it a mock? nothing can be told from static answers"
        yield at(patient.target, ("base_url",), "answers to what is asked", what, hint)
        return


def presence(patient: DoctorContext) -> Iterator[Finding]:
    """Judge who was served when what is free without the customer was used up."""
    presence = patient.target.presence
    answers = patient.presences
    if presence is None:
        return
    if not answers:
        if patient.target.fixtures.kind is FixtureKind.ROLES:
            what = "no calls to tell it by: they would be spent"
            place, weight = ("presence", "header"), Weight.UNSEEN
            yield at(patient.target, place, "a header that makes a difference", what, weight=weight)
        return
    alone = [
        isinstance(o.exchange.outcome, Accepted) for o in answers if not o.exchange.call.present
    ]
    there = [isinstance(o.exchange.outcome, Accepted) for o in answers if o.exchange.call.present]
    if not alone[0]:
        return  # nobody is served; said elsewhere
    limited, served = not all(alone), all(there)
    if limited and not served:
        what = "calls with it refused like those without it"
        hint = "is the name right, and the value one that the bank takes?"
        place, expected = ("presence", "header"), "calls with the customer to be served"
        yield at(patient.target, place, expected, what, hint, weight=Weight.DOUBT)
    elif not limited and not served:
        key = "when" if presence.absent else "header"
        what = "those with the customer limited, and those without served"
        hint = "it says the opposite: " + (
            "take `when: absent` out" if presence.absent else "add `when: absent`"
        )
        yield at(
            patient.target,
            ("presence", key),
            "calls without the customer to be limited",
            what,
            hint,
        )
    elif not limited:
        what = f"all {len(alone)} served, and those with the customer too"
        hint = "nothing tells calls with the customer from those without"
        yield at(
            patient.target,
            ("presence", "header"),
            "calls without the customer to be limited",
            what,
            hint,
            weight=Weight.DOUBT,
        )
