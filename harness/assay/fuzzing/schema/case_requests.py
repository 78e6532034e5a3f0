"""The requests of schema cases: made from an accepted request, matched to the nearest call.

The generator fills in whole requests; only the part that is meant to vary is taken
over, and everything else stays as it was accepted.

A request that no call describes (a wrong type, an unknown header) is sent unchanged. A
request is a call exactly if encoding that call gives the request; then every check may
judge it as one. All others are recorded as malformed calls, of which a contract says
little. Nothing is judged here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from assay.binding.encode import BARE, Access, HttpRequest, encode
from assay.binding.pointer import MISSING, find
from assay.binding.spelling import SLOT
from assay.binding.target import OperationBinding, Place, Spelling, Target
from assay.contract.model import Json, Operation
from assay.errors import CannotArrange
from assay.execution.executor import Executor
from assay.history import Call, Exchange, Malformed

#: A request without its irrelevant differences: order and white space.
_Comparable: TypeAlias = tuple[
    str, str, tuple[tuple[str, str], ...], frozenset[tuple[str, str]], Json | None
]


def slots(template: str, path: str) -> dict[str, str]:
    """Return the quoted values of a path's parameters; nothing if it is another path.

    The part before the template belongs to the base URL.
    """
    pieces = SLOT.split(template)
    names = pieces[1::2]
    pattern = "([^/]*)".join(re.escape(piece) for piece in pieces[::2])
    match = re.search(f"{pattern}$", path)
    return dict(zip(names, match.groups(), strict=True)) if match else {}


# -- cases -------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCase:
    """A generated part of a request, and which of it is the variation.

    `name` is the one member that varies, "" where there are several: those that differ
    from `usual`, the generator's own unvaried value. `valid` says that the document
    allows it, `says` describes it.
    """

    says: str
    valid: bool
    place: Place
    name: str = ""
    made: Json = MISSING
    usual: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def applied(self, known: HttpRequest, template: str) -> HttpRequest:
        """Return the accepted request with the variation of this case.

        `template` is the path as the document has it.
        """
        match self.place:
            case Place.PATH:
                return replace(known, url=_path(known.url, template, self._text()))
            case Place.QUERY:
                return replace(known, url=self._query(known.url))
            case Place.HEADER:
                return replace(known, headers=self._headers(known.headers))
            case Place.BODY:
                return self._body(known)

    def _text(self) -> Mapping[str, str]:
        made = cast("Mapping[str, Json]", self.made)
        return {self.name: str(made[self.name])} if self.name in made else {}

    def _query(self, url: str) -> str:
        known: dict[str, Json] = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
        query = urlencode(list(_merged(self, known).items()), doseq=True)
        return urlunsplit(urlsplit(url)._replace(query=query))

    def _headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Return headers under their original names; names are case-insensitive."""
        names = {name.lower(): name for name, _ in headers}
        case = replace(
            self,
            name=self.name.lower(),
            made=_lower(cast("Mapping[str, Json]", self.made)),
            usual=_lower(self.usual),
        )
        merged = _merged(case, _lower(dict(headers)))
        return tuple((names.get(name, name), str(value)) for name, value in merged.items())

    def _body(self, known: HttpRequest) -> HttpRequest:
        if self.made is MISSING:
            return replace(known, body=b"")
        body: Json = json.loads(known.body) if known.body else MISSING
        made = self.made
        if isinstance(body, dict) and isinstance(made, Mapping):
            made = _merged(self, cast("dict[str, Json]", body))
        return replace(known, body=json.dumps(made).encode())


def _lower(headers: Mapping[str, Json]) -> dict[str, Json]:
    return {name.lower(): value for name, value in headers.items()}


def _merged(case: SchemaCase, known: Mapping[str, Json]) -> dict[str, Json]:
    """Return the accepted members with those that vary, and no others, replaced."""
    made, usual = cast("Mapping[str, Json]", case.made), case.usual
    if case.name:
        varied, removed = {case.name}, {case.name} - made.keys()
    elif not case.valid:
        # The members that an invalid case lacks, or adds; its other values do not matter.
        varied, removed = made.keys() - usual.keys(), usual.keys() - made.keys()
    else:
        varied = {name for name in made if name in usual and made[name] != usual[name]}
        removed = set[str]() if varied else known.keys() - made.keys()
        varied = varied or made.keys() - known.keys()
    kept = {name: value for name, value in known.items() if name not in removed}
    return kept | {name: made[name] for name in made if name in varied}


def _path(url: str, template: str, varied: Mapping[str, str]) -> str:
    """Return a URL with other path parameters."""
    path = urlsplit(url).path
    own, other = template, template
    for name, value in slots(template, path).items():
        own = own.replace(f"{{{name}}}", value)
        other = other.replace(
            f"{{{name}}}", quote(varied[name], safe="") if name in varied else value
        )
    return urlunsplit(urlsplit(url)._replace(path=path.removesuffix(own) + other))


# -- matching ----------------------------------------------------------------------
def send(executor: Executor, call: Call, request: HttpRequest) -> Exchange:
    """Send a ready request as a call of the sequence, and record the exchange."""
    exchange = executor.exchanged(call, request)
    executor.keep(exchange, call.subject)
    return exchange


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
    ordered = sorted(operations, key=lambda operation: operation.id != own)
    calls = [_read(request, control.call, operation, target, says) for operation in ordered]
    for call, operation in zip(calls, ordered, strict=True):
        if _translated(target.operations.get(operation.id, BARE)):
            continue
        try:
            encoded = encode(call, operation, target, Access())
        except CannotArrange:
            continue
        if _comparable(_authorised(encoded, control, target)) == _comparable(request):
            return call
    return replace(calls[0], malformed=_malformed(request))


def _translated(binding: OperationBinding) -> bool:
    """Whether values are translated on the wire; such requests are not decoded here."""
    return bool(binding.template) or not all(map(_is_literal, binding.arguments.values()))


def _is_literal(spelling: Spelling) -> bool:
    parts = spelling.words or spelling.each or spelling.exclusive
    return spelling.found is None and not parts and spelling.text == "{}"


def _authorised(request: HttpRequest, control: Exchange, target: Target) -> HttpRequest:
    """Return a request with the credentials of the control."""
    presence = target.presence.header if target.presence else ""
    usual = {"accept", "content-type", presence.lower()}
    credentials = [pair for pair in control.wire.request_headers if pair[0].lower() not in usual]
    return replace(request, headers=(*request.headers, *credentials))


def _comparable(request: HttpRequest) -> _Comparable:
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
    """Return how a request is malformed."""
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
    parts = _RequestParts(request, _template(control, operation, binding))
    arguments = {
        name: value
        for name in binding.taken(operation)
        if (value := parts.at(_spelling(name, binding, parts))) is not MISSING
    }
    # What the target file would add, unless the call says that it is left out.
    added = [name for name, spelling in binding.arguments.items() if spelling.value is not None]
    absent = (name for name in added if name not in arguments and name in operation.arguments)
    modes = (name for name, spelling in binding.modes.items() if parts.has_mode(spelling))
    mode = next(modes, None)
    presence = target.presence
    header = Spelling(place=Place.HEADER, name=presence.header) if presence else None
    return replace(
        control,
        operation=operation.id,
        arguments=arguments,
        present=presence is None or (parts.at(header) is MISSING) is presence.absent,
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


def _spelling(name: str, binding: OperationBinding, parts: _RequestParts) -> Spelling | None:
    """Return where an argument is sent; a path parameter of its own comes first."""
    if name in parts.path:
        return Spelling(place=Place.PATH, name=name)
    return binding.arguments.get(name)


class _RequestParts:
    """A request split into path parameters, query, headers and body."""

    def __init__(self, request: HttpRequest, template: str) -> None:
        url = urlsplit(request.url)
        self.path = {name: unquote(value) for name, value in slots(template, url.path).items()}
        self.query = parse_qs(url.query, keep_blank_values=True)
        self.headers = {name.lower(): value for name, value in request.headers}
        try:
            self.body: Json = json.loads(request.body) if request.body else MISSING
        except ValueError:
            self.body = MISSING

    def at(self, spelling: Spelling | None) -> Json:
        """Return the value at a place, or `MISSING`; of several the first."""
        if spelling is None:
            return MISSING
        match spelling.place:
            case Place.PATH:
                return self.path.get(spelling.name, MISSING)
            case Place.QUERY:
                return self.query.get(spelling.name, [MISSING])[0]
            case Place.HEADER:
                return self.headers.get(spelling.name.lower(), MISSING)
            case Place.BODY:
                return find(self.body, spelling.name)

    def has_mode(self, mode: Spelling) -> bool:
        """Whether a mode is requested; one that is the whole body is compared by members."""
        value = self.at(mode)
        if mode.place is Place.BODY and not mode.name and isinstance(value, dict):
            members = cast("Mapping[str, Json]", mode.value)
            body = cast("Mapping[str, Json]", value)
            return all(body.get(name, MISSING) == member for name, member in members.items())
        return value == mode.value
