"""Attempts and their controls, for each kind that compares them: what counts, and beside what."""

from dataclasses import replace

import pytest
from account_information import BROKEN, FAILED, LOST, NO, ODD, UNKNOWN, account, owner
from payment_initiation import (
    DONE,
    ENDED,
    OPEN,
    PIS,
    REJECTED,
    cancel,
    check,
    effects,
    make,
    modify,
    payer,
    read,
    ruled,
    shown,
    sign,
    withdrawn,
)
from rows import for_each

from assay.history import Ending
from assay.rules.lifecycle.attempts import attempts
from assay.testing import evidence, history

LATER = "2026-09-19"
PART, PRO = payer("part", "A1", segment="PART"), payer("pro", "B1", segment="PRO")
CORPORATE = payer("pro", "B1", segment="corporate")
TWO = owner("psu", account("A1"), account("A2"), account("S1", savings=True))
BY_PRO = {"by": "pro", "debtorAccount": "B1"}

#: What must be accepted: by clause and facet the customers, and the arguments of the control and
#: of the attempt.
SERVED = {
    ("payment-types", "immediate"): ([payer()], {"mode": "deferred", "date": LATER}, {}),
    ("segments", "PRO"): ([PART, PRO], {"by": "part"}, BY_PRO),
    ("eligible-accounts", "serves-ordinary"): ([TWO], {}, {"debtorAccount": "A2"}),
}
#: What must be refused, likewise.
EXCLUDED = {
    ("single", "several-refused"): ([payer()], {}, {"mode": "several"}),
    ("segments", "corporate"): ([PART, CORPORATE], {"by": "part"}, BY_PRO),
    ("eligible-accounts", "refuses-savings"): ([TWO], {}, {"debtorAccount": "S1"}),
}


class Case:
    """The customers of a facet, and what they do with the control P1 and the attempt P2."""

    def __init__(self, row):
        (self.clause, self.facet), (self.people, self.plain, self.tried) = row
        self.by = self.tried.get("by", "psu")

    def says(self, *events, people=None):
        """Return what is said of attempts, without the name of the facet."""
        found = check(self.clause, *(people or self.people), *events, facet=self.facet)
        return [line.removeprefix(f"{self.facet} ") for line in found if not line.endswith(" 1")]

    def control(self, came=None, **changes):
        return make(came, **{**self.plain, **changes})

    def attempt(self, came=None, **changes):
        return make(came or shown("P2"), **{**self.tried, **changes})

    def looked(self):
        """Read the control: it was not rejected since."""
        return read(shown(), by=self.plain.get("by", "psu"))

    def seen(self, state):
        return read(shown("P2", state), key="P2", by=self.by)

    def sign(self):
        return sign(key="P2", by=self.by)

    def went_on(self, state=DONE, ending=Ending.CONFIRMED):
        by = self.plain.get("by", "psu")
        return sign(ending, by=by), read(shown(state=state), by=by)


@pytest.fixture(params=SERVED.items(), ids=lambda row: "/".join(row[0]))
def served(request):
    """Return a case of what must be accepted."""
    return Case(request.param)


@pytest.fixture(params=EXCLUDED.items(), ids=lambda row: "/".join(row[0]))
def excluded(request):
    """Return a case of what must be refused."""
    return Case(request.param)


# -- what must be accepted -------------------------------------------------------------
def test_a_refusal_beside_an_accepted_one_is_a_violation(served):
    """It is refused at once, or made as rejected; that nothing is accepted is another matter."""
    assert ["disagrees 1,2"] == served.says(served.control(), served.attempt(NO))
    rejected = served.attempt(shown("P2", REJECTED))
    assert ["disagrees 1,2"] == served.says(served.control(), rejected)
    assert [] == served.says(served.control(NO), served.attempt(NO))


@for_each("came", [FAILED, LOST, ODD, UNKNOWN])
def test_no_answer_is_no_violation(served, came):
    """Nor is that of a target which does not know who calls."""
    assert ["unclear 2"] == served.says(served.control(), served.attempt(came))


@for_each(
    "changes",
    [{"amount": "12.31"}, {"mode": "instant"}, {"tpp": "another"}, {"without": ("chargeBearer",)}],
)
def test_a_refusal_for_another_reason_counts_on_neither_side(served, excluded, changes):
    """What was sent, and for whom, has to be the same."""
    for case in (served, excluded):
        assert [] == case.says(case.control(), case.attempt(NO, **changes))


def test_who_has_a_past_may_repeat_something(served):
    """What was signed before the history began is unknown."""
    old = [replace(one, fresh=False) for one in served.people]
    events = served.control(), served.attempt(NO)
    assert ["unclear 1,2"] == served.says(*events, people=old)


# -- what must be refused --------------------------------------------------------------
def test_a_refusal_counts_beside_the_plain_request(excluded):
    """Before or after it; but not without."""
    refused = excluded.attempt(NO)
    assert ["agrees 1,2"] == excluded.says(excluded.control(), refused)
    assert ["agrees 1,2"] == excluded.says(refused, excluded.control())
    rejected = excluded.attempt(shown("P2", REJECTED))
    assert ["agrees 1,2"] == excluded.says(excluded.control(), rejected)
    assert [] == excluded.says(refused)
    for came in (NO, LOST, shown(state=REJECTED)):
        assert [] == excluded.says(excluded.control(came), refused)


def test_what_was_carried_out_was_not_refused(excluded):
    """By the target's word or the world's, and whatever its answer said."""
    events = excluded.control(), excluded.attempt(), excluded.sign()
    assert ["disagrees 2,3,4"] == excluded.says(*events, excluded.seen(DONE))
    assert ["disagrees 2,3"] == excluded.says(*events, effects("P2"))


@for_each("state", [OPEN, ENDED, None])
def test_what_is_accepted_and_not_carried_out_is_open(excluded, state):
    """It may be rejected yet, or have ended for another reason."""
    assert ["unclear 2"] == excluded.says(excluded.control(), excluded.attempt())
    events = excluded.attempt(shown("P2", state)), excluded.sign(), excluded.seen(state)
    assert ["unclear 2,3,4"] == excluded.says(excluded.control(), *events)


@for_each("came", [FAILED, LOST, UNKNOWN])
def test_no_answer_is_no_refusal(excluded, came):
    """What was executed is unknown."""
    assert ["unclear 2"] == excluded.says(excluded.control(), excluded.attempt(came))


def test_a_failure_is_no_refusal(excluded):
    """With a control that is served it is a violation, and without one it is unclear."""
    assert ["disagrees 1,2"] == excluded.says(excluded.control(), excluded.attempt(BROKEN))
    assert ["unclear 2"] == excluded.says(excluded.control(NO), excluded.attempt(BROKEN))


def test_a_late_rejection_counts_beside_a_control_that_went_on(excluded):
    """Who rejects everything that is signed does not pass, nor who is not seen to go on."""
    late = excluded.attempt(), excluded.sign(), excluded.seen(REJECTED)
    first = excluded.control()
    assert ["unclear 2,3,4"] == excluded.says(first, *late)
    assert ["unclear 2,3,4"] == excluded.says(first, *late, *excluded.went_on(REJECTED))
    assert ["unclear 2,3,4"] == excluded.says(first, *late, *excluded.went_on(OPEN, Ending.STOPPED))
    unknown = excluded.control(shown(state=None))
    assert ["unclear 2,3,4"] == excluded.says(unknown, *late, *excluded.went_on(None))
    for state in (DONE, OPEN):
        assert ["agrees 1,2,3,4,5,6"] == excluded.says(first, *late, *excluded.went_on(state))


@for_each("done", [modify, cancel, withdrawn])
def test_a_late_rejection_of_what_was_changed_or_ended_shows_nothing(excluded, done):
    """It may be rejected for that; but not for what was refused."""
    by = {"key": "P2", "by": excluded.by}
    first = excluded.control(), excluded.attempt()
    rejected = excluded.seen(REJECTED), *excluded.went_on()
    assert "agrees" not in " ".join(excluded.says(*first, done(**by), *rejected))
    for none in (modify(NO, **by, amount="-1"), cancel(NO, **by)):
        (line,) = excluded.says(*first, none, *rejected)
        assert line.startswith("agrees 1,2,3,4")
    (line,) = excluded.says(*first, withdrawn(**by, done=False), *rejected)
    assert line.startswith("agrees 1,2,3")


# -- the day ---------------------------------------------------------------------------
@for_each("date", ["soon", "2026-02-30", "", None, 20260919, LATER])
def test_a_day_that_is_not_asked_for_may_be_why_it_was_refused(served, excluded, date):
    """A date that is none can be minded as well as one that is; later as at once."""
    for case in (served, excluded):
        assert [] == case.says(case.control(), case.attempt(NO, date=date))
    late = excluded.attempt(date=date), excluded.sign(), excluded.seen(REJECTED)
    said = excluded.says(excluded.control(), *late, *excluded.went_on())
    assert ["unclear 2,3,4"] == said


def test_where_nothing_is_put_off_there_is_no_day_to_mind():
    """An argument that is a day elsewhere is one like others there: the control has it, too."""
    create = replace(PIS.operations["create-payment"], due=None)
    contract = replace(PIS, operations={**PIS.operations, "create-payment": create})
    kind = ruled("payment-types", contract=contract)

    def says(*events):
        return evidence(kind, history(payer(), *events), alone=True)

    deferred = make(mode="deferred")
    assert ["deferred agrees 1", "immediate disagrees 1,2"] == says(deferred, make(NO))
    assert ["deferred agrees 1"] == says(deferred, make(NO, date="soon"))


# -- what was done with it before it was rejected ---------------------------------------
def test_what_was_changed_and_then_rejected_was_not_turned_down(served):
    """It was accepted; the change may have been a bad one."""
    first, rejected = (served.control(), served.attempt()), served.seen(REJECTED)

    for came in (shown("P2"), LOST):
        changed = modify(came, key="P2", by=served.by, amount="-1")
        assert not any("disagrees" in one for one in served.says(*first, changed, rejected))
    assert "disagrees 1,2,3,4" in served.says(*first, served.looked(), rejected)
    # Everything may be rejected by then, the control as well.
    assert ["unclear 1,2,3"] == served.says(*first, rejected)


@for_each("done", [cancel, withdrawn, sign])
def test_what_was_ended_or_signed_and_then_rejected_was_not_turned_down(served, done):
    """Rejected may be this target's word for ended, and others may mind what is signed."""
    ended = done(key="P2", by=served.by)
    said = served.says(served.control(), served.attempt(), ended, served.seen(REJECTED))
    assert not any("disagrees" in one for one in said)


@for_each("change", [modify, cancel])
def test_what_was_refused_in_between_explains_nothing(served, change):
    """It changed nothing; nor did what the customer did not do after all."""
    first, rejected = (served.control(), served.attempt()), served.seen(REJECTED)

    refused, looked = change(NO, key="P2", by=served.by), served.looked()
    assert "disagrees 1,2,3,4,5" in served.says(*first, refused, looked, rejected)
    left = withdrawn(key="P2", by=served.by, done=False)
    assert "disagrees 1,2,3,4" in served.says(*first, left, looked, rejected)


def test_what_was_done_with_another_request_explains_nothing(served):
    """Only a change of the very one that was rejected may be why."""
    other = make(shown("P3"), by=served.by, amount="7.00")
    changed = modify(key="P3", by=served.by, amount="-1")
    events = served.control(), served.attempt(), other, changed, served.looked()

    assert "disagrees 1,2,5,6" in served.says(*events, served.seen(REJECTED))


def test_what_was_signed_for_a_thing_that_the_bank_chose_may_be_repeated():
    """Where the account was left out, the next request may be for the account that was filled in."""
    chosen = make(without=("debtorAccount",))
    repeated, other = make(NO), make(NO, debtorAccount="A2")
    events = [TWO, chosen, sign(), repeated, other]
    lifecycle = ruled("segments").lifecycle
    assert [False, True, True] == [each.repeats for each in attempts(lifecycle, history(*events))]
    for sent in ({"tpp": "other"}, {"host": 0}, {"mode": "deferred", "date": LATER}):
        before = [TWO, make(without=("debtorAccount",), **sent), sign(), repeated]
        assert attempts(lifecycle, history(*before))[-1].repeats
    named = [TWO, make(), sign(), repeated, other]
    assert [False, True, False] == [each.repeats for each in attempts(lifecycle, history(*named))]
