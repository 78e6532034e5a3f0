"""Reader of one list in a large JSON document, member by member, in bounded memory.

The list is a member of a member of the document, such as `log.entries`. Everything else is parsed
as well, one value at a time, so that a document that is no JSON is refused wherever it is broken.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NoReturn, TypeAlias

#: How many bytes are read at once.
CHUNK = 1024 * 1024
#: The longest single value (an entry of the log), in characters.
MAX_VALUE = 128 * 1024 * 1024
#: The error of a value that is cut off is this near to the end of what was read.
_NEAR = 16
#: What may follow the digits of a number that is cut off, in characters.
_TAIL = 2
_SPACE = " \t\n\r"
_UNENDED = "Unterminated string"
#: Takes a value at a place, and returns it with the place behind it.
_Scan: TypeAlias = Callable[[str, int], tuple[Any, int]]


class StreamError(ValueError):
    """The document is not what it must be: what is wrong, and the line, or 0."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line


@dataclass(slots=True)
class JsonStream:
    """The rest of a document: text that was read, a place in it, and the file behind it.

    `lines` are the line breaks before the text.
    """

    stream: BinaryIO
    text: str = ""
    place: int = 0
    ended: bool = False
    lines: int = 0
    size: int = CHUNK
    _scan: _Scan = field(default_factory=lambda: json.JSONDecoder().raw_decode)
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8-sig")
    )

    def read_list(self, outer: str, inner: str) -> Iterator[Any]:
        """Yield the members of the list at `outer` and `inner`, each as soon as it was read.

        Raises:
            StreamError: it is no JSON, or has no such list.
            UnicodeDecodeError: it is not UTF-8.

        """
        if self._next() != "{":
            self._value()
            self._finish()
            raise StreamError(f"no {outer!r} in this file")
        objects = lists = 0
        for name in self._names():
            if name != outer or self._next() != "{":
                self._value()
                continue
            objects += 1
            if objects > 1:
                self._refuse(f"a second {outer!r} in this file")
            for member in self._names():
                if member != inner or self._next() != "[":
                    self._value()
                    continue
                lists += 1
                if lists > 1:
                    self._refuse(f"a second '{outer}.{inner}' in this file")
                yield from self._members()
        self._finish()
        if not objects:
            raise StreamError(f"no {outer!r} in this file")
        if not lists:
            raise StreamError(f"no list '{outer}.{inner}' in this file")

    def _names(self) -> Iterator[str]:
        """Yield the names of an object; its caller takes each value."""
        self.place += 1
        if self._next() == "}":
            self.place += 1
            return
        while True:
            if self._next() != '"':
                self._broken("Expecting property name enclosed in double quotes")
            name: str = self._value()
            if self._next() != ":":
                self._broken("Expecting ':' delimiter")
            self.place += 1
            yield name
            if not self._goes_on("}"):
                return

    def _members(self) -> Iterator[Any]:
        self.place += 1
        if self._next() == "]":
            self.place += 1
            return
        while True:
            yield self._value()
            if not self._goes_on("]"):
                return

    def _goes_on(self, end: str) -> bool:
        sign = self._next()
        if sign not in {",", end}:
            self._broken("Expecting ',' delimiter")
        self.place += 1
        return sign == ","

    def _next(self) -> str:
        """Return the next sign that is no space, without taking it; "" at the end."""
        while True:
            while self.place < len(self.text):
                sign = self.text[self.place]
                if sign not in _SPACE:
                    return sign
                self.place += 1
            if not self._more():
                return ""

    def _value(self) -> Any:
        """Take one value; read on until it is there as a whole."""
        self._next()
        while True:
            try:
                value, end = self._scan(self.text, self.place)
            except json.JSONDecodeError as error:
                near = error.pos >= len(self.text) - _NEAR or error.msg.startswith(_UNENDED)
                if near and self._more():
                    continue
                self._broken(error.msg, error.lineno)
            except RecursionError:
                self._refuse("not JSON that can be read")
            except ValueError:  # a number beyond all limits
                self._refuse("not JSON that can be read")
            # A number at the end of the text may go on behind it, also as `1.` or `1e+`.
            unended = isinstance(value, int | float) and len(self.text) - end <= _TAIL
            if unended and self._more():
                continue
            self.place = end
            self.size = CHUNK
            return value

    def _more(self) -> bool:
        """Read on; return whether there is more. What was taken is dropped."""
        if self.ended:
            return False
        self.lines += self.text.count("\n", 0, self.place)
        rest = self.text[self.place :]
        if len(rest) > MAX_VALUE:
            self._refuse(f"one value is longer than {MAX_VALUE // 1024 // 1024} MiB")
        part = self.stream.read(self.size)
        self.size = max(self.size, len(rest))  # a long value is not scanned again and again
        self.ended = not part
        self.text, self.place = rest + self._decoder.decode(part, final=self.ended), 0
        return True

    def _finish(self) -> None:
        if self._next():
            self._broken("Extra data")

    def _broken(self, what: str, line: int = 0) -> NoReturn:
        here = line or self.text.count("\n", 0, self.place) + 1
        raise StreamError(f"not JSON: {what}", self.lines + here)

    def _refuse(self, what: str) -> NoReturn:
        raise StreamError(what, self.lines + self.text.count("\n", 0, self.place) + 1)
