"""Where the shipped contracts and suites lie.

In an installed wheel they stand inside the package; in a checkout beside
`harness/`. Nothing else in the package knows about either place.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def contract_dir() -> Path:
    """Return the folder of the shipped contracts, their schema and targets."""
    return _shipped("data", "contract")


def suites_dir() -> Path:
    """Return the folder of the shipped pytest modules."""
    return _shipped("suites", "suites")


def _shipped(inside: str, beside: str) -> Path:
    packaged = _PACKAGE / inside
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / beside
