"""From an abstract call to a request, as the target spells it.

Uses the binding and the credentials of the subject; sends nothing.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

from assay.binding.model.pointer import MISSING, put, remove
from assay.binding.model.security import WITH_BODY, StandingParts, forged
from assay.binding.model.spelling import CredentialSpelling
from assay.binding.model.target import OperationBinding, Place, Spelling, Target
from assay.binding.wire.links import value_in_body
from assay.binding.wire.values import (
    JUNK,
    RequestValues,
    arguments,
    filled,
    sent,
    sent_for_mode,
    slot_of_plain_mode,
)
from assay.contract.model import Json, Operation
from assay.contract.scalars import text_of
from assay.errors import CannotArrange
from assay.files.document import laid_over
from assay.history import Call, CredentialPlace, Malformed, Token

BARE = OperationBinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The credentials of a subject, as the fixture provider supplied them.

    `name` is the customer's own name: it is kept out of records, and tells customers apart.
    `codes` has the code that each factor shows, `id` the fixture provider's name for the
    customer. `tokens` has the customer's token for each further TPP, by the `id` of the TPP. A TPP
    may have a `client_id` and its secret, with which it requests tokens. `secrets` are the customer's
    further ones, by their names in `auth.further`.
    """

    token: str | None = None
    login: str | None = None
    password: str | None = None
    name: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict[str, str])
    id: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAccess(Access):
    """The credentials of one call; `further` stand beside the token, in the order of `Auth.further`."""

    further: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request ready to be sent; `url` is absolute."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


def _base(call: Call, target: Target) -> str:
    """Return the base URL of the host that a call is made at."""
    if call.bank is not None:
        return target.banks[call.bank].base_url
    return target.base_url if call.host is None else target.hosts[call.host]


@dataclass(slots=True)
class _RequestDraft:
    """A request while arguments are being put into their places.

    `base` is the base URL, and `standing` are the query parameters of every call, each of which
    an argument replaces.
    """

    base: str
    path: str
    operation: str
    standing: dict[str, str]
    query: list[tuple[str, str]]
    headers: list[tuple[str, str]]
    body: dict[str, Any]
    parts: StandingParts


def encode(
    call: Call,
    operation: Operation,
    target: Target,
    access: Access,
    made: RequestValues | None = None,
) -> HttpRequest:
    """Spell a call for a target; `made` is what belongs to this one request.

    Raises:
        CannotArrange: the target file does not bind something in the call.

    """
    binding = target.operations.get(operation.id, BARE).requesting(call.mode, call.spelling)
    made = made or RequestValues()
    method = binding.method or operation.method
    parts = _standing_parts(call, operation, target, access, method)
    headers = _headers(call, operation, target, parts, made)
    in_body = bool(binding.next and binding.next.body)
    if call.follow is not None and not in_body:
        _set_arguments(headers, call, operation, binding, made)
        return _followed(call.follow, headers, parts)
    body = cast("dict[str, Any]", laid_over(filled(binding.template, made), deepcopy(made.body)))
    standing = made.outputs.sent({**target.queries, **binding.queries})
    draft = _RequestDraft(
        base=_base(call, target),
        path=_path(call, operation, binding),
        operation=operation.id,
        standing={name: str(filled(text, made)) for name, text in standing.items()},
        query=[],
        headers=headers,
        body=body,
        parts=parts,
    )
    _leave_out(draft, call, binding)
    given = {
        name: sent(value, binding.arguments.get(name), made)
        for name, value in arguments(call, operation, binding, made).items()
    }
    mode = binding.modes.get(call.mode) if call.mode is not None else None
    mode_value = sent_for_mode(mode, binding, given, made)
    selected = call.mode if mode_value is not MISSING else None
    in_path = mode is not None and mode.place is Place.PATH
    if selected is not None and in_path:
        # Before an argument that has the same slot in other calls.
        _place(draft, selected, mode_value, mode, method, is_mode=True)
    # What stands inside another value comes after it.
    for name in sorted(given, key=lambda name: _depth(binding.arguments.get(name))):
        _place(draft, name, given[name], binding.arguments.get(name), method)
    if selected is not None and not in_path:
        _place(draft, selected, mode_value, mode, method, is_mode=True)
    if call.credentials:
        _credentials(draft, binding, access, call)
    for pointer, value in value_in_body(call.follow or "").items():
        put(draft.body, pointer, value)
    _complete(draft, operation, slot_of_plain_mode(call, operation, binding), made)
    return _written(draft, call, method)


def _written(draft: _RequestDraft, call: Call, method: str) -> HttpRequest:
    """Return the request of a complete draft."""
    url = draft.base.rstrip("/") + draft.path
    query = [*draft.standing.items(), *draft.query, *draft.parts.parameters()]
    if call.malformed is Malformed.JUNK_QUERY:
        query += JUNK
    if query:
        url += "?" + urlencode(query)
    if not draft.body and method not in WITH_BODY:
        return HttpRequest(method=method, url=url, headers=tuple(draft.headers))
    content = _body(draft.body, call.malformed, draft.parts)
    return _with_body(method, url, draft.headers, content)


def _with_body(
    method: str, url: str, headers: list[tuple[str, str]], content: bytes
) -> HttpRequest:
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", "application/json"))
    return HttpRequest(method=method, url=url, headers=tuple(headers), body=content)


def _followed(link: str, headers: list[tuple[str, str]], parts: StandingParts) -> HttpRequest:
    """Return the request for a link, which says everything but the standing parts."""
    url = parts.put_in_url(link)
    if members := parts.put({}):
        return _with_body(parts.method, url, headers, json.dumps(members).encode())
    return HttpRequest(method=parts.method, url=url, headers=tuple(headers))


def _depth(spelling: Spelling | None) -> int:
    """Return how deep in the body a value stands; 0 elsewhere."""
    in_body = spelling is not None and spelling.place is Place.BODY
    return spelling.name.count("/") if spelling is not None and in_body else 0


def _set_arguments(
    headers: list[tuple[str, str]],
    call: Call,
    operation: Operation,
    binding: OperationBinding,
    made: RequestValues,
) -> None:
    """Set the headers of arguments in a call that follows a link: a link has no headers."""
    for name, value in arguments(call, operation, binding, made).items():
        spelling = binding.arguments.get(name)
        if spelling is not None and spelling.place is Place.HEADER:
            _set(headers, spelling.name, text_of(sent(value, spelling, made)))


def _leave_out(draft: _RequestDraft, call: Call, binding: OperationBinding) -> None:
    """Remove what the file has in the places of arguments that a call leaves out, also in a template."""
    for spelling in filter(None, map(binding.arguments.get, call.without)):
        if spelling.place is Place.HEADER:
            _unset(draft.headers, spelling.name)
        elif spelling.place is Place.QUERY:
            draft.standing.pop(spelling.name, None)
        elif spelling.place is Place.BODY:
            for pointer in filter(None, (spelling.name, *spelling.also)):
                remove(draft.body, pointer)


def _set(headers: list[tuple[str, str]], name: str, value: str) -> None:
    """Set a header in place of another of this name."""
    _unset(headers, name)
    headers.append((name, value))


def _unset(headers: list[tuple[str, str]], name: str) -> None:
    headers[:] = [header for header in headers if header[0].lower() != name.lower()]


def _headers(
    call: Call, operation: Operation, target: Target, parts: StandingParts, made: RequestValues
) -> list[tuple[str, str]]:
    """Return the headers of a call without its arguments."""
    headers = [("Accept", "application/json"), *parts.headers()]
    own = target.operations.get(operation.id, BARE).headers
    for name, text in made.outputs.sent({**target.headers, **own}).items():
        _set(headers, name, str(filled(text, made)))
    return headers


def _standing_parts(
    call: Call, operation: Operation, target: Target, access: Access, method: str
) -> StandingParts:
    """Return the parts that a call has in any case; a customer's own credentials may replace the token."""
    kept = call.credentials_in in {CredentialPlace.GRANT, CredentialPlace.BESIDE}
    token = _token(call, access) if kept or not call.credentials else None
    further = access.further if isinstance(access, CallAccess) else ()
    mark = target.presence
    if mark is not None and not mark.marks(present=call.present):
        mark = None
    return StandingParts(
        target.auth.of(by_tpp=operation.by_tpp), token or "", method, further, mark
    )


def _token(call: Call, access: Access) -> str | None:
    """Return the token of a call: its own, none, or another one in place of it."""
    if call.bearer is Token.NONE:
        return None
    return forged(access.token, call.bearer) if access.token else None


def _complete(
    draft: _RequestDraft, operation: Operation, plain: Mapping[str, str], made: RequestValues
) -> None:
    """Fill in what repeats another call; refuse a path in which a name still stands for a value."""
    draft.path = made.outputs.path(draft.path)
    for name, value in {**plain, **made.slots}.items():
        draft.path = draft.path.replace(f"{{{name}}}", quote(value, safe=""))
    if "{" in draft.path:
        what = f"a value for each name in the path of operations.{operation.id} in the target file"
        raise CannotArrange(what, key=("operations", operation.id, "path"))


def _path(call: Call, operation: Operation, binding: OperationBinding) -> str:
    if call.alias is None:
        return binding.path or operation.path
    names = binding.names(operation)
    if call.alias >= len(names):
        key = ("operations", operation.id, "aliases")
        raise CannotArrange(f"{'.'.join(key)} in the target file", key=key)
    return names[call.alias]


def _place(
    draft: _RequestDraft,
    name: str,
    value: Json,
    spelling: Spelling | None,
    method: str,
    *,
    is_mode: bool = False,
) -> None:
    slot = f"{{{name}}}"
    text = text_of(value)
    if slot in draft.path:
        draft.path = draft.path.replace(slot, quote(text, safe=""))
        return
    if spelling is None:
        section = "modes" if is_mode else "arguments"
        key = ("operations", draft.operation, section, name)
        what = f"the place of {name} in a {method} ({'.'.join(key)} in the target file)"
        raise CannotArrange(what, key=key)
    match spelling.place:
        case Place.QUERY:
            draft.standing.pop(spelling.name, None)
            draft.query.append((spelling.name, text))
        case Place.HEADER:
            _set(draft.headers, spelling.name, text)
        case Place.BODY:
            for pointer in (spelling.name, *spelling.also):
                put(draft.body, pointer, value)
        case Place.PATH:
            draft.path = draft.path.replace(f"{{{spelling.name}}}", quote(text, safe=""))
        case Place.BASE:
            draft.base = text
        case Place.SCOPE:
            pass  # the token has it


def _credentials(
    draft: _RequestDraft, binding: OperationBinding, access: Access, call: Call
) -> None:
    spelling, place = binding.credentials, call.credentials_in
    if spelling is None and place is not None:
        spelling = CredentialSpelling()
    if spelling is None or access.login is None or access.password is None:
        key = ("operations", call.operation, "credentials")
        raise CannotArrange(f"customer credentials and {'.'.join(key)}", key=key)
    placed = place_credentials(spelling, place, access.login, access.password)
    for name, value in placed.headers:
        _set(draft.headers, name, value)
    draft.query += placed.query
    for pointer, value in placed.body:
        put(draft.body, pointer, value)


#: Bodies that are sent as they are; the others are made from the valid one.
BAD_BODIES: Mapping[Malformed, bytes] = {
    Malformed.NOT_JSON: b"<consent>this is not JSON</consent>",
    Malformed.EMPTY: b"",
    Malformed.DEEP: b'{"a":' * 100 + b"1" + b"}" * 100,
    Malformed.SCALAR: b'"a bare string"',
    Malformed.HUGE: b'{"a":"' + b"9" * 2_000_000 + b'"}',
}


def _body(body: dict[str, Any], malformed: Malformed | None, parts: StandingParts) -> bytes:
    """Return a body, which has the standing parts as far as it is an object."""
    if malformed is not None and malformed in BAD_BODIES:
        content, members = BAD_BODIES[malformed], parts.put({})
        is_object = members and content.startswith(b"{")
        return json.dumps(members).encode()[:-1] + b"," + content[1:] if is_object else content
    if malformed is Malformed.WRONG_TYPES:
        return json.dumps(parts.put(_wrong(body))).encode()
    text = json.dumps(parts.put(body), default=str).encode()
    return text[: len(text) // 2] if malformed is Malformed.TRUNCATED else text


def _wrong(value: Any) -> Any:
    """Return a value in which everything has another type, and names stay."""
    if isinstance(value, dict):
        named: dict[str, Any] = value
        return {name: _wrong(member) for name, member in named.items()}
    return 42 if isinstance(value, str | list) else "forty-two"


# -- Credentials of a customer in a request: where a target that accepted them would expect them -
# No target may accept them. A call sends them where the target file says, or in one place: there
# they have the names of the target file, or the usual ones where it has none.
#: What the credentials are called where nothing says otherwise, as in the password grant of
#: OAuth 2.0 (RFC 6749, section 4.3) and in most forms.
USUAL_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"login": ("username", "login"), "password": ("password",)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCredentials:
    """The parts of a request that carry credentials; `body` has pointers."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    body: tuple[tuple[str, str], ...] = ()


def place_credentials(
    spelling: CredentialSpelling, place: CredentialPlace | None, login: str, password: str
) -> PlacedCredentials:
    """Return credentials as the target file spells them, or in one place."""
    values = {"login": login, "password": password}
    usual = tuple((name, values[part]) for part, names in USUAL_NAMES.items() for name in names)
    pair = base64.b64encode(f"{login}:{password}".encode()).decode()
    basic = ("Authorization", f"Basic {pair}")
    match place:
        case CredentialPlace.BASIC:
            return PlacedCredentials(headers=(basic,))
        case CredentialPlace.BODY:
            members = tuple((f"/{name}", value) for name, value in usual)
            return PlacedCredentials(body=_named(spelling.body, values) or members)
        case CredentialPlace.PARAMETERS:
            return PlacedCredentials(
                headers=tuple(filter(_fits_header, _named(spelling.headers, values) or usual)),
                query=_named(spelling.query, values) or usual,
            )
        case CredentialPlace.GRANT:
            return PlacedCredentials()
        case CredentialPlace.BESIDE:
            # HTTP Basic stands where most tokens do.
            placed = place_credentials(replace(spelling, basic=False), None, login, password)
            return placed if placed != PlacedCredentials() else PlacedCredentials(query=usual)
        case None:
            headers = _named(spelling.headers, values)
            return PlacedCredentials(
                headers=(*headers, basic) if spelling.basic else headers,
                query=_named(spelling.query, values),
                body=_named(spelling.body, values),
            )


def _named(names: Mapping[str, str], values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, values[part]) for part, name in names.items() if part in values)


def _fits_header(header: tuple[str, str]) -> bool:
    """Whether a header can carry its value as it is."""
    return header[1].isascii() and header[1].isprintable()
