"""Kills of whole runs at random moments: what was settled is recorded, no access is forgotten.

    python harness/tests/support/kills.py --kills 50 [--seed 0] [--resume]

Each run is a process of its own, on a bank served here, with customers who were there before and
a ledger. The bank sends a signal when it has got a random number of requests, or a random fraction
of a second later. What is left behind is compared with a run on the same bank that was not killed.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from time import monotonic, sleep

import httpx

from assay.errors import Exit
from assay.proof.kill_matrix import variants
from assay.report import FORMATS, read_journal
from assay.rules.verdict import Standing
from assay.running.ledger import Ledger
from assay.sandbox.app import make_app
from assay.sandbox.mutants.contextual import make_contextual_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving
from assay.traffic.session import open_recording

COMMAND = (sys.executable, "-c", "from assay.cli.main import main; main()", "run")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: The sound bank, and some that violate one rule each.
BANKS = (
    "",
    "unavailable.end-user-identity-full-without-consent",
    "consent.balance-leaks-outside",
)
#: What is tested where customers are created, in every context.
SOME = "psu-identity or eligible-accounts or batch-quota/accounts"
NOW = "2026-09-16T10:00:00+02:00"
OWNED = (
    {"resource": "account", "count": 20},
    {"resource": "account", "traits": {"savings": True}},
    {"resource": "card", "count": 4},
)
#: How long a run may take, in seconds, and how long a signal may be late.
LONGEST, LATEST = 120, 0.05


@dataclass
class Bank:
    """A bank that counts accesses without the customer, and calls `alarm` at one request."""

    app: object
    tokens: tuple[str, ...] = ()
    accesses: Counter = field(default_factory=Counter)
    requests: int = 0
    alarm_at: int = 0
    alarm: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def __call__(self, environ, start_response):
        if "/assay-control/" not in environ["PATH_INFO"]:
            self._count(environ)
        return self.app(environ, start_response)

    def _count(self, environ):
        token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        with self.lock:
            self.requests += 1
            if token in self.tokens and "HTTP_PSU_IP_ADDRESS" not in environ:
                operation = environ["PATH_INFO"].rpartition("/")[2]
                self.accesses[operation, token] += 1
            if self.requests == self.alarm_at:
                self.alarm.set()


@dataclass(frozen=True, kw_only=True)
class Remains:
    """What a process left behind, and what its bank counted."""

    folder: Path
    bank: Bank
    code: int
    err: str

    @property
    def journal(self) -> Path:
        """The journal, which need not be there."""
        return self.folder / "journal.jsonl"

    def lines(self) -> list[dict]:
        """Return the complete lines of the journal."""
        raw = self.journal.read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in raw]

    def recorded_accesses(self) -> dict[str, list[int]]:
        """Return by operation how many accesses of each customer the ledger has, most first."""
        ledger = Ledger.existing(self.folder.with_suffix(".sqlite"))
        return ledger_counts(ledger.path) if ledger else {}


def ledger_counts(path: Path) -> dict[str, list[int]]:
    """Read the accesses off the file, as nothing in the package does."""
    import sqlite3  # noqa: PLC0415 -- only here

    # Names that begin with a star are no methods: they count what was used of a customer.
    # An access has a row for each thing that identifies its customer: the first stands for all.
    query = (
        "SELECT method, count(*) FROM (SELECT method, access, min(customer) AS who FROM access"
        " WHERE method NOT LIKE '*%' GROUP BY method, access) GROUP BY method, who"
    )
    connection = sqlite3.connect(path)
    rows = connection.execute(query).fetchall()
    connection.close()
    counts: dict[str, list[int]] = {}
    for method, number in rows:
        counts.setdefault(method, []).append(number)
    return {method: sorted(numbers, reverse=True) for method, numbers in counts.items()}


def with_customers(bank: Bank, url: str) -> dict:
    """Create two customers at a served bank, who then exist, and return them by name."""
    with httpx.Client(trust_env=False) as http:
        control = f"{url}/assay-control/1/worlds"
        world = http.post(control, json={"now": NOW}).json()["world"]
        made = {
            name: http.post(f"{control}/{world}/customers", json={"holdings": OWNED}).json()
            for name in ("alice", "bob")
        }
    bank.tokens = tuple(customer["token"] for customer in made.values())
    return made


def target_file(url: str, made: dict) -> str:
    roles = {
        name: {
            "token_env": f"KILLS_{name.upper()}",
            "owns": [
                {"resource": each["resource"], "key": each["key"], "traits": each["traits"]}
                for each in customer["holdings"]
            ],
        }
        for name, customer in made.items()
    }
    fixtures = {"kind": "roles", "offers": ["psu", "two-psu", "consent", "roster", "batch"]}
    document = {
        "assay": 1,
        "target": "bank",
        "extends": "sandbox",
        "transport": "http",
        "base_url": url,
        "budget": {"batch": 4},
        # Not the real time: in the hours of maintenance nothing is violated.
        "fixtures": {**fixtures, "roles": roles, "now": NOW},
    }
    return json.dumps(document)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A kind of run, the fault of its bank, and whether only the base context is tested."""

    way: str
    fault: str
    situation: str = ""
    base: bool = False

    @property
    def is_real(self) -> bool:
        """Whether the customers were there before."""
        return self.way == "real"

    def app(self):
        """Return the bank."""
        policies = variants()[self.fault].change(SOUND) if self.fault else SOUND
        if self.situation:
            return make_contextual_app(policies, SOUND, self.situation)
        return make_app(policies)


@dataclass
class Site:
    """A bank that is served, and how a run on it is started."""

    folder: Path
    bank: Bank
    options: tuple
    environ: dict

    def start(self, *command) -> subprocess.Popen:
        """Start `assay run` as a process of its own."""
        return subprocess.Popen(
            [*COMMAND, *map(str, command), "--quiet"],
            env=self.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def attempt(
        self,
        *command,
        signal_: signal.Signals | None = None,
        after: int = 0,
        late: float = 0,
    ) -> Remains:
        """Run to the end, or until a signal a little `late` after a number of requests."""
        self.bank.alarm.clear()
        self.bank.alarm_at = self.bank.requests + after if signal_ else 0
        process = self.start(*command)
        try:
            while signal_ and process.poll() is None:
                if self.bank.alarm.wait(0.05):
                    sleep(late)
                    process.send_signal(signal_)
                    break
            _, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            raise AssertionError(f"it goes on: {signal_}, {process.communicate()}") from None
        finally:
            process.kill()
            process.communicate()
        return Remains(folder=self.folder, bank=self.bank, code=process.returncode, err=err)


@contextmanager
def site(folder: Path, case: Case) -> Iterator[Site]:
    """Serve the bank of a case; runs have every context unless it says `base`."""
    bank, ledger = Bank(case.app()), folder.with_suffix(".sqlite")
    # At SIGABRT, a process says where it is.
    environ = {**os.environ, "ASSAY_LEDGER": str(ledger), "PYTHONFAULTHANDLER": "1"}
    environ.pop("ASSAY_CONTEXTS", None)
    if case.base:
        environ["ASSAY_CONTEXTS"] = "base"
    with ExitStack() as stack:
        url = stack.enter_context(serving(bank))
        if not case.is_real:
            lanes = "4" if case.way == "concurrent" else "1"
            options = ("-t", url, "-k", SOME, "--concurrency", lanes)
            yield Site(folder, bank, options, environ)
            return
        made = with_customers(bank, url)
        target = folder.with_suffix(".yaml")
        target.write_text(target_file(url, made), encoding="utf-8")
        environ |= {f"KILLS_{name.upper()}": each["token"] for name, each in made.items()}
        yield Site(folder, bank, ("-t", target, "-c", "aisp", "--no-doctor"), environ)


@dataclass(frozen=True, kw_only=True)
class Whole:
    """What a run showed that was not killed: its verdicts, the order of its trials, its size."""

    standings: dict[str, Standing]
    trials: tuple[str, ...]
    by_trial: dict[str, tuple[str, ...]]
    requests: int
    accesses: int


@cache
def whole(fault: str) -> Whole:
    """Run on a bank to the end, once."""
    case = Case(way="real", fault=fault, base=True)
    with TemporaryDirectory() as folder, site(Path(folder) / "whole", case) as place:
        remains = place.attempt(*place.options, "--out", place.folder)
        assert remains.code in {0, 1, 3}, remains.err
        report = read_journal(remains.journal)
        assert_accesses(remains)
        by_trial: dict[str, tuple[str, ...]] = {}
        for result in report.results:
            names = by_trial.get(result.planned.trial, ())
            by_trial[result.planned.trial] = (*names, result.planned.id)
        return Whole(
            standings={result.planned.id: result.standing for result in report.results},
            trials=tuple(dict.fromkeys(_trials_of(remains.lines()))),
            by_trial=by_trial,
            requests=remains.bank.requests,
            accesses=remains.bank.accesses.total(),
        )


def _trials_of(lines: list[dict]) -> Iterator[str]:
    for line in lines:
        if "trial" in line and line["type"] not in {"plan", "preliminary", "verdict"}:
            yield line["trial"]


def settled(lines: list[dict], complete: Whole) -> set[str]:
    """Return the obligations of all trials that had ended: another one had begun."""
    begun = [*dict.fromkeys(_trials_of(lines))]
    assert begun == [*complete.trials[: len(begun)]]
    return {name for trial in begun[:-1] for name in complete.by_trial[trial]}


def assert_accesses(remains: Remains) -> None:
    """The ledger has every access that the bank saw, of each customer by each method."""
    recorded = remains.recorded_accesses()
    seen: dict[str, list[int]] = {}
    for (operation, _), number in remains.bank.accesses.items():
        seen.setdefault(operation, []).append(number)
    for operation, numbers in seen.items():
        known = recorded.get(operation, [])
        numbers.sort(reverse=True)
        assert len(numbers) <= len(known), (operation, numbers, known)
        assert all(map(int.__le__, numbers, known)), (operation, numbers, known)


def assert_survived(remains: Remains, number: signal.Signals, complete: Whole) -> int:
    """Everything settled is recorded and rendered; return how many verdicts that is."""
    assert_accesses(remains)
    graceful = number is not signal.SIGKILL
    finished = remains.code >= 0 and remains.code != 130  # ended before the signal
    assert finished or remains.code == (130 if graceful else -number), (remains.code, remains.err)
    assert "Traceback" not in remains.err
    lines = remains.lines()
    assert not graceful or finished or str(remains.folder) in remains.err
    report = read_journal(remains.journal, partial=True)
    # A signal may come while the reports are made: the journal is whole then.
    assert report.complete or not finished
    for form in FORMATS.values():
        form.render(report, StringIO())
    done = set(complete.standings) if report.complete else settled(lines, complete)
    for result in report.results:
        if result.planned.id in done:
            assert complete.standings[result.planned.id] is result.standing, result
    with TemporaryDirectory() as folder:
        target = str(remains.folder.with_suffix(".yaml"))
        judged = open_recording(remains.journal, target_name=target).close(Path(folder) / "j.jsonl")
    for verdict in judged.verdicts:
        known = {complete.standings.get(verdict.obligation), Standing.UNVERIFIED}
        assert verdict.standing in known | {Standing.INDETERMINATE}, verdict
    assert report.complete or judged.exit in {Exit.INCOMPLETE, Exit.VIOLATION}
    return len(done)


def kill_one(folder: Path, seed: int) -> tuple[signal.Signals, int, int]:
    """Kill a run at a random moment; return the signal, the request, and what was settled."""
    chance = random.Random(seed)
    fault, number = BANKS[seed % len(BANKS)], SIGNALS[seed // len(BANKS) % len(SIGNALS)]
    complete = whole(fault)
    at = chance.randint(1, complete.requests)
    late = chance.choice([0.0, chance.uniform(0, LATEST)])
    with site(folder, Case(way="real", fault=fault, base=True)) as place:
        command = (*place.options, "--out", folder)
        remains = place.attempt(*command, signal_=number, after=at, late=late)
        return number, at, assert_survived(remains, number, complete)


def _killed(path: Path, seed: int) -> str:
    number, at, done = kill_one(path, seed)
    return f"{seed}: {number.name} at request {at}: {done} verdicts settled"


def _resumed(path: Path, seed: int) -> str:
    from resumed_kills import resume_one  # noqa: PLC0415 -- it uses this module

    return resume_one(path, seed)


def main() -> int:
    """Kill runs, and print what each left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="resume each run to its end")
    options = parser.parse_args()
    began = monotonic()
    with TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.kills):
            path = Path(folder) / f"run-{seed}"
            sys.stdout.write(f"{_resumed(path, seed) if options.resume else _killed(path, seed)}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{options.kills} kills in {monotonic() - began:.0f} s: nothing lost\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
