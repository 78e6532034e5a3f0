"""Data of a target file in which nothing is wrong -> `Profile`.

Only plain words become values here: what the operations mean is not known, for that
needs a contract (`target.join`), and names of secrets stay names.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast
from zoneinfo import ZoneInfo

from assay.files.document import Document, Pointer
from assay.model import Capability
from assay.target import build_security
from assay.target.build_binding import operation, outcomes
from assay.target.profile import (
    Presence,
    Profile,
    Role,
    RoleHolding,
    Sca,
    ScaKind,
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

    def beside(section: str, name: str) -> Path:
        """Return the file named there, found from the target file that names it."""
        named: str = raw[section][name]
        return Path(document.place((section, name))[0]).parent / named

    return Profile(
        name=raw["target"],
        contracts=frozenset(raw.get("contracts", ())),
        transport=Transport(raw["transport"]),
        base_url=raw["base_url"].rstrip("/"),
        environment=raw.get("environment", "sandbox"),
        dialect=raw.get("dialect", ""),
        zone=ZoneInfo(raw["zone"]) if "zone" in raw else None,
        headers=raw.get("headers", {}),
        auth=build_security.auth(raw.get("auth", {})),
        tls=build_security.tls(raw["tls"], beside) if "tls" in raw else None,
        signature=(
            build_security.signature(raw["signature"], beside) if "signature" in raw else None
        ),
        budget=build_security.budget(raw.get("budget", {})),
        safety=build_security.safety(raw.get("safety", {})),
        presence=_presence(raw["presence"]) if "presence" in raw else None,
        world=_world(raw.get("world", {}), lines),
        sca=_sca(raw.get("sca", {})),
        hosts=tuple(one.rstrip("/") for one in raw.get("hosts", ())),
        operations={
            name: operation(one, lines[f"operations.{name}"], raw.get("outcomes", {}))
            for name, one in raw.get("operations", {}).items()
        },
        outcomes=outcomes(raw.get("outcomes", {})),
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
        document=document,
    )


def _line_of(document: Document, pointer: Pointer, lines: Mapping[str, int]) -> int:
    path, line = document.place(pointer)
    return line if path == document.path else lines["extends"]


def _presence(raw: _Raw) -> Presence:
    return Presence(
        header=raw["header"], value=raw["value"], absent=raw.get("when", "present") == "absent"
    )


def _world(raw: _Raw, lines: Mapping[str, int]) -> World:
    return World(
        kind=WorldKind(raw.get("kind", WorldKind.NONE.value)),
        url=raw.get("url"),
        key_env=raw.get("key_env"),
        adapter=raw.get("adapter", ""),
        options=raw.get("options", {}),
        offers=frozenset(Capability(one) for one in raw.get("offers", ())),
        roles=tuple(
            Role(
                name=name,
                token_env=one.get("token_env"),
                segment=one.get("segment"),
                login_env=one.get("login_env"),
                password_env=one.get("password_env"),
                code_envs=one.get("code_envs", {}),
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
