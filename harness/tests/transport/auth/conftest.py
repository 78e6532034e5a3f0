"""What a third party has in a folder, and a target file that names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.binding.model.target import Target
from assay.files.load import loads
from assay.preparation.target_file import read_document
from assay.sandbox.guard.certificates import CertificateFolder, open_certificates


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CertificateFolder:
    """Make the certificates once, for their key is slow to make."""
    return open_certificates(tmp_path_factory.mktemp("papers") / "new")


@pytest.fixture
def read(folder: CertificateFolder) -> Callable[[str], Target]:
    """Read a target file that stands beside the certificates."""

    def told(text: str) -> Target:
        return read_document(loads(text, str(Path(folder.folder) / "bank.yaml")))

    return told
