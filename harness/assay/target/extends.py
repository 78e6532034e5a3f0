"""A target file laid over the one that it extends, and that over the next.

Mappings are laid over each other key by key, lists and everything else replace what
was there, and `null` takes an inherited key away. Every value keeps the file and line
where it stands. Whether the whole has the right shape is asked afterwards.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final, cast

from assay.errors import InputError, did_you_mean
from assay.files.document import Document, Spot
from assay.files.finding import found
from assay.files.load import load
from assay.model import Json
from assay.target.shipped import SUFFIXES, shipped, shipped_file

__all__ = ["extended"]

#: So many files may extend each other in a row.
_MOST: Final = 8


def extended(top: Document) -> Document:
    """Lay a file over the one that it extends, if any; errors name the `extends` at fault."""
    return _extended(top, ())


def _extended(top: Document, above: tuple[Path, ...]) -> Document:
    name = top.data.get("extends")
    if not isinstance(name, str) or not name:
        return top
    here = Path(top.path).resolve()
    base = _base(name, top)
    if base.resolve() in (*above, here):
        what = f"extends: {found(name)} extends this file in turn"
        raise _at_extends(top, what, "break the circle")
    if len(above) >= _MOST:
        raise _at_extends(top, f"extends: more than {_MOST} files in a row", "extend fewer")
    try:
        loaded = load(base)
    except InputError as error:
        first = error.problems[0]
        if first.line:  # the other file is there, and broken: its own line says more
            raise
        raise _at_extends(top, f"extends: {found(name)}: {first.what}", first.hint) from None
    return _laid(_extended(loaded, (*above, here)), top)


def _base(name: str, top: Document) -> Path:
    if name.endswith(SUFFIXES) or "/" in name:
        return Path(top.path).parent / name
    if name not in shipped():
        hint = did_you_mean(name, shipped())
        raise _at_extends(top, f"extends: there is no shipped target {found(name)}", hint)
    return shipped_file(name)


def _at_extends(top: Document, what: str, hint: str) -> InputError:
    return InputError.one(top.path, what, line=top.line(("extends",)), hint=hint)


def _laid(base: Document, top: Document) -> Document:
    data, spots = _merge((base.data, base.spots), (top.data, top.spots))
    both = hashlib.sha256(f"{top.digest} {base.digest}".encode()).hexdigest()
    return Document(
        data=cast("dict[str, Json]", data), path=top.path, digest=f"sha256:{both}", spots=spots
    )


def _merge(base: tuple[Any, Spot], top: tuple[Any, Spot]) -> tuple[Any, Spot]:
    below, above = base[0], top[0]
    if not isinstance(below, dict) or not isinstance(above, dict):
        return top
    data: dict[str, Any] = dict(cast("dict[str, Any]", below))
    spots: dict[str, Spot] = {key: _below(base[1], key) for key in data}
    for key, value in cast("dict[str, Any]", above).items():
        if value is None and key in data:
            del data[key], spots[key]
            continue
        pair = value, _below(top[1], key)
        data[key], spots[key] = _merge((data[key], spots[key]), pair) if key in data else pair
    return data, Spot(top[1].path, top[1].line, spots)


def _below(spot: Spot, key: str) -> Spot:
    return spot.at(key) or spot
