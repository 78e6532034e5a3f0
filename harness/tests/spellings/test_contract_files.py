"""Contracts that a target file names by their files: no command needs `--contract`."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.main import group
from assay.errors import InputError
from assay.preparation.target_file import read_target

HERE = Path(__file__).parent
TARGET = HERE / "kestrel-target.yaml"
EXTENDING = """\
assay: 1
target: other
extends: {base}
{contracts}"""


def output(*arguments):
    """Run a command, and return its exit code and what it prints."""
    result = CliRunner().invoke(group, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_the_contract_of_the_file_is_used(tmp_path, monkeypatch):
    """A path is relative to the file where it stands, wherever the command is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "own.yaml").write_text(EXTENDING.format(base=TARGET, contracts=""))
    for target in (TARGET, "deep/own.yaml"):
        code, planned = output("plan", "--target", target)
        assert (0, True) == (code, "20 obligations" in planned), planned
    code, exported = output("export", "openapi", "--target", TARGET)
    assert (0, True) == (code, "/accounts/search" in exported), exported


def test_the_two_files_are_compared(tmp_path):
    """A target file that is checked alone is checked with the contract that it names."""
    wrong = tmp_path / "wrong.yaml"
    operations = "operations:\n  entries:\n    arguments: {ibna: {body: /x}}\n"
    wrong.write_text(EXTENDING.format(base=TARGET, contracts=operations))
    refused = CliRunner().invoke(group, ["check", str(wrong)]).exception
    assert isinstance(refused, InputError)
    (problem,) = refused.problems
    assert (6, True) == (problem.line, "entries.arguments.ibna" in problem.what)


def test_what_a_call_lacks_is_noted(tmp_path):
    """The contract of the file says which values a call needs."""
    lacking = tmp_path / "lacking.yaml"
    operations = "operations:\n  pay:\n    arguments: {priority: {value: null}}\n"
    lacking.write_text(EXTENDING.format(base=TARGET, contracts=operations))
    code, checked = output("check", lacking)
    note = "operations.pay.arguments.priority.value: no value"
    assert (0, True) == (code, note in checked), checked


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("./missing.yaml", "contracts.0: './missing.yaml'"),
        (str(TARGET), "this is not a contract file"),
        ("two words", "expected the id of a contract, or the path of a contract file"),
    ],
)
def test_a_wrong_file_is_an_error(name, what, tmp_path):
    """It has the line of the entry."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(EXTENDING.format(base=TARGET, contracts=f"contracts: [{name}]\n"))
    with pytest.raises(InputError) as raised:
        read_target(wrong)
    (problem,) = raised.value.problems
    assert (4, True) == (problem.line, what in problem.what), problem
