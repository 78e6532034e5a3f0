"""How many signatures a run will ask for, before it asks: every probe is played to nobody.

Whatever a probe asks for is granted, so a request that a real target would refuse is
signed here as well: the figure is an upper bound for a target that keeps its contract.
Not for anything else; what a run costs in calls is the plan's own price.
"""

from __future__ import annotations

from assay.history import Authorise
from assay.nobody import Nobody, overheard
from assay.plan import Plan, Trial, script_of

#: So many steps of a probe are played, for nobody's answers might keep it going.
MOST = 1_000


def signatures(plan: Plan) -> int:
    """Return how many signatures the trials of a plan ask for, at the most."""
    return sum(asked_in(plan, trial) for trial in plan.trials if trial.signed)


def asked_in(plan: Plan, trial: Trial) -> int:
    """Return how many signatures one trial asks for, at the most."""
    _, script = script_of(plan, trial)
    nobody = Nobody(contract=plan.contracts[trial.contract])
    return sum(isinstance(step, Authorise) for step in overheard(script, nobody, MOST))
