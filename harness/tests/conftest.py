"""What every test may rely on: that nothing of its machine's user is touched."""

import os
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent / "support"))

from tiers import BUDGET, TIER, in_tier

TESTS = Path(__file__).parent

# How long a case takes says nothing on a busy machine. Every commit is judged by the same cases.
settings.register_profile("assay", deadline=None, derandomize=TIER == "gate")
settings.load_profile("assay")


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


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let each worker begin with other rooms: in a clean clone it compiles them for the others."""
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker and collector.path == TESTS and report.passed:
        rooms = report.result
        first = int(worker["workerid"].removeprefix("gw")) * len(rooms) // worker["workercount"]
        report.result = rooms[first:] + rooms[:first]
    return report


def pytest_collection_modifyitems(config, items):
    """Leave what the nightly tests run to them."""
    items.sort(key=lambda item: item.path.parts)  # the same order for each worker
    ours = in_tier(
        f"{item.path.relative_to(TESTS).as_posix()}::{item.originalname}" for item in items
    )
    left = [item for item, mine in zip(items, ours, strict=True) if not mine]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item, mine in zip(items, ours, strict=True) if mine]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Let a test fail that takes too much of the processor, with what it starts, for the gate."""
    before = os.times()
    result = yield
    spent = sum(os.times()[:4]) - sum(before[:4])
    measured = item.config.pluginmanager.hasplugin("_cov")  # coverage doubles what a test takes
    if spent > BUDGET and not measured and not item.get_closest_marker("slow"):
        pytest.fail(f"{spent:.1f} s of processor time: make it faster, or mark it as slow")
    return result


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
