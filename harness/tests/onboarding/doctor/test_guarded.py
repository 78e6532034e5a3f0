"""A bank that demands certificates, signatures and OAuth2: which line is wrong when it says no."""

import os
from pathlib import Path

import pytest

from assay.errors import Exit
from assay.onboarding.doctor import examine
from assay.sandbox.app import make_app
from assay.sandbox.guard import guarded
from assay.sandbox.guard.certificates import open_certificates
from assay.sandbox.guard.server import Tls
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
GUARDED = (HERE / "guarded.yaml").read_text(encoding="utf-8")

#: What is wrong, what stands there instead, and the line and key that are to be named.
MISTAKES = {
    "expired certificate": (
        "papers/client.pem\n  key_file: papers/client-key.pem",
        "papers/expired.pem\n  key_file: papers/expired-key.pem",
        20,
        "tls.certificate_file",
    ),
    "stranger's certificate": (
        "papers/client.pem\n  key_file: papers/client-key.pem",
        "papers/stranger.pem\n  key_file: papers/stranger-key.pem",
        20,
        "tls.certificate_file",
    ),
    "no certificate": (
        "\n  certificate_file: papers/client.pem\n  key_file: papers/client-key.pem",
        "",
        18,
        "tls",
    ),
    "wrong authority": ("papers/ca.pem", "papers/stranger.pem", 19, "tls.ca_file"),
    "no authority": ("  ca_file: papers/ca.pem\n", "", 5, "base_url"),
    "no such file": ("papers/ca.pem", "papers/cacert.pem", 19, "tls.ca_file"),
    "another's key": ("client-key.pem", "seal-ec-key.pem", 21, "tls.key_file"),
    "a key of another kind": ("seal-rsa-key.pem", "seal-ec-key.pem", 24, "signature.key_file"),
    "key id": ("seal-rsa.pem", "seal-dsa.pem", 25, "signature.key_id"),
    "not all is signed": ("date, digest, x-request-id]", "date, digest]", 22, "signature"),
    "secret": ("DOCTOR_SECRET", "DOCTOR_WRONG", 12, "auth.client_secret_env"),
    "unset secret": ("DOCTOR_SECRET", "DOCTOR_NOTHING", 12, "auth"),
    "scope": ("scope: aisp", "scope: accounts", 13, "auth.scope"),
    "scope of the third party": ("scope: pisp", "scope: payments", 17, "auth.tpp.scope"),
    "token url": ("/oauth/token\n  redirect", "/oauth/tokens\n  redirect", 9, "auth.token_url"),
    "authorize url": ("/oauth/authorize", "/oauth/auth", 8, "auth.authorize_url"),
    "another name": ("base_url: URL", "base_url: ELSEWHERE", 5, "base_url"),
    "tokens without OAuth": (
        GUARDED[GUARDED.index("auth:") : GUARDED.index("tls:")],
        "auth: {kind: bearer}\n",
        6,
        "auth.kind",
    ),
}


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    """Serve a bank that requires TLS, OAuth and signatures; return its URL and a folder with the keys."""
    folder = tmp_path_factory.mktemp("guarded")
    made = open_certificates(folder / "papers")
    (folder / "bank.yaml").write_text((HERE / "bank.yaml").read_text(encoding="utf-8"))
    app = guarded(make_app(), signatures="cavage", keys=made.signers(), oauth=True)
    tls = Tls(
        certificate=made.certificate("server"),
        key=made.key("server"),
        clients=made.certificate("ca"),
        demand="handshake",
    )
    with serving(app, tls) as url:
        yield url, folder


@pytest.fixture(autouse=True)
def secrets(monkeypatch):
    """Set the client's secret, and a wrong one."""
    monkeypatch.setenv("DOCTOR_SECRET", "demo-tpp-secret")
    monkeypatch.setenv("DOCTOR_WRONG", "nobody-s-secret")
    assert "DOCTOR_NOTHING" not in os.environ


def examined(text, bank):
    """Examine a target file for the bank; return the examination and the file."""
    url, folder = bank
    path = folder / "guarded.yaml"
    # The same address, in a form that the server's certificate does not name.
    elsewhere = url.replace("127.0.0.1", "127.1")
    path.write_text(text.replace("ELSEWHERE", elsewhere).replace("URL", url), encoding="utf-8")
    return examine(str(path)), path


@pytest.mark.parametrize("name", MISTAKES)
def test_the_line_is_named(name, bank):
    """The first problem is at the line that is wrong, in the user's own file."""
    right, wrong, line, key = MISTAKES[name]
    assert 1 == GUARDED.count(right)
    examination, path = examined(GUARDED.replace(right, wrong), bank)
    first = examination.blocking[0]
    assert (str(path), line, key) == (first.path, first.line, first.key)
    assert Exit.USAGE == examination.exit


def test_no_secret_is_told(bank):
    """Findings contain neither the secret that was sent nor a token."""
    for wrong in ("DOCTOR_WRONG", "DOCTOR_SECRET"):
        text = GUARDED.replace("DOCTOR_SECRET", wrong).replace("seal-rsa.pem", "seal-dsa.pem")
        said = "\n".join(map(str, examined(text, bank)[0].findings))
        assert said
        assert "demo-tpp-secret" not in said
        assert "nobody-s-secret" not in said
        assert "Bearer" not in said


def test_the_sound_file_is_found_sound(bank):
    """With everything that the bank requires, nothing is found and no check is skipped."""
    found, _ = examined(GUARDED, bank)
    assert (Exit.OK, ()) == (found.exit, found.findings)
    assert [] == [one.step.name for one in found.outcomes if one.findings is None]
