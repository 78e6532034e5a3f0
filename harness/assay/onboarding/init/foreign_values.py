"""Values of a foreign document, in which references within the document can be followed."""

from __future__ import annotations

from typing import Any, Final, cast

__all__ = ["MOST_OPERATIONS", "MOST_PARAMETERS", "ForeignDocument", "mapping", "sequence", "text"]

#: How many references may lead from one to the next.
MAX_HOPS: Final = 16
#: How many operations are read, and how many parameters and responses of each.
MOST_OPERATIONS: Final = 10_000
MOST_PARAMETERS: Final = 200


class ForeignDocument:
    """A document whose internal references can be followed; no other file is read."""

    def __init__(self, root: dict[str, Any], path: str) -> None:
        self.root = root
        self.path = path

    def at(self, node: object) -> dict[str, Any]:
        """Return a mapping, or the one that it refers to; an empty one for anything else."""
        for _ in range(MAX_HOPS):
            resolved = mapping(node)
            where = resolved.get("$ref")
            if not isinstance(where, str):
                return resolved
            node = self._target(where)
        return {}

    def _target(self, where: str) -> object:
        if not where.startswith("#/"):
            return None
        node: object = self.root
        for step in where[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            node = mapping(node).get(name)
        return node


def mapping(node: object) -> dict[str, Any]:
    """Return a mapping as it is, and an empty one for anything else."""
    return cast("dict[str, Any]", node) if isinstance(node, dict) else {}


def sequence(node: object) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return node if isinstance(node, list) else []


def text(node: object) -> str:
    """Return a text as it is, and an empty one for anything else."""
    return node if isinstance(node, str) else ""
