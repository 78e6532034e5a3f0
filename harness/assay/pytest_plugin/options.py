"""Options of a pytest run that mean what those of `assay run` mean."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from assay.contexts.covering import Depth
from assay.errors import InputError
from assay.execution.parallel_trials import most_lanes
from assay.fixtures.waiting import span
from assay.planning.plan import Shard
from assay.planning.prepare import Prepared, prepare
from assay.planning.shards import check_divisible, read_shard

#: The options whose work is not divided.
UNDIVIDED = ("--assay-wait", "--assay-journeys", "--assay-fields", "--assay-schema")


def prepared_of(config: pytest.Config) -> Prepared:
    """Return the plan that the options ask for.

    Raises:
        InputError: a file or an option cannot be used.

    """
    try:
        return prepare(
            cast("list[str]", config.getoption("--contract")),
            cast("str | None", config.getoption("--target")),
            wait=wait_of(config),
            contexts=depth_of(config),
            shard=shard_of(config),
            roles=cast("list[str]", config.getoption("--assay-role")),
        )
    except InputError as error:
        names = {"--role": "--assay-role"}
        problems = (replace(each, path=names.get(each.path, each.path)) for each in error.problems)
        raise InputError(tuple(problems)) from None


def shard_of(config: pytest.Config) -> Shard | None:
    """Return the part of the plan to run; None for the whole.

    Raises:
        InputError: it is no shard, or an option is given that cannot be divided.

    """
    text = cast("str | None", config.getoption("assay_shard", default=None))
    if text is None:
        return None
    check_divisible({name: config.getoption(name, default=None) for name in UNDIVIDED})
    return read_shard(text, "--assay-shard")


def check_relayed(config: pytest.Config, prepared: Prepared) -> None:
    """Check that the trials of several workers can be written to one journal.

    Raises:
        pytest.UsageError: their order matters, or there are searches.

    """
    most, reason = most_lanes(prepared.target)
    if any(config.getoption(f"assay_{how}") for how in ("journeys", "fields", "schema")):
        reason = "searches are recorded in one process"
    elif most is None or most > 1:
        return
    raise pytest.UsageError(f"--assay-journal: {reason}: do not use -n")


def wait_of(config: pytest.Config) -> timedelta | None:
    """Return the total time that the run may wait where no clock can be moved."""
    text = cast("str | None", config.getoption("assay_wait", default=None))
    return None if text is None else span(text, "--assay-wait")


def depth_of(config: pytest.Config) -> Depth | None:
    """Return in which contexts rules are tested; None for the default of the target."""
    text = cast("str | None", config.getoption("assay_contexts", default=None))
    text = text or os.environ.get("ASSAY_CONTEXTS")
    return Depth(text) if text else None
