"""Distribution of obligations to the workers of pytest-xdist, each trial to one of them.

By default pytest-xdist gives each item to any worker. But a trial settles several obligations, and
the first item runs it: if they are with two workers, the trial and its contexts run twice.

Where trials affect one another (they share real customers) or spend one budget, one worker runs
all of them, as `assay run` runs them one after the other.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, cast

import pytest

from assay.binding.target import Target
from assay.execution.parallel_trials import most_lanes
from assay.planning.plan import Plan

#: How items are distributed where `-n` is given and `--dist` is not.
_DEFAULT: Final = "load"
#: The scope of all items where one worker runs them.
_ALL: Final = "one worker"


def serial_reason(config: pytest.Config, target: Target) -> str:
    """Return why one worker runs all items although there are several; empty otherwise."""
    workers = cast("int | None", getattr(config.option, "numprocesses", None)) or 1
    most, reason = most_lanes(target)
    return reason if most is not None and most < workers else ""


def trial_scheduler(config: pytest.Config, log: Any, plan: Plan, serial: str = "") -> Any:
    """Return a scheduler that keeps the items of a trial together; None if the user chose one.

    `serial` is the reason why all items must be with one worker, if there is one.

    Raises:
        pytest.UsageError: they must, and the user chose another distribution.

    """
    chosen = config.getoption("dist", default="")
    if serial and chosen != _DEFAULT:
        raise pytest.UsageError(f"--dist {chosen}: {serial}: do not use --dist, or do not use -n")
    if chosen != _DEFAULT:
        return None
    trials = {each.id: trial.id for trial in plan.trials for each in trial.settles}

    def scope(name: str) -> str:
        """Return what is not divided: the trial of an obligation, or another test."""
        if serial:
            return _ALL
        return trials.get(name.partition("[")[2].removesuffix("]"), name)

    module: Any = import_module("xdist.scheduler.loadscope")
    # The order of the items stays: obligations that every trial is judged by come last.
    config.option.loadscopereorder = False
    scheduler = module.LoadScopeScheduling(config, log)
    scheduler._split_scope = scope  # noqa: SLF001 -- the method that subclasses of xdist replace
    return scheduler
