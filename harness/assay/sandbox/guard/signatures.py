"""A request as signatures see it: what was sent, before anything was decoded.

Servers tell the target of a request as it was sent in ``REQUEST_URI``. Where there is
none, as in calls within a process, it is made again from the decoded path: the usual
form, so that a client which escapes more than it has to, or writes ``%2F``, signed
something else. Nothing is verified here.

Algorithms by their names, and whether a signature is what a key made of some bytes.

Each name belongs to one kind of key, so that nobody can have a signature read in
another way than it was made. Not for messages: what the bytes are is for each kind of
signature to say.
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
#: What needs no escaping in a path (RFC 3986).
_PLAIN = "/:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One request."""

    method: str
    #: Scheme and host, as they were called.
    base: str
    #: Path and query, as they were sent.
    target: str
    #: By names in small letters; several of one name are joined by commas.
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path alone."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The query with its question mark, which stands alone where there is no query."""
        return "?" + self.target.partition("?")[2]


def read_message(environ: "WSGIEnvironment") -> Message | None:
    """Read a request, and leave its body to be read once more; None when it is too long."""
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
    scheme, found, rest = sent.partition("://")
    if found and scheme.lower() in ("http", "https"):
        # Proxies are sent the whole URL.
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

#: Digests that are known, by their names in small letters.
HASHES: Mapping[str, "Callable[[bytes], _Hash]"] = {"sha-256": sha256, "sha-512": sha512}
#: Two numbers of as many bytes are a signature with P-256 (RFC 9421, 3.3.4).
_HALF = 32


class SignatureError(Exception):
    """A signature is missing or bad; the message names what is wrong."""


def _rsa(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, rsa.RSAPublicKey):
        raise SignatureError("the algorithm is not that of the key")
    key.verify(signature, base, padding.PKCS1v15(), hashes.SHA256())


def _pss(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, rsa.RSAPublicKey):
        raise SignatureError("the algorithm is not that of the key")
    salted = padding.PSS(mgf=padding.MGF1(hashes.SHA512()), salt_length=64)
    key.verify(signature, base, salted, hashes.SHA512())


def _ecdsa(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise SignatureError("the algorithm is not that of the key")
    if len(signature) != 2 * _HALF:
        raise InvalidSignature
    r, s = (int.from_bytes(half, "big") for half in (signature[:_HALF], signature[_HALF:]))
    key.verify(encode_dss_signature(r, s), base, ec.ECDSA(hashes.SHA256()))


def _ed25519(key: PublicKey, signature: bytes, base: bytes) -> None:
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise SignatureError("the algorithm is not that of the key")
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
        raise SignatureError("signature does not match") from None
