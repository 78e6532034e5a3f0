"""Whatever bytes a bank sends, a run ends in time and memory, and blames nobody wrongly."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from rows import for_each
from support.hostile_behaviours import BEHAVIOURS
from support.hostile_table import MOST_MEMORY, MOST_WORK, TABLE, TIMEOUT, Result, table

TESTS = Path(__file__).parents[1]
NAMES = [behaviour.name for behaviour in BEHAVIOURS]

SOUND = Result(
    name="no answer",
    about="status line",
    harmless=False,
    exit=3,
    verdict="indeterminate",
    others=("conforms", "conforms"),
    reason="",
    calls=4,
    slowest=0.3,
    seconds=1.0,
    work=0.2,
    megabytes=80,
    output="",
)


@pytest.mark.slow
def test_hostile_banks() -> None:
    """Each behaviour costs the obligation that it concerns its verdict, and nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "support.hostile_table", "--json"],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert {} == {result["name"]: result["faults"] for result in results if result["faults"]}
    assert (0, "") == (done.returncode, done.stderr)
    assert sorted(NAMES) == sorted(result["name"] for result in results)


def test_there_are_many() -> None:
    """At least sixty behaviours, each with a name of its own, in every place."""
    assert len(set(NAMES)) == len(NAMES) >= 60
    assert {"api", "screen", "control", "token"} == {behaviour.place for behaviour in BEHAVIOURS}


def test_the_table_has_all_of_them() -> None:
    """The table in the repository has the same behaviours, in the same order."""
    cells = re.findall(r"^\| (.+?) \| \d", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [unescape(cell) for cell in cells] == NAMES


@for_each(
    ("changed", "fault"),
    [
        ({}, None),
        ({"exit": 1}, "exit 1"),
        ({"exit": 0}, "exit 0"),
        ({"exit": -14}, "exit -14"),
        ({"verdict": "violates"}, "violates, expected that it neither conforms nor violates"),
        ({"verdict": "none"}, "none, expected that it neither conforms nor violates"),
        ({"others": ("conforms", "unverified")}, "others: ('conforms', 'unverified')"),
        ({"others": ("none",)}, "others: ('none',)"),
        ({"slowest": 2 * TIMEOUT + 0.1}, f"a request took {2 * TIMEOUT + 0.1:.1f} s"),
        ({"work": MOST_WORK + 1}, f"{MOST_WORK + 1:.1f} s of the processor"),
        ({"megabytes": MOST_MEMORY + 1}, f"{MOST_MEMORY + 1} MB"),
        ({"output": "Traceback (most"}, "a traceback: Traceback (most"),
        ({"harmless": True}, "exit 3"),
    ],
)
def test_faults_are_found(changed: dict[str, object], fault: str | None) -> None:
    """A run that blames, hangs, grows or breaks is a fault of Assay."""
    faults = replace(SOUND, **changed).faults
    assert faults[:1] == ([] if fault is None else [fault])


def test_the_table() -> None:
    """A row has the verdicts, the time and the memory of a run."""
    row = "| no answer | 3 | indeterminate | 2 of 2 conform | 1.0 | 80 |"
    assert row in table([SOUND]).splitlines()
