"""Verification of HTTP signatures by draft-cavage-http-signatures-12, which STET uses.

One header ``Signature`` contains the key identifier, the names of the signed headers and
the signature. Written from the draft, independently of the harness's signer.
"""

import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from hmac import compare_digest

from assay.sandbox.guard.signatures import HASHES, Message, PublicKey, SignatureError, verify

__all__ = ["check_cavage", "signing_string"]

#: The accepted algorithm; the draft deprecates most of the others.
_ALGORITHM = "rsa-sha256"
_NEEDED = ("(request-target)", "x-request-id")
_PARAMETER = re.compile(r'\s*([A-Za-z]+)\s*=\s*(?:"([^"]*)"|([0-9.]+))\s*(,|$)')
#: Maximum distance of a signed `date` header from now.
_AGE = timedelta(minutes=5)


def check_cavage(message: Message, keys: Mapping[str, PublicKey], now: datetime) -> None:
    """Verify the signature of a request; `now` has an offset.

    Raises:
        SignatureError: the signature is missing or invalid.

    """
    parameters = _parameters(message.headers.get("signature", ""))
    names = parameters.get("headers", "date").lower().split(" ")
    _covers(names, message)
    _digest(message)
    if "date" in names:
        _fresh(message.headers["date"], now)
    if parameters.get("algorithm", _ALGORITHM).lower() != _ALGORITHM:
        raise SignatureError(f"the algorithm is not {_ALGORITHM}")
    key = keys.get(parameters["keyId"])
    if key is None:
        raise SignatureError("unknown keyId")
    try:
        signature = b64decode(parameters["signature"], validate=True)
    except ValueError:
        # Also raised for characters outside ASCII.
        raise SignatureError("signature is not base64") from None
    verify(_ALGORITHM, key, signature, signing_string(message, names))


def signing_string(message: Message, names: Sequence[str]) -> bytes:
    """Return the signed bytes (draft, 2.3); all named headers must be present."""
    return "\n".join(_line(name, message) for name in names).encode("latin-1", "replace")


def _parameters(header: str) -> Mapping[str, str]:
    if not header:
        raise SignatureError("signature missing")
    parameters: dict[str, str] = {}
    at, continues = 0, True
    while continues:
        match = _PARAMETER.match(header, at)
        if match is None or match[1] in parameters:
            raise SignatureError("malformed header Signature")
        parameters[match[1]] = match[2] if match[2] is not None else match[3]
        at, continues = match.end(), bool(match[4])
    for name in ("keyId", "signature"):
        if name not in parameters:
            raise SignatureError(f"the header Signature has no {name}")
    return parameters


def _covers(names: list[str], message: Message) -> None:
    """Check that all required headers are signed, and that all signed headers are present."""
    needed = (*_NEEDED, "digest") if message.body else _NEEDED
    for name in needed:
        if name not in names:
            raise SignatureError(f"{name} is not signed")
    for name in names:
        if name != "(request-target)" and name not in message.headers:
            # Also (created) and (expires), which the draft forbids with this algorithm.
            raise SignatureError("a signed header is missing")


def _line(name: str, message: Message) -> str:
    if name == "(request-target)":
        return f"{name}: {message.method.lower()} {message.target}"
    return f"{name}: {message.headers[name]}"


def _digest(message: Message) -> None:
    header = message.headers.get("digest")
    if header is None:
        return
    known = 0
    for entry in header.split(","):
        name, _, value = entry.strip().partition("=")
        make = HASHES.get(name.lower())
        if make is None:
            continue
        known += 1
        try:
            same = compare_digest(b64decode(value, validate=True), make(message.body).digest())
        except ValueError:
            same = False
        if not same:
            raise SignatureError("digest does not match")
    if not known:
        raise SignatureError("unknown digest algorithm")


def _fresh(text: str, now: datetime) -> None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        raise SignatureError("malformed date") from None
    if date.tzinfo is None or abs(now - date) > _AGE:
        raise SignatureError("date is too far from now")
