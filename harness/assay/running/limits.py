"""Limits on what a run may send: what the target file offers and what `safety` allows.

What counts is the content of the request, not what a call meant to put there. A value that cannot
be read with certainty is not sent to a live bank.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final, cast
from urllib.parse import parse_qs, urlsplit

from assay.binding.encode import BARE, HttpRequest
from assay.binding.pointer import MISSING, find, steps
from assay.binding.target import OperationBinding, Place, Spelling, Target
from assay.binding.values import RequestValues, sent
from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import number_of
from assay.errors import CannotArrange
from assay.history import Call
from assay.planning.plan import read_only
from assay.planning.remedies import ALLOW_WRITES, REMEDIES

__all__ = ["amounts", "check_offered", "check_written"]

#: The key with what the fixture provider can arrange.
_OFFERS: Final = ("fixtures", "offers")


def check_offered(call: Call, operation: Operation, target: Target) -> None:
    """Check that the target file offers what a call needs, whatever its facet requires.

    A consent changes something for the customer, and a call without the customer that
    nothing marks as such looks like one with the customer.

    Raises:
        CannotArrange: the target file does not offer it.

    """
    consents = operation.grants or (operation.writes and operation.about_consent)
    if consents and Capability.CONSENT not in target.fixtures.offers:
        raise CannotArrange(str(REMEDIES[Capability.CONSENT]), key=_OFFERS)
    if operation.writes and not consents and Capability.WRITE not in target.fixtures.offers:
        raise CannotArrange(str(REMEDIES[Capability.WRITE]), key=_OFFERS)
    if call.host is not None and call.host >= len(target.hosts):
        raise CannotArrange(str(REMEDIES[Capability.HOSTS]), key=("hosts",))
    if not call.present and target.presence is None:
        raise CannotArrange(str(REMEDIES[Capability.BATCH]), key=("presence",))


def check_written(call: Call, operation: Operation, request: HttpRequest, target: Target) -> None:
    """Check that a request which changes something may be sent.

    Raises:
        CannotArrange: it must not; the text names the key of `safety` that forbids it.

    """
    safety, live = target.safety, target.environment == "live"
    if read_only(target):
        raise CannotArrange(str(ALLOW_WRITES))
    if live and call.malformed is not None:
        raise CannotArrange(
            "a bank that is not live, because no malformed request is written to a live bank (safety)"
        )
    binding = target.operations.get(operation.id, BARE)
    for name in dict.fromkeys((*safety.only, *safety.most, *safety.total)):
        # A modification has only what it changes, and a cancellation nothing of the request.
        strict = live and bool(operation.makes) and not operation.about_consent
        if not strict and name not in argument_names(operation, binding):
            continue
        spelling = binding.arguments.get(name)
        values = [*_values(spelling, request)] if spelling else []
        if strict and (not values or any(value is MISSING for value in values)):
            raise CannotArrange(
                f"{name} in a place where it can be checked before sending (safety)"
            )
        for value in values:
            if spelling and value is not MISSING:
                _check_value(name, value, spelling, target, live=live)


def argument_names(operation: Operation, binding: OperationBinding) -> frozenset[str]:
    """Return the names of an operation's arguments in the contract."""
    special = (operation.grants, operation.about, operation.owned, operation.returns)
    return frozenset(name for name in (*operation.arguments, *binding.arguments, *special) if name)


def amounts(operation: Operation, request: HttpRequest, target: Target) -> dict[str, Decimal]:
    """Return how much a request adds to the limits of a run: to the number (""), and to the sums."""
    binding = target.operations.get(operation.id, BARE)
    added = {"": Decimal(bool(operation.makes))}
    for name in target.safety.total:
        spelling = binding.arguments.get(name)
        values = [*_values(spelling, request)] if spelling else []
        # In a body, the first is among the others, which have the same name.
        several = spelling and spelling.place is Place.BODY and len(values) > 1
        numbers = [_number(value, spelling) for value in values if spelling]
        known = [abs(number) for number in numbers[bool(several) :] if number is not None]
        added[name] = sum(known, Decimal(0))
    return added


def _check_value(name: str, value: Json, spelling: Spelling, target: Target, *, live: bool) -> None:
    safety = target.safety
    if name in safety.only:
        allowed: list[Json] = [*safety.only[name]]
        allowed += [sent(value_, spelling, RequestValues()) for value_ in safety.only[name]]
        items = cast("list[Json]", value) if isinstance(value, list) else [value]
        if not all(item in allowed or str(item) in allowed for item in items):
            raise CannotArrange(f"{name} to be listed in safety.only")
    for key, limits in (("most", safety.most), ("total", safety.total)):
        if name in limits:
            number = _number(value, spelling)
            if live if number is None else abs(number) > Decimal(limits[name]):
                raise CannotArrange(f"{name} of no more than {limits[name]} (safety.{key})")


def _number(value: Json, spelling: Spelling) -> Decimal | None:
    """Return the amount that a value on the wire is, in the main unit of its currency."""
    if isinstance(value, str):
        before, _, after = spelling.text.partition("{}")
        value = value.removeprefix(before).removesuffix(after)
    number = number_of(value)
    return None if number is None else number * (spelling.unit or 1)


def _values(spelling: Spelling, request: HttpRequest) -> Iterator[Json]:
    """Yield the value of a request at each place of an argument, `MISSING` without one."""
    match spelling.place:
        case Place.BODY:
            body = _body(request.body)
            for pointer in (spelling.name, *spelling.also):
                yield find(body, pointer)
                yield from _same_named(body, tuple(_members(pointer))[-2:])
        case Place.QUERY:
            query = parse_qs(urlsplit(request.url).query, keep_blank_values=True)
            yield from query.get(spelling.name) or (MISSING,)
        case Place.HEADER:
            yield from _header(spelling, request)
        case Place.PATH | Place.SCOPE | Place.BASE:
            yield MISSING  # only the bank knows where the value begins and ends


def _members(pointer: str) -> Iterator[str]:
    """Yield the member names in a pointer, without list indexes."""
    return (step for step in steps(pointer) if not step.isdecimal())


def _same_named(value: Json, names: tuple[str, ...], path: tuple[str, ...] = ()) -> Iterator[Json]:
    """Yield every value in members of these names, such as the amount of a second transfer."""
    if names and path[-len(names) :] == names:
        yield value
    if isinstance(value, dict):
        for name, member in cast("dict[str, Json]", value).items():
            yield from _same_named(member, names, (*path, name))
    elif isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _same_named(item, names, path)


def _header(spelling: Spelling, request: HttpRequest) -> Iterator[Json]:
    wanted = spelling.name.lower()
    values = [value for name, value in request.headers if name.lower() == wanted]
    yield from values or (MISSING,)


def _body(body: bytes) -> Json:
    """Read a body as JSON; one with a repeated member is ambiguous, and so unreadable."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("repeated member")
        return dict(pairs)

    try:
        return json.loads(body, object_pairs_hook=unique, parse_float=Decimal)
    except (ValueError, RecursionError):
        return MISSING
