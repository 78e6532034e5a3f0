"""Structured fields (RFC 8941), as far as signatures are made of them.

Dictionaries of lists of strings, and of bytes. They are written again from what was
read, since the signature is over the one way of writing them. Not for other headers.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Undecodable
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.sandbox.guard.keys import Unproven

__all__ = ["Bare", "Signed", "read_bytes", "read_signed"]

#: A token is kept apart from a string by its class.
Bare: TypeAlias = "int | str | bytes | bool | Token"

_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
_INTEGER = re.compile(r"-?[0-9]{1,15}(?![0-9.])")
_STRING = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
_BYTES = re.compile(r":([A-Za-z0-9+/=]*):")
_BOOLEAN = re.compile(r"\?([01])")
_TOKEN = re.compile(r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*")
_ESCAPED = re.compile(r"\\(.)")


class Token(str):
    """A word with no quotation marks."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """One member of ``Signature-Input``: what was signed, and how."""

    components: Sequence[str]
    parameters: Mapping[str, Bare]

    def __str__(self) -> str:
        """Write it as RFC 8941 does."""
        inner = " ".join(_written(one) for one in self.components)
        return f"({inner})" + "".join(
            f";{name}" if value is True else f";{name}={_written(value)}"
            for name, value in self.parameters.items()
        )


class _Reader:
    """Reads a field from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise Unproven("a structured field does not read")
        self.at = found.end()
        return found

    def skip(self, literal: str) -> bool:
        """Skip this text, if it is next."""
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def expect(self, literal: str) -> None:
        if not self.skip(literal):
            raise Unproven("a structured field does not read")

    def blank(self) -> bool:
        """Skip spaces; True when there were any."""
        start = self.at
        while self.skip(" ") or self.skip("\t"):
            pass
        return self.at > start

    def over(self) -> bool:
        """Whether a dictionary ends here; skips to its next member."""
        self.blank()
        if self.at == len(self.text):
            return True
        self.expect(",")
        self.blank()
        return False

    def string(self) -> str:
        return _ESCAPED.sub(r"\1", self.take(_STRING)[1])

    def bytes(self) -> bytes:
        try:
            return b64decode(self.take(_BYTES)[1], validate=True)
        except Undecodable:
            raise Unproven("a structured field does not read") from None

    def bare(self) -> Bare:
        match self.text[self.at : self.at + 1]:
            case '"':
                return self.string()
            case ":":
                return self.bytes()
            case "?":
                return self.take(_BOOLEAN)[1] == "1"
            case first if first and first in "-0123456789":
                return int(self.take(_INTEGER)[0])
            case _:
                return Token(self.take(_TOKEN)[0])

    def parameters(self) -> dict[str, Bare]:
        found: dict[str, Bare] = {}
        while self.skip(";"):
            self.blank()
            name = self.take(_KEY)[0]
            # Of a name that comes twice, the last counts, and stands where it came last.
            found.pop(name, None)
            found[name] = self.bare() if self.skip("=") else True
        return found

    def components(self) -> list[str]:
        found: list[str] = []
        self.expect("(")
        while True:
            spaced = self.blank()
            if self.skip(")"):
                return found
            if found and not spaced:
                raise Unproven("a structured field does not read")
            found.append(self.string())
            if self.parameters():
                raise Unproven("parameters of components are not understood here")


def read_signed(text: str) -> Mapping[str, Signed]:
    """Read ``Signature-Input``.

    Raises:
        Unproven: it does not read, or says more than is understood here.

    """
    reader, found = _Reader(text.strip(" ")), dict[str, Signed]()
    while True:
        label = reader.take(_KEY)[0]
        reader.expect("=")
        components = reader.components()
        found[label] = Signed(components=components, parameters=reader.parameters())
        if reader.over():
            return found


def read_bytes(text: str) -> Mapping[str, bytes]:
    """Read a dictionary of bytes: ``Signature`` or ``Content-Digest``.

    Raises:
        Unproven: it does not read.

    """
    reader, found = _Reader(text.strip(" ")), dict[str, bytes]()
    while True:
        label = reader.take(_KEY)[0]
        reader.expect("=")
        found[label] = reader.bytes()
        reader.parameters()
        if reader.over():
            return found


def _written(value: Bare) -> str:
    match value:
        case bool():
            return f"?{value:d}"
        case int() | Token():
            return str(value)
        case bytes():
            return f":{b64encode(value).decode()}:"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
