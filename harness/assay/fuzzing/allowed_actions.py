"""The actions that a target and the limits of a search allow, and whose customers it has."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Protocol

from assay.contract.model import Contract
from assay.errors import CannotArrange
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.actions import Actions, gather_actions
from assay.fuzzing.sequences.concretize import Concretizer
from assay.history import Call, Subject
from assay.planning.plan import Plan
from assay.running.environment import Environment
from assay.running.executor import executing


class Searching(Protocol):
    """What is known of a search: its plan, its contract, its target and its limits."""

    plan: Plan
    whole: Plan | None
    contract: Contract
    environment: Environment
    limits: SearchLimits

    def number(self) -> int:
        """Return the number of the next exchange."""
        ...


def allowed_actions(search: Searching) -> Actions:
    """Return the actions that the target, and the limits of a search, allow."""
    actions = gather_actions(search.whole or search.plan, search.contract)
    if not search.limits.signs:
        actions = replace(actions, signatures=())
    if search.limits.reads:
        plain = tuple(action for action in actions.plain if _reads(search.contract, action))
        actions = replace(actions, plain=plain, varied=(), moments=(), signatures=(), asides=())
    households = (each for each in actions.households if _can_arrange(search, each))
    return replace(actions, households=tuple(households))


def has_fresh_customers(search: Searching) -> bool:
    """Whether the target's customers are created for the run, as the first one says."""
    households = gather_actions(search.whole or search.plan, search.contract).households
    subjects = filter(None, (_arranged(search, household) for household in households))
    return all(subject.fresh for subject in islice(subjects, 1))


def _reads(contract: Contract, action: AbstractStep) -> bool:
    call = action.step
    if not isinstance(call, Call):
        return False
    operation = contract.operations[call.operation]
    return call.present and not (operation.writes or operation.grants)


def _can_arrange(search: Searching, household: AbstractStep) -> bool:
    """Whether there is such a household, of customers with whom the search may do all."""
    subject = _arranged(search, household)
    return subject is not None and (subject.fresh or search.limits.reads)


def _arranged(search: Searching, household: AbstractStep) -> Subject | None:
    """Arrange a household; return its customer, None where that cannot be."""
    operations = search.contract.operations
    with executing(search.environment, operations, number=search.number) as executor:
        try:
            event = executor.perform(Concretizer(now=executor.trial.look()).step(household))
        except CannotArrange:
            return None
    return event if isinstance(event, Subject) else None
