"""`unsupported-mode`, the provider's side: the mode is not asked for."""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, say
from assay.rules.kinds.unsupported_mode import Params
from assay.rules.rule import BindingRequirement, Duty

ID = "mode-not-asked"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call of the operation; page turns ask for nothing new."""
    owed = f"that {p.mode} is not asked for: it is unsupported"
    for one in history.exchanges:
        if one.call.operation == p.operation.id and one.call.follow is None:
            asked = one.call.mode == p.mode
            done = "it was asked for" if asked else "it was not"
            yield say(ID, BROKEN if asked else KEPT, one, owed, done)


DUTY = Duty(
    kind="unsupported-mode",
    id=ID,
    description=lambda p: f"{p.mode} is not asked for",
    check=check,
    requires=lambda p: (BindingRequirement(operation=p.operation.id, feature="mode", name=p.mode),),
)
