"""`assay init --kind NAME`: the skeleton of a package with a rule kind works as it is written."""

import subprocess
import sys

import pytest
from click.testing import CliRunner
from rows import for_each

from assay.cli.main import group
from assay.errors import InputError
from assay.onboarding.init.kind_template import kind_files


@pytest.fixture
def begin(tmp_path, monkeypatch):
    """Return what runs `assay init --kind` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda name: CliRunner().invoke(group, ["init", "--kind", name])


@pytest.mark.slow
def test_the_skeleton_passes_its_own_test(begin, tmp_path):
    """Nothing has to be changed or installed before its test can be run."""
    ended = begin("odd-days")

    assert 0 == ended.exit_code, ended.output
    assert "python -m pytest" in ended.output
    folder = tmp_path / "assay-odd-days"
    assert [
        "assay_odd_days.py",
        "assay_odd_days_mutants.py",
        "pyproject.toml",
        "test_assay_odd_days.py",
    ] == sorted(path.name for path in folder.iterdir())
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == ran.returncode, ran.stdout
    assert "7 passed" in ran.stdout


def test_the_skeleton_is_typed(begin, tmp_path):
    """A strict type checker has nothing to say about the kind and its mutants."""
    pytest.importorskip("mypy")
    begin("odd-days")
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache"),
            *("--follow-imports=silent", "assay_odd_days.py", "assay_odd_days_mutants.py"),
        ],
        cwd=tmp_path / "assay-odd-days",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.startswith("Success"), ended.stdout


def test_nothing_is_written_over(begin, tmp_path):
    """A folder that exists is left as it is."""
    (tmp_path / "assay-odd-days").mkdir()

    ended = begin("odd-days")

    assert "assay-odd-days: this folder already exists (name another kind)" == str(ended.exception)
    assert [] == list((tmp_path / "assay-odd-days").iterdir())


@for_each("name", ["", "Odd", "odd_days", "odd--days", "9s", "../x", "x" * 41])
def test_a_name_that_cannot_be_one_is_refused(name):
    """The name of a kind is of small letters, digits and hyphens."""
    with pytest.raises(InputError, match="expected a name of lower-case letters"):
        kind_files(name)


def test_a_kind_that_exists_cannot_be_begun():
    """A second kind of one name would never be found."""
    with pytest.raises(InputError, match="there is a rule kind 'quota' already"):
        kind_files("quota")
