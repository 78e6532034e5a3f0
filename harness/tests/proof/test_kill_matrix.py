"""The harness, tested by breaking the bank: the kill matrix, compared with the reference.

Each mutant is tried by the trials about what it violates, a sample of those that its changed policies
concern, and a smaller one of the others, and each neutral variant by all that they concern, in a minute
on two cores; with the variable ASSAY_PROVE=whole by all. Both are environments of tox.ini.
"""

import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.prove import markdown_lines
from assay.proof.kill_matrix import RAN, count, prove, run_on_bank
from assay.sandbox.mutants.bundles import blamed, bundles, together

#: Whether every trial is run on every bank.
WHOLE = os.environ.get("ASSAY_PROVE") == "whole"
#: The first three columns of a mutant, and the fourth, with what it shows elsewhere.
MORE = re.compile(r"^((?:\|[^|]*){3})\|[^|]*(?=\|[^|]*\|$)")
REFERENCE = Path(__file__).parents[3] / "reports" / "reference" / "kill-matrix.md"


@pytest.fixture(scope="module")
def matrix(request):
    return prove(whole=WHOLE, elsewhere=WHOLE or request.config.getoption("--write"))


def test_every_mutant_is_caught_by_its_own_facets_alone(matrix):
    """A run on a mutant finds exactly the violations of its fault."""
    assert [] == [
        (row.id, sorted(row.violated ^ row.expected)) for row in matrix.wrong if not row.neutral
    ]


def test_neutral_variants_have_no_violation(matrix):
    """A difference that the source document leaves open is no finding, and hides none."""
    assert [] == [
        (row.id, sorted(row.violated | row.unresolved)) for row in matrix.wrong if row.neutral
    ]


@pytest.mark.parametrize("variants", bundles(), ids=lambda variants: variants[0].id)
def test_neutral_variants_stay_green_together(variants):
    """Nor is anything found at, or hidden by, a bank that has all of them that fit in one."""
    undecidable = frozenset[str]().union(*(variant.leaves for variant in variants))

    def red(policies):
        tested = run_on_bank(policies)
        return bool(tested.violated or tested.unresolved - undecidable)

    assert not red(together(variants)), blamed(variants, red)


def test_every_obligation_has_a_mutant(matrix):
    """No check has never been seen to fail."""
    assert () == matrix.unproved


def test_there_are_enough_of_both(matrix):
    """The matrix does not shrink unnoticed."""
    counts = count(matrix)
    assert counts["mutants"] >= 461
    assert counts["neutral variants"] >= 44


def test_a_part_of_the_trials_ran_or_all(matrix):
    """A proof without a trace that tells trials apart would be whole, and a whole one is."""
    ran, planned = (
        sum(getattr(row, name) for row in matrix.rows) for name in ("trials", "planned")
    )
    assert ran == planned if WHOLE else ran < planned / 2
    assert all(row.trials for row in matrix.rows)


def test_the_reference_is_up_to_date(matrix, generated):
    """The committed matrix is what the proof gives today (assay prove --out)."""
    generated(REFERENCE, "\n".join(markdown_lines(matrix)) + "\n", by=lines)


def lines(page):
    """Return the lines of a matrix, whatever the number of trials that ran.

    What mutants show elsewhere is looked for where every trial runs.
    """
    every = [line for line in page.splitlines() if not line.startswith(f"| {RAN} |")]
    return every if WHOLE else [MORE.sub(r"\1|", line) for line in every]


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_command(number):
    """Whatever signal ends the command, its workers end, too, in the middle of their work."""
    code = (
        "import os, sys, time; from assay.proof.kill_matrix import processes;"
        "pool = processes(2); work = [pool.submit(time.sleep, 600) for _ in range(2)];"
        "os.write(int(sys.argv[1]), b'x'); time.sleep(600)"
    )
    ours, theirs = os.pipe()
    with subprocess.Popen([sys.executable, "-c", code, str(theirs)], pass_fds=[theirs]) as command:
        os.close(theirs)
        assert b"x" == os.read(ours, 1)
        command.send_signal(number)
    # The end of the pipe is there once no process has the other end any more.
    assert select.select([ours], [], [], 60)[0]
    assert b"" == os.read(ours, 1)
    os.close(ours)
