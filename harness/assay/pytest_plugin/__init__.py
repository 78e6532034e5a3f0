"""The pytest plugin: the obligations of a plan as test items.

`pytest --pyargs assay.suites --contract … --target …` tests what `assay run` tests. Every
pytest run on a machine imports this module, so it imports almost nothing itself:
the plugin proper (`assay.pytest_plugin.suites`) is loaded only when `--contract` or
`--target` is given, or the shipped suites are run.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("assay", "conformance of a target to its contracts (as `assay run`)")
    group.addoption(
        "--contract",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="contract to test: a shipped name (aisp, pis) or a file; repeatable",
    )
    group.addoption(
        "--target",
        metavar="FILE|URL|NAME",
        help="target to test: a target file, the URL of a served sandbox, or a shipped name",
    )
    group.addoption(
        "--assay-seed",
        type=int,
        default=0,
        metavar="N",
        help="seed for generated customers and dates; the same seed reproduces a run",
    )
    group.addoption(
        "--assay-role",
        action="append",
        default=[],
        metavar="NAME",
        help="use only this customer of fixtures.roles; repeatable, in order of preference",
    )
    group.addoption(
        "--assay-concurrency",
        type=int,
        metavar="N",
        help="run N trials side by side, as `assay run --concurrency` (not with -n)",
    )
    group.addoption(
        "--assay-journal", metavar="FILE", help="write the journal of the run (for `assay report`)"
    )
    group.addoption(
        "--assay-schema",
        action="store_const",
        const=20,
        default=0,
        help="also search each operation with the cases of its exported OpenAPI document and 20"
        " random ones (needs assay[schema])",
    )
    group.addoption(
        "--assay-journeys",
        type=int,
        default=0,
        metavar="N",
        help="also run N random sequences of calls through each contract, judged by every rule",
    )
    group.addoption(
        "--assay-fields",
        type=int,
        default=0,
        metavar="N",
        help="also send N requests with one mutated field, each next to a valid control request",
    )
    group.addoption(
        "--assay-examples",
        metavar="DIR|URL",
        help="where to keep sequences that showed a violation, to be tried first next time",
    )
    group.addoption(
        "--assay-contexts",
        choices=["base", "each", "pairs"],
        help="contexts in which each rule is tested; default: each where customers are created"
        " for each trial, base elsewhere (or the variable ASSAY_CONTEXTS)",
    )
    group.addoption(
        "--assay-shard",
        metavar="N/OF",
        help="run only this part of the plan, such as 2/5; with --assay-journal,"
        " `assay report --merge` makes one report of all parts",
    )
    group.addoption(
        "--assay-wait",
        metavar="SPAN",
        help="verify time rules by waiting in real time, up to SPAN in total (45m, 26h, 1d12h)",
    )
    group.addoption(
        "--allow-incomplete",
        action="store_true",
        help="exit with 0 even if `must` obligations could not be verified",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugin proper if contracts, a target or the shipped suites are named."""
    if any("::" in arg for arg in config.args):
        config.args[:] = [_found(arg) for arg in config.args]
    named = config.getoption("--contract") or config.getoption("--target")
    if named or any(_is_ours(arg) for arg in config.args if "suites" in arg):
        import gc  # noqa: PLC0415 -- see the docstring

        from assay.cli.start import collect_rarely  # noqa: PLC0415

        gc.disable()  # what is loaded stays, as in the command line
        try:
            from assay.pytest_plugin import suites  # noqa: PLC0415

            suites.install(config)
        finally:
            collect_rarely()


def _is_ours(arg: str) -> bool:
    """Whether an argument names the shipped suites, as a package or by path."""
    from pathlib import Path  # noqa: PLC0415 -- see the docstring

    from assay._resources import suites_dir  # noqa: PLC0415

    if arg.startswith("assay.suites"):
        return True
    ours, path = suites_dir().resolve(), Path(arg.partition("::")[0]).resolve()
    return ours == path or ours in path.parents


def _found(arg: str) -> str:
    """Return an argument; where it is the id of one of our items, with the path of its file.

    pytest prints the ids of items outside of its root folder with a path that it cannot find, or
    with none.
    """
    from pathlib import Path  # noqa: PLC0415 -- see the docstring

    from assay._resources import suites_dir  # noqa: PLC0415

    name, _, item = arg.partition("::")
    if not item or (name and Path(name).exists()):
        return arg
    function = f"def {item.partition('[')[0]}("
    for path in suites_dir().glob(Path(name).name or "test_*.py"):
        if function in path.read_text(encoding="utf-8"):
            return f"{path}::{item}"
    return arg
