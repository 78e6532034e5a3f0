"""Chain of a journal: each line has its number, and a hash of the line before it.

The digest in the footer says that something was changed; the chain says where. A line that was
changed, removed, inserted or moved breaks the chain at that place, and the lines after it fit
again. A forger can compute the chain again: only a signature prevents that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from assay.journal.lines import raw_lines

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
