"""Where the shipped contracts and suites lie.

In an installed wheel they stand inside the package; in a checkout beside
`harness/`. Nothing else in the package knows about either place.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def contract_dir() -> Path:
    """Return the folder of the shipped contracts, their schema and targets."""
    return _shipped("contract")


def suites_dir() -> Path:
    """Return the folder of the shipped pytest modules."""
    return _shipped("suites")


def _shipped(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parents[1] / name
