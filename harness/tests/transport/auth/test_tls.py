"""Connections with TLS: each way in which one is refused is told by the line that decides it."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from assay.binding.model.target import (
    Auth,
    AuthKind,
    ClientAuth,
    OAuth,
    Signature,
    SignatureKind,
    Target,
    TransportKind,
)
from assay.binding.model.target import Tls as Said
from assay.binding.wire.encode import HttpRequest
from assay.errors import Exit, InputError
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.running.environment import Environment, set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.guard import guarded
from assay.sandbox.guard.certificates import CertificateFolder
from assay.sandbox.guard.server import Tls
from assay.sandbox.serve import serving
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.http import HttpClient, explainer, tls_context

TEXT = """\
assay: 1
target: t
transport: http
base_url: {url}
fixtures: {{kind: control}}
"""
OURS = "{ca_file: ca.pem, certificate_file: NAME.pem, key_file: NAME-key.pem}"


def tried(target: Target) -> str:
    """Make a first call, and return what is said when it comes to nothing."""
    environment = set_up(target)
    try:
        with pytest.raises(AuthenticationError) as caught:
            environment.fixtures.open()
        with pytest.raises(AuthenticationError) as again:
            environment.client.send(HttpRequest(method="GET", url=f"{target.base_url}/accounts"))
    finally:
        environment.close()
    assert str(caught.value) == str(again.value)
    assert caught.value.unconnected
    return str(caught.value).partition("bank.yaml:")[2]


@pytest.fixture
def bank(folder: CertificateFolder) -> Tls:
    """A bank with TLS that demands a certificate of its clients."""
    return Tls(
        certificate=folder.certificate("server"),
        key=folder.key("server"),
        clients=folder.certificate("ca"),
    )


@pytest.mark.parametrize(
    ("tls", "said"),
    [
        ("{ca_file: stranger.pem}", "6: tls.ca_file: the target's certificate comes from an auth"),
        ("{ca_file: ca.pem}", "6: tls: the target refuses the connection (it may require a cl"),
        (OURS.replace("NAME", "stranger"), "6: tls.certificate_file: the target does not know who"),
    ],
)
def test_refusals(read: Callable[[str], Target], bank: Tls, tls: str, said: str) -> None:
    """An authority that is not trusted, on either side, and a certificate that is not there."""
    with serving(make_app(), tls=bank) as url:
        assert tried(read(TEXT.format(url=url) + f"tls: {tls}\n")).startswith(said)


def test_nothing_said_of_trust(read: Callable[[str], Target], bank: Tls) -> None:
    """A bank whose authority nobody knows is told by its URL, with what would name it."""
    with serving(make_app(), tls=bank) as url:
        said = tried(read(TEXT.format(url=url)))
    assert said.startswith("4: base_url: the target's certificate comes from an authority that")
    assert said.endswith("(set tls.ca_file to the certificate of the authority)")


def test_an_expired_certificate_that_went_out(
    read: Callable[[str], Target], bank: Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours may expire on the way, too: then the bank says so, and the line is the same."""
    monkeypatch.setattr("assay.transport.auth.keys._validity_error", lambda *_: "")
    with serving(make_app(), tls=bank) as url:
        target = read(TEXT.format(url=url) + f"tls: {OURS.replace('NAME', 'expired')}\n")
        said = tried(target)
    assert said.startswith("6: tls.certificate_file: the target says that our certificate has exp")


def test_an_expired_certificate_is_not_sent(read: Callable[[str], Target]) -> None:
    """Before the first call it is read, and refused."""
    target = read(
        TEXT.format(url="https://127.0.0.1:9") + f"tls: {OURS.replace('NAME', 'expired')}\n"
    )
    with pytest.raises(InputError, match=r"bank.yaml:6: tls.certificate_file: the certificate exp"):
        set_up(target)


def test_another_name(read: Callable[[str], Target], folder: CertificateFolder) -> None:
    """A certificate for other names is told by the URL: which host is called there."""
    target = read(TEXT.format(url="https://bank.example"))
    wrong = ssl.SSLCertVerificationError("no match")
    wrong.verify_code = 62
    explanation = explainer(target)(wrong)
    assert explanation
    assert (4, "base_url: the target's certificate is for another name") == (
        explanation.line,
        explanation.what,
    )
    assert folder.folder.name not in explanation.what


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (10, "base_url: the target's certificate has expired"),
        (9, "base_url: the target's certificate is not valid yet"),
        (7, "base_url: the target's certificate is not valid (OpenSSL: 7)"),
    ],
)
def test_their_certificate(read: Callable[[str], Target], code: int, what: str) -> None:
    """What OpenSSL has against the bank's certificate is put into words."""
    wrong = ssl.SSLCertVerificationError("hush")
    wrong.verify_code = code
    outer = httpx.ConnectError("outer")
    outer.__cause__ = wrong
    found = explainer(read(TEXT.format(url="https://bank.example")))(outer)
    assert found
    assert what == found.what


@pytest.mark.parametrize(
    ("reason", "own", "what"),
    [
        ("SSLV3_ALERT_CERTIFICATE_REVOKED", True, "the target says that our certificate was rev"),
        ("TLSV1_ALERT_ACCESS_DENIED", True, "the target recognises our certificate, but denies"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", True, "the target refuses the connection"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", False, "the target refuses the connection"),
        ("WRONG_VERSION_NUMBER", False, "base_url: the target does not speak TLS on this port"),
        ("SOMETHING_NEW", False, "base_url: no TLS connection (OpenSSL: SOMETHING_NEW)"),
    ],
)
def test_alerts(read: Callable[[str], Target], reason: str, own: bool, what: str) -> None:
    """What the target says of ours names our certificate where we have one, else asks for it."""
    tls = f"tls: {OURS.replace('NAME', 'client')}\n" if own else ""
    wrong = ssl.SSLError()
    wrong.reason = reason
    explanation = explainer(read(TEXT.format(url="https://bank.example") + tls))(wrong)
    assert explanation
    assert what in explanation.what
    assert ("certificate_file" in str(explanation)) is (own or "HANDSHAKE" in reason)


def test_other_trouble_is_nobodys_line(read: Callable[[str], Target]) -> None:
    """An error that has nothing to do with TLS is put down to no line."""
    explain = explainer(read(TEXT.format(url="https://bank.example")))
    assert explain(httpx.ConnectError("refused")) is None


def test_trouble_in_mid_run_is_told_and_not_raised(read: Callable[[str], Target]) -> None:
    """Once the bank was reached, a connection that is refused costs one call, with its line."""

    class Broken(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            wrong = ssl.SSLError()
            wrong.reason = "SSLV3_ALERT_CERTIFICATE_EXPIRED"
            raise httpx.ReadError("hush") from wrong

    base = "https://bank.example"
    target = read(TEXT.format(url=base) + f"tls: {OURS.replace('NAME', 'client')}\n")
    client = HttpClient(base_url=base, transport=Broken(), explain=explainer(target), reached=True)
    sent = client.send(HttpRequest(method="GET", url=f"{base}/accounts"))
    assert "6: tls.certificate_file: the target says that our certificate has expired" in (
        sent.trouble
    )


def test_a_run_with_mutual_authentication(folder: CertificateFolder, bank: Tls) -> None:
    """With the certificate that the bank demands, a trial conforms as it does without."""
    prepared = prepare(("aisp",), None, keywords="redirect-only")
    with serving(make_app(), tls=bank) as url:
        said = Said(
            ca_file=folder.certificate("ca"),
            certificate_file=folder.certificate("client"),
            key_file=folder.key("client"),
        )
        target = replace(
            prepared.target, transport=TransportKind.HTTP, base_url=url, nearby=True, tls=said
        )
        environment: Environment = set_up(target)
        try:
            result = run_session(
                Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
            )
        finally:
            environment.close()
    assert (Exit.OK, len(prepared.plan.trials)) == (result.exit, result.counts["conforms"])


def test_everything_at_once(folder: CertificateFolder, bank: Tls) -> None:
    """Certificates, signatures and both ways to tokens: what conforms without them does with them."""
    prepared = prepare(("aisp", "pis"), None, keywords="redirect-only")
    app = guarded(make_app(), signatures="rfc9421", keys=folder.signers(), oauth=True)
    with serving(app, tls=bank) as url:
        asks = OAuth(
            token_url=f"{url}/oauth/token",
            authorize_url=f"{url}/oauth/authorize",
            redirect_uri="https://tpp.example/cb",
            pkce=True,
        )
        own = OAuth(token_url=f"{url}/oauth/token", client_auth=ClientAuth.POST)
        target = replace(
            prepared.target,
            transport=TransportKind.HTTP,
            base_url=url,
            nearby=True,
            tls=Said(
                ca_file=folder.certificate("ca"),
                certificate_file=folder.certificate("client"),
                key_file=folder.key("client"),
            ),
            signature=Signature(
                kind=SignatureKind.RFC9421,
                key_file=folder.key("seal-ed25519"),
                key_id="https://tpp.example/seal-ed25519.pem",
                algorithm="ed25519",
                covers=("@method", "@target-uri", "content-digest"),
            ),
            auth=Auth(kind=AuthKind.CODE, oauth=asks, tpp=Auth(kind=AuthKind.CLIENT, oauth=own)),
        )
        environment = set_up(target)
        try:
            result = run_session(
                Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
            )
        finally:
            environment.close()
    assert (Exit.OK, len(prepared.plan.trials)) == (result.exit, result.counts["conforms"])


@pytest.mark.parametrize("url", ["https://login.example/token", "HTTPS://login.example", "//x"])
def test_the_usual_authorities(url: str) -> None:
    """They are trusted where any address may be an encrypted one, as that for tokens may."""
    target = prepare().target
    assert tls_context(target, {}, ["http://127.0.0.1:8080", url]) is None


def test_no_authority_where_nothing_is_encrypted() -> None:
    """A context that is not needed trusts no authority, so that it does no harm if it is used."""
    context = tls_context(prepare().target, {}, ["http://127.0.0.1:8080", "HTTP://bank.test/x"])
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert [] == context.get_ca_certs()
