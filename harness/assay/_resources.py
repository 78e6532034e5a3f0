"""Where the shipped contracts and suites lie, and where the user's state is kept.

In an installed wheel they stand inside the package; in a checkout beside
`harness/`. Nothing else in the package knows about either place.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def contract_dir() -> Path:
    """Return the folder of the shipped contracts, their schema and targets."""
    return _shipped("data", "contract")


def control_api() -> Path:
    """Return the OpenAPI document of the control API, which stands beside the contracts."""
    return contract_dir() / "control-api.yaml"


def shipped_contracts() -> list[Path]:
    """Return the files of the shipped contracts."""
    return sorted({*contract_dir().glob("*.yaml")} - {control_api()})


def suites_dir() -> Path:
    """Return the folder of the shipped pytest modules."""
    return _shipped("suites", "suites")


def _shipped(inside: str, beside: str) -> Path:
    packaged = _PACKAGE / inside
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / beside


def state_dir(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder of what is kept from run to run; None for a user without a home."""
    state = environ.get("XDG_STATE_HOME", "")
    if state.startswith("/"):
        return Path(state) / "assay"
    try:
        return Path.home() / ".local" / "state" / "assay"
    except RuntimeError:
        return None
