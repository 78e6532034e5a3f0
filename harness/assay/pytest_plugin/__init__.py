"""The pytest plugin: the plan's obligations as test items.

`pytest --pyargs assay.suites --contract … --target …` does what `assay run` does,
with all that pytest brings. Every pytest run on a machine imports this file, so it
imports next to nothing: the plugin proper (`assay.pytest_plugin.suites`) is loaded only
when `--contract` or `--target` is given, or the shipped suites are run.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; they cost nothing until they are used."""
    group = parser.getgroup("assay", "conformance of a target to its contracts")
    group.addoption(
        "--contract",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="a shipped contract (aisp) or a contract file; may be given again",
    )
    group.addoption(
        "--target",
        metavar="FILE|URL|NAME",
        help="a target file, the URL of a served sandbox, or a shipped target",
    )
    group.addoption("--assay-seed", type=int, default=0, metavar="N", help="makes other customers")
    group.addoption(
        "--assay-journal", metavar="FILE", help="record the run, for `assay report` to render"
    )
    group.addoption(
        "--assay-schema",
        action="store_true",
        help="also ask each operation what the exported document foresees (takes Schemathesis)",
    )
    group.addoption(
        "--assay-journeys",
        type=int,
        default=0,
        metavar="N",
        help="also make N random journeys through each contract, every rule judging each",
    )
    group.addoption(
        "--assay-fields",
        type=int,
        default=0,
        metavar="N",
        help="also tell N stories of requests bent at some field, each beside its control",
    )
    group.addoption(
        "--assay-examples",
        metavar="DIR|URL",
        help="where stories that broke something are kept, to be tried first next time",
    )
    group.addoption(
        "--assay-wait",
        metavar="SPAN",
        help="where no clock can be moved: check time rules by waiting, so long in all (45m, 26h)",
    )
    group.addoption(
        "--allow-incomplete",
        action="store_true",
        help="succeed although something could not be verified",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugin proper where it has work."""
    asked = config.getoption("--contract") or config.getoption("--target")
    if asked or any(_is_ours(arg) for arg in config.args if "suites" in arg):
        from assay.pytest_plugin import suites  # noqa: PLC0415 -- see the docstring

        suites.install(config)


def _is_ours(arg: str) -> bool:
    """Whether an argument names the shipped suites, as a package or a path."""
    from pathlib import Path  # noqa: PLC0415 -- see the docstring

    from assay._resources import suites_dir  # noqa: PLC0415

    if arg.startswith("assay.suites"):
        return True
    ours, path = suites_dir().resolve(), Path(arg.partition("::")[0]).resolve()
    return ours == path or ours in path.parents
