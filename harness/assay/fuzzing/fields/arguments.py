"""The arguments that a target binds, and what its contract names for each of them.

Read from the clauses as they are written, whatever their kind: a node with a `field` is
about that argument, `even` gives numbers that are no exception, and the days of an
operation limit how far back it can be asked. A new kind of rule needs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, cast

from assay.binding.model.target import OperationBinding, Place, Target
from assay.binding.wire.encode import BARE
from assay.contract.model import Contract, Json, Operation


class Sort(Enum):
    """How good a value is, by its form, the contract and the binding.

    This does not decide what is right: the contract's checks do.
    """

    VALID = "valid"
    EDGE = "at an edge"
    BEYOND = "just beyond"
    WRONG = "structurally wrong"


class _Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


#: Stands for an argument that is left out.
ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Value:
    """A value, possibly a `RelativeDay` or `ABSENT`, and its description."""

    says: str
    json: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedValues:
    """What a contract names for an argument.

    `right` are the fixed values and `others` some that differ, `known` those that make
    a difference, `limits` the numbers above which something changes, `small` those that
    are no exception, and `days` how far back something goes.
    """

    right: tuple[Json, ...] = ()
    others: tuple[Json, ...] = ()
    known: tuple[Json, ...] = ()
    limits: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    days: tuple[int, ...] = ()

    @property
    def any(self) -> bool:
        """Whether it names anything."""
        return any(getattr(self, name) for name in self.__dataclass_fields__)


class Keys(Enum):
    """The kind of key in an argument, which only the target can name."""

    NONE = "no key"
    OWNED = "one thing that the customer owns"
    SEVERAL = "a list of things that the customer owns"
    MADE = "a request that was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of an operation, as a target binds it.

    `own` is the binding's value and `other` an equally good one, None where it has
    none; `strange` are the texts of other arguments. `ahead` says that its days are in
    the future, `constrained` that a clause is about it.
    """

    operation: str
    name: str
    place: Place
    own: Json = None
    other: Json = None
    strange: tuple[str, ...] = ()
    keys: Keys = Keys.NONE
    ahead: bool = False
    constrained: bool = False
    named: NamedValues = field(default_factory=NamedValues)

    @property
    def good_values(self) -> tuple[Json, ...]:
        """The values that the binding has."""
        return tuple(value for value in (self.own, self.other) if value is not None)


def bound_arguments(contract: Contract, target: Target) -> dict[str, tuple[Argument, ...]]:
    """Return the arguments that a target binds, by operation id."""
    return {
        operation.id: tuple(_arguments(operation, contract, target))
        for operation in contract.operations.values()
        if operation.available
    }


def reference_arguments(operation: Operation) -> frozenset[str]:
    """Return the arguments whose values are references, not in a binding: keys and days."""
    due = operation.due.argument if operation.due else None
    names = {operation.about, operation.grants, operation.owned, operation.since, operation.until}
    return frozenset(name for name in {*names, due} if name)


def _arguments(operation: Operation, contract: Contract, target: Target) -> Iterator[Argument]:
    binding = target.operations.get(operation.id, BARE)
    strange = tuple(_texts(contract, target))
    making = _making(contract, operation)
    for name in dict.fromkeys((*operation.arguments, *sorted(reference_arguments(operation)))):
        place = _place(name, operation, binding)
        if place is None:
            continue
        spelling = binding.arguments.get(name)
        own = spelling.value if spelling else None
        if own is None and making and operation.changes:
            # A change sends no value of its own: it changes the value of the request.
            made = target.operations.get(making.id, BARE).arguments.get(name)
            own = made.value if made else None
        named = _named_values(contract, operation, name)
        yield Argument(
            operation=operation.id,
            name=name,
            place=place,
            own=own,
            other=spelling.other if spelling else None,
            strange=strange,
            keys=_keys(operation, name),
            ahead=bool(making and making.due and making.due.argument == name),
            constrained=named.any or _mandatory(contract, operation, name),
            named=named,
        )


def _texts(contract: Contract, target: Target) -> Iterator[str]:
    """Yield the texts in the bindings of a contract's operations."""
    for name in contract.operations:
        for spelling in target.operations.get(name, BARE).arguments.values():
            yield from (text for text in (spelling.value, spelling.other) if isinstance(text, str))


def _keys(operation: Operation, name: str) -> Keys:
    if name == operation.grants:
        return Keys.SEVERAL
    if name == operation.about:
        return Keys.MADE if operation.request else Keys.OWNED
    return Keys.OWNED if name == operation.owned else Keys.NONE


def _place(name: str, operation: Operation, binding: OperationBinding) -> Place | None:
    if f"{{{name}}}" in (binding.path or operation.path):
        return Place.PATH
    spelling = binding.arguments.get(name)
    return spelling.place if spelling else None


def _making(contract: Contract, operation: Operation) -> Operation | None:
    """Return the operation that makes the requests that an operation is about."""
    if not operation.request:
        return None
    every = contract.operations.values()
    return next((making for making in every if making.makes == operation.request), None)


def _mandatory(contract: Contract, operation: Operation, name: str) -> bool:
    return any(
        name in cast("list[Json]", clause.params.get("fields") or [])
        for clause in contract.clauses
        if operation.request and clause.params.get("request") == operation.request
    )


def _named_values(contract: Contract, operation: Operation, name: str) -> NamedValues:
    """Gather what the clauses name for an argument of an operation."""
    nodes: list[Mapping[str, Json]] = []
    small: list[str] = []
    days: list[int] = []
    for clause in contract.clauses:
        params = clause.params
        if operation.request and params.get("request") == operation.request:
            nodes += [node for node in _nodes(params) if node.get("field") == name]
            even = params.get("even")
            if isinstance(even, Mapping) and name in even:
                small.append(str(cast("Mapping[str, Json]", even)[name]))
        back = params.get("days")
        if (
            name in {operation.since, operation.until}
            and params.get("operation") == operation.id
            and isinstance(back, int)
        ):
            days.append(back)
    others = [cast("list[Json]", node.get("others") or []) for node in nodes]
    return NamedValues(
        right=_once(_at("const", nodes)),
        others=_once(value for values in others for value in values),
        known=_once(_at("is", nodes)),
        limits=tuple(dict.fromkeys(map(str, _at("above", nodes)))),
        small=tuple(dict.fromkeys(small)),
        days=tuple(dict.fromkeys(days)),
    )


def _at(key: str, nodes: Sequence[Mapping[str, Json]]) -> list[Json]:
    return [node[key] for node in nodes if key in node]


def _once(values: Iterable[Json]) -> tuple[Json, ...]:
    """Return each value once; `true` is not 1, as it is in Python."""
    return tuple({(type(value), str(value)): value for value in values}.values())


def _nodes(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield every mapping in a clause's parameters."""
    if isinstance(value, Mapping):
        node = cast("Mapping[str, Json]", value)
        yield node
        for member in node.values():
            yield from _nodes(member)
    elif isinstance(value, list | tuple):
        for item in cast("list[Json]", value):
            yield from _nodes(item)
