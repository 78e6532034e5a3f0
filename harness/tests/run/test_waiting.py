"""Time rules are checked by waiting, for as long as was agreed to, and never otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from assay.cli import group
from assay.commands import run as running
from assay.errors import CannotArrange, InputError, TargetError
from assay.plan import Fate
from assay.prepare import Prepared, prepare
from assay.run import stage as staging
from assay.run.conduct import Result, Session, conduct
from assay.run.forecast import announce, announced, in_turn, waited_in
from assay.run.journal import Journal
from assay.run.stage import set_up
from assay.run.waiting import Waiting, WaitingWorld, in_words, span, spelt, telling
from assay.sandbox.app import make_app
from assay.sandbox.mutants import PIS_MUTANTS
from assay.sandbox.policies import SOUND, Policies
from assay.sandbox.serve import serving
from assay.target.roles import RolesWorld
from assay.verdict import Standing

#: A Wednesday morning at the bank.
NOW = datetime.fromisoformat("2026-09-16T10:00:00+02:00")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
IDLE = "pis/redirect.idle"
NEXT_DAY = "aisp/batch-quota/accounts-next-day"


@dataclass(slots=True)
class Clock:
    """A clock that only goes on while somebody sleeps, and takes the bank's along."""

    now: datetime = NOW
    turn: Any = None
    slept: list[float] = field(default_factory=list[float])

    def read(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)
        if self.turn:
            self.turn(self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """A served sandbox with one world, and the target file that lists its customers."""

    target: str
    clock: Clock


@contextmanager
def bank(
    folder: Path, patch: pytest.MonkeyPatch, policies: Policies = SOUND, offers: str = "write"
) -> Iterator[Bank]:
    """Serve a bank; two customers and a third party are made as an operator would."""
    with serving(make_app(policies)) as url, httpx.Client(trust_env=False) as http:
        worlds = f"{url}/assay-control/1/worlds"
        own = f"{worlds}/{http.post(worlds, json={'now': NOW.isoformat()}).json()['world']}"
        roles: dict[str, Any] = {}
        for name in ("ALICE", "BOB"):
            wanted = {"holdings": [{"resource": "account", "count": 5}]}
            made = http.post(f"{own}/customers", json=wanted).json()
            patch.setenv(f"T_{name}", made["token"])
            patch.setenv(f"T_{name}_LOGIN", made["login"])
            patch.setenv(f"T_{name}_PASSWORD", made["password"])
            for factor, code in made["factors"].items():
                patch.setenv(f"T_{name}_{factor.replace('-', '_').upper()}", code)
            roles[name.lower()] = {
                "token_env": f"T_{name}",
                "login_env": f"T_{name}_LOGIN",
                "password_env": f"T_{name}_PASSWORD",
                "code_envs": {
                    factor: f"T_{name}_{factor.replace('-', '_').upper()}"
                    for factor in made["factors"]
                },
                "owns": [
                    {"resource": one["resource"], "key": one["key"]} for one in made["holdings"]
                ],
            }
        patch.setenv("T_TPP", http.post(f"{own}/providers", json={}).json()["token"])
        patch.setenv("ASSAY_LEDGER", str(folder / "ledger.sqlite"))
        path = folder / "bank.yaml"
        path.write_text(
            f"""\
assay: 1
target: bank
extends: sandbox
transport: http
base_url: {url}
hosts: null
auth: {{kind: bearer, token_env: T_TPP}}
world:
  kind: roles
  offers: [psu, two-psu, consent, roster, {offers}]
  roles: {json.dumps(roles)}
"""
        )

        def turn(to: datetime) -> None:
            assert http.post(f"{own}/clock", json={"to": to.isoformat()}).is_success

        yield Bank(target=str(path), clock=Clock(turn=turn))


def run(
    prepared: Prepared, clock: Clock, most: timedelta, journal: Journal | None = None
) -> Result:
    """Run a plan, waiting by a clock that nobody really waits for."""
    stage = set_up(prepared.profile, wait=most)
    stage.waiting = Waiting(span=most, sleep=clock.sleep, piece=DAY)
    world = RolesWorld(roles=prepared.profile.world.roles, now=clock.read)
    stage.world = WaitingWorld(world=world, waiting=stage.waiting)
    session = Session(plan=prepared.plan, stage=stage, journal=journal or Journal(out=None))
    try:
        return conduct(session)
    finally:
        stage.close()


def verdicts(result: Result) -> dict[str, str]:
    return {one.obligation: one.standing.value for one in result.verdicts}


def test_a_sound_bank_conforms_by_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The idle time and the next day's count hold, and it was waited as long as announced."""
    with bank(tmp_path, monkeypatch) as one:
        prepared = prepare(
            target=one.target,
            keywords=f"{IDLE} or {NEXT_DAY}",
            wait=6 * DAY,
            now=one.clock.read,
        )
        foretold = in_turn(prepared.plan, NOW, 4)
        result = run(prepared, one.clock, 6 * DAY)
    assert {"conforms"} == set(verdicts(result).values())
    assert 6 == len(result.verdicts)
    assert 2 == len(foretold)
    assert one.clock.now - NOW <= sum((each.span for each in foretold), timedelta())
    assert sum(one.clock.slept) == (one.clock.now - NOW).total_seconds()


def test_a_broken_bank_is_convicted_by_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bank whose customers may idle for ever is found out, and nothing else is blamed."""
    mutant = next(one for one in PIS_MUTANTS if f"{IDLE}/dead-after" in one.breaks)
    with bank(tmp_path, monkeypatch, mutant.change(SOUND)) as one:
        prepared = prepare(target=one.target, keywords=IDLE, wait=6 * DAY, now=one.clock.read)
        result = run(prepared, one.clock, 6 * DAY)
    red = {id_ for id_, standing in verdicts(result).items() if standing == "violates"}
    assert f"{IDLE}/dead-after" in red <= mutant.breaks


def test_never_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without being told to, nothing is waited for, and the plan says what that would take."""
    with bank(tmp_path, monkeypatch) as one:
        prepared = prepare(target=one.target, keywords=NEXT_DAY, now=one.clock.read)
        (item,) = prepared.plan.items
        result = run(prepared, one.clock, timedelta(0))
    why = "needs a clock that can be moved (world: control), or waiting: --wait 14h1m (this trial)"
    assert (Fate.UNVERIFIED, why) == (item.fate, item.why)
    assert [(Standing.UNVERIFIED, why)] == [(one.standing, one.reason) for one in result.verdicts]
    assert ([], 0) == (one.clock.slept, result.exchanges)


def test_the_shortest_first_as_far_as_the_span_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not fit any more is left, for the same reason as without waiting."""
    words = "batch-quota/accounts-next-day or batch-quota/balances-next-day or maintenance"
    with bank(tmp_path, monkeypatch) as one:

        def ids(most: timedelta | None) -> list[str]:
            prepared = prepare(["aisp"], one.target, keywords=words, wait=most, now=one.clock.read)
            whys = [each.why for each in prepared.plan.items if each.fate is Fate.UNVERIFIED]
            assert all("or waiting: --wait " in why for why in whys)
            return [trial.scenario for trial in prepared.plan.trials]

        first, second = "accounts-next-day", "balances-next-day"
        assert [] == ids(None) == ids(14 * HOUR)
        assert [first] == ids(14 * HOUR + MINUTE) == ids(38 * HOUR)
        assert [first, second] == ids(38 * HOUR + MINUTE)
        assert [first, second, "week"] == ids(10 * DAY)


def test_a_plan_tells_what_all_would_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says of each trial what it takes to wait for it, and what all of them do."""
    words = "batch-quota/accounts-next-day or batch-quota/balances-next-day"
    with bank(tmp_path, monkeypatch) as one:
        asked = ["plan", "-c", "aisp", "-t", one.target, "-k", words]
        bare = CliRunner().invoke(group, asked, standalone_mode=False)
        allowed = CliRunner().invoke(group, [*asked, "--wait", "5d"], standalone_mode=False)
        alone = CliRunner().invoke(group, [*asked, "--wait"], standalone_mode=False)
    line = r"-next-day +unverified: needs a clock .*, or waiting: --wait \S+ \(this trial\)"
    assert 2 == len(re.findall(line, bare.output))
    assert "waiting for all that a clock would tell: --wait " in bare.output
    assert "will wait" not in bare.output
    assert "in all, in 2 trials" in allowed.output
    assert "clock would tell" not in allowed.output
    assert "will wait" in alone.output


def test_a_run_announces_its_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The total is told before the first call, and each wait when it begins."""
    with bank(tmp_path, monkeypatch) as one:
        prepared = prepare(target=one.target, keywords=NEXT_DAY, wait=DAY, now=one.clock.read)
    waiting, said = Waiting(span=DAY, sleep=one.clock.sleep), list[str]()
    one.clock.turn = None
    announce(waiting, prepared.plan, prepared.profile, said.append)
    assert 1 == len(said)
    assert said[0].startswith("will wait ")
    assert "will wait 14 h 1 min in all, in 1 trial" == announced(
        prepared.plan, prepared.profile, NOW
    )
    waiting.until(NOW + HOUR, one.clock.read)
    assert "waiting 1 h, until " in said[1]
    assert "; 23 h more are allowed" in said[1]
    assert 2 == len(said)
    announce(None, prepared.plan, prepared.profile, said.append)
    assert 2 == len(said)


def test_an_interruption_closes_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives up while it is waited keeps what was recorded until then."""

    def enough(_seconds: float) -> None:
        raise KeyboardInterrupt

    with bank(tmp_path, monkeypatch) as one:
        prepared = prepare(target=one.target, keywords=NEXT_DAY, wait=DAY, now=one.clock.read)
        journal = Journal.at(tmp_path / "journal.jsonl")
        with pytest.raises(KeyboardInterrupt):
            run(prepared, Clock(turn=enough), DAY, journal)
    last = json.loads((tmp_path / "journal.jsonl").read_text().splitlines()[-1])
    assert ("footer", "interrupted") == (last["type"], last["aborted"])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("45m", 45 * MINUTE),
        ("26h", 26 * HOUR),
        ("1d12h", 36 * HOUR),
        ("90s", 1.5 * MINUTE),
        (" 2h5m ", 125 * MINUTE),
    ],
)
def test_a_span(text: str, wanted: timedelta) -> None:
    """A span is written with units, the largest first."""
    assert wanted == span(text)


@pytest.mark.parametrize("text", ["", "0m", "31", "m", "5 m", "1h1d", "-5m", "1.5h", "99999999d"])
def test_no_span(text: str) -> None:
    """Anything else is refused with an example."""
    with pytest.raises(InputError, match=r"--wait: expected a span of time.*26h"):
        span(text)


@pytest.mark.parametrize(
    ("wanted", "text", "words"),
    [
        (timedelta(0), "1m", "1 min"),
        (timedelta(seconds=61), "2m", "2 min"),
        (31 * MINUTE, "31m", "31 min"),
        (26 * HOUR, "1d2h", "1 d 2 h"),
        (DAY + MINUTE, "1d1m", "1 d 1 min"),
    ],
)
def test_spelt(wanted: timedelta, text: str, words: str) -> None:
    """A span is told in whole minutes, never too short, and can be read again."""
    assert (text, words) == (spelt(wanted), in_words(wanted))
    assert wanted <= span(text)


def test_no_longer_than_agreed() -> None:
    """What is waited is counted over the whole run, and the last wait is not begun."""
    clock = Clock()
    waiting = Waiting(span=HOUR, sleep=clock.sleep)
    waiting.until(NOW + 40 * MINUTE, clock.read)
    with pytest.raises(CannotArrange, match="more waiting: --wait 1h10m"):
        waiting.until(NOW + 70 * MINUTE, clock.read)
    assert NOW + 40 * MINUTE == clock.now
    assert NOW + HOUR == waiting.until(NOW + HOUR, clock.read)


def test_what_is_over_is_not_waited_for() -> None:
    """A moment of the past has come already."""
    clock = Clock()
    assert NOW == Waiting(span=HOUR, sleep=clock.sleep).until(NOW - DAY, clock.read)
    assert [] == clock.slept


def test_a_clock_that_stands_still() -> None:
    """It is noticed that a world's clock does not go on, instead of waiting for ever."""
    with pytest.raises(TargetError, match="does not go on"):
        Waiting(span=HOUR, sleep=lambda _: None).until(NOW + MINUTE, lambda: NOW)


def test_a_machine_that_was_asleep() -> None:
    """More time than was slept may have passed: then the rest is not slept."""
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        clock.now += HOUR

    waiting = Waiting(span=HOUR, sleep=sleep)
    assert NOW + HOUR + timedelta(seconds=30) == waiting.until(NOW + HOUR, clock.read)
    assert [30.0] == clock.slept


def test_told_once_a_wait() -> None:
    """A log is no clock: each wait is one line."""
    said: list[str] = []
    told = telling(Waiting(span=HOUR), said.append)
    for left in (20, 10, 0):
        told(left * MINUTE, NOW)
    told(HOUR, NOW)
    assert ["waiting 20 min", "waiting 1 h"] == [one.split(", until")[0] for one in said]
    assert ["40 min more are allowed"] == [one.split("; ")[1] for one in said if ";" in one]


def test_where_waiting_is_of_no_use() -> None:
    """A world that moves its clock is not waited for, and neither is nobody."""
    with pytest.raises(InputError, match="--wait: this target's world has a clock"):
        prepare(wait=HOUR)


def test_no_trial_moves_the_clock_in_secret() -> None:
    """Whatever waits is known to need a clock: all other trials foretell no wait."""
    prepared = prepare()
    timed = {one.trial.id for one in in_turn(prepared.plan, NOW, 4)}
    others = [one for one in prepared.plan.trials if one.id not in timed]
    assert 300 > len(others) > 100
    assert [] == [one.id for one in others if waited_in(prepared.plan, one, NOW.astimezone(UTC), 4)]


def test_a_set_up_stage_waits_only_if_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The world of a run is put into one that waits when that is allowed, and is bare else."""
    with bank(tmp_path, monkeypatch) as one:
        profile = prepare(target=one.target).profile
    bare, waits = staging.set_up(profile), staging.set_up(profile, wait=HOUR)
    bare.close()
    waits.close()
    assert isinstance(bare.world, RolesWorld)
    assert bare.waiting is None
    assert isinstance(waits.world, WaitingWorld)
    assert HOUR == waits.waiting.span == waits.world.waiting.span


def test_a_whole_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`assay run --wait` says what it will wait, waits, and gives a verdict; without, none."""
    with bank(tmp_path, monkeypatch) as one:
        clock = one.clock
        monkeypatch.setattr(running, "prepare", partial(prepare, now=clock.read))
        monkeypatch.setattr(staging, "Waiting", partial(Waiting, sleep=clock.sleep, piece=DAY))
        monkeypatch.setattr(
            staging, "RolesWorld", lambda *, roles, now: RolesWorld(roles=roles, now=clock.read)
        )
        asked = ["run", "-t", one.target, "-k", NEXT_DAY, "--no-doctor", "--out"]
        bare = CliRunner().invoke(group, [*asked, str(tmp_path / "bare")], standalone_mode=False)
        assert NOW == clock.now
        asked += [str(tmp_path / "out"), "--wait", "15h"]
        waits = CliRunner().invoke(group, asked, standalone_mode=False)
        assert NOW + 14 * HOUR < clock.now < NOW + 15 * HOUR
    assert (3, 0) == (bare.return_value, waits.return_value)
    assert "will wait" not in bare.output
    assert re.search(r"(?m)^will wait .+ in all, in 1 trial$", waits.output)
    assert re.search(r"(?m)^waiting 14 h 1 min, until 2026-09-1", waits.output)
    assert "--wait 54000s" in (tmp_path / "out" / "report.json").read_text()
