"""The start of a command: what is not loaded, and when garbage is collected."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import assay

#: What a run of shipped contracts needs after its first call, or not at all.
LATER = (
    "assay.preparation.cost",
    "assay.preparation.dry_run",
    "assay.preparation.feasibility",
    "assay.fuzzing.findings",
    "assay.report",
    "httpx",
    "hypothesis",
    "jinja2",
    "jsonschema",
    "referencing",
    "rich",
    "stdnum",
)


def output(code: str) -> str:
    """Return what a program prints; the modules of this process are loaded already."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def test_help_loads_no_room() -> None:
    """Help takes Click and the command line, and nothing that runs trials."""
    code = (
        "import sys, assay.cli.main;"
        "print({name.split('.')[1] for name in sys.modules if name.startswith('assay.')}"
        " - {'_resources', 'cli', 'errors'})"
    )
    assert output(code) == "set()"


def test_a_run_plans_without_what_it_needs_later() -> None:
    """Until the first call nothing is loaded that only a search, a report or a mistake needs."""
    code = (
        "import sys, assay.cli.run; from assay.preparation.prepare import prepare;"
        "prepare(contexts=None);"
        f"print([name for name in {LATER!r} if name in sys.modules])"
    )
    assert output(code) == "[]"


@pytest.mark.parametrize("arguments", [["check", "aisp"], ["plan", "--contract", "aisp"]])
def test_garbage_is_collected_while_a_command_works(arguments: list[str]) -> None:
    """Only loading goes without: a command that runs for hours must not grow by its cycles."""
    code = (
        "import gc, sys; from assay.cli import start;"
        f"sys.argv = ['assay', *{arguments!r}];"
        "import atexit; atexit.register(lambda: print('enabled', gc.isenabled(), gc.get_threshold()[0] > 0));"
        "start.main()"
    )
    assert output(code).splitlines()[-1] == "enabled True True"


def test_a_second_command_of_a_process_keeps_no_garbage(tmp_path: Path) -> None:
    """Only what was loaded is frozen, once: a test process with thousands of commands must not grow."""
    assay("--version", cwd=tmp_path)
    frozen = gc.get_freeze_count()
    assert gc.isenabled()
    assay("check", "aisp", cwd=tmp_path)
    assert gc.get_freeze_count() == frozen


def test_httpx_comes_without_its_command_line() -> None:
    """The command line of httpx, which needs Rich and Pygments, is where it is left out."""
    code = "import sys, httpx; print(sys.modules['httpx._main'].__name__)"
    assert output(code) == "httpx._main"
    code = "import sys; sys.modules['httpx._main'] = None; import httpx; print('pygments' in sys.modules)"
    assert output(code) == "False"
