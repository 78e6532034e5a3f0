"""Algorithms by their names, and whether a signature is what a key made of some bytes.

Each name belongs to one kind of key, so that nobody can have a signature read in
another way than it was made. Not for messages: what the bytes are is for each kind of
signature to say.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256, sha512
from typing import TYPE_CHECKING, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

if TYPE_CHECKING:
    from hashlib import _Hash  # pyright: ignore[reportPrivateUsage] -- its only name

__all__ = ["HASHES", "PublicKey", "Unproven", "default_algorithm", "verify"]

PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey

#: Digests that are known, by their names in small letters.
HASHES: Mapping[str, "Callable[[bytes], _Hash]"] = {"sha-256": sha256, "sha-512": sha512}
#: Two numbers of as many bytes are a signature with P-256 (RFC 9421, 3.3.4).
_HALF = 32


class Unproven(Exception):  # noqa: N818 - it is the request that is at fault
    """A signature is missing or bad; the message names what is wrong."""


def _rsa(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, rsa.RSAPublicKey):
        raise Unproven("the algorithm is not that of the key")
    key.verify(signature, base, padding.PKCS1v15(), hashes.SHA256())


def _pss(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, rsa.RSAPublicKey):
        raise Unproven("the algorithm is not that of the key")
    salted = padding.PSS(mgf=padding.MGF1(hashes.SHA512()), salt_length=64)
    key.verify(signature, base, salted, hashes.SHA512())


def _ecdsa(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise Unproven("the algorithm is not that of the key")
    if len(signature) != 2 * _HALF:
        raise InvalidSignature
    r, s = (int.from_bytes(half, "big") for half in (signature[:_HALF], signature[_HALF:]))
    key.verify(encode_dss_signature(r, s), base, ec.ECDSA(hashes.SHA256()))


def _ed25519(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise Unproven("the algorithm is not that of the key")
    key.verify(signature, base)


_VERIFY: Mapping[str, Callable[[PublicKey, bytes, bytes], None]] = {
    # As the draft calls it, and as the RFC does: the same.
    "rsa-sha256": _rsa,
    "rsa-v1_5-sha256": _rsa,
    "rsa-pss-sha512": _pss,
    "ecdsa-p256-sha256": _ecdsa,
    "ed25519": _ed25519,
}


def default_algorithm(key: PublicKey) -> str:
    """Name the algorithm of a key where a signature names none."""
    if isinstance(key, rsa.RSAPublicKey):
        return "rsa-pss-sha512"
    return "ed25519" if isinstance(key, ed25519.Ed25519PublicKey) else "ecdsa-p256-sha256"


def verify(algorithm: str, key: PublicKey, signature: bytes, base: bytes) -> None:
    """Check a signature of some bytes.

    Raises:
        Unproven: it is not the key's, or the algorithm is not.

    """
    try:
        _VERIFY[algorithm](key, signature, base)
    except InvalidSignature:
        raise Unproven("signature does not match") from None
