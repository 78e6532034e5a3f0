"""The security options of `assay serve`: certificates, output and errors."""

from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner
from rows import for_each

from assay.cli.serve import ServeSecurity, command
from assay.errors import InputError
from assay.sandbox.app import make_app
from assay.sandbox.guard.server import Tls


def demands(folder=None, **named):
    whole = {"mutual": None, "signatures": None, "oauth": False, **named}
    return ServeSecurity(folder=folder, **whole)


def test_nothing_is_demanded_unless_asked():
    """Without security options the bank is served unchanged, without TLS."""
    app = make_app()
    assert not demands()
    assert (app, None) == demands().put_before(app)
    guarded, shown = demands(oauth=True).put_before(app)
    assert guarded is not app
    assert shown is None


def test_tls(folder):
    """Certificates come from the folder; client certificates are required on request."""
    app = make_app()
    same, shown = demands(folder.folder).put_before(app)
    assert same is app
    assert Tls(certificate=folder.certificate("server"), key=folder.key("server")) == shown
    _, shown = demands(folder.folder, mutual="answer").put_before(app)
    assert (folder.certificate("ca"), "answer") == (shown.clients, shown.demand)


@for_each("named", [{"mutual": "handshake"}, {"signatures": "cavage"}])
def test_certificates_are_needed(named):
    """An option that needs certificates says which option is missing."""
    with pytest.raises(InputError, match=r"needs certificates[\s\S]*add --tls DIR"):
        demands(**named).put_before(make_app())


def test_a_folder_of_no_use(folder, tmp_path):
    """An incomplete folder, or a path that is no folder, is an error."""
    (tmp_path / "ca.pem").write_text("x")
    with pytest.raises(InputError, match=r"but not server\.pem"):
        demands(tmp_path).put_before(make_app())
    with pytest.raises(InputError, match="cannot be read or written"):
        demands(tmp_path / "ca.pem" / "below").put_before(make_app())


@pytest.mark.parametrize("name", ["server", "seal-ec"])
def test_a_file_that_is_no_certificate(folder, tmp_path, name):
    """A malformed certificate is an error of the folder."""
    copied = Path(copytree(folder.folder, tmp_path / "copied"))
    (copied / f"{name}.pem").write_text("nonsense")
    with pytest.raises(InputError, match="contains a file that is not a certificate"):
        demands(copied, signatures="cavage").put_before(make_app())


def test_what_is_told(folder):
    """The output explains each file, and how to get a token."""
    where = folder.folder
    asked = demands(where, mutual="handshake", signatures="cavage", oauth=True)
    text = "\n".join(asked.instructions("https://bank.test"))
    assert "client       the TPP's TLS client certificate" in text
    assert "https://tpp.example/seal-rsa.pem" in text
    assert "https://tpp.example/seal-ec.pem" not in text
    assert f"--cacert {where / 'ca.pem'} --cert {where / 'client.pem'} --key " in text
    assert "https://bank.test/oauth/token" in text
    assert "seal-ec.pem" in "\n".join(demands(where, signatures="rfc9421").instructions("x"))
    assert "Bearer demo-alice' x/accounts" in "\n".join(demands(where).instructions("x"))


def test_the_command_says_what_is_missing():
    """The command line shows a message and a hint, and no traceback."""
    ended = CliRunner().invoke(command, ["--mutual"])
    assert isinstance(ended.exception, InputError)
    assert "add --tls DIR" in str(ended.exception)
