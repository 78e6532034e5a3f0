"""Atoms about the value of a request's argument: `is` and `above`.

`{field: F, is: V}`: the argument F of the request equals V: a text, a number, true or false.
A text that is written like V equals it, since a URL has nothing else. The values in the target
file are assumed to differ from V; where they do not, the check uses what was sent. A truth value
is sent as its negation.

`{field: F, above: N}`: the argument F of the request is a number greater than N. Tried
at N, which is not above it, and one step below and above. The step is 1 if N is written
as a whole number, and else 0.01, or finer if N is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from assay.contract.model import Json
from assay.contract.scalars import number_of, text_of
from assay.history import Call
from assay.rules.conditions.expression import FAR, Atom, DecidedRequest, Point, Value
from assay.rules.lifecycle.tracker import Instance, Lifecycle
from assay.rules.rule import BindingRequirement, bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value, as text; None for the one in the target file.

    `other` says that it is the second value in the target file.
    """

    text: str | None = None
    other: bool = False


def value_of(seen: DecidedRequest, argument: str) -> Given | None:
    """Return the value sent in an argument; None where it was not sent."""
    value = seen.request.arguments.get(argument)
    if value is None:
        return None
    return Given(text=text_of(value), other=argument in seen.request.made.call.varied)


#: Stands for any number above zero with this number of decimals: these are interchangeable, except
#: where a rule compares them. Another spelling of a number is a value of its own.
A_NUMBER = "a number with {} decimals"
#: A number of JSON: a bank that expects texts may refuse it, or the other way round.
A_JSON_NUMBER = f"{A_NUMBER}, without quotes"
_PLAIN = re.compile(r"[0-9]+(?:\.([0-9]+))?", re.ASCII)


def named_values(atoms: Iterable[Atom]) -> Iterator[tuple[str, str]]:
    """Yield the arguments that atoms look at, with the values that they name there."""
    for atom in atoms:
        for point in atom.points:
            if atom.argument and isinstance(point.value, Given) and point.value.text is not None:
                yield atom.argument, _kind(point.value.text)


def sent_values(atoms: Iterable[Atom], request: Instance) -> set[tuple[str, str]]:
    """Return the values of the arguments that atoms look at.

    The second value of the target file is left out: the file says that it is valid.
    """
    call = request.made.call
    looked = {atom.argument for atom in atoms} - {None, *call.varied}
    return {(name, _kind(value)) for name, value in request.arguments.items() if name in looked}


def _kind(value: Json) -> str:
    text = text_of(value) if isinstance(value, str | int | Decimal | float) else None
    plain = _PLAIN.fullmatch(text) if text is not None else None
    if plain is None or not any(digit in plain[0] for digit in "123456789"):
        return repr(value if text is None else text)
    # A decimal of a probe is sent in the type of the target file's own value.
    kind = A_JSON_NUMBER if isinstance(value, int | float) else A_NUMBER
    return kind.format(len(plain[1] or ""))


def is_above(value: Json, limit: Json) -> bool | None:
    """Return whether a value is above a limit; None where it is no plain number."""
    if value is None:
        return False
    number, most = number_of(value), number_of(limit)
    return number > most if number is not None and most is not None else None


def with_value(argument: str, value: Json) -> Callable[[Call], Call]:
    """Return a function that gives a call this value."""
    return lambda call: replace(call, arguments={**call.arguments, argument: value})


def with_other_value(argument: str) -> Callable[[Call], Call]:
    """Return a function that gives a call the target file's other value."""
    return lambda call: replace(call, varied=(*call.varied, argument))


def require(lifecycle: Lifecycle, feature: str, argument: str) -> tuple[BindingRequirement, ...]:
    """Require the target file to bind an argument, or another value of it."""
    return bound(lifecycle.create, feature, argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAtom:
    """What all atoms about an argument of a request share."""

    argument: str
    lifecycle: Lifecycle = field(compare=False, repr=False)

    @property
    def input(self) -> str:
        """The input that the atom looks at: all atoms about one argument share it."""
        return f"field {self.argument}"

    @property
    def id_prefix(self) -> str:
        """The argument's name."""
        return self.argument

    def look(self, seen: DecidedRequest) -> Value | None:
        """Return what was sent in the argument."""
        return value_of(seen, self.argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldIs(FieldAtom):
    """An atom that holds where an argument has one value."""

    value: Json

    @property
    def label(self) -> str:
        """What it says."""
        return f"{self.argument} is {text_of(self.value)}"

    @property
    def points(self) -> tuple[Point, ...]:
        """The value; the target file's value; and its other value. A truth value has its negation."""
        name, value = self.argument, text_of(self.value)
        if isinstance(self.value, bool):
            return self._point(value, self.value), self._point(f"not-{value}", not self.value)
        return (
            self._point(value, self.value),
            Point(
                name=f"not-{value}",
                description=f"{name} has its usual value",
                value=Given(),
                distance=lambda seen: 1 if isinstance(seen, Given) and seen.other else 0,
            ),
            Point(
                name=f"not-{value}-other",
                description=f"{name} is neither {value} nor its usual value",
                value=Given(other=True),
                distance=lambda seen: 0 if isinstance(seen, Given) and seen.other else 1,
                ask=with_other_value(name),
                requires=require(self.lifecycle, "other", name),
            ),
        )

    def _point(self, id_: str, value: Json) -> Point:
        """Return the point at which the argument has a value that the condition itself gives."""
        text = text_of(value)
        return Point(
            name=id_,
            description=f"{self.argument} is {text}",
            value=Given(text=text),
            distance=lambda seen: 0 if isinstance(seen, Given) and seen.text == text else FAR,
            ask=with_value(self.argument, value),
            requires=require(self.lifecycle, "argument", self.argument),
        )

    def holds(self, value: Value) -> bool | None:
        """Whether a value is this one."""
        return value.text == text_of(self.value) if isinstance(value, Given) else None


def read_is(raw: Mapping[str, Json], lifecycle: Lifecycle) -> FieldIs:
    """Read the atom."""
    return FieldIs(argument=str(raw["field"]), value=raw["is"], lifecycle=lifecycle)


_CENT = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAbove(FieldAtom):
    """An atom that holds where an argument is above a number; `limit` is as the contract has it."""

    limit: str

    @property
    def label(self) -> str:
        """What it says."""
        return f"{self.argument} above {self.limit}"

    @property
    def points(self) -> tuple[Point, ...]:
        """At the limit, and one step to each side, if positive."""
        limit = Decimal(self.limit)
        exponent = limit.as_tuple().exponent
        finest = exponent if isinstance(exponent, int) else 0
        step = Decimal(1).scaleb(min(finest, _CENT)) if "." in self.limit else Decimal(1)
        tried = (("at", limit), ("just-above", limit + step), ("just-below", limit - step))
        return tuple(self._point(word, value) for word, value in tried if value > 0)

    def _point(self, word: str, value: Decimal) -> Point:
        text = text_of(value)

        def near(seen: Value) -> float:
            sent = number_of(seen.text) if isinstance(seen, Given) else None
            return FAR if sent is None else float(abs(sent - value))

        return Point(
            name=f"{word}-{self.limit}",
            description=f"{self.argument} is {text}",
            value=Given(text=text),
            distance=near,
            ask=with_value(self.argument, value),
            requires=require(self.lifecycle, "argument", self.argument),
        )

    def holds(self, value: Value) -> bool | None:
        """Whether a value is greater; unknown for anything but a number."""
        sent = number_of(value.text) if isinstance(value, Given) else None
        return None if sent is None else sent > Decimal(self.limit)


def read_above(raw: Mapping[str, Json], lifecycle: Lifecycle) -> FieldAbove:
    """Read the atom."""
    return FieldAbove(argument=str(raw["field"]), limit=str(raw["above"]), lifecycle=lifecycle)
