"""`mandatory`, the provider's side: no request is made without a field that it must have.

A field that is missing, null or empty is not there. What type is right, only the bank can
tell. A request that is no object at all, or was cut short, is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, say
from assay.rules.kinds.mandatory import Params
from assay.rules.rule import BindingRequirement, Duty

ID = "fields-there"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every request that is made."""
    for one in history.exchanges:
        call = one.call
        if call.operation != p.lifecycle.create.id or call.malformed:
            continue
        lacking = [name for name in p.fields if call.arguments.get(name) in (None, "", [], {})]
        owed = f"a request with {', '.join(p.fields)}"
        done = f"it has no {', '.join(lacking)}" if lacking else "it has them"
        yield say(ID, BROKEN if lacking else KEPT, one, owed, done)


DUTY = Duty(
    kind="mandatory",
    id=ID,
    description=lambda p: f"every request has {', '.join(p.fields)}",
    check=check,
    requires=lambda p: tuple(
        BindingRequirement(operation=p.lifecycle.create.id, feature="argument", name=one)
        for one in p.fields
    ),
)
