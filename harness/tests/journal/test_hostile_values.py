"""Runs on banks whose answers have values that no number and no text can hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.report import read_journal
from assay.rules.verdict import Standing
from assay.running.environment import set_up
from assay.running.session import RunResult, Session, run_session
from assay.sandbox.app import make_app
from assay.traffic.session import open_recording

SOME = "well-formed or payments.content or balance-type or psu-identity or accounts.page-size"
JSON = {"aisp/well-formed/json", "pis/well-formed/json"}
#: What a bank may send in place of a value, and whether it is JSON.
LITERALS: dict[bytes, bool] = {
    b"NaN": False,
    b"-Infinity": False,
    b"1e400": True,
    b"1e9999999": True,
    b"-1e99999999999999999999": True,
    b"9" * 5000: True,
    rb'"\ud800x\udc00"': True,
    b'{"a": ' * 120 + b"1" + b"}" * 120: True,
}
Change = Callable[[bytes], bytes]


def changing(change: Change) -> Callable[[str], Any]:
    """Return the sound bank with every body changed."""

    def bank(base: str) -> Any:
        inner = make_app(base_url=base)

        def app(environ: dict[str, Any], start_response: Any) -> Any:
            if "/assay-control/" in environ["PATH_INFO"]:
                return inner(environ, start_response)
            began: list[Any] = []
            body = change(b"".join(inner(environ, lambda *given: began.append(given))))
            status, headers = began[-1][:2]
            kept = [pair for pair in headers if pair[0].lower() != "content-length"]
            start_response(status, [*kept, ("Content-Length", str(len(body)))])
            return [body]

        return app

    return bank


def beside(literal: bytes) -> Change:
    """Add a member that no rule is about to every object."""

    def change(body: bytes) -> bytes:
        rest = body[1:].lstrip()
        comma = b"" if rest.startswith(b"}") else b", "
        return b'{"strange": ' + literal + comma + rest if body.startswith(b"{") else body

    return change


def within(literal: bytes) -> Change:
    """Put a value in the place of every amount."""
    amount = re.compile(rb'("(?:amount|value)"\s*:\s*)"[^"]*"')
    return lambda body: amount.sub(lambda match: match[1] + literal, body)


def everywhere(literal: bytes) -> Change:
    """Put a value in the place of every text: of keys, links and states, too."""
    return lambda body: re.sub(rb'(:\s*)"[^"]*"', lambda match: match[1] + literal, body)


def run(path: Path, change: Change) -> RunResult:
    """Run, read the journal, and judge it again: each obligation has the same verdict, or none."""
    prepared = prepare(keywords=SOME)
    environment = set_up(prepared.target, bank=changing(change))
    session = Session(plan=prepared.plan, environment=environment, journal=Journal.at(path))
    result = run_session(session)
    assert () == result.faults
    assert read_journal(path).complete
    recording = open_recording(path, contracts=("aisp", "pis"), keywords=SOME)
    again = {
        verdict.obligation: verdict.standing
        for verdict in recording.close(path.with_name("judged.jsonl")).verdicts
    }
    for verdict in result.verdicts:
        assert again[verdict.obligation] in {verdict.standing, Standing.UNVERIFIED}
    return result


def violated(result: RunResult) -> set[str]:
    return {each.obligation for each in result.verdicts if each.standing is Standing.VIOLATES}


@pytest.mark.parametrize("literal", LITERALS, ids=lambda literal: literal[:12].decode())
def test_beside_everything_else(tmp_path: Path, literal: bytes) -> None:
    """A value that no rule is about violates at most that a body is JSON."""
    result = run(tmp_path / "journal.jsonl", beside(literal))
    assert (set() if LITERALS[literal] else JSON) == violated(result)
    assert 0 == result.counts["indeterminate"] == result.counts["unverified"]


@pytest.mark.parametrize("literal", LITERALS, ids=lambda literal: literal[:12].decode())
def test_in_place_of_an_amount(tmp_path: Path, literal: bytes) -> None:
    """A strange amount is another amount than the one that was asked for, and no more."""
    result = run(tmp_path / "journal.jsonl", within(literal))
    json = set() if LITERALS[literal] else {*JSON}
    assert json | {"pis/payments.content/amount"} == violated(result)


@pytest.mark.parametrize("literal", LITERALS, ids=lambda literal: literal[:12].decode())
def test_in_place_of_every_text(tmp_path: Path, literal: bytes) -> None:
    """Nothing that a bank sends in place of a text is a fault of the harness."""
    run(tmp_path / "journal.jsonl", everywhere(literal))
