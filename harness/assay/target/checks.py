"""What is wrong in a target file that has the right shape: URLs, days, zones, roles.

What needs a contract to be known is asked in `target.join`. Secrets are not looked
up: see `run.environ`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from assay.files.document import Pointer
from assay.files.finding import Finding, found
from assay.files.zone import read_zone
from assay.target import checks_security, offers
from assay.target.profile import AuthKind, ScaKind, Transport, WorldKind

__all__ = ["bad_url", "findings"]

_Raw: TypeAlias = Mapping[str, Any]


def findings(raw: _Raw) -> Iterator[Finding]:
    """Find what no schema can say."""
    for at, url in (
        (("base_url",), raw["base_url"]),
        (("world", "url"), _world_url(raw)),
    ):
        if url is not None and (wrong := bad_url(url)):
            yield at, *wrong
    yield from checks_security.findings(raw, bad_url)
    yield from _live(raw)
    if "zone" in raw and isinstance(hint := read_zone(raw["zone"]), str):
        yield ("zone",), f"there is no time zone {found(raw['zone'])}", hint
    for index, waiver in enumerate(raw.get("waivers", ())):
        yield from _day(("waivers", index, "expires"), waiver["expires"])
    yield from _sca(raw)
    yield from _roles(raw)
    yield from offers.findings(raw)
    yield from _matchers(raw)


def _live(raw: _Raw) -> Iterator[Finding]:
    """Nobody's money is spent on trust: who may be paid on a live bank, and how much."""
    safety = raw.get("safety", {})
    if raw.get("environment") == "live" and safety.get("allow_writes"):
        for name, hint in (
            ("only", "for example only: {creditorAccount: [FR7630006000011234567890189]}"),
            ("most", 'for example most: {amount: "1.00"}'),
        ):
            if not safety.get(name):
                what = f"writing on a live bank takes a limit: {name} is missing"
                yield ("safety", "allow_writes"), what, hint


def _world_url(raw: _Raw) -> str | None:
    url: str | None = raw.get("world", {}).get("url")
    return url


def bad_url(url: str) -> tuple[str, str] | None:
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


def _day(at: Pointer, text: str) -> Iterator[Finding]:
    try:
        date.fromisoformat(text)
    except ValueError:
        yield at, f"there is no day {found(text)}", "for example 2026-12-31"


def _sca(raw: _Raw) -> Iterator[Finding]:
    """Say what who signs cannot do without."""
    sca = raw.get("sca", {})
    kind, at = sca.get("kind"), ("sca", "kind")
    if kind in {ScaKind.FORMS.value, ScaKind.BROWSER.value} and not sca.get("screens"):
        hint = "for example screens: [{user: login, secret: password}, {answer: decision}]"
        yield at, f"a {kind} signature needs to know the screens", hint
    if kind == ScaKind.MANUAL.value and "callback" not in sca:
        hint = "for example callback: http://127.0.0.1:8765"
        yield at, "nothing says where a person's browser comes back to", hint
    port = sca.get("callback", ":1").strip().rpartition(":")[2]
    if len(port) > len("65535") or int(port) not in range(1, 65536):
        hint = "a port is a number from 1 to 65535"
        yield ("sca", "callback"), f"there is no such port, in {found(sca['callback'])}", hint
    shown = kind in {ScaKind.BROWSER.value, ScaKind.MANUAL.value}
    if shown and raw["transport"] == Transport.EMBEDDED.value:
        hint = "transport: http, with the base_url that `assay serve` prints"
        yield at, "no browser reaches a bank that is embedded", hint


def _roles(raw: _Raw) -> Iterator[Finding]:
    world = raw.get("world", {})
    python = world.get("kind") == WorldKind.PYTHON.value
    if python is not ("adapter" in world):
        hint = "for example {kind: python, adapter: our_bank.worlds:SandboxWorld}"
        what = "an adapter and kind: python go together"
        yield ("world", "adapter" if "adapter" in world else "kind"), what, hint
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
        # Whoever goes through OAuth is given a token for each customer.
        kind = raw.get("auth", {}).get("kind", "none")
        authenticated = kind in {AuthKind.BEARER.value, AuthKind.KEY.value}
        if authenticated and not shared and "token_env" not in role:
            hint = "add `token_env: NAME` here or under auth"
            yield at, "nothing says with which token to call for this customer", hint
        for index, holding in enumerate(role["owns"]):
            for number, entry in enumerate(holding.get("entries", ())):
                yield from _day((*at, "owns", index, "entries", number, "on"), entry["on"])


def _matchers(raw: _Raw) -> Iterator[Finding]:
    """Without a matcher nothing could ever be accepted, and nothing conform."""
    if raw.get("outcomes", {}).get("accepted") == []:
        hint = "name at least one matcher, or leave the key out"
        yield ("outcomes", "accepted"), "no answer could ever be accepted", hint
