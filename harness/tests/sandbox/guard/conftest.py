"""TPPs that can present certificates, sign, and request tokens, written by hand."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from assay.sandbox.app import make_app
from assay.sandbox.guard import guarded
from assay.sandbox.guard.certificates import CertificateFolder, open_certificates

#: Names of the signing certificates.
NAMES = ("seal-rsa", "seal-ec", "seal-ed25519")


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> CertificateFolder:
    """Create the certificates once, because generating a key is slow."""
    return open_certificates(tmp_path_factory.mktemp("papers") / "new")


def _pss(key: Any, base: bytes) -> bytes:
    return key.sign(base, padding.PSS(padding.MGF1(hashes.SHA512()), 64), hashes.SHA512())


def _ecdsa(key: Any, base: bytes) -> bytes:
    pair = decode_dss_signature(key.sign(base, ec.ECDSA(hashes.SHA256())))
    return b"".join(number.to_bytes(32, "big") for number in pair)


#: The algorithms of RFC 9421, each with the name of a key and a signing function.
ALGORITHMS = {
    "rsa-v1_5-sha256": (
        "seal-rsa",
        lambda key, base: key.sign(base, padding.PKCS1v15(), hashes.SHA256()),
    ),
    "rsa-pss-sha512": ("seal-rsa", _pss),
    "ecdsa-p256-sha256": ("seal-ec", _ecdsa),
    "ed25519": ("seal-ed25519", lambda key, base: key.sign(base)),
}


@dataclass(kw_only=True)
class Signer:
    """A TPP that signs, with one fault if given."""

    folder: CertificateFolder
    keys: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.keys = {
            name: load_pem_private_key(self.folder.key(name).read_bytes(), None) for name in NAMES
        }

    def sign(self, algorithm: str, base: str, key: str | None = None) -> str:
        own, make = ALGORITHMS[algorithm]
        return b64encode(make(self.keys[key or own], base.encode("latin-1"))).decode()

    def cavage(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        names: str | None = None,
        key_id: str = "https://tpp.example/seal-rsa.pem",
        algorithm: str = "rsa-sha256",
        base: str | None = None,
        **headers: str | None,
    ) -> dict[str, str]:
        """Return the headers of a signed call; those that are None are omitted."""
        digest = "SHA-256=" + b64encode(sha256(body).digest()).decode()
        given: dict[str, str | None] = {"x-request-id": "17", "host": "bank.test"}
        given |= {"digest": digest} if body else {}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value is not None}
        names = names or " ".join(["(request-target)", *sent])
        lines = [
            f"(request-target): {method.lower()} {target}"
            if name == "(request-target)"
            else f"{name}: {sent.get(name, '')}"
            for name in names.split()
        ]
        signature = self.sign("rsa-v1_5-sha256", base or "\n".join(lines))
        parameters = f'keyId="{key_id}",algorithm="{algorithm}",headers="{names}"'
        return {**sent, "Signature": f'{parameters},signature="{signature}"'}

    def rfc9421(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        algorithm: str = "ecdsa-p256-sha256",
        components: Mapping[str, str] | None = None,
        parameters: str | None = None,
        key: str | None = None,
        **headers: str | None,
    ) -> dict[str, str]:
        """Return the headers of a signed call; those that are None are omitted."""
        digest = "sha-256=:" + b64encode(sha256(body).digest()).decode() + ":"
        given: dict[str, str | None] = {"content-digest": digest} if body else {}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value is not None}
        if components is None:
            components = {"@method": method, "@target-uri": f"http://bank.test{target}", **sent}
        name = ALGORITHMS[algorithm][0]
        if parameters is None:
            created = int(datetime.now(UTC).timestamp())
            parameters = f';created={created};keyid="https://tpp.example/{name}.pem"'
            parameters += f';alg="{algorithm}"'
        inner = "(" + " ".join(f'"{name}"' for name in components) + ")" + parameters
        lines = [f'"{name}": {value}' for name, value in components.items()]
        signature = self.sign(algorithm, "\n".join([*lines, f'"@signature-params": {inner}']), key)
        return {**sent, "Signature-Input": f"sig1={inner}", "Signature": f"sig1=:{signature}:"}


@pytest.fixture(scope="session")
def signer(folder) -> Signer:
    return Signer(folder=folder)


def client(app: Any, **how: Any) -> httpx.Client:
    """Call an application within this process."""
    return httpx.Client(transport=httpx.WSGITransport(app=app), base_url="http://bank.test", **how)


@pytest.fixture
def demand(folder):
    """Return a function that opens a bank with the given security."""

    def make(**demands: Any) -> httpx.Client:
        keys = folder.signers() if demands.get("signatures") else None
        return client(guarded(make_app(), keys=keys, **demands))

    return make
