"""Limits on what a run may send: what the target file offers and what `safety` allows.

What counts is the content of the request, not what a call meant to put there. A value that cannot
be read with certainty is not sent to a live bank.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from assay.binding.encode import BARE, HttpRequest
from assay.binding.pointer import MISSING, find, steps
from assay.binding.spelling import RequestValues, sent
from assay.binding.target import OperationBinding, Place, Spelling, Target
from assay.contract.model import Capability, Json, Operation
from assay.errors import CannotArrange
from assay.history import Call
from assay.planning.plan import read_only
from assay.planning.remedies import ALLOW_WRITES, REMEDIES

__all__ = ["check_offered", "check_written"]


def check_offered(call: Call, operation: Operation, target: Target) -> None:
    """Do nothing if the target file offers what a call takes.

    A consent would change the customer's affairs, and a call without the customer that
    nothing marks as such would look like one with.

    Raises:
        CannotArrange: it does not, whatever the rule's facet requires.

    """
    if operation.grants and Capability.CONSENT not in target.fixtures.offers:
        raise CannotArrange(str(REMEDIES[Capability.CONSENT]))
    if operation.writes and Capability.WRITE not in target.fixtures.offers:
        raise CannotArrange(str(REMEDIES[Capability.WRITE]))
    if call.host is not None and call.host >= len(target.hosts):
        raise CannotArrange(str(REMEDIES[Capability.HOSTS]))
    if not call.present and target.presence is None:
        raise CannotArrange(str(REMEDIES[Capability.BATCH]))


def check_written(call: Call, operation: Operation, request: HttpRequest, target: Target) -> None:
    """Do nothing if a request that changes something may be sent.

    Raises:
        CannotArrange: it must not; the text names what of `safety` forbids it.

    """
    safety, live = target.safety, target.environment == "live"
    if read_only(target):
        raise CannotArrange(str(ALLOW_WRITES))
    if live and call.malformed is not None:
        raise CannotArrange("a bank that is not live: nothing malformed is written there (safety)")
    binding = target.operations.get(operation.id, BARE)
    for name in dict.fromkeys((*safety.only, *safety.most)):
        # A change names only what it changes, and its end nothing; the rest was made before.
        strict = live and bool(operation.makes)
        if not strict and name not in known(operation, binding):
            continue
        spelling = binding.arguments.get(name)
        values = [*_values(spelling, request)] if spelling else []
        if strict and (not values or any(one is MISSING for one in values)):
            raise CannotArrange(f"{name} where it can be read off the request (safety)")
        for value in values:
            if spelling and value is not MISSING:
                _within(name, value, spelling, target, live=live)


def known(operation: Operation, binding: OperationBinding) -> frozenset[str]:
    """Return the arguments that an operation has, in the contract's words."""
    special = (operation.grants, operation.about, operation.owned, operation.returns)
    return frozenset(name for name in (*operation.arguments, *binding.arguments, *special) if name)


def _within(name: str, value: Json, spelling: Spelling, target: Target, *, live: bool) -> None:
    safety = target.safety
    if name in safety.only:
        allowed: list[Json] = [*safety.only[name]]
        allowed += [sent(one, spelling, RequestValues()) for one in safety.only[name]]
        every = cast("list[Json]", value) if isinstance(value, list) else [value]
        if not all(one in allowed or str(one) in allowed for one in every):
            raise CannotArrange(f"{name} to be one that safety.only lists")
    if name in safety.most:
        number = _number(value, spelling.text)
        if live if number is None else abs(number) > Decimal(safety.most[name]):
            raise CannotArrange(f"{name} of no more than {safety.most[name]} (safety.most)")


def _number(value: Json, text: str) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    before, _, after = text.partition("{}")
    try:
        number = Decimal(str(value).removeprefix(before).removesuffix(after))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _values(spelling: Spelling, request: HttpRequest) -> Iterator[Json]:
    """Yield what a request has at each place of an argument, `MISSING` where it has nothing."""
    match spelling.place:
        case Place.BODY:
            body = _body(request.body)
            for pointer in (spelling.name, *spelling.also):
                yield find(body, pointer)
                yield from _alike(body, tuple(_members(pointer))[-2:])
        case Place.QUERY:
            query = parse_qs(urlsplit(request.url).query, keep_blank_values=True)
            yield from query.get(spelling.name) or (MISSING,)
        case Place.HEADER:
            yield from _header(spelling, request)
        case Place.PATH:
            yield MISSING  # where it begins and ends there, only the bank knows


def _members(pointer: str) -> Iterator[str]:
    """Yield the names on the way of a pointer, without the places in lists."""
    return (step for step in steps(pointer) if not step.isdecimal())


def _alike(here: Json, names: tuple[str, ...], way: tuple[str, ...] = ()) -> Iterator[Json]:
    """Yield what stands anywhere below members of these names: a second transfer is one, too."""
    if names and way[-len(names) :] == names:
        yield here
    if isinstance(here, dict):
        for name, value in cast("dict[str, Json]", here).items():
            yield from _alike(value, names, (*way, name))
    elif isinstance(here, list):
        for value in cast("list[Json]", here):
            yield from _alike(value, names, way)


def _header(spelling: Spelling, request: HttpRequest) -> Iterator[Json]:
    wanted = spelling.name.lower()
    found = [value for name, value in request.headers if name.lower() == wanted]
    yield from found or (MISSING,)


def _body(body: bytes) -> Json:
    """Read a body; one that names a member twice can be read in two ways, and so in none."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a member stands there twice")
        return dict(pairs)

    try:
        return json.loads(body, object_pairs_hook=once, parse_float=Decimal)
    except (ValueError, RecursionError):
        return MISSING
