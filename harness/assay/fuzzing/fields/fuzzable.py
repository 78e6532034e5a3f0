"""What a story can speak of: the operations that a target spells, and how each is bent.

Worked out once from contract, profile and words, before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from assay.binding.encode import BARE
from assay.binding.join import capabilities
from assay.binding.target import Profile
from assay.contract.model import Capability, Contract, Operation
from assay.fuzzing.fields.arguments import arguments, chosen
from assay.fuzzing.fields.mutations import Way, ways
from assay.fuzzing.fields.shape import Argument, Sort
from assay.fuzzing.sequences.abstract_step import Moment, Told
from assay.fuzzing.sequences.actions import Words
from assay.history import Arrange
from assay.rules.lifecycle.tracker import Life, life


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Reading what customers own: who they are, how they consent, and each way to ask.

    `others` are the households of somebody else, none where only one customer can be had;
    `lists` are the operations that can be asked.
    """

    households: tuple[Told, ...]
    others: tuple[Told, ...]
    grant: Operation | None
    lists: tuple[Operation, ...]
    ways: tuple[Way, ...]
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """Making requests, and what is done with them afterwards.

    `modes` are those that are spelt, `valid` the ways to be as good, `read` how one is
    looked at, and `varied` what a plain change names.
    """

    life: Life
    households: tuple[Told, ...]
    others: tuple[Told, ...]
    modes: tuple[str | None, ...]
    valid: tuple[Way, ...]
    ways: tuple[Way, ...]
    moments: tuple[Moment, ...]
    read: Operation | None
    varied: tuple[str, ...]
    signs: bool
    inquires: bool


#: What is asked of a customer who is really there: nothing that makes no sense.
CAREFUL = frozenset({Sort.VALID, Sort.EDGE, Sort.BEYOND})


def asked(contract: Contract, profile: Profile, spoken: Words, *, reads: bool) -> Asked | None:
    """Return what can be asked about what customers own; None where nothing can be."""
    offered, known = capabilities(contract, profile), arguments(contract, profile)
    sorts = CAREFUL if reads else frozenset(Sort)
    available = [one for one in contract.operations.values() if one.available]
    lists = [one for one in available if one.lists and _askable(one, known[one.id])]
    consents = Capability.CONSENT in offered and not reads
    grants = [one for one in available if one.grants and known[one.id]] if consents else []
    if not lists or not spoken.households or Capability.PSU not in offered:
        return None
    return Asked(
        households=spoken.households,
        others=spoken.households if Capability.TWO_PSU in offered else (),
        grant=grants[0] if grants else None,
        lists=tuple(lists),
        ways=tuple(
            way for one in (*lists, *grants) for way in ways(one, known[one.id], profile, sorts)
        ),
        moments=spoken.moments if Capability.CLOCK in offered and not reads else (),
    )


def requested(contract: Contract, profile: Profile, spoken: Words) -> Iterator[Requested]:
    """Yield what can be made, one kind of request each."""
    offered, known = capabilities(contract, profile), arguments(contract, profile)
    if not {Capability.PSU, Capability.WRITE} <= offered:
        return
    for making in contract.operations.values():
        if not (making.makes and making.available and _makeable(making, known[making.id], profile)):
            continue
        around = life(contract, making.makes)
        households = tuple(one for one in spoken.households if _owns(one, around.owner))
        if households:
            yield _requested(
                around, known, profile, offered, replace(spoken, households=households)
            )


def _requested(
    around: Life,
    known: Mapping[str, Sequence[Argument]],
    profile: Profile,
    offered: frozenset[Capability],
    spoken: Words,
) -> Requested:
    """Gather what can be done around a request; `spoken` has those who can make one."""
    making, read = around.create, around.read
    binding = profile.operations.get(making.id, BARE)
    spelt = [one for one in around.operations if one is making or _addressed(one, known[one.id])]
    every = tuple(way for one in spelt for way in ways(one, known[one.id], profile))
    others = {one.name: one.other for one in known[around.change.id]} if around.change else {}
    return Requested(
        life=around,
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
        varied=tuple(one for one in around.changed if others.get(one) is not None),
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


def _makeable(operation: Operation, known: Sequence[Argument], profile: Profile) -> bool:
    said = {one.name for one in known if one.own is not None}
    placed = {one.name for one in known}
    binding = profile.operations.get(operation.id, BARE)
    modes = not operation.modes or operation.modes[0] in binding.modes
    return (
        modes
        and set(operation.arguments) - chosen(operation) <= said
        and (operation.owned is None or operation.owned in placed)
    )


def _owns(household: Told, resource: str) -> bool:
    holdings = cast("Arrange", household.step).holdings
    return not resource or any(one.resource == resource and not one.traits for one in holdings)
