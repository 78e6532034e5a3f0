"""Attempts and their controls: a refusal for another reason is no violation."""

from dataclasses import replace

import pytest
from account_information import LOST, NO, account, owner
from payment_initiation import (
    PIS,
    REJECTED,
    cancel,
    check,
    make,
    modify,
    payer,
    read,
    ruled,
    shown,
    sign,
    withdrawn,
)

from assay.testing import history

LATER = "2026-09-19"
DEFERRED = make(mode="deferred", date=LATER)
PART, PRO = payer("part", "A1", segment="PART"), payer("pro", "B1", segment="PRO")
TWO = owner("psu", account("A1"), account("A2"))

#: By clause and facet: the customers, the control, and the arguments of the attempt beside it.
BESIDE = {
    ("payment-types", "immediate"): ([payer()], DEFERRED, {}),
    ("segments", "PRO"): (
        [PART, PRO],
        make(by="part"),
        {"by": "pro", "debtorAccount": "B1"},
    ),
    ("eligible-accounts", "serves-ordinary"): ([TWO], make(), {"debtorAccount": "A2"}),
}


@pytest.fixture(params=BESIDE.items(), ids=lambda one: "/".join(one[0]))
def beside(request):
    """Return what is said of a facet when these events come after the control, and a maker."""
    (clause, facet), (people, control, about) = request.param

    def says(*events):
        found = check(clause, *people, control, *events)
        return [one for one in found if one.startswith(f"{facet} ") and not one.endswith(" 1")]

    def attempt(came=None, **changes):
        return make(came or shown("P2"), **{**about, **changes})

    disagrees = f"{facet} disagrees 1"
    return says, attempt, disagrees, about.get("by", "psu")


# -- the day ---------------------------------------------------------------------------
@pytest.mark.parametrize("date", ["soon", "2026-02-30", "", None, 20260919, LATER])
def test_a_day_that_is_not_asked_for_may_be_why_it_was_refused(beside, date):
    """A date that is none can be minded as well as one that is."""
    says, attempt, disagrees, _ = beside

    assert [] == says(attempt(NO, date=date))
    assert [f"{disagrees},2"] == says(attempt(NO))


def test_where_nothing_is_put_off_there_is_no_day_to_mind():
    """An argument that is a day elsewhere is one like others there: the control has it, too."""
    create = replace(PIS.operations["create-payment"], due=None)
    contract = replace(PIS, operations={**PIS.operations, "create-payment": create})
    params = ruled("payment-types", contract=contract)

    def says(*events):
        found = params.check(history(payer(), *events))
        return [f"{one.facet} {one.agreement.value}" for one in found]

    assert ["deferred agrees", "immediate disagrees"] == says(make(mode="deferred"), make(NO))
    assert ["deferred agrees"] == says(make(mode="deferred"), make(NO, date="soon"))


# -- what was done with it before it was rejected ---------------------------------------
def test_what_was_changed_and_then_rejected_was_not_turned_down(beside):
    """It was accepted; the change may have been a bad one."""
    says, attempt, disagrees, by = beside
    rejected = read(shown("P2", REJECTED), key="P2", by=by)

    for came in (shown("P2"), LOST):
        changed = modify(came, key="P2", by=by, amount="-1")
        assert not any("disagrees" in one for one in says(attempt(), changed, rejected))
    assert [f"{disagrees},2,3"] == says(attempt(), rejected)


@pytest.mark.parametrize("done", [cancel, withdrawn, sign], ids=lambda one: one.__name__)
def test_what_was_ended_or_signed_and_then_rejected_was_not_turned_down(beside, done):
    """Rejected may be this target's word for ended, and others may mind what is signed."""
    says, attempt, disagrees, by = beside
    rejected = read(shown("P2", REJECTED), key="P2", by=by)

    said = says(attempt(), done(key="P2", by=by), rejected)
    assert not any("disagrees" in one for one in said)
    assert [f"{disagrees},2,3"] == says(attempt(), rejected)


@pytest.mark.parametrize("change", [modify, cancel], ids=lambda one: one.__name__)
def test_what_was_refused_in_between_explains_nothing(beside, change):
    """It changed nothing; nor did what the customer did not do after all."""
    says, attempt, disagrees, by = beside
    rejected = read(shown("P2", REJECTED), key="P2", by=by)

    assert [f"{disagrees},2,3,4"] == says(attempt(), change(NO, key="P2", by=by), rejected)
    left = withdrawn(key="P2", by=by, done=False)
    assert [f"{disagrees},2,3"] == says(attempt(), left, rejected)


def test_what_was_done_with_another_request_explains_nothing(beside):
    """Only a change of the very one that was rejected may be why."""
    says, attempt, disagrees, by = beside
    other = make(shown("P3"), by=by, amount="7.00")
    changed = modify(key="P3", by=by, amount="-1")
    rejected = read(shown("P2", REJECTED), key="P2", by=by)

    assert f"{disagrees},2,5" in says(attempt(), other, changed, rejected)
