"""The mutations of a call: strategies that vary one argument, mode, path or the whole.

A mutation is one argument with one sort of value, another mode, another name of the
method, or a malformed call as a whole. The mutation is drawn first, then its value, so
a long table of values does not outweigh a short one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from hypothesis.strategies import SearchStrategy, just, sampled_from

from assay.binding.encode import BARE
from assay.binding.target import Target
from assay.contract.model import Operation
from assay.fuzzing.fields.ill_typed import lacking
from assay.fuzzing.fields.shape import ABSENT, Argument, Sort, Value
from assay.fuzzing.fields.shapes import shape, strategies
from assay.fuzzing.fields.texts import as_good
from assay.history import Call, Malformed
from assay.rules.kinds.available import BODIES, READS

#: Varies a call, and describes it in its variation.
Bend: TypeAlias = Callable[[Call], Call]
#: How often an argument that the contract names is varied for each one that it does not,
#: ...
SPOKEN = 2
#: ... and a call as a whole this often: it can be malformed in more ways than an argument.
WHOLE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One way to vary a call of an operation; `sort` is that of an argument's value."""

    operation: Operation
    what: str
    bends: SearchStrategy[Bend]
    sort: Sort | None = None


def put(name: str, value: Value) -> Bend:
    """Return the mutation that sets an argument to a value, or leaves the argument out."""

    def bend(call: Call) -> Call:
        says = f"{call.variation}, " if call.variation else ""
        given = {key: one for key, one in call.arguments.items() if key != name}
        if value.json is ABSENT:
            without = (*call.without, name)
            return replace(
                call, arguments=given, without=without, variation=f"{says}{name} is missing"
            )
        return replace(
            call,
            arguments={**given, name: value.json},
            variation=f"{says}{name} is {value.says}",
        )

    return bend


def mutations(
    operation: Operation,
    arguments: Sequence[Argument],
    target: Target,
    sorts: Collection[Sort] = frozenset(Sort),
) -> tuple[Mutation, ...]:
    """Return all mutations of a call; arguments that the contract names come more often.

    Malformed calls and other modes are included only where structurally wrong values
    are wanted. Where there is no mutation at all, the only one leaves the call as it
    is.
    """
    out: list[Mutation] = []
    for argument in arguments:
        every = list(strategies(argument).items())
        if lacks := tuple(lacking(argument)):
            # Where nothing is, banks stumble most: that is not left to a long table.
            every.append((Sort.WRONG, sampled_from(lacks)))
        for sort, values in every:
            if sort in sorts and not (sort is Sort.VALID and _alone(argument)):
                bends = values.map(_putting(argument.name))
                way = Mutation(operation=operation, what=argument.name, bends=bends, sort=sort)
                out += [way] * (SPOKEN if argument.spoken else 1)
    if operation.lists:
        out += _named(operation, target)
    if Sort.WRONG in sorts:
        table = sampled_from([_set(one.value, malformed=one) for one in _malformed(operation)])
        out += [Mutation(operation=operation, what="the call", bends=table)] * WHOLE
        out += _modes(operation, target)
    return tuple(out) or (
        Mutation(operation=operation, what="nothing", bends=just(lambda call: call)),
    )


def _alone(argument: Argument) -> bool:
    """Whether only the binding's own value is known to be good, which a control has anyway."""
    return len(argument.goods) == 1 and shape(argument).valid is as_good


def _putting(name: str) -> Callable[[Value], Bend]:
    return lambda value: put(name, value)


def _malformed(operation: Operation) -> tuple[Malformed, ...]:
    if operation.method in {"PUT", "POST", "PATCH"}:
        return BODIES
    return READS if operation.about else (Malformed.JUNK_QUERY,)


def _set(says: str, **parts: Any) -> Bend:
    def bend(call: Call) -> Call:
        return cast("Call", replace(cast("Any", call), **parts, variation=says))

    return bend


def _named(operation: Operation, target: Target) -> Iterator[Mutation]:
    binding = target.operations.get(operation.id, BARE)
    for alias, path in enumerate(binding.names(operation)):
        bend = _set(f"by its other name {path}", alias=alias)
        yield Mutation(operation=operation, what="name", bends=just(bend))


def _modes(operation: Operation, target: Target) -> Iterator[Mutation]:
    binding = target.operations.get(operation.id, BARE)
    for mode in operation.modes:
        if mode in binding.modes:
            bend = _set(f"in the mode {mode}", mode=mode)
            yield from [Mutation(operation=operation, what="mode", bends=just(bend))] * SPOKEN
