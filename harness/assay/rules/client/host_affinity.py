"""`host-affinity`, the provider's side: once a host is chosen, the flow stays on it.

What surely is one flow: all calls about one request, and the pages of one list. So is
all that is asked for one customer of things that he owns.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import Exchange, History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, say
from assay.rules.kinds.host_affinity import Params, host
from assay.rules.rule import Duty

ID = "stays-on-host"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every later call of a flow."""
    chosen: dict[str, Exchange] = {}
    for one in history.exchanges:
        operation = p.contract.operations.get(one.call.operation)
        if operation is None:
            continue
        if operation.makes:
            if one.item is not None and one.item.key is not None:
                chosen[f"request {one.item.key}"] = one
            continue
        if operation.request or operation.by_provider:
            flow = f"request {one.call.arguments.get(operation.about or '')}"
            if flow not in chosen:
                continue
        else:
            flow = f"customer {one.call.subject}"
        first = chosen.setdefault(flow, one)
        if first is one:
            continue
        here, there = host(first.wire.url), host(one.wire.url)
        owed = f"that the flow stays on {here}"
        judged = KEPT if here == there else BROKEN
        yield say(ID, judged, one, owed, f"it went on on {there}", first.n)


DUTY = Duty(
    kind="host-affinity",
    id=ID,
    description=lambda p: "all later requests of a flow use the host that was chosen",
    check=check,
)
