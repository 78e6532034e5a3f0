"""Slots of paths: what stands in them, and which of them a call fills in by itself.

A slot of an operation about a request that is neither its key nor an argument repeats what the
call that made the request had in the slot, or the argument, of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from assay.binding.spelling import SLOT, OperationBinding, Place
from assay.contract.model import Operation


def quoted_slots(template: str, path: str) -> dict[str, str]:
    """Return the quoted values of a path's parameters; nothing if it is another path.

    The part before the template belongs to the base URL.
    """
    pieces = SLOT.split(template)
    names = pieces[1::2]
    pattern = "([^/]*)".join(re.escape(piece) for piece in pieces[::2])
    match = re.search(f"{pattern}$", path)
    return dict(zip(names, match.groups(), strict=True)) if match else {}


def slots_of(template: str, path: str) -> dict[str, str]:
    """Return the values of a path's parameters; nothing if it is another path."""
    return {name: unquote(value) for name, value in quoted_slots(template, path).items()}


def repeated_slots(operation: Operation, binding: OperationBinding) -> Iterator[str]:
    """Yield the slots that repeat what the call had that made the request."""
    if not operation.about or operation.makes:
        return
    spellings = (*binding.arguments.values(), *binding.modes.values())
    own = {spelling.name for spelling in spellings if spelling.place is Place.PATH}
    for name in dict.fromkeys(SLOT.findall(binding.path or operation.path)):
        if name not in own and name not in {*binding.taken(operation), *binding.modes}:
            yield name


def makers(operation: Operation, operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations that make the request that an operation is about.

    One that is not available neither shows nor changes it: others are about the same.
    """
    every = tuple(operations)
    same = (other.request for other in every if operation.about and other.about == operation.about)
    request = operation.request or next(filter(None, same), None)
    for maker in every:
        if maker.makes and maker.makes == request:
            yield maker


def made_slots(
    operation: Operation,
    operations: Iterable[Operation],
    bindings: Mapping[str, OperationBinding],
) -> frozenset[str]:
    """Return the names of the slots and arguments of the calls that make a request."""
    names: set[str] = set()
    for maker in makers(operation, operations):
        binding = bindings.get(maker.id, OperationBinding())
        names |= {*SLOT.findall(binding.path or maker.path), *binding.taken(maker)}
    return frozenset(names)
