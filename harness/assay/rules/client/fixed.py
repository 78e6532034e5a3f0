"""`fixed`, the provider's side: the field has the one value that is right.

A field that is not there is the business of `mandatory`. Where spelling is left open, the
right value in other letters is, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.contract.model import Json
from assay.history import History
from assay.judging.verdict import Agreement, Evidence
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.fixed import Params
from assay.rules.rule import BindingRequirement, Duty

ID = "value-kept"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every request that names the field."""
    for one in history.exchanges:
        call = one.call
        value = call.arguments.get(p.field)
        if (
            call.operation == p.lifecycle.create.id
            and not call.malformed
            and value not in (None, "")
        ):
            judged = _judge(p, value)
            done = "it is" if judged is KEPT else f"it is {value!r}"
            yield say(ID, judged, one, f"that {p.field} is {p.const!r}", done)


def _judge(p: Params, value: Json) -> Agreement:
    if value == p.const:
        return KEPT
    alike = isinstance(value, str) and value.strip().casefold() == p.const.casefold()
    return OPEN if alike and not p.exact else BROKEN


DUTY = Duty(
    kind="fixed",
    id=ID,
    description=lambda p: f"{p.field} is {p.const} in every request",
    check=check,
    requires=lambda p: (
        BindingRequirement(operation=p.lifecycle.create.id, feature="argument", name=p.field),
    ),
)
