"""Field fuzzing: generated values for the arguments of calls.

The shape of an argument is inferred from its value in the binding, and its limits from
the clauses; values come in four sorts, from one that is as good as the binding's own to
one that is structurally wrong (`shape`). Each takes one draw, from a table or an
integer: strategies made from a schema or a pattern are many times slower. `scenarios`
puts them into calls, each beside its control. What is right is not decided here: the
rules' checks judge a sequence as they judge any history.
"""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy, one_of

from assay.binding.target import Target
from assay.contract.model import Contract
from assay.fuzzing.fields.fuzzable import fuzzable_reads, fuzzable_requests
from assay.fuzzing.fields.scenarios import read_scenarios, write_scenarios
from assay.fuzzing.sequences.actions import Actions, actions
from assay.fuzzing.sequences.shrink import Story
from assay.planning.plan import Plan


def stories(
    plan: Plan,
    contract: Contract,
    target: Target,
    *,
    spoken: Actions | None = None,
    reads: bool = False,
) -> SearchStrategy[Story] | None:
    """Return the stories about a contract's fields that can be told to a target.

    `contract` is the plan's, as it stands for this target. `spoken` are the words whose
    households the target can arrange, where that is known; `reads` keeps to questions that
    change nothing and make some sense. None where there is nothing to tell: the target
    spells no operation that can be bent, or has no customer to ask for.
    """
    spoken = actions(plan, contract) if spoken is None else spoken
    questions = fuzzable_reads(contract, target, spoken, reads=reads)
    kinds = [read_scenarios(questions)] if questions else []
    if not reads:
        kinds += [write_scenarios(one) for one in fuzzable_requests(contract, target, spoken)]
    return one_of(kinds) if kinds else None
