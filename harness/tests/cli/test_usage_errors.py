"""Mistakes on the command line: one style, in one line, with what to do."""

import os
import subprocess
import sys

import pytest
from support.command_line import COMMAND, assay

from assay._resources import contract_dir
from assay.cli.main import COMMANDS


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("run", "--seed", "x"), "--seed: expected an integer, found 'x' (see `assay run --help`)"),
        (
            ("serve", "--port", "70000"),
            "--port: expected a number in the range 0<=x<=65535, found 70000",
        ),
        (
            ("run", "--contexts", "al"),
            "--contexts: expected one of 'base', 'each', 'pairs', found 'al'",
        ),
        (("run", "--replay", "nope"), "--replay: expected a path that exists, found 'nope'"),
        (("run", "--taget", "x"), "there is no option --taget; did you mean '--target'?"),
        (("run", "--zzz"), "there is no option --zzz (see `assay run --help`)"),
        (("judge",), "the argument FILE is missing (see `assay judge --help`)"),
        (("chek",), "there is no command 'chek' (did you mean 'check'?)"),
        (("-x",), "there is no option -x (see `assay --help`)"),
        (("run", "-k"), "option '-k' requires an argument"),
        (("run", "x"), "got unexpected extra argument (x); did you mean --target x? (see"),
        (("schema", "target", "x"), "got unexpected extra argument (x) (see"),
        (("run", "--examples", "ftp://x"), "--examples: expected a folder or one of redis://"),
        (("run", "-k", "a and"), "-k: cannot read the expression 'a and'"),
        (("prove", "-k", "zzz"), "-k: no mutant or neutral variant has an id that matches 'zzz'"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, args, said):
    """It begins with `assay:`, names the option, and says what was expected and found."""
    code, out, err = assay(*args, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith(f"assay: {said}")
    assert err.count("\n") == 1
    assert "Usage:" not in err


def test_a_file_that_is_missing_says_where_it_was_looked_for(tmp_path):
    """The folder, or the nearest name there, or the nearest name that is shipped."""
    assert (
        f"nope.yaml: there is no such file (there is none in {tmp_path})"
        in (assay("check", "nope.yaml", cwd=tmp_path)[2])
    )
    (tmp_path / "bank.yaml").touch()
    assert "did you mean 'bank.yaml'?" in assay("check", "bank.yml", cwd=tmp_path)[2]
    assert "did you mean 'stet-1.4.0'?" in assay("check", "stet-1.4.1", cwd=tmp_path)[2]
    # A schema is shipped, too, and is no file that can be checked.
    assert "did you mean 'target'" not in assay("check", "target.yaml", cwd=tmp_path)[2]


def test_a_folder_with_the_name_of_what_is_shipped_is_no_file(tmp_path):
    """A run needs no folder of its own: `sandbox` and `aisp` mean what is shipped."""
    for name in ("sandbox", "aisp"):
        (tmp_path / name).mkdir()
    code, out, err = assay("plan", "--contract", "aisp", "-k", "iban", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert "aisp/" in out


def test_help_and_version_as_other_programs_have_them(tmp_path):
    """`help`, `help COMMAND` and `-V`."""
    for words in (("help",), ("help", "check")):
        assert assay(*words, cwd=tmp_path) == assay(*words[1:], "--help", cwd=tmp_path)
    assert assay("-V", cwd=tmp_path) == assay("--version", cwd=tmp_path)
    assert assay("help", "chek", cwd=tmp_path)[0] == 2


def test_colours_can_be_switched_off_anywhere(tmp_path, monkeypatch):
    """Before the command or after it; not behind `--`."""
    for words, off in (
        (("--no-color", "check", "aisp"), True),
        (("check", "aisp", "--no-color"), True),
        (("check", "--", "--no-color"), False),
    ):
        monkeypatch.delenv("NO_COLOR", raising=False)
        with monkeypatch.context() as patched:
            patched.setitem(os.environ, "SEEN", "")
            code, _, _ = assay(*words, cwd=tmp_path)
        assert (code == 0) == off, words


def test_an_interruption_says_only_what_is_there(tmp_path, monkeypatch):
    """No journal is named where a command records none."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.cli.prove.prove", interrupt)
    code, _, err = assay("prove", "-k", "quota", cwd=tmp_path)
    assert (code, err.strip()) == (130, "Interrupted.")


def test_one_is_singular(tmp_path):
    """A dry run of one obligation says so."""
    chosen = ("-k", "aisp/batch-quota/accounts-next-day")
    assert "1 obligation, " in assay("run", "--dry-run", *chosen, cwd=tmp_path)[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(tmp_path, shell):
    """Each asks this program by its variable."""
    code, out, _ = assay("completion", shell, cwd=tmp_path)
    assert code == 0
    assert "_ASSAY_COMPLETE" in out
    assert f"{shell}_complete" in out


def test_bash_completes_commands_and_options(tmp_path):
    """The script works in bash, with the program that stands in the path."""
    program = tmp_path / "assay"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "{COMMAND[2]}" "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    script = assay("completion", "bash", cwd=tmp_path)[1]
    shown = subprocess.run(
        ["bash", "-c", f"{script}\n{ASK}"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert ["doctor"] == shown[:1]
    assert {"--target", "--contract", "--contexts"} <= {*shown[1:]}
    assert "doctor" in COMMANDS


ASK = """
COMP_WORDS=(assay doc); COMP_CWORD=1; _assay_completion assay; printf '%s\\n' "${COMPREPLY[@]}"
COMP_WORDS=(assay plan --); COMP_CWORD=2; _assay_completion assay; printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_a_file_of_another_kind_is_named_as_one(tmp_path):
    """A contract given as a target file, and the other way round: where to give it, in one line."""
    contract, target = contract_dir() / "aisp.yaml", contract_dir() / "targets/sandbox.yaml"
    for args, said in (
        (
            ("plan", "-t", contract),
            "this is a contract, not a target file (give it with --contract)",
        ),
        (("plan", "-c", target), "this is a target file, not a contract (give it with --target)"),
        (("fleet", target), "this is a target file, not a file of banks (give it with --target)"),
    ):
        code, out, err = assay(*map(str, args), cwd=tmp_path)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert said in err


def test_a_contract_by_its_name_without_its_ending(tmp_path):
    """The file beside is the hint; without one, that a file can be given."""
    assert "or give the path of a file" in assay("plan", "-c", "lockers", cwd=tmp_path)[2]
    (tmp_path / "lockers.yaml").touch()
    assert "did you mean 'lockers.yaml'?" in assay("plan", "-c", "lockers", cwd=tmp_path)[2]


def test_a_folder_that_has_a_run_is_refused_before_anything_is_sent(tmp_path):
    """The doctor does not call the bank for a run that cannot be written."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/journal.jsonl").touch()
    code, out, err = assay("run", "-t", "http://127.0.0.1:9", "--out", "out", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert "a journal already exists" in err


def test_a_report_of_a_folder_and_of_what_is_no_journal(tmp_path):
    """A run may be named by its folder everywhere; report.json is no journal."""
    code, out, _ = assay("run", "-k", "iban", "--contexts", "base", "--out", "run", cwd=tmp_path)
    assert code == 0, out
    assert "aisp" in assay("report", "run", cwd=tmp_path)[1]
    said = assay("report", "run/report.json", cwd=tmp_path)[2]
    assert "not a journal: its first line is not JSON (a run writes journal.jsonl)" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("operations: {accounts: {list: $.data.accounts}}", "did you mean '/data/accounts'?"),
        ("operations: {accounts: {list: accounts}}", "did you mean '/accounts'?"),
        ('zone: "^\\d"', "single quotes"),
    ],
)
def test_pointers_and_escapes(tmp_path, text, said):
    """A pointer in the words of JSONPath, and a backslash in double quotes."""
    head = "assay: 1\ntarget: t\nextends: sandbox\ntransport: http\nbase_url: http://127.0.0.1:9\n"
    (tmp_path / "t.yaml").write_text(head + text)
    code, _, err = assay("check", "t.yaml", cwd=tmp_path)
    assert code == 2
    assert said in err
