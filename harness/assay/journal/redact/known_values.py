"""Private values that are known, and where they stand in a text, in whatever encoding.

A value of the current trial is found anywhere, also inside of a word. A value of an earlier trial
is found as whole words only, so that the cost does not grow with the run. Short values and short
numbers occur by chance inside of ids and digests: they are found only where they stand alone.
"""

from __future__ import annotations

import json
import re
from binascii import Error, a2b_base64
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

__all__ = [
    "MOST_VALUES",
    "SHORTEST",
    "UNDER_WAY",
    "KnownValues",
    "Span",
    "View",
    "replaced",
    "unescaped",
]

#: Shorter values are not searched for: they occur everywhere and reveal nothing.
SHORTEST = 4
#: Shorter values, and shorter numbers, are found only where they stand alone.
SHORTEST_TEXT, SHORTEST_NUMBER = 6, 9
#: Numbers of fewer digits are searched for in their own trial only, and never in a date or a time.
SHORTEST_CODE = 6
#: Stands for a value of a trial that runs side by side with the one that is written.
UNDER_WAY = "<private>"
#: How many values are remembered at most.
MOST_VALUES = 100_000
#: How many encodings inside of each other are decoded.
DEPTH = 3
#: The words of a text, of letters and digits only; and those with hyphens.
_WORD, _JOINED = re.compile(r"[^\W_]{3,}"), re.compile(r"[\w-]{4,}")
#: Nine digits and more in groups.
_GROUPED = re.compile(r"(?=(?:[0-9][ -]?){9})[0-9]+(?:[ -][0-9]+)*[ -]([0-9]+)")
#: What joins digits to a longer number, a date or a time.
_JOINS = ".:-/"


class Span(NamedTuple):
    """A private part of a text, and its pseudonym."""

    start: int
    end: int
    pseudonym: str


@dataclass(slots=True)
class KnownValues:
    """The values to search for, each with its pseudonym.

    `current` are those of the current trial and of the whole run, `lasting` only the latter.
    """

    current: dict[str, str] = field(default_factory=dict[str, str])
    lasting: dict[str, str] = field(default_factory=dict[str, str])
    earlier: dict[str, str] = field(default_factory=dict[str, str])
    _by_word: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    _by_joined: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    _clean: set[str] = field(default_factory=set[str])

    def add(self, value: str, pseudonym: str, *, lasting: bool = False) -> None:
        """Search for a value from now on; for a lasting one in every trial."""
        self._clean.clear()
        for form in _forms(value):
            self.current[form] = pseudonym
            if form in self.earlier:
                self.earlier[form] = pseudonym
            if lasting:
                self.lasting[form] = pseudonym

    def expect(self, value: str) -> None:
        """Search for a value of a trial whose turn has not come, and which has no pseudonym yet."""
        self._clean.clear()
        for form in _forms(value):
            if form not in self.earlier and form not in self.current and not _is_code(form):
                self._index(form)
                self.earlier[form] = UNDER_WAY

    def begin(self) -> None:
        """Begin a trial: what is not lasting belongs to an earlier one."""
        for value, pseudonym in self.current.items():
            if value not in self.lasting and value not in self.earlier and not _is_code(value):
                self._index(value)
                self.earlier[value] = pseudonym
        self.current = dict(self.lasting)
        if len(self.earlier) > MOST_VALUES:
            kept = dict(islice(self.earlier.items(), MOST_VALUES // 2, None))
            self.earlier, self._by_word, self._by_joined = kept, {}, {}
            for value in kept:
                self._index(value)

    def _index(self, value: str) -> None:
        word = max(_WORD.findall(value), key=len, default="")
        if word:
            self._by_word.setdefault(word, []).append(value)
        elif joined := _JOINED.search(value):
            self._by_joined.setdefault(joined[0], []).append(value)

    def spans(self, text: str, depth: int = DEPTH) -> list[Span]:
        """Return where values are in a text; the spans may overlap."""
        if not (self.current or self.earlier):
            return []
        spans = [*self._plain(text)]
        if not depth:
            return spans
        view = unescaped(text)
        if view is not None:
            spans += [
                Span(*view.source(span.start, span.end), span.pseudonym)
                for span in self.spans(view.text, depth - 1)
            ]
        for match in _BASE64.finditer(text):
            if (run := match[0]) not in self._clean:
                found = [*self._packed(match.start(), run, depth - 1)]
                spans += found
                # What is known does not change often, and most runs are words that come again.
                if not found and depth == DEPTH and len(run) <= MOST_REMEMBERED:
                    self._clean.add(run)
        return spans

    def _packed(self, begin: int, run: str, depth: int) -> Iterator[Span]:
        """Yield where values are in what a run of characters stands for."""
        for packed in _unpacked(run) if len(run) <= MOST_REMEMBERED else _decoded_run(run):
            for span in self.spans(packed.text, depth):
                start, end = packed.source(span.start, span.end)
                yield Span(begin + start, begin + end, span.pseudonym)

    def _plain(self, text: str) -> Iterator[Span]:
        for value in [value for value in self.current if value in text]:
            yield from _places(text, value, self.current[value])
        for pattern, index in ((_WORD, self._by_word), (_JOINED, self._by_joined)):
            if index and not index.keys().isdisjoint(pattern.findall(text)):
                yield from self._earlier(text, pattern, index)

    def _earlier(
        self, text: str, pattern: re.Pattern[str], index: Mapping[str, list[str]]
    ) -> Iterator[Span]:
        for word in pattern.finditer(text):
            for value in index.get(word[0], ()):
                start = word.start() - value.index(word[0])
                if start >= 0 and text.startswith(value, start) and _stands(text, value, start):
                    yield Span(start, start + len(value), self.earlier[value])


def replaced(text: str, spans: Iterable[Span]) -> str:
    """Return a text with every span replaced by its pseudonym; of two that overlap, the first."""
    parts: list[str] = []
    done = 0
    for start, end, pseudonym in sorted(spans, key=lambda span: (span.start, -span.end)):
        if start >= done:
            parts += [text[done:start], pseudonym]
        done = max(done, end)
    return "".join(parts) + text[done:]


def _places(text: str, value: str, pseudonym: str) -> Iterator[Span]:
    start = text.find(value)
    while start >= 0:
        if _stands(text, value, start):
            yield Span(start, start + len(value), pseudonym)
        start = text.find(value, start + 1)


def _stands(text: str, value: str, start: int) -> bool:
    """Whether a value may stand at a place: a short one only between other characters."""
    if len(value) >= (SHORTEST_NUMBER if value.isdigit() else SHORTEST_TEXT):
        return True
    before, after = text[max(start - 2, 0) : start], text[start + len(value) :][:2]
    if before[-1:].isalnum() or after[:1].isalnum():
        return False
    if not value.isdigit():
        return True
    joins = _JOINS if len(value) < SHORTEST_CODE else "."
    follows = before[-1:] in joins and before[-2:-1].isdigit() if before else False
    goes_on = after[:1] in joins and after[1:].isdigit() if after else False
    return not (follows or goes_on)


def _is_code(value: str) -> bool:
    """Whether a value is a number so short that only its own trial is searched for it."""
    return value.isdigit() and len(value) < SHORTEST_CODE


def _forms(value: str) -> Iterable[str]:
    """Return a value as it may be written without any encoding."""
    forms: Mapping[str, None] = dict.fromkeys((value, *_cases(value), *_without_groups(value)))
    return (*forms, *(form.replace(" ", "+") for form in forms if " " in form))


def _without_groups(value: str) -> Iterator[str]:
    """Yield a number in groups as one number, and its last group: an account without its sort code."""
    if grouped := _GROUPED.fullmatch(value):
        yield re.sub("[ -]", "", value)
        yield from (last for last in grouped.groups() if len(last) >= SHORTEST_CODE)


def _cases(value: str) -> Iterable[str]:
    """Return other cases of a name or of an account number, which do not depend on it."""
    if " " in value or (value[:2].isalpha() and value[2:4].isdigit()):
        return value.lower(), value.upper()
    return ()


# -- Encoded forms of a text: what its escapes, base64 and hexadecimal digits stand for ----------
# A secret that a target repeats is often encoded, and then not found as it is. Each `View` is a
# text in which a part of another one is decoded, and knows which characters that part has there.
# Escapes are those of URLs, JSON and HTML. Base64 is decoded from each of its four positions, because
# the beginning of what was encoded need not be the beginning of the secret.
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
