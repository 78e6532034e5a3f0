"""Checks of a target file that its schema cannot express: URLs, dates, zones, roles, offers.

What needs a contract is checked in `binding.join`, authentication in
`binding.security_checks`. Secrets are not looked up here: see `transport.secrets`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from assay.binding.security_checks import security_findings
from assay.binding.target import (
    AuthKind,
    FixtureKind,
    ScaKind,
    TransportKind,
)
from assay.contract.files.document import Finding, Pointer, found
from assay.contract.files.load import read_zone

_Raw: TypeAlias = Mapping[str, Any]
_Roles: TypeAlias = Sequence[_Raw]


def findings(raw: _Raw) -> Iterator[Finding]:
    """Find the problems that the schema cannot express."""
    for at, url in (
        (("base_url",), raw["base_url"]),
        (("fixtures", "url"), _fixtures_url(raw)),
    ):
        if url is not None and (wrong := bad_url(url)):
            yield at, *wrong
    yield from security_findings(raw, bad_url)
    yield from _live(raw)
    if "zone" in raw and isinstance(hint := read_zone(raw["zone"]), str):
        yield ("zone",), f"unknown time zone {found(raw['zone'])}", hint
    for index, waiver in enumerate(raw.get("waivers", ())):
        yield from _day(("waivers", index, "expires"), waiver["expires"])
    yield from _sca(raw)
    yield from _roles(raw)
    yield from _offers(raw)
    yield from _matchers(raw)


def _live(raw: _Raw) -> Iterator[Finding]:
    """Check that writes on a live bank are limited by payee and amount."""
    safety = raw.get("safety", {})
    if raw.get("environment") == "live" and safety.get("allow_writes"):
        for name, hint in (
            ("only", "for example only: {creditorAccount: [FR7630006000011234567890189]}"),
            ("most", 'for example most: {amount: "1.00"}'),
        ):
            if not safety.get(name):
                what = f"writes on a live bank need a limit: {name} is missing"
                yield ("safety", "allow_writes"), what, hint


def _fixtures_url(raw: _Raw) -> str | None:
    url: str | None = raw.get("fixtures", {}).get("url")
    return url


def bad_url(url: str) -> tuple[str, str] | None:
    """Return the problem of a URL and a hint; the URL itself may contain secrets."""
    example = "for example https://sandbox.bank.example/v1"
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
        parts = urlsplit("")
    if "@" in parts.netloc:
        return (
            "the URL contains credentials",
            "set credentials under auth",
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
        yield at, f"no such date: {found(text)}", "for example 2026-12-31"


def _sca(raw: _Raw) -> Iterator[Finding]:
    """Check that an SCA signer has what its kind needs."""
    sca = raw.get("sca", {})
    kind, at = sca.get("kind"), ("sca", "kind")
    if kind in {ScaKind.FORMS.value, ScaKind.BROWSER.value} and not sca.get("screens"):
        hint = "for example screens: [{user: login, secret: password}, {answer: decision}]"
        yield at, f"`kind: {kind}` needs screens", hint
    if kind == ScaKind.MANUAL.value and "callback" not in sca:
        hint = "for example callback: http://127.0.0.1:8765"
        yield at, "callback is missing: the URL to which the browser returns", hint
    port = sca.get("callback", ":1").strip().rpartition(":")[2]
    if len(port) > len("65535") or int(port) not in range(1, 65536):
        hint = "ports are numbers from 1 to 65535"
        yield ("sca", "callback"), f"no such port: {found(sca['callback'])}", hint
    shown = kind in {ScaKind.BROWSER.value, ScaKind.MANUAL.value}
    if shown and raw["transport"] == TransportKind.EMBEDDED.value:
        hint = "write `transport: http` with the base_url that `assay serve` prints"
        yield at, "a browser cannot reach an embedded bank", hint


def _roles(raw: _Raw) -> Iterator[Finding]:
    fixtures = raw.get("fixtures", {})
    python = fixtures.get("kind") == FixtureKind.PYTHON.value
    if python is not ("adapter" in fixtures):
        hint = "for example {kind: python, adapter: our_bank.fixtures:SandboxFixtures}"
        what = "`adapter` and `kind: python` must be set together"
        yield ("fixtures", "adapter" if "adapter" in fixtures else "kind"), what, hint
    if fixtures.get("kind") != FixtureKind.ROLES.value:
        if "roles" in fixtures:
            yield (
                ("fixtures", "roles"),
                f"`kind: {fixtures['kind']}` has no roles",
                "write `kind: roles`",
            )
        return
    if not fixtures.get("roles"):
        yield ("fixtures",), "`kind: roles` needs at least one role", "add roles"
    shared = "token_env" in raw.get("auth", {})
    for name, role in fixtures.get("roles", {}).items():
        at: Pointer = ("fixtures", "roles", name)
        # With OAuth a token is requested for each customer.
        kind = raw.get("auth", {}).get("kind", "none")
        authenticated = kind in {AuthKind.BEARER.value, AuthKind.KEY.value}
        if authenticated and not shared and "token_env" not in role:
            hint = "add `token_env: NAME` here or under auth"
            yield at, "this customer has no token", hint
        for index, holding in enumerate(role["owns"]):
            for number, entry in enumerate(holding.get("entries", ())):
                yield from _day((*at, "owns", index, "entries", number, "on"), entry["on"])


def _matchers(raw: _Raw) -> Iterator[Finding]:
    """Check that answers can be accepted at all."""
    if raw.get("outcomes", {}).get("accepted") == []:
        hint = "add at least one matcher, or remove the key"
        yield ("outcomes", "accepted"), "no answer would ever be accepted", hint


#: Capabilities that listed customers cannot offer, and what to do instead.
INSTEAD = "remove the offer, or use `kind: control` or `kind: python`"
NEVER = {
    "clock": "remove the offer: a real clock cannot be moved; a run can wait with --wait",
    "registrations": INSTEAD,
    "providers": INSTEAD,
    "banks": INSTEAD,
    "effects": INSTEAD,
    "direct-access": INSTEAD,
}


def _two(roles: _Roles) -> bool:
    return len(roles) > 1


def _known(roles: _Roles) -> bool:
    return any("login_env" in one and "password_env" in one for one in roles)


def _kinds(roles: _Roles) -> bool:
    return any("segment" in one for one in roles)


def _entries(roles: _Roles) -> bool:
    return any(thing.get("entries") for one in roles for thing in one["owns"])


#: Offers that need something in the list: whether it is there, what is missing, a hint.
LISTED: Mapping[str, tuple[Callable[[_Roles], bool], str, str]] = {
    "two-psu": (_two, "there is only one role", "list a second one, or remove the offer"),
    "credentials": (
        _known,
        "no role has a login and a password",
        "add login_env and password_env to one, or remove the offer",
    ),
    "segments": (_kinds, "no role has a segment", "add `segment`, or remove the offer"),
    "entries": (
        _entries,
        "no role lists any",
        "add `entries` to what one owns, or remove the offer",
    ),
}


def _offers(raw: _Raw) -> Iterator[Finding]:
    """Find offers that listed customers cannot fulfil: they would fail in the run."""
    fixtures = raw.get("fixtures", {})
    if fixtures.get("kind") != FixtureKind.ROLES.value:
        return
    roles = [*fixtures.get("roles", {}).values()]
    for index, offer in enumerate(fixtures.get("offers", ())):
        at = ("fixtures", "offers", index)
        if offer in NEVER:
            yield at, f"`kind: roles` cannot offer {offer}", NEVER[offer]
        elif offer in LISTED:
            is_listed, missing, hint = LISTED[offer]
            if not is_listed(roles):
                yield at, f"{offer} is offered, but {missing}", hint
    yield from _signing(raw, roles)


def _signing(raw: _Raw, roles: _Roles) -> Iterator[Finding]:
    """Find screens that ask for credentials that no listed customer has."""
    sca = raw.get("sca", {})
    asks = {one for screen in sca.get("screens") or () for one in screen.values()}
    walked = sca.get("kind") in {ScaKind.FORMS.value, ScaKind.BROWSER.value}
    writes = "write" in (raw["fixtures"].get("offers") or ())
    if walked and writes and "password" in asks and not _known(roles):
        hint = "add login_env and password_env to one, or `sca: null`"
        yield ("sca", "kind"), "the screens ask for a password, but no role has one", hint
