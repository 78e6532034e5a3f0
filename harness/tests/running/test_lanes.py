"""Trials side by side: the record and the verdicts of a run one after another, and its limits."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rows import for_each

from assay.binding.model.target import (
    Budget,
    RoleChoice,
    Safety,
    ScaKind,
    Target,
    TransportKind,
)
from assay.binding.wire.encode import Access
from assay.cli.progress import announce
from assay.contexts.context import Depth
from assay.errors import Exit
from assay.fixtures.waiting import Waiting
from assay.history.events import Advanced, ProbeRun
from assay.journal.writer import Journal
from assay.planning.plan import Price, Trial
from assay.preparation.prepare import prepare
from assay.proof.kill_matrix import variants
from assay.running import parallel_trials as lanes_module
from assay.running.environment import set_up
from assay.running.parallel_trials import (
    DEFAULT_LANES,
    Lanes,
    RecordedRun,
    Turns,
    lanes_for,
    most_lanes,
)
from assay.running.session import Options, RunResult, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND
from assay.transport.secrets import Secret

#: Clauses of both contracts, with signatures, refusals, clocks and contexts.
SOME = "psu-identity or batch-quota/accounts or factor-cap or cancel/by-customer"
#: What is random in a journal: what the bank and the journal make up, and how long that is.
RANDOM = re.compile(r"\b[0-9a-f]{16,40}\b|\b[A-Za-z0-9_-]{22,}\b|(?<=\"content-length\", \")[0-9]+")
MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
TIMED = ("ms", "started", "finished", "digest", "command")


@dataclass
class Bank:
    """A bank that counts its calls, and may do something before each."""

    app: Any
    before: Callable[[int], None] = lambda _: None
    calls: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        if "/assay-control/" not in environ["PATH_INFO"]:
            with self.lock:
                self.calls += 1
                number = self.calls
            self.before(number)
        return self.app(environ, start)


def run(
    path: Path,
    concurrency: int,
    *,
    keywords: str = SOME,
    policies: Any = SOUND,
    before: Callable[[int], None] = lambda _: None,
    change: Callable[[Target], Target] = lambda target: target,
) -> tuple[RunResult, Bank]:
    """Run a selection on a bank of its own, and return the result and the bank."""
    prepared = prepare(keywords=keywords, contexts=Depth.EACH)
    target = change(prepared.target)
    banks: list[Bank] = []

    def bank(base_url: str) -> Bank:
        banks.append(Bank(make_app(policies, base_url=base_url), before))
        return banks[0]

    environment = set_up(target, bank=bank)
    options = Options(concurrency=concurrency)
    session = Session(
        plan=prepared.plan, environment=environment, journal=Journal.at(path), options=options
    )
    try:
        return run_session(session), banks[0]
    finally:
        environment.close()
        if session.journal.out is not None:
            session.journal.out.close()


def lines(path: Path) -> list[str]:
    """Return the lines of a journal without what is random or real time."""
    records = map(json.loads, path.read_text("utf-8").splitlines())
    kept = ({key: each[key] for key in each if key not in TIMED} for each in records)
    return [RANDOM.sub("#", json.dumps(record)) for record in kept]


@pytest.mark.parametrize("name", ["sound", "quota.accounts-three-a-day", "pis.cash.cap-is-enough"])
def test_the_record_is_that_of_a_run_one_after_another(tmp_path: Path, name: str) -> None:
    """Lines, numbers, pseudonyms and verdicts are the same, whatever ended first."""
    mutants = variants()
    policies = mutants[name].change(SOUND) if name in mutants else SOUND
    serial, bank = run(tmp_path / "1", 1, policies=policies)
    several, other_bank = run(tmp_path / "5", 5, policies=policies)
    assert lines(tmp_path / "1") == lines(tmp_path / "5")
    assert serial == several
    assert bank.calls == other_bank.calls


def test_several_calls_are_under_way(tmp_path: Path) -> None:
    """With three lanes, three calls wait for each other, and none for a fourth."""
    together = threading.Barrier(3)

    def wait(number: int) -> None:
        if number <= 3:
            together.wait(timeout=10)

    result, _ = run(tmp_path / "j", 3, before=wait, keywords="listing")
    assert Exit.OK is result.exit


@pytest.mark.parametrize("calls", [1, 20])
def test_a_budget_is_exact(tmp_path: Path, calls: int) -> None:
    """Threads together make as many calls as the budget has, and no more."""
    _, bank = run(
        tmp_path / "j",
        8,
        keywords="psu-identity or listing",
        change=lambda target: replace(target, budget=Budget(calls=calls)),
    )
    assert calls == bank.calls


def test_the_breaker_stops_every_lane(tmp_path: Path) -> None:
    """After the failures that it allows, each lane ends with the call that is under way."""
    failing = Bank(lambda _, start: [start("500 Failed", []) or b""])
    prepared = prepare(keywords=SOME, contexts=Depth.EACH)
    target = replace(prepared.target, safety=Safety(breaker=2))
    sound = make_app(base_url=target.base_url)

    def bank(_: str) -> Any:
        def application(environ: dict[str, Any], start: Any) -> Any:
            control = "/assay-control/" in environ["PATH_INFO"]
            return (sound if control else failing)(environ, start)

        return application

    environment = set_up(target, bank=bank)
    options = Options(concurrency=4)
    with (tmp_path / "j").open("w", encoding="utf-8") as out:
        journal = Journal(out=out)
        session = Session(
            plan=prepared.plan, environment=environment, journal=journal, options=options
        )
        result = run_session(session)
    assert "2 failures in a row" in result.stopped
    assert 2 <= failing.calls <= 2 + 4


def test_what_fails_after_the_breaker_does_not_stop_the_run_again() -> None:
    """Calls of other lanes are under way then; the reason says how many failures stopped it."""
    prepared = prepare(keywords=SOME)
    guard = set_up(replace(prepared.target, safety=Safety(breaker=2))).guard
    for _ in range(4):
        guard.see(500, "")
    assert "2 failures in a row" in guard.stopped


def test_an_interrupted_run_records_what_was_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What every lane did until the interruption is in the journal; nothing more is called."""
    prepared = prepare(keywords=SOME, contexts=Depth.EACH)
    banks: list[Bank] = []

    def bank(base_url: str) -> Bank:
        banks.append(Bank(make_app(base_url=base_url)))
        return banks[0]

    environment = set_up(prepared.target, bank=bank)
    session = Session(
        plan=prepared.plan,
        environment=environment,
        journal=Journal.at(tmp_path / "j"),
        options=Options(concurrency=4),
    )

    calls: list[int] = []

    real = Lanes.stop

    def stop(lanes: Lanes) -> Any:
        lanes.stopping = True
        calls.append(banks[0].calls)
        return real(lanes)

    monkeypatch.setattr(Lanes, "stop", stop)

    def interrupt(_: Trial) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_session(session, interrupt)
    recorded = [json.loads(line) for line in (tmp_path / "j").read_text("utf-8").splitlines()]
    exchanges = [each for each in recorded if each["type"] == "exchange"]
    # A lane may be about to call when the lanes stop: that call is recorded as not made.
    sent = sum("the run was interrupted" not in json.dumps(each) for each in exchanges)
    # A walk through the screens is several calls, and one line; it ends with the call under way.
    assert 0 < sent <= banks[0].calls <= calls[0] + 4
    assert "interrupted" == recorded[-1]["aborted"]


def trial(name: str, calls: int = 1) -> Trial:
    price = Price(lambda: calls)
    return Trial(id=name, contract="c", clause="c", scenario=None, settles=(), price=price)  # type: ignore[arg-type]


def test_the_longest_trials_start_early() -> None:
    """A run takes as long as its longest trial at least, so that waits for no more than a lane."""
    order: list[str] = []
    lanes = Lanes(1, lambda each, _: order.append(each.id))
    trials = [trial("short"), trial("medium", 5), trial("longest", 9), trial("tiny", 0)]
    lanes.start(trials)
    for each in trials:
        lanes.take(each)
    lanes.stop()
    assert ["short", "longest", "medium", "tiny"] == order


def test_no_first_trial_waits_until_all_are_priced() -> None:
    """A dry run of every trial takes longer than a first call may."""
    started = threading.Event()
    lanes = Lanes(1, lambda *_: started.set())

    def count() -> int:
        assert started.wait(10)
        return 1

    trials = [replace(trial(name), price=Price(count)) for name in ("first", "second")]
    lanes.start(trials)
    for each in trials:
        lanes.take(each)
    lanes.stop()


def test_a_trial_is_written_after_the_calls_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target may repeat the secret of a call that another lane has not heard the answer to."""
    arrived, finish = threading.Event(), threading.Event()
    secret = Secret("tok-of-the-other-lane", "token", lasting=False)

    class Patient(threading.Condition):
        """Lets the other lane go on only when somebody waits for it."""

        def wait(self, timeout: float | None = None) -> bool:
            finish.set()
            return super().wait(timeout)

    monkeypatch.setattr(lanes_module, "Condition", Patient)

    def perform(each: Trial, record: RecordedRun) -> None:
        if each.id == "quick":
            assert arrived.wait(10)
        else:
            arrived.set()
            assert finish.wait(10)
            record.entries.append(secret)
            record.add(Advanced(now=MORNING), Access())

    lanes = Lanes(2, perform)
    lanes.start([trial("quick"), trial("slow")])
    try:
        lanes.take(trial("quick"))
        assert secret in [*lanes.learned()]
    finally:
        finish.set()
    lanes.stop()


def test_an_interrupted_run_knows_every_secret_before_it_writes(tmp_path: Path) -> None:
    """What the lanes learned until the interruption is masked in what each of them did."""
    secret = Secret("tok-of-the-last-lane", "token", lasting=False)
    both = threading.Barrier(2)

    def perform(each: Trial, record: RecordedRun) -> None:
        both.wait(10)
        if each.id == "second":
            record.entries.append(secret)

    lanes = Lanes(2, perform)
    lanes.start([trial("first"), trial("second")])
    stopped = lanes.stop()
    assert "first" == next(stopped)[0].id
    assert [secret] == [*lanes.learned()]
    assert ["second"] == [each.id for each, _ in stopped]


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """While answers of this size wait to be taken up, no trial starts but the one that is wanted."""
    monkeypatch.setattr(lanes_module, "MOST_WAITING", 100)
    waiting: list[int] = []
    lanes = Lanes(2, lambda _, record: fill(record))

    def fill(record: RecordedRun) -> None:
        waiting.append(lanes._waiting)
        record.size, record.run = 60, ProbeRun(history=None)  # type: ignore[arg-type]

    trials = [trial(str(number)) for number in range(12)]
    lanes.start(trials)
    for each in trials:
        assert lanes.take(each).run is not None
    assert [] == [*lanes.stop()]
    # Two may have begun at the same moment, and one be wanted.
    assert max(waiting) <= 100 + 2 * 60
    assert 12 == len(waiting)


def test_what_did_not_start_comes_after_what_is_announced_later() -> None:
    """The lives that a run could not start beside its trials still run beside the last contexts."""
    order: list[str] = []
    lanes = Lanes(1, lambda each, _: order.append(each.id))
    lanes.start([trial("first"), *(trial(f"early {number}", 0) for number in range(7))])
    lanes.start([], [trial("late life", 0)])
    lanes.start([trial("further context", 0)])
    for name in ("first", *(f"early {number}" for number in range(7))):
        lanes.take(trial(name))
    lanes.take(trial("further context"))
    lanes.take(trial("late life"))
    lanes.stop()
    assert ["further context", "late life"] == order[-2:]


def test_a_trial_is_taken_up_while_others_wait() -> None:
    """What was done on the first day is recorded then, and not when the last trial has waited."""
    asleep, wake = threading.Event(), threading.Event()

    def sleep(_seconds: float) -> None:
        asleep.set()
        assert wake.wait(60)

    waiting = Waiting(span=timedelta(days=9), sleep=sleep, piece=timedelta(days=9))
    same = RoleChoice(taken=("anna",))
    slow, next_one = (replace(trial(name), choice=same) for name in ("slow", "next of hers"))
    trials = [trial("quick"), slow, next_one]
    turns = Turns(waiting, trials, {}, 1)

    def perform(each: Trial, record: RecordedRun) -> None:
        with turns.acting(each):
            if each.id == "slow":
                waiting.until(MORNING + timedelta(days=8), clock)
        if each.id == "quick":
            assert asleep.wait(60)

    def clock() -> datetime:
        return MORNING + timedelta(days=8 * wake.is_set())

    lanes = Lanes(3, perform)
    lanes.start(trials)
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(lanes.take, trials[0]).result(30)
            assert not wake.is_set()
        finally:
            wake.set()
    for each in trials[1:]:
        lanes.take(each)
    lanes.stop()


def test_a_trial_without_a_turn_runs_when_it_is_wanted() -> None:
    """A trial that was not announced runs when it is taken up, and so does one taken up twice."""
    ran: list[str] = []
    lanes = Lanes(2, lambda each, _: ran.append(each.id))
    assert not lanes.started(trial("a"))
    lanes.take(trial("a"))
    lanes.take(trial("a"))
    assert ["a", "a"] == ran
    assert [] == [*lanes.stop()]


SHIPPED = prepare().target
NETWORK = replace(SHIPPED, transport=TransportKind.HTTP)


@for_each(
    ("target", "asked", "lanes"),
    [
        (SHIPPED, None, 1),
        (SHIPPED, 4, 4),
        (NETWORK, None, DEFAULT_LANES),
        (NETWORK, 32, 32),
        (replace(NETWORK, safety=Safety(concurrency=3)), None, 3),
        (replace(NETWORK, safety=Safety(concurrency=3)), 32, 3),
        (replace(NETWORK, safety=Safety(concurrency=30)), None, DEFAULT_LANES),
        (replace(NETWORK, budget=Budget(calls=5000)), 32, 1),
        (replace(NETWORK, environment="live"), 32, 1),
        (replace(NETWORK, environment="live", safety=Safety(concurrency=2)), None, 2),
        (replace(NETWORK, sca=replace(NETWORK.sca, kind=ScaKind.BROWSER)), 8, 1),
        (prepare([], "remote").target, 8, 1),
    ],
)
def test_how_many_may_run_side_by_side(target: Target, asked: int | None, lanes: int) -> None:
    """As many as asked for where trials share nothing, and the target file allows it."""
    assert lanes == lanes_for(target, asked)
    most, reason = most_lanes(target)
    assert bool(reason) == (most is not None)


@for_each(
    ("target", "asked", "said"),
    [
        (SHIPPED, None, False),
        (NETWORK, None, False),
        (replace(NETWORK, budget=Budget(calls=5000)), None, True),
        (replace(NETWORK, budget=Budget(calls=5000)), 1, False),
    ],
)
def test_what_one_lane_comes_from_is_said(
    target: Target, asked: int | None, said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the key that decides it, where nobody asked for it."""
    session = SimpleNamespace(
        environment=SimpleNamespace(target=target),
        plan=SimpleNamespace(contracts={}, items=()),
        journal=SimpleNamespace(redactor=SimpleNamespace(link=str)),
        options=SimpleNamespace(seed=0),
    )
    announce(session, Path("run"), asked)
    line = "one trial at a time: trials share a budget and spend it in order (budget.calls); else 8"
    assert (line in capsys.readouterr().err) is said
