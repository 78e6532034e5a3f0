"""Contracts that a target file names: by the id of a contract, or by the path of its file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from assay.contract.files.document import Document, found
from assay.contract.files.load import load_named
from assay.errors import InputError, Problem

#: The key of the list.
KEY: Final = "contracts"
#: How the name of a contract file ends.
_SUFFIXES: Final = (".yaml", ".yml")


def is_file(name: str) -> bool:
    """Whether a name is the path of a file, and not the id of a contract."""
    return "/" in name or name.endswith(_SUFFIXES)


def named_contracts(document: Document) -> Mapping[str, str]:
    """Return the contracts of a target file by their ids: the path of each, or "" for an id alone.

    A path is relative to the file where it stands.

    Raises:
        InputError: a file cannot be read, or is no contract.

    """
    contracts: dict[str, str] = {}
    problems: list[Problem] = []
    for index, name in enumerate(cast("list[str]", document.data.get(KEY, ()))):
        if not is_file(name):
            contracts.setdefault(name, "")
            continue
        stands, line = document.place((KEY, index))
        path = str(Path(stands).parent / name)
        try:
            contract = load_named(path).data.get("contract")
            what = "this is not a contract file (it has no key `contract`)"
        except InputError as error:
            if Path(path).is_file():
                problems += error.problems  # of the contract file, at its own lines
                continue
            contract, what = None, error.problems[0].what
        if isinstance(contract, str):
            contracts[contract] = path
        else:
            hint = "write the id of a shipped contract, or the path of a contract file"
            what = f"{KEY}.{index}: {found(name)}: {what}"
            problems.append(Problem(path=stands, line=line, what=what, hint=hint, key=KEY))
    if problems:
        raise InputError(problems)
    return contracts
