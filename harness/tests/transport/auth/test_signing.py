"""Signatures: what goes out verifies, by a verifier made by hand from the documents."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate

from assay.binding.model.target import Target
from assay.binding.wire.encode import HttpRequest
from assay.sandbox.guard.certificates import CertificateFolder
from assay.transport.auth.keys import SigningTransport, check, signed
from assay.transport.protocol import Delivery, answered

NOW = datetime(2026, 3, 2, 9, 0, 5, tzinfo=UTC)
TEXT = """\
assay: 1
target: t
transport: http
base_url: https://bank.example/v1
headers: {X-Own: "one"}
signature: {kind: KIND, key_id: "k 1", KEY, covers: COVERS}
"""


@dataclass
class Ear:
    """A carrier that keeps what it is given."""

    base_url: str = "https://bank.example/v1"
    reached: bool = False
    heard: list[HttpRequest] = field(default_factory=list)
    controls: list[tuple[str, str]] = field(default_factory=list)

    def send(self, request: HttpRequest) -> Delivery:
        self.heard.append(request)
        self.reached = True
        return answered(request, 200, (), b"{}", truncated=False)

    def control(self, method: str, path: str, body: object) -> tuple[int, Any]:
        self.controls.append((method, path))
        return 200, {}

    def close(self) -> None:
        self.heard.clear()


@pytest.fixture
def signing(read: Callable[[str], Target]) -> Callable[..., tuple[SigningTransport, Ear]]:
    """Make a signer of a profile, at a fixed time, and the ear behind it."""

    def make(kind: str, key: str, covers: str) -> tuple[SigningTransport, Ear]:
        said = TEXT.replace("KIND", kind).replace("KEY", key).replace("COVERS", covers)
        target, ear = read(said), Ear()
        transport = signed(ear, target, check(target, {}))
        assert isinstance(transport, SigningTransport)
        numbers = iter(range(1, 9))
        transport.clock, transport.unique = lambda: NOW, lambda: f"id-{next(numbers)}"
        return transport, ear

    return make


RSA = "key_file: seal-rsa-key.pem, algorithm: rsa-sha256"


def post(
    url: str = "https://bank.example/v1/a%20b?x=%2F&y", *headers: tuple[str, str]
) -> HttpRequest:
    return HttpRequest(method="POST", url=url, headers=headers, body=b'{"a":1}')


def of(request: HttpRequest) -> dict[str, str]:
    """Return the headers of a request by name, none of which may come twice."""
    found = {name.lower(): value for name, value in request.headers}
    assert len(found) == len(request.headers)
    return found


def public(folder: CertificateFolder, name: str) -> Any:
    return load_pem_x509_certificate(folder.certificate(name).read_bytes()).public_key()


def test_cavage(
    signing: Callable[..., tuple[SigningTransport, Ear]], folder: CertificateFolder
) -> None:
    """The draft's string is signed, of what is sent: target, host, date, digest and id."""
    one, ear = signing("cavage", RSA, '["(request-target)", host, date, digest, x-request-id]')
    one.send(post())
    sent = of(ear.heard[0])
    digest = sent["digest"].removeprefix("SHA-256=")
    assert sha256(b'{"a":1}').digest() == b64decode(digest)
    assert "Mon, 02 Mar 2026 09:00:05 GMT" == sent["date"]
    base = (
        "(request-target): post /v1/a%20b?x=%2F&y\nhost: bank.example\n"
        f"date: {sent['date']}\ndigest: SHA-256={digest}\nx-request-id: id-1"
    )
    head, _, made = sent["signature"].partition(',signature="')
    assert (
        'keyId="k 1",algorithm="rsa-sha256",'
        'headers="(request-target) host date digest x-request-id"'
    ) == head
    raw = b64decode(made.removesuffix('"'))
    verify = public(folder, "seal-rsa").verify
    verify(raw, base.encode(), padding.PKCS1v15(), hashes.SHA256())
    with pytest.raises(InvalidSignature):
        verify(raw, base.encode() + b"!", padding.PKCS1v15(), hashes.SHA256())


def test_what_a_call_does_not_have_is_left_out(
    signing: Callable[..., tuple[SigningTransport, Ear]], folder: CertificateFolder
) -> None:
    """Without a body there is no digest, neither sent nor signed."""
    one, ear = signing("cavage", RSA, '["(request-target)", digest, x-request-id, psu-id]')
    one.send(HttpRequest(method="GET", url="https://bank.example"))
    sent = of(ear.heard[0])
    assert {"x-request-id", "signature"} == sent.keys()
    assert 'headers="(request-target) x-request-id"' in sent["signature"]
    raw = b64decode(sent["signature"].partition('signature="')[2].removesuffix('"'))
    base = b"(request-target): get /\nx-request-id: id-1"
    public(folder, "seal-rsa").verify(raw, base, padding.PKCS1v15(), hashes.SHA256())


def test_created(
    signing: Callable[..., tuple[SigningTransport, Ear]], folder: CertificateFolder
) -> None:
    """With hs2019 the moment can be signed, and the key says how: salted, with SHA-512."""
    key = "key_file: seal-rsa-key.pem, algorithm: hs2019"
    one, ear = signing("cavage", key, '["(request-target)", "(created)"]')
    one.send(HttpRequest(method="GET", url="https://bank.example/v1"))
    sent = of(ear.heard[0])["signature"]
    stamp = int(NOW.timestamp())
    assert f'algorithm="hs2019",created={stamp},headers="(request-target) (created)"' in sent
    raw = b64decode(sent.partition('signature="')[2].removesuffix('"'))
    base = f"(request-target): get /v1\n(created): {stamp}".encode()
    salted = padding.PSS(padding.MGF1(hashes.SHA512()), 64)
    public(folder, "seal-rsa").verify(raw, base, salted, hashes.SHA512())


def _pss(key: Any, raw: bytes, base: bytes) -> None:
    key.verify(raw, base, padding.PSS(padding.MGF1(hashes.SHA512()), 64), hashes.SHA512())


def _ecdsa(key: Any, raw: bytes, base: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    pair = (int.from_bytes(half, "big") for half in (raw[:32], raw[32:]))
    key.verify(encode_dss_signature(*pair), base, ec.ECDSA(hashes.SHA256()))


@pytest.mark.parametrize(
    ("name", "algorithm", "verify"),
    [
        ("seal-rsa", "rsa-pss-sha512", _pss),
        (
            "seal-rsa",
            "rsa-v1_5-sha256",
            lambda key, raw, base: key.verify(raw, base, padding.PKCS1v15(), hashes.SHA256()),
        ),
        ("seal-ec", "ecdsa-p256-sha256", _ecdsa),
        ("seal-ed25519", "ed25519", lambda key, raw, base: key.verify(raw, base)),
    ],
)
def test_rfc9421(
    signing: Callable[..., tuple[SigningTransport, Ear]],
    folder: CertificateFolder,
    name: str,
    algorithm: str,
    verify: Callable[[Any, bytes, bytes], None],
) -> None:
    """The RFC's base is signed with each algorithm: components in order, then parameters."""
    key = f"key_file: {name}-key.pem, algorithm: {algorithm}"
    one, ear = signing("rfc9421", key, '["@method", "@target-uri", content-digest, x-own, date]')
    one.send(post("https://bank.example/v1/a%20b?x=%2F&y", ("X-Own", "one")))
    sent = of(ear.heard[0])
    found = re.fullmatch(r"sha-256=:([^:]+):", sent["content-digest"])
    assert found
    assert sha256(b'{"a":1}').digest() == b64decode(found[1])
    label, _, parameters = sent["signature-input"].partition("=")
    assert sent["signature"].startswith(f"{label}=:")
    names = '("@method" "@target-uri" "content-digest" "x-own" "date")'
    assert parameters.startswith(f"{names};created={int(NOW.timestamp())};")
    assert {'keyid="k 1"', f'alg="{algorithm}"'} <= set(parameters.split(";"))
    base = "\n".join(
        [
            '"@method": POST',
            '"@target-uri": https://bank.example/v1/a%20b?x=%2F&y',
            f'"content-digest": {sent["content-digest"]}',
            '"x-own": one',
            '"date": Mon, 02 Mar 2026 09:00:05 GMT',
            f'"@signature-params": {parameters}',
        ]
    ).encode()
    raw = b64decode(sent["signature"].removeprefix(f"{label}=:").removesuffix(":"))
    verify(public(folder, name), raw, base)
    with pytest.raises(InvalidSignature):
        verify(public(folder, name), raw, base + b"!")


def test_a_request_made_of_another_is_signed_anew(
    signing: Callable[..., tuple[SigningTransport, Ear]],
) -> None:
    """What was signed of the one is not sent with the other; what the profile sends stays."""
    transport, ear = signing("cavage", RSA, '["(request-target)", date, digest, x-request-id]')
    transport.send(post())
    first = ear.heard[0]
    transport.send(
        HttpRequest(method="GET", url=first.url, headers=(*first.headers, ("X-Own", "one")))
    )
    second = of(ear.heard[1])
    assert {"date", "x-request-id", "signature", "x-own"} == second.keys()
    assert "id-2" == second["x-request-id"]
    assert of(first)["signature"] != second["signature"]


def test_an_identifier_of_the_profile_stays(read: Callable[[str], Target]) -> None:
    """A header that the profile sends is signed as it is, and not made again."""
    text = TEXT.replace('X-Own: "one"', 'X-Request-ID: "{unique}"').replace("KIND", "cavage")
    target = read(text.replace("KEY", RSA).replace("COVERS", "[x-request-id]"))
    ear = Ear()
    signed(ear, target, check(target, {})).send(post("https://b.example", ("X-Request-ID", "7")))
    assert "7" == of(ear.heard[0])["x-request-id"]


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("https://bank.example:port/", ()),
        ("https://bank.example/v1", (("X-Own", "d\u00e9j\u00e0"),)),
    ],
)
def test_what_cannot_be_sent_is_left_to_who_sends(
    signing: Callable[..., tuple[SigningTransport, Ear]],
    url: str,
    headers: tuple[tuple[str, str], ...],
) -> None:
    """A URL or a header that cannot be goes on as it is, for the carrier to say so."""
    one, ear = signing("cavage", RSA, '["(request-target)"]')
    one.send(HttpRequest(method="GET", url=url, headers=headers))
    assert headers == ear.heard[0].headers


def test_the_control_api_is_not_signed(
    signing: Callable[..., tuple[SigningTransport, Ear]],
) -> None:
    """Arranging goes past the signature, and what was reached is known on both sides."""
    transport, ear = signing("cavage", RSA, '["(request-target)"]')
    assert (200, {}) == transport.control("GET", "/worlds", None)
    assert [("GET", "/worlds")] == ear.controls
    assert not transport.reached
    transport.send(post())
    assert transport.reached
    transport.close()
    assert [] == ear.heard


def test_keys_are_those_of_the_certificates(folder: CertificateFolder) -> None:
    """The verifier of these tests has the other half of what signs, and nothing else."""
    for name in ("seal-rsa", "seal-ec", "seal-ed25519"):
        key = load_pem_private_key(folder.key(name).read_bytes(), None)
        assert key.public_key() == public(folder, name)
