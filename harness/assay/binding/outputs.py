"""Outputs: values of answers that later calls send, such as the id of a consent.

A target file names them at the operation whose answers have them, and uses them in braces in the
requests of others. A value comes from the target, so it is hostile: one that is long, has several
lines or cannot stand in a header is not sent anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from assay.binding.pointer import MISSING, find
from assay.contract.model import Json
from assay.errors import CannotArrange

#: The longest value that is sent, in characters.
LONGEST: Final = 2048
#: Names that have a meaning in braces already.
RESERVED: Final = ("now", "unique", "alike", "trial", "today")
#: A name in braces.
NAMED: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9._-]*)\}")
#: What a header can have, and a step of a path can be.
_SENDABLE: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_DOTS: Final = frozenset({".", ".."})
#: Whole numbers beyond it are no ids.
_LARGEST: Final = 10**40


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputAt:
    """Where an answer has an output: the first of these pointers that finds one, or a header.

    Of the URL in a header, the last segment of the path is the value.
    """

    at: tuple[str, ...] = ()
    header: str | None = None


def id_of(value: Json) -> str | None:
    """Return the text of an id, which may be a whole number; None where there is none."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
        return str(value)
    return value if isinstance(value, str) and value else None


def usable(value: Json) -> str | None:
    """Return a value of an answer as it is sent later; None for one that is not sent."""
    text = id_of(value)
    if text is None or len(text) > LONGEST or text in _DOTS:
        return None
    return text if _SENDABLE.fullmatch(text) else None


def in_body(body: Json, pointers: tuple[str, ...]) -> Json:
    """Return the value of the first pointer that finds one."""
    values = (find(body, pointer) for pointer in pointers)
    return next((value for value in values if value is not MISSING), MISSING)


def end_of_url(headers: Iterable[tuple[str, str]], wanted: str) -> Json:
    """Return the last segment of the URL in a header."""
    for name, value in headers:
        if name.lower() == wanted.lower():
            try:
                path = urlsplit(value).path
            except ValueError:
                return MISSING
            return unquote(path.rstrip("/").rpartition("/")[2]) or MISSING
    return MISSING


def outputs_of(
    headers: Iterable[tuple[str, str]], body: Json, bound: Mapping[str, OutputAt]
) -> Mapping[str, str]:
    """Return the outputs of an answer that can be sent later."""
    values = {
        name: usable(end_of_url(headers, at.header) if at.header else in_body(body, at.at))
        for name, at in bound.items()
    }
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputValues:
    """The outputs that a request can use.

    `sources` are all that the target file names, each with the operation whose answers have it;
    `values` those that an answer has had. Of an answer without a usable value, the output is in
    `unusable`.
    """

    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    unusable: frozenset[str] = frozenset()

    def left_out(self, text: str) -> bool:
        """Whether a header or a query parameter is left out: no answer has had its output yet."""
        return any(
            name in self.sources and name not in self.values and name not in self.unusable
            for name in NAMED.findall(text)
        )

    def sent(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the headers or query parameters that are sent."""
        return {name: text for name, text in texts.items() if not self.left_out(text)}

    def filled(self, text: str) -> str:
        """Return a text with the value of each output in it.

        Raises:
            CannotArrange: there is no value.

        """
        return NAMED.sub(self._value, text) if "{" in text else text

    def path(self, path: str) -> str:
        """Return a path with the value of each output in it, percent-encoded.

        Raises:
            CannotArrange: there is no value.

        """

        def encoded(match: re.Match[str]) -> str:
            return quote(self._value(match), safe="") if match[1] in self.sources else match[0]

        return NAMED.sub(encoded, path) if "{" in path else path

    def _value(self, match: re.Match[str]) -> str:
        name = match[1]
        if name not in self.sources:
            return match[0]
        if name in self.values:
            return self.values[name]
        key = ("operations", self.sources[name], "outputs", name)
        why = (
            f"the last answer of {self.sources[name]} has no value that can be sent"
            if name in self.unusable
            else f"no answer of {self.sources[name]} has contained it yet"
        )
        raise CannotArrange(f"a value for {{{name}}} ({'.'.join(key)}): {why}", key=key)
