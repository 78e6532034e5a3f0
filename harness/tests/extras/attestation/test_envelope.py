"""Envelopes and keys: what was signed is opened, by others too, and any other byte is refused."""

import json
import random
import stat
from base64 import b64decode

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from rows import for_each
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, SSlibKey

from assay.errors import InputError
from assay.extras.attestation.envelope import (
    PAYLOAD_TYPE,
    EnvelopeError,
    key_id,
    new_key,
    opened,
    private_key,
    public_key,
    read_envelope,
    sign,
    statement_of,
)

KEY = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key()
PAYLOAD = '{"_type":"a","subject":[{"name":"é"}]}'.encode()


def pem(key, password=None):
    """Return a private key as PEM."""
    lock = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)


# -- envelopes --------------------------------------------------------------------
def test_what_was_signed_is_opened():
    """The payload comes back, byte for byte; a signature is the same each time."""
    raw = sign(PAYLOAD, KEY)
    assert PAYLOAD == opened(raw, PUBLIC)
    assert raw == sign(PAYLOAD, KEY)
    assert {"_type": "a", "subject": [{"name": "é"}]} == statement_of(PAYLOAD)


def test_another_implementation_accepts_it():
    """The envelope is verified by securesystemslib, which knows nothing of Assay."""
    theirs = Envelope.from_dict(json.loads(sign(PAYLOAD, KEY)))
    key = SSlibKey.from_crypto(PUBLIC, keyid=key_id(PUBLIC))
    assert {key.keyid: key} == theirs.verify([key], threshold=1)
    assert (PAYLOAD, PAYLOAD_TYPE) == (theirs.payload, theirs.payload_type)


def test_an_envelope_of_another_implementation_is_accepted():
    """What securesystemslib signs is opened here, written in the one way that is accepted."""
    key = SSlibKey.from_crypto(PUBLIC, keyid=key_id(PUBLIC))
    theirs = Envelope(PAYLOAD, PAYLOAD_TYPE, {})
    theirs.sign(CryptoSigner(KEY, key))
    raw = json.dumps(theirs.to_dict(), separators=(",", ":")).encode() + b"\n"
    assert PAYLOAD == opened(raw, PUBLIC)


def test_every_byte_counts():
    """Each byte of an envelope, with any one bit changed, makes it another one."""
    raw, rng = sign(PAYLOAD, KEY), random.Random(7)
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1 << rng.randrange(8)
        with pytest.raises(EnvelopeError):
            opened(bytes(changed), PUBLIC)


@for_each(
    "change",
    [
        lambda raw: raw + b"\n",
        lambda raw: b" " + raw,
        lambda raw: raw.replace(b":", b": ", 1),
        lambda raw: raw[:-2] + b',"more":1}\n',
        lambda raw: raw.replace(b'"payload"', b'"payload":"","payload"', 1),
        lambda raw: raw.replace(b"==", b"=", 1) if b"==" in raw else raw[:-1],
        lambda raw: raw.replace(b"payloadType", b"payload\\u0054ype"),
        lambda raw: b"[" * 100_000,
        lambda raw: b"\xff" + raw,
        lambda raw: b"{}",
        lambda raw: b"[]",
        lambda raw: b"",
    ],
)
def test_another_way_to_write_the_same(change):
    """An envelope that says the same in other bytes is refused, and so is what is none."""
    with pytest.raises(EnvelopeError):
        opened(change(sign(PAYLOAD, KEY)), PUBLIC)


def test_another_key():
    """The message has the id of the key that signed."""
    other = ed25519.Ed25519PrivateKey.generate().public_key()
    with pytest.raises(EnvelopeError, match=f"another key: '{key_id(PUBLIC)}'"):
        opened(sign(PAYLOAD, KEY), other)


def test_a_payload_of_another_type_is_not_what_was_signed():
    """The type is signed with the payload, so a signature cannot be used for something else."""
    envelope = json.loads(sign(PAYLOAD, KEY))
    PUBLIC.verify(
        b64decode(envelope["signatures"][0]["sig"]),
        b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(PAYLOAD), PAYLOAD),
    )
    envelope["payloadType"] = "text/plain"
    with pytest.raises(EnvelopeError, match="text/plain"):
        opened(json.dumps(envelope).encode(), PUBLIC)


@pytest.mark.parametrize("payload", [b"", b"\xff", b"[]", b'"a"', b"[" * 100_000])
def test_a_payload_that_is_no_statement(payload):
    """A signature does not make a statement of anything else."""
    with pytest.raises(EnvelopeError):
        statement_of(payload)


# -- keys -------------------------------------------------------------------------
@pytest.mark.parametrize("password", [None, "correct horse"])
def test_a_new_key(tmp_path, password):
    """Only its owner can read the private key, and the public one is its other half."""
    path = tmp_path / "key.pem"
    shown = new_key(path, password)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    raw = sign(PAYLOAD, private_key(path, password))
    assert PAYLOAD == opened(raw, public_key(shown))
    assert (b"ENCRYPTED" in path.read_bytes()) is bool(password)
    with pytest.raises(InputError, match="already exists"):
        new_key(path, password)


@pytest.mark.parametrize(
    ("content", "password", "what"),
    [
        (pem(KEY, b"secret"), None, "the key has a password"),
        (pem(KEY, b"secret"), "other", "the password is wrong"),
        (pem(KEY), "secret", "the key has no password"),
        (b"no key", None, "not a private key in PEM"),
        (b"", None, "not a private key in PEM"),
        (pem(rsa.generate_private_key(65537, 2048)), None, "expected an Ed25519 key"),
    ],
)
def test_a_private_key_that_cannot_be_used(content, password, what, tmp_path):
    """A key that is locked, of another kind, or none is refused in one line."""
    path = tmp_path / "key.pem"
    path.write_bytes(content)
    with pytest.raises(InputError, match=what) as caught:
        private_key(path, password)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (pem(KEY), "this is a private key"),
        (b"no key", "not a public key in PEM"),
        (
            rsa.generate_private_key(65537, 2048)
            .public_key()
            .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            "expected an Ed25519 key",
        ),
    ],
)
def test_a_public_key_that_cannot_be_used(content, what, tmp_path):
    """A private key, one of another kind, or none is refused."""
    path = tmp_path / "key.pem"
    path.write_bytes(content)
    with pytest.raises(InputError, match=what):
        public_key(path)


def test_files_that_are_not_there(tmp_path):
    """A missing file is an error that names it."""
    for read in (public_key, read_envelope, lambda path: private_key(path, None)):
        with pytest.raises(InputError, match="cannot be read"):
            read(tmp_path / "nowhere")
