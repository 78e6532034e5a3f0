"""Private values that are known, and where they stand in a text, in whatever encoding.

A value of the current trial is found anywhere, also inside of a word. A value of an earlier trial
is found as whole words only, so that the cost does not grow with the run. Short values and short
numbers occur by chance inside of ids and digests: they are found only where they stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from assay.journal.encodings import packed_views, unescaped

__all__ = ["MOST_VALUES", "SHORTEST", "UNDER_WAY", "KnownValues", "Span", "replaced"]

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

    def add(self, value: str, pseudonym: str, *, lasting: bool = False) -> None:
        """Search for a value from now on; for a lasting one in every trial."""
        for form in _forms(value):
            self.current[form] = pseudonym
            if form in self.earlier:
                self.earlier[form] = pseudonym
            if lasting:
                self.lasting[form] = pseudonym

    def expect(self, value: str) -> None:
        """Search for a value of a trial whose turn has not come, and which has no pseudonym yet."""
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
        for begin, packed in packed_views(text):
            for span in self.spans(packed.text, depth - 1):
                start, end = packed.source(span.start, span.end)
                spans.append(Span(begin + start, begin + end, span.pseudonym))
        return spans

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
