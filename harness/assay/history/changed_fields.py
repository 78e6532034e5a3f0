"""Fields of events and steps that differ from their defaults: journals and sequences have only these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any


@cache
def field_defaults(kind: Any) -> Mapping[str, object]:
    """Return the fields of a dataclass, each with its default, or `MISSING` if it is required."""
    return {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in fields(kind)
    }


def changed_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a dataclass instance that are not at their defaults, in order."""
    kind: Any = type(value)
    for name, default in field_defaults(kind).items():
        content = getattr(value, name)
        if content != default:
            yield name, content
