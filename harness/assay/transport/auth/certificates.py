"""Certificate and key files of a target file, validated before anything is sent.

A file that is missing, not PEM, locked, expired, or does not match its certificate
would otherwise show up as a broken connection, for which the bank is easily blamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from assay.binding.security import RequestObject, Signature
from assay.binding.target import Target, Tls
from assay.errors import InputError, Problem
from assay.transport.auth.diagnostics import problem

__all__ = ["ALGORITHMS", "Key", "check", "expiry", "request_key", "signing_key"]

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
        request_key(target, secrets)
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


def request_key(target: Target, secrets: Mapping[str, str]) -> Key | None:
    """Return the key that authorization requests are signed with; None if they are not.

    Raises:
        InputError: there is none, or it does not fit the algorithm.

    """
    settings = target.auth.oauth.request_object if target.auth.oauth else None
    return _fitting_key(target, REQUEST_OBJECT, settings, secrets) if settings else None


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
