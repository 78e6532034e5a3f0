"""Values of journal lines, read by the types that classes declare, and written to be read so.

A value of another type is refused with its place. A text that is listed among the masked ones
gets the formats that were noted of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from assay.contract.model import Json
from assay.history.events import Masked
from assay.journal.lines import LARGEST, TYPE_NAMES, Line
from assay.rules.state.calendar import leaves_room


# -- Fields that differ from their defaults: journals and sequences have only these ----------------
@cache
def field_defaults(kind: Any) -> Mapping[str, object]:
    """Return the fields of a dataclass, each with its default, or `MISSING` if it is required."""
    return {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in fields(kind)
    }


def changed_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a dataclass instance that are not at their defaults, in order."""
    kind: Any = type(value)
    for name, default in field_defaults(kind).items():
        content = getattr(value, name)
        if content != default:
            yield name, content


T = TypeVar("T")
Forms: TypeAlias = Mapping[str, list[str]]
Reader: TypeAlias = Callable[[Any, Forms], Any]


class InvalidValueError(ValueError):
    """A line that has no event: the place in it, and what is wrong there."""

    def __init__(self, what: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(f"{'.'.join(place)[:100]!r} {what}" if place else what)
        self.what, self.place = what, place

    def within(self, name: str) -> InvalidValueError:
        """Return the error with the place that the whole has in something else."""
        return InvalidValueError(self.what, (name, *self.place))


def read_line(line: Line, read: Callable[[Mapping[str, object]], T]) -> T:
    """Return what `read` makes of the values of a line.

    Raises:
        JournalError: it is damaged, or of another version of Assay.

    """
    try:
        return read(line.values)
    except InvalidValueError as error:
        line.refuse(f"damaged, or written by another version of Assay: {error}")


def inside(place: str, read: Callable[..., T], *args: Any, **given: object) -> T:
    """Read a part of a line, so that an error has its place."""
    try:
        return read(*args, **given)
    except InvalidValueError as error:
        raise error.within(place) from None


def read_record(kind: type[T], raw: object, forms: Forms, **given: object) -> T:
    """Return a value of a class from its fields; a missing field has its default."""
    known: Any = kind
    members = cast("Mapping[str, object]", checked(dict, raw))
    read: dict[str, object] = {}
    for name, reader, required in _readers(known, frozenset(given)):
        if name in members:
            read[name] = inside(name, reader, members[name], forms)
        elif required:
            raise InvalidValueError("is missing", (name,))
    return kind(**read, **given)


@cache
def _readers(kind: Any, given: frozenset[str]) -> tuple[tuple[str, Reader, bool], ...]:
    """Return the fields that are not given, with their readers, and whether each is required."""
    hints = get_type_hints(kind)
    return tuple(
        (name, _reader(hints[name]), default is MISSING)
        for name, default in field_defaults(kind).items()
        if name not in given
    )


def _reader(hint: Any) -> Reader:
    """Return the reader of a field of a type."""
    inner = get_args(hint)
    if isinstance(hint, UnionType) or NoneType in inner:
        (kind,) = (each for each in inner if each is not NoneType)
        read = _reader(kind)
        return lambda raw, forms: None if raw is None else read(raw, forms)
    if get_origin(hint) is tuple:
        read = _reader(inner[0])
        length = None if inner[-1] is Ellipsis else len(inner)
        return lambda raw, forms: tuple(read(item, forms) for item in _listed(raw, length))
    if inner:
        read = _reader(inner[1])
        return lambda raw, forms: {
            name: read(value, forms) for name, value in checked(dict, raw).items()
        }
    if hint is object:
        return _value
    if is_dataclass(hint):
        return partial(read_record, cast("type[Any]", hint))
    named = partial(_named, hint) if issubclass(hint, Enum) else partial(checked, hint)
    return partial(_plain, READERS.get(hint, named))


def _plain(read: Callable[[Any], Any], raw: Any, _: Forms) -> Any:
    return read(raw)


def checked(kind: type[Any], raw: Any) -> Any:
    """Return a JSON value of a type as it is; refuse one of another type."""
    if type(raw) is not kind:
        raise InvalidValueError(f"is not {TYPE_NAMES[kind]}")
    return raw


def _listed(raw: Any, length: int | None) -> list[Any]:
    items: list[Any] = checked(list, raw)
    if length is not None and len(items) != length:
        raise InvalidValueError(f"contains something that is not a list of {length}")
    return items


def _named(kind: type[Enum], raw: Any) -> Enum:
    try:
        return kind[checked(str, raw)]
    except KeyError:
        raise InvalidValueError(f"is no {kind.__name__.lower()}") from None


def _whole(raw: Any) -> int:
    if type(raw) is not int or not abs(raw) < LARGEST:
        raise InvalidValueError("is not a whole number")
    return raw


def _decimal(raw: Any) -> float:
    if type(raw) not in (int, float) or not abs(raw) < LARGEST:
        raise InvalidValueError("is not a number")
    return float(raw)


def _moment(raw: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(checked(str, raw))
    except ValueError:
        raise InvalidValueError("is not a moment") from None
    if moment.tzinfo is None or not leaves_room(moment):
        raise InvalidValueError("is not a moment with an offset")
    return moment


def _day(raw: Any) -> date:
    try:
        return date.fromisoformat(checked(str, raw))
    except ValueError:
        raise InvalidValueError("is not a day") from None


def _duration(raw: Any) -> timedelta:
    try:
        return timedelta(seconds=_decimal(raw))
    except OverflowError:
        raise InvalidValueError("is not a duration") from None


READERS: Mapping[type[Any], Callable[[Any], Any]] = {
    int: _whole,
    float: _decimal,
    datetime: _moment,
    date: _day,
    timedelta: _duration,
}


def _value(raw: Any, forms: Forms) -> Json:
    match raw:
        case str():
            return Masked(raw, forms[raw]) if raw in forms else raw
        case list():
            return [_value(value, forms) for value in raw]
        case {"decimal": str(text)}:
            return _exact(text)
        case {"object": list(pairs)}:
            return dict(_pair(pair, forms) for pair in pairs)
        case dict() if raw:
            raise InvalidValueError("is no value of a journal")
        case float() if not math.isfinite(raw):
            raise InvalidValueError("is not a number")
        case _:
            return cast("Json", raw)


def _exact(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise InvalidValueError("is not a number") from None
    if not number.is_finite():
        raise InvalidValueError("is not a number")
    return number


def _pair(pair: Any, forms: Forms) -> tuple[str, Json]:
    match pair:
        case [str(name), value]:
            return name, _value(value, forms)
        case _:
            raise InvalidValueError("has a member that is not a name and a value")


def record_of(value: Any) -> Any:
    """Return a value as JSON that `read_record` reads; what has its default is left out."""
    if is_dataclass(value):
        return {name: record_of(content) for name, content in changed_fields(value)}
    match value:
        case Enum():
            return value.name
        case Mapping():
            named = cast("Mapping[str, object]", value)
            return {name: record_of(member) for name, member in named.items()}
        case list() | tuple():
            return [record_of(member) for member in cast("Sequence[object]", value)]
        case _:
            return value
