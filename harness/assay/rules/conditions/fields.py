"""What stands in an argument of a request: the input of all atoms about fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from assay.history import Call
from assay.model import Json
from assay.rules.conditions.atom import Seen
from assay.rules.requests import Life
from assay.rules.rule import Want


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value, as text; None for the one that the profile has there.

    `other` says that it is the other one that the profile has.
    """

    text: str | None = None
    other: bool = False


def look(seen: Seen, argument: str) -> Given | None:
    """Return what was sent in an argument; what is not there says nothing."""
    value = seen.request.arguments.get(argument)
    if value is None:
        return None
    return Given(text=str(value), other=argument in seen.request.made.call.varied)


def give(argument: str, value: Json) -> Callable[[Call], Call]:
    """Return how a call gets this value."""
    return lambda call: replace(call, arguments={**call.arguments, argument: value})


def vary(argument: str) -> Callable[[Call], Call]:
    """Return how a call gets the other value that the profile has."""
    return lambda call: replace(call, varied=(*call.varied, argument))


def want(life: Life, feature: str, argument: str) -> tuple[Want, ...]:
    """Want the profile to spell an argument, or another value of it."""
    return (Want(operation=life.create.id, feature=feature, name=argument),)


def number(text: str | None) -> Decimal | None:
    """Read a number; None if it is none."""
    try:
        value = Decimal(text) if text is not None else None
    except InvalidOperation:
        return None
    return value if value is not None and value.is_finite() else None
