"""A bank where a consent precedes a payment: the shipped contract judges it as any other bank."""

from functools import cache
from pathlib import Path

import merlin_faults
import pytest
from merlin_bank import Merlin

from assay.binding.join import bind
from assay.binding.read import read_target
from assay.contract.parse import find_contract, parse_contract
from assay.estimate.dry_run import dry_run_trial
from assay.execution.environment import set_up
from assay.execution.session import Session, run_session
from assay.journal.writer import Journal
from assay.judging.verdict import Standing
from assay.planning.plan import plan
from assay.rules.dry_run import START

HERE = Path(__file__).parent
TARGET = HERE / "merlin-target.yaml"
TIMES = {"redirect.idle/nothing-done", "redirect.overall/nothing-done"}
#: What each fault breaks, with the ambient clause that sees it in the same trials.
FAULTS = {
    merlin_faults.TakesUnsigned: {
        "execution/unsigned-undone",
        "sca.required/even-amount",
        "sca.required/nothing-before-signing",
        "sca.required/only-the-owner",
    },
    merlin_faults.TakesRefused: {"execution/denied-undone", "sca.required/nothing-after-refusal"},
    merlin_faults.TakesExpired: {"execution/timed-out-undone", *TIMES},
    merlin_faults.OtherAmount: {
        "duplicate/amount-changed-accepted",
        "execution/as-asked",
        "modify.deferred-only/carried-out-as-changed",
    },
    merlin_faults.Never: {
        "execution/deferred-carried-out",
        "execution/instant-carried-out",
        "execution/main-flow",
    },
    merlin_faults.Twice: {"execution/once"},
    merlin_faults.LosesCancellation: {
        "cancel/by-customer-never-done",
        "cancel/by-tpp-never-done",
        "execution/cancelled-undone",
    },
    merlin_faults.ForgetsRules: {"duplicate/repeat-refused"},
}
NEUTRAL = [
    merlin_faults.JudgesSubmissions,
    merlin_faults.ForgetsRefusals,
    merlin_faults.Impatient,
    merlin_faults.Strict,
]


@cache
def planned(selected=""):
    """Return the plan of the shipped contract, or of what is selected, and the target."""
    target = read_target(TARGET)
    chosen = selected.split()
    bound = bind([parse_contract(find_contract("pis"))], target)
    return plan(bound, target, lambda each: not chosen or each.id in chosen), target


def run(bank, selected="", journal=None):
    """Run the contract against a bank; return the standing of each obligation, without its id."""
    chosen, target = planned(selected)
    environment = set_up(target, seed=0, bank=lambda _: bank)
    try:
        session = Session(
            plan=chosen, environment=environment, journal=journal or Journal(out=None)
        )
        result = run_session(session)
    finally:
        environment.close()
    assert not result.faults
    return {each.obligation.removeprefix("pis/"): each.standing for each in result.verdicts}


def standing(verdicts, wanted):
    """Return the obligations with a standing."""
    return {name for name, each in verdicts.items() if each is wanted}


def test_the_sound_bank_conforms():
    """Every obligation is tested except that of a second host, which the bank does not have."""
    verdicts = run(Merlin())
    assert set() == standing(verdicts, Standing.VIOLATES) | standing(
        verdicts, Standing.INDETERMINATE
    )
    assert {"host/every-host"} == standing(verdicts, Standing.UNVERIFIED)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.__name__)
def test_a_fault_is_found(fault):
    """Each fault violates its own obligations, and no other."""
    names = " ".join(f"pis/{name}" for name in FAULTS[fault])
    verdicts = run(fault(), f"{names} pis/payments.content/amount")
    assert FAULTS[fault] == standing(verdicts, Standing.VIOLATES)


def test_every_submission_is_counted():
    """The plan counts the calls that a run makes, with each submission."""
    chosen, target = planned("pis/execution/main-flow pis/sca.required/nothing-after-refusal")
    for trial in chosen.trials:
        estimate = dry_run_trial(chosen, trial, target, START)
        assert (trial.calls, "") == (estimate.calls + estimate.signatures, estimate.stopped)
