"""Making a target ready: secrets from the environment, and worlds of every kind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.binding.model.target import (
    Auth,
    AuthKind,
    FixtureKind,
    Fixtures,
    Role,
    Target,
    TransportKind,
)
from assay.errors import InputError
from assay.fixtures.control import ControlProvider
from assay.fixtures.providers import MissingFixtures
from assay.fixtures.roles import RolesFixture
from assay.running.environment import set_up

PROFILE = Target(
    name="t",
    transport=TransportKind.HTTP,
    base_url="https://bank.example",
    path="t.yaml",
    lines={"auth": 5, "fixtures": 7, "fixtures.roles.alice": 9},
)
ALICE = Fixtures(kind=FixtureKind.ROLES, roles=(Role(name="alice", token_env="TEST_A", owns=()),))


@pytest.mark.parametrize(
    ("target", "line", "name"),
    [
        (replace(PROFILE, auth=Auth(kind=AuthKind.BEARER, token_env="TEST_A")), 5, "auth"),
        (
            replace(PROFILE, fixtures=Fixtures(kind=FixtureKind.CONTROL, key_env="TEST_A")),
            7,
            "fixtures",
        ),
        (replace(PROFILE, fixtures=ALICE), 9, "fixtures.roles.alice"),
    ],
)
def test_secrets(monkeypatch: pytest.MonkeyPatch, target: Target, line: int, name: str) -> None:
    """A secret that is not set, or that no header can hold, is told with its place, not its value."""
    for value in (None, ""):
        monkeypatch.delenv("TEST_A", raising=False)
        if value is not None:
            monkeypatch.setenv("TEST_A", value)
        with pytest.raises(InputError, match=f"t.yaml:{line}: {name}: .* TEST_A is not set"):
            set_up(target)
    for value in ("hush\n", " hush", "h\u00fcsh", "hu\x7fsh"):
        monkeypatch.setenv("TEST_A", value)
        with pytest.raises(
            InputError, match="TEST_A has a value that cannot be sent in a header"
        ) as caught:
            set_up(target)
        assert "sh" not in str(caught.value).partition("TEST_A")[2].replace("(is there", "")
    monkeypatch.setenv("TEST_A", "hush")
    set_up(target).close()


@pytest.mark.parametrize(
    ("world", "kind"),
    [
        (Fixtures(kind=FixtureKind.CONTROL), ControlProvider),
        (Fixtures(kind=FixtureKind.ROLES), RolesFixture),
        (Fixtures(), MissingFixtures),
    ],
)
def test_worlds(world: Fixtures, kind: type) -> None:
    """Each kind of world is arranged by its own adapter."""
    environment = set_up(replace(PROFILE, fixtures=world))
    environment.close()
    assert isinstance(environment.fixtures, kind)


def test_the_common_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token for all customers is looked up once, and kept out of the profile."""
    monkeypatch.setenv("TEST_A", "hush")
    environment = set_up(replace(PROFILE, auth=Auth(kind=AuthKind.BEARER, token_env="TEST_A")))
    environment.close()
    assert "hush" == environment.common.token
    assert "hush" not in repr(environment.target)
