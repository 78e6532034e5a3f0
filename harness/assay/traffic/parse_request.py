"""Parser of a recorded request: its parts, and everything in it that is not an argument.

The mode, the customer's credentials and deliberate malformations are recognised by the way in which
the encoder writes them. Each function notes which parts it explains, so that the others can be
named. No judgement here.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import cast
from urllib.parse import unquote

from assay.binding.model.forms import as_json
from assay.binding.model.pointer import MISSING, find, parse_json
from assay.binding.model.request_parts import Placed, RequestParts
from assay.binding.model.spelling import SLOT
from assay.binding.model.target import OperationBinding, Place, Spelling, Target
from assay.binding.wire.encode import Access
from assay.binding.wire.values import BAD_DATES, BAD_IDENTIFIERS, JUNK, with_arguments
from assay.contract.model import Json, Operation
from assay.contract.scalars import same, text_of
from assay.history import Call, Malformed, Wire
from assay.history.steps import SEVERAL_MODES, UNBOUND_MODE, UNSEEN_MODE

#: The depth to which a body is read, and its maximum size in bytes.
MAX_DEPTH, MAX_BODY = 64, 1_000_000
#: The longest identifier of a well-formed request.
MAX_IDENTIFIER = 1000
#: The values that the encoder writes for a request with wrong types only.
WRONG_VALUES = (42, "forty-two")


class ParsedRequest(RequestParts):
    """A recorded request; `malformed` says how its body is malformed, if it is."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire.method, wire.url, wire.request_headers, wire.request_body)
        self.origin = f"{self.url.scheme}://{self.url.netloc}"
        self.path = self.url.path
        self.target = f"{self.path}?{self.url.query}" if self.url.query else self.path
        self.body, self.malformed = _parse_body(as_json(wire.request_headers, wire.request_body))

    def value_at(self, at: Placed, slots: Mapping[str, str] = MappingProxyType({})) -> Json:
        """Return the value at a place, the first of several; `MISSING` without one."""
        if isinstance(at, Spelling) and at.place is Place.BASE:
            base, url = str(at.value), f"{self.origin}{self.path}/"
            return base if url.lower().startswith(f"{base}/".lower()) else MISSING
        return super().value_at(at, slots)

    def leaves(self) -> Iterator[str]:
        """Yield the pointers of all single values in the body."""
        if self.body is not MISSING:
            yield from leaves(self.body)


def leaves(value: Json, pointer: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the pointers of the single values in a document; an empty container is one, too."""
    members: list[tuple[str, Json]] = []
    if isinstance(value, Mapping):
        members = [*cast("Mapping[str, Json]", value).items()]
    elif isinstance(value, list):
        members = [(str(n), item) for n, item in enumerate(cast("list[Json]", value))]
    if not members or depth >= MAX_DEPTH:
        yield pointer
        return
    for name, member in members:
        step = name.replace("~", "~0").replace("/", "~1")
        yield from leaves(member, f"{pointer}/{step}", depth + 1)


def _parse_body(raw: bytes) -> tuple[Json, Malformed | None]:
    """Read a body as JSON; return how it is malformed where it is not an object."""
    body: Json = MISSING
    malformed: Malformed | None = None
    try:
        if len(raw) > MAX_BODY:
            malformed = Malformed.HUGE
        elif raw:
            body = parse_json(raw)
            malformed = None if isinstance(body, dict) else Malformed.SCALAR
            if any(pointer.count("/") >= MAX_DEPTH for pointer in leaves(body)):
                malformed = Malformed.DEEP
    except RecursionError:
        malformed = Malformed.DEEP
    except ValueError:
        begins_as_json = raw.lstrip()[:1] in (b"{", b"[")
        malformed = Malformed.TRUNCATED if begins_as_json else Malformed.NOT_JSON
    return (MISSING if malformed else body), malformed


def path_values(template: str, path: str) -> Mapping[str, str] | None:
    """Return the value of each parameter of a path template; None if the path does not match."""
    match = _pattern(template).fullmatch(path)
    if match is None:
        return None
    return dict(zip(SLOT.findall(template), map(unquote, match.groups()), strict=True))


@cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces = SLOT.split(template)
    return re.compile("([^/]*)".join(re.escape(piece) for piece in pieces[::2]))


def basic_credentials(value: str) -> tuple[str, str] | None:
    """Return the login and the password of an `Authorization: Basic` header.

    Where they cannot be decoded, because a record has a pseudonym for instance, the whole is the
    login.
    """
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() != "basic" or not encoded:
        return None
    try:
        login, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:
        return encoded, ""
    return login, password


class ExplainedParts:
    """The parts of a request that are explained so far: names in its query, pointers into its body."""

    def __init__(self) -> None:
        self.query: set[str] = set()
        self.body: set[str] = set()

    def note(self, spelling: Spelling) -> None:
        """Note a place that was read."""
        if spelling.place is Place.QUERY:
            self.query.add(spelling.name)
        elif spelling.place is Place.BODY:
            self.body |= {spelling.name, *spelling.also}


def find_mode(
    request: ParsedRequest,
    operation: Operation,
    binding: OperationBinding,
    values: Mapping[str, str],
    explained: ExplainedParts,
    *,
    future: bool,
) -> str | None:
    """Return the mode of a request; of several that fit, the one with the most members.

    If two have the same number, one that is not in the path is selected, since the path has the plain
    mode then; and otherwise `future`, a date to come, selects the mode of deferred requests. If that
    selects none either, the request is in several.
    """
    deferred = operation.due.modes if operation.due else ()
    modes = {name: at for name, at in binding.modes.items() if name in operation.modes}
    places = {f"{at.place.value} {at.name}": at for at in reversed(modes.values())}
    shown = {
        name: max(
            _matching_members(request, _resolved(request, each, binding, values), values)
            for each in (at, *(replace(at, value=value) for value in at.others))
        )
        for name, at in modes.items()
    }
    ranks = {
        name: (shown[name], at.place is not Place.PATH, (name in deferred) is future)
        for name, at in modes.items()
        if shown[name]
    }
    if ranks:
        name = max(ranks, key=lambda name: ranks[name])
        spelling = modes[name]
        explained.note(spelling)
        if [*ranks.values()].count(ranks[name]) > 1:
            return SEVERAL_MODES
        if spelling.place is Place.BODY and isinstance(spelling.value, Mapping):
            named = cast("Mapping[str, Json]", spelling.value)
            pointers = (f"{spelling.name}/{member}" for member in named)
            explained.body = {*explained.body, *pointers} - {""}
        return name
    if any(spelling.place is Place.SCOPE for spelling in places.values()):
        return UNSEEN_MODE  # the request does not show the scope of its token
    # What stands at the place of an argument is that argument.
    taken = {at for each in binding.arguments.values() for at in (each.name, *each.also)}
    for spelling in places.values():
        if spelling.place is Place.BODY and spelling.name in taken:
            continue
        is_object = spelling.place is Place.BODY and isinstance(spelling.value, Mapping)
        present = request.value_at(spelling, values) is not MISSING
        if operation.makes and not is_object and present:
            explained.note(spelling)
            return UNBOUND_MODE
    return None


def _resolved(
    request: ParsedRequest,
    mode: Spelling,
    binding: OperationBinding,
    values: Mapping[str, str],
) -> Spelling:
    """Return a mode with the values of the arguments that it repeats, as the request has them."""

    def of(name: str) -> Json:
        in_path = Spelling(place=Place.PATH, name=name) if name in values else None
        return request.value_at(in_path or binding.arguments[name], values)

    return replace(mode, value=with_arguments(mode.value, binding, of))


def _matching_members(request: ParsedRequest, spelling: Spelling, values: Mapping[str, str]) -> int:
    """Return how many members of a request show that it is in a mode; 0 if it is not."""
    value = request.value_at(spelling, values)
    if spelling.value is MISSING:
        return 0
    if spelling.place is Place.BODY and isinstance(spelling.value, Mapping):
        members = cast("Mapping[str, Json]", spelling.value)
        if not isinstance(value, dict):
            return 0
        body = cast("Mapping[str, Json]", value)
        fits = all(name in body and _is_like(item, body[name]) for name, item in members.items())
        return len(members) + 1 if fits else 0
    if spelling.place is not Place.BODY:
        return 2 * (value == text_of(spelling.value))
    return 2 * (value is not MISSING and same(value, spelling.value))


def _is_like(expected: Json, value: Json) -> bool:
    """Whether a value is that of a mode; a list only needs as many items, at most two."""
    if isinstance(expected, list) and isinstance(value, list):
        return len(cast("list[Json]", value)) >= min(2, len(cast("list[Json]", expected)))
    return same(expected, value)


def find_credentials(
    request: ParsedRequest, binding: OperationBinding, explained: ExplainedParts
) -> Access | None:
    """Return the customer's credentials in a request, as the target file spells them."""
    spelling = binding.credentials
    if spelling is None:
        return None
    basic = basic_credentials(request.headers.get("authorization", "")) if spelling.basic else None
    values = {name: find(request.body, pointer) for name, pointer in spelling.body.items()}
    given = {name: str(value) for name, value in values.items() if value not in (MISSING, None, "")}
    named = dict(request.query)
    for name, at in spelling.query.items():
        given |= {name: named[at]} if named.get(at) else {}
    for name, at in spelling.headers.items():
        given |= {name: text} if (text := request.headers.get(at.lower())) else {}
    explained.body |= set(spelling.body.values())
    explained.query |= set(spelling.query.values())
    if basic is None and not given:
        return None
    login, password = basic or (given.get("login"), given.get("password"))
    return Access(login=login, password=password)


def unexplained_parts(
    request: ParsedRequest,
    binding: OperationBinding,
    explained: ExplainedParts,
    target: Target,
    *,
    by_tpp: bool,
) -> Iterator[str]:
    """Yield the names and pointers of what no part of the target file explains."""
    for at in target.standing_places(by_tpp=by_tpp):
        explained.note(Spelling(place=at.place, name=at.name))
    queries = explained.query | binding.queries.keys() | target.queries.keys()
    yield from dict.fromkeys(name for name, _ in request.query if name not in queries)
    template = set(leaves(cast("Json", binding.template))) if binding.template else set[str]()
    known = explained.body | template - _page_pointer(request, binding)
    for pointer in request.leaves():
        if pointer and not any(pointer == at or pointer.startswith(f"{at}/") for at in known):
            yield pointer


def _page_pointer(request: ParsedRequest, binding: OperationBinding) -> set[str]:
    """Return the pointer at the page, where it is another than the first page of the template."""
    pointer = binding.next.body if binding.next else ""
    first = find(cast("Json", binding.template), pointer)
    return set() if not pointer or same(find(request.body, pointer), first) else {pointer}


def unexplained_value(request: ParsedRequest, name: str) -> Json:
    """Return the value of an unexplained part."""
    if name.startswith("/"):
        return find(request.body, name)
    return [text for key, text in request.query if key == name]


def find_malformation(
    request: ParsedRequest, operation: Operation, call: Call, standing: Collection[str]
) -> Malformed | None:
    """Return how a request is malformed, where nothing else can be said of it as a call.

    `standing` are the names of what it has in any case, which is never malformed.
    """
    writes = request.method in {"PUT", "POST", "PATCH"}
    if writes and request.malformed is not None:
        return request.malformed
    if writes and request.body is MISSING and (operation.grants or operation.arguments):
        return Malformed.EMPTY
    if request.query and request.query[-len(JUNK) :] == list(JUNK):
        return Malformed.JUNK_QUERY
    granted = call.arguments.get(operation.grants or "")
    if (operation.grants and not isinstance(granted, list)) or _has_only_wrong_types(
        request, standing
    ):
        return Malformed.WRONG_TYPES
    for bend, name in (
        (Malformed.BAD_SINCE, operation.since),
        (Malformed.BAD_UNTIL, operation.until),
    ):
        if name is not None and call.arguments.get(name) == BAD_DATES[bend]:
            return bend
    about = call.arguments.get(operation.about or "")
    return _malformed_identifier(about) if isinstance(about, str) else None


def _malformed_identifier(identifier: str) -> Malformed | None:
    """Return how an identifier is malformed."""
    known = next((kind for kind, bad in BAD_IDENTIFIERS.items() if identifier == bad), None)
    if known is None and len(identifier) > MAX_IDENTIFIER:
        return Malformed.LONG_IDENTIFIER
    if known is None and any(ord(character) < ord(" ") for character in identifier):
        return Malformed.CONTROL_IDENTIFIER
    return known


def _has_only_wrong_types(request: ParsedRequest, standing: Collection[str]) -> bool:
    """Whether all else in a body has the wrong type, as the encoder writes it."""
    pointers = (pointer for pointer in request.leaves() if pointer and pointer not in standing)
    values = [find(request.body, pointer) for pointer in pointers]
    return bool(values) and all(value in WRONG_VALUES for value in values)
