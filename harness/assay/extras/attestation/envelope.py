"""Envelope of a signed statement: DSSE with Ed25519, read strictly.

What is signed is the payload with its type. The file around it is written in one way only, so that
a change of any byte in it is found, even one that would not change what is signed.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from assay.errors import AssayError, InputError

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_MOST_BYTES = 64 * 1024 * 1024
_MOST_KEY_BYTES = 64 * 1024


class EnvelopeError(AssayError):
    """An envelope that is not as it was signed."""


# -- keys ------------------------------------------------------------------------
def new_key(path: Path, password: str | None) -> Path:
    """Write a new private key that only its owner can read, and its public key beside it.

    Return the path of the public key.

    Raises:
        InputError: one of the files exists, or cannot be written.

    """
    key = Ed25519PrivateKey.generate()
    lock = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    shown = path.with_name(f"{path.name}.pub")
    for file, content, mode in ((path, secret, 0o600), (shown, public, 0o644)):
        try:
            file.touch(mode=mode, exist_ok=False)
            file.write_bytes(content)
        except FileExistsError:
            hint = "keys are never overwritten"
            raise InputError.one(str(file), "the file already exists", hint=hint) from None
        except OSError as error:
            raise InputError.one(str(file), f"cannot be written: {error.strerror}") from None
    return shown


def private_key(path: Path, password: str | None) -> Ed25519PrivateKey:
    """Read the key to sign with.

    Raises:
        InputError: it is no private Ed25519 key in PEM, or its password is missing or wrong.

    """
    raw = _key_bytes(path)
    try:
        key = load_pem_private_key(raw, password.encode() if password else None)
    except TypeError:
        locked = password is None
        what = "the key has a password" if locked else "the key has no password"
        hint = (
            "name the environment variable with its password: --key-password-env NAME"
            if locked
            else "leave it out"
        )
        raise InputError.one(str(path), what, hint=hint) from None
    except (ValueError, UnsupportedAlgorithm):
        what = "the password is wrong, or this is not a private key in PEM format"
        raise InputError.one(str(path), what, hint=_NEW) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError.one(str(path), "expected an Ed25519 key, found another kind", hint=_NEW)
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """Read the key to verify with.

    Raises:
        InputError: it is no public Ed25519 key in PEM.

    """
    raw = _key_bytes(path)
    if b"PRIVATE KEY" in raw:
        hint = "pass the public key; the private one stays with its owner"
        raise InputError.one(str(path), "this is a private key", hint=hint)
    try:
        key = load_pem_public_key(raw)
    except (ValueError, UnsupportedAlgorithm):
        raise InputError.one(
            str(path), "this is not a public key in PEM format", hint=_NEW
        ) from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError.one(str(path), "expected an Ed25519 key, found another kind", hint=_NEW)
    return key


_NEW = "`assay attest --new-key FILE` makes one"


def _key_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_KEY_BYTES)
    except OSError as error:
        raise InputError.one(str(path), f"cannot be read: {error.strerror}") from None


def key_id(key: Ed25519PublicKey) -> str:
    """Return the id of a key: the SHA-256 of its DER form."""
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


# -- envelopes -------------------------------------------------------------------
def sign(payload: bytes, key: Ed25519PrivateKey) -> bytes:
    """Return the file of an envelope: one line of JSON."""
    signature = key.sign(_signed(payload))
    return _encoded(payload, key_id(key.public_key()), signature)


def opened(raw: bytes, key: Ed25519PublicKey) -> bytes:
    """Return the payload of an envelope that a key signed.

    Raises:
        EnvelopeError: it is not byte for byte what the key's owner wrote.

    """
    payload, name, signature = _decoded(raw)
    if name != key_id(key):
        raise EnvelopeError(f"signed with another key: {name[:64]!r}")
    try:
        key.verify(signature, _signed(payload))
    except InvalidSignature:
        raise EnvelopeError("the signature does not match what is signed") from None
    if raw != _encoded(payload, name, signature):
        raise EnvelopeError("the file was changed after it was written")
    return payload


def read_envelope(path: Path) -> bytes:
    """Read the file of an envelope.

    Raises:
        InputError: it cannot be read, or is too large.

    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError.one(str(path), f"cannot be read: {error.strerror}") from None
    if len(raw) > _MOST_BYTES:
        raise InputError.one(str(path), "this is too large for an attestation")
    return raw


def _signed(payload: bytes) -> bytes:
    """Return what is signed: the payload with its type, each with its length."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _encoded(payload: bytes, name: str, signature: bytes) -> bytes:
    envelope = {
        "payload": b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": name, "sig": b64encode(signature).decode()}],
    }
    return json.dumps(envelope, separators=(",", ":")).encode() + b"\n"


def _decoded(raw: bytes) -> tuple[bytes, str, bytes]:
    """Return the payload of an envelope, the id of its key, and its signature."""
    try:
        envelope: object = json.loads(raw)
    except (ValueError, RecursionError):
        raise EnvelopeError("not JSON") from None
    match envelope:
        case {
            "payload": str(payload),
            "payloadType": str(kind),
            "signatures": [{"keyid": str(name), "sig": str(signature)}],
        }:
            pass
        case _:
            raise EnvelopeError("not a DSSE envelope with one signature")
    if kind != PAYLOAD_TYPE:
        raise EnvelopeError(f"its payload is {kind[:64]!r}, not {PAYLOAD_TYPE!r}")
    try:
        return b64decode(payload, validate=True), name, b64decode(signature, validate=True)
    except ValueError:
        raise EnvelopeError("payload or signature is not base64") from None


def statement_of(payload: bytes) -> Mapping[str, object]:
    """Return the statement in a payload.

    Raises:
        EnvelopeError: there is none.

    """
    try:
        statement: object = json.loads(payload)
    except (ValueError, RecursionError):
        raise EnvelopeError("the payload is not JSON") from None
    if not isinstance(statement, dict):
        raise EnvelopeError("the payload is not a statement")
    return cast("Mapping[str, object]", statement)
