"""Authorization requests whose parameters are signed: what a bank reads, and mistakes of a target file."""

import json
from base64 import urlsafe_b64decode
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import assay
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from foreign.bank import Refused
from foreign.dialects import FJORD

from assay.binding.model.security import OAuth, RequestObject
from assay.rules.verdict import Standing
from assay.testing import verdicts
from assay.transport.auth.keys import RequestSigner

HERE = Path(__file__).parent
CONTRACT, TARGET = HERE / "fjord.yaml", HERE / "target.yaml"
NOW = datetime(2026, 9, 16, 9, 0, tzinfo=UTC)
SIGNED = '  request_object: {key_file: seal.pem, key_id: "4711", audience: fjord}\n'
INTENT = '{claims: {id_token: {openbanking_intent_id: {value: "{consent-id}", essential: true}}}}'


@pytest.fixture(scope="module")
def rsa_key():
    """Return a key that signs by PS256 and RS256."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def decoded(part):
    """Return a part of a JWT."""
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def verified(public, algorithm, token):
    """Verify a JWT as RFC 7518 says; return its header and claims."""
    text, _, signature = token.rpartition(".")
    signature, text = decoded(signature), text.encode()
    match algorithm:
        case "PS256":
            salted = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
            public.verify(signature, text, salted, hashes.SHA256())
        case "RS256":
            public.verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
        case "ES256":
            assert 64 == len(signature)
            r, s = (int.from_bytes(part) for part in (signature[:32], signature[32:]))
            public.verify(encode_dss_signature(r, s), text, ec.ECDSA(hashes.SHA256()))
        case "EdDSA":
            public.verify(signature, text)
    return [json.loads(decoded(part)) for part in text.decode().split(".")]


@pytest.mark.parametrize("algorithm", ["PS256", "RS256", "ES256", "EdDSA"])
def test_a_request_object_is_signed_and_says_for_whom_and_how_long(algorithm, rsa_key):
    """It has the parameters, the client, the server, and five minutes of the target's clock."""
    kinds = {
        "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
        "EdDSA": ed25519.Ed25519PrivateKey.generate,
    }
    key = kinds.get(algorithm, lambda: rsa_key)()
    oauth = OAuth(token_url="https://login.example/t", authorize_url="https://login.example/a")
    settings = RequestObject(key_file=Path("x"), key_id="4711", algorithm=algorithm)
    signer = RequestSigner(oauth=oauth, settings=settings, key=key)
    header, claims = verified(
        key.public_key(), algorithm, signer.sign("tpp", NOW, {"scope": "a", "claims": {"x": {}}})
    )

    assert {"alg": algorithm, "kid": "4711", "typ": "oauth-authz-req+jwt"} == header
    assert ("tpp", "https://login.example", "a") == (claims["iss"], claims["aud"], claims["scope"])
    assert {"x": {}} == claims["claims"]
    assert NOW.timestamp() == claims["iat"] == claims["nbf"] == claims["exp"] - 300


@pytest.fixture
def signed(tmp_path, rsa_key):
    """Return a target file whose authorization requests are signed, with the id in a claim."""
    pem = rsa_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "seal.pem").write_bytes(pem)
    text = TARGET.read_text("utf-8").replace("  pkce: true\n", f"  pkce: true\n{SIGNED}")
    plain = '{consent_id: "{consent-id}", nonce: "{unique}"}'
    assert plain in text
    path = tmp_path / "target.yaml"
    path.write_text(text.replace(plain, INTENT))
    return path


def test_a_bank_that_reads_nothing_but_the_request_object_conforms(signed, rsa_key):
    """What says which consent it is stands in the signed part alone."""

    class Strict(FJORD):
        def authorization(self, given):
            assert "claims" not in given
            header, claims = verified(rsa_key.public_key(), "PS256", given["request"])
            world = self.world_of(given["client_id"])
            fresh = claims["nbf"] <= world.now.timestamp() < claims["exp"]
            known = "4711", "fjord", given["client_id"]
            if not fresh or known != (header["kid"], claims["aud"], claims["iss"]):
                raise Refused
            return super().authorization(claims)

        def asked(self, given):
            return given["claims"]["id_token"]["openbanking_intent_id"]["value"]

    found = verdicts(CONTRACT, signed, Strict())

    assert 55 == [*found.values()].count(Standing.CONFORMS)
    assert {Standing.CONFORMS, Standing.NOT_APPLICABLE} == {*found.values()}


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("key_file: seal.pem", "key_file: sale.pem", "auth.request_object.key_file: cannot read"),
        (
            'key_id: "4711"',
            'key_id: "4711", algorithm: ES256',
            "auth.request_object.key_file: ES256 requires a key on the curve P-256",
        ),
        (
            'key_id: "4711"',
            'key_id: "4711", algorithm: HS256',
            "auth.request_object.algorithm: expected PS256, RS256, ES256 or EdDSA",
        ),
        (
            'key_id: "4711"',
            'key_id: "4711", key_password_env: FJORD_SEAL_PASSWORD',
            "the environment variable FJORD_SEAL_PASSWORD is not set",
        ),
    ],
)
def test_a_mistake_in_the_signature_is_reported_with_its_line(right, wrong, said, signed):
    """Nothing is sent, and no key is repeated."""
    text = signed.read_text("utf-8").replace(right, wrong).replace("embedded", "http")
    signed.write_text(text)
    code, shown, err = assay("doctor", "-c", CONTRACT, "-t", signed, cwd=signed.parent)

    assert 2 == code
    assert said in shown + err
    assert f"{signed}:14" in shown + err
