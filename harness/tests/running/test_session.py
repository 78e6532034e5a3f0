"""Runs that complete, fail or are interrupted, and the journal of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.binding.model.target import Waiver
from assay.contract.model import Capability
from assay.errors import Exit, InputError, JournalError, TargetError
from assay.fixtures.control import ControlProvider
from assay.journal.writer import Journal
from assay.judging.exit_policy import ExitPolicy
from assay.planning.plan import Disposition
from assay.preparation.prepare import Prepared, prepare
from assay.report import FORMATS, read_journal
from assay.rules.verdict import Standing
from assay.running import trial_recorder
from assay.running.environment import Environment, set_up
from assay.running.session import Options, RunResult, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND, put
from assay.transport.http import HttpClient

#: A few cheap clauses, some of which were not asked for: enough for most of this.
SOME = "psu-identity or listing or unspecified or trusted"
DISCLOSED = "aisp/psu-identity/disclosed-after"
DAY = timedelta(days=1)


def bank(base_url: str) -> Any:
    return make_app(base_url=base_url)


def tongueless(base_url: str) -> Any:
    """Make a bank that never tells who the customer is: two obligations suffer."""
    return make_app(replace(SOUND, identity=lambda _name, _consented: {}), base_url=base_url)


@dataclass
class Held:
    """A run, whatever became of it, and its record."""

    prepared: Prepared
    path: Path
    result: RunResult | None = None
    error: BaseException | None = None

    def lines(self, kind: str = "") -> list[dict[str, Any]]:
        every = map(json.loads, self.path.read_text("utf-8").splitlines())
        return [one for one in every if kind in {"", one["type"]}]

    def standings(self) -> dict[str, str]:
        assert self.result is not None
        return {one.obligation: one.standing.value for one in self.result.verdicts}


@dataclass
class Failing(httpx.BaseTransport):
    """A transport that does something else from its n-th request on."""

    inner: httpx.BaseTransport
    after: int
    instead: Callable[[], None]
    seen: int = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen += 1
        if self.seen > self.after:
            self.instead()
        return self.inner.handle_request(request)


def hold(
    folder: Path,
    *,
    keywords: str = SOME,
    app: Callable[[str], Any] = bank,
    after: int = 10**9,
    instead: Callable[[], None] = lambda: None,
    waivers: tuple[Waiver, ...] = (),
    allow_incomplete: bool = False,
    watch: Callable[[Path], None] = lambda _: None,
    concurrency: int = 1,
    clock: bool = True,
) -> Held:
    """Run a selection on a bank, and keep what became of it."""
    prepared = prepare(keywords=keywords)
    offers = prepared.target.fixtures.offers - ({Capability.CLOCK} if not clock else frozenset())
    fixtures = replace(prepared.target.fixtures, offers=offers)
    target = replace(prepared.target, waivers=waivers, fixtures=fixtures)
    wire = httpx.WSGITransport(app=app(target.base_url))
    client = HttpClient(base_url=target.base_url, transport=Failing(wire, after, instead))
    environment = Environment(
        target=target, client=client, fixtures=ControlProvider(send=client.control)
    )
    held = Held(prepared, folder / "journal.jsonl")
    session = Session(
        plan=prepared.plan,
        environment=environment,
        journal=Journal.at(held.path),
        options=Options(
            policy=ExitPolicy(allow_incomplete=allow_incomplete), concurrency=concurrency
        ),
        on_exchange=lambda: watch(held.path),
    )
    try:
        held.result = run_session(session)
    except (TargetError, KeyboardInterrupt, JournalError) as error:
        held.error = error
    finally:
        environment.close()
        if session.journal.out is not None:
            session.journal.out.close()
    return held


def refuse() -> None:
    raise httpx.ConnectError("refused")


def interrupt() -> None:
    raise KeyboardInterrupt


def test_the_journal_of_a_run(tmp_path: Path) -> None:
    """Header, plan, events, verdicts and footer are in this order and add up."""
    held = hold(tmp_path)
    kinds = [one["type"] for one in held.lines()]
    in_order = ["header", "plan", "event", "verdict", "footer"]
    grouped = [kind if kind in in_order else "event" for kind in kinds if kind != "advanced"]
    assert in_order == list(dict.fromkeys(grouped))
    assert grouped == sorted(grouped, key=in_order.index)
    (footer,) = held.lines("footer")
    assert footer["planned"] == len(held.lines("plan")) == len(held.lines("verdict"))
    assert footer["planned"] == sum(footer["counts"].values())
    assert footer["exchanges"] == len(held.lines("exchange")) == held.prepared.plan.calls
    assert (0, 0) == (footer["exit"], footer["faults"])
    assert read_journal(held.path).complete is True


def test_written_as_it_happens(tmp_path: Path) -> None:
    """During a run, the file has every complete line so far."""
    seen: list[int] = []

    def watch(path: Path) -> None:
        text = path.read_text("utf-8")
        assert text.endswith("\n")
        kinds = [json.loads(line)["type"] for line in text.splitlines()]
        seen.append(kinds.count("exchange"))

    held = hold(tmp_path, watch=watch)
    assert list(range(1, held.prepared.plan.calls + 1)) == seen


def test_a_journal_is_never_overwritten(tmp_path: Path) -> None:
    """An existing journal stays as it is."""
    path = tmp_path / "journal.jsonl"
    path.write_text("mine")
    with pytest.raises(InputError, match="a journal already exists"):
        Journal.at(path)
    assert "mine" == path.read_text()


@pytest.mark.parametrize("place", ["file/journal.jsonl", "/proc/nothing/journal.jsonl"])
def test_nowhere_to_write(tmp_path: Path, place: str) -> None:
    """A journal that cannot be created is one clear error before the first call."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write the journal|a journal already exists"):
        Journal.at(tmp_path / place)


def test_an_unreachable_target(tmp_path: Path) -> None:
    """A target that refuses the first connection is an error, and no verdict blames it."""
    held = hold(tmp_path, after=0, instead=refuse)
    assert isinstance(held.error, TargetError)
    assert "cannot connect (refused)" in str(held.error)
    (footer,) = held.lines("footer")
    assert (2, str(held.error)) == (footer["exit"], footer["aborted"])
    assert {"unspecified"} == {one["verdict"] for one in held.lines("verdict")}


def test_an_error_of_the_target_denies_no_violation() -> None:
    """A run that cannot go on says what its footer counts: a violation that was found stays one."""
    prepared = prepare(keywords=SOME)
    environment = set_up(prepared.target, bank=tongueless)
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    session.open()
    assert "no obligation is reported as violated" == session.blame
    for trial in prepared.plan.trials:
        session.run_trial(trial)
    environment.close()
    assert frozenset({DISCLOSED}) == session.violated()
    assert "1 obligation is reported as violated" == session.blame


def test_an_unreachable_target_with_listed_customers(tmp_path: Path) -> None:
    """The same holds for listed customers, whose fixtures contact nothing."""
    path = tmp_path / "t.yaml"
    path.write_text(
        "assay: 1\ntarget: t\nextends: sandbox\ntransport: http\nbase_url: http://127.0.0.1:9\n"
        "auth: {kind: none}\nfixtures: {kind: roles, offers: [psu], roles: {a: {owns: "
        "[{resource: account, key: A}]}}}\n"
    )
    prepared = prepare(target_name=str(path), keywords="refused-without-consent")
    environment = set_up(prepared.target)
    environment.client._wire = Failing(environment.client._wire, 0, refuse)
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    with pytest.raises(TargetError, match="cannot connect"):
        run_session(session)
    environment.close()


def test_a_target_that_goes_away(tmp_path: Path) -> None:
    """A target that goes away leaves the rest open; what was recorded is kept."""
    whole = hold(tmp_path / "whole")
    held = hold(tmp_path / "cut", after=9, instead=refuse)
    assert (None, 0) == (held.error, held.result.counts["violates"])
    assert Exit.INCOMPLETE is held.result.exit
    assert 0 < held.result.counts["indeterminate"]
    assert 0 < held.result.counts["conforms"]
    same = [
        name for name, standing in held.standings().items() if standing == whole.standings()[name]
    ]
    assert len(same) == len(held.standings()) - held.result.counts["indeterminate"]
    assert read_journal(held.path).complete is True
    reasons = {one.reason for one in held.result.verdicts if one.standing is Standing.INDETERMINATE}
    assert all("cannot connect (refused)" in reason for reason in reasons)


@pytest.mark.parametrize("after", range(12))
def test_interrupted(tmp_path: Path, after: int) -> None:
    """An interrupted run leaves an unfinished, readable journal."""
    held = hold(tmp_path, after=after, instead=interrupt)
    assert isinstance(held.error, KeyboardInterrupt)
    (footer,) = held.lines("footer")
    assert "interrupted" == footer["aborted"]
    with pytest.raises(JournalError, match="unfinished: the run was aborted: interrupted"):
        read_journal(held.path)
    report = read_journal(held.path, partial=True)
    assert report.complete is False
    assert len(held.prepared.plan.items) == len(report.results)
    assert sum(footer["counts"].values()) == len(held.lines("verdict"))


def test_interrupted_while_writing(tmp_path: Path) -> None:
    """After an interruption within a line, nothing more is written."""

    class Torn:
        """A file that is interrupted after half of its fifth line."""

        def __init__(self, path: Path) -> None:
            self.file, self.lines = path.open("x", encoding="utf-8"), 0

        def write(self, text: str) -> None:
            self.lines += 1
            self.file.write(text[: len(text) // 2] if self.lines == 5 else text)
            if self.lines == 5:
                raise KeyboardInterrupt

        def flush(self) -> None:
            self.file.flush()

        def close(self) -> None:
            self.file.close()

    path = tmp_path / "journal.jsonl"
    prepared = prepare(keywords=SOME)
    journal = Journal(out=Torn(path))
    for number in range(4):
        journal.write("plan" if number else "header", {"number": number})
    with pytest.raises(KeyboardInterrupt):
        journal.write("plan", {"number": 4})
    journal.write("verdict", {"obligation": prepared.plan.items[0].obligation.id})
    journal.footer({"aborted": "interrupted"})
    lines = path.read_text("utf-8").split("\n")
    assert 5 == len(lines)
    assert lines[-1].startswith('{"type": "plan"')


class Full:
    """A disk with room for so many lines."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, _: str) -> None:
        self.room -= 1
        if self.room < 0:
            raise OSError(28, "No space left on device")

    def flush(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("room", [0, 1, 35, 45])
def test_a_full_disk(room: int) -> None:
    """A full disk ends a run with one line, and is no harness fault."""
    prepared = prepare(keywords=SOME)
    environment = set_up(prepared.target)
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=Full(room)))
    with pytest.raises(JournalError, match="cannot write the journal: No space left on device"):
        run_session(session)
    environment.close()
    assert [] == session.faults


def breaks(real: Any, of: Callable[..., str]) -> Any:
    """Return a function that raises for one clause, and is the real one for all others."""

    def function(*args: Any, **named: Any) -> Any:
        if of(*args) == "psu-identity":
            raise ZeroDivisionError("FR7630001007941234567890185")
        return real(*args, **named)

    return function


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("part", ["probe", "check"])
def test_a_fault_of_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, concurrency: int
) -> None:
    """A probe or check that raises costs only its own trial, and the run exits with 4."""
    if part == "probe":
        broken = breaks(trial_recorder.script_of, lambda _, trial: trial.clause)
        monkeypatch.setattr(trial_recorder, "script_of", broken)
    else:
        broken = breaks(trial_recorder.judge, lambda _, settles, *__: settles[0].clause)
        monkeypatch.setattr(trial_recorder, "judge", broken)
    held = hold(tmp_path, concurrency=concurrency)
    assert Exit.FAULT is held.result.exit
    (fault,) = held.lines("fault")
    assert "aisp/psu-identity#around-consent" == fault["where"]
    assert "ZeroDivisionError: <number-1>" == fault["what"]
    lost = {name: one for name, one in held.standings().items() if "psu-identity" in name}
    assert {"indeterminate"} == set(lost.values())
    assert len(lost) == held.result.counts["indeterminate"] == 3
    assert 1 == len(read_journal(held.path).faults)


def rendered(journal: Path, name: str) -> str:
    """Return the report of a journal in one format."""
    out = StringIO()
    FORMATS[name].render(read_journal(journal), out)
    return out.getvalue()


def waiver(expires: datetime, obligation: str = DISCLOSED) -> tuple[Waiver, ...]:
    return (
        Waiver(
            obligation=obligation,
            owner="gateway team",
            reason="ticket GW-1",
            expires=str(expires.date()),
        ),
    )


@pytest.mark.parametrize("days", [0, 30])
def test_a_valid_waiver(tmp_path: Path, days: int) -> None:
    """A known non-conformity is waived through the last day, with the reason, and the run is green."""
    until = datetime.now(UTC) + days * DAY
    held = hold(tmp_path, app=tongueless, waivers=waiver(until), allow_incomplete=True)
    (verdict,) = (one for one in held.result.verdicts if one.obligation == DISCLOSED)
    assert Standing.WAIVED is verdict.standing
    assert f"ticket GW-1 (gateway team, until {until.date()})" == verdict.reason
    assert (Exit.OK, 0) == (held.result.exit, held.result.counts["violates"])


def test_without_the_waiver(tmp_path: Path) -> None:
    """The same non-conformity without its waiver is a violation."""
    held = hold(tmp_path, app=tongueless)
    assert ("violates", Exit.VIOLATION) == (held.standings()[DISCLOSED], held.result.exit)


def test_an_expired_waiver(tmp_path: Path) -> None:
    """What an expired waiver names is violated, and every report says that it has expired."""
    yesterday = datetime.now(UTC) - DAY
    held = hold(tmp_path, app=tongueless, waivers=waiver(yesterday))
    (verdict,) = (one for one in held.result.verdicts if one.obligation == DISCLOSED)
    assert f"the waiver of gateway team expired on {yesterday.date()}: " in verdict.reason
    assert (Standing.VIOLATES, Exit.VIOLATION) == (verdict.standing, held.result.exit)
    said = f"expired on {yesterday.date()} (gateway team: ticket GW-1)"
    (row,) = (one for one in read_journal(held.path).results if one.planned.id == DISCLOSED)
    assert said == row.waiver
    for name in FORMATS:
        if name != "har":
            assert f"expired on {yesterday.date()}" in rendered(held.path, name), name


@pytest.mark.parametrize("days", [-1, 1, 60])
def test_a_superfluous_waiver(tmp_path: Path, days: int) -> None:
    """A waiver that is not needed any more is to be removed; the obligation conforms all the same."""
    held = hold(tmp_path, waivers=waiver(datetime.now(UTC) + days * DAY))
    (verdict,) = (one for one in held.result.verdicts if one.obligation == DISCLOSED)
    assert (Standing.CONFORMS, "") == (verdict.standing, verdict.reason)
    assert (Exit.USAGE, 0) == (held.result.exit, held.result.counts["violates"])
    assert "1 waiver to remove" in rendered(held.path, "text")
    assert "violates" not in rendered(held.path, "text").replace("✗      0  violate", "")


def test_waivers_apply_to_an_interrupted_run(tmp_path: Path) -> None:
    """Verdicts before an interruption are recorded with their waivers."""
    held = hold(
        tmp_path,
        keywords="psu-identity or page-size",
        app=tongueless,
        after=60,
        instead=interrupt,
        waivers=waiver(datetime.now(UTC) + DAY),
    )
    cut = {one["obligation"]: one["verdict"] for one in held.lines("verdict")}
    assert "waived" == cut.get(DISCLOSED, "waived")
    assert isinstance(held.error, KeyboardInterrupt) or held.result


@pytest.mark.parametrize(
    ("keywords", "allow", "exit_"),
    [
        ("withheld-before or page-size", False, Exit.INCOMPLETE),
        ("withheld-before or page-size", True, Exit.OK),
        ("withheld-before", True, Exit.INCOMPLETE),
    ],
)
def test_open_musts(tmp_path: Path, keywords: str, allow: bool, exit_: Exit) -> None:
    """An open must makes a run incomplete, unless that is allowed and something was verified."""
    held = hold(tmp_path, app=tongueless, keywords=keywords, allow_incomplete=allow)
    assert (1, exit_) == (held.result.counts["indeterminate"], held.result.exit)


def test_what_the_plan_decides(tmp_path: Path) -> None:
    """An obligation that the plan leaves open is not tested, and its verdict has the plan's reason."""
    held = hold(tmp_path, keywords="unspecified")
    assert {Disposition.UNSPECIFIED} == {one.disposition for one in held.prepared.plan.items}
    assert 0 == held.result.exchanges
    said = {(one["verdict"], one["reason"].partition(":")[0]) for one in held.lines("verdict")}
    expected = {"the source document leaves this open", "this bank answers"}
    assert {("unspecified", words) for words in expected} == said


def test_settling_one_obligation(tmp_path: Path) -> None:
    """One obligation can be settled by itself; its trial is run once for all its facets."""
    prepared = prepare(keywords="psu-identity")
    environment = set_up(prepared.target)
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    session.open()
    found = [session.settle(one.obligation).standing for one in prepared.plan.items]
    environment.close()
    assert [Standing.CONFORMS] * 3 == found
    assert 5 == session.exchanges


def test_maintenance(tmp_path: Path) -> None:
    """In announced maintenance hours a violation is only unclear; a minute earlier it counts.

    A clock that can be moved is moved to the end of them.
    """

    def at(moment: str, *, clock: bool = False) -> RunResult:
        def sundays(base_url: str) -> Any:
            inner = make_app(
                replace(
                    SOUND,
                    closed=lambda _: False,
                    pages=put(SOUND.pages, accounts=SOUND.pages["transactions"]),
                ),
                base_url=base_url,
            )

            def app(environ: dict[str, Any], start_response: Any) -> Any:
                if environ["PATH_INFO"].endswith("/worlds"):
                    body = json.dumps({"now": moment}).encode()
                    environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
                return inner(environ, start_response)

            return app

        folder = tmp_path / f"{moment[11:16]}{clock}"
        held = hold(folder, keywords="accounts.page-size", app=sundays, clock=clock)
        return held.result

    during, before = at("2026-09-20T02:00:00+02:00"), at("2026-09-20T01:59:00+02:00")
    first = "aisp/accounts.page-size/first-page"
    for result in (before, at("2026-09-20T02:00:00+02:00", clock=True)):
        assert [first] == [
            one.obligation for one in result.verdicts if one.standing is Standing.VIOLATES
        ]
    assert 0 == during.counts["violates"]
    (verdict,) = (one for one in during.verdicts if one.obligation == first)
    assert Standing.INDETERMINATE is verdict.standing
    assert verdict.reason.endswith("items, during the announced maintenance hours")
