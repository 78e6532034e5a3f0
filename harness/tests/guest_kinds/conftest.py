"""Installs the package beside it for the time of its tests, without a package manager."""

import sys
import tomllib
from pathlib import Path

import pytest

from assay.rules import kinds

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Return what makes the packages of a folder with a pyproject.toml importable and found."""

    def install(folder):
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        info = (
            tmp_path
            / "site"
            / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        )
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        lines = [
            line
            for group, points in project["entry-points"].items()
            for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        monkeypatch.syspath_prepend(str(info.parent))
        monkeypatch.syspath_prepend(str(folder))
        kinds.installed.cache_clear()

    yield install
    kinds.installed.cache_clear()


@pytest.fixture
def guests(install):
    """Install the package with mirror and once."""
    install(HERE)
