"""The sandbox bank, asked about one clause, for tests of what a probe costs and finds."""

from dataclasses import replace
from functools import cache

from assay.binding.read.join import bind
from assay.journal.writer import Journal
from assay.parsing.parse import find_contract, parse_contract
from assay.planning.plan import plan
from assay.preparation.target_file import find_target, read_target
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND


@cache
def shipped():
    """Return the contract of payment initiation, and the sandbox's profile."""
    return parse_contract(find_contract("pis")), read_target(find_target("sandbox"))


def hold(clause, seed=0, words=None, **policies):
    """Ask a clause of the bank: calls planned, calls made, and verdicts by facet.

    `words` take the place of the clause's own parameters, `policies` of the sound bank's.
    """
    contract, target = shipped()
    clauses = (
        replace(one, params={**one.params, **(words or {})}) if one.id == clause else one
        for one in contract.clauses
    )
    bound = bind([replace(contract, clauses=tuple(clauses))], target)
    chosen = plan(bound, target, lambda one: one.clause == clause)
    bank = replace(SOUND, payments=replace(SOUND.payments, **policies))
    environment = set_up(target, seed=seed, bank=lambda base_url: make_app(bank, base_url=base_url))
    try:
        result = run_session(
            Session(plan=chosen, environment=environment, journal=Journal(out=None))
        )
    finally:
        environment.close()
    assert () == result.faults
    verdicts = {one.obligation.rpartition("/")[2]: one.standing.value for one in result.verdicts}
    return chosen.calls, result.exchanges, verdicts
