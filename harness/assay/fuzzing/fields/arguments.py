"""The arguments that a target binds, and what its contract names for each of them.

Read from the clauses as they are written, whatever their kind: a node with a `field` is
about that argument, `even` gives numbers that are no exception, and the days of an
operation limit how far back it can be asked. A new kind of rule needs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from assay.binding.encode import BARE
from assay.binding.target import OperationBinding, Place, Target
from assay.contract.model import Contract, Json, Operation
from assay.fuzzing.fields.shape import Argument, Keys, Named


def arguments(contract: Contract, target: Target) -> dict[str, tuple[Argument, ...]]:
    """Return what can be sent in each operation, by its id; what is not spelt is left out."""
    return {
        operation.id: tuple(_arguments(operation, contract, target))
        for operation in contract.operations.values()
        if operation.available
    }


def chosen(operation: Operation) -> frozenset[str]:
    """Return the arguments whose values no binding can have: keys, and days to be asked for."""
    due = operation.due.argument if operation.due else None
    names = {operation.about, operation.grants, operation.owned, operation.since, operation.until}
    return frozenset(one for one in {*names, due} if one)


def _arguments(operation: Operation, contract: Contract, target: Target) -> Iterator[Argument]:
    binding = target.operations.get(operation.id, BARE)
    strange = tuple(_texts(contract, target))
    for name in dict.fromkeys((*operation.arguments, *sorted(chosen(operation)))):
        place = _place(name, operation, binding)
        if place is None:
            continue
        spelling = binding.arguments.get(name)
        named = _named(contract, operation, name)
        # A change has no value of its own: what it could be changed from is in the making.
        usual = _usual(contract, operation, target, name)
        yield Argument(
            operation=operation.id,
            name=name,
            place=place,
            own=spelling.value if spelling and spelling.value is not None else usual,
            other=spelling.other if spelling else None,
            strange=strange,
            keys=_keys(operation, name),
            ahead=_ahead(contract, operation, name),
            spoken=named.any or _mandatory(contract, operation, name),
            named=named,
        )


def _texts(contract: Contract, target: Target) -> Iterator[str]:
    """Yield the texts that the bindings of a contract have, wherever they stand."""
    for name in contract.operations:
        for spelling in target.operations.get(name, BARE).arguments.values():
            yield from (one for one in (spelling.value, spelling.other) if isinstance(one, str))


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
    every = contract.operations.values()
    return next((one for one in every if one.makes and one.makes == operation.request), None)


def _usual(contract: Contract, operation: Operation, target: Target, name: str) -> Json:
    making = _making(contract, operation)
    if making is None or not operation.changes:
        return None
    spelling = target.operations.get(making.id, BARE).arguments.get(name)
    return spelling.value if spelling else None


def _ahead(contract: Contract, operation: Operation, name: str) -> bool:
    making = _making(contract, operation)
    return bool(making and making.due and making.due.argument == name)


def _mandatory(contract: Contract, operation: Operation, name: str) -> bool:
    return any(
        name in cast("list[Json]", clause.params.get("fields") or [])
        for clause in contract.clauses
        if operation.request and clause.params.get("request") == operation.request
    )


def _named(contract: Contract, operation: Operation, name: str) -> Named:
    """Gather what the clauses name for an argument of an operation."""
    right: list[str] = []
    others: list[str] = []
    known: list[str] = []
    limits: list[str] = []
    small: list[str] = []
    days: list[int] = []
    for clause in contract.clauses:
        params = clause.params
        if operation.request and params.get("request") == operation.request:
            for node in _nodes(params):
                if node.get("field") == name:
                    right += [str(node["const"])] if "const" in node else []
                    others += [str(one) for one in cast("list[Json]", node.get("others") or [])]
                    known += [str(node["is"])] if "is" in node else []
                    limits += [str(node["above"])] if "above" in node else []
            even = params.get("even")
            if isinstance(even, Mapping) and name in even:
                small.append(str(cast("Mapping[str, Json]", even)[name]))
        back = name in {operation.since, operation.until}
        if back and params.get("operation") == operation.id and isinstance(params.get("days"), int):
            days.append(cast("int", params["days"]))
    return Named(
        right=tuple(right),
        others=tuple(dict.fromkeys(others)),
        known=tuple(dict.fromkeys(known)),
        limits=tuple(dict.fromkeys(limits)),
        small=tuple(dict.fromkeys(small)),
        days=tuple(dict.fromkeys(days)),
    )


def _nodes(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield every mapping in a clause's parameters."""
    if isinstance(value, Mapping):
        node = cast("Mapping[str, Json]", value)
        yield node
        for one in node.values():
            yield from _nodes(one)
    elif isinstance(value, list | tuple):
        for one in cast("list[Json]", value):
            yield from _nodes(one)
