"""Whole runs on banks with real customers: what is sent, and what the reports say about it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import command_line
import httpx
import pytest
from nights import noon

from assay.binding.model.target import Budget, Safety
from assay.binding.wire.encode import HttpRequest
from assay.errors import CannotArrange, Exit, Shortage
from assay.fuzzing.findings import SearchRequest
from assay.fuzzing.limits import limits_of
from assay.fuzzing.session import SearchSession
from assay.history import Arrange, Holding
from assay.journal.writer import Journal
from assay.judging.exit_policy import ExitPolicy
from assay.planning.plan import Disposition, restrict
from assay.planning.remedies import ALLOW_WRITES
from assay.preparation.cost import cost_of
from assay.preparation.cost import lines as cost_lines
from assay.preparation.feasibility import assess
from assay.preparation.prepare import Prepared, prepare
from assay.rules.verdict import Standing
from assay.running.environment import Environment, set_up
from assay.running.executor import run_probe
from assay.running.resumption import RecordedProgress
from assay.running.session import Options, RunResult, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.transport.protocol import Delivery, unanswered

#: The bank's clock stands still here.
FROZEN = "2026-09-16T10:00:00+02:00"
#: What a quota is about.
QUOTA = "quota or unmetered"


@dataclass
class Watched:
    """A bank, and how often each customer's methods were called with nobody there."""

    app: Any = field(default_factory=make_app)
    alone: Counter[tuple[str, str]] = field(default_factory=Counter)
    calls: list[tuple[str, str]] = field(default_factory=list)
    answer: Callable[[str, str], str | None] = lambda _method, _path: None

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        path = environ["PATH_INFO"]
        if "/assay-control/" not in path:
            self.calls.append((environ["REQUEST_METHOD"], path))
            if "HTTP_PSU_IP_ADDRESS" not in environ:
                self.alone[environ.get("HTTP_AUTHORIZATION", ""), path] += 1
            if status := self.answer(environ["REQUEST_METHOD"], path):
                start(status, [("Content-Type", "application/json")])
                return [b"{}"]
        return self.app(environ, start)


@contextmanager
def served(bank: Watched) -> Generator[tuple[str, dict[str, Any]]]:
    """Serve a bank with two customers, as an operator would make them by hand."""
    with serving(bank) as url:
        control = f"{url}/assay-control/1/worlds"
        with httpx.Client(trust_env=False) as http:
            world = http.post(control, json={"now": FROZEN}).json()["world"]
            made = {
                name: http.post(
                    f"{control}/{world}/customers",
                    json={"holdings": [{"resource": "account", "count": 3}]},
                ).json()
                for name in ("alice", "bob")
            }
        yield url, made


def target(url: str, made: dict[str, Any], folder: Path, more: str = "") -> Path:
    """Write the target file, with the customers by the names of their tokens' variables."""
    roles = {
        name: {
            "token_env": f"TEST_{name.upper()}_TOKEN",
            "owns": [{"resource": one["resource"], "key": one["key"]} for one in who["holdings"]],
        }
        for name, who in made.items()
    }
    path = folder / "bank.yaml"
    path.write_text(
        f"assay: 1\ntarget: bank\nextends: sandbox\ntransport: http\nbase_url: {url}\n"
        f"zone: {noon()}\n"
        "fixtures:\n  kind: roles\n  offers: [psu, two-psu, consent, roster]\n"
        f"  roles: {json.dumps(roles)}\n{more}"
    )
    return path


def assay(*args: object, cwd: Path, made: dict[str, Any]) -> tuple[int, str]:
    """Run the command; return its code and what it said."""
    tokens = {f"TEST_{name.upper()}_TOKEN": one["token"] for name, one in made.items()}
    code, out, err = command_line.assay(*args, cwd=cwd, **tokens)
    assert "" == err
    return code, out


def journal(folder: Path) -> list[dict[str, Any]]:
    """Read a journal."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def by_kind(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the lines of a kind."""
    return [one for one in lines if one["type"] == kind]


# -- two runs on one day -------------------------------------------------------------
def test_two_runs_on_one_day(tmp_path: Path) -> None:
    """No run makes a fifth access of a customer; the second takes another one, the third none."""
    bank = Watched()
    with served(bank) as (url, made):
        path = target(url, made, tmp_path, "budget: {batch: 4}\n")
        said = [
            assay(
                "run",
                "-t",
                path,
                "-m",
                QUOTA,
                "--out",
                name,
                "--no-doctor",
                cwd=tmp_path,
                made=made,
            )
            for name in ("one", "two", "three")
        ]
        planned = assay("plan", "-t", path, "-m", QUOTA, cwd=tmp_path, made=made)[1]
    assert bank.alone
    assert 4 == max(bank.alone.values())
    one, two, three = (journal(tmp_path / name) for name in ("one", "two", "three"))
    spent = [by_kind(lines, "footer")[0]["spent"] for lines in (one, two)]
    assert sum(bank.alone.values()) == sum(each["accesses"] for run in spent for each in run)
    customers = [{each["customer"] for each in run} for run in spent]
    assert not customers[0] & customers[1]
    assert "spent" not in by_kind(three, "footer")[0]
    assert ["conforms"] == [
        each["verdict"]
        for each in by_kind(one, "verdict")
        if each["obligation"] == "aisp/batch-quota/per-method"
    ]
    for lines, (code, out) in zip((one, two, three), said, strict=True):
        assert Exit.INCOMPLETE.value == code
        assert 0 == by_kind(lines, "footer")[0]["counts"]["violates"]
        reasons = {
            each["obligation"]: each["reason"]
            for each in by_kind(lines, "plan")
            if each["disposition"] == "unverified"
        }
        left = {
            each["obligation"]: each["reason"]
            for each in by_kind(lines, "verdict")
            if each["verdict"] == "unverified"
        }
        assert reasons == left
        assert re.search(
            r"\d+ obligations were skipped because today\'s call budget is used up", out
        )
    why = "needs 4 more accesses of accounts without the customer today; 0 of 4 left (budget.batch, alice)"
    assert why in {each["reason"] for each in by_kind(three, "plan")}
    assert why in planned


def test_after_a_run_without_a_budget(tmp_path: Path) -> None:
    """The next run knows the accesses of a run without a budget, and finds no violation of the bank."""
    bank, counts = Watched(), list[Counter[tuple[str, str]]]()
    with served(bank) as (url, made):
        path = target(url, made, tmp_path)
        for name in ("one", "two", "three"):
            assay(
                "run",
                "-t",
                path,
                "-m",
                QUOTA,
                "--out",
                name,
                "--no-doctor",
                cwd=tmp_path,
                made=made,
            )
            counts.append(bank.alone.copy())
    first, second, third = counts
    assert 5 == max(first.values()) == max(second.values())
    assert len(first) < len(second)  # another customer's
    assert second == third
    three = journal(tmp_path / "three")
    assert 0 == by_kind(three, "footer")[0]["counts"]["violates"]
    why = (
        "needs a day with no earlier call of accounts without the customer; "
        "5 made earlier today (alice)"
    )
    assert why in {one["reason"] for one in by_kind(three, "verdict")}


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    """A dry run shows the cost and what is left in the ledger; it sends and records nothing."""
    bank = Watched()
    with served(bank) as (url, made):
        path = target(url, made, tmp_path, "budget: {batch: 4}\n")
        code, out = assay("run", "-t", path, "-m", QUOTA, "--dry-run", cwd=tmp_path, made={})
    assert (0, []) == (code, bank.calls)
    assert "4 accesses of accounts without the customer (alice, " in out
    assert "0 made earlier; 4 of 4 left" in out
    assert re.search(r"^\d+ obligations, \d+ of them unverified$", out, re.MULTILINE)
    assert re.search(
        r"^\d+ calls in \d+ trials, and one for each further page of a list$", out, re.MULTILINE
    )
    assert out.endswith("nothing was sent\n")
    assert not (tmp_path / "reports").exists()


def test_the_plan_has_the_cost_as_json(tmp_path: Path) -> None:
    """The cost is one object after the obligations; fixtures created per trial have no such line."""
    with served(Watched()) as (url, made):
        path = target(url, made, tmp_path, "budget: {batch: 4}\n")
        _, out = assay("plan", "-t", path, "-m", QUOTA, "--json", cwd=tmp_path, made=made)
        _, plain = assay("plan", "-m", QUOTA, "--json", cwd=tmp_path, made=made)
    last = json.loads(out.splitlines()[-1])
    assert {4} == {one["most"] for one in last["cost"]["without_customer"]}
    assert "obligation" in json.loads(plain.splitlines()[-1])


def test_a_file_that_is_not_a_ledger(tmp_path: Path) -> None:
    """The error comes before anything is sent, with a hint; the file stays as it was."""
    notes = tmp_path / "notes.txt"
    notes.write_text("these are notes, and no database at all " * 20)
    bank = Watched()
    with served(bank) as (url, made):
        path = target(url, made, tmp_path)
        tokens = {f"TEST_{one.upper()}_TOKEN": "x" for one in made}
        wanted = ("run", "-t", path, "--ledger", notes)
        code, _, err = command_line.assay(*wanted, cwd=tmp_path, **tokens)
    assert (Exit.USAGE.value, []) == (code, bank.calls)
    assert "notes.txt: this is not a ledger of Assay" in err
    assert "these are notes" in notes.read_text()


# -- in this process -----------------------------------------------------------------
def opened(prepared: Prepared, bank: Watched, **more: Any) -> Environment:
    """Make an embedded bank ready, with gates of its own."""
    return set_up(replace(prepared.target, **more), bank=lambda _: bank)


def held(
    prepared: Prepared,
    environment: Environment,
    folder: Path | None = None,
    options: Options | None = None,
) -> RunResult:
    """Run a plan."""
    out = Journal.at(folder / "journal.jsonl") if folder else Journal(out=None)
    session = Session(
        plan=prepared.plan, environment=environment, journal=out, options=options or Options()
    )
    return run_session(session)


def test_a_live_bank_gets_no_write() -> None:
    """Neither trials nor random sequences and mutated fields write to a live bank."""
    prepared = prepare()
    bank = Watched(make_app(base_url=prepared.target.base_url))
    live = replace(prepared.target, environment="live")
    prepared = replace(prepared, target=live, plan=prepare().plan)
    environment = opened(prepared, bank)
    result = held(prepared, environment)
    for contract in ("aisp", "pis"):
        for how in ("journeys", "fields"):
            session = Session(
                plan=prepared.plan, environment=environment, journal=Journal(out=None)
            )
            session.open()
            searching = SearchSession(session=session, plan=prepared.plan, whole=prepared.whole())
            limits = replace(limits_of(prepare().target, 5), calls=100)
            searching.search(SearchRequest(contract=contract, how=how, times=5), limits)
    assert bank.calls
    assert {"GET"} == {method for method, _ in bank.calls}
    assert 0 == result.counts["violates"]
    assert f"needs {ALLOW_WRITES}" in {one.reason for one in result.verdicts}


def test_limits_on_payments() -> None:
    """With a list and a maximum, no request exceeds them, and the plan says what is left out."""
    safety = Safety(
        only={"creditorAccount": ("FR7630006000011234567890189",)}, most={"amount": "12.30"}
    )
    prepared = prepare(["pis"], keywords="duplicate or single or euro")
    target = replace(prepared.target, safety=safety)
    feasibility = assess(prepared.plan, target, now=datetime.now(UTC))
    prepared = replace(prepared, target=target, plan=feasibility.plan, feasibility=feasibility)
    bank = Watched(make_app(base_url=target.base_url))
    bodies: list[bytes] = []
    environment = opened(prepared, bank)
    send = environment.client.send
    environment.client.send = lambda one: (bodies.append(one.body), send(one))[1]  # type: ignore[method-assign]
    result = held(prepared, environment)
    paid = [json.loads(one) for one in bodies if b"creditorAccount" in one]
    assert paid
    assert {"FR7630006000011234567890189"} == {one["creditorAccount"] for one in paid}
    assert all(float(one["amount"]) <= 12.3 for one in paid)
    left = {
        one.obligation: one.reason for one in result.verdicts if one.standing is Standing.UNVERIFIED
    }
    assert left == {
        one.obligation.id: one.reason
        for one in prepared.plan.items
        if one.disposition is Disposition.UNVERIFIED
    }
    assert any("safety." in why for why in left.values())
    assert 0 == result.counts["violates"]


@pytest.mark.parametrize(
    ("limits", "key", "most"),
    [
        ({}, "0 of 20 left (safety.requests)", 20),
        ({"requests": 7}, "of 7 left (safety.requests)", 7),
        ({"total": {"amount": "61.50"}}, "of 61.50 left (safety.total)", 5),
    ],
)
def test_the_number_and_the_sum_of_payments(limits: dict[str, Any], key: str, most: int) -> None:
    """A run at a live bank makes so many payments and no more, as its plan says; no trial is cut short."""
    only = {"creditorAccount": ("FR7630006000011234567890189",)}
    safety = Safety(allow_writes=True, only=only, most={"amount": "12.30"}, **limits)
    prepared = prepare(["pis"], keywords="duplicate or single or euro or consistent or required")
    target = replace(prepared.target, environment="live", safety=safety)
    feasibility = assess(prepared.plan, target, now=datetime.now(UTC))
    prepared = replace(prepared, target=target, plan=feasibility.plan, feasibility=feasibility)
    bank = Watched(make_app(base_url=target.base_url))
    bodies: list[bytes] = []
    environment = opened(prepared, bank)
    send = environment.client.send
    environment.client.send = lambda one: (bodies.append(one.body), send(one))[1]  # type: ignore[method-assign]
    result = held(prepared, environment)
    paid = [json.loads(one)["amount"] for one in bodies if b"creditorAccount" in one]
    assert most - 1 <= len(paid) <= most
    assert sum(map(Decimal, paid)) <= Decimal("12.30") * most
    planned = [one for one in prepared.plan.items if one.disposition is Disposition.UNVERIFIED]
    assert any(key in one.reason for one in planned)
    left = {one.obligation for one in result.verdicts if one.standing is Standing.UNVERIFIED}
    assert {one.obligation.id for one in planned} == left
    told = [*cost_lines(cost_of(feasibility, target))]
    assert f"{len(paid)} of at most {safety.requests or 20} requests (safety.requests)" in told
    assert any("of at most 61.50 of amount" in line for line in told) is bool(safety.total)


def test_a_resumed_run_goes_on_counting() -> None:
    """The requests of the run that was cut short count for the one that continues it."""
    safety = Safety(most={"amount": "12.30"}, total={"amount": "100.00"})
    prepared = prepare(["pis"], keywords="duplicate")
    environment = opened(prepared, Watched(), safety=safety)
    Session(
        plan=prepared.plan,
        environment=environment,
        journal=Journal(out=None),
        resumes=Path("journal.jsonl"),
        progress=RecordedProgress(operations=Counter({"create-payment": 3, "payment": 9})),
    )
    guard = environment.guard
    assert {"": 3, "amount": Decimal("36.90")} == guard.written


def test_links_to_other_hosts_are_no_failures_of_the_bank() -> None:
    """What is not sent at all says nothing about the bank, and does not stop the run."""
    prepared = prepare(["aisp"], keywords="accounts.available or listing")
    bank = Watched(make_app(base_url=prepared.target.base_url))
    environment = opened(prepared, bank, safety=Safety(breaker=1))
    refused = unanswered(HttpRequest(method="GET", url="https://other.example"), "x", sent=False)
    for sent, stopped in ((refused, ""), (replace(refused, sent=True), "1 failures in a row")):
        environment.client.send = lambda _, sent=sent: sent  # type: ignore[misc]
        assert stopped in held(prepared, environment).stopped
        environment.guard.stopped = ""


@pytest.mark.parametrize("allow", [False, True])
def test_a_bank_that_stops_answering(tmp_path: Path, *, allow: bool) -> None:
    """After three failures in a row nothing more is sent; the journal is complete, and nothing is violated."""
    prepared = prepare(["aisp"])
    bank = Watched(make_app(base_url=prepared.target.base_url))
    environment = opened(prepared, bank, safety=Safety(breaker=3))
    calls: list[str] = []
    silent(environment, calls)
    result = held(
        prepared, environment, tmp_path, Options(policy=ExitPolicy(allow_incomplete=allow))
    )
    why = "the run was stopped after 3 failures in a row (safety.breaker)"
    # The third and the fourth are made at one moment.
    assert (4, why, Exit.INCOMPLETE) == (len(calls), result.stopped, result.exit)
    assert (0, 0) == (result.counts["violates"], result.counts["conforms"])
    assert 100 < sum(one.reason == why for one in result.verdicts)
    (footer,) = by_kind(journal(tmp_path), "footer")
    assert (why, len(prepared.plan.items)) == (footer["stopped"], sum(footer["counts"].values()))


def silent(environment: Environment, calls: list[str]) -> None:
    """Let a bank answer nothing any more."""

    def send(request: HttpRequest) -> Delivery:
        calls.append(request.url)
        return unanswered(request, "timed out")

    environment.client.send = send  # type: ignore[method-assign]


def test_a_bank_that_only_fails() -> None:
    """A bank's server errors count as failures; what it showed before is kept."""
    prepared = prepare(["aisp"])
    bank = Watched(make_app(base_url=prepared.target.base_url))
    bank.answer = lambda _method, _path: "503 Service Unavailable"
    result = held(prepared, opened(prepared, bank, safety=Safety(breaker=3)))
    # The third and the fourth are made at one moment.
    assert 4 == len(bank.calls)
    assert "3 failures in a row" in result.stopped
    violated = [one.obligation for one in result.verdicts if one.standing is Standing.VIOLATES]
    assert (["aisp/accounts.available/answers"], Exit.VIOLATION) == (violated, result.exit)


def test_single_failures_do_not_stop_a_run() -> None:
    """A success restarts the count of failures."""
    prepared = prepare(["aisp"], keywords="accounts.available or balances.available")
    bank = Watched(make_app(base_url=prepared.target.base_url))
    odd = iter(range(10**6))
    bank.answer = lambda _method, _path: "503 Unavailable" if next(odd) % 3 else None
    environment = opened(prepared, bank, safety=Safety(breaker=3))
    assert "" == held(prepared, environment).stopped


@pytest.mark.parametrize("status", ["503 Unavailable", "429 Too Many", "500 Error", "408 Time"])
def test_nothing_is_sent_twice(status: str) -> None:
    """Whatever a bank answers, each call of a sequence is sent once."""
    prepared = prepare(["aisp"], keywords="accounts.available/answers")
    bank = Watched(make_app(base_url=prepared.target.base_url))
    bank.answer = lambda _method, _path: status
    result = held(prepared, opened(prepared, bank))
    assert 0 < len(bank.calls) == result.exchanges <= prepared.plan.calls


def test_nothing_is_sent_twice_over_a_network() -> None:
    """The HTTP client does not repeat a request either."""
    bank = Watched(answer=lambda _method, _path: "503 Unavailable")
    with serving(bank) as url:
        prepared = prepare(["aisp"], url, keywords="accounts.available/answers")
        environment = set_up(prepared.target)
        result = held(prepared, environment)
        environment.close()
    assert 0 < len(bank.calls) == result.exchanges <= prepared.plan.calls


def test_a_part_of_a_plan_has_the_whole_budget(tmp_path: Path) -> None:
    """Obligations that are left out of a run use no budget."""
    with served(Watched()) as (url, made):
        prepared = prepare(["aisp"], str(target(url, made, tmp_path)), marks=QUOTA)
    name = "aisp/batch-quota/per-method"
    (item,) = (one for one in prepared.plan.items if one.obligation.id == name)
    (alone,) = prepared.part({name}).items
    assert (Disposition.UNVERIFIED, Disposition.ASK) == (item.disposition, alone.disposition)
    assert "5 planned earlier in this run (alice)" in item.reason
    whole = prepare(["aisp"])
    assert restrict(whole.plan, {name}) == whole.part({name})


def test_a_budget_of_calls_is_never_exceeded() -> None:
    """Neither a plan that was not assessed nor random sequences exceed a budget of calls."""
    prepared = prepare(["aisp"], keywords="accounts")
    bank = Watched(make_app(base_url=prepared.target.base_url))
    environment = opened(prepared, bank, budget=Budget(calls=20))
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    result = run_session(session, search=lambda: _travel(session, prepared))
    assert 20 == len(bank.calls)
    left = [one for one in result.verdicts if "0 of 20 left (budget.calls)" in one.reason]
    assert left
    assert {Standing.UNVERIFIED} == {one.standing for one in left}


def _travel(session: Session, prepared: Prepared) -> None:
    searching = SearchSession(session=session, plan=prepared.plan, whole=prepared.whole())
    searching.search(SearchRequest(contract="aisp", how="journeys", times=3))


def test_another_process_spends_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard refuses an access that another process used up after planning."""
    bank = Watched()
    with served(bank) as (url, made):
        for name, who in made.items():
            monkeypatch.setenv(f"TEST_{name.upper()}_TOKEN", who["token"])
        path = target(url, made, tmp_path, "budget: {batch: 4}\n")
        prepared = prepare(target_name=str(path), keywords="batch-quota/per-method")
        assert 1 == len(prepared.plan.trials)
        first, second = set_up(prepared.target), set_up(prepared.target)
        results = [held(prepared, environment) for environment in (first, second)]
        first.close()
        second.close()
    assert 4 == max(bank.alone.values())
    (verdict,) = results[1].verdicts
    why = "needs 1 more access of accounts without the customer today; 0 of 4 left (budget.batch, alice)"
    assert (Standing.UNVERIFIED, why) == (verdict.standing, verdict.reason)
    assert Shortage.BUDGET is verdict.shortage


def test_no_step_is_performed_once_a_run_is_stopped() -> None:
    """After the stop no customer is created and no screen is opened."""
    prepared = prepare(["aisp"], keywords="accounts.available")
    environment = opened(prepared, Watched(make_app(base_url=prepared.target.base_url)))
    environment.guard.stopped = "enough"
    step = Arrange(subject="psu", holdings=(Holding(resource="account"),))

    def script() -> Iterator[Any]:
        yield step

    driven = run_probe(
        script(),  # type: ignore[arg-type]
        environment,
        prepared.plan.contracts["aisp"].operations,
        number=lambda: 1,
        record=lambda _event, _access: None,
    )
    assert ((), "needs a target that answers: enough") == (driven.history.events, driven.stopped)
    with pytest.raises(CannotArrange):
        environment.guard.check_running()
