"""Clauses that the exported document names for a keyword of its schemas.

The document says of a schema which clauses put it there (`x-assay-from`). The innermost one on
the way to the failed keyword counts; there may be none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from assay.binding.pointer import find

#: The media type whose schema is validated.
JSON = "application/json"


def clauses(
    document: Mapping[str, Any], path: str, method: str, status: int, at: Sequence[str]
) -> tuple[str, ...]:
    """Return the clauses that put a keyword into the schema of an answer."""
    responses: Mapping[str, Any] = document["paths"][path][method]["responses"]
    keys = (str(status), f"{status // 100}XX", "default")
    response: Mapping[str, Any] = next((responses[key] for key in keys if key in responses), {})
    schema: Any = response.get("content", {}).get(JSON, {}).get("schema", {})
    innermost: tuple[str, ...] = ()
    for node in _path_nodes(document, schema, at):
        innermost = tuple(cast("Sequence[str]", node.get("x-assay-from", ()))) or innermost
    return innermost


def _path_nodes(
    document: Mapping[str, Any], here: Any, at: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield every schema on the path to a keyword, references resolved."""
    for step in (*at, ""):
        while isinstance(here, dict) and "$ref" in here:
            yield here
            here = find(document, str(here["$ref"]).removeprefix("#"))
        if isinstance(here, dict):
            yield here
            here = here if step == "$ref" else cast("dict[str, Any]", here).get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            return
