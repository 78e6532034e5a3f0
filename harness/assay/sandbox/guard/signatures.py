"""Signed requests as they were sent, and verification of signatures by algorithm.

Servers provide the request target as it was sent in ``REQUEST_URI``. Calls within a
process have none, so it is rebuilt from the decoded path in the usual form; a signature
over another encoding (unnecessary escapes, ``%2F``) then does not verify. Each algorithm
accepts one kind of key only, so that a signature cannot be verified by another algorithm
than it was made with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256, sha512
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from assay.sandbox.messages import own_base, read_body

if TYPE_CHECKING:
    from hashlib import _Hash  # pyright: ignore[reportPrivateUsage] -- its only name

    from _typeshed.wsgi import WSGIEnvironment


#: Longest body that is verified, in bytes.
BODY_LIMIT = 4 * 1024 * 1024
#: Characters that need no escaping in a path (RFC 3986).
_PLAIN = "/:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One request."""

    method: str
    #: Scheme and host that were called.
    base: str
    #: Path and query as sent.
    target: str
    #: By name in lower case; repeated headers are joined by commas.
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The query with its question mark, which is present without a query too."""
        return "?" + self.target.partition("?")[2]


def read_message(environ: "WSGIEnvironment") -> Message | None:
    """Read a request, leaving its body readable; None if it is too long."""
    body = read_body(environ, BODY_LIMIT)
    if len(body) > BODY_LIMIT:
        return None
    environ["wsgi.input"] = BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return Message(
        method=environ["REQUEST_METHOD"],
        base=own_base(environ),
        target=_target(environ),
        headers=_headers(environ),
        body=body,
    )


def _target(environ: "WSGIEnvironment") -> str:
    sent: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    if not sent:
        path: str = environ.get("PATH_INFO", "")
        query: str = environ.get("QUERY_STRING", "")
        quoted = quote(path.encode("latin-1", "replace"), safe=_PLAIN) or "/"
        return f"{quoted}?{query}" if query else quoted
    scheme, separator, rest = sent.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        # Proxies receive the whole URL.
        _, slash, rest = rest.partition("/")
        return slash + rest or "/"
    return sent


def _headers(environ: "WSGIEnvironment") -> dict[str, str]:
    headers = {
        name[5:].replace("_", "-").lower(): value.strip()
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            headers[name.replace("_", "-").lower()] = str(environ[name]).strip()
    return headers


PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey

#: Supported digests, by name in lower case.
HASHES: Mapping[str, "Callable[[bytes], _Hash]"] = {"sha-256": sha256, "sha-512": sha512}
#: A P-256 signature is two numbers of this many bytes (RFC 9421, 3.3.4).
_HALF = 32


class SignatureError(Exception):
    """A signature is missing or invalid; the message says what is wrong."""


def _rsa(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, rsa.RSAPublicKey):
        raise SignatureError("the algorithm does not fit the key")
    key.verify(signature, base, padding.PKCS1v15(), hashes.SHA256())


def _pss(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, rsa.RSAPublicKey):
        raise SignatureError("the algorithm does not fit the key")
    salted = padding.PSS(mgf=padding.MGF1(hashes.SHA512()), salt_length=64)
    key.verify(signature, base, salted, hashes.SHA512())


def _ecdsa(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise SignatureError("the algorithm does not fit the key")
    if len(signature) != 2 * _HALF:
        raise InvalidSignature
    r, s = (int.from_bytes(half, "big") for half in (signature[:_HALF], signature[_HALF:]))
    key.verify(encode_dss_signature(r, s), base, ec.ECDSA(hashes.SHA256()))


def _ed25519(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise SignatureError("the algorithm does not fit the key")
    key.verify(signature, base)


_VERIFY: Mapping[str, Callable[[PublicKey, bytes, bytes], None]] = {
    # The same algorithm, by its names in the draft and in the RFC.
    "rsa-sha256": _rsa,
    "rsa-v1_5-sha256": _rsa,
    "rsa-pss-sha512": _pss,
    "ecdsa-p256-sha256": _ecdsa,
    "ed25519": _ed25519,
}


def default_algorithm(key: PublicKey) -> str:
    """Return the algorithm of a key if a signature names none."""
    if isinstance(key, rsa.RSAPublicKey):
        return "rsa-pss-sha512"
    return "ed25519" if isinstance(key, ed25519.Ed25519PublicKey) else "ecdsa-p256-sha256"


def verify(algorithm: str, key: PublicKey, signature: bytes, base: bytes) -> None:
    """Verify a signature over some bytes.

    Raises:
        SignatureError: the signature does not match, or the algorithm does not fit the key.

    """
    try:
        _VERIFY[algorithm](key, signature, base)
    except InvalidSignature:
        raise SignatureError("signature does not match") from None
