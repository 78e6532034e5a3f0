"""How an answer shows one request: where it is, what addresses it, where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.init.bodies import called
from assay.init.items import fields, identifier, pointer
from assay.init.lines import Entry, gap
from assay.init.shape import EACH, Leaf
from assay.init.shaped import Shape
from assay.init.turning import LINKS, all_links, links
from assay.model import Json

__all__ = ["shown"]

#: Words for where a request stands, in small letters.
_STATES = {
    "open": "rcvd pdng actc accp acsp acwc acwp patc part received pending open initiated",
    "done": "acsc accc executed done completed settled",
    "rejected": "rjct rejected failed",
    "ended": "canc cancelled canceled refused expired revoked",
}


def shown(shape: Shape) -> Iterator[Entry]:
    """Yield where the one thing is that an answer shows, and what it says."""
    top = [one for one in shape.offered.answer if len(one.steps) == 1]
    whole = [one for one in top if one.kind == "object" and not one.path & LINKS]
    if not top:
        yield gap("one", "where the one thing is that an answer shows", "/paymentRequest")
        return
    # A body that holds one object and links shows that object.
    where = (
        whole[0]
        if len(whole) == 1 and len([one for one in top if one.kind != "object"]) == 0
        else None
    )
    steps = where.steps if where else ()
    yield Entry(
        key="one",
        value=where.pointer if where else "",
        why=f"the only object in the answer of {shape.offered}" if where else "",
    )
    if shape.operation.makes:
        wanted = {"approval", "consent", "sca", "redirect", "confirm"}
        near = [one for one in all_links(shape) if one.path & wanted]
        yield (
            Entry(key="approval", value=near[0].pointer, why=f"{near[0].pointer} is called so")
            if near
            else gap(
                "approval", "where the link is under which the customer signs", "/links/approval"
            )
        )
    yield from links(shape)
    inside = [one.below(steps) for one in shape.offered.answer]
    item = [
        one
        for one in inside
        if one and one.kind not in {"object", "array"} and EACH not in one.steps
    ]
    yield Entry(key="item", below=tuple(_shown(shape, item)))


def _shown(shape: Shape, item: Sequence[Leaf]) -> Iterator[Entry]:
    resource = shape.contract.resources[shape.operation.request or ""]
    key = resource.key or "id"
    exact = next((one for one in item if one.steps == (key,)), None)
    leaf = exact or identifier(item, [resource.id, "request"])
    if leaf:
        yield pointer("key", leaf, key)
    elif "location" in {one.lower() for one in shape.offered.headers}:
        yield Entry(key="key", value={"header": "Location"}, why="the answer has a header Location")
    else:
        yield gap("key", "what a request is addressed by", f"/{key}")
    yield _state(item)
    if shape.operation.shows:
        known = {key: leaf} if leaf else {}
        yield Entry(
            key="fields",
            below=tuple(
                fields(
                    resource.fields,
                    item,
                    lambda name: known.get(name) or called(name, item),
                    many=False,
                )
            ),
        )


def _state(item: Sequence[Leaf]) -> Entry:
    for one in item:
        if "status" not in one.words or not one.values:
            continue
        told = {
            state: [each for each in one.values if each.lower() in known.split()]
            for state, known in _STATES.items()
        }
        values: dict[str, Json] = {state: each for state, each in told.items() if each}
        if values:
            value: dict[str, Json] = {"at": one.pointer, "values": values}
            return Entry(key="state", value=value, why=f"by the words of {one.name}")
    return gap(
        "state", "how a request says where it stands", "{at: /status, values: {done: [ACSC]}}"
    )
