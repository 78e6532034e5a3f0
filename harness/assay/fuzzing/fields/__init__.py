"""Field fuzzing: generated values for the arguments of calls.

The shape of an argument is inferred from its value in the binding, and its limits from
the clauses (`arguments`); values come in four sorts, from one that is as good as the
binding's own to one that is structurally wrong (`shapes`).
`mutations` has what can be varied in calls, and `scenarios` puts varied calls into
sequences, each beside its control. What is right is not decided here: the rules' checks
judge a sequence as they judge any history.
"""

from __future__ import annotations

from assay.binding.model.target import Target
from assay.contract.model import Contract
from assay.fuzzing.draws import Dice, Draw
from assay.fuzzing.fields.mutations import fuzzable_reads, fuzzable_requests
from assay.fuzzing.fields.scenarios import read_scenarios, write_scenarios
from assay.fuzzing.sequences.abstract_step import AbstractSequence
from assay.fuzzing.sequences.actions import Actions, gather_actions
from assay.planning.plan import Plan


def field_sequences(
    plan: Plan,
    contract: Contract,
    target: Target,
    *,
    actions: Actions | None = None,
    reads: bool = False,
) -> Draw[AbstractSequence] | None:
    """Return what draws the sequences that fuzz a contract's fields at a target.

    `contract` is the plan's, restricted to this target. `actions` are those whose
    households the target can arrange, where that is known; `reads` keeps to calls that
    change nothing and make some sense. None where nothing can be fuzzed: the target binds
    no operation with arguments, or has no customer.
    """
    actions = gather_actions(plan, contract) if actions is None else actions
    readable = fuzzable_reads(contract, target, actions, reads=reads)
    draws = [read_scenarios(readable)] if readable else []
    if not reads:
        requests = fuzzable_requests(contract, target, actions)
        draws += [write_scenarios(fuzzable) for fuzzable in requests]

    def draw(dice: Dice) -> AbstractSequence:
        return dice.choice(draws)(dice)

    return draw if draws else None
