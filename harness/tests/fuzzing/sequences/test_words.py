"""The words of journeys are those of the probes, loosened from their places."""

from dataclasses import replace
from datetime import time, timedelta

import pytest

from assay.fuzzing.sequences.abstract_step import After, At, On, OwnedRef, RelativeDay, RequestRef
from assay.fuzzing.sequences.actions import OTHER, SELF, actions
from assay.history import Arrange, Authorise, Call, Decision, Register

from .conftest import prepared


@pytest.fixture(scope="module", params=["aisp", "pis"])
def spoken(request):
    plan = prepared().plan
    return actions(plan, plan.contracts[request.param])


def of(contract):
    plan = prepared().plan
    return actions(plan, plan.contracts[contract])


def calls(spoken):
    return [one.step for one in (*spoken.plain, *spoken.bent)]


def test_nothing_of_nobodys_is_left(spoken):
    """Whatever nobody made up (keys, days, links) is a reference now."""
    for one in (*spoken.plain, *spoken.bent, *spoken.signatures, *spoken.asides):
        text = repr(one)
        assert not [word for word in ("nobody", "psu-0", "request-1", "2024-0") if word in text]
        assert getattr(one.step, "subject", SELF) == SELF


def test_every_word_is_there_once(spoken):
    """Or the same thing would be chosen more often than others."""
    every = (*spoken.plain, *spoken.bent)
    for some in (spoken.households, every, spoken.signatures, spoken.asides):
        assert len(some) == len({repr(one) for one in some})


def test_every_operation_is_spoken_of():
    """What is not offered is bent, for its acceptance is no control."""
    for contract in prepared().plan.contracts.values():
        spoken = of(contract.id)
        assert {one.operation for one in calls(spoken)} == set(contract.operations)


def test_account_information():
    """What its rules care about is there: days, presence, other names, strange requests."""
    spoken = of("aisp")
    made = calls(spoken)
    assert {one.present for one in made} == {True, False}
    assert {one.alias for one in made} >= {None, 0, 1}
    assert len({one.malformed for one in made}) > 8
    assert OwnedRef(of=OTHER, n=0) in [one.arguments.get("iban") for one in made]
    assert [OwnedRef(of=SELF, n=0), OwnedRef(of=SELF, n=1)] in [
        one.arguments.get("accounts") for one in made
    ]
    assert any(isinstance(one.arguments.get("since"), RelativeDay) for one in made)
    days = {day for one in spoken.households for some in one.days for day in some or ()}
    assert days >= {-1, -90, -91}
    assert {
        trait for one in spoken.households for h in one.step.holdings for trait in h.traits
    } >= {
        "savings",
        "inactive",
        "offline",
        "never-used",
        "last-used",
    }
    assert set(spoken.repeats) >= {1, 4, 5, 20}


def test_moments_are_recognised_by_what_they_depend_on():
    """A span, a time of some day, a time of a weekday: all three stand in the rules."""
    moments = of("aisp").moments
    assert At(days=1, time=time(0, 0, 30)) in moments
    assert On(weekday=5, time=time(3)) in moments
    assert After(timedelta(hours=4, minutes=1)) in moments


def test_payments():
    """Segments, factors, codes, registrations around 72 hours, what is left out or varied."""
    spoken = of("pis")
    made = calls(spoken)
    assert {one.without for one in made} >= {("chargeBearer",), ("creditorAccount",)}
    assert ("amount",) in {one.varied for one in made}
    assert "CASH" in [one.arguments.get("categoryPurpose") for one in made]
    assert RequestRef(0) in [one.arguments.get("paymentRequestResourceId") for one in made]
    assert {one.step.segment for one in spoken.households} >= {None, "PART", "PRO", "corporate"}
    signed = [one.step for one in spoken.signatures]
    assert {one.factor for one in signed} >= {None, "sms", "cap", "soft-token"}
    assert Decision.REFUSE in {one.decision for one in signed}
    assert OTHER in {one.by for one in signed}
    ages = [one.step.age for one in spoken.asides if isinstance(one.step, Register)]
    assert {timedelta(hours=72), timedelta(hours=72, seconds=1)} <= set(ages)


def test_the_probes_alone_decide(spoken):
    """A plan without trials has no words."""
    plan = replace(prepared().plan, trials=())
    for contract in plan.contracts.values():
        assert () == actions(plan, contract).households == actions(plan, contract).plain


def test_what_a_word_is(spoken):
    """Households arrange, signatures sign, calls call."""
    assert {type(one.step) for one in spoken.households} == {Arrange}
    assert {type(one.step) for one in (*spoken.plain, *spoken.bent)} == {Call}
    assert {type(one.step) for one in spoken.signatures} <= {Authorise}
