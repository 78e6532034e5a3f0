"""Encoded forms of a text: what its escapes, base64 and hexadecimal digits stand for.

A secret that a target repeats is often encoded, and then not found as it is. Each `View` is a
text in which a part of another one is decoded, and knows which characters that part has there.
Escapes are those of URLs, JSON and HTML. Base64 is decoded from each of its four positions, because
the beginning of what was encoded need not be the beginning of the secret.
"""

from __future__ import annotations

import json
import re
from binascii import Error, a2b_base64
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["View", "packed_views", "unescaped"]

#: The shortest text that is recognised in base64 or hexadecimal digits.
SHORTEST_PACKED = 4
#: The longest run of characters whose decoded forms are remembered.
MOST_REMEMBERED = 512
#: Escapes: of URLs, of JSON strings, of HTML. Several in a row can be one character.
_ESCAPE = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+"
    r"|(?:\\u[0-9A-Fa-f]{4})+"
    r"|\\[\"\\/bfnrt]"
    r"|&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)
#: Runs of characters that can be base64, in either alphabet, and of hexadecimal digits.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
_HEX = re.compile(r"[0-9A-Fa-f]{8,}")
_STANDARD = str.maketrans("-_", "+/")
#: Decoded bytes in which something could be found: printable characters in UTF-8, in a row.
_READABLE = re.compile(
    rb"(?:[\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}){%d}" % SHORTEST_PACKED
)
#: The characters of base64, or of hexadecimal digits, that some bytes are written with.
_BASE64_STEP, _HEX_STEP = (4, 3), (2, 1)


@dataclass(frozen=True, slots=True)
class View:
    """A decoded text; `starts` and `sources` are where its pieces begin, here and in the source.

    A piece is a part that stands in the source as it is, or one decoded escape.
    """

    text: str
    starts: tuple[int, ...]
    sources: tuple[int, ...]
    plain: tuple[bool, ...]

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the source of a part of the decoded text."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1
        begin = self.sources[first] + (start - self.starts[first] if self.plain[first] else 0)
        if self.plain[last]:
            return begin, self.sources[last] + end - self.starts[last]
        return begin, self.sources[last + 1]


def unescaped(text: str) -> View | None:
    """Return a text with its escapes decoded; None if it has none."""
    if not ("%" in text or "\\" in text or "&" in text):
        return None
    pieces: list[str] = []
    starts: list[int] = []
    sources: list[int] = []
    plain: list[bool] = []
    here = done = 0

    def add(piece: str, source: int, *, as_it_is: bool) -> None:
        nonlocal here
        pieces.append(piece)
        starts.append(here)
        sources.append(source)
        plain.append(as_it_is)
        here += len(piece)

    for escape in _ESCAPE.finditer(text):
        if escape.start() > done:
            add(text[done : escape.start()], done, as_it_is=True)
        source = escape.start()
        for char, length in _decoded_escape(escape[0]):
            add(char, source, as_it_is=False)
            source += length
        done = escape.end()
    if not done:
        return None
    if done < len(text):
        add(text[done:], done, as_it_is=True)
    sources.append(len(text))
    return View("".join(pieces), tuple(starts), tuple(sources), tuple(plain))


@lru_cache(4096)
def _decoded_escape(escape: str) -> tuple[tuple[str, int], ...]:
    """Return the characters that an escape stands for, each with its length in the escape."""
    match escape[0], escape[1]:
        case "%", _:
            raw = bytes.fromhex(escape.replace("%", ""))
            text = raw.decode("utf-8", "surrogateescape")
            return tuple((c, 3 * len(c.encode("utf-8", "surrogateescape"))) for c in text)
        case "\\", "u":
            return tuple((c, 6 if ord(c) < 0x10000 else 12) for c in _of_json(escape))  # noqa: PLR2004 -- two escapes
        case "\\", _:
            return ((_of_json(escape), 2),)
        case _:
            from html import unescape  # noqa: PLC0415 -- its table is large, and seldom needed

            char = unescape(escape)
            return ((char, len(escape)),)


def _of_json(escape: str) -> str:
    text: str = json.loads(f'"{escape}"')
    return text


@dataclass(frozen=True, slots=True)
class PackedText:
    """What a part of a run stands for: the text, where it begins and ends, characters per bytes."""

    text: str
    offset: int
    end: int
    step: tuple[int, int]

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of the run that write a part of the text."""
        chars, size = self.step
        before = len(self.text[:start].encode("utf-8", "surrogateescape"))
        until = before + len(self.text[start:end].encode("utf-8", "surrogateescape"))
        whole = end == len(self.text)  # then with the padding
        last = self.end if whole else self.offset - (-until * chars // size)
        return self.offset + before * chars // size, last


def packed_views(text: str) -> Iterator[tuple[int, PackedText]]:
    """Yield what each run of base64 or hexadecimal digits may stand for, and where it begins."""
    for run in _BASE64.finditer(text):
        decode = _unpacked if len(run[0]) <= MOST_REMEMBERED else _decoded_run
        for packed in decode(run[0]):
            yield run.start(), packed


def _decoded_run(run: str) -> tuple[PackedText, ...]:
    return (*_from_base64(run), *_from_hex(run))


_unpacked = lru_cache(32_768)(_decoded_run)


def _from_base64(run: str) -> Iterator[PackedText]:
    standard = run.rstrip("=").translate(_STANDARD)
    for offset in range(4):
        part = standard[offset:]
        size = len(part) - (len(part) % 4 == 1)
        try:
            raw = a2b_base64(part[:size] + "=" * (-size % 4))
        except Error:
            continue
        if _READABLE.search(raw):
            text = raw.decode("utf-8", "surrogateescape")
            yield PackedText(text, offset, len(run), _BASE64_STEP)


def _from_hex(run: str) -> Iterator[PackedText]:
    for digits in _HEX.finditer(run):
        for offset in range(2):
            part = digits[0][offset:]
            raw = bytes.fromhex(part[: len(part) - len(part) % 2])
            if _READABLE.search(raw):
                text = raw.decode("utf-8", "surrogateescape")
                end = digits.end() - len(part) % 2
                yield PackedText(text, digits.start() + offset, end, _HEX_STEP)
