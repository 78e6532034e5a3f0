"""A report is written whole or not at all, and importing is cheap."""

import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.report import FORMATS, render

ROOT = Path(__file__).parents[3]


def test_render(mixed, tmp_path):
    """A report is written to a file in every format, and nothing else is left."""
    for name, chosen in FORMATS.items():
        render(mixed, name, tmp_path / f"r-{chosen.file}")
    names = {f"r-{chosen.file}" for chosen in FORMATS.values()}
    assert len(FORMATS) == len(names)
    assert names == {path.name for path in tmp_path.iterdir()} - {"journal.jsonl"}


def test_render_unknown(mixed, tmp_path):
    """An unknown format is refused with the one that was meant."""
    with pytest.raises(InputError, match="did you mean 'html'"):
        render(mixed, "htlm", tmp_path / "r")


def test_render_unwritable(mixed, tmp_path):
    """A place that cannot be written to is an input error."""
    with pytest.raises(InputError, match="cannot be written"):
        render(mixed, "json", tmp_path / "none" / "r.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        render(mixed, "json", tmp_path / "folder")
    assert list(tmp_path.glob("*.part")) == []


def test_render_whole_or_none(mixed, tmp_path, monkeypatch):
    """A view that fails midway leaves the older file as it was."""
    path = tmp_path / "r.json"
    path.write_text("older", "utf-8")
    monkeypatch.setattr("assay.report.formats.json_report.render", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        render(mixed, "json", path)
    assert path.read_text("utf-8") == "older"
    assert list(tmp_path.glob("*.part")) == []


def test_light_import():
    """Importing the reports imports none of what only one format needs."""
    code = (
        "import sys, assay.report;"
        "heavy = {'jinja2', 'rich', 'harfile', 'xml', 'assay.report.formats.html'};"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    path = str(ROOT / "harness")
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("\n", "")
