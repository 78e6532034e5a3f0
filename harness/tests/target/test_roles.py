"""Customers that a target file lists: who gets a part, and what stays impossible."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from assay.errors import CannotArrange
from assay.history import Arrange, Entry, Holding, Owned
from assay.target.profile import Role, RoleHolding
from assay.target.roles import RolesScene, RolesWorld, cast_for

NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
TODAY = date(2026, 9, 16)


def account(key: str, **traits: object) -> RoleHolding:
    return RoleHolding(resource="account", key=key, traits=traits)


def card(key: str, **traits: object) -> RoleHolding:
    named = {name.replace("_", "-"): value for name, value in traits.items()}
    return RoleHolding(resource="card", key=key, traits=named)


def role(name: str, *owns: RoleHolding, token_env: str | None = None) -> Role:
    return Role(name=name, token_env=token_env, owns=owns)


def scene(*roles: Role) -> RolesScene:
    return RolesWorld(roles=roles, now=lambda: NOW).open()


def one(name: str, resource: str = "account", count: int = 1, **traits: object) -> Arrange:
    return Arrange(subject=name, holdings=(Holding(resource=resource, count=count, traits=traits),))


def test_wanted_first() -> None:
    """All that a customer owns is told, and what was asked for comes first."""
    alice = role("alice", account("A1"), card("C1"), account("A2"))
    found = cast_for(alice, [Holding(resource="card"), Holding(resource="account")], TODAY)
    assert ["C1", "A1", "A2"] == [thing.key for thing in found or ()]


def test_lacking() -> None:
    """Who owns fewer than asked for does not get the part, and nothing counts twice."""
    alice = role("alice", account("A1"))
    assert cast_for(alice, [Holding(resource="account", count=2)], TODAY) is None
    assert cast_for(alice, [Holding(resource="account")] * 2, TODAY) is None


@pytest.mark.parametrize(
    ("traits", "suits"),
    [
        ({}, True),
        ({"inactive": False}, True),
        ({"inactive": True}, False),
        ({"last-used": "2026-09-15"}, True),
        ({"last-used": "2026-08-19"}, True),
        ({"last-used": "2026-08-18"}, False),
        ({"last-used": "2026-09-17"}, False),
        ({"last-used": "yesterday"}, False),
        ({"last-used": "2026-09-15", "inactive": True}, False),
    ],
)
def test_ordinary(traits: dict[str, object], suits: bool) -> None:
    """Where no state is named an ordinary thing will do, and nothing else."""
    alice = role("alice", RoleHolding(resource="card", key="C", traits=traits))
    assert suits is (cast_for(alice, [Holding(resource="card")], TODAY) is not None)


def test_a_state() -> None:
    """A thing in the wanted state, ordinary otherwise, suits; one in two states does not."""
    dull = card("dull", inactive=True, last_used="2026-09-15")
    torn = card("torn", inactive=True, never_used=True)
    wanted = [Holding(resource="card", traits={"inactive": True})]
    assert ["dull", "torn"] == [
        thing.key for thing in cast_for(role("a", torn, dull), wanted, TODAY) or ()
    ]
    assert cast_for(role("b", torn), wanted, TODAY) is None


def test_nobody_plays_twice() -> None:
    """Two parts of one trial go to two customers, and a new trial begins with the first."""
    world = RolesWorld(roles=(role("a", account("A")), role("b", account("B"))), now=lambda: NOW)
    first = world.open()
    assert ["A", "B"] == [first.arrange(one(name))[0].owns[0].key for name in ("psu", "other")]
    with pytest.raises(CannotArrange, match="a customer who owns 1 account"):
        first.arrange(one("third"))
    assert "A" == world.open().arrange(one("psu"))[0].owns[0].key


def test_who_is_needed() -> None:
    """The reason names what a customer would have to own."""
    with pytest.raises(CannotArrange, match=r"owns 2 card inactive=True \(world.roles\)"):
        scene(role("a", card("C"))).arrange(one("psu", "card", 2, inactive=True))


def test_token_and_past(monkeypatch: pytest.MonkeyPatch) -> None:
    """A customer calls with the token of its variable, and is never taken for new."""
    monkeypatch.setenv("TEST_TOKEN", "secret")
    subject, access = scene(role("a", account("A"), token_env="TEST_TOKEN")).arrange(one("psu"))
    assert ("psu", NOW, False) == (subject.name, subject.now, subject.fresh)
    assert "secret" == access.token


def test_entries() -> None:
    """What the file says of dated things below is told as it stands."""
    holding = RoleHolding(resource="account", key="A", entries=(("T1", "2026-09-01"),))
    assert (
        Owned(key="A", resource="account", entries=(Entry(key="T1", on=date(2026, 9, 1)),)),
    ) == cast_for(role("a", holding), [], TODAY)


def test_the_clock() -> None:
    """The clock can be read and not moved."""
    assert NOW == scene().clock(None)
    with pytest.raises(CannotArrange, match="a clock that can be moved"):
        scene().clock(NOW + timedelta(days=1))
