"""The public modules `assay.kinds`, `assay.kinds.requests` and `assay.testing`, as another package meets them."""

import inspect
import subprocess
import sys
import venv
from pathlib import Path
from types import ModuleType

import pytest

import assay
from assay import kinds, testing
from assay.kinds import requests

#: The modules that packages with kinds import from.
MODULES = (kinds, requests, testing)

PACKAGE = Path(assay.__file__).parent
ROOT = PACKAGE.parents[1]

USER = """\
from dataclasses import dataclass

from assay.kinds import Kind, Scenario, Script, parameters
from assay.testing import accepted

reveal_type(Kind.name)
reveal_type(accepted().status)
Scenario(id=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace(Scenario):
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed(Kind[Pace]):
    limit: int = parameters.word(key="limit")

    def probe(self, scenario: Pace) -> Script:
        reveal_type(scenario.calls)
        yield from ()


class Slow(Kind[int]): ...
"""


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_public_module_lists_what_it_offers(module):
    """`__all__` is sorted, complete, and every name in it exists."""
    named = {
        name
        for name, value in vars(module).items()
        if name.isidentifier()  # pytest adds names to modules whose assertions it rewrites
        and not name.startswith("_")
        and name not in {"annotations", "requests"}
        and (module is not testing or getattr(value, "__module__", "").startswith(module.__name__))
    }

    assert sorted(module.__all__, key=lambda name: (not name.isupper(), name)) == module.__all__
    assert set() == {name for name in module.__all__ if not hasattr(module, name)}
    assert set() == named - set(module.__all__)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_documented(module):
    """A class, a function and a module have a docstring; an alias stands in that of its module."""
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, ModuleType) or inspect.isclass(value) or inspect.isfunction(value):
            assert len(inspect.getdoc(value) or "") > 10, name
            assert not (inspect.getdoc(value) or "").startswith(f"{name}("), name
        else:
            assert f"`{name}`" in inspect.getdoc(module)


def test_types_are_seen_from_another_package(tmp_path):
    """A type checker checks a module elsewhere against our annotations, because of py.typed."""
    pytest.importorskip("mypy")
    venv.create(tmp_path / "venv")
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    (site / "assay_elsewhere.pth").write_text(f"{PACKAGE.parent}\n")
    (tmp_path / "user.py").write_text(USER)
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            *("--follow-imports=silent", "--config-file=", "--cache-dir=cache"),
            *("--python-executable", str(tmp_path / "venv" / "bin" / "python"), "user.py"),
        ],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert [
        'user.py:6: note: Revealed type is "str"',
        'user.py:7: note: Revealed type is "int"',
        'user.py:8: error: Argument "id" to "Scenario" has incompatible type "int"; expected "str"  [arg-type]',
        'user.py:18: error: Incompatible types in assignment (expression has type "str", variable has type "int")  [assignment]',
        'user.py:21: note: Revealed type is "int"',
        'user.py:25: error: Type argument "int" of "Kind" must be a subtype of "Scenario"  [type-var]',
    ] == ended.stdout.splitlines()


def test_the_marker_for_types_is_in_the_wheel():
    """What hatch puts into a wheel includes py.typed."""
    assert (PACKAGE / "py.typed").is_file()
    builders = pytest.importorskip("hatchling.builders.wheel")
    files = builders.WheelBuilder(str(ROOT)).recurse_included_files()

    assert "assay/py.typed" in {one.distribution_path for one in files}
