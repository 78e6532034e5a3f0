"""Verification of HTTP message signatures (RFC 9421) with body digests (RFC 9530).

A request may have several signatures; one valid signature with sufficient coverage is
enough. Written from the RFCs, independently of the harness's signer. Structured fields
(RFC 8941) are parsed as far as signatures need them, and serialized again, because the
signature covers the canonical form. Component parameters are not supported and refused.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Undecodable
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import TypeAlias

from assay.sandbox.guard.signatures import (
    HASHES,
    Message,
    PublicKey,
    SignatureError,
    default_algorithm,
    verify,
)

#: A token differs from a string by its class.
Bare: TypeAlias = "int | str | bytes | bool | Token"

_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
_INTEGER = re.compile(r"-?[0-9]{1,15}(?![0-9.])")
_STRING = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
_BYTES = re.compile(r":([A-Za-z0-9+/=]*):")
_BOOLEAN = re.compile(r"\?([01])")
_TOKEN = re.compile(r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*")
_ESCAPED = re.compile(r"\\(.)")


class Token(str):
    """A structured field token: a word without quotation marks."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """One member of ``Signature-Input``: the signed components and the parameters."""

    components: Sequence[str]
    parameters: Mapping[str, Bare]

    def __str__(self) -> str:
        """Serialize by RFC 8941."""
        inner = " ".join(_written(name) for name in self.components)
        return f"({inner})" + "".join(
            f";{name}" if value is True else f";{name}={_written(value)}"
            for name, value in self.parameters.items()
        )


class _Reader:
    """Parser of a structured field, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise SignatureError("malformed structured field")
        self.at = match.end()
        return match

    def skip(self, literal: str) -> bool:
        """Skip a literal if it comes next."""
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def expect(self, literal: str) -> None:
        if not self.skip(literal):
            raise SignatureError("malformed structured field")

    def blank(self) -> bool:
        """Skip spaces; return whether there were any."""
        start = self.at
        while self.skip(" ") or self.skip("\t"):
            pass
        return self.at > start

    def over(self) -> bool:
        """Return whether a dictionary ends here; otherwise skip to its next member."""
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
            raise SignatureError("malformed structured field") from None

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
        result: dict[str, Bare] = {}
        while self.skip(";"):
            self.blank()
            name = self.take(_KEY)[0]
            # The last value of a repeated name counts, at its last position.
            result.pop(name, None)
            result[name] = self.bare() if self.skip("=") else True
        return result

    def components(self) -> list[str]:
        result: list[str] = []
        self.expect("(")
        while True:
            spaced = self.blank()
            if self.skip(")"):
                return result
            if result and not spaced:
                raise SignatureError("malformed structured field")
            result.append(self.string())
            if self.parameters():
                raise SignatureError("parameters of components are not supported")


def read_signed(text: str) -> Mapping[str, Signed]:
    """Parse ``Signature-Input``.

    Raises:
        SignatureError: it is malformed, or uses an unsupported feature.

    """
    reader, result = _Reader(text.strip(" ")), dict[str, Signed]()
    while True:
        label = reader.take(_KEY)[0]
        reader.expect("=")
        components = reader.components()
        result[label] = Signed(components=components, parameters=reader.parameters())
        if reader.over():
            return result


def read_bytes(text: str) -> Mapping[str, bytes]:
    """Parse a dictionary of byte sequences: ``Signature`` or ``Content-Digest``.

    Raises:
        SignatureError: it is malformed.

    """
    reader, result = _Reader(text.strip(" ")), dict[str, bytes]()
    while True:
        label = reader.take(_KEY)[0]
        reader.expect("=")
        result[label] = reader.bytes()
        reader.parameters()
        if reader.over():
            return result


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


#: Maximum age of a signature, and maximum difference of clocks.
_AGE = timedelta(minutes=5)
_MOST = 4
_ALGORITHMS = ("rsa-v1_5-sha256", "rsa-pss-sha512", "ecdsa-p256-sha256", "ed25519")
_DERIVED: Mapping[str, Callable[[Message], str]] = {
    "@method": lambda message: message.method,
    "@target-uri": lambda message: message.base + message.target,
    "@authority": lambda message: _authority(message.base),
    "@scheme": lambda message: message.base.partition("://")[0],
    "@request-target": lambda message: message.target,
    "@path": lambda message: message.path,
    "@query": lambda message: message.query,
}


def check_rfc9421(message: Message, keys: Mapping[str, PublicKey], now: datetime) -> None:
    """Verify the signatures of a request; `now` has an offset.

    Raises:
        SignatureError: no signature is valid.

    """
    signature_input, signature_header = (
        message.headers.get(name) for name in ("signature-input", "signature")
    )
    if not signature_input or not signature_header:
        raise SignatureError("signature missing")
    signatures = read_bytes(signature_header)
    pairs = [
        (signed, signatures[label])
        for label, signed in read_signed(signature_input).items()
        if label in signatures
    ]
    if not pairs:
        raise SignatureError("Signature and Signature-Input have no label in common")
    _digest(message)
    first: SignatureError | None = None
    for signed, signature in pairs[:_MOST]:
        try:
            return _check(message, signed, signature, keys, now)
        except SignatureError as exc:
            first = first or exc
    raise first or SignatureError("signature missing")


def _check(
    message: Message, signed: Signed, signature: bytes, keys: Mapping[str, PublicKey], now: datetime
) -> None:
    _covers(signed.components, message)
    _fresh(signed, now)
    keyid = signed.parameters.get("keyid")
    key = keys.get(keyid) if isinstance(keyid, str) else None
    if key is None:
        raise SignatureError("unknown keyid")
    algorithm = signed.parameters.get("alg", default_algorithm(key))
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        raise SignatureError("unknown alg")
    verify(algorithm, key, signature, signature_base(message, signed))


def signature_base(message: Message, signed: Signed) -> bytes:
    """Return the signed bytes (RFC 9421, 2.5).

    Raises:
        SignatureError: a signed component is unknown or missing.

    """
    lines = [f'"{name}": {_value(name, message)}' for name in signed.components]
    return "\n".join([*lines, f'"@signature-params": {signed}']).encode("latin-1", "replace")


def _covers(names: Sequence[str], message: Message) -> None:
    """Check that all required components are signed, and none twice."""
    if len(set(names)) < len(names):
        raise SignatureError("a component is signed twice")
    if "@method" not in names:
        raise SignatureError("@method is not signed")
    if "@target-uri" not in names and not {"@path", "@query"} <= set(names):
        raise SignatureError("neither @target-uri nor both of @path and @query are signed")
    if message.body and "content-digest" not in names:
        raise SignatureError("content-digest is not signed")


def _value(name: str, message: Message) -> str:
    if name.startswith("@"):
        derive = _DERIVED.get(name)
        if derive is None:
            raise SignatureError("unknown signed component")
        return derive(message)
    if name not in message.headers:
        raise SignatureError("a signed header is missing")
    return message.headers[name]


def _authority(base: str) -> str:
    """Return the host in lower case, without a default port."""
    scheme, _, host = base.lower().partition("://")
    return host.removesuffix(":443" if scheme == "https" else ":80")


def _fresh(signed: Signed, now: datetime) -> None:
    created, expires = signed.parameters.get("created"), signed.parameters.get("expires")
    if isinstance(created, bool) or not isinstance(created, int):
        raise SignatureError("created is missing")
    age = now.timestamp() - created
    if abs(age) > _AGE.total_seconds():
        raise SignatureError("created is too far from now")
    if expires is not None and (not isinstance(expires, int) or expires < now.timestamp()):
        raise SignatureError("the signature has expired")


def _digest(message: Message) -> None:
    header = message.headers.get("content-digest")
    if header is None:
        return
    digests = [
        (HASHES[name], value) for name, value in read_bytes(header).items() if name in HASHES
    ]
    if not digests:
        raise SignatureError("unknown digest algorithm")
    for make, value in digests:
        if not compare_digest(value, make(message.body).digest()):
            raise SignatureError("digest does not match")
