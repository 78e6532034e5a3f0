"""Where a consent lists what it covers, and in which shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from assay.contract.model import Json
from assay.init.matched_operation import MatchedOperation
from assay.init.name_matching import beside
from assay.init.openapi_schemas import EACH, SchemaLeaf, words
from assay.init.yaml_writer import YamlEntry

__all__ = ["granted", "granted_again"]


def granted(shape: MatchedOperation, name: str) -> YamlEntry:
    """Return where a consent lists what it covers, possibly in several lists."""
    arrays = [
        leaf for leaf in shape.offered.request if leaf.kind == "array" and EACH not in leaf.steps
    ]
    operations = shape.contract.operations.values()
    available = [operation.id for operation in operations if operation.available]
    known = {word for known in (name, *available) for word in words(known)}
    inside = [leaf for leaf in arrays if [words(name)] == [*map(words, leaf.steps[-2:-1])]]
    lists = [leaf for leaf in inside if _item_shape(shape, leaf)]
    lists = lists or [leaf for leaf in arrays if set(leaf.words) & known]
    lists = lists or [leaf for leaf in arrays if _item_shape(shape, leaf)][:1]
    if not lists:
        what = "the pointer to the list of what a consent covers"
        return shape.gap("argument", name, what=what, example=f"{{body: /{name}}}")
    pointers = [leaf.pointer for leaf in lists if len(leaf.steps) == len(lists[0].steps)]
    spelling: dict[str, Json] = {"body": pointers[0] if len(pointers) == 1 else [*pointers]}
    several = "the list" if len(pointers) == 1 else f"the {len(pointers)} lists"
    why = f"{several} in the body of {shape.offered}"
    item = _item_shape(shape, lists[0])
    if item:
        spelling["each"] = item
        resources = item.get("by")
        keys = resources if isinstance(resources, dict) else item
        why += f" with {' and '.join(keys)} in each"
    elif pointers == [f"/{name}"]:
        why = ""
    return YamlEntry(key=name, value=spelling, why=why)


def granted_again(shape: MatchedOperation, mode: str) -> YamlEntry | None:
    """Return the list of the name of a mode that names once more what a consent covers, if any."""
    name = shape.operation.grants
    known = granted(shape, name).value if name else None
    places = known.get("body", ()) if isinstance(known, dict) else ()
    taken = (places,) if isinstance(places, str) else cast("Sequence[str]", places)
    first = next((leaf for leaf in shape.offered.request if leaf.pointer in taken), None)
    if name is None or first is None:
        return None
    for leaf in shape.offered.request:
        alike = leaf.kind == "array" and _item_shape(shape, leaf) == _item_shape(shape, first)
        if alike and leaf.pointer not in taken and set(leaf.words) <= {*words(mode)}:
            why = f"{leaf.name} lists what {taken[0]} lists"
            return YamlEntry(
                key=mode, value={"body": leaf.pointer, "value": f"{{{name}}}"}, why=why
            )
    return None


def _item_shape(shape: MatchedOperation, array: SchemaLeaf) -> dict[str, Json]:
    """Return the shape of one item in a list; empty if an item is only a key."""
    inside = (leaf.below((*array.steps, EACH)) for leaf in shape.offered.request)
    members = [leaf for leaf in inside if leaf and leaf.kind in {"string", ""}]
    members = [leaf for leaf in members if EACH not in leaf.steps]
    resources = shape.contract.resources.values()
    keys = {resource.key for resource in resources if resource.key}
    first = next((leaf for leaf in members if leaf.steps[-1] in keys), None)
    if first is None:
        return {}
    neighbour = next((leaf for leaf in members if leaf.words == ("pan",)), beside(first, members))
    operations = shape.contract.operations.values()
    listed = {name for operation in operations for name in operation.lists}
    kinds = [each.id for each in resources if each.key and not each.of and each.id in listed]
    if neighbour is None or len(kinds) == 1:
        return _nested(first.steps)
    rest: dict[str, Json] = dict.fromkeys(kinds[1:], _nested(neighbour.steps))
    return {"by": {kinds[0]: _nested(first.steps), **rest}}


def _nested(steps: tuple[str, ...]) -> dict[str, Json]:
    """Return an object with the key at the end of some steps."""
    first, *rest = steps
    return {first: _nested(tuple(rest)) if rest else "{}"}
