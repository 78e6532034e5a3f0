"""The pytest plugin: the obligations of a plan as test items.

`pytest --pyargs assay.suites --assay-contract … --assay-target …` tests what `assay run` tests. Every
pytest run on a machine imports this module, so it imports almost nothing itself:
the plugin proper (`assay.pytest_plugin.suites`) is loaded only when `--assay-contract` or
`--assay-target` is given, or the shipped suites are run.
"""

from __future__ import annotations

from argparse import SUPPRESS

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("assay", "conformance of a target to its contracts, as in `assay run`")
    group.addoption(
        "--assay-contract",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="Contract to use: a shipped name (aisp, pis) or a file. Repeatable.",
    )
    group.addoption(
        "--assay-target",
        metavar="FILE|URL|NAME",
        help="Target to use: a target file, the URL of a served sandbox, or a shipped name.",
    )
    group.addoption(
        "--assay-seed",
        type=int,
        default=0,
        metavar="N",
        help="Seed for generated customers and dates (default: 0). The same seed reproduces a run.",
    )
    group.addoption(
        "--assay-role",
        action="append",
        default=[],
        metavar="NAME",
        help="Use only this customer from `fixtures.roles`. Repeatable, in order of preference.",
    )
    group.addoption(
        "--assay-concurrency",
        type=int,
        metavar="N",
        help="Run N trials in parallel, as with `assay run --concurrency`. Not with -n.",
    )
    group.addoption(
        "--assay-journal",
        metavar="FILE",
        help="Write the journal of the run to FILE, for `assay report`.",
    )
    group.addoption(
        "--assay-schema",
        action="store_const",
        const=20,
        default=0,
        help="Also send the requests that Schemathesis generates from the exported OpenAPI"
        " document: its fixed cases and 20 random cases for each operation. Requires"
        " assay[schema].",
    )
    group.addoption(
        "--assay-lives",
        type=int,
        choices=range(4),
        default=0,
        help="Also let events come in orders in which every two (2) or three (3) come in every order;"
        " every rule judges them.",
    )
    group.addoption(
        "--assay-journeys",
        type=int,
        default=0,
        metavar="N",
        help="Also run N random sequences of calls for each contract; every rule judges each of them.",
    )
    group.addoption(
        "--assay-fields",
        type=int,
        default=0,
        metavar="N",
        help="Also send N requests with one mutated field, each next to a valid control request.",
    )
    group.addoption(
        "--assay-examples",
        metavar="DIR|URL",
        help="Where to keep sequences that found a violation: a folder, or a redis:// URL. They are tried first next time.",
    )
    group.addoption(
        "--assay-contexts",
        choices=["base", "each", "pairs"],
        help="Contexts in which each rule is tested. Default: $ASSAY_CONTEXTS, or else each if"
        " the fixture provider creates customers for every trial, otherwise base.",
    )
    group.addoption(
        "--assay-shard",
        metavar="N/OF",
        help="Run one part of the plan, for example 2/5. With --assay-journal, `assay report"
        " --merge` combines the parts into one report.",
    )
    group.addoption(
        "--assay-wait",
        metavar="SPAN",
        help="Verify time rules by waiting in real time, up to SPAN in total (45m, 26h, 1d12h).",
    )
    group.addoption(
        "--assay-allow-incomplete",
        action="store_true",
        help="Exit with 0 even if some `must` obligations could not be verified.",
    )

    # The names before options had a prefix, for one version.
    group.addoption("--contract", action="append", default=[], dest="assay_contract", help=SUPPRESS)
    group.addoption("--target", dest="assay_target", help=SUPPRESS)
    group.addoption(
        "--allow-incomplete", action="store_true", dest="assay_allow_incomplete", help=SUPPRESS
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugin proper if contracts, a target or the shipped suites are named."""
    if any("::" in arg for arg in config.args):
        config.args[:] = [_found(arg) for arg in config.args]
    named = config.getoption("--assay-contract") or config.getoption("--assay-target")
    if named or any(_is_ours(arg) for arg in config.args if "suites" in arg):
        import gc  # noqa: PLC0415 -- see the docstring

        from assay.cli.signals import collect_rarely  # noqa: PLC0415

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
