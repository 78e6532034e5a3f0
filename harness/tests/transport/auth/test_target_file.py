"""What a target file says of authentication, TLS and signatures that cannot be meant."""

from __future__ import annotations

import pytest
from rows import for_each

from assay.errors import InputError
from assay.files.load import loads
from assay.preparation.target_file import read_document

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


@for_each(
    ("section", "said"),
    [
        (
            CLIENT + "token_env: T}",
            "auth.token_env: an OAuth token is requested, not read from a variable",
        ),
        (CLIENT + "pkce: true}", "auth.pkce: client credentials need no customer"),
        (CLIENT + "client_id: me}", "auth.client_id: client_secret_env is missing"),
        (CLIENT + "client_secret_env: S}", "auth.client_secret_env: client_id is missing"),
        (
            CLIENT + "client_id: me, client_auth: none, client_secret_env: S}",
            "auth.client_secret_env: `client_auth: none` sends no secret",
        ),
        (
            "auth: {kind: bearer, client_auth: post}",
            "auth.client_auth: `kind: bearer` does not use this key",
        ),
        ("auth: {kind: bearer, pkce: true}", "auth.pkce: `kind: bearer` does not use this key"),
        (CODE + "}", "auth.kind: authorization codes need an SCA signer that logs in"),
        (
            SCA + CLIENT + "tpp: {kind: authorization-code, token_url: https://b.example/t, "
            "authorize_url: https://b.example/a, redirect_uri: https://c.example/r}}",
            "auth.tpp.kind: the TPP's own calls have no customer to log in",
        ),
        (
            SIGNED + "cavage, algorithm: ed25519}",
            "signature.algorithm: unknown algorithm of a cavage signature",
        ),
        (
            SIGNED + "rfc9421, algorithm: rsa-sha256}",
            "signature.algorithm: unknown algorithm of a rfc9421 signature",
        ),
        (
            SIGNED + "cavage, covers: ['@method']}",
            "signature.covers[0]: a cavage signature cannot cover '@method'",
        ),
        (
            SIGNED + "cavage, covers: ['(expires)']}",
            "signature.covers[0]: a cavage signature cannot cover '(expires)'",
        ),
        (
            SIGNED + "cavage, covers: [date, '(created)']}",
            "signature.covers[1]: (created) cannot be used with",
        ),
        (
            SIGNED + "rfc9421, covers: ['@method', digest]}",
            "signature.covers[1]: a rfc9421 signature cannot cover 'digest'",
        ),
        (
            SIGNED + "cavage, covers: [date, content-digest]}",
            "signature.covers[1]: a cavage signature cannot cover 'content-digest'",
        ),
        (SIGNED + "rfc9421, covers: ['@query-param']}", "signature.covers[0]: a rfc9421 signatur"),
        (
            SIGNED + "cavage, covers: [digest]}",
            "signature.covers: some calls have none of these components",
        ),
    ],
)
def test_what_cannot_be_meant(section: str, said: str) -> None:
    """Each contradiction is told on its own line, before anything is looked up."""
    found = told(TEXT + section + "\n")
    assert any(said in one for one in found), found
    assert all(one.startswith(("5: ", "6: ")) for one in found)


@for_each(
    "section",
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
def test_what_can(section: str) -> None:
    """Nothing is said against what makes sense."""
    assert read_document(loads(TEXT + section + "\n", "t.yaml"))


def test_tls_without_tls() -> None:
    """Certificates for a connection that has none are told."""
    plain = TEXT.replace("https:", "http:") + "tls: {ca_file: ca.pem}\n"
    assert ["5: tls: TLS needs an https base_url"] == told(plain)
    inside = TEXT.replace("transport: http", "transport: embedded") + "tls: {ca_file: ca.pem}\n"
    assert ["5: tls: an embedded bank has no connection"] == told(inside)
