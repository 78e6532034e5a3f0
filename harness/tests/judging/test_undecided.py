"""Why an obligation is undecided: what failed before, or what the target file does not find."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rows import for_each

from assay.history import Authorise, Call, Cause, Effect, Effects, Indeterminate, Item, State
from assay.judging.judge import Undecided, why_undecided
from assay.parsing.parse import find_contract, parse_contract
from assay.rules.facets import Facts
from assay.rules.obligation import bound_clauses, obligations
from assay.testing import accepted, exchange, failed, history, refused, signature

PIS = parse_contract(find_contract("pis"))
KINDS = {name: bound.kind for name, bound in bound_clauses(PIS).items()}
OBLIGATIONS = {each.id: each for each in obligations(PIS)}
ORDER, SHOW = (Call(operation=name, subject="psu") for name in ("create-payment", "read-payment"))
LATER = replace(ORDER, arguments={"date": "2026-09-20"})
AGAIN = replace(ORDER, arguments={"amount": "2.00"})
VARIED = replace(SHOW, variation="without a header")
MADE = exchange(ORDER, accepted("K1"))
SHOWN = Item(key="K1", state=State.OPEN, fields={"currency": "EUR"})
OPEN, UNKNOWN = (exchange(SHOW, accepted(replace(SHOWN, state=at))) for at in (State.OPEN, None))
NOT_KNOWN = Indeterminate(cause=Cause.BINDING, why="no outcome of the target file matches status 9")
UNMATCHED = replace(failed(status=404), outcome=NOT_KNOWN)
NOW = datetime(2026, 9, 16, tzinfo=UTC)


def reason(*events, obligation="pis/euro/stays-when-changed", closed=()):
    """Return why an obligation is undecided."""
    of = OBLIGATIONS[obligation]
    facts = Facts(closures=(lambda at: 0 if at in closed else 1,))
    return why_undecided(history(*events), KINDS[of.clause], of, facts)


@for_each(
    ("exchanges", "says"),
    [
        ([MADE, OPEN, UNKNOWN], "is in no list of the target file (operations.read-payment.item.s"),
        ([MADE, exchange(VARIED, failed())], "(without a header): the target failed (503)"),
        ([MADE, exchange(VARIED, UNMATCHED)], "no outcome of the target file matches status 9"),
        ([exchange(ORDER, accepted())], "the single item of the response (operations.create-paym"),
        ([exchange(ORDER, accepted(Item())), OPEN], "(operations.create-payment.item.key)"),
        ([MADE, exchange(SHOW, refused())], "the control call of read-payment failed: it was ref"),
        ([MADE, exchange(AGAIN, refused())], "the control call of create-payment failed"),
        ([], "none was made (fixtures)"),
    ],
)
def test_the_reason_names_what_is_missing(exchanges, says):
    """It is the control that failed; otherwise the key of the file that finds nothing."""
    assert says in str(reason(*exchanges))


def test_a_call_that_succeeded_later_is_not_the_cause():
    """An equal call that was accepted makes the failure good; one in a maintenance window excuses."""
    bad = exchange(SHOW, failed(), at=NOW)
    assert "control call" in str(reason(MADE, bad))
    assert "control call" not in str(reason(MADE, bad, OPEN))
    assert "announced maintenance hours" in str(reason(MADE, bad, closed=[NOW]))


def test_a_call_of_another_operation_is_not_the_cause():
    """A clause about creating and changing payments has nothing to do with account information."""
    other = replace(exchange(SHOW, refused()), call=Call(operation="accounts", subject="psu"))
    assert "accounts" not in str(reason(other, MADE))


def test_a_case_that_is_missing_is_told_by_the_calls_there_were():
    """Where nothing failed, the reason counts the answers."""
    said = str(reason(MADE, OPEN, OPEN))
    assert "the calls do not decide it" in said
    assert "read-payment: it was accepted (200) with 1 item (2 times)" in said


@pytest.mark.parametrize(
    ("done", "key"),
    [
        (None, "fixtures.offers"),
        ((Effect(request="K1", on=NOW.date()),), "fixtures.effects"),
        ((Effect(request="K1", on=NOW.date(), fields={"amount": "1.00"}),), ""),
    ],
)
def test_executed_requests_that_nobody_reports(done, key):
    """It is the fixture provider that reports nothing, or reports requests without their fields."""
    assert key == reason(MADE, Effects(now=NOW, done=done)).key


SIGNED = signature(Authorise(subject="psu", request="K1", approval=None), at=NOW)


@for_each(
    ("events", "told"),
    [
        ([MADE, SIGNED, OPEN], True),
        ([MADE, SIGNED, OPEN, exchange(SHOW, accepted(replace(SHOWN, state=State.DONE)))], False),
        ([MADE, OPEN, SIGNED], False),
        ([MADE, OPEN], False),
        ([exchange(LATER, accepted("K1")), SIGNED, OPEN], False),
    ],
)
def test_a_request_that_is_signed_and_still_open_is_told(events, told):
    """A bank that executes at set times shows no end: that is said, not only that nothing decides."""
    said = str(reason(*events))
    assert ("signed at 00:00:00 is still open at" in said) == told
    assert ("set `executes_within`" in said) == told


def test_a_clock_that_runs_or_shows_parts_of_a_second_is_named():
    """What is due at an instant cannot be shown then; a clock that stands still explains nothing."""
    early, late = (replace(OPEN, at=NOW + timedelta(milliseconds=each)) for each in (0, 250))
    assert "clock ran by 0.25 s" in str(reason(early, late))
    assert "parts of a second" in str(reason(late))
    assert "clock" not in str(reason(early, early))


def test_a_reason_without_a_cause_cannot_be_made():
    """What names neither an event nor a key is no reason."""
    with pytest.raises(ValueError, match="without an event or a key"):
        Undecided(what="no exchange of the trial can show it")
