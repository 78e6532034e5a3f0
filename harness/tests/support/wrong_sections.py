"""Mistakes in what a target file says of the whole bank: security, fixtures, the signer, errors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from wrong_reads import pointed, words
from wrong_sends import matchers_of
from wrong_values import GONE, Change, Path, misspelt, nearly, set_to, swapped

from assay.binding.model.pointer import find

REASON = "not at this bank"


def sections(
    data: Mapping[str, Any], refusals: Sequence[Any], contract: Mapping[str, Any]
) -> Iterator[Change]:
    """Yield the mistakes outside the operations; `refusals` are the bodies of refused calls."""
    yield from _called(data)
    yield from _authorized(("auth",), data["auth"])
    yield from _errors(data, data.get("error") or {}, refusals)
    yield from _left_out(data, contract)
    yield from _provided(data, data.get("fixtures") or {})
    yield from _signed(data, data.get("sca") or {})


def _called(data: Mapping[str, Any]) -> Iterator[Change]:
    yield from matchers_of(("outcomes",), data.get("outcomes") or {})
    if presence := data.get("presence"):
        yield set_to("presence misspelt", ("presence", "header"), misspelt(presence["header"]))
        when = "present" if presence.get("when") == "absent" else "absent"
        yield set_to("presence flipped", ("presence", "when"), when)
        yield set_to("presence with another value", ("presence", "value"), "-")
        yield set_to("presence removed", ("presence",), GONE)
    for section in ("headers", "queries"):
        for name in data.get(section) or {}:
            yield set_to(f"{section} removed", (section, name), GONE)
            yield set_to(f"{section} with another value", (section, name), "x")
    for n, host in enumerate(data.get("hosts") or ()):
        yield set_to("hosts wrong", ("hosts", n), f"{host}x")
    yield set_to("base_url wrong", ("base_url",), f"{data['base_url']}x")
    if data.get("zone"):
        yield set_to("zone wrong", ("zone",), "America/New_York")
        yield set_to("zone removed", ("zone",), GONE)


def _authorized(at: Path, auth: Mapping[str, Any]) -> Iterator[Change]:
    yield set_to("auth none", at, {"kind": "none"})
    for name in ("header", "scope", "token_url", "authorize_url", "redirect_uri"):
        if value := auth.get(name):
            yield set_to("auth misspelt", (*at, name), misspelt(value))
    for name in ("scope", "pkce", "tpp"):
        if name in auth:
            yield set_to(f"auth {name} removed", (*at, name), GONE)
    yield from _token((*at, "token_in"), auth.get("token_in"))
    if tpp := auth.get("tpp"):
        yield from _authorized((*at, "tpp"), tpp)


def _token(at: Path, places: Any) -> Iterator[Change]:
    """Yield the mistakes of the places of a token."""
    if not places:
        return
    yield set_to("token_in removed", at, GONE)
    several = isinstance(places, list)
    for n, place in enumerate(places if several else [places]):
        here = (*at, n) if several else at
        for key in ("header", "query", "body", "text"):
            if key in place:
                wrong = f"x{place[key]}" if key == "text" else misspelt(place[key])
                yield set_to("token_in misspelt", (*here, key), wrong)
        if "text" in place:
            yield set_to("token_in text removed", (*here, "text"), GONE)
        if several and len(places) > 1:
            yield set_to("token_in without one", here, GONE)


def _errors(data: Any, error: Mapping[str, Any], refusals: Sequence[Any]) -> Iterator[Change]:
    for key in ("list", "one", "code"):
        inside = list(_elements(error, refusals)) if key == "code" else refusals
        yield from pointed(f"error.{key}", ("error", key), error.get(key), inside)
    for key in error:
        yield set_to(f"error.{key} removed", ("error", key), GONE)
    codes = error.get("codes") or {}
    for name, code in codes.items():
        yield set_to("error.codes misspelt", ("error", "codes", name), nearly(code))
        yield set_to("error.codes removed", ("error", "codes", name), GONE)
        if isinstance(code, list):
            yield set_to("error.codes without one", ("error", "codes", name), code[:1])
    for name, other in pairwise(codes):
        at = ("error", "codes")
        yield swapped("error.codes swapped", data, (*at, name), (*at, other))
    for name, field in (error.get("fields") or {}).items():
        at = ("error", "fields", name)
        yield from pointed("error.fields", at, field, list(_elements(error, refusals)))
        yield set_to("error.fields removed", at, GONE)
        yield from words(data, at, field)
    if error:
        yield set_to("error removed", ("error",), GONE)


def _elements(error: Mapping[str, Any], refusals: Sequence[Any]) -> Iterator[Any]:
    """Yield the errors in the bodies of refusals."""
    for body in refusals:
        found = find(body, error.get("list", error.get("one", "")))
        yield from found if isinstance(found, list) else [found]


def _left_out(data: Mapping[str, Any], contract: Mapping[str, Any]) -> Iterator[Change]:
    """Yield files that say wrongly what the bank has, or lack what they said rightly."""
    absent, resources = data.get("absent") or {}, set()
    for name, operation in contract.items():
        resources |= {*operation.lists}
        if name in (data.get("operations") or {}) and operation.available:
            yield _without(data, "operations", name)
            if operation.grants:
                sent = ((("operations", name), {"given": "with-token"}), *_unsent(data, name))
                yield "given wrongly", sent[0][0], sent[0][1], sent
    for name in sorted(resources - {*(absent.get("resources") or {})}):
        yield _without(data, "resources", name)
    for part, names in absent.items():
        for name in names:
            yield set_to("absent removed", ("absent", part, name), GONE)
    for rule in data.get("not_offered") or {}:
        yield set_to("not_offered removed", ("not_offered", rule), GONE)


def _without(data: Mapping[str, Any], part: str, name: str) -> Change:
    """Return the mistake that the bank is said to lack what it has."""
    absent = data.get("absent") or {}
    wrong = {**absent, part: {**(absent.get(part) or {}), name: REASON}}
    changes: tuple[tuple[Path, Any], ...] = ((("absent",), wrong),)
    if part == "operations":
        changes = (*changes, (("operations", name), GONE), *_unsent(data, name))
    return "absent wrongly", ("absent",), wrong, changes


def _unsent(data: Mapping[str, Any], name: str) -> Iterator[tuple[Path, Any]]:
    """Yield the headers that send an output of an operation, without which a file names nothing."""
    outputs = data["operations"][name].get("outputs") or {}
    for operation, binding in data["operations"].items():
        for header, value in (binding.get("headers") or {}).items() if operation != name else ():
            if any(f"{{{output}}}" in value for output in outputs):
                yield ("operations", operation, "headers", header), GONE


def _provided(data: Any, fixtures: Mapping[str, Any]) -> Iterator[Change]:
    if fixtures.get("customers"):
        yield set_to("customers wrong", ("fixtures", "customers"), "existing")
        yield set_to("customers removed", ("fixtures", "customers"), GONE)
    if fixtures.get("adapter"):
        yield set_to("adapter misspelt", ("fixtures", "adapter"), misspelt(fixtures["adapter"]))
    yield from _listed(data, fixtures.get("roles") or {})
    for offer in fixtures.get("offers") or ():
        rest = [each for each in fixtures["offers"] if each != offer]
        yield set_to("offers without one", ("fixtures", "offers"), rest)
    for section in ("effects", "segments"):
        words = fixtures.get(section) or {}
        names = list(words)
        for name in names:
            yield set_to(f"{section} misspelt", ("fixtures", section, name), misspelt(words[name]))
            yield set_to(f"{section} removed", ("fixtures", section, name), GONE)
        for name, other in pairwise(names):
            at = ("fixtures", section)
            yield swapped(f"{section} swapped", data, (*at, name), (*at, other))


def _listed(data: Any, roles: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the mistakes of customers who exist already."""
    for role, customer in roles.items():
        at = ("fixtures", "roles", role)
        yield set_to("roles removed", at, GONE)
        for key in ("token_env", "login_env", "password_env"):
            if key in customer:
                yield set_to(f"roles {key} misspelt", (*at, key), misspelt(customer[key]))
        for n, owned in enumerate(customer["owns"]):
            here = (*at, "owns", n)
            yield set_to("roles without a holding", here, GONE)
            yield set_to("roles key misspelt", (*here, "key"), misspelt(owned["key"]))
            for trait, value in (owned.get("traits") or {}).items():
                yield set_to("roles trait removed", (*here, "traits", trait), GONE)
                yield set_to("roles trait wrong", (*here, "traits", trait), nearly(value))
            for m, entry in enumerate(owned.get("entries") or ()):
                place = (*here, "entries", m)
                yield set_to("roles entry misspelt", (*place, "key"), misspelt(entry["key"]))
                yield set_to("roles without an entry", place, GONE)
    for name, other in pairwise(roles):
        at = ("fixtures", "roles")
        yield swapped("roles swapped", data, (*at, name, "owns"), (*at, other, "owns"))
        tokens = ((*at, name, "token_env"), (*at, other, "token_env"))
        yield swapped("roles tokens swapped", data, *tokens)


def _signed(data: Any, sca: Mapping[str, Any]) -> Iterator[Change]:
    for section in ("factors", "decisions"):
        words = sca.get(section) or {}
        names = list(words)
        for name in names:
            yield set_to(f"{section} misspelt", ("sca", section, name), misspelt(words[name]))
            yield set_to(f"{section} removed", ("sca", section, name), GONE)
        for name, other in pairwise(names):
            yield swapped(
                f"{section} swapped", data, ("sca", section, name), ("sca", section, other)
            )
    yield from _screens(sca)
    yield from _followed(("sca",), sca)
    if sca:
        yield set_to("sca removed", ("sca",), GONE)


def _screens(sca: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the mistakes of the fields of screens."""
    for n, screen in enumerate(sca.get("screens") or ()):
        for name, what in screen.items():
            renamed = {misspelt(key) if key == name else key: each for key, each in screen.items()}
            yield set_to("screens misspelt", ("sca", "screens", n), renamed)
            other = "code" if what != "code" else "password"
            yield set_to("screens filled wrongly", ("sca", "screens", n, name), other)
        if len(sca["screens"]) > 1:
            yield set_to("screens without one", ("sca", "screens", n), GONE)


def _followed(at: Path, sca: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the mistakes of the hosts of screens, and of how a page for a disconnected customer looks."""
    for n, host in enumerate(sca.get("hosts") or ()):
        yield set_to("sca.hosts wrong", (*at, "hosts", n), f"{host}x")
        yield set_to("sca.hosts removed", (*at, "hosts"), GONE)
    for n, page in enumerate(sca.get("disconnected") or ()):
        here = (*at, "disconnected")
        for key, value in page.items():
            wrong = [418] if key == "statuses" else nearly(value)
            yield set_to("sca.disconnected misspelt", (*here, n, key), wrong)
        yield set_to("sca.disconnected everywhere", here, [{"statuses": [200]}])
        yield set_to("sca.disconnected removed", here, GONE)
