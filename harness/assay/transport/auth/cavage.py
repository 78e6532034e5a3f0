"""Signatures of draft-cavage-http-signatures-12, and of STET, which is based on it.

No maintained library implements this draft; it is a few lines on top of `cryptography`.
"""

from __future__ import annotations

from base64 import b64encode

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from assay.binding.target import Signature
from assay.transport.auth.certificates import Key
from assay.transport.auth.signing import Message

__all__ = ["sign"]

#: The algorithm that is identified by its key alone.
BY_KEY = "hs2019"


def sign(message: Message, said: Signature, key: Key) -> list[tuple[str, str]]:
    """Return the header `Signature` of a message."""
    derived = {
        "(request-target)": f"{message.method.lower()} {message.target}",
        "(created)": str(int(message.now.timestamp())),
    }
    values = {**message.headers, **derived}
    names = [name for name in said.covers if name in values]
    base = "\n".join(f"{name}: {values[name]}" for name in names)
    made = b64encode(_made(key, said.algorithm, base.encode("latin-1", "replace"))).decode()
    created = f"created={derived['(created)']}," if "(created)" in names else ""
    told = f'keyId="{said.key_id}",algorithm="{said.algorithm}",{created}'
    return [("Signature", f'{told}headers="{" ".join(names)}",signature="{made}"')]


def _made(key: Key, algorithm: str, base: bytes) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        if algorithm == BY_KEY:
            salted = padding.PSS(mgf=padding.MGF1(hashes.SHA512()), salt_length=64)
            return key.sign(base, salted, hashes.SHA512())
        return key.sign(base, padding.PKCS1v15(), hashes.SHA256())
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return key.sign(base, ec.ECDSA(hashes.SHA512()))
    return key.sign(base)
