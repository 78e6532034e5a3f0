"""Text -> `Profile`, or every error in it with file, line and hint.

A target file may extend another: mappings are laid over each other key by key, lists
and everything else replace what was there, and `null` takes an inherited key away.
What the operations mean is not known here, for that needs a contract: see
`target.join`. Secrets are not looked up either: a file holds only their names.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from assay._resources import contract_dir
from assay.errors import InputError, did_you_mean
from assay.load import Document, Pointer, Spot, load
from assay.model import Capability
from assay.parse import read_zone
from assay.schema import check, found, problem
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
    Spelling,
    Transport,
    Waiver,
    World,
    WorldKind,
)

__all__ = ["find_target", "read_document", "read_profile"]

#: So many files may extend each other in a row.
_MOST: Final = 8
_SUFFIXES: Final = (".yaml", ".yml")

_Raw: TypeAlias = Mapping[str, Any]
#: Where, what, and a hint.
_Finding: TypeAlias = tuple[Pointer, str, str]


def find_target(name_or_path: str | Path) -> Path:
    """Return the file of a shipped target (`sandbox`), or the path as it was given."""
    given = str(name_or_path)
    path = Path(given)
    if path.suffix in _SUFFIXES or os.sep in given or path.exists():
        return path
    shipped = _shipped()
    if given in shipped:
        return _targets() / f"{given}.yaml"
    hint = did_you_mean(given, shipped)
    raise InputError.one(given or "''", "there is no such target", hint=hint)


def read_profile(path: str | Path, *, base_url: str | None = None) -> Profile:
    """Read a target file; anything wrong in it is an `InputError` that says it all.

    `base_url` takes the place of the file's own, and then calls go over HTTP.
    """
    return read_document(load(path), base_url=base_url)


def read_document(document: Document, *, base_url: str | None = None) -> Profile:
    """Read a loaded target file, with all that it extends."""
    if base_url is not None and (wrong := _bad_url(base_url)):
        raise InputError.one("--target", wrong[0], hint=wrong[1])
    whole = _extended(document, ())
    problems = check(whole, "target")
    if not problems:
        raw = cast("_Raw", whole.data)
        problems = [problem(whole, *one) for one in _findings(raw)]
        problems.sort(key=lambda one: (one.path != document.path, one.line))
    if problems:
        raise InputError(problems)
    profile = _profile(whole, _lines(document, whole))
    if base_url is None:
        return profile
    return replace(profile, base_url=base_url.rstrip("/"), transport=Transport.HTTP)


# -- extends ------------------------------------------------------------------------


def _extended(top: Document, above: tuple[Path, ...]) -> Document:
    """Lay a file over the one that it extends, if any."""
    name = top.data.get("extends")
    if not isinstance(name, str) or not name:
        return top
    here = Path(top.path).resolve()
    base = _base(name, top)
    if base.resolve() in (*above, here):
        what = f"extends: {found(name)} extends this file in turn"
        raise _at_extends(top, what, "break the circle")
    if len(above) >= _MOST:
        raise _at_extends(top, f"extends: more than {_MOST} files in a row", "extend fewer")
    try:
        loaded = load(base)
    except InputError as error:
        first = error.problems[0]
        if first.line:  # the other file is there, and broken: its own line says more
            raise
        raise _at_extends(top, f"extends: {found(name)}: {first.what}", first.hint) from None
    return _laid(_extended(loaded, (*above, here)), top)


def _base(name: str, top: Document) -> Path:
    if name.endswith(_SUFFIXES) or "/" in name:
        return Path(top.path).parent / name
    shipped = _shipped()
    if name not in shipped:
        hint = did_you_mean(name, shipped)
        raise _at_extends(top, f"extends: there is no shipped target {found(name)}", hint)
    return _targets() / f"{name}.yaml"


def _targets() -> Path:
    return contract_dir() / "targets"


def _shipped() -> list[str]:
    return sorted(one.stem for one in _targets().glob("*.yaml"))


def _at_extends(top: Document, what: str, hint: str) -> InputError:
    return InputError.one(top.path, what, line=top.line(("extends",)), hint=hint)


def _laid(base: Document, top: Document) -> Document:
    data, spots = _merge((base.data, base.spots), (top.data, top.spots))
    both = hashlib.sha256(f"{top.digest} {base.digest}".encode()).hexdigest()
    return Document(data=cast("_Raw", data), path=top.path, digest=f"sha256:{both}", spots=spots)


def _merge(base: tuple[Any, Spot], top: tuple[Any, Spot]) -> tuple[Any, Spot]:
    below, above = base[0], top[0]
    if not isinstance(below, dict) or not isinstance(above, dict):
        return top
    data: dict[str, Any] = dict(cast("dict[str, Any]", below))
    spots: dict[str, Spot] = {key: _below(base[1], key) for key in data}
    for key, value in cast("dict[str, Any]", above).items():
        if value is None and key in data:
            del data[key], spots[key]
            continue
        pair = value, _below(top[1], key)
        data[key], spots[key] = _merge((data[key], spots[key]), pair) if key in data else pair
    return data, Spot(top[1].path, top[1].line, spots)


def _below(spot: Spot, key: str) -> Spot:
    return spot.at(key) or spot


# -- what a schema cannot say ---------------------------------------------------------


def _findings(raw: _Raw) -> Iterator[_Finding]:
    for at, url in (
        (("base_url",), raw["base_url"]),
        (("world", "url"), _world_url(raw)),
    ):
        if url is not None and (wrong := _bad_url(url)):
            yield at, *wrong
    if "zone" in raw and isinstance(hint := read_zone(raw["zone"]), str):
        yield ("zone",), f"there is no time zone {found(raw['zone'])}", hint
    for index, waiver in enumerate(raw.get("waivers", ())):
        yield from _day(("waivers", index, "expires"), waiver["expires"])
    yield from _roles(raw)
    yield from _matchers(raw)


def _world_url(raw: _Raw) -> str | None:
    url: str | None = raw.get("world", {}).get("url")
    return url


def _bad_url(url: str) -> tuple[str, str] | None:
    """Say what is wrong with a URL, and a hint; the URL itself may hold secrets."""
    example = "for example https://sandbox.bank.example/v1"
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
        parts = urlsplit("")
    if "@" in parts.netloc:
        return (
            "the URL holds credentials",
            "how calls are authenticated stands under auth",
        )
    if not whole or any(one.isspace() or not one.isprintable() for one in url):
        return "expected an http or https URL", example
    if parts.query or parts.fragment or "?" in url or "#" in url:
        return "the URL has a query or a fragment", example
    return None


def _day(at: Pointer, text: str) -> Iterator[_Finding]:
    try:
        date.fromisoformat(text)
    except ValueError:
        yield at, f"there is no day {found(text)}", "for example 2026-12-31"


def _roles(raw: _Raw) -> Iterator[_Finding]:
    world = raw.get("world", {})
    if world.get("kind") != WorldKind.ROLES.value:
        if "roles" in world:
            yield (
                ("world", "roles"),
                f"a world of kind {world['kind']} has no roles",
                "kind: roles",
            )
        return
    if not world.get("roles"):
        yield ("world",), "a world of kind roles lists at least one role", "add roles"
    shared = "token_env" in raw.get("auth", {})
    for name, role in world.get("roles", {}).items():
        at: Pointer = ("world", "roles", name)
        if raw.get("auth", {}).get("kind") == "bearer" and not shared and "token_env" not in role:
            hint = "add `token_env: NAME` here or under auth"
            yield at, "nothing says with which token to call for this customer", hint
        for index, holding in enumerate(role["owns"]):
            for number, entry in enumerate(holding.get("entries", ())):
                yield from _day((*at, "owns", index, "entries", number, "on"), entry["on"])


def _matchers(raw: _Raw) -> Iterator[_Finding]:
    """Without a matcher nothing could ever be accepted, and nothing conform."""
    if raw.get("outcomes", {}).get("accepted") == []:
        hint = "name at least one matcher, or leave the key out"
        yield ("outcomes", "accepted"), "no answer could ever be accepted", hint


# -- values ---------------------------------------------------------------------------


def _lines(document: Document, whole: Document) -> Mapping[str, int]:
    """Give the line of each part in the file; what is inherited stands at `extends`."""
    pointers: list[tuple[str, ...]] = [(name,) for name in whole.data]
    for name in ("operations", "not_offered", "outcomes", "auth", "world"):
        below = cast("_Raw", whole.data.get(name) or {})
        pointers += [(name, key) for key in below]
    roles = cast("_Raw", whole.data.get("world") or {}).get("roles", {})
    pointers += [("world", "roles", key) for key in roles]
    inherited = document.line(("extends",))
    lines: dict[str, int] = {}
    for pointer in pointers:
        path, line = whole.place(pointer)
        lines[".".join(pointer)] = line if path == document.path else inherited
    return lines


def _profile(document: Document, lines: Mapping[str, int]) -> Profile:
    raw = cast("_Raw", document.data)
    return Profile(
        name=raw["target"],
        transport=Transport(raw["transport"]),
        base_url=raw["base_url"].rstrip("/"),
        environment=raw.get("environment", "sandbox"),
        zone=ZoneInfo(raw["zone"]) if "zone" in raw else None,
        auth=Auth(**raw.get("auth", {})),
        presence=Presence(**raw["presence"]) if "presence" in raw else None,
        world=_world(raw.get("world", {}), lines),
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
        resource=resource,
        fields=raw.get("fields", {}),
    )


def _spelling(raw: _Raw) -> Spelling:
    place = next(one for one in Place if one.value in raw)
    return Spelling(place=place, name=raw[place.value], value=raw.get("value"))


def _matcher(raw: _Raw) -> Matcher:
    return Matcher(
        statuses=tuple(str(one) for one in raw.get("statuses", ())),
        empty=raw.get("empty"),
        media_type=raw.get("media_type"),
        body=raw.get("body", {}),
    )
