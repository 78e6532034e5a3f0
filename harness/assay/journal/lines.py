"""Lines of a journal: typed JSON objects from bytes, one at a time, and the bytes of an object.

A `Line` has its number, so that every error names its place. One line is in memory at a time,
however long the journal is.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeGuard, TypeVar, cast

from assay.errors import JournalError

#: The longest line that is read; the writer makes no longer ones.
MAX_LINE = 64 * 1024 * 1024

#: The first bytes of a line that says that a run was resumed.
RESUMED = b'{"type": "resumed"'

#: Numbers beyond it are none that a run records.
LARGEST = 1e15
#: Greater whole numbers cannot be converted by every Python (`-X int_max_str_digits`).
_LONGEST_INT = 10**640

T = TypeVar("T")


def refuse(path: str, what: str, line: int = 0) -> NoReturn:
    """Raise the one-line error that names the journal and the place in it."""
    where = f"{path}:{line}" if line else path
    raise JournalError(f"{where}: {what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One JSON object of a journal, or one object inside it.

    The getters refuse a value of the wrong type; without a default they refuse
    a missing one as well.
    """

    path: str
    number: int
    values: Mapping[str, object]

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for something wrong on this line."""
        refuse(self.path, what, self.number)

    def _get(self, key: str, kind: type[T], default: T | None) -> T:
        value = self.values.get(key, default)
        if _is(value, kind):
            return value
        if key in self.values:
            self.refuse(f"{key!r} is not {TYPE_NAMES[kind]}")
        return self.refuse(f"{key!r} is missing")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string."""
        return self._get(key, str, default)

    def number_of(self, key: str, default: int | None = None) -> int:
        """Return a whole number."""
        return self._get(key, int, default)

    def count(self, key: str) -> int:
        """Return a count."""
        number = self.number_of(key)
        if 0 <= number < LARGEST:
            return number
        return self.refuse(f"{key!r} is not a count")

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        return self._get(key, bool, default)

    def decimal(self, key: str, default: float | None = None) -> float:
        """Return a number, whole or not."""
        value = self.values.get(key, default)
        if (_is(value, float) or _is(value, int)) and abs(value) < LARGEST:
            return float(value)
        return self.refuse(f"{key!r} is not a number, or too large")

    def inner(self, key: str) -> Line:
        """Return the object at `key`, empty when there is none."""
        values = self._get(key, dict, cast("dict[str, object]", {}))
        return Line(path=self.path, number=self.number, values=values)

    def list_of(self, key: str, kind: type[T]) -> list[T]:
        """Return the list at `key`, each of `kind`; empty when there is none."""
        items = cast("list[object]", self._get(key, list, []))
        for item in items:
            if not _is(item, kind):
                self.refuse(f"{key!r} contains something that is not {TYPE_NAMES[kind]}")
        return cast("list[T]", items)

    def pairs(self, key: str) -> list[tuple[str, str]]:
        """Return the pairs of texts listed at `key`."""
        pairs: list[tuple[str, str]] = []
        for pair in self.list_of(key, cast("type[list[object]]", list)):
            match pair:
                case [str(name), str(value)]:
                    pairs.append((name, value))
                case _:
                    self.refuse(f"{key!r} contains something that is not two texts")
        return pairs

    def objects(self, key: str) -> list[Line]:
        """Return the objects listed at `key`."""
        return [
            Line(path=self.path, number=self.number, values=values)
            for values in self.list_of(key, cast("type[dict[str, object]]", dict))
        ]


def _is(value: object, kind: type[T]) -> TypeGuard[T]:
    """Whether a JSON value is of a type; true and false are not numbers."""
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


#: The types of JSON in words.
TYPE_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


# -- writing ---------------------------------------------------------------------
def encode_line(values: Mapping[str, object]) -> bytes:
    """Return an object as a line that can be read back, whatever is in it.

    A number that JSON does not have is written as its text. Lone surrogates, which no bytes
    encode, are escaped.
    """
    try:
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, default=str)
        return text.encode() + b"\n"
    except ValueError:
        return json.dumps(_readable(values), allow_nan=False, default=str).encode() + b"\n"


def _readable(value: object) -> object:
    """Return a value in which every number can be written, and read again."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case int() if abs(value) >= _LONGEST_INT:
            return str(Decimal(value))
        case Mapping():
            members = cast("Mapping[object, object]", value)
            return {name: _readable(member) for name, member in members.items()}
        case list() | tuple():
            return [_readable(member) for member in cast("list[object]", value)]
        case _:
            return value


# -- reading ---------------------------------------------------------------------
def raw_lines(stream: BinaryIO, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield each line's number and bytes, its line break included."""
    number = 0
    while chunk := stream.readline(MAX_LINE + 1):
        number += 1
        if len(chunk) > MAX_LINE:
            refuse(path, f"damaged: a line longer than {MAX_LINE:,} bytes", number)
        yield number, chunk


def parse(path: str, number: int, raw: bytes) -> Line:
    """Read one line, or refuse it as damaged."""
    try:
        values: object = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        what = "damaged: this line is not JSON"
        if number == 1:
            what = "not a journal: its first line is not JSON (a run writes journal.jsonl)"
        refuse(path, what, number)
    if not isinstance(values, dict):
        refuse(path, "damaged: this line is not a JSON object", number)
    return Line(path=path, number=number, values=cast("dict[str, object]", values))


def abandoned_lines(stream: BinaryIO, path: str) -> Callable[[int], bool]:
    """Return what says of a line's number whether a resumed run abandoned it; read from the start.

    What was not finished before a cut is done again. So such lines stay, and count for nothing.
    """
    ranges: list[range] = []
    for number, raw in raw_lines(stream, path):
        if raw.startswith(RESUMED) and raw.endswith(b"\n"):
            line = parse(path, number, raw)
            for pair in line.list_of("abandoned", cast("type[list[object]]", list)):
                match pair:
                    case [int(first), int(last)] if 1 < first <= last < number:
                        ranges.append(range(first, last + 1))
                    case _:
                        line.refuse("'abandoned' contains something that is no range of lines")
    stream.seek(0)
    return lambda number: any(number in each for each in ranges)


def complete_lines(stream: BinaryIO, path: str) -> Iterator[tuple[int, bytes, bool]]:
    """Yield number and bytes of each line that was written whole, and whether it was abandoned."""
    is_abandoned = abandoned_lines(stream, path)
    for number, raw in raw_lines(stream, path):
        if is_complete(raw):
            yield number, raw, is_abandoned(number)


def read_lines(path: Path, having: bytes = b"") -> Iterator[Line]:
    """Yield the lines that count, of those that have some bytes, or refuse a damaged one."""
    with path.open("rb") as stream:
        for number, raw, abandoned in complete_lines(stream, str(path)):
            if not abandoned and having in raw:
                yield parse(str(path), number, raw)


def is_complete(raw: bytes) -> bool:
    """Whether a line was written whole; only its line break may be missing."""
    if raw.endswith(b"\n"):
        return True
    try:
        parse("", 0, raw)
    except JournalError:
        return False
    return True


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)


# -- the chain of lines ----------------------------------------------------------------
#: The key with which every line ends.
CHAIN = "chain"
#: How many digits of a hash a line has. To find a place, 64 bits are enough.
_DIGITS = 16
_PLACE = re.compile(rb', "chain": "([0-9]{1,12}):([0-9a-f]{16})"\}\n?\Z')


@dataclass(slots=True)
class ChainWriter:
    """The end of a chain: the number of lines so far, and the hash of the last one."""

    lines: int = 0
    last: str = hashlib.sha256(b"").hexdigest()[:_DIGITS]

    def see(self, line: bytes) -> None:
        """Take in a line that was written."""
        self.lines += 1
        self.last = _hash(line)

    def place(self) -> str:
        """Return the place of the next line."""
        return f"{self.lines + 1}:{self.last}"


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """A place where lines do not follow each other as they were written."""

    line: int
    what: str


def chain_breaks(stream: BinaryIO, path: str) -> Iterator[ChainBreak]:
    """Yield where the lines of a journal are not those that were written, in their order.

    A break has the number of a line in the file; the message says which line it was when it was
    written. Nothing covers the content of the last line.
    """
    before, last, highest = "", 0, 0
    gaps: list[_Gap] = []
    moved: set[int] = set()
    for number, raw in raw_lines(stream, path):
        place = _PLACE.search(raw)
        written, follows = (int(place[1]), place[2].decode()) if place else (0, "")
        if place is None and not raw.endswith(b"\n"):
            break  # the writer was stopped in the middle of this line
        if place is None:
            yield ChainBreak(number, "has no place in the chain: it was not written by the run")
        elif written <= highest:
            is_moved = written not in moved and any(written in gap.lines for gap in gaps)
            moved.add(written)
            what = "is out of order" if is_moved else "is not the only one"
            yield ChainBreak(number, f"{what}: it was written as line {written}")
        elif written > highest + 1:
            gaps.append(_Gap(number, range(highest + 1, written)))
        elif follows != before and last == written - 1 and number > 1:
            yield ChainBreak(number - 1, "was changed after it was written")
        before, last, highest = _hash(raw), written, max(highest, written)
    for gap in gaps:
        yield from gap.missing(moved)


@dataclass(frozen=True, slots=True)
class _Gap:
    """Lines, by the numbers with which they were written, that are not before a line of the file."""

    line: int
    lines: range

    def missing(self, moved: Collection[int]) -> Iterator[ChainBreak]:
        """Yield the lines that are nowhere else in the file either."""
        first = self.lines.start
        for end in (*sorted(each for each in moved if each in self.lines), self.lines.stop):
            if first < end:
                which = f"line {first} is" if first == end - 1 else f"lines {first}-{end - 1} are"
                what = f"does not follow the line before it: {which} missing"
                yield ChainBreak(self.line, what)
            first = end + 1


def is_chained(stream: BinaryIO, path: str) -> bool:
    """Whether any line of a journal has a place in a chain; older versions wrote none."""
    return any(_PLACE.search(raw) for _, raw in raw_lines(stream, path))


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:_DIGITS]
