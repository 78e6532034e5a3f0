"""HTTP message signatures (RFC 9421), with digests of bodies as RFC 9530 has them.

A request may have several signatures; a single good one that covers enough is enough.
Written from the RFCs, for the bank's side alone. Components with parameters are not
understood, and refused.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from hmac import compare_digest

from assay.sandbox.guard.keys import HASHES, PublicKey, Unproven, default_algorithm, verify
from assay.sandbox.guard.message import Message
from assay.sandbox.guard.structured import Signed, read_bytes, read_signed

__all__ = ["check_rfc9421", "signature_base"]

#: How old a signature may be, and how far clocks may be apart.
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
    """Check the signatures of a request; `now` has an offset.

    Raises:
        Unproven: it has none, or not a good one.

    """
    made, given = (message.headers.get(name) for name in ("signature-input", "signature"))
    if not made or not given:
        raise Unproven("signature missing")
    signatures = read_bytes(given)
    pairs = [
        (one, signatures[label]) for label, one in read_signed(made).items() if label in signatures
    ]
    if not pairs:
        raise Unproven("Signature and Signature-Input have no label in common")
    _digest(message)
    first: Unproven | None = None
    for one, signature in pairs[:_MOST]:
        try:
            return _check(message, one, signature, keys, now)
        except Unproven as no:
            first = first or no
    raise first or Unproven("signature missing")


def _check(
    message: Message, one: Signed, signature: bytes, keys: Mapping[str, PublicKey], now: datetime
) -> None:
    _covers(one.components, message)
    _fresh(one, now)
    keyid = one.parameters.get("keyid")
    key = keys.get(keyid) if isinstance(keyid, str) else None
    if key is None:
        raise Unproven("keyid is not known")
    algorithm = one.parameters.get("alg", default_algorithm(key))
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        raise Unproven("alg is not known")
    verify(algorithm, key, signature, signature_base(message, one))


def signature_base(message: Message, one: Signed) -> bytes:
    """Make the bytes that are signed (RFC 9421, 2.5).

    Raises:
        Unproven: something that was signed is not known, or was not sent.

    """
    lines = [f'"{name}": {_value(name, message)}' for name in one.components]
    return "\n".join([*lines, f'"@signature-params": {one}']).encode("latin-1", "replace")


def _covers(names: Sequence[str], message: Message) -> None:
    """Check that enough was signed, and nothing twice."""
    if len(set(names)) < len(names):
        raise Unproven("a component is signed twice")
    if "@method" not in names:
        raise Unproven("@method is not signed")
    if "@target-uri" not in names and not {"@path", "@query"} <= set(names):
        raise Unproven("neither @target-uri nor both of @path and @query are signed")
    if message.body and "content-digest" not in names:
        raise Unproven("content-digest is not signed")


def _value(name: str, message: Message) -> str:
    if name.startswith("@"):
        derive = _DERIVED.get(name)
        if derive is None:
            raise Unproven("a component that is signed is not known")
        return derive(message)
    if name not in message.headers:
        raise Unproven("a header that is signed was not sent")
    return message.headers[name]


def _authority(base: str) -> str:
    """Give the host in small letters, and its port unless it is the usual one."""
    scheme, _, host = base.lower().partition("://")
    return host.removesuffix(":443" if scheme == "https" else ":80")


def _fresh(one: Signed, now: datetime) -> None:
    created, expires = one.parameters.get("created"), one.parameters.get("expires")
    if isinstance(created, bool) or not isinstance(created, int):
        raise Unproven("created is missing")
    age = now.timestamp() - created
    if abs(age) > _AGE.total_seconds():
        raise Unproven("created is too far from now")
    if expires is not None and (not isinstance(expires, int) or expires < now.timestamp()):
        raise Unproven("the signature has expired")


def _digest(message: Message) -> None:
    header = message.headers.get("content-digest")
    if header is None:
        return
    told = [(HASHES[name], value) for name, value in read_bytes(header).items() if name in HASHES]
    if not told:
        raise Unproven("digest is of no known kind")
    for make, value in told:
        if not compare_digest(value, make(message.body).digest()):
            raise Unproven("digest does not match")
