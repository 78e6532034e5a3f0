"""The architecture, held: who may import whom, and what every test owes its reader."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import assay

PACKAGE = Path(assay.__file__).parent
TESTS = Path(__file__).parent

#: From the top down: a module imports only from its own row and from rows below. A name
#: with a dot is a part of a room that stands in a row of its own.
ROWS = (
    {"cli", "pytest_plugin", "testing"},
    {"fleet"},
    {"contextual_matrix", "contextual_neutral", "attestation"},
    {"kill_matrix", "traffic", "doctor"},
    {"policy_trace"},
    {"planning.prepare"},
    {"report", "fuzzing.session", "contract_diff"},
    {"estimate"},
    {"fuzzing"},
    {"execution"},
    {"journal", "judging"},
    {"binding.read", "binding.banks"},
    {"transport", "sca", "fixtures"},
    {"openapi", "init"},
    {"fuzzing.sequences", "fuzzing.fields"},
    {"planning"},
    {"contexts"},
    {"binding"},
    {"planning.obligation"},
    {"contract.parse", "contract.references", "contract.editor_schema"},
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
    "jsonschema": {"contract", "fuzzing"},
    "referencing": {"contract"},
    "click": {"cli"},
    "rich": {"cli", "report"},
    "cryptography": {"transport", "sandbox", "doctor", "attestation"},
    "http_message_signatures": {"transport"},
    "sqlite3": {"execution"},
    "h11": {"traffic"},
    "httpcore": {"transport"},
    "harfile": {"traffic", "report"},
    "jinja2": {"report", "sandbox"},
    "werkzeug": {"sandbox"},
    "waitress": {"sandbox"},
    "_pytest": {"planning"},
    "random": {"sandbox"},
    "playwright": {"sca"},
    "hypothesis": {"fuzzing"},
    "schemathesis": {"fuzzing"},
    "dask": {"fleet"},
    "distributed": {"fleet"},
}


#: The rooms whose functions trials call, several of them at the same time.
TRIALS = {
    "binding", "contexts", "execution", "fixtures", "history", "journal", "judging", "rules", "sca",
    "transport",
}  # fmt: skip
#: Functions of these rooms that import something, and why it is no trial that does so first.
SET_UP = {
    "contexts/covering.py:_pairs": "the contexts are chosen when a run is planned",
    "execution/environment.py:_callback_server": "set-up",
    "execution/environment.py:_chromium": "set-up",
    "execution/environment.py:_embedded": "set-up",
    "execution/environment.py:_ledger": "set-up",
    "execution/environment.py:signer": "trials that need a browser or a person have no lanes",
    "execution/environment.py:sound_bank": "set-up",
    "execution/guard.py:use": "real customers: trials have no lanes, and set-up opens the ledger",
    "rules/clauses.py:_answering": "the kinds are imported when a contract is read",
    "rules/formats.py:_is_iban": "IMPORTED_BY_TRIALS",
    "rules/formats.py:is_no_clear_pan": "IMPORTED_BY_TRIALS",
    "rules/refusing_kind.py:_is_owed": "the kinds are imported when a contract is read",
    "rules/rule.py:price": "a plan has prices",
    "sca/browser.py:_go": "one browser signs: trials have no lanes",
    "sca/chromium.py:_launch": "one browser signs: trials have no lanes",
    "sca/chromium.py:page": "one browser signs: trials have no lanes",
    "sca/chromium.py:start": "one browser signs: trials have no lanes",
    "transport/auth/setup.py:_networked": "set-up",
    "transport/auth/setup.py:_request_signer": "set-up",
    "transport/auth/setup.py:open_channels": "set-up",
    "transport/auth/signing.py:_rfc9421": "`signed` imports it at set-up",
    "transport/auth/signing.py:signed": "set-up",
    "transport/auth/tls.py:tls_context": "set-up",
}


@cache
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


@cache
def imported(path: Path) -> list[str]:
    """Return the dotted names that a module imports, wherever it does so."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def own_row(path: Path) -> int:
    """Return the row in which a module itself stands."""
    return row(".".join(path.relative_to(PACKAGE).with_suffix("").parts))


def above(path: Path) -> list[str]:
    """Return what a module imports from the rows above its own."""
    return [
        name
        for name in imported(path)
        if name.startswith("assay.") and name != "assay.__version__"
        if own_row(path) > row(name.removeprefix("assay."))
    ]


@pytest.mark.parametrize(
    "number", range(len(ROWS)), ids=lambda number: "-".join(sorted(ROWS[number]))
)
def test_imports_only_go_down(number):
    """The modules of a row import from their own row of the architecture or from below."""
    inside = [path for path in modules() if part(path) != "__init__" and own_row(path) == number]
    assert inside
    assert {} == {
        str(path.relative_to(PACKAGE)): names for path in inside if (names := above(path))
    }


@pytest.mark.parametrize("library", WALLS)
def test_walls_stand(library):
    """A library is known only where the architecture says so."""
    knowing = {
        part(path) for path in modules() for name in imported(path) if name.split(".")[0] == library
    }
    assert knowing <= WALLS[library]


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


def test_no_trial_imports_anything():
    """What trials call imports nothing for the first time: two threads that do so can fail."""
    standard = sys.stdlib_module_names
    found = set()
    for path in modules():
        name = str(path.relative_to(PACKAGE))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree) if part(path) in TRIALS else ():
            if isinstance(function, ast.FunctionDef):
                inside = [node for each in function.body for node in ast.walk(each)]
                names = [node.module for node in inside if isinstance(node, ast.ImportFrom)]
                names += [
                    each.name
                    for node in inside
                    if isinstance(node, ast.Import)
                    for each in node.names
                ]
                if any(each.partition(".")[0] not in standard for each in names):
                    found.add(f"{name}:{function.name}")
    assert {*SET_UP} == found


@pytest.mark.parametrize("library", ["stdnum.iban", "stdnum.luhn"])
def test_lanes_begin_with_what_trials_import(library):
    """Before there are lanes, everything is imported that trials import where they need it."""
    code = (
        "import sys; from assay.execution.parallel_trials import Lanes;"
        f"before = {library!r} in sys.modules; Lanes(2, print);"
        f"print(before, {library!r} in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False True\n" == out.stdout


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
    """No module is longer than a reader holds in mind: 600 lines at the most."""
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert [] == [path for path, lines in sizes.items() if lines > 600]


def test_one_name_is_one_class():
    """No two classes have the same name; the sandbox has words of its own, and shares no code."""
    places: dict[str, list[str]] = {}
    for path in modules():
        if part(path) == "sandbox":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {} == {name: paths for name, paths in places.items() if len(paths) > 1}


def test_every_test_says_what_it_shows():
    """Every test has a docstring that states the behaviour."""
    silent = [
        f"{path.relative_to(TESTS)}: {node.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert [] == silent
