"""Verdicts in the journal of a run: preliminary ones as trials end, the final ones at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.journal.codec import EVENTS
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.proof.kill_matrix import variants
from assay.running.environment import set_up
from assay.running.session import Session, run_session
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS
from assay.sandbox.policies import SOUND, Policies

SOME = "psu-identity or listing or unspecified or trusted or refused or consent.scope"
#: An execution on a wrong day, which only the trial of another obligation shows.
EARLY, CANCELLED = "pis/execution/not-early", "pis/execution/cancelled-undone"


def lines_of(
    folder: Path, bank: Callable[[str], Any], keywords: str = SOME
) -> list[dict[str, Any]]:
    """Run a selection on a bank; return the lines of the journal, without places in its chain."""
    prepared = prepare(keywords=keywords)
    environment = set_up(prepared.target, bank=bank)
    path = folder / "journal.jsonl"
    run_session(Session(plan=prepared.plan, environment=environment, journal=Journal.at(path)))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [{key: line[key] for key in line if key != "chain"} for line in lines]


def policed(policies: Policies) -> Callable[[str], Any]:
    return lambda base: make_app(policies, base_url=base)


def instead(status: str, body: bytes) -> Callable[[str], Any]:
    """Return a bank that has one answer to everything, beside its control API."""

    def bank(base: str) -> Any:
        inner = make_app(base_url=base)

        def app(environ: dict[str, Any], start_response: Any) -> Any:
            if "/assay-control/" in environ["PATH_INFO"]:
                return inner(environ, start_response)
            headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
            start_response(status, headers)
            return [body]

        return app

    return bank


def mutant(name: str) -> Policies:
    return next(each for each in MUTANTS if each.id == name).change(SOUND)


BANKS = {
    "sound": policed(SOUND),
    "identity never disclosed": policed(mutant("identity.never")),
    "balances leak": policed(mutant("consent.balance-leaks-outside")),
    "a mock": instead("200 OK", b'{"accounts": [{"iban": "FR7630001007941234567890185"}]}'),
    "no token is accepted": instead("401 Unauthorized", b"{}"),
    "failing": instead("500 Internal Server Error", b""),
}


@pytest.mark.parametrize("bank", BANKS)
def test_the_last_preliminary_verdict_is_the_final_one(tmp_path: Path, bank: str) -> None:
    """Whatever changes verdicts later, what a killed run leaves is what it knew."""
    lines = lines_of(tmp_path, BANKS[bank])
    last = {line["obligation"]: line for line in lines if line["type"] == "preliminary"}
    final = {line["obligation"]: line for line in lines if line["type"] == "verdict"}
    assert {name: {**line, "type": "verdict"} for name, line in last.items()} == final
    assert final.keys() == {line["obligation"] for line in lines if line["type"] == "plan"}


@pytest.mark.parametrize("bank", ["sound", "identity never disclosed"])
def test_verdicts_are_written_before_the_next_trial(tmp_path: Path, bank: str) -> None:
    """Between the last event of a trial and the first of the next are all its verdicts."""
    lines = lines_of(tmp_path, BANKS[bank])
    trials = {line["obligation"]: line["trial"] for line in lines if line["type"] == "plan"}
    ended, known = [""], set()
    for line in lines:
        if line["type"] in EVENTS and line["trial"] != ended[-1]:
            assert {name for name, trial in trials.items() if trial in ended} <= known
            ended.append(line["trial"])
        if line["type"] == "preliminary":
            known.add(line["obligation"])
    assert len(ended) > 5


def test_what_the_plan_decides_is_written_first(tmp_path: Path) -> None:
    """A verdict that needs no trial is there before the first call."""
    lines = lines_of(tmp_path, BANKS["sound"])
    first = next(n for n, line in enumerate(lines) if line["type"] in EVENTS)
    decided = {line["obligation"] for line in lines if line.get("disposition") == "unspecified"}
    assert decided == {
        line["obligation"] for line in lines[:first] if line["type"] == "preliminary"
    }
    assert decided


def test_a_violation_in_another_trial_is_written_at_once(tmp_path: Path) -> None:
    """A verdict that a later trial shows to be wrong is written again, with that trial."""
    wrong = variants()["pis.execution.a-day-early"].change(SOUND)
    lines = lines_of(tmp_path, policed(wrong), f"{EARLY} or {CANCELLED}")
    written = [line for line in lines if line["type"] == "preliminary"]
    early = [line["verdict"] for line in written if line["obligation"] == EARLY]
    assert "violates" == early[-1]
    (final,) = (
        line for line in lines if (line["type"], line.get("obligation")) == ("verdict", EARLY)
    )
    assert {**final, "type": "preliminary"} in written


def test_verdicts_on_credentials_are_taken_back_at_once(tmp_path: Path) -> None:
    """As soon as a token was accepted, verdicts that rest on refused ones count, and are written."""
    lines = lines_of(tmp_path, BANKS["no token is accepted"])
    verdicts = [line for line in lines if line["type"] == "preliminary"]
    names = [line["obligation"] for line in verdicts]
    assert len(names) == len(set(names))
    assert "violates" not in {line["verdict"] for line in verdicts}


def test_a_mock_is_recognised_in_what_was_written_before(tmp_path: Path) -> None:
    """Verdicts that rest on static answers are written again when that is known."""
    lines = lines_of(tmp_path, BANKS["a mock"], "aisp")
    verdicts = [line for line in lines if line["type"] == "preliminary"]
    first = {line["obligation"]: line for line in reversed(verdicts)}
    last = {line["obligation"]: line for line in verdicts}
    again = {name for name, line in first.items() if line != last[name]}
    assert any("static answers" in last[name]["reason"] for name in again)
