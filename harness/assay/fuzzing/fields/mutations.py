"""The operations of a target that can be fuzzed, and the mutations of each.

A mutation is one argument with one sort of value, another mode, another name of the
method, or a malformed call as a whole. The mutation is drawn first, then its value, so
a long table of values does not outweigh a short one. The mutations are computed once
from contract, target file and actions, before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from assay.binding.model.target import Target
from assay.binding.read.join import capabilities
from assay.binding.wire.encode import BARE
from assay.contract.model import Capability, Contract, Operation
from assay.fuzzing.draws import Draw, one_of
from assay.fuzzing.fields.arguments import (
    ABSENT,
    Argument,
    Sort,
    Value,
    bound_arguments,
    reference_arguments,
)
from assay.fuzzing.fields.shapes import draws, missing_values, shape_of
from assay.fuzzing.fields.texts import as_good
from assay.fuzzing.sequences.abstract_step import AbstractStep, Moment
from assay.fuzzing.sequences.actions import Actions
from assay.history import Arrange, Call, Malformed
from assay.rules.kinds.reading.available import BODIES, READS
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_request

#: Varies a call, and describes the change in its variation.
Vary: TypeAlias = Callable[[Call], Call]
#: The weight of a mutation of a mode, or of an argument that the contract constrains; ...
CONSTRAINED = 2
#: ... and of a call as a whole, which can be malformed in more ways than an argument.
WHOLE = 6
#: The sorts of values for real customers: those that make some sense.
CAREFUL = frozenset({Sort.VALID, Sort.EDGE, Sort.BEYOND})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One way to vary a call of an operation; `sort` is that of an argument's value.

    A mutation with a `weight` of 2 is drawn twice as often as one with a weight of 1.
    """

    operation: Operation
    what: str
    variations: Draw[Vary]
    sort: Sort | None = None
    weight: int = 1


def mutations(
    operation: Operation,
    arguments: Sequence[Argument],
    target: Target,
    sorts: Collection[Sort] = frozenset(Sort),
) -> tuple[Mutation, ...]:
    """Return all mutations of a call.

    Malformed calls and other modes are included only where structurally wrong values
    are wanted. Where there is no mutation at all, the only one leaves the call as it
    is.
    """
    every = [
        mutation
        for argument in arguments
        for mutation in _argument_mutations(operation, argument)
        if mutation.sort in sorts
    ]
    if operation.lists:
        every += _name_mutations(operation, target)
    if Sort.WRONG in sorts:
        whole = one_of([_with_malformed(malformed) for malformed in _malformed(operation)])
        every.append(Mutation(operation=operation, what="the call", variations=whole, weight=WHOLE))
        every += _mode_mutations(operation, target)
    nothing = Mutation(operation=operation, what="nothing", variations=one_of([unchanged]))
    return tuple(every) or (nothing,)


def _argument_mutations(operation: Operation, argument: Argument) -> Iterator[Mutation]:
    by_sort = list(draws(argument).items())
    if missing := tuple(missing_values(argument)):
        # Banks fail most often at missing values: these do not depend on a long table.
        by_sort.append((Sort.WRONG, one_of(missing)))
    for sort, values in by_sort:
        if sort is not Sort.VALID or not _has_only_own(argument):
            yield Mutation(
                operation=operation,
                what=argument.name,
                variations=_varied(argument.name, values),
                sort=sort,
                weight=CONSTRAINED if argument.constrained else 1,
            )


def _varied(name: str, values: Draw[Value]) -> Draw[Vary]:
    return lambda dice: with_value(name, values(dice))


def _has_only_own(argument: Argument) -> bool:
    """Whether only the binding's own value is known to be good, which a control has anyway."""
    return len(argument.good_values) == 1 and shape_of(argument).valid is as_good


def _malformed(operation: Operation) -> tuple[Malformed, ...]:
    if operation.method in {"PUT", "POST", "PATCH"}:
        return BODIES
    return READS if operation.about else (Malformed.JUNK_QUERY,)


def _name_mutations(operation: Operation, target: Target) -> Iterator[Mutation]:
    binding = target.operations.get(operation.id, BARE)
    for alias, path in enumerate(binding.names(operation)):
        variations = one_of([_with_alias(alias, path)])
        yield Mutation(operation=operation, what="name", variations=variations)


def _mode_mutations(operation: Operation, target: Target) -> Iterator[Mutation]:
    for mode in _bound_modes(operation, target):
        yield Mutation(
            operation=operation,
            what="mode",
            variations=one_of([_with_mode(mode)]),
            weight=CONSTRAINED,
        )


def _bound_modes(operation: Operation, target: Target) -> tuple[str, ...]:
    binding = target.operations.get(operation.id, BARE)
    return tuple(mode for mode in operation.modes if mode in binding.modes)


# -- variations of a call ----------------------------------------------------------
def with_value(name: str, value: Value) -> Vary:
    """Return the variation that sets an argument to a value, or leaves the argument out."""

    def vary(call: Call) -> Call:
        before = f"{call.variation}, " if call.variation else ""
        others = {other: own for other, own in call.arguments.items() if other != name}
        if value.json is ABSENT:
            without, variation = (*call.without, name), f"{before}{name} is missing"
            return replace(call, arguments=others, without=without, variation=variation)
        arguments = {**others, name: value.json}
        return replace(call, arguments=arguments, variation=f"{before}{name} is {value.says}")

    return vary


def unchanged(call: Call) -> Call:
    """Leave a call as it is."""
    return call


def _with_malformed(malformed: Malformed) -> Vary:
    return lambda call: replace(call, malformed=malformed, variation=malformed.value)


def _with_alias(alias: int, path: str) -> Vary:
    return lambda call: replace(call, alias=alias, variation=f"by its other name {path}")


def _with_mode(mode: str) -> Vary:
    return lambda call: replace(call, mode=mode, variation=f"in the mode {mode}")


# -- what can be fuzzed ------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzableReads:
    """Reading what customers own: the customers, the consent, and the calls that read.

    `others` are the households of another customer, none if the fixture has only one;
    `lists` are the operations that read.
    """

    households: tuple[AbstractStep, ...]
    others: tuple[AbstractStep, ...]
    grant: Operation | None
    lists: tuple[Operation, ...]
    mutations: tuple[Mutation, ...]
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzableRequests:
    """Making requests, and what is done with them afterwards.

    `modes` are those that the target binds, `valid` the mutations of a request that stay
    valid, `read` the operation that shows a request, and `varied` the arguments of a
    change without mutation.
    """

    lifecycle: Lifecycle
    households: tuple[AbstractStep, ...]
    others: tuple[AbstractStep, ...]
    modes: tuple[str | None, ...]
    valid: tuple[Mutation, ...]
    mutations: tuple[Mutation, ...]
    moments: tuple[Moment, ...]
    read: Operation | None
    varied: tuple[str, ...]
    signs: bool
    inquires: bool


def fuzzable_reads(
    contract: Contract, target: Target, actions: Actions, *, reads: bool
) -> FuzzableReads | None:
    """Return what can be read of what customers own; None where nothing can be.

    `reads` keeps to calls that change nothing, with values that make some sense.
    """
    offered, arguments = capabilities(contract, target), bound_arguments(contract, target)
    sorts = CAREFUL if reads else frozenset(Sort)
    available = [operation for operation in contract.operations.values() if operation.available]
    lists = tuple(
        operation
        for operation in available
        if operation.lists and (not operation.about or _binds_about(operation, arguments))
    )
    consents = Capability.CONSENT in offered and not reads
    grants = [
        operation
        for operation in available
        if consents and operation.grants and arguments[operation.id]
    ]
    if not lists or not actions.households or Capability.PSU not in offered:
        return None
    return FuzzableReads(
        households=actions.households,
        others=actions.households if Capability.TWO_PSU in offered else (),
        grant=grants[0] if grants else None,
        lists=lists,
        mutations=tuple(
            mutation
            for operation in (*lists, *grants)
            for mutation in mutations(operation, arguments[operation.id], target, sorts)
        ),
        moments=actions.moments if Capability.CLOCK in offered and not reads else (),
    )


def fuzzable_requests(
    contract: Contract, target: Target, actions: Actions
) -> Iterator[FuzzableRequests]:
    """Yield each kind of request that can be made."""
    offered, arguments = capabilities(contract, target), bound_arguments(contract, target)
    if not {Capability.PSU, Capability.WRITE} <= offered:
        return
    for making in contract.operations.values():
        if not (making.makes and making.available and _can_make(making, arguments, target)):
            continue
        lifecycle = lifecycle_of_request(contract, making.makes)
        households = tuple(
            household for household in actions.households if _owns(household, lifecycle.owner)
        )
        if households:
            with_owner = replace(actions, households=households)
            yield _requests(lifecycle, arguments, target, offered, with_owner)


Bound: TypeAlias = Mapping[str, Sequence[Argument]]


def _requests(
    lifecycle: Lifecycle,
    arguments: Bound,
    target: Target,
    offered: frozenset[Capability],
    actions: Actions,
) -> FuzzableRequests:
    making, read, change = lifecycle.create, lifecycle.read, lifecycle.change
    bound = [
        operation
        for operation in lifecycle.operations
        if operation is making or _can_address(operation, arguments)
    ]
    every = tuple(
        mutation
        for operation in bound
        for mutation in mutations(operation, arguments[operation.id], target)
    )
    others = {argument.name: argument.other for argument in arguments[change.id]} if change else {}
    return FuzzableRequests(
        lifecycle=lifecycle,
        households=actions.households,
        others=actions.households if Capability.TWO_PSU in offered else (),
        modes=_bound_modes(making, target) or (None,),
        valid=tuple(
            mutation
            for mutation in every
            if mutation.operation is making
            and mutation.sort is Sort.VALID
            and mutation.what not in reference_arguments(making)
        ),
        mutations=every,
        moments=actions.moments if Capability.CLOCK in offered else (),
        read=read if read in bound else None,
        varied=tuple(
            name for name in lifecycle.changeable_arguments if others.get(name) is not None
        ),
        signs=Capability.SCA in offered and lifecycle.signed,
        inquires=Capability.EFFECTS in offered,
    )


def _binds_about(operation: Operation, arguments: Bound) -> bool:
    return any(argument.name == operation.about for argument in arguments[operation.id])


def _has_values(operation: Operation, arguments: Bound) -> bool:
    """Whether the binding has a value for each argument that is no reference."""
    with_value = {argument.name for argument in arguments[operation.id] if argument.own is not None}
    return set(operation.arguments) - reference_arguments(operation) <= with_value


def _can_address(operation: Operation, arguments: Bound) -> bool:
    """Whether an operation on an existing request can be called."""
    complete = bool(operation.changes) or _has_values(operation, arguments)
    return complete and _binds_about(operation, arguments)


def _can_make(operation: Operation, arguments: Bound, target: Target) -> bool:
    bound = {argument.name for argument in arguments[operation.id]}
    usual_mode = not operation.modes or operation.modes[0] in _bound_modes(operation, target)
    return (
        usual_mode
        and _has_values(operation, arguments)
        and (operation.owned is None or operation.owned in bound)
    )


def _owns(household: AbstractStep, resource: str) -> bool:
    """Whether a household has an ordinary thing of a resource."""
    holdings = cast("Arrange", household.step).holdings
    ordinary = {holding.resource for holding in holdings if not holding.traits}
    return not resource or resource in ordinary
