"""Steps of the probes of `quota`: give a consent, use up a count, call for all operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.contract.model import Json, Operation
from assay.history import Call, Subject
from assay.rules import steps
from assay.rules.rule import Script


def give(grant: Operation | None, psu: Subject, arguments: Mapping[str, Json]) -> Script:
    """Give a consent for all that a customer owns; nothing where no operation transmits one."""
    if grant is not None and not grant.given:
        keys: list[Json] = [owned.key for owned in psu.owns]
        named = {grant.grants or "": keys, **arguments}
        call = Call(operation=grant.id, subject=psu.name, arguments=named)
        yield from steps.consent(grant, call)


def calls_of(
    operations: Iterable[Operation], psu: Subject, *, present: bool, item: int = 0
) -> list[Call]:
    """Return a call of each operation, about one of the things that a customer owns."""
    return [
        Call(
            operation=operation.id,
            subject=psu.name,
            arguments=steps.arguments(operation, psu.owns[item].key),
            present=present,
            variation="" if present else "without the customer",
        )
        for operation in operations
    ]


def each(calls: Iterable[Call]) -> Script:
    """Make each of several calls."""
    for call in calls:
        yield from steps.send(call)


def use_up(calls: Iterable[Call], number: int) -> Script:
    """Make each of several calls this many times."""
    for call in calls:
        yield from each([call] * number)
