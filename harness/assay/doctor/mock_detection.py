"""Whether a target says the same whatever it is asked, as a mock does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay.doctor.context import DoctorContext
from assay.doctor.finding import Finding, at

__all__ = ["examine"]

#: A body shorter than this says too little to be the same by chance.
_TELLING = 24


def examine(patient: DoctorContext) -> Iterator[Finding]:
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
