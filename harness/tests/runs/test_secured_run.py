"""A bank that demands everything: TLS with a client's certificate, signatures, and OAuth2.

A whole run against it, in its own dialect and in STET, says what a run against the plain
bank says.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from embedded import run_plan
from embedded import standings as standings_of

from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.dialects import DIALECTS
from assay.sandbox.guard import guarded
from assay.sandbox.guard.certificates import CertificateFolder, open_certificates
from assay.sandbox.guard.server import Tls
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

#: The other form of the host has another name, for which no certificate is made here.
HOSTS = "pis/hosts.second-form"

SECURED = """\
assay: 1
target: secured
extends: {binding}
transport: http
base_url: {url}{path}
hosts: null
fixtures: {{url: "{url}"}}
tls: {{ca_file: ca.pem, certificate_file: client.pem, key_file: client-key.pem}}
signature:
  kind: {kind}
  key_file: {key}-key.pem
  key_id: https://tpp.example/{key}.pem
  algorithm: {algorithm}
  covers: {covers}
auth:
  kind: authorization-code
  authorize_url: {url}/oauth/authorize
  token_url: {url}/oauth/token
  redirect_uri: https://tpp.example/back
  client_id: demo-tpp
  client_secret_env: TEST_CLIENT_SECRET
  scope: aisp
  pkce: true
  tpp: {{kind: client-credentials, token_url: "{url}/oauth/token", scope: pisp}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CertificateFolder:
    """Make the certificates once."""
    return open_certificates(tmp_path_factory.mktemp("papers"))


def standings(target: str) -> dict[str, Standing]:
    """Run everything, and return what became of each obligation."""
    prepared = prepare(target_name=target)
    return standings_of(run_plan(prepared.plan, prepared.target))


#: A way of signing for each dialect.
WAYS = {
    "sandbox": {
        "kind": "rfc9421",
        "key": "seal-ec",
        "algorithm": "ecdsa-p256-sha256",
        "covers": '["@method", "@target-uri", content-digest]',
    },
    "stet-1.4.0": {
        "kind": "cavage",
        "key": "seal-rsa",
        "algorithm": "rsa-sha256",
        "covers": '["(request-target)", digest, x-request-id]',
    },
}


@pytest.mark.parametrize("binding", WAYS)
def test_the_same_verdicts(
    folder: CertificateFolder, monkeypatch: pytest.MonkeyPatch, binding: str
) -> None:
    """What is demanded on the way changes no verdict."""
    monkeypatch.setenv("TEST_CLIENT_SECRET", "demo-tpp-secret")
    way, stet = WAYS[binding], binding != "sandbox"
    bank = DIALECTS["stet"](make_app()) if stet else make_app()
    demanding = guarded(bank, signatures=way["kind"], keys=folder.signers(), oauth=True)
    tls = Tls(
        certificate=folder.certificate("server"),
        key=folder.key("server"),
        clients=folder.certificate("ca"),
    )
    file = Path(folder.certificate("ca")).parent / f"{binding}.yaml"
    with serving(demanding, tls=tls) as url:
        path = "/stet/psd2/v1" if stet else ""
        file.write_text(
            SECURED.format(binding=binding, url=url, path=path, **way),
            encoding="utf-8",
        )
        secured = standings(str(file))
    plain = standings(binding)
    different = {name for name in plain if plain[name] is not secured[name]}
    # Only here there is a token endpoint.
    grants = {name for name in different if name.endswith("/password-grant")}
    assert [Standing.CONFORMS] * 2 == [secured[name] for name in grants]
    different -= grants
    # The one server here is the only bank of its group.
    alone = {name for name in different if name.endswith(("-elsewhere", "/refused-outside"))}
    assert all(secured[name] is Standing.NOT_APPLICABLE for name in alone)
    different -= alone
    assert {Standing.UNVERIFIED} == {secured[name] for name in different}
    assert all("host" in name for name in different)
