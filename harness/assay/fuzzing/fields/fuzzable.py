"""The operations of a target that can be fuzzed, and the mutations of each.

Computed once from contract, target file and actions, before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from assay.binding.encode import BARE
from assay.binding.join import capabilities
from assay.binding.target import Target
from assay.contract.model import Capability, Contract, Operation
from assay.fuzzing.fields.arguments import arguments, chosen
from assay.fuzzing.fields.mutations import Mutation, mutations
from assay.fuzzing.fields.shape import Argument, Sort
from assay.fuzzing.sequences.abstract_step import AbstractStep, Moment
from assay.fuzzing.sequences.actions import Actions
from assay.history import Arrange
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_request


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzableReads:
    """Reading what customers own: who they are, how they consent, and each way to ask.

    `others` are the households of somebody else, none where only one customer can be had;
    `lists` are the operations that can be asked.
    """

    households: tuple[AbstractStep, ...]
    others: tuple[AbstractStep, ...]
    grant: Operation | None
    lists: tuple[Operation, ...]
    ways: tuple[Mutation, ...]
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzableRequests:
    """Making requests, and what is done with them afterwards.

    `modes` are those that are spelt, `valid` the ways to be as good, `read` how one is
    looked at, and `varied` what a plain change names.
    """

    lifecycle: Lifecycle
    households: tuple[AbstractStep, ...]
    others: tuple[AbstractStep, ...]
    modes: tuple[str | None, ...]
    valid: tuple[Mutation, ...]
    ways: tuple[Mutation, ...]
    moments: tuple[Moment, ...]
    read: Operation | None
    varied: tuple[str, ...]
    signs: bool
    inquires: bool


#: What is asked of a customer who is really there: nothing that makes no sense.
CAREFUL = frozenset({Sort.VALID, Sort.EDGE, Sort.BEYOND})


def fuzzable_reads(
    contract: Contract, target: Target, spoken: Actions, *, reads: bool
) -> FuzzableReads | None:
    """Return what can be asked about what customers own; None where nothing can be."""
    offered, known = capabilities(contract, target), arguments(contract, target)
    sorts = CAREFUL if reads else frozenset(Sort)
    available = [one for one in contract.operations.values() if one.available]
    lists = [one for one in available if one.lists and _askable(one, known[one.id])]
    consents = Capability.CONSENT in offered and not reads
    grants = [one for one in available if one.grants and known[one.id]] if consents else []
    if not lists or not spoken.households or Capability.PSU not in offered:
        return None
    return FuzzableReads(
        households=spoken.households,
        others=spoken.households if Capability.TWO_PSU in offered else (),
        grant=grants[0] if grants else None,
        lists=tuple(lists),
        ways=tuple(
            way for one in (*lists, *grants) for way in mutations(one, known[one.id], target, sorts)
        ),
        moments=spoken.moments if Capability.CLOCK in offered and not reads else (),
    )


def fuzzable_requests(
    contract: Contract, target: Target, spoken: Actions
) -> Iterator[FuzzableRequests]:
    """Yield what can be made, one kind of request each."""
    offered, known = capabilities(contract, target), arguments(contract, target)
    if not {Capability.PSU, Capability.WRITE} <= offered:
        return
    for making in contract.operations.values():
        if not (making.makes and making.available and _makeable(making, known[making.id], target)):
            continue
        around = lifecycle_of_request(contract, making.makes)
        households = tuple(one for one in spoken.households if _owns(one, around.owner))
        if households:
            yield _requested(around, known, target, offered, replace(spoken, households=households))


def _requested(
    around: Lifecycle,
    known: Mapping[str, Sequence[Argument]],
    target: Target,
    offered: frozenset[Capability],
    spoken: Actions,
) -> FuzzableRequests:
    """Gather what can be done around a request; `spoken` has those who can make one."""
    making, read = around.create, around.read
    binding = target.operations.get(making.id, BARE)
    spelt = [one for one in around.operations if one is making or _addressed(one, known[one.id])]
    every = tuple(way for one in spelt for way in mutations(one, known[one.id], target))
    others = {one.name: one.other for one in known[around.change.id]} if around.change else {}
    return FuzzableRequests(
        lifecycle=around,
        households=spoken.households,
        others=spoken.households if Capability.TWO_PSU in offered else (),
        modes=tuple(one for one in making.modes if one in binding.modes) or (None,),
        valid=tuple(
            one
            for one in every
            if one.operation is making and one.sort is Sort.VALID and one.what not in chosen(making)
        ),
        ways=every,
        moments=spoken.moments if Capability.CLOCK in offered else (),
        read=read if read in spelt else None,
        varied=tuple(one for one in around.changeable_arguments if others.get(one) is not None),
        signs=Capability.SCA in offered,
        inquires=Capability.EFFECTS in offered,
    )


def _askable(operation: Operation, known: Sequence[Argument]) -> bool:
    return not operation.about or any(one.name == operation.about for one in known)


def _addressed(operation: Operation, known: Sequence[Argument]) -> bool:
    """Whether a request can be named, and all be said that its binding has to say."""
    said = {one.name for one in known if one.own is not None}
    spelt = bool(operation.changes) or set(operation.arguments) - chosen(operation) <= said
    return spelt and any(one.name == operation.about for one in known)


def _makeable(operation: Operation, known: Sequence[Argument], target: Target) -> bool:
    said = {one.name for one in known if one.own is not None}
    placed = {one.name for one in known}
    binding = target.operations.get(operation.id, BARE)
    modes = not operation.modes or operation.modes[0] in binding.modes
    return (
        modes
        and set(operation.arguments) - chosen(operation) <= said
        and (operation.owned is None or operation.owned in placed)
    )


def _owns(household: AbstractStep, resource: str) -> bool:
    holdings = cast("Arrange", household.step).holdings
    return not resource or any(one.resource == resource and not one.traits for one in holdings)
