"""The verdict on an obligation does not depend on which others are tested, nor on their order."""

from dataclasses import replace
from functools import cache

import httpx
import pytest
from support.static_mock import mock, target_file

from assay.journal.writer import Journal
from assay.planning.plan import restrict
from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND

BROKEN = {each.id: each for each in MUTANTS}
#: The faults of mutants of account information that several clauses look at.
FAULTS = ["token.balances-ending-alone", "form.accounts-as-text", "effect.clears"]
#: Those that trials of other clauses show, too.
SHOWN_ELSEWHERE = ["effect.clears"]
#: These banks answer each trial anew, so that the clauses can be tested one by one.
BANKS = ["sound", *FAULTS]


@cache
def prepared():
    """Return the whole plan at the sandbox bank."""
    return prepare(("aisp",), None)


def standings(plan, bank):
    """Run the trials of a plan at a new bank."""
    change = BROKEN[bank].change if bank in BROKEN else lambda policies: policies
    environment = set_up(
        prepared().target, bank=lambda base: make_app(change(SOUND), base_url=base)
    )
    result = run_session(Session(plan=plan, environment=environment, journal=Journal(out=None)))
    return {each.obligation: each.standing for each in result.verdicts}


def parts(plan):
    """Yield the plan of each clause."""
    clauses = dict.fromkeys(item.obligation.clause for item in plan.items)
    for clause in clauses:
        named = (item.obligation for item in plan.items)
        yield restrict(plan, {each.id for each in named if each.clause == clause})


@pytest.mark.parametrize("bank", BANKS)
def test_a_bank_that_is_no_mock(bank):
    """Each clause by itself, and all of them from the last to the first, give the same verdicts.

    What conforms by itself may be violated in a trial of another clause.
    """
    plan = prepared().plan
    whole = standings(plan, bank)

    alone = {name: each for part in parts(plan) for name, each in standings(part, bank).items()}
    assert whole.keys() == alone.keys()
    different = {(alone[name], whole[name]) for name in whole if alone[name] is not whole[name]}
    assert different <= {(Standing.CONFORMS, Standing.VIOLATES)}
    assert different == set() or bank in SHOWN_ELSEWHERE
    assert whole == standings(replace(plan, trials=plan.trials[::-1]), bank)
    assert (bank != "sound") is (Standing.VIOLATES in whole.values())


def at_mock(tmp_path, keywords=""):
    """Run the clauses that a user selects at a mock; return what is violated, and what conforms."""
    chosen = prepare(target_name=target_file(tmp_path), keywords=keywords)
    # Each run is the first of its day.
    environment = set_up(chosen.target, ledger=tmp_path / f"{keywords.replace('/', '-')}.sqlite")
    environment.client.close()
    environment.client._wire = httpx.MockTransport(mock)
    session = Session(plan=chosen.plan, environment=environment, journal=Journal(out=None))
    found = {each.obligation: each.standing for each in run_session(session).verdicts}
    return {name for name, each in found.items() if each is Standing.VIOLATES}, found


def test_a_violation_of_a_mock_stands_beside_other_clauses(tmp_path):
    """What is violated where one clause is selected is violated in the whole run, too."""
    whole, found = at_mock(tmp_path)

    assert whole
    assert Standing.CONFORMS not in found.values()
    for clause in sorted({name.split("/")[1] for name in whole}):
        some, _ = at_mock(tmp_path, f"aisp/{clause}/")
        assert some == {name for name in whole if name.split("/")[1] == clause}
