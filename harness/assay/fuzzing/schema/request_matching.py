"""Matching of a generated request to the nearest call of the contract.

A request that no call describes (a wrong type, an unknown header) is sent unchanged. A
request is a call exactly if encoding that call gives the request; then every check may
judge it as one. All others are recorded as malformed calls, of which a contract says
little. Nothing is judged here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias, cast
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

from assay.binding.encode import BARE, Access, HttpRequest, encode
from assay.binding.pointer import MISSING, find
from assay.binding.spelling import SLOT
from assay.binding.target import OperationBinding, Place, Spelling, Target
from assay.contract.model import Json, Operation
from assay.errors import CannotArrange
from assay.execution.executor import Executor
from assay.history import Call, Exchange, Malformed

#: A request without its irrelevant differences: order and white space.
_Bare: TypeAlias = tuple[
    str, str, tuple[tuple[str, str], ...], frozenset[tuple[str, str]], Json | None
]


def slots(template: str, path: str) -> dict[str, str]:
    """Return the quoted values of a path's parameters; nothing if it is another path.

    The part before the template belongs to the base URL.
    """
    pieces = SLOT.split(template)
    names = pieces[1::2]
    pattern = "([^/]*)".join(re.escape(piece) for piece in pieces[::2])
    found = re.search(f"{pattern}$", path)
    return dict(zip(names, found.groups(), strict=True)) if found else {}


def send(play: Executor, call: Call, request: HttpRequest) -> Exchange:
    """Send a ready request as a call of the sequence, and record the exchange."""
    event = play.exchanged(call, request)
    play.keep(event, call.subject)
    return event


def nearest(
    request: HttpRequest,
    control: Exchange,
    operations: Iterable[Operation],
    target: Target,
    says: str,
) -> Call:
    """Return the call that a request is, or else the nearest malformed one.

    It is derived from the request of the `control`, and may be a call of any of the
    operations; `says` describes what sets it apart.
    """
    own = control.call.operation
    ordered = sorted(operations, key=lambda one: one.id != own)
    calls = [_read(request, control.call, one, target, says) for one in ordered]
    for call, operation in zip(calls, ordered, strict=True):
        if _translated(target.operations.get(operation.id, BARE)):
            continue
        try:
            spelt = encode(call, operation, target, Access())
        except CannotArrange:
            continue
        if _bare(_authorised(spelt, control, target)) == _bare(request):
            return call
    return replace(calls[0], malformed=_malformed(request))


def _translated(binding: OperationBinding) -> bool:
    """Whether values are translated on the wire; such requests are not decoded here."""
    plain = (
        one.found is None and not (one.words or one.each or one.exclusive) and one.text == "{}"
        for one in binding.arguments.values()
    )
    return bool(binding.template) or not all(plain)


def _authorised(spelt: HttpRequest, control: Exchange, target: Target) -> HttpRequest:
    """Return a request with the credentials of the control."""
    presence = target.presence.header if target.presence else ""
    usual = {"accept", "content-type", presence.lower()}
    more = [pair for pair in control.wire.request_headers if pair[0].lower() not in usual]
    return replace(spelt, headers=(*spelt.headers, *more))


def _bare(request: HttpRequest) -> _Bare:
    url = urlsplit(request.url)
    headers = frozenset((name.lower(), value) for name, value in request.headers)
    query = tuple(sorted(parse_qsl(url.query, keep_blank_values=True)))
    return request.method, f"{url.netloc}{url.path}", query, headers, _canonical(request.body)


def _canonical(body: bytes) -> Json | None:
    """Return a canonical text of the JSON: true differs from 1, and 1 from 1.0."""
    try:
        return json.dumps(json.loads(body), sort_keys=True) if body else None
    except ValueError:
        return body


def _malformed(request: HttpRequest) -> Malformed:
    """Return in which way a request is malformed."""
    if request.method not in {"PUT", "POST", "PATCH"}:
        return Malformed.JUNK_QUERY
    if not request.body:
        return Malformed.EMPTY
    return Malformed.WRONG_TYPES


def _read(
    request: HttpRequest, control: Call, operation: Operation, target: Target, says: str
) -> Call:
    """Decode a call from a request, as far as possible."""
    binding = target.operations.get(operation.id, BARE)
    spelt = _Spelt(request, _template(control, operation, binding))
    given = {
        name: value
        for name in binding.taken(operation)
        if (value := spelt.at(_spelling(name, binding, spelt))) is not MISSING
    }
    # What the profile would add, if it were not said that it is left out.
    added = (name for name, one in binding.arguments.items() if one.value is not None)
    absent = (name for name in added if name not in given and name in operation.arguments)
    mode = next((name for name, one in binding.modes.items() if spelt.holds(one)), None)
    presence = target.presence
    there = Spelling(place=Place.HEADER, name=presence.header) if presence else None
    return replace(
        control,
        operation=operation.id,
        arguments=given,
        present=presence is None or (spelt.at(there) is MISSING) is presence.absent,
        mode=mode if mode in operation.modes else None,
        without=() if operation.changes else tuple(absent),
        varied=(),
        malformed=None,
        variation=says,
    )


def _template(call: Call, operation: Operation, binding: OperationBinding) -> str:
    if call.alias is None:
        return binding.path or operation.path
    aliases = binding.names(operation)
    return aliases[call.alias] if call.alias < len(aliases) else operation.path


def _spelling(name: str, binding: OperationBinding, spelt: _Spelt) -> Spelling | None:
    """Return where an argument is sent; a path parameter of its own comes first."""
    if name in spelt.path:
        return Spelling(place=Place.PATH, name=name)
    return binding.arguments.get(name)


class _Spelt:
    """A request split into path parameters, query, headers and body."""

    def __init__(self, request: HttpRequest, template: str) -> None:
        url = urlsplit(request.url)
        found = slots(template, url.path)
        self.path = {name: unquote(value) for name, value in found.items()}
        self.query = parse_qs(url.query, keep_blank_values=True)
        self.headers = {name.lower(): value for name, value in request.headers}
        try:
            self.body: Json = json.loads(request.body) if request.body else MISSING
        except ValueError:
            self.body = MISSING

    def at(self, where: Spelling | None) -> Json:
        """Return the value at a place, or `MISSING`; of several the first."""
        if where is None:
            return MISSING
        match where.place:
            case Place.PATH:
                return self.path.get(where.name, MISSING)
            case Place.QUERY:
                return self.query.get(where.name, [MISSING])[0]
            case Place.HEADER:
                return self.headers.get(where.name.lower(), MISSING)
            case Place.BODY:
                return find(self.body, where.name)

    def holds(self, mode: Spelling) -> bool:
        """Whether a mode is asked for; one that is the whole body holds if its members do."""
        found = self.at(mode)
        if mode.place is Place.BODY and not mode.name and isinstance(found, dict):
            members = cast("Mapping[str, Json]", mode.value)
            whole = cast("Mapping[str, Json]", found)
            return all(whole.get(name, MISSING) == value for name, value in members.items())
        return found == mode.value
