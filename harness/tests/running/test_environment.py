"""Making a target ready: secrets from the environment, and worlds of every kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

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
from assay.contract.model import Capability
from assay.errors import CannotArrange, InputError
from assay.fixtures.control import ControlProvider
from assay.fixtures.providers import MissingFixtures
from assay.fixtures.roles import RolesFixture
from assay.parsing.parse import find_contract, parse_contract
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


class Clock:
    """A fixture of which only the clock is used, which stays where a trial left it."""

    def __init__(self, now: datetime, *, moves: bool = True) -> None:
        self.now, self.moves, self.asked = now, moves, 0

    def clock(self, to: datetime | None) -> datetime:
        if to is not None and not self.moves:
            raise CannotArrange("a clock")
        self.asked += 1
        self.now = to or self.now
        return self.now


@pytest.mark.parametrize(
    ("kind", "offered", "begun", "now"),
    [
        ("python", True, "2026-11-29T03:20", "2026-11-29T06:00"),
        ("python", True, "2026-11-29T01:59", "2026-11-29T01:59"),
        ("control", True, "2026-11-29T02:00", "2026-11-29T06:00"),
        ("python", False, "2026-11-29T03:20", "2026-11-29T03:20"),
    ],
)
def test_no_trial_begins_in_maintenance_hours(
    kind: str, offered: bool, begun: str, now: str
) -> None:
    """If the clock can be moved, to the first moment after them; the contract says which they are."""
    paris = ZoneInfo("Europe/Paris")
    aisp = replace(parse_contract(find_contract("aisp")), zone=paris)
    offers = frozenset({Capability.CLOCK} if offered else ())
    fixtures = Fixtures(kind=FixtureKind.PYTHON, offers=offers, adapter="a:B")
    environment = set_up(replace(PROFILE, fixtures=Fixtures(kind=FixtureKind.CONTROL)))
    fixtures = replace(fixtures, kind=FixtureKind(kind))
    environment.target = replace(PROFILE, fixtures=fixtures)
    environment.expect_closures([aisp])
    clock = Clock(datetime.fromisoformat(begun).replace(tzinfo=paris))
    environment.leave_closure(cast("Any", clock))
    assert datetime.fromisoformat(now).replace(tzinfo=paris) == clock.now
    # Where each trial has a clock of its own, the first that is right says it for all.
    asked = clock.asked
    environment.leave_closure(cast("Any", clock))
    environment.leave_closure(cast("Any", clock))
    assert clock.asked - asked == {"python": 2, "control": 1}[kind] * offered


def test_a_clock_that_cannot_be_moved_after_all_is_left_alone() -> None:
    """The trial says what it needs."""
    environment = set_up(replace(PROFILE, fixtures=Fixtures(kind=FixtureKind.CONTROL)))
    offers = frozenset({Capability.CLOCK})
    fixtures = Fixtures(kind=FixtureKind.CONTROL, offers=offers)
    environment.target = replace(PROFILE, fixtures=fixtures)
    environment.closures = (lambda _: True,)
    clock = Clock(datetime(2026, 11, 29, 3, tzinfo=UTC), moves=False)
    environment.leave_closure(cast("Any", clock))
    assert datetime(2026, 11, 29, 3, tzinfo=UTC) == clock.now


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
