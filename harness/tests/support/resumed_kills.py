"""Runs that are killed at random moments and resumed: their verdicts are those of one that was not.

    python harness/tests/support/kills.py --resume --kills 50 [--seed 0]

Each run is killed once or twice, by each signal, and then resumed to its end. One kind of bank
creates customers, with one trial after another or four side by side; the other has customers who
were there before, and a quota for each that must never be exceeded.
"""

import json
import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from kills import SIGNALS, Case, Remains, assert_accesses, site

from assay.report import read_journal
from assay.rules.verdict import Standing
from assay.traffic.session import open_recording

#: The kinds of runs: real customers, created ones in turn, created ones side by side.
WAYS = ("real", "serial", "concurrent")
#: A fault of the bank, and the context to which it is confined.
FAULTS = (("", ""), ("identity.never", ""), ("pis.debtor.savings", "mode=instant"))
#: The accesses of each customer that the bank allows a day.
QUOTA = 4
#: What differs between two runs that show the same: numbers, and how long it is until midnight.
_NUMBER = re.compile(r"(?:\d+[dhms])+|\d+")


@dataclass(frozen=True, kw_only=True)
class Whole:
    """What a run shows that was not killed: by obligation in its report, and when judged again."""

    shown: dict[str, tuple]
    judged: dict[str, Standing]
    requests: int
    code: int


def shown_by(journal: Path) -> dict[str, tuple]:
    """Return what a report shows of each obligation, without numbers."""
    return {
        result.planned.id: (
            result.standing,
            _NUMBER.sub("#", result.reason),
            result.observations,
            result.calls,
            tuple(_NUMBER.sub("#", each.seen) for each in result.evidence),
            len(result.exchanges),
        )
        for result in read_journal(journal).results
    }


def judged_again(journal: Path, options: tuple) -> dict[str, Standing]:
    """Return the verdicts of `assay judge` on a journal."""
    with TemporaryDirectory() as folder:
        recording = open_recording(journal, target_name=str(options[1]))
        result = recording.close(Path(folder) / "journal.jsonl")
    return {each.obligation: each.standing for each in result.verdicts}


@cache
def whole(case: Case) -> Whole:
    """Run on the bank of a case to the end, once."""
    with TemporaryDirectory() as folder, site(Path(folder) / "whole", case) as place:
        remains = place.attempt(*place.options, "--out", place.folder)
        assert remains.code in {0, 1, 3}, remains.err
        return Whole(
            shown=shown_by(remains.journal),
            judged=judged_again(remains.journal, place.options),
            requests=place.bank.requests,
            code=remains.code,
        )


def assert_kept(before: bytes, after: bytes) -> None:
    """Every complete line stays where it was."""
    complete = before[: before.rfind(b"\n") + 1]
    assert after.startswith(complete)


def assert_counted_once(journal: Path) -> None:
    """No number of an exchange is used twice, and nothing that was abandoned is evidence."""
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    numbers = [line["n"] for line in lines if line["type"] == "exchange"]
    assert len(numbers) == len(set(numbers))
    abandoned = {
        number
        for line in lines
        if line["type"] == "resumed"
        for first, last in line["abandoned"]
        for number in range(first, last + 1)
    }
    left = {line["n"] for n, line in enumerate(lines, 1) if n in abandoned and "n" in line}
    cited = {n for line in lines if line["type"] == "verdict" for n in _cited(line)}
    cited -= {
        n
        for number, line in enumerate(lines, 1)
        if number in abandoned and line["type"] == "verdict"
        for n in _cited(line)
    } - {
        n
        for number, line in enumerate(lines, 1)
        if number not in abandoned and line["type"] == "verdict"
        for n in _cited(line)
    }
    assert not cited & left


def _cited(line: dict) -> set[int]:
    return {n for evidence in line["evidence"] for n in evidence["exchanges"]}


def assert_same(remains: Remains, complete: Whole, options: tuple, *, real: bool) -> int:
    """The verdicts are those of a run that was not killed; return how many could not be reached.

    An access that was spent is not repeated, so what only it shows stays unverified.
    """
    shown = shown_by(remains.journal)
    assert shown.keys() == complete.shown.keys()
    other = {name for name in shown if shown[name] != complete.shown[name]}
    for name in other:
        standing, reason, *_ = shown[name]
        assert real, (name, shown[name], complete.shown[name])
        assert standing is Standing.UNVERIFIED, (name, shown[name], complete.shown[name])
        assert "without the customer" in reason, (name, shown[name])
    judged = judged_again(remains.journal, options)
    open_ = {Standing.UNVERIFIED, Standing.INDETERMINATE}
    for name, standing in judged.items():
        assert standing is complete.judged[name] or (real and standing in open_), name
    assert other or remains.code == complete.code
    return len(other)


def assert_within_quota(remains: Remains) -> None:
    """Neither the bank nor the ledger counts more accesses than the quota."""
    assert_accesses(remains)
    assert all(number <= QUOTA for number in remains.bank.accesses.values())
    recorded = remains.recorded_accesses()
    assert all(number <= QUOTA for numbers in recorded.values() for number in numbers)
    *before, footer = [line.get("spent", ()) for line in remains.lines()]
    spent = {(each["customer"], each["operation"]): each["accesses"] for each in footer}
    for each in (one for some in before for one in some):
        assert each["accesses"] <= spent[each["customer"], each["operation"]]


def case_of(seed: int) -> Case:
    """Return the case of a seed."""
    way, (fault, situation) = WAYS[seed % 3], FAULTS[seed // 9 % 3]
    if way == "real":
        fault, situation = ("identity.never" if seed // 9 % 2 else ""), ""
    return Case(way=way, fault=fault, situation=situation)


def resume_one(folder: Path, seed: int) -> str:
    """Kill a run once or twice and resume it; return a line about it."""
    chance, number, case = random.Random(seed), SIGNALS[seed // 3 % 3], case_of(seed)
    complete, kills = whole(case), ""
    with site(folder, case) as place:
        command: tuple = (*place.options, "--out", folder)
        for _ in range(chance.choice([1, 1, 2])):
            at = chance.randint(1, complete.requests)
            before = (folder / "journal.jsonl").read_bytes() if kills else b""
            remains = place.attempt(*command, signal_=number, after=at)
            kills += f", {number.name} at request {at}"
            assert "Traceback" not in remains.err, remains.err
            after = remains.journal.read_bytes() if remains.journal.exists() else b""
            assert_kept(before, after)
            if b"\n" not in after:
                return f"{seed}: {case.way}{kills}: there was no header yet"
            command = ("--resume", folder, "--no-doctor")
        remains = place.attempt(*command)
        assert remains.code in {0, 1, 3}, remains.err
        assert_kept(after, remains.journal.read_bytes())
        assert_counted_once(remains.journal)
        if case.is_real:
            assert_within_quota(remains)
        left = assert_same(remains, complete, place.options, real=case.is_real)
        rest = f", but {left} unverified for spent accesses" if left else ""
        return f"{seed}: {case.way} {case.fault or 'sound'}{kills}: the same verdicts{rest}"
