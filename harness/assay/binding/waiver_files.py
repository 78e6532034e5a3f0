"""Files of waivers: read, checked, and laid into the target file that names them.

`waivers` of a target file is a list, or the path of such a file, relative to the file that names
it. A run can name one more (`--waivers`). Each waiver keeps the file and line where it stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from assay.binding.checks import waiver_findings
from assay.contract.files.document import Document, Spot, found, problem
from assay.contract.files.load import load_named
from assay.contract.files.shape_check import check
from assay.errors import InputError

#: The key of the list, in a target file and in a file of waivers.
WAIVERS = "waivers"


def with_waivers(target: Document, extra: Path | None = None) -> Document:
    """Return a target file with the waivers of the file that it names, and of an `extra` one.

    Raises:
        InputError: a file cannot be read, or has problems.

    """
    named = target.data.get(WAIVERS)
    if isinstance(named, str):
        target = _with(target, _named(target, named), [], ())
    if extra is None:
        return target
    listed = target.data.get(WAIVERS, [])
    if not isinstance(listed, list):
        return target  # the check of the target file reports it
    own = target.spots.at(WAIVERS)
    return _with(target, read_waivers(extra), listed, own.below if own else ())


def read_waivers(path: str | Path) -> Document:
    """Read and check a file of waivers.

    Raises:
        InputError: it cannot be read, or has problems.

    """
    document = load_named(path)
    problems = check(document, WAIVERS)
    if not problems:
        waivers = cast("list[Mapping[str, Any]]", document.data[WAIVERS])
        problems = [problem(document, *each) for each in waiver_findings(waivers)]
    if problems:
        raise InputError(problems)
    return document


def _named(target: Document, name: str) -> Document:
    """Read the file that a target file names."""
    stands, line = target.place((WAIVERS,))
    try:
        return read_waivers(Path(stands).parent / name)
    except InputError as error:
        first = error.problems[0]
        if first.line:  # the file exists and has a problem: its own line says more
            raise
        what = f"{WAIVERS}: {found(name)}: {first.what}"
        hint = "write a list of waivers, or the path of a file of waivers"
        raise InputError.one(stands, what, line=line, hint=hint) from None


def _with(
    target: Document, file: Document, before: object, places: Sequence[Spot] | Mapping[str, Spot]
) -> Document:
    """Return a target file with the waivers of a file, after those that it has already."""
    listed = [*cast("list[object]", before or []), *cast("list[object]", file.data[WAIVERS])]
    of_file = file.spots.at(WAIVERS) or file.spots
    below = [*cast("Sequence[Spot]", places), *cast("Sequence[Spot]", of_file.below)]
    spots = dict(cast("Mapping[str, Spot]", target.spots.below))
    spots[WAIVERS] = Spot(of_file.path, of_file.line, below)
    both = hashlib.sha256(f"{target.digest} {file.digest}".encode()).hexdigest()
    return Document(
        data={**target.data, WAIVERS: listed},
        path=target.path,
        digest=f"sha256:{both}",
        spots=Spot(target.spots.path, target.spots.line, spots),
    )
