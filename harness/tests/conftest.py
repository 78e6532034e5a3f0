"""What every test may rely on: that nothing of its machine's user is touched."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))


@pytest.fixture(autouse=True)
def base_context(monkeypatch):
    """Test every rule in its base context: the further ones cost three times as much.

    Tests about contexts, and those of the README, choose their own.
    """
    monkeypatch.setenv("ASSAY_CONTEXTS", "base")


@pytest.fixture(autouse=True)
def no_build_server(monkeypatch):
    """Publish nothing for the build server that may run these tests."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI", "ASSAY_ANNOTATIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def state_of_its_own(tmp_path_factory, monkeypatch):
    """Give each test, and what it starts, an empty ledger and a state folder of its own."""
    path = tmp_path_factory.mktemp("state") / "ledger.sqlite"
    monkeypatch.setenv("ASSAY_LEDGER", str(path))
    monkeypatch.setenv("XDG_STATE_HOME", str(path.parent))
    return path
