"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from assay.cli.publication import with_time
from assay.contexts.context import Depth
from assay.fixtures.waiting import span
from assay.planning.shards import read_shard

F = TypeVar("F", bound=Callable[..., Any])

#: The span of `--wait` without a value.
DEFAULT_WAIT = "1d"


class SectionedCommand(click.Command):
    """A command whose help lists its options in sections, by their parameter names."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        self.sections = sections
        super().__init__(*args, **kwargs)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section, and the options of no section last."""
        records = {
            str(parameter.name): record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
            and (record := parameter.get_help_record(ctx)) is not None
        }
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names])
        if records:
            with formatter.section("Options"):
                formatter.write_dl([*records.values()])


def contracts(command: F) -> F:
    """Add `--contract`."""
    return click.option(
        "-c",
        "--contract",
        "contracts",
        multiple=True,
        metavar="NAME|FILE",
        help="Contract to use: a shipped name (aisp, pis) or a file. Repeatable. Default: the"
        " contract files named in the target file, or else all shipped contracts.",
    )(command)


def target(command: F) -> F:
    """Add `--target`."""
    return click.option(
        "-t",
        "--target",
        metavar="FILE|URL|NAME",
        help="Target to use: a target file, the URL of a served sandbox, or a shipped name. "
        "Default: the embedded sandbox.",
    )(command)


def recorded_files(command: F) -> F:
    """Add `--contract` and `--target` of a run that was recorded."""
    command = click.option(
        "-t",
        "--target",
        metavar="FILE|URL|NAME",
        help="Target file of the run. Default: the recorded path, or else the shipped file.",
    )(command)
    return click.option(
        "-c",
        "--contract",
        "contracts",
        multiple=True,
        metavar="NAME|FILE",
        help="Contract of the run. Repeatable. Default: the recorded paths, or else the shipped contracts.",
    )(command)


def selection(command: F) -> F:
    """Add `-k` and `-m`."""
    command = click.option(
        "-m",
        "marks",
        default="",
        metavar="EXPR",
        help="Select obligations by marker (rule kind, contract, level), with pytest's -m syntax.",
    )(command)
    return click.option(
        "-k",
        "keywords",
        default="",
        metavar="EXPR",
        help="Select obligations by words in their id, with pytest's -k syntax.",
    )(command)


def out(command: F) -> F:
    """Add `--out`, the folder of journal and reports."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        callback=with_time,
        help="Folder for the journal and the reports. {started} in the path is replaced by the"
        " start time, and a link named `latest` beside the folder points to the newest run."
        " Default: a new folder in reports/local.",
    )(command)


def out_file(command: F) -> F:
    """Add `--out`, the file to write."""
    return click.option(
        "-o",
        "--out",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write to this file instead of standard output.",
    )(command)


def allow_incomplete(command: F) -> F:
    """Add `--allow-incomplete`."""
    return click.option(
        "--allow-incomplete",
        is_flag=True,
        help="Exit with 0 even if some `must` obligations could not be verified, provided that at"
        " least one obligation was.",
    )(command)


def quiet(command: F) -> F:
    """Add `--quiet`."""
    return click.option("-q", "--quiet", is_flag=True, help="Print only the closing line.")(command)


def _read_depth(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else Depth(value)


def contexts(command: F) -> F:
    """Add `--contexts`."""
    return click.option(
        "--contexts",
        type=click.Choice([depth.value for depth in Depth]),
        callback=_read_depth,
        envvar="ASSAY_CONTEXTS",
        help="Contexts (payment type, segment, host, weekday, ...) in which each rule is tested:"
        " the base context only, each value once, or each pair of values. Default: each if"
        " the fixture provider creates customers for every trial, otherwise base.",
    )(command)


def _read_span(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else span(value)


def _read_shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else read_shard(value)


def shard(command: F) -> F:
    """Add `--shard`."""
    return click.option(
        "--shard",
        callback=_read_shard,
        metavar="N/OF",
        help="Run one part of the plan, for example 2/5 (the second of five). `assay report"
        " --merge` combines the parts into one report.",
    )(command)


def wait(command: F) -> F:
    """Add `--wait`."""
    return click.option(
        "--wait",
        is_flag=False,
        flag_value=DEFAULT_WAIT,
        callback=_read_span,
        metavar="[SPAN]",
        help="Verify time rules by waiting in real time if the target's clock cannot be moved."
        " The shortest waits come first, up to SPAN in total (45m, 26h, 1d12h). SPAN"
        f" defaults to {DEFAULT_WAIT}.",
    )(command)


def concurrency(command: F) -> F:
    """Add `--concurrency`."""
    return click.option(
        "--concurrency",
        type=click.IntRange(1, 256),
        metavar="N",
        help="Run N trials in parallel, at most `safety.concurrency`. Default: 8 if every trial"
        " has its own fixtures and the target is reached over a network, otherwise 1.",
    )(command)


def roles(command: F) -> F:
    """Add `--role`."""
    return click.option(
        "--role",
        "roles",
        multiple=True,
        metavar="NAME",
        help="Use only this customer from `fixtures.roles`. Repeatable, in order of preference."
        " Default: for each trial, the suitable customer used least today.",
    )(command)


def ledger(command: F) -> F:
    """Add `--ledger`."""
    return click.option(
        "--ledger",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="File that records the call quota used today for each real customer; shared by all"
        " runs. Default: $ASSAY_LEDGER, or else a file in your state directory.",
    )(command)


def seed(command: F) -> F:
    """Add `--seed`."""
    return click.option(
        "--seed",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="Seed for generated customers and dates. The same seed reproduces a run.",
    )(command)


def dry_run(command: F) -> F:
    """Add `--dry-run`."""
    return click.option(
        "--dry-run", is_flag=True, help="Print the cost of the run without sending anything."
    )(command)
