"""What a world of listed customers says that it offers, and could never keep.

Such an offer would not unblock a check: it would only turn a reason that is told before
a run into one that is met in it. What is listed decides what can be offered besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assay.binding.target import FixtureKind, ScaKind
from assay.contract.files.document import Finding

__all__ = ["findings"]

_Raw: TypeAlias = Mapping[str, Any]
_Roles: TypeAlias = Sequence[_Raw]

#: What nobody can do who only has customers to lend, and what to do instead.
NEVER = {
    "clock": "nobody moves a real clock; take it out, and a run waits with --wait",
    "registrations": "take it out, or write a world of kind python or control",
    "providers": "take it out, or write a world of kind python or control",
    "banks": "take it out, or write a world of kind python or control",
    "effects": "take it out, or write a world of kind python or control",
    "direct-access": "take it out, or write a world of kind python or control",
}


def _two(roles: _Roles) -> bool:
    return len(roles) > 1


def _known(roles: _Roles) -> bool:
    return any("login_env" in one and "password_env" in one for one in roles)


def _kinds(roles: _Roles) -> bool:
    return any("segment" in one for one in roles)


def _entries(roles: _Roles) -> bool:
    return any(thing.get("entries") for one in roles for thing in one["owns"])


#: What takes something on the list: whether it is there, what is not, and a hint.
LISTED: Mapping[str, tuple[Callable[[_Roles], bool], str, str]] = {
    "two-psu": (_two, "there is only one role", "list a second one, or take it out"),
    "credentials": (
        _known,
        "no role has a login and a password",
        "add login_env and password_env to one, or take it out",
    ),
    "segments": (_kinds, "no role has a segment", "add `segment`, or take it out"),
    "entries": (_entries, "no role lists any", "add `entries` to what one owns, or take it out"),
}


def findings(raw: _Raw) -> Iterator[Finding]:
    """Find the offers of a world of roles that it cannot keep."""
    fixtures = raw.get("fixtures", {})
    if fixtures.get("kind") != FixtureKind.ROLES.value:
        return
    roles = [*fixtures.get("roles", {}).values()]
    for index, offer in enumerate(fixtures.get("offers", ())):
        at = ("fixtures", "offers", index)
        if offer in NEVER:
            yield at, f"a world of kind roles cannot offer {offer}", NEVER[offer]
        elif offer in LISTED:
            there, lacking, hint = LISTED[offer]
            if not there(roles):
                yield at, f"{offer} is offered, but {lacking}", hint
    yield from _signing(raw, roles)


def _signing(raw: _Raw, roles: _Roles) -> Iterator[Finding]:
    """Find screens that ask for what nobody on the list could type in."""
    sca = raw.get("sca", {})
    asks = {one for screen in sca.get("screens") or () for one in screen.values()}
    walked = sca.get("kind") in {ScaKind.FORMS.value, ScaKind.BROWSER.value}
    writes = "write" in (raw["fixtures"].get("offers") or ())
    if walked and writes and "password" in asks and not _known(roles):
        hint = "add login_env and password_env to one, or `sca: null`"
        yield ("sca", "kind"), "the screens ask for a password, and no role has one", hint
