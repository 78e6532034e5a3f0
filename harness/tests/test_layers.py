"""The architecture, held: who may import whom, and what every test owes its reader."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay

PACKAGE = Path(assay.__file__).parent
TESTS = Path(__file__).parent

#: From the top down: a module imports only from its own row and from rows below. A name
#: with a dot is a part of a room that stands in a row of its own.
ROWS = (
    {"cli", "pytest_plugin", "testing"},
    {"kill_matrix", "fuzzing.schema", "traffic", "doctor"},
    {"planning.prepare"},
    {"report", "fuzzing.session"},
    {"estimate"},
    {"fuzzing"},
    {"execution"},
    {"journal", "judging"},
    {"transport", "sca", "fixtures"},
    {"openapi", "init"},
    {"fuzzing.sequences", "fuzzing.fields"},
    {"planning"},
    {"binding"},
    {"planning.obligation"},
    {"contract.parse", "contract.references"},
    {"kinds"},
    {"rules"},
    {"contract.files"},
    {"history"},
    {"judging.verdict"},
    {"contract"},
    {"errors", "_resources", "sandbox"},
)
#: Who may know what: a library, and the only places that import it.
WALLS = {
    "httpx": {"transport", "fixtures", "sca", "traffic", "execution"},
    "yaml": {"contract", "init"},
    "jsonschema": {"contract"},
    "referencing": {"contract"},
    "click": {"cli"},
    "rich": {"cli", "report"},
    "authlib": {"transport"},
    "cryptography": {"transport", "sandbox", "doctor"},
    "http_message_signatures": {"transport"},
    "sqlite3": {"execution"},
    "h11": {"traffic"},
    "harfile": {"traffic"},
    "jinja2": {"report", "sandbox"},
    "werkzeug": {"sandbox"},
    "waitress": {"sandbox"},
    "_pytest": {"planning"},
    "random": {"sandbox"},
    "playwright": {"sca"},
    "hypothesis": {"fuzzing"},
    "schemathesis": {"fuzzing"},
}


def modules() -> list[Path]:
    """Return every module of the package, without the shipped data."""
    inside = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(PACKAGE / path for path in inside if path.parts[0] not in {"data", "suites"})


def part(path: Path) -> str:
    """Return the part of the package in which a module stands."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def row(name: str) -> int:
    """Return the row of a module, or of a name in one; the longest known beginning counts."""
    rows = {room: number for number, rooms in enumerate(ROWS) for room in rooms}
    pieces = name.split(".")
    return next(
        rows[beginning]
        for length in range(len(pieces), 0, -1)
        if (beginning := ".".join(pieces[:length])) in rows
    )


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted names that a module imports, wherever it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_go_down(path):
    """A module imports from its own row of the architecture or from below."""
    if part(path) == "__init__":
        return
    own = row(".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    for name in imported(path):
        if name.startswith("assay.") and name != "assay.__version__":
            assert own <= row(name.removeprefix("assay.")), f"{path.stem} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_walls_stand(path):
    """A library is known only where the architecture says so."""
    for name in imported(path):
        allowed = WALLS.get(name.split(".")[0])
        assert allowed is None or part(path) in allowed, f"{part(path)} imports {name}"


def test_the_bank_and_the_oracle_share_nothing():
    """The sandbox imports nothing of the harness, so it cannot share its mistakes."""
    for path in modules():
        if part(path) == "sandbox":
            ours = [name for name in imported(path) if name.startswith("assay.")]
            assert [] == [name for name in ours if not name.startswith("assay.sandbox")]


def test_rules_do_no_effects():
    """Neither the wall clock nor files are touched by a rule."""
    for path in modules():
        if part(path) == "rules":
            text = path.read_text(encoding="utf-8")
            for effect in (".now(", "time.time", "open(", "sleep(", ".today("):
                assert effect not in text, f"{path.name}: {effect}"


def test_the_plugin_imports_nothing_heavy():
    """Loading the pytest plugin costs an unrelated run no import of ours but two small files."""
    code = (
        "import sys, pytest; before = set(sys.modules); import assay.pytest_plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "['assay', 'assay.pytest_plugin']\n" == out.stdout


def test_a_bank_in_this_process_needs_no_http_client():
    """Setting an embedded target up does not import what only a network needs."""
    code = "import sys, assay.execution.environment, assay.execution.session; print('httpx' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False\n" == out.stdout


def test_modules_stay_small():
    """No module is longer than a reader holds in mind: 400 lines at the most."""
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert [] == [path for path, lines in sizes.items() if lines > 400]


@pytest.mark.parametrize(
    "path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: str(path.relative_to(TESTS))
)
def test_every_test_says_what_it_shows(path):
    """Every test has a docstring that states the behaviour."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert [] == silent
