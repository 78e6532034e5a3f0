"""Mutated files of each kind: refused in a line a finding, or read; nothing else ever happens.

In the gate each kind has some seconds. `ASSAY_MUTATED_FILES=1000` tests that number of files of each
kind (`tox -e nightly-files`); `ASSAY_NIGHT=n` takes those after the files of the nights before. A
file that fails is kept.
"""

import os
import random
import shutil
import signal
import sys
from contextlib import contextmanager, suppress
from itertools import count, islice
from time import monotonic as clock

import pytest
from command_line import assay
from file_kinds import KINDS, mutated_file
from rows import for_each

#: How many files of each kind are tested, or for how many seconds.
FILES, SECONDS = int(os.environ.get("ASSAY_MUTATED_FILES", "0")), 0.6
FIRST = FILES * int(os.environ.get("ASSAY_NIGHT", "0"))
#: After this processor time a command hangs, in seconds.
HANGS = 30


class HungError(BaseException):
    """A command that does not end; no handler of errors takes it for one."""


@contextmanager
def time_limit():
    """Stop a command that uses too much processor time."""

    def stop(*_):
        raise HungError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def problem(args, right, code, err):
    """Return what is wrong with how a command ended; empty if nothing is."""
    lines = err.splitlines()
    if code not in right:
        return f"exit code {code}: {err[:500]}"
    if code == 2 and not lines:
        return "no message"
    for line in lines:
        if not line.startswith("assay: ") or not line.isprintable() or len(line) > 2020:
            return f"not a line a finding: {line[:500]!r}"
    if len(set(lines)) < len(lines):
        return f"a finding twice: {err[:500]}"
    return ""


def faults(kind, path, number, folder):
    """Yield what is wrong with how each command treats a file."""
    rng = random.Random(f"commands {number}")
    commands = kind.commands(path, rng)
    args, right = next(commands)
    while True:
        try:
            with time_limit():
                code, _, err = assay(*args, cwd=folder)
            wrong = problem(args, right, code, err)
        except HungError:
            code, wrong = 4, "hangs"
        if wrong:
            yield f"{' '.join(map(str, args))}: {wrong}"
        try:
            args, right = commands.send(code)
        except StopIteration:
            return


@pytest.mark.parametrize("name", KINDS)
def test_a_mutated_file_is_refused_in_a_line_or_read(name, tmp_path, capsys):
    """No mutated file ends in a traceback, a hang, or a wrong exit code; a draft passes the check."""
    kind = KINDS[name]
    seeds = kind.seeds(tmp_path)
    failed, tested, begin = [], 0, clock()
    for number in islice(count(FIRST), FILES or None):
        if not FILES and clock() - begin > SECONDS:
            break
        tested += 1
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path = folder / f"mutated{kind.suffix}"
        path.write_bytes(mutated_file(kind, seeds, number))
        if found := [*faults(kind, path, number, folder)]:
            failed += (f"{number}: {text}" for text in found)
            shutil.copytree(folder, tmp_path / f"failed-{number}")
    if FILES:
        with capsys.disabled():
            sys.stdout.write(
                f"\n{tested} {name}, {len(failed)} failed in {clock() - begin:.0f} s\n"
            )
    assert not failed, f"kept in {tmp_path}:\n" + "\n".join(failed)


@for_each(
    ("code", "err", "wrong"),
    [
        (2, "assay: x.yaml:7: no\nassay: x.yaml:9: nor this\n", ""),
        (0, "", ""),
        (4, "assay: an error in Assay itself\n", "exit code 4"),
        (1, "", "exit code 1"),
        (2, "", "no message"),
        (2, "x.yaml:7: no\n", "not a line a finding"),
        (2, "assay: \x1b[31mno\n", "not a line a finding"),
        (2, f"assay: {'x' * 3000}\n", "not a line a finding"),
        (2, "assay: no\nassay: no\n", "a finding twice"),
    ],
)
def test_what_is_wrong_is_noticed(code, err, wrong):
    """An exit code that lies, a missing message, and a message of more than a line are failures."""
    assert problem((), {0, 2}, code, err).startswith(wrong)
    assert bool(wrong) is bool(problem((), {0, 2}, code, err))


def test_a_hang_is_noticed(monkeypatch):
    """A command that uses up its processor time is stopped, whatever it catches."""

    def hang():
        while True:
            with suppress(Exception):
                random.random()

    monkeypatch.setattr(sys.modules[__name__], "HANGS", 0.05)
    with time_limit(), pytest.raises(HungError):
        hang()


@pytest.mark.parametrize("name", KINDS)
def test_mutations_are_many_and_repeatable(name, tmp_path):
    """Every number gives another file, nearly always, and the same one each time."""
    kind = KINDS[name]
    seeds = kind.seeds(tmp_path)
    files = [mutated_file(kind, seeds, number) for number in range(20)]
    assert files == [mutated_file(kind, seeds, number) for number in range(20)]
    assert len({*files}) > 15
