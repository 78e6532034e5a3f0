"""A whole run over loopback HTTP, with customers who were there before the harness came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.plan import Fate, Plan
from assay.prepare import Prepared, prepare
from assay.run.conduct import Result, Session, conduct
from assay.run.journal import Journal
from assay.run.searching import MAKERS, Searching, limits_of
from assay.run.stage import set_up
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.target.encode import Request
from assay.target.roles import RolesWorld
from assay.verdict import Standing

#: A Wednesday morning; the bank's clock stands still there, and so does ours.
NOW = datetime.fromisoformat("2026-09-16T10:00:00+02:00")
TODAY = NOW.date()
EDGE = date(2026, 7, 16)

ALICE: list[dict[str, Any]] = [
    {"resource": "account", "count": 20},
    {"resource": "account", "traits": {"savings": True}},
    {"resource": "account", "traits": {"inactive": True}},
    {"resource": "account", "traits": {"offline": True}},
    {"resource": "card", "count": 4},
    {"resource": "card", "traits": {"inactive": True}},
    {"resource": "card", "traits": {"never-used": True}},
    *(
        {"resource": "card", "traits": {"last-used": str(day)}}
        for day in (EDGE + timedelta(days=1), EDGE, EDGE - timedelta(days=1))
    ),
]
BOB: list[dict[str, Any]] = [
    {"resource": "account", "count": 2},
    {"resource": "card", "count": 2},
]


@contextmanager
def served() -> Iterator[str]:
    """Serve a sandbox on a free port, and give its address."""
    with serving(make_app()) as url:
        yield url


def customers(url: str) -> dict[str, Any]:
    """Make two customers through the control API, as an operator would by hand."""
    control = f"{url}/assay-control/1/worlds"
    with httpx.Client(trust_env=False) as http:
        world = http.post(control, json={"now": NOW.isoformat()}).json()["world"]
        return {
            name: http.post(f"{control}/{world}/customers", json={"holdings": holdings}).json()
            for name, holdings in (("alice", ALICE), ("bob", BOB))
        }


def profile_of(url: str, made: dict[str, Any], folder: Path) -> str:
    """Write the target file that lists the customers, without what nobody would know."""
    roles = {
        name: {
            "token_env": f"TEST_{name.upper()}_TOKEN",
            "owns": [
                {"resource": one["resource"], "key": one["key"], "traits": one["traits"]}
                for one in customer["holdings"]
            ],
        }
        for name, customer in made.items()
    }
    path = folder / "bank.yaml"
    path.write_text(
        f"""\
assay: 1
target: bank
extends: sandbox
transport: http
base_url: {url}
world:
  kind: roles
  offers: [psu, two-psu, consent, roster]
  roles: {json.dumps(roles)}
"""
    )
    return str(path)


def run(prepared: Prepared) -> Result:
    """Run a plan on its target, whose customers live at the bank's own time."""
    stage = set_up(prepared.profile)
    stage.world = RolesWorld(roles=prepared.profile.world.roles, now=lambda: NOW)
    try:
        return conduct(Session(plan=prepared.plan, stage=stage, journal=Journal(out=None)))
    finally:
        stage.close()


def test_the_whole_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a sound bank nothing is invented, and what the plan left open stays open for its reason.

    That holds on the second run of a day too, when consents are there and quotas are spent.
    """
    with served() as url:
        made = customers(url)
        for name, customer in made.items():
            monkeypatch.setenv(f"TEST_{name.upper()}_TOKEN", customer["token"])
        path = profile_of(url, made, tmp_path)
        plans, results = list[Plan](), list[Result]()
        for _ in range(2):
            prepared = prepare(target=path, now=lambda: NOW)
            plans.append(prepared.plan)
            results.append(run(prepared))
    for planned, result in zip(plans, results, strict=True):
        foreseen = {one.obligation.id: one for one in planned.items}
        assert ((), 0) == (result.faults, result.counts["violates"])
        open_ = [one for one in result.verdicts if one.standing is Standing.UNVERIFIED]
        assert {(id_, one.why) for id_, one in foreseen.items() if one.fate is Fate.UNVERIFIED} == {
            (one.obligation, one.reason) for one in open_
        }
        assert len(planned.items) == sum(result.counts.values())
    assert [76, 68] == [result.counts["conforms"] for result in results]
    assert [147, 155] == [result.counts["unverified"] for result in results]


def test_fewer_calls_than_a_customer_owns_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe asks only about what it asked for, however much its customer owns besides."""
    with served() as url:
        made = customers(url)
        for name, customer in made.items():
            monkeypatch.setenv(f"TEST_{name.upper()}_TOKEN", customer["token"])
        prepared = prepare(
            target=profile_of(url, made, tmp_path), keywords="aliases-agree", now=lambda: NOW
        )
        result = run(prepared)
    assert (2, 2) == (result.counts["conforms"], len(result.verdicts))
    assert prepared.plan.calls == result.exchanges


@pytest.mark.parametrize("how", ["journeys", "fields"])
def test_a_search_only_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Where nobody arranges the world: few calls, the customer there, nothing changed.

    And nothing is found at the sound bank, nor is any story told twice.
    """
    with served() as url:
        made = customers(url)
        for name, customer in made.items():
            monkeypatch.setenv(f"TEST_{name.upper()}_TOKEN", customer["token"])
        prepared = prepare(["aisp"], profile_of(url, made, tmp_path), now=lambda: NOW)
        stage = set_up(prepared.profile)
        stage.world = RolesWorld(roles=prepared.profile.world.roles, now=lambda: NOW)
        sent: list[Request] = []
        send = stage.client.send
        monkeypatch.setattr(
            type(stage.client), "send", lambda _, one: (sent.append(one), send(one))[1]
        )
        session = Session(plan=prepared.plan, stage=stage, journal=Journal(out=None))
        session.open()
        searching = Searching(session=session, plan=prepared.plan, whole=prepared.whole())
        limits = limits_of(prepared.profile, 5)
        done = searching.search("aisp", how, limits, MAKERS[how])
        stage.close()
    assert () == done.findings
    assert 0 < len(sent) == done.exchanges <= limits.calls == 50
    assert {"GET"} == {one.method for one in sent}
    assert all("PSU-IP-Address" in dict(one.headers) for one in sent)


def test_a_live_bank_is_only_read() -> None:
    """Even one that lets its world be arranged."""
    profile = prepare().profile
    assert not limits_of(profile, 5).reads
    assert limits_of(replace(profile, environment="live"), 5).reads


def test_over_http_as_in_process() -> None:
    """A served sandbox gets the same verdicts as the embedded one, for the same calls."""
    with served() as url:
        apart = prepare(target=url)
        assert ("http", url) == (apart.profile.transport.value, apart.profile.base_url)
        over_http = plainly(apart)
    assert plainly(prepare()) == over_http


def plainly(prepared: Prepared) -> tuple[dict[str, str], int]:
    """Run a plan as it is, and give its verdicts and how many calls they took."""
    stage = set_up(prepared.profile)
    try:
        result = conduct(Session(plan=prepared.plan, stage=stage, journal=Journal(out=None)))
    finally:
        stage.close()
    return {one.obligation: one.standing.value for one in result.verdicts}, result.exchanges
