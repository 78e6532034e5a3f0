"""The architecture, held: who may import whom, and what every test owes its reader."""

import ast
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from rows import for_each
from tiers import KEPT, SAMPLED

import assay

PACKAGE = Path(assay.__file__).parent
TESTS = Path(__file__).parent

#: From the top down: a room imports only from its own row and from rows below.
ROWS = (
    {"__main__", "cli", "pytest_plugin", "testing"},
    {"extras"},
    {"proof", "traffic", "onboarding"},
    {"report"},
    {"preparation"},
    {"fuzzing"},
    {"running"},
    {"journal", "judging"},
    {"transport", "sca", "fixtures"},
    {"openapi"},
    {"planning"},
    {"contexts"},
    {"binding"},
    {"parsing"},
    {"kinds"},
    {"rules"},
    {"files", "history"},
    {"contract"},
    {"errors", "_resources", "sandbox"},
)
#: Who may know what: a library, and the only places that import it.
WALLS = {
    "httpx": {"transport", "fixtures", "sca", "traffic", "running"},
    "yaml": {"files", "onboarding"},
    "jsonschema": {"files", "fuzzing", "binding"},
    "openapi_schema_validator": {"binding"},
    "referencing": {"files", "binding"},
    "re2": {"rules"},
    "click": {"cli"},
    "rich": {"cli", "report"},
    "cryptography": {"transport", "sandbox", "onboarding", "extras"},
    "http_message_signatures": {"transport"},
    "sqlite3": {"running"},
    "httpcore": {"transport"},
    "harfile": {"traffic", "report"},
    "jinja2": {"report", "sandbox"},
    "werkzeug": {"sandbox"},
    "waitress": {"sandbox", "traffic"},
    "_pytest": {"preparation"},
    "random": {"sandbox", "fuzzing"},
    "playwright": {"sca"},
    "hypothesis": {"fuzzing"},
    "schemathesis": {"fuzzing"},
    "dask": {"extras"},
    "distributed": {"extras"},
}


#: The rooms whose functions trials call, several of them at the same time.
TRIALS = {
    "binding", "contexts", "running", "fixtures", "history", "journal", "judging", "rules", "sca",
    "transport",
}  # fmt: skip
#: Functions of these rooms that import something, and why it is no trial that does so first.
SET_UP = {
    "binding/read/document_clauses.py:_mistakes": "a target file is checked",
    "binding/read/document_clauses.py:possible_aspects": "`document_of` has imported it",
    "binding/wire/decode.py:documented": "`document_of` has imported it",
    "contexts/context.py:_pairs": "the contexts are chosen when a run is planned",
    "running/environment.py:_callback_server": "set-up",
    "running/environment.py:_chromium": "set-up",
    "running/environment.py:_embedded": "set-up",
    "running/environment.py:_ledger": "set-up",
    "running/environment.py:signer": "trials that need a browser or a person have no lanes",
    "running/environment.py:sound_bank": "set-up",
    "running/guard.py:use": "real customers: trials have no lanes, and set-up opens the ledger",
    "rules/formats.py:_is_iban": "IMPORTED_BY_TRIALS",
    "rules/formats.py:_is_pan": "IMPORTED_BY_TRIALS",
    "rules/text_shape.py:compile_pattern": "the patterns of a file are compiled when it is read",
    "sca/browser.py:_go": "one browser signs: trials have no lanes",
    "sca/browser.py:_launch": "one browser signs: trials have no lanes",
    "sca/browser.py:page": "one browser signs: trials have no lanes",
    "sca/browser.py:start": "one browser signs: trials have no lanes",
    "transport/auth/setup.py:_networked": "set-up",
    "transport/auth/setup.py:open_channels": "set-up",
    "transport/auth/keys.py:_rfc9421": "`signed` imports it at set-up",
    "transport/auth/keys.py:signed": "set-up",
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
    """Return the row of a room, or of a name in one."""
    room = name.split(".", maxsplit=1)[0]
    return next(number for number, rooms in enumerate(ROWS) if room in rooms)


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
    return row(part(path))


def above(path: Path) -> list[str]:
    """Return what a module imports from the rows above its own."""
    return [
        name
        for name in imported(path)
        if name.startswith("assay.") and name != "assay.__version__"
        if own_row(path) > row(name.removeprefix("assay."))
    ]


@for_each("number", range(len(ROWS)))
def test_imports_only_go_down(number):
    """The modules of a row import from their own row of the architecture or from below."""
    inside = [path for path in modules() if part(path) != "__init__" and own_row(path) == number]
    assert inside
    assert {} == {
        str(path.relative_to(PACKAGE)): names for path in inside if (names := above(path))
    }


def dotted(path: Path) -> str:
    """Return the dotted name of a module."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def circles(paths: Iterable[Path]) -> list[list[str]]:
    """Return the import circles of modules, whether they import at the top, later or for types only.

    That a module imports one of its own package runs the package first, but is no use of it.
    """
    known = {dotted(path): path for path in paths}
    uses = {
        name: {
            used
            for each in imported(path)
            if (used := each if each in known else each.rpartition(".")[0]) in known
        }
        - {name}
        for name, path in known.items()
    }
    while ends := {name for name in uses if not uses[name]}:
        uses = {name: used - ends for name, used in uses.items() if name not in ends}
    reached = {name: _reached(name, uses) for name in uses}
    found = {
        frozenset({name, *(each for each in reached[name] if name in reached[each])})
        for name in uses
        if name in reached[name]
    }
    return sorted(sorted(circle) for circle in found)


def _reached(name: str, uses: Mapping[str, Collection[str]]) -> set[str]:
    """Return what a module imports, directly or through others."""
    out: set[str] = set()
    left = [name]
    while left:
        new = {*uses[left.pop()]} - out
        out |= new
        left += new
    return out


def test_no_circles():
    """Modules import each other in one direction, in each room and between the rooms."""
    assert [] == circles(modules())


@pytest.mark.parametrize(
    ("late", "found"),
    [
        ("def f():\n    from assay.b import x\n", [["assay.a", "assay.b"]]),
        ("if TYPE_CHECKING:\n    import assay.b\n", [["assay.a", "assay.b"]]),
        ("import assay.c\n", []),
    ],
)
def test_circles_are_found(monkeypatch, tmp_path, late, found):
    """Also those that a late import, or one for types only, closes."""
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path / "assay")
    texts = {"a": late, "b": "from assay import a\n", "c": "from assay.b import x\n"}
    if not found:
        texts["b"] = ""
    (tmp_path / "assay").mkdir()
    paths = [tmp_path / "assay" / f"{name}.py" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    assert found == circles(paths)


@for_each("library", WALLS)
def test_walls_stand(library):
    """A library is known only where the architecture says so."""
    knowing = {
        part(path) for path in modules() for name in imported(path) if name.split(".")[0] == library
    }
    assert knowing <= WALLS[library]


#: The modules that make numbers of texts themselves, and where the texts come from.
NUMBERS = {
    "binding/read/checks.py": "the port of a target file",
    "binding/model/bank_document.py": "numbers of a document, as its schemas compare them",
    "binding/wire/document_remarks.py": "numbers that were read, in decimals",
    "binding/wire/date_formats.py": "digits in place of the parts of a pattern, what the one reader has read",
    "binding/wire/links.py": "at most nine digits, and a number that the parser kept short",
    "binding/model/pointer.py": "the parser of JSON, which keeps numbers short, and steps of a pointer",
    "binding/wire/values.py": "days of a target file, a number of a probe, what the one reader has read",
    "parsing/editor_schema.py": "numbers of a contract",
    "files/load.py": "hours of an offset of a file",
    "parsing/references.py": "lines of a source",
    "contract/scalars.py": "the one reader",
    "onboarding/doctor/preflight.py": "seconds of a duration",
    "running/fixture_events.py": "seconds of a duration",
    "running/guard.py": "limits of a target file",
    "running/session.py": "limits of a target file",
    "running/resumption.py": "our own counts",
    "fuzzing/fields/shapes.py": "values of a target file and of a contract",
    "fuzzing/fields/texts.py": "check digits of our own",
    "journal/redact/__init__.py": "check digits of at most 34 characters",
    "journal/lines.py": "numbers of a journal, which are bounded there, and our own counts",
    "journal/typed_values.py": "numbers of a journal, which are short",
    "judging/exit_policy.py": "an option of the command line",
    "preparation/prepare.py": "numbers of an option of the command line",
    "rules/conditions/atoms.py": "a limit of a contract, and hours of a duration",
    "rules/dry_run.py": "our own link",
    "rules/formats.py": "check digits of at most 64 characters",
    "rules/kinds/reading/eligibility.py": "a parameter of a contract",
    "rules/kinds/access/eligible_for.py": "check digits of our own",
    "rules/kinds/requests/request_field.py": "a parameter of a contract",
    "rules/kinds/requests/required.py": "at most 18 digits",
    "rules/kinds/requests/timeout.py": "a parameter of a contract",
    "rules/lifecycle/attempts.py": "minutes of a day",
    "rules/lifecycle/request_queries.py": "two digits of an escape",
    "rules/lifecycle/signing.py": "minutes of a duration",
    "traffic/har.py": "numbers of a file, with their errors",
    "traffic/proxy/server.py": "a port of our own",
    "traffic/readings.py": "an age in seconds, with its errors",
}


def makes_numbers(node: ast.AST) -> bool:
    """Whether a node makes a number of something, or writes a number out without an exponent."""
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        return ast.unparse(node.format_spec) == "f'f'"
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
    given = node.args if made else ()  # type: ignore[attr-defined]
    return (
        made in ("Decimal", "int", "float")
        and bool(given)
        and not isinstance(given[0], ast.Constant)
    )


def test_numbers_of_a_bank_are_read_and_written_in_one_place():
    """Wherever evidence is read or judged, `number_of` reads, `text_of` writes, `canonical` compares."""
    rooms = {
        *[
            "rules",
            "binding",
            "judging",
            "onboarding",
            "traffic",
            "running",
            "journal",
            "history",
            "contract",
            "files",
            "parsing",
            "preparation",
            "fuzzing",
        ]
    }
    own = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if part(path) in rooms
        and (part(path) != "fuzzing" or path.parent.name == "fields")
        and (part(path) != "onboarding" or path.parent.name == "doctor")
        and any(map(makes_numbers, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert sorted(NUMBERS) == sorted(own)


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
        "import sys; from assay.running.parallel_trials import Lanes;"
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
    code = "import sys, assay.running.environment, assay.running.session; print('httpx' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False\n" == out.stdout


#: What makes or changes a datetime, and the argument that says its zone.
ZONED = {"astimezone": 0, "combine": 2, "now": 0, "fromtimestamp": 1}


def test_one_module_makes_datetimes_of_a_zone():
    """Python compares and subtracts two of one zone by what its clocks show, which jumps twice a year.

    The sandbox has a calendar of its own.
    """
    homes = {"rules/state/calendar.py", "history/steps.py"}
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in modules()
        if part(path) != "sandbox" and path.relative_to(PACKAGE).as_posix() not in homes
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _zone_of(node) not in {None, "UTC", "None"}
    ]
    # The waiting time is shown by the clock of this machine.
    assert ["fixtures/waiting.py"] == [place.partition(":")[0] for place in found]


def _zone_of(call: ast.Call) -> str | None:
    """Return the zone that a call gives a datetime; None if it gives it none."""
    for keyword in call.keywords:
        if keyword.arg in {"tzinfo", "tz"}:
            return ast.unparse(keyword.value)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "astimezone" and not call.args:
        return "the machine's"
    place = ZONED.get(name, len(call.args))
    return ast.unparse(call.args[place]) if place < len(call.args) else None


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
    "binding/model/spelling.py quoted_slots",
    "binding/model/secret_names.py _any_of",
    "journal/redact/__init__.py ",
    "journal/redact/secret_positions.py _pair_masked",
    "cli/main.py _expected",
    "traffic/parse_request.py _pattern",
    "traffic/proxy/messages.py _pattern",
    "traffic/match_request.py _strip_text",
    # Patterns of the schemas that Assay, or the package of a kind, ships.
    "files/shape_check.py _whole_text",
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


def test_what_is_left_to_the_night_exists():
    """Each row of the tables of tiers names a test, or a file of tests."""
    for name in (*KEPT, *SAMPLED):
        file, _, test = name.partition("::")
        assert f"def {test}(" in (TESTS / file).read_text("utf-8") or not test
