"""Parts of a recorded request that are no arguments: mode, credentials, and oddities.

Each function notes what it explains of the request, so that the rest can be named. No judgement
here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from assay.binding.decode import same
from assay.binding.encode import BAD_IDENTIFIERS, JUNK, Access
from assay.binding.pointer import MISSING, find
from assay.binding.target import OperationBinding, Place, Spelling
from assay.contract.model import Json, Operation
from assay.history import Call, Malformed
from assay.history.steps import UNBOUND_MODE
from assay.traffic.callers import pair
from assay.traffic.parse_request import ParsedRequest, leaves

#: An identifier is no longer than this.
LONG = 1000


class ExplainedParts:
    """What of a request is explained so far: names in its query, pointers into its body."""

    def __init__(self) -> None:
        self.query: set[str] = set()
        self.body: set[str] = set()

    def note(self, where: Spelling) -> None:
        """Take note of a place that was read."""
        if where.place is Place.QUERY:
            self.query.add(where.name)
        elif where.place is Place.BODY:
            self.body |= {where.name, *where.also}


def mode(
    taken: ParsedRequest,
    operation: Operation,
    binding: OperationBinding,
    found: Mapping[str, str],
    said: ExplainedParts,
    *,
    ahead: bool,
) -> str | None:
    """Return the mode that a request is in; of several that fit, the one that says most.

    Where two say as much, a day to come tells which one puts a request off.
    """
    best: tuple[tuple[int, bool], str, Spelling] | None = None
    off = operation.due.modes if operation.due else ()
    places: dict[str, Spelling] = {}
    for name, where in binding.modes.items():
        if name not in operation.modes:
            continue
        places.setdefault(f"{where.place.value} {where.name}", where)
        held = _holds(taken, where, found)
        rank = held, (name in off) is ahead
        if held and (best is None or rank > best[0]):
            best = rank, name, where
    if best is not None:
        _, name, where = best
        said.note(where)
        if where.place is Place.BODY and isinstance(where.value, Mapping):
            members = cast("Mapping[str, Json]", where.value)
            said.body = {*said.body, *(f"{where.name}/{one}" for one in members)} - {""}
        return name
    for where in places.values():
        single = not (where.place is Place.BODY and isinstance(where.value, Mapping))
        if operation.makes and single and taken.at(where, found) is not MISSING:
            said.note(where)
            return UNBOUND_MODE
    return None


def _holds(taken: ParsedRequest, where: Spelling, found: Mapping[str, str]) -> int:
    """Return how much of a request says that it is in a mode; 0 where it is not."""
    value = taken.at(where, found)
    if where.place is Place.BODY and isinstance(where.value, Mapping):
        members = cast("Mapping[str, Json]", where.value)
        if not isinstance(value, dict):
            return 0
        whole = cast("Mapping[str, Json]", value)
        fits = all(name in whole and _like(one, whole[name]) for name, one in members.items())
        return len(members) + 1 if fits else 0
    if where.place is not Place.BODY:
        return 2 * (value == str(where.value))
    return 2 * (value is not MISSING and same(value, where.value))


def _like(one: Json, other: Json) -> bool:
    """Whether a part of a mode is there; of a list it counts that it has as many, or more."""
    if isinstance(one, list) and isinstance(other, list):
        return len(cast("list[Json]", other)) >= min(2, len(cast("list[Json]", one)))
    return same(one, other)


def credentials(
    taken: ParsedRequest, binding: OperationBinding, said: ExplainedParts
) -> Access | None:
    """Return the customer's credentials in a request, as the target file spells them."""
    spelt = binding.credentials
    if spelt is None:
        return None
    basic = pair(taken.headers.get("authorization", "")) if spelt.basic else None
    held = {name: find(taken.body, at) for name, at in spelt.body.items()}
    there = {name: str(value) for name, value in held.items() if value not in (MISSING, None, "")}
    said.body |= set(spelt.body.values())
    if basic is None and not there:
        return None
    login, password = basic or (there.get("login"), there.get("password"))
    return Access(login=login, password=password)


def strange(taken: ParsedRequest, binding: OperationBinding, said: ExplainedParts) -> Iterator[str]:
    """Name what no part of the profile explains."""
    explained = said.query | binding.queries.keys()
    yield from dict.fromkeys(name for name, _ in taken.query if name not in explained)
    template = set(leaves(cast("Json", binding.template))) if binding.template else set[str]()
    spelt = said.body | template
    for at in taken.leaves():
        if at and not any(at == one or at.startswith(f"{one}/") for one in spelt):
            yield at


def strange_value(taken: ParsedRequest, name: str) -> Json:
    """Return what stands in a place that nothing explains."""
    if name.startswith("/"):
        return find(taken.body, name)
    return [text for one, text in taken.query if one == name]


def malformed(taken: ParsedRequest, operation: Operation, call: Call) -> Malformed | None:
    """Return in which way a request is malformed, where nothing can be said of it as a call."""
    writes = taken.method in {"PUT", "POST", "PATCH"}
    if writes and taken.broken is not None:
        return taken.broken
    if writes and taken.body is MISSING and (operation.grants or operation.arguments):
        return Malformed.EMPTY
    if taken.query and taken.query[-len(JUNK) :] == list(JUNK):
        return Malformed.JUNK_QUERY
    granted = call.arguments.get(operation.grants or "")
    if (operation.grants and not isinstance(granted, list)) or _all_wrong(taken):
        return Malformed.WRONG_TYPES
    about = call.arguments.get(operation.about or "")
    return _identifier(about) if isinstance(about, str) else None


def _identifier(about: str) -> Malformed | None:
    """Return in which way an identifier is none."""
    exact = next((what for what, bad in BAD_IDENTIFIERS.items() if about == bad), None)
    if exact is None and len(about) > LONG:
        return Malformed.LONG_IDENTIFIER
    if exact is None and any(ord(sign) < ord(" ") for sign in about):
        return Malformed.CONTROL_IDENTIFIER
    return exact


def _all_wrong(taken: ParsedRequest) -> bool:
    """Whether everything in a body has the wrong type, as `encode` makes it."""
    said = [find(taken.body, at) for at in taken.leaves() if at]
    return bool(said) and all(one in (42, "forty-two") for one in said)
