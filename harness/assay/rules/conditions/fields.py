"""What stands in an argument of a request: the input of all atoms about fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from assay.history import Call
from assay.model import Json
from assay.rules.conditions.atom import Atom, Seen
from assay.rules.requests import Life, Request
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


#: What any number stands for: one is as good as another, but for what a rule says of it.
A_NUMBER = "a number"


def named(atoms: Iterable[Atom]) -> Iterator[tuple[str, str]]:
    """Yield the arguments that atoms look at, with the values that they name there."""
    for atom in atoms:
        for point in atom.points:
            if atom.argument and isinstance(point.value, Given) and point.value.text is not None:
                yield atom.argument, _kind(point.value.text)


def sent(atoms: Iterable[Atom], request: Request) -> set[tuple[str, str]]:
    """Return what stands in the arguments that atoms look at, but for what is vouched for.

    The profile vouches for its other value.
    """
    call = request.made.call
    looked = {atom.argument for atom in atoms} - {None, *call.varied}
    return {(name, _kind(value)) for name, value in request.arguments.items() if name in looked}


def _kind(value: Json) -> str:
    text = value if isinstance(value, str) else None
    spelt = number(str(value) if isinstance(value, int | Decimal | float) else text)
    return A_NUMBER if spelt is not None and not isinstance(value, bool) else repr(value)


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
