"""Data of a target file in which nothing is wrong -> `Profile`.

Only plain words become values here: what the operations mean is not known, for that
needs a contract (`target.join`), and names of secrets stay names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast
from zoneinfo import ZoneInfo

from assay.files.document import Document, Pointer
from assay.history import State
from assay.model import Capability
from assay.target.profile import (
    Auth,
    Credentials,
    ItemBinding,
    Matcher,
    OperationBinding,
    Outcomes,
    Place,
    Presence,
    Profile,
    ResourceAt,
    Role,
    RoleHolding,
    Sca,
    ScaKind,
    Spelling,
    StateAt,
    Transport,
    Waiver,
    World,
    WorldKind,
)

__all__ = ["build"]

_Raw: TypeAlias = Mapping[str, Any]


def build(document: Document, lines: Mapping[str, int]) -> Profile:
    """Make the profile; `lines` are those of its parts, by their dotted names."""
    raw = cast("_Raw", document.data)
    return Profile(
        name=raw["target"],
        contracts=frozenset(raw.get("contracts", ())),
        transport=Transport(raw["transport"]),
        base_url=raw["base_url"].rstrip("/"),
        environment=raw.get("environment", "sandbox"),
        zone=ZoneInfo(raw["zone"]) if "zone" in raw else None,
        auth=Auth(**raw.get("auth", {})),
        presence=Presence(**raw["presence"]) if "presence" in raw else None,
        world=_world(raw.get("world", {}), lines),
        sca=_sca(raw.get("sca", {})),
        hosts=tuple(one.rstrip("/") for one in raw.get("hosts", ())),
        operations={
            name: _operation(one, lines[f"operations.{name}"])
            for name, one in raw.get("operations", {}).items()
        },
        outcomes=Outcomes(
            **{
                name: tuple(_matcher(one) for one in matchers)
                for name, matchers in raw.get("outcomes", {}).items()
            }
        ),
        outside=tuple(raw.get("outside", ())),
        not_offered=raw.get("not_offered", {}),
        waivers=tuple(
            Waiver(**one, line=_line_of(document, ("waivers", n), lines))
            for n, one in enumerate(raw.get("waivers", ()))
        ),
        timeout=float(raw.get("timeout", 10)),
        path=document.path,
        digest=document.digest,
        lines=lines,
    )


def _line_of(document: Document, pointer: Pointer, lines: Mapping[str, int]) -> int:
    path, line = document.place(pointer)
    return line if path == document.path else lines["extends"]


def _world(raw: _Raw, lines: Mapping[str, int]) -> World:
    return World(
        kind=WorldKind(raw.get("kind", WorldKind.NONE.value)),
        url=raw.get("url"),
        key_env=raw.get("key_env"),
        offers=frozenset(Capability(one) for one in raw.get("offers", ())),
        roles=tuple(
            Role(
                name=name,
                token_env=one.get("token_env"),
                owns=tuple(_holding(each) for each in one["owns"]),
                line=lines[f"world.roles.{name}"],
            )
            for name, one in raw.get("roles", {}).items()
        ),
        segments=raw.get("segments", {}),
        effects=raw.get("effects", {}),
    )


def _sca(raw: _Raw) -> Sca:
    given = {name: raw[name] for name in ("factors", "decisions", "callback") if name in raw}
    return Sca(
        kind=ScaKind(raw.get("kind", ScaKind.NONE.value)),
        screens=tuple(raw.get("screens", ())),
        wait=float(raw.get("wait", Sca().wait)),
        **given,
    )


def _holding(raw: _Raw) -> RoleHolding:
    entries = raw.get("entries")
    return RoleHolding(
        resource=raw["resource"],
        key=raw["key"],
        traits=raw.get("traits", {}),
        entries=None if entries is None else tuple((one["key"], one["on"]) for one in entries),
    )


def _operation(raw: _Raw, line: int) -> OperationBinding:
    aliases = raw.get("aliases")
    return OperationBinding(
        method=raw.get("method"),
        path=raw.get("path"),
        aliases=None if aliases is None else tuple(aliases),
        arguments={name: _spelling(one) for name, one in raw.get("arguments", {}).items()},
        modes={name: _spelling(one) for name, one in raw.get("modes", {}).items()},
        credentials=Credentials(**raw["credentials"]) if "credentials" in raw else None,
        list=raw.get("list"),
        one=raw.get("one"),
        approval=raw.get("approval"),
        next=raw.get("next"),
        links=tuple(raw.get("links", ())),
        values=raw.get("values", {}),
        item=_item(raw.get("item", {})),
        line=line,
    )


def _item(raw: _Raw) -> ItemBinding:
    resource = ResourceAt(**raw["resource"]) if "resource" in raw else None
    return ItemBinding(
        key=raw.get("key"),
        on=raw.get("on"),
        state=_state(raw["state"]) if "state" in raw else None,
        resource=resource,
        fields=raw.get("fields", {}),
        volatile=tuple(raw["volatile"]) if "volatile" in raw else None,
    )


def _state(raw: _Raw) -> StateAt:
    values = {State(name): tuple(known) for name, known in raw["values"].items()}
    return StateAt(at=raw["at"], values=values)


def _spelling(raw: _Raw) -> Spelling:
    place = next(one for one in Place if one.value in raw)
    return Spelling(
        place=place, name=raw[place.value], value=raw.get("value"), other=raw.get("other")
    )


def _matcher(raw: _Raw) -> Matcher:
    return Matcher(
        statuses=tuple(str(one) for one in raw.get("statuses", ())),
        empty=raw.get("empty"),
        media_type=raw.get("media_type"),
        body=raw.get("body", {}),
    )
