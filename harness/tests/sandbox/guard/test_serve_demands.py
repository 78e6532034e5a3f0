"""`assay serve` with demands: what is made, what is told, and what cannot be asked for."""

from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner

from assay.cli.serve import command
from assay.cli.serve_security import ServeSecurity
from assay.errors import InputError
from assay.sandbox.app import make_app
from assay.sandbox.guard.server import Tls


def demands(folder=None, **named):
    whole = {"mutual": None, "signatures": None, "oauth": False, **named}
    return ServeSecurity(folder=folder, **whole)


def test_nothing_is_demanded_unless_asked():
    """A bank without demands is served as it is, without TLS."""
    app = make_app()
    assert not demands()
    assert (app, None) == demands().put_before(app)
    guarded, shown = demands(oauth=True).put_before(app)
    assert guarded is not app
    assert shown is None


def test_tls(folder):
    """Certificates are those in the folder; clients' are demanded when that is asked for."""
    app = make_app()
    same, shown = demands(folder.folder).put_before(app)
    assert same is app
    assert Tls(certificate=folder.certificate("server"), key=folder.key("server")) == shown
    _, shown = demands(folder.folder, mutual="answer").put_before(app)
    assert (folder.certificate("ca"), "answer") == (shown.clients, shown.demand)


@pytest.mark.parametrize(
    "named", [{"mutual": "handshake"}, {"signatures": "cavage"}], ids=["mutual", "signatures"]
)
def test_certificates_are_needed(named):
    """What needs certificates says which option is missing."""
    with pytest.raises(InputError, match=r"needs certificates[\s\S]*add --tls DIR"):
        demands(**named).put_before(make_app())


def test_a_folder_of_no_use(folder, tmp_path):
    """A folder with some of the files, or that is none, is said to be so."""
    (tmp_path / "ca.pem").write_text("x")
    with pytest.raises(InputError, match=r"but not server\.pem"):
        demands(tmp_path).put_before(make_app())
    with pytest.raises(InputError, match="cannot be read or written"):
        demands(tmp_path / "ca.pem" / "below").put_before(make_app())


@pytest.mark.parametrize("name", ["server", "seal-ec"])
def test_a_file_that_is_no_certificate(folder, tmp_path, name):
    """A certificate that does not read is the folder's fault, and said to be so."""
    copied = Path(copytree(folder.folder, tmp_path / "copied"))
    (copied / f"{name}.pem").write_text("nonsense")
    with pytest.raises(InputError, match="has a file that is not a certificate"):
        demands(copied, signatures="cavage").put_before(make_app())


def test_what_is_told(folder):
    """Whoever serves is told which file is for what, and how to get a token."""
    where = folder.folder
    asked = demands(where, mutual="handshake", signatures="cavage", oauth=True)
    text = "\n".join(asked.instructions("https://bank.test"))
    assert "client       a third party's, to be recognised by" in text
    assert "https://tpp.example/seal-rsa.pem" in text
    assert "https://tpp.example/seal-ec.pem" not in text
    assert f"--cacert {where / 'ca.pem'} --cert {where / 'client.pem'} --key " in text
    assert "https://bank.test/oauth/token" in text
    assert "seal-ec.pem" in "\n".join(demands(where, signatures="rfc9421").instructions("x"))
    assert "Bearer demo-alice' x/accounts" in "\n".join(demands(where).instructions("x"))


def test_the_command_says_what_is_missing():
    """On the command line it is a message and a hint, and no traceback."""
    ended = CliRunner().invoke(command, ["--mutual"])
    assert isinstance(ended.exception, InputError)
    assert "add --tls DIR" in str(ended.exception)
