"""Data -> YAML, as a reader would write it: block style, keys in their order, no aliases.

The way back of `strict`, for what is read by other tools. What is written here reads as
JSON would write it: a text that looks like a number is quoted.
"""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["dump"]


class _Plain(yaml.SafeDumper):
    """A dumper that writes a value again wherever it stands."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump(data: dict[str, Any]) -> str:
    """Return JSON data as a YAML document."""
    text: str = yaml.dump(data, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100)
    return text
