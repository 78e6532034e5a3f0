"""What a third party has in a folder, and a target file that names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.binding.read import read_document
from assay.binding.target import Target
from assay.contract.files.load import loads
from assay.sandbox.guard.certificates import Papers, papers


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    """Make the certificates once, for their key is slow to make."""
    return papers(tmp_path_factory.mktemp("papers") / "new")


@pytest.fixture
def read(folder: Papers) -> Callable[[str], Target]:
    """Read a target file that stands beside the certificates."""

    def told(text: str) -> Target:
        return read_document(loads(text, str(Path(folder.folder) / "bank.yaml")))

    return told
