"""The variables that a target file names: all that are missing, with their lines, without values."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.binding.model.target import Target
from assay.errors import InputError
from assay.files.load import loads
from assay.preparation.target_file import read_document
from assay.transport.secrets import KnownSecrets, Secret, known_secrets, look_up

TEXT = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
auth: {kind: bearer,
  token_env: T_ALL}
fixtures:
  kind: roles
  key_env: T_KEY
  roles:
    alice: {token_env: T_ALICE, owns: []}
    bob: {token_env: T_BOB, owns: []}
    carol: {owns: []}
"""


def target() -> Target:
    """Read the target file that names four variables."""
    return read_document(loads(TEXT, "t.yaml"))


def test_all_missing_variables_are_reported_at_once_with_their_lines() -> None:
    """Unset, empty and unsendable variables come together; one that is set does not come."""
    unset = "is not set (export {}=… before the run; secrets are never written in the file)"
    odd = "has a value that cannot be sent in a header (check for a space or line break at its end)"
    with pytest.raises(InputError) as caught:
        look_up(target(), {"T_ALL": "", "T_ALICE": "hush", "T_BOB": "two\nlines"})
    assert [
        f"t.yaml:6: auth: the environment variable T_ALL {unset.format('T_ALL')}",
        f"t.yaml:9: fixtures: the environment variable T_KEY {unset.format('T_KEY')}",
        f"t.yaml:12: fixtures.roles.bob: the environment variable T_BOB {odd}",
    ] == str(caught.value).splitlines()


def test_only_what_is_named_is_looked_up() -> None:
    """The rest of the environment stays where it is."""
    named = {"T_ALL": "a", "T_KEY": "b", "T_ALICE": "c", "T_BOB": "d"}
    assert named == look_up(target(), {**named, "HOME": "/root"})


AUTH_TEXT = """\
assay: 1
target: t
transport: http
base_url: https://bank.example
auth:
  kind: authorization-code
  token_url: https://b.example/t
  authorize_url: https://b.example/a
  redirect_uri: https://c.example/r
  client_id_env: T_ID
  client_secret_env: T_SECRET
  tpp: {kind: key, header: X-Key,
    token_env: T_OWN}
tls: {certificate_file: c.pem,
  key_password_env: T_TLS}
signature: {kind: cavage, key_file: k.pem, key_id: k,
  key_password_env: T_SEAL}
fixtures:
  kind: roles
  roles:
    alice: {owns: [],
      login_env: T_LOGIN,
      password_env: T_PASSWORD,
      code_envs: {sms: T_SMS,
        cap: T_CAP}}
sca: {kind: forms, screens: [{user: login}]}
"""
LINES = {
    "T_ID": (10, "auth"),
    "T_SECRET": (11, "auth"),
    "T_OWN": (13, "auth.tpp"),
    "T_TLS": (15, "tls"),
    "T_SEAL": (17, "signature"),
    "T_LOGIN": (22, "fixtures.roles.alice"),
    "T_PASSWORD": (23, "fixtures.roles.alice"),
    "T_SMS": (24, "fixtures.roles.alice.code_envs"),
    "T_CAP": (25, "fixtures.roles.alice.code_envs"),
}


def test_variables_of_authentication_have_lines_too() -> None:
    """Each variable that is not set is told where it is named, in the order of the file."""
    target = read_document(loads(AUTH_TEXT, "t.yaml"))
    with pytest.raises(InputError) as caught:
        look_up(target, {})
    assert sorted(
        f"t.yaml:{line}: {at}: the environment variable {name} is not set"
        for name, (line, at) in LINES.items()
    ) == sorted(str(one).partition(" (export")[0] for one in caught.value.problems)


def test_only_header_values_are_restricted() -> None:
    """A password may have any letters; a token that is shown in a header may not."""
    target = read_document(loads(AUTH_TEXT, "t.yaml"))
    odd = dict.fromkeys(LINES, "h\u00fcsh \n")
    with pytest.raises(InputError) as caught:
        look_up(target, odd)
    (problem,) = caught.value.problems
    assert (
        13,
        "auth.tpp: the environment variable T_OWN has a value that cannot be sent in a header",
    ) == (
        problem.line,
        problem.what,
    )
    assert odd | {"T_OWN": "k"} == look_up(target, odd | {"T_OWN": "k", "HOME": "/root"})


def test_libraries_for_authentication_are_imported_only_when_needed() -> None:
    """A run without OAuth, TLS and signatures loads none of the libraries for them."""
    code = (
        "import sys, assay.running.session; from assay.running.environment import set_up;"
        "from assay.preparation.prepare import prepare; set_up(prepare().target).close();"
        "print(sorted({'cryptography', 'http_message_signatures', 'httpx'}"
        " & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n" == out.stdout


def test_known_secrets_of_a_target() -> None:
    """Every variable of a target file is a lasting secret of its kind; a client has a pair."""
    text = TEXT.replace(
        "auth: {kind: bearer,\n  token_env: T_ALL}",
        "auth: {kind: client-credentials, token_url: https://bank.example/t, client_id: a b,\n"
        "  client_secret_env: T_ALL}",
    )
    oauth = read_document(loads(text, "t.yaml"))
    values = {"T_ALL": "s/1", "T_KEY": "key-1", "T_ALICE": "alice-1", "T_BOB": "bob-1"}
    known = known_secrets(oauth, values)
    assert [
        ("s/1", "secret"),
        ("key-1", "key"),
        ("alice-1", "token"),
        ("bob-1", "token"),
        ("a+b:s%2F1", "credentials"),
    ] == [(secret.value, secret.kind) for secret in known.entries]
    assert all(secret.lasting for secret in known.entries)


def test_a_secret_is_known_once() -> None:
    """A secret that is learned again, and an empty one, add nothing."""
    known = KnownSecrets()
    for value in ("a-1", "", None, "a-1", "b-2"):
        known.add(value, "token")
    assert ["a-1", "b-2"] == [secret.value for secret in known.entries]


def test_of_very_many_secrets_the_last_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader gets what was learned since it looked last, each secret once."""
    monkeypatch.setattr("assay.transport.secrets.MOST_SECRETS", 10)
    known, seen, count = KnownSecrets(), [], 0
    for number in range(50):
        known.add(f"secret-{number}", "token")
        if number % 3 == 0:
            seen += [secret.value for secret in known.after(count)]
            count = known.count
    assert [f"secret-{number}" for number in range(49)] == seen
    assert len(known.entries) <= 10
    assert [] == known.after(50)


def test_a_thread_keeps_what_it_learns_for_its_own_trial() -> None:
    """What a trial ahead of its turn learns is not taken for a secret of the trial that is written."""
    known, kept = KnownSecrets(), []
    with known.collected(kept.append):
        known.add("of another trial", "token")
        known.add("of another trial", "token")
        known.add(None, "token")
    assert (0, []) == (known.count, known.after(0))
    assert {Secret("of another trial", "token", lasting=False)} == {*kept}
    known.add("of this one", "token")
    assert ["of this one"] == [secret.value for secret in known.after(0)]
