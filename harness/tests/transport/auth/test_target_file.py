"""What a target file says of authentication, TLS and signatures that cannot be meant."""

from __future__ import annotations

import pytest

from assay.binding.read import read_document
from assay.contract.files.load import loads
from assay.errors import InputError

TEXT = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
"""
CLIENT = "auth: {kind: client-credentials, token_url: https://b.example/t, "
CODE = (
    "auth: {kind: authorization-code, token_url: https://b.example/t, "
    "authorize_url: https://b.example/a, redirect_uri: https://c.example/r"
)
SCA = "sca: {kind: forms, screens: [{user: login}]}\n"
SIGNED = "signature: {key_file: k.pem, key_id: k, kind: "


def told(text: str) -> list[str]:
    """Return what is wrong with a file, by line."""
    with pytest.raises(InputError) as caught:
        read_document(loads(text, "t.yaml"))
    return [f"{one.line}: {one.what}" for one in caught.value.problems]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (CLIENT + "token_env: T}", "auth.token_env: a token that is asked for stands in no variab"),
        (CLIENT + "pkce: true}", "auth.pkce: no customer is asked for client-credentials"),
        (CLIENT + "client_id: me}", "auth.client_id: nothing says with which secret the client a"),
        (CLIENT + "client_secret_env: S}", "auth.client_secret_env: nothing says whose secret"),
        (
            CLIENT + "client_id: me, client_auth: none, client_secret_env: S}",
            "auth.client_secret_env: with `client_auth: none` no secret is shown",
        ),
        ("auth: {kind: bearer, client_auth: post}", "auth.client_auth: a bearer token is not ask"),
        ("auth: {kind: bearer, pkce: true}", "auth.pkce: a bearer token is not asked for"),
        (CODE + "}", "auth.kind: nothing says how customers agree that there is a token"),
        (
            SCA + CLIENT + "provider: {kind: authorization-code, token_url: https://b.example/t, "
            "authorize_url: https://b.example/a, redirect_uri: https://c.example/r}}",
            "auth.provider.kind: no customer agrees to what a third party does for itself",
        ),
        (SIGNED + "cavage, algorithm: ed25519}", "signature.algorithm: a cavage signature has no"),
        (SIGNED + "rfc9421, algorithm: rsa-sha256}", "signature.algorithm: a rfc9421 signature ha"),
        (SIGNED + "cavage, covers: ['@method']}", "signature.covers[0]: a cavage signature cover"),
        (SIGNED + "cavage, covers: ['(expires)']}", "signature.covers[0]: a cavage signature co"),
        (SIGNED + "cavage, covers: [date, '(created)']}", "signature.covers[1]: the draft has no"),
        (
            SIGNED + "rfc9421, covers: ['@method', digest]}",
            "signature.covers[1]: a rfc9421 signature has no 'digest' of a body",
        ),
        (
            SIGNED + "cavage, covers: [date, content-digest]}",
            "signature.covers[1]: a cavage signature has no 'content-digest' of a body",
        ),
        (SIGNED + "rfc9421, covers: ['@query-param']}", "signature.covers[0]: a rfc9421 signatur"),
        (SIGNED + "cavage, covers: [digest]}", "signature.covers: a call may have nothing of wha"),
    ],
)
def test_what_cannot_be_meant(more: str, said: str) -> None:
    """Each contradiction is told on its own line, before anything is looked up."""
    found = told(TEXT + more + "\n")
    assert any(said in one for one in found), found
    assert all(one.startswith(("5: ", "6: ")) for one in found)


@pytest.mark.parametrize(
    "more",
    [
        CLIENT + "scope: pisp}",
        CLIENT + "client_id: me, client_secret_env: S, client_auth: post}",
        CLIENT + "client_id: me, client_auth: none}",
        SCA + CODE + ", pkce: true}",
        SIGNED + "cavage}",
        SIGNED + "rfc9421}",
        SIGNED + "cavage, algorithm: hs2019, covers: ['(request-target)', '(created)', digest]}",
        SIGNED + "rfc9421, covers: ['@authority', '@path', '@query', content-digest, date]}",
        "tls: {ca_file: ca.pem}",
    ],
)
def test_what_can(more: str) -> None:
    """Nothing is said against what makes sense."""
    assert read_document(loads(TEXT + more + "\n", "t.yaml"))


def test_tls_without_tls() -> None:
    """Certificates for a connection that has none are told."""
    plain = TEXT.replace("https:", "http:") + "tls: {ca_file: ca.pem}\n"
    assert ["5: tls: TLS is not spoken with an http base_url"] == told(plain)
    inside = TEXT.replace("transport: http", "transport: embedded") + "tls: {ca_file: ca.pem}\n"
    assert ["5: tls: there is no connection to a bank that is embedded"] == told(inside)
