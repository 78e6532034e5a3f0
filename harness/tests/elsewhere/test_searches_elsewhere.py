"""What a customer has used up is refused with reason, whatever else a rule expects of the call."""

from datetime import UTC, datetime

import pytest
from test_schema_elsewhere import LAB, PROFILE

from assay.binding.read.join import bind
from assay.history import Accepted, Call, Exchange, History, Item, Owned, Rejected, Subject, Wire
from assay.judging.judge import breaches
from assay.planning.plan import plan
from assay.rules.queries import perhaps_exhausted

NOW = datetime(2026, 3, 4, 9, 40, tzinfo=UTC)
PLAN = plan(bind([LAB], PROFILE), PROFILE)
CONTRACT = PLAN.contracts["lab"]


def asked(n, outcome, **call):
    """Write down a call for the specimens of the patient."""
    sent = Call(operation="specimens", subject="psu", **call)
    wire = Wire(method="GET", url="x:", status=200)
    return Exchange(n=n, at=NOW, call=sent, outcome=outcome, wire=wire)


def history(number, **last):
    """Write down this many accepted calls, and one more that is refused."""
    owned = Subject(name="psu", now=NOW, owns=(Owned(key="t-000001", resource="specimen"),))
    shown = Accepted(items=(Item(key="t-000001"),), next="x:2")
    calls = [asked(n + 1, shown) for n in range(number)]
    return History(events=(owned, *calls, asked(number + 1, Rejected(), **last)))


@pytest.mark.parametrize(("last", "name"), [({}, "answers"), ({"follow": "x:2"}, "ends")])
def test_what_may_be_used_up_may_be_refused(last, name):
    """Nine calls an hour are allowed: the ninth must be served, the tenth need not."""

    def violated(number):
        found = breaches(PLAN, "lab", history(number, **last))
        return {breach.obligation.rpartition("/")[2] for breach in found}

    assert name in violated(8)
    assert name not in violated(9)
    assert {10} == perhaps_exhausted(CONTRACT, "specimens", history(9))
    assert frozenset() == perhaps_exhausted(CONTRACT, "place", history(9))
