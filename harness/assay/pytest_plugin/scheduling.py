"""Distribution of obligations to the workers of pytest-xdist, each trial to one of them.

By default pytest-xdist gives each item to any worker. But a trial settles several obligations, and
the first item runs it: if they are with two workers, the trial and its contexts run twice.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import pytest

from assay.planning.plan import Plan

#: How items are distributed where `-n` is given and `--dist` is not.
_DEFAULT: Final = "load"


def trial_scheduler(config: pytest.Config, log: Any, plan: Plan) -> Any:
    """Return a scheduler that keeps the items of a trial together; None if the user chose one."""
    if config.getoption("dist", default="") != _DEFAULT:
        return None
    trials = {each.id: trial.id for trial in plan.trials for each in trial.settles}

    def scope(name: str) -> str:
        """Return what is not divided: the trial of an obligation, or another test."""
        return trials.get(name.partition("[")[2].removesuffix("]"), name)

    module: Any = import_module("xdist.scheduler.loadscope")
    # The order of the items stays: obligations that every trial is judged by come last.
    config.option.loadscopereorder = False
    scheduler = module.LoadScopeScheduling(config, log)
    scheduler._split_scope = scope  # noqa: SLF001 -- the method that subclasses of xdist replace
    return scheduler
