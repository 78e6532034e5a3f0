"""Fields: what stands in the arguments of calls, drawn from the contract and the binding.

The shape of an argument is read off the value that the binding has there, and its limits
off the clauses; values come in four sorts, from as good as the binding's own to none that
any reading could take (`value`). Each takes one draw, out of a table or from an integer:
strategies that a schema or a pattern would give are many times slower. `stories` puts them
into calls, each beside the same call with nothing bent. What is right is never decided
here: the rules' checks judge a story as they judge any history.
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
