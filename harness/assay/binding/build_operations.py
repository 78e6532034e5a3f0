"""Builder of operation bindings and outcomes from valid data of a target file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from assay.binding.spelling import (
    CredentialSpelling,
    FieldAt,
    ItemBinding,
    Matcher,
    NextPage,
    OperationBinding,
    Outcomes,
    Place,
    ResourceAt,
    Spelling,
    StateAt,
    Turn,
)
from assay.history import State

__all__ = ["operation", "outcomes"]

_Raw: TypeAlias = Mapping[str, Any]


def operation(raw: _Raw, line: int, common: _Raw) -> OperationBinding:
    """Return the binding of the operation at a line; `common` are the outcomes of all."""
    aliases = raw.get("aliases")
    return OperationBinding(
        method=raw.get("method"),
        path=raw.get("path"),
        aliases=None if aliases is None else tuple(aliases),
        headers=raw.get("headers", {}),
        queries=raw.get("queries", {}),
        template=raw.get("template", {}),
        arguments={name: _spelling(one) for name, one in raw.get("arguments", {}).items()},
        modes={name: _spelling(one) for name, one in raw.get("modes", {}).items()},
        credentials=CredentialSpelling(**raw["credentials"]) if "credentials" in raw else None,
        list=_pointers(raw.get("list")),
        one=raw.get("one"),
        approval=raw.get("approval"),
        next=_next(raw["next"]) if "next" in raw else None,
        links=tuple(raw.get("links", ())),
        values=raw.get("values", {}),
        item=_item(raw.get("item", {})),
        outcomes=outcomes({**common, **raw["outcomes"]}) if "outcomes" in raw else None,
        line=line,
    )


def outcomes(raw: _Raw) -> Outcomes:
    """Return the matchers by outcome."""
    return Outcomes(
        **{name: tuple(_matcher(one) for one in matchers) for name, matchers in raw.items()}
    )


def _pointers(raw: str | list[str] | None) -> tuple[str, ...]:
    if raw is None:
        return ()
    return (raw,) if isinstance(raw, str) else tuple(raw)


def _item(raw: _Raw) -> ItemBinding:
    key = raw.get("key")
    named = cast("_Raw", key if isinstance(key, dict) else {})
    return ItemBinding(
        key=() if named else _pointers(cast("str | list[str] | None", key)),
        key_header=named.get("header"),
        on=_pointers(raw.get("on")),
        id=raw.get("id"),
        state=_state(raw["state"]) if "state" in raw else None,
        resource=ResourceAt(**raw["resource"]) if "resource" in raw else None,
        fields={name: _field(one) for name, one in raw.get("fields", {}).items()},
        volatile=tuple(raw["volatile"]) if "volatile" in raw else None,
    )


def _field(raw: Any) -> FieldAt:
    if not isinstance(raw, dict):
        return FieldAt(at=_pointers(raw))
    given = cast("_Raw", raw)
    return FieldAt(
        at=_pointers(given["at"]), words=given.get("words", {}), first=given.get("first")
    )


def _state(raw: _Raw) -> StateAt:
    values = {
        State(name): tuple(tuple(one) if isinstance(one, list) else one for one in known)
        for name, known in raw["values"].items()
    }
    return StateAt(at=_pointers(raw["at"]), values=values)


def _next(raw: Any) -> NextPage:
    """Return how the next page is found; a pointer alone is one to a link."""
    if isinstance(raw, str):
        return NextPage(turn=Turn.LINK, at=raw)
    given = cast("_Raw", raw)
    turn = next(one for one in Turn if one.value in given)
    at, query = given[turn.value], given.get("query", "")
    if turn in {Turn.PAGE, Turn.OFFSET}:
        at, query = "", at
    return NextPage(
        turn=turn,
        at=at,
        query=query,
        first=given.get("first", 0 if turn is Turn.OFFSET else 1),
        more=given.get("more"),
        total=given.get("total"),
    )


def _spelling(raw: _Raw) -> Spelling:
    place = next(one for one in Place if one.value in raw)
    names = _pointers(raw[place.value])
    return Spelling(
        place=place,
        name=names[0],
        also=names[1:],
        value=raw.get("value"),
        other=raw.get("other"),
        found=raw.get("found"),
        words=raw.get("words", {}),
        exclusive=raw.get("exclusive", False),
        each=_shapes(raw.get("each")),
        text=raw.get("text", "{}"),
    )


def _shapes(raw: _Raw | None) -> Mapping[str, Any]:
    """Return the shapes of named items: one for any resource (""), or one for each."""
    if raw is None:
        return {}
    return cast("_Raw", raw["by"]) if list(raw) == ["by"] else {"": raw}


def _matcher(raw: _Raw) -> Matcher:
    return Matcher(
        statuses=tuple(str(one) for one in raw.get("statuses", ())),
        empty=raw.get("empty"),
        media_type=raw.get("media_type"),
        body=raw.get("body", {}),
        states=frozenset(State(one) for one in raw.get("states", ())),
    )
