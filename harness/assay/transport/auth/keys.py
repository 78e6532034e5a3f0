"""Certificates and keys of a target file: checked before anything is sent, and used to sign.

A file that is missing, not PEM, locked, expired, or does not match its certificate
would otherwise show up as a broken connection, for which the bank is easily blamed.
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
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from assay.binding.model.security import OAuth, RequestObject
from assay.binding.model.target import Signature, SignatureKind, Target, Tls, TransportKind
from assay.binding.wire.encode import HttpRequest
from assay.contract.model import Json
from assay.errors import InputError, Problem
from assay.transport.auth.diagnostics import problem
from assay.transport.protocol import Delivery, Transport, sendable, unanswered

__all__ = [
    "ALGORITHMS",
    "Key",
    "RequestSigner",
    "SigningTransport",
    "check",
    "expiry",
    "request_signer",
    "signed",
    "signing_key",
]

#: The key types that can sign a message.
Key: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

#: The type of key of each algorithm, and its name; `hs2019` accepts any.
ALGORITHMS: Mapping[str, tuple[type[object], str]] = {
    "rsa-sha256": (rsa.RSAPrivateKey, "an RSA key"),
    "rsa-v1_5-sha256": (rsa.RSAPrivateKey, "an RSA key"),
    "rsa-pss-sha512": (rsa.RSAPrivateKey, "an RSA key"),
    "ecdsa-p256-sha256": (ec.EllipticCurvePrivateKey, "a key on the curve P-256"),
    "ed25519": (ed25519.Ed25519PrivateKey, "an Ed25519 key"),
    "PS256": (rsa.RSAPrivateKey, "an RSA key"),
    "RS256": (rsa.RSAPrivateKey, "an RSA key"),
    "ES256": (ec.EllipticCurvePrivateKey, "a key on the curve P-256"),
    "EdDSA": (ed25519.Ed25519PrivateKey, "an Ed25519 key"),
}
#: The algorithms for which a key must be on the curve P-256.
P256 = frozenset({"ecdsa-p256-sha256", "ES256"})
#: The keys of the target file that have the settings of a signature.
SIGNATURE, REQUEST_OBJECT = ("signature",), ("auth", "request_object")


def check(target: Target, secrets: Mapping[str, str], now: datetime | None = None) -> Key | None:
    """Read every file that a target file names, and return the signing key, if there is one.

    Raises:
        InputError: a file cannot be used; all problems are reported at once.

    """
    problems = list(_tls(target, secrets, now or datetime.now(UTC)))
    key = None
    try:
        key = signing_key(target, secrets) if target.signature else None
        request_signer(target, secrets)
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)
    return key


def expiry(target: Target) -> datetime | None:
    """Return when the client certificate expires; None if none can be read."""
    if target.tls is None or target.tls.certificate_file is None:
        return None
    certificates, _ = _certificates(target, "certificate_file", target.tls.certificate_file)
    return certificates[0].not_valid_after_utc if certificates else None


def signing_key(target: Target, secrets: Mapping[str, str]) -> Key:
    """Return the key that calls are signed with.

    Raises:
        InputError: there is none, or it does not fit the algorithm.

    """
    settings = target.signature
    if settings is None:
        raise InputError(
            [problem(target, "signature", what="the target file does not say how calls are signed")]
        )
    return _fitting_key(target, SIGNATURE, settings, secrets)


def request_signer(
    target: Target, secrets: Mapping[str, str]
) -> Callable[[str, datetime, Mapping[str, Json]], str] | None:
    """Return what signs the authorization requests of a client; None if they are not signed.

    Raises:
        InputError: there is no key, or it does not fit the algorithm.

    """
    oauth = target.auth.oauth
    if oauth is None or oauth.request_object is None:
        return None
    key = _fitting_key(target, REQUEST_OBJECT, oauth.request_object, secrets)
    return RequestSigner(oauth=oauth, settings=oauth.request_object, key=key).sign


def _fitting_key(
    target: Target,
    section: tuple[str, ...],
    settings: Signature | RequestObject,
    secrets: Mapping[str, str],
) -> Key:
    key, failure = _key(target, section, settings.key_file, settings.key_password_env, secrets)
    if failure:
        raise InputError([failure])
    wanted, name = ALGORITHMS.get(settings.algorithm, (object, "a key"))
    if settings.algorithm in P256 and isinstance(key, ec.EllipticCurvePrivateKey):
        fits = isinstance(key.curve, ec.SECP256R1)
    else:
        fits = isinstance(key, wanted)
    if not fits or not isinstance(key, Key):
        what = f"{settings.algorithm} requires {name}; this is a different kind of key"
        hint = "set another key_file, or another algorithm"
        raise InputError([problem(target, *section, "key_file", what=what, hint=hint)])
    return key


def _tls(target: Target, secrets: Mapping[str, str], now: datetime) -> Iterator[Problem]:
    """Yield the problems of the trusted authorities and the client certificate."""
    settings = target.tls or Tls()
    if settings.ca_file is not None:
        _, failure = _certificates(target, "ca_file", settings.ca_file)
        if failure:
            yield failure
    if settings.certificate_file is None:
        return
    certificates, failure = _certificates(target, "certificate_file", settings.certificate_file)
    if failure:
        yield failure
    elif invalid := _validity_error(certificates[0], now):
        hint = "request a new one"
        yield problem(target, "tls", "certificate_file", what=invalid, hint=hint)
    file = settings.key_file or settings.certificate_file
    key, failure = _key(target, ("tls",), file, settings.key_password_env, secrets)
    if failure:
        yield failure
    elif certificates and _public(key) != certificates[0].public_key():
        at = "key_file" if settings.key_file else "certificate_file"
        what = "the key does not belong to the certificate"
        hint = "the client's own certificate must come first in certificate_file"
        yield problem(target, "tls", at, what=what, hint=hint)


def _validity_error(certificate: x509.Certificate, now: datetime) -> str:
    """Return why a certificate is not valid now; empty if it is."""
    if now > certificate.not_valid_after_utc:
        return f"the certificate expired on {certificate.not_valid_after_utc:%Y-%m-%d}"
    if now < certificate.not_valid_before_utc:
        return f"the certificate is not valid before {certificate.not_valid_before_utc:%Y-%m-%d}"
    return ""


def _certificates(
    target: Target, name: str, file: Path
) -> tuple[list[x509.Certificate], Problem | None]:
    raw, failure = _read(target, ("tls", name), file)
    if failure:
        return [], failure
    try:
        return x509.load_pem_x509_certificates(raw), None
    except ValueError:
        hint = "a certificate begins with -----BEGIN CERTIFICATE-----"
        what = f"{file.name} contains no certificate in PEM format"
        return [], problem(target, "tls", name, what=what, hint=hint)


def _key(
    target: Target,
    section: tuple[str, ...],
    file: Path,
    password_env: str | None,
    secrets: Mapping[str, str],
) -> tuple[object, Problem | None]:
    """Read a private key; return it, or the problem with it or its password."""
    tls = target.tls or Tls()
    own = section != ("tls",) or tls.key_file is not None
    at = (*section, "key_file" if own else "certificate_file")
    raw, failure = _read(target, at, file)
    if failure:
        return None, failure
    password = secrets[password_env].encode() if password_env else None
    try:
        return load_pem_private_key(raw, password), None
    except TypeError:
        if password is None:
            hint = "set key_password_env to the variable with its password"
            return None, problem(
                target, *at, what=f"the key in {file.name} is encrypted", hint=hint
            )
        what = "the key is not encrypted"
        hint = "remove key_password_env"
        return None, problem(target, *section, "key_password_env", what=what, hint=hint)
    except Exception:  # noqa: BLE001 -- many kinds, any of which may quote the file
        if password is not None and b"ENCRYPTED" in raw:
            what = f"the password in {password_env} does not decrypt the key in {file.name}"
            return None, problem(target, *section, "key_password_env", what=what)
        hint = "a key begins with -----BEGIN PRIVATE KEY-----"
        what = f"{file.name} contains no private key in PEM format"
        return None, problem(target, *at, what=what, hint=hint)


def _read(target: Target, at: tuple[str, ...], file: Path) -> tuple[bytes, Problem | None]:
    try:
        return file.read_bytes(), None
    except OSError as error:
        what = f"cannot read {file}: {error.strerror or type(error).__name__}"
        hint = "paths are relative to the target file"
        return b"", problem(target, *at, what=what, hint=hint)
    except ValueError:  # a NUL in its name
        return b"", problem(target, *at, what="not a valid file name")


def _public(key: object) -> object:
    public = getattr(key, "public_key", None)
    return public() if public else None


# -- Signatures of requests ----------------------------------------------------------------------
# The signing transport wraps another: what is signed is what is sent, and nothing is added
# afterwards. The control API and the customer's screens are not signed.
#
# Signatures are those of draft-cavage-http-signatures-12, on which STET is based too, or of RFC 9421.
# No maintained library implements the draft; it is a few lines on top of `cryptography`. Those of
# the RFC are made by `http-message-signatures`.
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
