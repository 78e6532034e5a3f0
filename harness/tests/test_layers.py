"""The architecture, held: who may import whom, and what every test owes its reader."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
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
    "re2": {"rules"},
    "click": {"cli"},
    "rich": {"cli", "report"},
    "authlib": {"transport"},
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
def tree(path: Path) -> ast.Module:
    """Return a module as read."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return everything in a module."""
    return [*ast.walk(tree(path))]


@cache
def imported(path: Path) -> list[str]:
    """Return the dotted names that a module imports, wherever it does so."""
    names: list[str] = []
    for node in nodes(path):
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
        for node in nodes(path):
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


# -- what a file, or another package, must not decide ------------------------------------

#: Where a pattern is no literal: it is made of escaped texts and own names.
MADE_PATTERNS = {
    "binding/path_slots.py quoted_slots",
    "binding/secret_names.py _any_of",
    "journal/redact.py ",
    "journal/secret_positions.py _pair_masked",
    "cli/usage_errors.py _expected",
    "traffic/parse_request.py _pattern",
    "traffic/proxy/messages.py _pattern",
    "traffic/sent_values.py _strip_text",
    # Patterns of the schemas that Assay, or the package of a kind, ships.
    "contract/files/shape_check.py _whole_text",
}
#: The functions of `re` whose first argument is a pattern.
READERS = {
    *("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
}


def is_literal(node: ast.expr) -> bool:
    """Whether a pattern stands in the source: texts and constants, put together."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if isinstance(node, ast.Attribute):
        return is_literal(node.value) and node.attr == "pattern"
    if isinstance(node, ast.BinOp):
        return is_literal(node.left) and is_literal(node.right)
    values = (each.value for each in ast.walk(node) if isinstance(each, ast.FormattedValue))
    return isinstance(node, ast.JoinedStr) and all(map(is_literal, values))


def compiled_patterns(path: Path) -> Iterator[str]:
    """Yield the functions of a module in which a pattern is compiled that is no literal."""
    inner = [each for each in nodes(path) if isinstance(each, ast.FunctionDef)]
    names = {id(node): each.name for each in inner for node in ast.walk(each)}
    for call in nodes(path):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            of_re = isinstance(call.func.value, ast.Name) and call.func.value.id == "re"
            if of_re and call.func.attr in READERS and not is_literal(call.args[0]):
                yield f"{path.relative_to(PACKAGE)} {names.get(id(call), '')}"


def test_patterns_of_files_are_compiled_in_one_place():
    """Python's expressions, which a pattern can keep busy for ever, read no pattern of a file."""
    inside = [path for path in modules() if part(path) != "sandbox"]
    found = {place for path in inside for place in compiled_patterns(path)}
    assert MADE_PATTERNS == found


#: Private names of other packages, and the test that fails when one of them moves.
PRIVATE_NAMES: dict[str, str] = {
    "_pool": "transport/test_deadline.py::test_dripped_answers",
    "_connection": "transport/test_leftovers.py::test_two_answers_to_one_request",
    "_h11_state": "transport/test_leftovers.py::test_two_answers_to_one_request",
    "httpx._main": "cli/test_lean_start.py::test_httpx_comes_without_its_command_line",
    "_pytest.mark.expression": "planning/test_prepare.py::test_selections",
    "_split_scope": "pytest_plugin/test_plugin.py::test_a_trial_stays_on_one_worker",
    "_map": "sandbox/test_serve.py::test_idle_clients_block_nobody",
    "hashlib._Hash": "test_layers.py::test_private_names_of_other_packages_are_watched",
}


def is_private(name: str) -> bool:
    """Whether a dotted name has a private part."""
    return any(each[:1] == "_" and each[-2:] != "__" for each in name.split(".") if each != "_")


@cache
def own_names() -> frozenset[str]:
    """Return every name that the package itself defines or assigns."""
    names = {"_replace"}  # public, though it begins so: of named tuples
    for node in (node for path in modules() for node in nodes(path)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= (
                {node.attr}
                if isinstance(node.value, ast.Name) and node.value.id == "self"
                else set()
            )
    return frozenset(names)


def foreign_names(path: Path) -> Iterator[str]:
    """Yield the private names of other packages that a module uses, also as texts."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and node.attr not in own_names():
            yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            named = node.args[1:2] if node.func.id in {"getattr", "setattr"} else []
            yield from {each.value for each in named if isinstance(each, ast.Constant)} - {"_cache"}
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            named = [node.slice] if node.value.attr == "modules" else []
            yield from (each.value for each in named if isinstance(each, ast.Constant))
    yield from (name for name in imported(path) if not name.startswith(("assay.", "_typeshed.")))


def replaced_attributes(path: Path) -> Iterator[str]:
    """Yield the private attributes of a class of another package that a derived class assigns."""
    origins = {name.rpartition(".")[2]: name for name in imported(path)}
    for node in (node for node in nodes(path) if isinstance(node, ast.ClassDef)):
        stored = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
        for base in map(ast.unparse, node.bases):
            module, _, name = (origins.get(base) or base).rpartition(".")
            if not module or module.split(".")[0] in {"assay", *sys.stdlib_module_names}:
                continue
            methods = vars(getattr(import_module(module), name, object)).values()
            yield from (
                attribute
                for method in methods
                if hasattr(method, "__code__")
                for attribute in stored & {*method.__code__.co_names}
            )


def test_private_names_of_other_packages_are_watched():
    """Where a private name of another package is used, a test fails as soon as it moves."""
    found = {
        name
        for path in modules()
        for name in (*foreign_names(path), *replaced_attributes(path))
        if is_private(name)
    }
    assert PRIVATE_NAMES.keys() == found
    for test in PRIVATE_NAMES.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")
