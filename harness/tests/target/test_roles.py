"""Customers that a target file lists: who gets a part, and what stays impossible."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from assay.errors import CannotArrange, InputError
from assay.files.load import loads
from assay.history import Arrange, Entry, Holding, Owned
from assay.prepare import prepare
from assay.run.conduct import Session, conduct
from assay.run.journal import Journal
from assay.run.stage import set_up
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND, Policies
from assay.sandbox.serve import serving
from assay.target.profile import Role, RoleHolding
from assay.target.read import read_document
from assay.target.roles import RolesScene, RolesWorld, access_of, cast_for

NOW = datetime(2026, 9, 16, 8, tzinfo=UTC)
TODAY = date(2026, 9, 16)


def account(key: str, **traits: object) -> RoleHolding:
    return RoleHolding(resource="account", key=key, traits=traits)


def card(key: str, **traits: object) -> RoleHolding:
    named = {name.replace("_", "-"): value for name, value in traits.items()}
    return RoleHolding(resource="card", key=key, traits=named)


def role(
    name: str, *owns: RoleHolding, token_env: str | None = None, segment: str | None = None
) -> Role:
    return Role(name=name, token_env=token_env, owns=owns, segment=segment)


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


def player(world: RolesScene, segment: str | None = None) -> str | None:
    """Return who gets a part for a customer of a kind."""
    return world.arrange(Arrange(subject="psu", holdings=(), segment=segment))[1].id


def test_a_kind_of_customer() -> None:
    """A part for a kind goes to who is of that kind, and the customer is told to be."""
    everyone = role("a"), role("b", segment="PRO"), role("c", segment="PART")
    assert ["b", "c", "a"] == [player(scene(*everyone), one) for one in ("PRO", "PART", None)]
    wanted = Arrange(subject="psu", holdings=(), segment="PRO")
    assert "PRO" == scene(*everyone).arrange(wanted)[0].segment
    assert scene(*everyone).arrange(one("psu", count=0))[0].segment is None


def test_a_kind_that_may_not_be_served() -> None:
    """Nobody of whom a kind is told plays a part for anybody: the kind may be excluded."""
    world = scene(role("a"), role("b", segment="CORP"))
    assert "a" == player(world)
    with pytest.raises(CannotArrange, match="a customer who owns"):
        player(world)
    assert "b" == player(world, "CORP")


def test_all_of_some_kind() -> None:
    """Where all have a kind, the first one's is the ordinary one."""
    everyone = role("a", segment="PART"), role("b", segment="CORP"), role("c", segment="PART")
    world = scene(*everyone)
    assert ["a", "c"] == [player(world), player(world)]
    with pytest.raises(CannotArrange):
        player(world)


def test_a_kind_that_is_not_there() -> None:
    """The reason names the kind, and what the customer would have to own."""
    wanted = Arrange(subject="psu", holdings=(Holding(resource="card"),), segment="PRO")
    with pytest.raises(
        CannotArrange, match=r"a customer of segment PRO who owns 1 card \(world.roles\)"
    ):
        scene(role("a", card("C")), role("b", segment="PRO")).arrange(wanted)


def test_what_a_customer_types_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Login, password and codes come from variables; one that is not set is left out."""
    for name, value in {"T_LOGIN": "alice", "T_PASSWORD": "secret", "T_SMS": "123456"}.items():
        monkeypatch.setenv(name, value)
    alice = Role(
        name="alice",
        token_env=None,
        owns=(),
        login_env="T_LOGIN",
        password_env="T_PASSWORD",
        code_envs={"sms": "T_SMS", "cap": "T_NOT_THERE"},
    )
    access = access_of(alice, os.environ)
    assert ("alice", "secret") == (access.login, access.password)
    assert {"sms": "123456"} == access.codes
    assert (None, "alice") == (access.token, access.id)
    assert "secret" not in repr(alice)


def dated(key: str, *days: int) -> RoleHolding:
    entries = tuple((f"{key}{day}", f"2026-09-{day:02}") for day in days)
    return RoleHolding(resource="account", key=key, entries=entries or None)


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        ((), "unknown"),
        (None, "unknown"),
        ((date(2026, 9, 14),), "short"),
        ((date(2026, 9, 14), date(2026, 9, 13)), "long"),
        ((date(2026, 9, 14), date(2026, 9, 2)), "long"),
        ((date(2026, 8, 1),), "short"),
    ],
)
def test_who_has_entries_comes_first(wanted: tuple[date, ...] | None, key: str) -> None:
    """Where entries are asked for, the thing is taken whose list fits best; else the first."""
    alice = role("a", dated("unknown"), dated("short", 14, 15), dated("long", 2, 10, 14))
    holding = Holding(resource="account", entries=wanted)
    assert key == (cast_for(alice, [holding], TODAY) or ())[0].key


TARGET = """\
assay: 1
target: bank
extends: sandbox
sca: null
world:
  kind: roles
  offers: [{}]
  roles:
    alice: {{token_env: A, owns: [{{resource: account, key: A1}}]}}
"""
#: What each offer takes on the list, in place of what alice has.
TAKES = {
    "two-psu": "A1}]}\n    bob: {token_env: B, owns: [{resource: account, key: B1}]}",
    "credentials": "A1}], login_env: L, password_env: P}",
    "segments": "A1}], segment: PRO}",
    "entries": "A1, entries: [{key: E, on: 2026-09-01}]}]}",
}


@pytest.mark.parametrize(
    "offer",
    ["clock", "registrations", "providers", "banks", "effects", "direct-access", *TAKES],
)
def test_an_offer_that_cannot_be_kept(offer: str) -> None:
    """Is refused with its line and what to do, unless what it takes is listed."""
    text = TARGET.format(f"psu, {offer}")
    with pytest.raises(InputError) as told:
        read_document(loads(text, "bank.yaml"))
    (problem,) = told.value.problems
    assert 7 == problem.line
    assert offer in problem.what
    assert "take it out" in problem.hint
    if offer in TAKES:
        listed = text.replace("A1}]}", TAKES[offer])
        assert 2 == len(read_document(loads(listed, "bank.yaml")).world.offers)


def test_screens_that_nobody_can_fill_in() -> None:
    """A password is asked for on the screens, so somebody on the list has to have one."""
    text = TARGET.format("psu, write").replace("sca: null\n", "")
    with pytest.raises(InputError, match="the screens ask for a password, and no role has one"):
        read_document(loads(text, "bank.yaml"))
    assert read_document(loads(text.replace(", write", ""), "bank.yaml"))
    assert read_document(loads(text.replace("A1}]}", TAKES["credentials"]), "bank.yaml"))


def test_other_worlds_may_offer_anything() -> None:
    """Who writes a world in Python decides what it can do."""
    text = TARGET.format("psu, clock, providers, two-psu").split("  roles:")[0]
    python = text.replace("kind: roles", "kind: python\n  adapter: ours:Ours")
    assert 4 == len(read_document(loads(python, "bank.yaml")).world.offers)


def listed(folder: Path, monkeypatch: pytest.MonkeyPatch, policies: Policies) -> dict[str, str]:
    """Ask all about pages of a bank whose customer's entries are on the list."""
    entries = [str(TODAY - timedelta(days=n)) for n in (1, *range(1, 22))]
    wanted = {"holdings": [{"resource": "account"}, {"resource": "account", "entries": entries}]}
    with serving(make_app(policies)) as url, httpx.Client(trust_env=False) as http:
        worlds = f"{url}/assay-control/1/worlds"
        world = http.post(worlds, json={"now": NOW.isoformat()}).json()["world"]
        made = http.post(f"{worlds}/{world}/customers", json=wanted).json()
        owns = [
            {"resource": "account", "key": each["key"]}
            | {"entries": [{"key": e["key"], "on": e["date"]} for e in each["entries"]]}
            for each in made["holdings"]
        ]
        text = TARGET.format("psu, consent, roster, entries").partition("    alice:")[0]
        role = {"token_env": "T_LISTED", "owns": owns}
        path = folder / "bank.yaml"
        path.write_text(
            f"{text}    alice: {json.dumps(role)}\ntransport: http\nbase_url: {url}\nhosts: null\n"
        )
        monkeypatch.setenv("T_LISTED", made["token"])
        monkeypatch.setenv("ASSAY_LEDGER", str(folder / "ledger.sqlite"))
        prepared = prepare(["aisp"], str(path), keywords="transactions.page", now=lambda: NOW)
        stage = set_up(prepared.profile)
        stage.world = RolesWorld(roles=prepared.profile.world.roles, now=lambda: NOW)
        try:
            result = conduct(Session(plan=prepared.plan, stage=stage, journal=Journal(out=None)))
        finally:
            stage.close()
    return {one.obligation: one.standing.value for one in result.verdicts}


def test_pages_of_what_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With entries on the list, pages of them are judged: a sound bank conforms."""
    found = listed(tmp_path, monkeypatch, SOUND)
    assert 5 == len(found)
    assert {"conforms"} == {*found.values()}


def test_pages_that_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a bank that breaks them is convicted, of that alone."""
    mutant = next(one for one in MUTANTS if any("transactions.page" in name for name in one.breaks))
    found = listed(tmp_path, monkeypatch, mutant.change(SOUND))
    assert {n for n, one in found.items() if one == "violates"} == mutant.breaks & found.keys()
