"""Why an obligation is undecided: what failed before, or what the target file does not find."""

from dataclasses import replace

import pytest

from assay.contract.model import Operation
from assay.history import Call, Cause, Indeterminate, Item, State
from assay.judging.undecided import why_undecided
from assay.judging.verdict import NO_EVIDENCE
from assay.testing import accepted, exchange, failed, history, refused

OPERATIONS = {
    "order": Operation(id="order", method="POST", path="/orders", makes="order"),
    "show": Operation(id="show", method="GET", path="/orders/{id}", shows="order"),
}
ORDER, SHOW = (Call(operation=name, subject="psu") for name in OPERATIONS)
VARIED = replace(SHOW, variation="without a header")
MADE = exchange(ORDER, accepted("K1"))
OPEN, UNKNOWN = (exchange(SHOW, accepted(Item(key="K1", state=at))) for at in (State.OPEN, None))
NOT_KNOWN = Indeterminate(cause=Cause.BINDING, why="no outcome of the target file matches status 9")
UNMATCHED = replace(failed(status=404), outcome=NOT_KNOWN)


@pytest.mark.parametrize(
    ("exchanges", "says"),
    [
        ([MADE, OPEN], NO_EVIDENCE),
        ([MADE, UNKNOWN], NO_EVIDENCE),
        ([MADE, exchange(VARIED, refused())], NO_EVIDENCE),
        ([MADE, exchange(VARIED, failed())], NO_EVIDENCE),
        ([MADE, exchange(VARIED, UNMATCHED)], "not judged: show: no outcome of the target file"),
        ([MADE, OPEN, UNKNOWN], "is in no list of operations.show.item.state.values"),
        ([exchange(ORDER, accepted()), OPEN], "the new request (operations.order.item.key)"),
        ([exchange(ORDER, accepted()), exchange(SHOW, refused())], "control call of show failed"),
    ],
)
def test_the_reason_names_what_is_missing(exchanges, says):
    """It is the control that failed; otherwise the key of the file that finds nothing."""
    assert says in why_undecided(history(*exchanges), OPERATIONS)
