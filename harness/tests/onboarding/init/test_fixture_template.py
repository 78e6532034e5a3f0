"""The skeleton of a fixture provider in Python: written, imported, planned, and what it asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.main import group
from assay.errors import CannotArrange, InputError
from assay.fixtures.python import open_provider
from assay.history import Arrange, Holding
from assay.planning.plan import Disposition
from assay.preparation.prepare import prepare
from assay.preparation.target_file import read_target

#: The skeleton as it is written; both type checkers of the gate read it.
SKELETON = Path(__file__).parent / "skeleton/my_bank_fixtures.py"


def test_the_skeleton_is_what_the_type_checkers_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`assay init --fixtures python` writes it beside the target file, which names it."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(group, ["init", "-y", "--fixtures", "python"])
    assert 0 == result.exit_code, result.output
    assert SKELETON.read_text() == (tmp_path / "my_bank_fixtures.py").read_text()
    assert "Writing my_bank_fixtures.py, the fixture provider" in result.output
    target = read_target(tmp_path / "my-bank.yaml")
    fixture = open_provider(target, None, 0).open()
    step = Arrange(subject="psu", holdings=(Holding(resource="account"),))
    with pytest.raises(CannotArrange, match=r"write BankFixture.arrange in my_bank_fixtures.py"):
        fixture.arrange(step)
    idle = Arrange(subject="psu", holdings=(Holding(resource="card", traits={"inactive": True}),))
    with pytest.raises(CannotArrange, match="a card with inactive=True") as caught:
        fixture.arrange(idle)
    assert ("card", "inactive") == (caught.value.resource, caught.value.trait)
    assert fixture.clock(None).utcoffset() is not None
    fixture.close()
    plan = prepare(["aisp"], str(tmp_path / "my-bank.yaml"), keywords="available").plan
    assert Disposition.ASK in {item.disposition for item in plan.items}


def test_no_module_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of this name stays as it is, and no target file is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours_fixtures.py").write_text("mine")
    arguments = ["init", "-y", "--fixtures", "python", "--name", "ours"]
    result = CliRunner().invoke(group, arguments, standalone_mode=False)
    assert isinstance(result.exception, InputError)
    assert "ours_fixtures.py: this file already exists" in str(result.exception)
    assert "mine" == (tmp_path / "ours_fixtures.py").read_text()
    assert not (tmp_path / "my-bank.yaml").exists()
