"""Transport that signs every request as the target file says, just before it is sent.

It wraps another transport: what is signed is what is sent, and nothing is added
afterwards. The control API and the customer's screens are not signed.

Signatures are those of draft-cavage-http-signatures-12, on which STET is based too, or
of RFC 9421. No maintained library implements the draft; it is a few lines on top of
`cryptography`. Those of the RFC are made by `http-message-signatures`.
"""

# The library's exports are not declared in a way that pyright recognises.
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from importlib import import_module
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from assay.binding.encode import HttpRequest
from assay.binding.security import OAuth, RequestObject
from assay.binding.target import Signature, SignatureKind, Target, TransportKind
from assay.contract.model import Json
from assay.transport.auth.certificates import Key
from assay.transport.protocol import Delivery, Transport, sendable, unanswered

__all__ = ["RequestSigner", "SigningTransport", "signed"]


#: The name of a body's digest header in each kind of signature.
DIGESTS: Mapping[SignatureKind, str] = {
    SignatureKind.CAVAGE: "digest",
    SignatureKind.RFC9421: "content-digest",
}
#: Headers that are added to a signed request unless the target file sets its own.
GENERATED = ("date", "x-request-id")

#: The algorithm of the draft that is identified by its key alone.
BY_KEY = "hs2019"
#: The label of our signature in a message of RFC 9421.
LABEL = "assay"

#: Returns a URL as the transport sends it: that is what must be signed.
NormalizeUrl: TypeAlias = Callable[[str], str]


@dataclass(slots=True, kw_only=True)
class SigningTransport:
    """Signs each request and passes it on. `own` are the headers that the target file sets."""

    inner: Transport
    settings: Signature
    key: Key
    normalize: NormalizeUrl
    own: frozenset[str] = frozenset()
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    unique: Callable[[], str] = lambda: str(uuid4())
    base_url: str = field(init=False)
    reached: bool = field(init=False)

    def __post_init__(self) -> None:
        self.base_url, self.reached = self.inner.base_url, self.inner.reached

    def send(self, request: HttpRequest) -> Delivery:
        """Sign a request, and send it once."""
        delivery = self._send(request)
        self.reached = self.inner.reached
        return delivery

    def _send(self, request: HttpRequest) -> Delivery:
        # A request with an invalid URL or header is refused by the inner transport.
        try:
            url = self.normalize(request.url)
            host = urlsplit(url).netloc
        except ValueError:
            return self.inner.send(request)
        if not all(sendable(value) for _, value in request.headers):
            return self.inner.send(request)
        now = self.clock()
        headers = list(self._headers(request, now))
        combined: dict[str, str] = {"host": host}
        for header, value in headers:
            name = header.lower()
            combined[name] = f"{combined[name]}, {value}" if name in combined else value
        message = Message(method=request.method, url=url, headers=combined, now=now)
        try:
            headers += signature_headers(message, self.settings, self.key)
        except ValueError:
            return unanswered(request, "a request that cannot be signed", sent=False)
        return self.inner.send(replace(request, url=url, headers=tuple(headers)))

    def _headers(self, request: HttpRequest, now: datetime) -> Iterator[tuple[str, str]]:
        """Yield a request's own headers, and those that are added for its signature.

        A request that is derived from another keeps the headers that were signed in
        that one.
        """
        covers, digest = self.settings.covers, DIGESTS[self.settings.kind]
        stale = {"signature", "signature-input", digest}
        stale |= {name for name in GENERATED if name in covers and name not in self.own}
        kept = [pair for pair in request.headers if pair[0].lower() not in stale]
        yield from kept
        present = {name.lower() for name, _ in kept}
        if "date" in covers and "date" not in present:
            yield "Date", format_datetime(now, usegmt=True)
        if "x-request-id" in covers and "x-request-id" not in present:
            yield "X-Request-ID", self.unique()
        if digest in covers and request.body:
            sha = b64encode(sha256(request.body).digest()).decode()
            if self.settings.kind is SignatureKind.CAVAGE:
                yield "Digest", f"SHA-256={sha}"
            else:
                yield "Content-Digest", f"sha-256=:{sha}:"

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the control API; these calls are not signed."""
        answer = self.inner.control(method, path, body)
        self.reached = self.inner.reached
        return answer

    def close(self) -> None:
        """Close every connection."""
        self.inner.close()


def signed(transport: Transport, target: Target, key: Key) -> Transport:
    """Return a transport that signs as the target file says; unchanged if it says nothing."""
    settings = target.signature
    if settings is None:
        return transport
    sections = (target.headers, *(binding.headers for binding in target.operations.values()))
    own = frozenset(name.lower() for headers in sections for name in headers)
    normalize: NormalizeUrl = str
    if target.transport is TransportKind.HTTP:
        from assay.transport.http import (  # noqa: PLC0415 -- httpx only for a network
            normalized_url as normalize,
        )
    if settings.kind is SignatureKind.RFC9421:
        import_module("http_message_signatures")  # here, for several trials sign at the same time
    return SigningTransport(
        inner=transport, settings=settings, key=key, normalize=normalize, own=own
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request to be signed: lower-case header names, `now` with an offset."""

    method: str
    url: str
    headers: Mapping[str, str]
    now: datetime

    @property
    def target(self) -> str:
        """Path and query, as they are sent."""
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def signature_headers(message: Message, settings: Signature, key: Key) -> list[tuple[str, str]]:
    """Sign what the settings cover, as far as the message has it; return the headers to add.

    Raises:
        ValueError: the URL of the message cannot be signed.

    """
    if settings.kind is SignatureKind.CAVAGE:
        return _cavage(message, settings, key)
    return _rfc9421(message, settings, key)


def _cavage(message: Message, settings: Signature, key: Key) -> list[tuple[str, str]]:
    """Return the header `Signature` of a message."""
    derived = {
        "(request-target)": f"{message.method.lower()} {message.target}",
        "(created)": str(int(message.now.timestamp())),
    }
    values = {**message.headers, **derived}
    names = [name for name in settings.covers if name in values]
    signing_string = "\n".join(f"{name}: {values[name]}" for name in names)
    signed = _signed(key, settings.algorithm, signing_string.encode("latin-1", "replace"))
    created = f"created={derived['(created)']}," if "(created)" in names else ""
    parameters = f'keyId="{settings.key_id}",algorithm="{settings.algorithm}",{created}'
    signature = b64encode(signed).decode()
    return [("Signature", f'{parameters}headers="{" ".join(names)}",signature="{signature}"')]


def _signed(key: Key, algorithm: str, text: bytes) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        if algorithm == BY_KEY:
            salted = padding.PSS(mgf=padding.MGF1(hashes.SHA512()), salt_length=64)
            return key.sign(text, salted, hashes.SHA512())
        return key.sign(text, padding.PKCS1v15(), hashes.SHA256())
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return key.sign(text, ec.ECDSA(hashes.SHA512()))
    return key.sign(text)


@dataclass(slots=True, kw_only=True)
class _LibraryRequest:
    """A request in the form that `http-message-signatures` expects; it adds headers."""

    method: str
    url: str
    headers: dict[str, str]


def _rfc9421(message: Message, settings: Signature, key: Key) -> list[tuple[str, str]]:
    """Return the headers `Signature-Input` and `Signature` of a message."""
    from http_message_signatures import (  # noqa: PLC0415 -- not for the draft
        HTTPMessageSignaturesException,
        HTTPMessageSigner,
        MappingKeyResolver,
        algorithms,
    )

    by_name = {
        "rsa-v1_5-sha256": algorithms.RSA_V1_5_SHA256,
        "rsa-pss-sha512": algorithms.RSA_PSS_SHA512,
        "ecdsa-p256-sha256": algorithms.ECDSA_P256_SHA256,
        "ed25519": algorithms.ED25519,
    }
    names = [name for name in settings.covers if name.startswith("@") or name in message.headers]
    request = _LibraryRequest(method=message.method, url=message.url, headers=dict(message.headers))
    signer = HTTPMessageSigner(
        signature_algorithm=by_name[settings.algorithm],
        key_resolver=MappingKeyResolver(public_keys={}, private_keys={settings.key_id: key}),
    )
    try:
        signer.sign(
            request,
            key_id=settings.key_id,
            created=message.now,
            label=LABEL,
            covered_component_ids=names,
            use_existing_digest="content-digest" in request.headers,
        )
    except HTTPMessageSignaturesException as error:
        raise ValueError(type(error).__name__) from None
    added = {name.lower(): value for name, value in request.headers.items()}
    return [(name, added[name.lower()]) for name in ("Signature-Input", "Signature")]


# -- Request objects: signed parameters of authorization requests (RFC 9101), as JWT (RFC 7519) --
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
