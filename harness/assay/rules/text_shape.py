"""Shape of a text that a document describes: a format, a pattern, or a list of values.

`fits` returns True, False, or None if undecidable (other spellings of a UUID, masked texts).
`misfits` are texts that certainly do not have the shape. A pattern is searched for, as in JSON
Schema: `^` and `$` say that it is the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from assay.contract.model import Json
from assay.files.document import Finding, Pointer
from assay.history.events import Masked
from assay.rules import parameters
from assay.rules.formats import is_date, is_like_a_uuid, is_uuid

#: The parameters of which a clause about a text can have one.
ALTERNATIVES = ("format", "pattern", "enum")
#: The formats of an argument.
UUID, DATE = "uuid", "date"
#: The longest text that is compared with a pattern.
LONGEST: Final = 4096
#: What a pattern is, for messages.
PATTERN_HINT: Final = (
    "as in JSON Schema, without look-arounds (?=…) and back-references, of at most 1000 repetitions"
)
#: How much memory a compiled pattern and the search for it may use.
_MEMORY: Final = 4 << 20
#: Texts of which each format lacks some part, and texts of several alphabets for a pattern.
_MISFITS: Mapping[str, Sequence[str]] = {
    UUID: ("assay", "6c1f8a52-7f0b-4c55-9a0c-1e6d3b2f90z0"),
    DATE: ("assay", "2026-02-30"),
}
#: What a record has in place of a private text, or of a part of one.
_PSEUDONYM = re.compile(r"<[a-z]+(?:-[a-z]+)*(?:-[0-9]+)?(?: [0-9a-f]+)?(?:~[^>]*)?>")
_ANY: Final = ("assay", "0", "ASSAY", "-", "a-1_A.z~9", "9" * 80)


@lru_cache(256)
def compile_pattern(pattern: str) -> Any:
    """Return a pattern of a file, whose search takes time in proportion to the text (RE2).

    Every pattern of a contract, a target file or a document is compiled here: with Python's own
    expressions, a short one can search for ever.

    Raises:
        ValueError: it is none, it is too large, or it needs what RE2 does not have.

    """
    import re2  # noqa: PLC0415 -- most contracts have no pattern

    options = re2.Options()
    options.log_errors, options.max_mem = False, _MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason: Any = error.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern of a file matches somewhere in a text."""
    readable = text.encode("utf-8", "replace").decode()  # a bank can send half a character
    return compile_pattern(pattern).search(readable) is not None


def is_hidden(value: Json) -> bool:
    """Whether a record hides a text, or a part of it."""
    if isinstance(value, Masked):
        return True
    return isinstance(value, str) and bool(_PSEUDONYM.search(value[:LONGEST]))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextShape:
    """A format, a pattern or a list of values; empty if nothing is said."""

    format: str = ""
    pattern: str = ""
    enum: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is said."""
        return bool(self.format or self.pattern or self.enum)

    def __str__(self) -> str:
        """Return the shape in words."""
        if self.enum:
            return f"one of {', '.join(self.enum)}"
        return f"a text that matches {self.pattern}" if self.pattern else f"a {self.format}"

    def fits(self, value: Json) -> bool | None:
        """Whether a value has the shape; None where that is open."""
        if is_hidden(value):
            known = isinstance(value, Masked) and self.format in value.forms
            return True if known else None
        if self.enum:
            return str(value) in self.enum
        if self.pattern:
            return self._matches(value)
        if self.format == DATE:
            return is_date(value)
        return True if is_uuid(value) else None if is_like_a_uuid(value) else False

    def _matches(self, value: Json) -> bool | None:
        if len(str(value)) > LONGEST:
            return None
        return isinstance(value, str) and matches(self.pattern, value)

    def misfits(self) -> tuple[str, ...]:
        """Return texts that certainly do not have the shape, at most two."""
        texts = (*_MISFITS.get(self.format, _ANY), *(f"{value}x" for value in self.enum))
        return tuple(text for text in texts if self.fits(text) is False)[:2]

    def schema(self) -> dict[str, Any]:
        """Return the shape as JSON Schema."""
        if self.enum:
            return {"type": "string", "enum": list(self.enum)}
        named = {"pattern": self.pattern, "format": self.format}
        return {"type": "string", **{key: value for key, value in named.items() if value}}


# -- parameters ------------------------------------------------------------------------
def format_of_text() -> Any:
    """Declare the format of an argument."""
    return parameters.choice(
        UUID, DATE, key="format", description="uuid or date", required=False, default=""
    )


def pattern() -> Any:
    """Declare the pattern of a text, as in JSON Schema."""
    return parameters.parameter(
        {
            "description": "a regular expression",
            "x-hint": 'for example "^[A-Z]{3}$"',
            "type": "string",
            "minLength": 1,
            "maxLength": 400,
        },
        lambda value, _: str(value),
        key="pattern",
        references=_check_pattern,
        required=False,
        default="",
    )


def enum() -> Any:
    """Declare the list of all values of a text."""
    return parameters.names(
        {
            "description": "a list of at least one text",
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"description": "a text", "type": "string", "minLength": 1},
        },
        key="enum",
        required=False,
    )


def _check_pattern(
    at: Pointer, value: str, _clause: parameters.Raw, _: parameters.Raw
) -> Iterator[Finding]:
    """Find a pattern that cannot be read."""
    try:
        compile_pattern(value)
    except ValueError as error:
        yield at, f"no regular expression: {error}", PATTERN_HINT
