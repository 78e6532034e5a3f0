"""A customer with a past: what happens before the trial, and what is left of the trial's own."""

from dataclasses import replace
from datetime import timedelta
from itertools import takewhile

import pytest

from assay.binding.model.target import Sca
from assay.contexts.context import DimensionValue, StepMapper, in_context
from assay.contexts.dimensions import dimensions
from assay.contexts.past import LIVED, NEIGHBOUR, SINCE
from assay.history import Advance, Arrange, Authorise, Call, Decision, Holding, Register, Subject
from assay.proof.contextual_matrix import Outcome, prove_contexts
from assay.proof.kill_matrix import reference
from assay.rules.dry_run import START, DryTarget, play

#: A plain trial: it arranges a customer, and makes its call for her.
CUSTOMER = Arrange(subject="psu", holdings=(Holding(resource="account", count=2),))
PAY = Call(operation="create-payment", subject="psu", mode="immediate")
READ = Call(operation="accounts", subject="psu")
GRANT = Call(operation="consents", subject="psu", arguments={"accounts": ["psu-0"]})


def past(contract):
    """Return the value of the dimension, and the contract."""
    plan, target = reference((contract,))
    every = dimensions(plan.contracts[contract], target)
    (value,) = (each for one in every for each in one.values if each.id == LIVED)
    return value, plan.contracts[contract]


def played(contract, *steps, beside=()):
    """Return the steps of a trial for a customer with a past."""
    value, parsed = past(contract)
    script = in_context((step for step in steps), (*beside, value))
    return list(play(script, DryTarget(contract=parsed)))


def test_requests_of_all_sorts_were_made_before():
    """Some were executed, one was repeated, refused, changed, cancelled, and made by another."""
    steps = played("pis", CUSTOMER, PAY)
    before = list(takewhile(lambda step: step is not PAY, steps))
    made = [each for each in before if isinstance(each, Call)]
    signed = [each.decision for each in before if isinstance(each, Authorise)]
    assert signed.count(Decision.CONFIRM) == 4
    assert signed.count(Decision.REFUSE) == 1
    assert {NEIGHBOUR, "psu"} == {each.subject for each in made}
    assert {"create-payment", "modify-payment", "cancel-payment"} == {e.operation for e in made}
    own = [e for e in made if e.operation == "create-payment" and e.subject == "psu"]
    amounts = [e.arguments["amount"] for e in own]
    assert len(amounts) - len({*amounts}) == 1
    assert steps[-1] is PAY


def test_a_time_ago():
    """The probe sees a customer of today: the days of its requests follow from her."""
    value, parsed = past("pis")
    target = DryTarget(contract=parsed)
    seen = []

    def probe():
        seen.append((yield CUSTOMER))

    steps = list(play(in_context(probe(), (value,)), target))
    assert isinstance(seen[0], Subject)
    assert seen[0].now == START + SINCE
    assert SINCE % timedelta(weeks=1) == timedelta(0)
    assert [START + SINCE] == [each.to for each in steps if isinstance(each, Advance) and each.to]


def test_dated_entries_stay_as_old_as_the_trial_wants():
    """No time passes where the customer's entries are dated."""
    dated = replace(CUSTOMER, holdings=(Holding(resource="account", entries=(START.date(),)),))
    steps = played("aisp", dated, GRANT)
    assert not any(isinstance(each, Advance) and each.to for each in steps)


def test_who_uses_up_a_day_s_calls_made_some_on_an_earlier_day():
    """Of what is used up without the customer, one call each, whatever is dated; and a week passes."""
    value, parsed = past("aisp")
    dated = replace(CUSTOMER, holdings=(Holding(resource="account", entries=(START.date(),)),))
    batch = replace(READ, present=False)
    for steps, passed in (([dated, *[batch] * 5], True), ([dated, *[READ] * 5, batch], False)):
        script = in_context((step for step in steps), (value.suit(value, steps),))
        seen = list(play(script, DryTarget(contract=parsed)))
        before = seen[: 1 - len(steps)]
        absent = [each for each in before if isinstance(each, Call) and not each.present]
        assert (["accounts"] if passed else []) == [each.operation for each in absent]
        assert passed is any(isinstance(each, Advance) and each.to for each in before)


def test_consents_were_given_and_taken_back():
    """The last one is to nothing, so that the trial finds no consent."""
    steps = played("aisp", CUSTOMER, GRANT)
    own = [each for each in steps if isinstance(each, Call) and each.subject == "psu"]
    granted = [e.arguments["accounts"] for e in own if e.operation == "consents"]
    assert [["psu-0", "psu-1"], [], ["psu-0"]] == granted
    assert [1] == [sum(bool(each.variation) for each in own if each.operation != "consents")]


def test_another_tpp_made_one_of_the_requests_and_another_customer_a_plain_one():
    """What follows about a request is asked by the TPP that made it; plain values are known to be good."""
    steps = played("pis", CUSTOMER, PAY)
    made = [each for each in steps if isinstance(each, Call) and each.operation == PAY.operation]
    assert ["", "other", ""] == [each.by for each in made[:3]]
    assert {""} == {each.by for each in steps[steps.index(made[3]) :] if isinstance(each, Call)}
    (theirs,) = (each for each in made if each.subject == NEIGHBOUR)
    assert {"debtorAccount": "neighbour-0"} == theirs.arguments


def test_it_is_no_part_of_the_trial():
    """Other values of the context change the trial, and not what came before it."""

    class Other(StepMapper):
        def map(self, step):
            return replace(step, by="other") if isinstance(step, Call) else step

    other = DimensionValue(
        dimension="d", name="v", description="", reason=lambda _: "", mapper=Other
    )
    calls = [
        each for each in played("pis", CUSTOMER, PAY, beside=(other,)) if isinstance(each, Call)
    ]
    assert calls[-1].by == "other"
    # One request of the past is made by another TPP anyway.
    assert 2 == sum(each.by == "other" for each in calls)


@pytest.mark.parametrize(
    ("contract", "steps", "reason"),
    [
        ("aisp", [CUSTOMER, READ, GRANT], "the trial begins without a consent"),
        ("aisp", [CUSTOMER, READ], ""),
        ("aisp", [CUSTOMER, GRANT, READ], ""),
        ("pis", [PAY], "the trial uses no item of the customer"),
        (
            "pis",
            [
                CUSTOMER,
                Register(subject="psu", operation="create-payment", argument="x", age=timedelta(1)),
                PAY,
            ],
            "the trial sets the times itself",
        ),
        ("pis", [CUSTOMER, PAY], ""),
    ],
)
def test_where_there_can_be_none(contract, steps, reason):
    """A trial that is about the first moments of a customer has none before them."""
    value, _ = past(contract)
    assert reason == value.reason(steps)


def test_nothing_happens_that_the_target_does_not_offer():
    """Where nobody can sign there are no requests, and no past of them."""
    plan, target = reference(("pis",))
    unsigned = replace(target, sca=Sca(), fixtures=replace(target.fixtures, offers=frozenset()))
    values = dimensions(plan.contracts["pis"], unsigned)
    assert LIVED not in {each.id for one in values for each in one.values}


@pytest.mark.slow
def test_faults_that_show_after_something_are_found():
    """Only after a refusal, a change, a third execution, an empty consent, a week."""
    chosen = {
        "pis.duplicate.any-creditor after=refusal",
        "pis.duplicate.any-debtor after=change",
        "pis.duplicate.any-creditor after=third-execution",
        "paging.accounts-second-page-long after=emptied-consent",
        "pis.charge-bearer.any-case after=week",
    }
    rows = prove_contexts(chosen=lambda name: name in chosen, workers=1).rows
    assert [Outcome.FOUND] * len(chosen) == [row.outcome for row in rows]
