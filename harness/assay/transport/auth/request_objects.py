"""Request objects: the signed parameters of an authorization request (RFC 9101), as a JWT (RFC 7519)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from assay.binding.security import OAuth, RequestObject
from assay.contract.model import Json
from assay.transport.auth.certificates import Key

__all__ = ["RequestSigner"]

#: How long a request object is valid: some servers accept no more than an hour, others no less than this.
LIFETIME: Final = timedelta(minutes=5)
#: The bytes of each number in a signature with the curve P-256.
_NUMBER: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSigner:
    """Signs the parameters of authorization requests with the key of a target file."""

    oauth: OAuth
    settings: RequestObject
    key: Key

    def sign(self, client: str, now: datetime, parameters: Mapping[str, Json]) -> str:
        """Return the request object of a client, valid from a moment of the target's clock."""
        url = urlsplit(self.oauth.authorize_url)
        moment = int(now.timestamp())
        claims: Mapping[str, Json] = {
            **parameters,
            "iss": client,
            "aud": self.settings.audience or f"{url.scheme}://{url.netloc}",
            "iat": moment,
            "nbf": moment,
            "exp": moment + int(LIFETIME.total_seconds()),
            "jti": str(uuid4()),
        }
        algorithm, key_id = self.settings.algorithm, self.settings.key_id
        header = {"alg": algorithm, "kid": key_id, "typ": "oauth-authz-req+jwt"}
        text = b".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        return b".".join((text, _encoded(_signature(self.key, algorithm, text)))).decode("ascii")


def _encoded(content: bytes) -> bytes:
    return urlsafe_b64encode(content).rstrip(b"=")


def _signature(key: Key, algorithm: str, text: bytes) -> bytes:
    """Return the signature of a text by an algorithm of RFC 7518 or RFC 8037."""
    if isinstance(key, rsa.RSAPrivateKey):
        if algorithm == "RS256":
            return key.sign(text, padding.PKCS1v15(), hashes.SHA256())
        salted = padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=32)
        return key.sign(text, salted, hashes.SHA256())
    if isinstance(key, ec.EllipticCurvePrivateKey):
        numbers = decode_dss_signature(key.sign(text, ec.ECDSA(hashes.SHA256())))
        return b"".join(number.to_bytes(_NUMBER, "big") for number in numbers)
    return key.sign(text)
