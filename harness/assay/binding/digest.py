"""Digest of a whole item, so that two answers can be compared in full.

Two items have the same digest if they hold the same JSON: the order of members and the
notation of numbers do not matter, and members that the target file calls volatile are left
out. The digest protects no secrets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from hashlib import blake2b
from typing import Any, cast

from assay.binding.pointer import steps
from assay.contract.model import Json

#: Longer numbers are told apart by how they are written.
MOST_DIGITS = 18


def digest(item: Json, volatile: Sequence[str] = ()) -> str:
    """Return 16 letters for an item; none for one that is nested too deep."""
    try:
        for pointer in volatile:
            item = _without(item, steps(pointer))
        text = _canonical(item)
    except RecursionError:
        return ""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _without(value: Any, way: Sequence[str]) -> Any:
    """Return a copy in which nothing stands at the end of the way."""
    if not way:
        return None
    step, *rest = way
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if step not in members:
            return members
        others = {name: one for name, one in members.items() if name != step}
        return {**others, step: _without(members[step], rest)} if rest else others
    if isinstance(value, list) and step.isdecimal():
        return [_without(one, rest) if n == int(step) else one for n, one in enumerate(value)]
    return value


def _number(number: Decimal) -> Json:
    """Write a number in one way only: 12 for 12.0, and apart from the text "12.5"."""
    text = str(number)
    if "." in text and "E" not in text:
        text = text.rstrip("0").rstrip(".")
    whole = text.lstrip("-").isdigit() and len(text) <= MOST_DIGITS
    return int(text) if whole else {"": text}


#: Built once: nearly all the cost of a digest would be in building it.
_canonical = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_number
).encode
