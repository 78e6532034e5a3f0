"""The actions of random sequences are the steps of the probes, without their context."""

from dataclasses import replace
from datetime import time, timedelta

import pytest
from shipped import prepared

from assay.fuzzing.sequences.abstract_step import After, At, On, OwnedRef, RelativeDay, RequestRef
from assay.fuzzing.sequences.actions import OTHER, SELF, gather_actions
from assay.history import Arrange, Authorise, Call, Decision, Register


@pytest.fixture(scope="module", params=["aisp", "pis"])
def actions(request):
    """Return the actions of each shipped contract."""
    return actions_of(request.param)


def actions_of(contract):
    """Return the actions of a shipped contract."""
    plan = prepared().plan
    return gather_actions(plan, plan.contracts[contract])


def calls(actions):
    """Return the calls among actions."""
    return [action.step for action in (*actions.plain, *actions.varied)]


def test_nothing_of_the_dry_target_is_left(actions):
    """Whatever the dry target made up (keys, days, links) is a reference now."""
    for action in (*actions.plain, *actions.varied, *actions.signatures, *actions.asides):
        text = repr(action)
        made_up = ("dry-run", "psu-0", "request-1", "2024-0")
        assert not [name for name in made_up if name in text]
        assert getattr(action.step, "subject", SELF) == SELF


def test_every_action_is_there_once(actions):
    """No action is chosen more often than others because it is listed twice."""
    calls = (*actions.plain, *actions.varied)
    for members in (actions.households, calls, actions.signatures, actions.asides):
        assert len(members) == len({repr(action) for action in members})


def test_every_operation_has_an_action():
    """Each operation of a contract is called, even one that the bank does not offer."""
    for contract in prepared().plan.contracts.values():
        actions = actions_of(contract.id)
        assert {call.operation for call in calls(actions)} == set(contract.operations)


def test_account_information():
    """What its rules depend on is there: days, presence, other names, malformed requests."""
    actions = actions_of("aisp")
    made = calls(actions)
    assert {call.present for call in made} == {True, False}
    assert {call.alias for call in made} >= {None, 0, 1}
    assert len({call.malformed for call in made}) > 8
    assert OwnedRef(of=OTHER, n=0) in [call.arguments.get("iban") for call in made]
    assert [OwnedRef(of=SELF, n=0), OwnedRef(of=SELF, n=1)] in [
        call.arguments.get("accounts") for call in made
    ]
    assert any(isinstance(call.arguments.get("since"), RelativeDay) for call in made)
    entries = [days for household in actions.households for days in household.days]
    assert {day for days in entries for day in days or ()} >= {-1, -90, -91}
    holdings = [holding for household in actions.households for holding in household.step.holdings]
    assert {trait for holding in holdings for trait in holding.traits} >= {
        "savings",
        "inactive",
        "offline",
        "never-used",
        "last-used",
    }
    assert set(actions.repeats) >= {1, 4, 5, 20}


def test_moments_are_recognised_by_what_they_depend_on():
    """A span, a time of some day and a time of a weekday are told apart."""
    moments = actions_of("aisp").moments
    assert At(days=1, time=time(0, 0, 30)) in moments
    assert On(weekday=5, time=time(3)) in moments
    assert After(timedelta(hours=4, minutes=1)) in moments


def test_payments():
    """Segments, factors, codes, registrations around 72 hours, missing and varied fields."""
    actions = actions_of("pis")
    made = calls(actions)
    assert {call.without for call in made} >= {("chargeBearer",), ("creditorAccount",)}
    assert ("amount",) in {call.varied for call in made}
    assert "CASH" in [call.arguments.get("categoryPurpose") for call in made]
    assert RequestRef(0) in [call.arguments.get("paymentRequestResourceId") for call in made]
    segments = {household.step.segment for household in actions.households}
    assert segments >= {None, "PART", "PRO", "corporate"}
    signatures = [action.step for action in actions.signatures]
    assert {signature.factor for signature in signatures} >= {None, "sms", "cap", "soft-token"}
    assert Decision.REFUSE in {signature.decision for signature in signatures}
    assert OTHER in {signature.by for signature in signatures}
    asides = [action.step for action in actions.asides]
    ages = [step.age for step in asides if isinstance(step, Register)]
    assert {timedelta(hours=72), timedelta(hours=72, seconds=1)} <= set(ages)


def test_the_probes_alone_decide():
    """A plan without trials has no actions."""
    plan = replace(prepared().plan, trials=())
    for contract in plan.contracts.values():
        actions = gather_actions(plan, contract)
        assert () == actions.households == actions.plain


def test_actions_are_sorted_by_their_type(actions):
    """Households arrange, signatures sign, calls call."""
    assert {type(action.step) for action in actions.households} == {Arrange}
    assert {type(action.step) for action in (*actions.plain, *actions.varied)} == {Call}
    assert {type(action.step) for action in actions.signatures} <= {Authorise}
