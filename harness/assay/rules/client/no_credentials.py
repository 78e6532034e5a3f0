"""`no-credentials`, the provider's side: the customer's credentials are never sent.

Judged are the operations that the clause names, which the profile says how to trick;
anywhere else credentials count as such, and their absence shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, say
from assay.rules.kinds.no_credentials import Params
from assay.rules.rule import BindingRequirement, Duty

ID = "none-sent"
OWED = "that the customer's credentials are not sent"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call of the contract."""
    named = {one.id for one in p.operations}
    for one in history.exchanges:
        if one.call.credentials and one.call.operation in p.contract.operations:
            yield say(ID, BROKEN, one, OWED, "they were sent")
        elif one.call.operation in named:
            yield say(ID, KEPT, one, OWED, "they were not")


DUTY = Duty(
    kind="no-credentials",
    id=ID,
    description=lambda p: "the customer's credentials are never sent",
    check=check,
    requires=lambda p: tuple(
        BindingRequirement(operation=one.id, feature="credentials") for one in p.operations
    ),
)
