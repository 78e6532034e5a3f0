"""Options that several commands share, and what a release gate makes of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from assay.cli.publication import with_time
from assay.contexts.context import Depth
from assay.errors import InputError
from assay.fixtures.waiting import span
from assay.judging.exit_policy import Baseline, ExitPolicy, Floor, read_floor
from assay.planning.plan import Shard
from assay.planning.shards import read_shard

F = TypeVar("F", bound=Callable[..., Any])

#: The span of `--wait` without a value.
DEFAULT_WAIT = "1d"
#: A path of a file that may be written, or need not exist.
FILE = click.Path(path_type=Path, dir_okay=False)


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


def read_by(read: Callable[[str], object]) -> Callable[..., Any]:
    """Return the callback of an option whose text, if it is given, is read by a function."""

    def callback(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
        return None if value is None else read(value)

    return callback


def several(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return the decorator that adds several options in this order."""
    return lambda command: reduce(lambda with_, option: option(with_), reversed(options), command)


contracts = click.option(
    "-c",
    "--contract",
    "contracts",
    multiple=True,
    metavar="NAME|FILE",
    help="Contract to use: a shipped name (aisp, pis) or a file. Repeatable. Default: the"
    " contract files named in the target file, or else all shipped contracts.",
)
target = click.option(
    "-t",
    "--target",
    metavar="FILE|URL|NAME",
    help="Target to use: a target file, the URL of a served sandbox, or a shipped name. "
    "Default: the embedded sandbox.",
)
#: Contracts and target of a run that was recorded.
recorded_files = several(
    click.option(
        "-c",
        "--contract",
        "contracts",
        multiple=True,
        metavar="NAME|FILE",
        help="Contract of the run. Repeatable. Default: the recorded paths, or else the shipped contracts.",
    ),
    click.option(
        "-t",
        "--target",
        metavar="FILE|URL|NAME",
        help="Target file of the run. Default: the recorded path, or else the shipped file.",
    ),
)
selection = several(
    click.option(
        "-k",
        "keywords",
        default="",
        metavar="EXPR",
        help="Select obligations by words in their id, with pytest's -k syntax.",
    ),
    click.option(
        "-m",
        "marks",
        default="",
        metavar="EXPR",
        help="Select obligations by marker (rule kind, contract, level), with pytest's -m syntax.",
    ),
)
#: The folder of journal and reports.
out = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    callback=with_time,
    help="Folder for the journal and the reports. {started} in the path is replaced by the"
    " start time, and a link named `latest` beside the folder points to the newest run."
    " Default: a new folder in reports/local.",
)
#: The file to write.
out_file = click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FILE",
    help="Write to this file instead of standard output.",
)
allow_incomplete = click.option(
    "--allow-incomplete",
    is_flag=True,
    help="Exit with 0 even if some `must` obligations could not be verified, provided that at"
    " least one obligation was.",
)
quiet = click.option("-q", "--quiet", is_flag=True, help="Print only the closing line.")
contexts = click.option(
    "--contexts",
    type=click.Choice([depth.value for depth in Depth]),
    callback=read_by(Depth),
    envvar="ASSAY_CONTEXTS",
    help="Contexts (payment type, segment, host, weekday, ...) in which each rule is tested:"
    " the base context only, each value once, or each pair of values. Default: each if"
    " the fixture provider creates customers for every trial, otherwise base.",
)
shard = click.option(
    "--shard",
    callback=read_by(read_shard),
    metavar="N/OF",
    help="Run one part of the plan, for example 2/5 (the second of five). `assay report"
    " --merge` combines the parts into one report.",
)
wait = click.option(
    "--wait",
    is_flag=False,
    flag_value=DEFAULT_WAIT,
    callback=read_by(span),
    metavar="[SPAN]",
    help="Verify time rules by waiting in real time if the target's clock cannot be moved."
    " The shortest waits come first, up to SPAN in total (45m, 26h, 1d12h). SPAN"
    f" defaults to {DEFAULT_WAIT}.",
)
concurrency = click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Run N trials in parallel, at most `safety.concurrency`. Default: 8 if every trial"
    " has its own fixtures and the target is reached over a network, otherwise 1.",
)
roles = click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="NAME",
    help="Use only this customer from `fixtures.roles`. Repeatable, in order of preference."
    " Default: for each trial, the suitable customer used least today.",
)
ledger = click.option(
    "--ledger",
    type=FILE,
    metavar="FILE",
    help="File that records the call quota used today for each real customer; shared by all"
    " runs. Default: $ASSAY_LEDGER, or else a file in your state directory.",
)
seed = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed for generated customers and dates. The same seed reproduces a run.",
)
dry_run = click.option(
    "--dry-run", is_flag=True, help="Print the cost of the run without sending anything."
)
no_doctor = click.option(
    "--no-doctor", is_flag=True, help="Skip the check of the target file before the run."
)
waivers = click.option(
    "--waivers",
    type=FILE,
    metavar="FILE",
    help="File with further waivers, in addition to those in the target file.",
)


def document_format(names: Collection[str], what: str) -> Callable[[F], F]:
    """Return the option `--format` of a command that prints one document."""
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice([*names]),
        default=next(iter(names)),
        show_default=True,
        help=f"Format of the {what}.",
    )


# -- the release gate: what a run must have tested, and the run it is compared with ------
gate = several(
    click.option(
        "--min-verified",
        callback=read_by(read_floor),
        metavar="N|N%",
        help="Exit with 3 if fewer than this number, or this percentage, of the applicable"
        " obligations were verified.",
    ),
    click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        metavar="RUN",
        help="Fail only for obligations that are worse than in this earlier run (its folder,"
        " journal or report.json). Obligations that were not verified there need not be"
        " verified now.",
    ),
)


def exit_policy(
    *,
    allow_incomplete: bool,
    min_verified: Floor | None,
    baseline: Path | None,
    selection: Mapping[str, str],
    shard: Shard | None = None,
) -> ExitPolicy:
    """Return what a run must show, given the options.

    Raises:
        InputError: the baseline cannot be read, or the run is only a part of one.
        JournalError: the journal of the baseline is damaged or unfinished.

    """
    if shard is not None and (min_verified or baseline):
        option = "--baseline" if baseline else "--min-verified"
        hint = f"pass {option} to `assay report --merge`"
        raise InputError.one(option, "cannot be combined with --shard", hint=hint)
    return ExitPolicy(
        allow_incomplete=allow_incomplete,
        min_verified=min_verified,
        baseline=read_baseline(baseline, selection) if baseline else None,
    )


def read_baseline(path: Path, selection: Mapping[str, str]) -> Baseline:
    """Read the verdicts of an earlier run.

    Raises:
        InputError: it cannot be read, or was not made by a run.
        JournalError: its journal is damaged or unfinished.

    """
    from assay.report.comparison import read_run  # noqa: PLC0415 -- only with a baseline

    run = read_run(path)
    chosen = {key: text for key, text in selection.items() if text}
    return Baseline(name=run.label, verdicts=run.verdicts, whole=run.header.chosen == chosen)
