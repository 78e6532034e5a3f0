"""The target files that Assay brings along, by name.

A name that is given may be one of them or a path; what is in the file is not read here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from assay._resources import contract_dir
from assay.errors import InputError, did_you_mean

__all__ = ["SUFFIXES", "find_target", "shipped", "shipped_file"]

#: How the name of a target file ends.
SUFFIXES: Final = (".yaml", ".yml")


def find_target(name_or_path: str | Path) -> Path:
    """Return the file of a shipped target (`sandbox`), or the path as it was given."""
    given = str(name_or_path)
    path = Path(given)
    if path.suffix in SUFFIXES or os.sep in given or path.exists():
        return path
    if given in shipped():
        return shipped_file(given)
    hint = did_you_mean(given, shipped())
    raise InputError.one(given or "''", "there is no such target", hint=hint)


def shipped() -> list[str]:
    """Return the names of the shipped targets."""
    return sorted(one.stem for one in _folder().glob("*.yaml"))


def shipped_file(name: str) -> Path:
    """Return the file of a shipped target."""
    return _folder() / f"{name}.yaml"


def _folder() -> Path:
    return contract_dir() / "targets"
