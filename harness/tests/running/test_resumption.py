"""Runs that are continued: what the target, the budget and the answers were before the cut still counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from assay.binding.model.target import Budget, Safety, Target
from assay.cli.resume import read_progress
from assay.contexts.context import Depth
from assay.journal.codec import TrialEnd
from assay.journal.journal_file import reopen
from assay.journal.typed_values import read_record, record_of
from assay.journal.writer import Journal
from assay.judging.corrections import AnswersSeen, StaticWatch
from assay.preparation.prepare import prepare
from assay.proof.kill_matrix import variants
from assay.report import read_journal
from assay.running import trial_recorder
from assay.running.environment import set_up
from assay.running.session import RunResult, Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants.contextual import make_contextual_app
from assay.sandbox.policies import SOUND

SOME = "psu-identity or trusted or consent.scope"


@dataclass
class Bank:
    """A bank that fails from one request to another; `control` says which requests are counted."""

    app: Any
    fails: range = range(0)
    control: bool = False
    answer: bytes = b""
    calls: int = 0

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        is_control = "/assay-control/" in environ["PATH_INFO"]
        if is_control is self.control:
            self.calls += 1
            if self.calls in self.fails:
                start("500 Internal Server Error", [("Content-Length", "0")])
                return [b""]
        if self.answer and not is_control:
            length = ("Content-Length", str(len(self.answer)))
            start("200 OK", [("Content-Type", "application/json"), length])
            return [self.answer]
        return self.app(environ, start)


def run(
    path: Path,
    bank: Callable[[str], Bank] = lambda base: Bank(make_app(base_url=base)),
    *,
    change: Callable[[Target], Target] = lambda target: target,
    keywords: str = SOME,
    contexts: Depth = Depth.BASE,
) -> RunResult:
    """Begin a run, or continue the one whose journal is there."""
    prepared = prepare(keywords=keywords, contexts=contexts)
    environment = set_up(change(prepared.target), bank=bank)
    resumes = path if path.exists() else None
    journal = Journal(out=reopen(path)) if resumes else Journal.at(path)
    more = {"resumes": path, "progress": read_progress(path)[1]} if resumes else {}
    session = Session(plan=prepared.plan, environment=environment, journal=journal, **more)
    try:
        return run_session(session)
    finally:
        environment.close()
        journal.out.close()


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal, without their places in its chain."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [{key: line[key] for key in line if key != "chain"} for line in lines]


def cut_at(path: Path, number: int) -> None:
    """Leave the first lines of a journal."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:number]))


def ends(path: Path) -> list[int]:
    """Return the numbers of the lines on which a trial ended."""
    return [n for n, line in enumerate(lines_of(path), 1) if line["type"] == "ended"]


def standings(path: Path) -> dict[str, str]:
    """Return the verdicts in a report."""
    return {each.planned.id: each.standing.value for each in read_journal(path).results}


def test_a_stopped_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """What the breaker left out is run when the bank answers again, and the trial that it cut."""
    run(tmp_path / "whole")
    path, breaker = tmp_path / "j", Safety(breaker=2)
    failing = lambda base: Bank(make_app(base_url=base), range(12, 1000))  # noqa: E731
    stopped = run(path, failing, change=lambda target: replace(target, safety=breaker))
    assert "2 failures in a row" in stopped.stopped
    before = [line["trial"] for line in lines_of(path) if line["type"] == "ended"]
    assert not read_progress(path)[1].complete
    resumed = run(path)
    assert "" == resumed.stopped
    assert standings(tmp_path / "whole") == standings(path)
    assert {*before} == {line["trial"] for line in lines_of(path) if line["type"] == "ended"}
    assert read_progress(path)[1].complete


def test_a_trial_without_fixtures_is_run_again(tmp_path: Path) -> None:
    """A fixture provider that failed once has cost a trial; a resumed run runs it again."""
    run(tmp_path / "whole")
    path = tmp_path / "j"
    failing = lambda base: Bank(make_app(base_url=base), range(7, 8), control=True)  # noqa: E731
    run(path, failing)
    assert "indeterminate" in standings(path).values()
    cut_at(path, ends(path)[-1])
    run(path)
    assert standings(tmp_path / "whole") == standings(path)


@pytest.mark.parametrize("place", [1, 3, 5, 7])
def test_a_mock_is_recognised_by_all_its_answers(tmp_path: Path, place: int) -> None:
    """Static answers are static across a cut: questions and answers before it count, once each."""
    answer = b'{"accounts": [{"iban": "FR7630001007941234567890185"}]}'
    mock = lambda base: Bank(make_app(base_url=base), answer=answer)  # noqa: E731
    words = "psu-identity or trusted or listing or own-data or accounts.available"
    run(tmp_path / "whole", mock, keywords=words)
    path = tmp_path / "j"
    path.write_bytes((tmp_path / "whole").read_bytes())
    cut_at(path, ends(path)[place])
    run(path, mock, keywords=words)
    reasons = [line["reason"] for line in lines_of(path) if line["type"] == "verdict"]
    assert any("static answers" in reason for reason in reasons)
    assert standings(tmp_path / "whole") == standings(path)


def test_questions_are_not_counted_twice(tmp_path: Path) -> None:
    """What was asked before a cut and is asked again is one question, and has one answer."""
    answer = b'{"accounts": [{"iban": "FR7630001007941234567890185"}]}'
    mock = lambda base: Bank(make_app(base_url=base), answer=answer)  # noqa: E731
    path, words = tmp_path / "j", "trusted or listing"
    run(path, mock, keywords=words)
    known = all_answers(path)
    assert len(known.questions["accounts"]) > 1
    cut_at(path, ends(path)[0])
    run(path, mock, keywords=words)
    assert known == all_answers(path)


def all_answers(path: Path) -> AnswersSeen:
    """Return what the trials of a journal have seen of answers, put together."""
    watch = StaticWatch()
    for answers in read_progress(path)[1].answers:
        watch.take(answers)
    return watch.seen()


def test_the_budget_is_that_of_the_whole_run(tmp_path: Path) -> None:
    """Calls before the cut have spent some of it."""
    path, few = tmp_path / "j", Budget(calls=30)
    change = lambda target: replace(target, budget=few)  # noqa: E731
    run(path, change=change)
    cut_at(path, ends(path)[2])
    before = sum(line["type"] == "exchange" for line in lines_of(path))
    assert 0 < before < 30
    run(path, change=change)
    assert 30 >= sum(line["type"] == "exchange" for line in lines_of(path))
    reasons = [line["reason"] for line in lines_of(path) if line["type"] == "verdict"]
    assert any("budget.calls" in reason for reason in reasons)


def confined(base_url: str) -> Bank:
    """Return a bank that is unavailable at one host, which only a value alone shows."""
    wrong = variants()["pis.available.create-503"].change(SOUND)
    return Bank(make_contextual_app(wrong, SOUND, "host=host-2", base_url=base_url))


def early(base_url: str) -> Bank:
    """Return a bank whose fault only the trial of another obligation shows."""
    wrong = variants()["pis.execution.a-day-early"].change(SOUND)
    return Bank(make_app(wrong, base_url=base_url))


#: Banks, the obligations that are tested there, and the contexts.
CASES = {
    "host": (confined, "payments.create", Depth.EACH),
    "early": (early, "pis/execution/not-early or pis/execution/cancelled-undone", Depth.BASE),
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_cut_between_trials_is_the_same(tmp_path: Path, case: str) -> None:
    """The same trials and parts of trials follow, each once; verdicts name what shows them."""
    bank, words, contexts = CASES[case]
    run(tmp_path / "whole", bank, keywords=words, contexts=contexts)
    whole = lines_of(tmp_path / "whole")
    trials = [line["trial"] for line in whole if line["type"] == "ended"]
    verdicts = [line for line in whole if line["type"] == "verdict"]
    assert any(line["verdict"] == "violates" for line in verdicts)
    assert (case == "host") is any("trial" in line for line in verdicts)
    for place in {*range(0, len(trials), 4), len(trials) - 1}:
        path = tmp_path / str(place)
        path.write_bytes((tmp_path / "whole").read_bytes())
        cut_at(path, ends(path)[place])
        run(path, bank, keywords=words, contexts=contexts)
        lines = lines_of(path)
        assert trials == [line["trial"] for line in lines if line["type"] == "ended"]
        assert verdicts == [line for line in lines if line["type"] == "verdict"]


def test_a_fault_of_the_harness_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault before the cut is one of the resumed run."""
    real = trial_recorder.judge

    def judge(check: Any, settles: Any, *given: Any, **named: Any) -> Any:
        if settles[0].clause == "trusted-beneficiaries":
            raise ZeroDivisionError
        return real(check, settles, *given, **named)

    path = tmp_path / "j"
    with monkeypatch.context() as patched:
        patched.setattr(trial_recorder, "judge", judge)
        whole = run(path)
    cut_at(path, ends(path)[-2])
    assert whole == run(path)
    assert 2 == len(whole.faults) == len(read_journal(path).faults)


def test_a_trial_end_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Each line with the end of a trial has the values that were written, defaults left out."""
    path = tmp_path / "j"
    run(path, contexts=Depth.EACH, keywords="psu-identity")
    read = [line for line in lines_of(path) if line["type"] == "ended"]
    assert len(read) > 2
    for line in read:
        end = read_record(TrialEnd, line, {})
        assert {"type": "ended", **record_of(end)} == line
