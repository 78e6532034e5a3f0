"""The prebuilt form of the schemas: equal to its sources, unused if it is not, never wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from rows import for_each
from support import prebuild

from assay._resources import contract_dir
from assay.files import shape_check
from assay.files.load import load, loads
from assay.parsing.parse import shape_problems

AGAIN = "out of date: run `pytest harness/tests/contract/test_prebuilt.py --write`"


def test_the_file_equals_its_sources(generated) -> None:
    """What is prebuilt is what the schemas and shipped files say now."""
    generated(prebuild.FOLDER / shape_check.NAME, prebuild.text())


@for_each("name", shape_check.SCHEMAS)
def test_a_prebuilt_schema_is_the_schema_as_the_strict_reader_has_it(name: str) -> None:
    """Reading JSON and reading the YAML file give the same data."""
    assert load(prebuild.FOLDER / name).data == shape_check.prebuilt().schemas[name], AGAIN


@for_each(
    ("schema", "document"),
    [
        pytest.param(schema, document, id=Path(document.path).name)
        for schema, document in prebuild.shipped_documents()
    ],
)
def test_shipped_files_pass_the_full_check(schema: str, document: shape_check.Document) -> None:
    """Each shipped file is recorded, and conforms to its schema when it is validated."""
    assert [] == prebuild.problems(schema, document)
    assert shape_check.prebuilt().conforms(schema, document.digest), AGAIN


def test_a_changed_copy_of_a_shipped_file_is_checked() -> None:
    """One changed byte makes it a user's file, with all the messages for that."""
    text = (contract_dir() / "aisp.yaml").read_text("utf-8")
    assert [] == shape_problems(loads(text))
    changed = text.replace("kind: quota", "kind: quotas", 1)
    assert "there is no rule kind 'quotas'" in str(shape_problems(loads(changed))[0])


def test_a_target_is_no_contract() -> None:
    """A file that conforms to one schema is not taken for one of the other."""
    document = load(contract_dir() / "targets" / "sandbox.yaml")
    assert shape_check.prebuilt().conforms("target", document.digest)
    assert not shape_check.prebuilt().conforms("contract", document.digest)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the schemas with their prebuilt form."""
    for name in (*shape_check.SCHEMAS, shape_check.NAME):
        shutil.copy(prebuild.FOLDER / name, tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", shape_check.SCHEMAS)
def test_a_schema_that_changed_makes_the_prebuilt_form_unused(folder: Path, name: str) -> None:
    """What was built from another schema is worth nothing, not even the recorded digests."""
    assert shape_check.read_prebuilt(folder).schemas
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert shape_check.read_prebuilt(folder) == shape_check.Prebuilt()


@pytest.mark.parametrize("content", ["", "[]", "null", "{", '{"digests": 1}', "\xff", "0"])
def test_a_damaged_file_is_unused(folder: Path, content: str) -> None:
    """Whatever stands in the file, the YAML schemas are there to be read."""
    (folder / shape_check.NAME).write_text(content, encoding="latin-1")
    assert shape_check.read_prebuilt(folder) == shape_check.Prebuilt()


def test_a_missing_file_is_no_error(folder: Path) -> None:
    """Without the prebuilt form everything works as before."""
    (folder / shape_check.NAME).unlink()
    assert shape_check.read_prebuilt(folder) == shape_check.Prebuilt()


def test_incomplete_digests_are_no_match(folder: Path) -> None:
    """A file that says nothing of one schema does not vouch for it."""
    made = json.loads((folder / shape_check.NAME).read_text("utf-8"))
    del made["digests"]["common.yaml"]
    (folder / shape_check.NAME).write_text(json.dumps(made), encoding="utf-8")
    assert shape_check.read_prebuilt(folder) == shape_check.Prebuilt()
