"""The variables that a profile names: all that lack, each with its line, never their values."""

from __future__ import annotations

import pytest

from assay.binding.read import read_document
from assay.binding.target import Target
from assay.contract.files.load import loads
from assay.errors import InputError
from assay.transport.secrets import look_up

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
    """Read the profile that names four variables."""
    return read_document(loads(TEXT, "t.yaml"))


def test_all_that_lack_are_told_at_once_with_their_lines() -> None:
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
