"""Order of the trials of customers who outlive them: a consent of one trial is there in the next.

Trials without a consent come first, so that no earlier one narrows what they read. Those that call
something before their consent come next, while there are customers who never gave one.
"""

from __future__ import annotations

from dataclasses import replace

from assay.history import Call
from assay.planning.plan import Plan, Trial, script_of
from assay.rules.dry_run import DryTarget, dry_run

__all__ = ["without_consents_first"]


def without_consents_first(plan: Plan) -> Plan:
    """Return a plan whose trials are in this order; those that a person signs stay last."""
    rank = {trial.id: _rank(plan, trial) for trial in plan.trials}

    def position(trial: Trial) -> tuple[bool, int]:
        return plan.person and trial.signed, rank[trial.id]

    return replace(plan, trials=tuple(sorted(plan.trials, key=position)))


def _rank(plan: Plan, trial: Trial) -> int:
    if not trial.consents:
        return 0
    contract = plan.contracts[trial.contract]
    _, script = script_of(plan, trial)
    granted, called_before = set[str](), set[str]()
    for step in dry_run(script, DryTarget(contract=contract)):
        if not isinstance(step, Call):
            continue
        if contract.operations[step.operation].grants:
            granted.add(step.subject)
        elif step.subject not in granted:
            called_before.add(step.subject)
    return 1 if granted & called_before else 2
