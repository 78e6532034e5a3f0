"""The option `--assay-shard`: the part of the plan that pytest runs."""

from __future__ import annotations

from typing import cast

import pytest

from assay.planning.plan import Shard
from assay.planning.shards import check_divisible, read_shard

#: The options whose work is not divided.
UNDIVIDED = ("--assay-wait", "--assay-journeys", "--assay-fields", "--assay-schema")


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
