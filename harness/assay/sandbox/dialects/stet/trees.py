"""Taking nested JSON apart and putting it together, with nothing that can fail.

Bodies are hostile. A thing that stands where a container should be is told apart from
one that is not there, since the bank refuses the first as a wrong type and the second
as missing. Not JSON pointers: ways are written by hand, and short.
"""

from typing import Final, TypeAlias, cast

from assay.sandbox.payments.reading import ABSENT

__all__ = ["UNFIT", "Content", "Way", "find", "listed", "members", "placed"]

#: A JSON object.
Content: TypeAlias = dict[str, object]
#: Names of members, and positions in lists.
Way: TypeAlias = tuple[str | int, ...]

#: Stands for what is there and is of a wrong type: no text, and not empty either.
UNFIT: Final = True


def members(value: object) -> Content:
    """Take a value for an object; anything else has no members."""
    return cast("Content", value) if isinstance(value, dict) else {}


def listed(value: object) -> list[object]:
    """Take a value for a list; anything else has no items."""
    return cast("list[object]", value) if isinstance(value, list) else []


def find(content: object, way: Way) -> object:
    """Find what stands at the end of a way: `ABSENT`, or `UNFIT` where the way is barred.

    A null on the way is a null at its end.
    """
    here = content
    for step in way:
        if here is None or here is ABSENT:
            return here
        if isinstance(step, int):
            items = listed(here)
            barred = not isinstance(here, list)
            here = items[step] if step < len(items) else ABSENT
        else:
            barred = not isinstance(here, dict)
            here = members(here).get(step, ABSENT)
        if barred:
            return UNFIT
    return here


def placed(node: object, way: Way, value: object) -> object:
    """Copy a tree with a value put at the end of a way, which is made where there is none.

    The value `ABSENT` takes away what stands there, and makes no way.
    """
    if not way:
        return value
    if node is ABSENT and value is ABSENT:
        return ABSENT
    step, rest = way[0], way[1:]
    if isinstance(step, int):
        items = listed(node)
        item = placed(items[step] if step < len(items) else ABSENT, rest, value)
        return items if item is ABSENT else [*items[:step], item, *items[step + 1 :]]
    known = members(node)
    member = placed(known.get(step, ABSENT), rest, value)
    if member is ABSENT:
        return {name: other for name, other in known.items() if name != step}
    return {**known, step: member}
