"""Options of the release gate: what a run must have tested, and the earlier run it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from assay.errors import InputError
from assay.judging.exit_policy import Baseline, ExitPolicy, Floor, read_floor
from assay.planning.plan import Shard

F = TypeVar("F", bound=Callable[..., Any])


def waivers(command: F) -> F:
    """Add `--waivers`."""
    return click.option(
        "--waivers",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="File with further waivers, in addition to those in the target file.",
    )(command)


def _read_floor(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else read_floor(value)


def gate(command: F) -> F:
    """Add `--min-verified` and `--baseline`."""
    command = click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        metavar="RUN",
        help="Fail only for obligations that are worse than in this earlier run (its folder,"
        " journal or report.json). Obligations that were not verified there need not be"
        " verified now.",
    )(command)
    return click.option(
        "--min-verified",
        callback=_read_floor,
        metavar="N|N%",
        help="Exit with 3 if fewer than this number, or this percentage, of the applicable"
        " obligations were verified.",
    )(command)


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
    from assay.report.comparison.read import read_run  # noqa: PLC0415 -- only with a baseline

    run = read_run(path)
    chosen = {key: text for key, text in selection.items() if text}
    return Baseline(name=run.label, verdicts=run.verdicts, whole=run.header.chosen == chosen)
