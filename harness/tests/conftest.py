"""What every test may rely on: that nothing of its machine's user is touched."""

import sys
from itertools import count
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

from tiers import in_tier


def pytest_addoption(parser):
    """Let generated files be written by the tests that compare them."""
    parser.addoption("--write", action="store_true", help="write generated files again")


@pytest.fixture
def generated(request):
    """Return a function that compares a generated file with its text, or with `--write` writes it."""

    def compare(path, text, by=str):
        if request.config.getoption("--write"):
            path.write_text(text, encoding="utf-8")
        test = request.node.nodeid.partition("[")[0]
        written = path.read_text("utf-8") if path.exists() else ""
        assert by(written) == by(text), f"{path.name} is out of date: pytest {test} --write"

    return compare


def pytest_collection_modifyitems(config, items):
    """Leave what the nightly tests run to them."""
    tests = Path(__file__).parent
    ours = in_tier(
        f"{item.path.relative_to(tests).as_posix()}::{item.originalname}" for item in items
    )
    left = [item for item, mine in zip(items, ours, strict=True) if not mine]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item, mine in zip(items, ours, strict=True) if mine]


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


@pytest.fixture(scope="session")
def states(tmp_path_factory):
    """Yield a path for the state folder of each test; few tests write, and those make it."""
    folder = tmp_path_factory.mktemp("states")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def state_of_its_own(states, monkeypatch):
    """Give each test, and what it starts, an empty ledger and a state folder of its own."""
    path = next(states) / "ledger.sqlite"
    monkeypatch.setenv("ASSAY_LEDGER", str(path))
    monkeypatch.setenv("XDG_STATE_HOME", str(path.parent))
    return path
