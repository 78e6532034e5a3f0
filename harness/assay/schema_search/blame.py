"""Whose clause it is that an answer breaks, where the judge of schemas alone sees it.

The document says of a schema which clauses put it there (`x-assay-from`). The innermost
one on the way to the keyword that does not hold is meant; without one, the remark is
general, and no clause is named for it: that a schema is broken is no proof that a
sentence is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

JSON = "application/json"


def clauses(
    document: Mapping[str, Any], path: str, method: str, status: int, at: Sequence[str]
) -> tuple[str, ...]:
    """Return the clauses that put a keyword into the schema of an answer, if any did."""
    responses: Mapping[str, Any] = document["paths"][path][method]["responses"]
    named = (str(status), f"{status // 100}XX", "default")
    response: Mapping[str, Any] = next((responses[one] for one in named if one in responses), {})
    here: Any = response.get("content", {}).get(JSON, {}).get("schema", {})
    found: tuple[str, ...] = ()
    for node in _way(document, here, at):
        found = tuple(cast("Sequence[str]", node.get("x-assay-from", ()))) or found
    return found


def _way(document: Mapping[str, Any], here: Any, at: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield every schema on the way, references followed."""
    for step in (*at, ""):
        while isinstance(here, dict) and "$ref" in here:
            yield here
            here = _referred(document, str(here["$ref"]))
        if isinstance(here, dict):
            yield here
            here = here if step == "$ref" else cast("dict[str, Any]", here).get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            return


def _referred(document: Mapping[str, Any], reference: str) -> Any:
    here: Any = document
    for step in reference.removeprefix("#/").split("/"):
        here = here.get(step.replace("~1", "/").replace("~0", "~"), {})
    return here
