"""Requests sent again with one part changed, recorded as the nearest call.

A changed request that no call describes (a wrong type, an unknown header) is sent unchanged. A
request is a call exactly if encoding that call gives the request; then every check may judge it
as one. All others are recorded as malformed calls, of which a contract says little. Nothing is
judged here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias, cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from assay.binding.model.forms import as_json
from assay.binding.model.pointer import MISSING
from assay.binding.model.request_parts import RequestParts
from assay.binding.model.security import put_tokens_back, shown_token
from assay.binding.model.spelling import SLOT, quoted_slots, slots_of
from assay.binding.model.target import Auth, OperationBinding, Place, Spelling, Target
from assay.binding.wire.encode import BARE, Access, HttpRequest, encode
from assay.binding.wire.links import OutputValues
from assay.binding.wire.values import RequestValues, with_arguments
from assay.contract.model import Json, Operation
from assay.contract.scalars import same, text_of
from assay.errors import CannotArrange
from assay.history import Call, Cause, Exchange, Indeterminate, Malformed, Resend
from assay.running.calls import TrialCalls

#: Why the refusal of a changed request shows nothing.
UNKNOWN_VALUE = "it has a value that was never accepted before"

#: A request without its irrelevant differences: order and white space.
_Comparable: TypeAlias = tuple[
    str, str, tuple[tuple[str, str], ...], frozenset[tuple[str, str]], Json | None
]


def resent(calls: TrialCalls, step: Resend) -> Exchange:
    """Send the request of an earlier exchange again, with the change of a step.

    A failure at a request that the target's document forbids is one at a malformed call. The
    refusal of a value that was never accepted before shows nothing.

    Raises:
        CannotArrange: there is no such exchange, or the guard does not admit the request.

    """
    trial, target = calls.trial, calls.trial.target
    control = next((each for each in trial.exchanges if each.n == step.exchange), None)
    if control is None:
        raise CannotArrange("the request that is sent again")
    operation = trial.operations[control.call.operation]
    binding = trial.binding(operation.id)
    request = changed(request_of(control), step, _template(control.call, operation, binding))
    auth = target.auth.of(by_tpp=operation.by_tpp)
    request = _with_tokens(request, request_of(control).body, auth)
    alike = _alike(control.call, trial.operations, target)
    call = nearest(request, control, alike, target, step.variation)
    exchange = calls.exchanged(call, request)
    failed = isinstance(exchange.outcome, Indeterminate) and exchange.outcome.cause is Cause.SERVER
    if step.forbidden and failed and not call.malformed:
        exchange = replace(exchange, call=replace(call, malformed=_malformed(request)))
    if exchange.refused and not exchange.items and not vouched(call, control.call, binding):
        exchange = replace(exchange, confounded=UNKNOWN_VALUE)
    return exchange


def request_of(exchange: Exchange) -> HttpRequest:
    """Return the request of an exchange, ready to be sent again."""
    wire = exchange.wire
    body = as_json(wire.request_headers, wire.request_body)
    return HttpRequest(method=wire.method, url=wire.url, headers=wire.request_headers, body=body)


def vouched(call: Call, control: Call, binding: OperationBinding) -> bool:
    """Whether a call holds only values of its control or of the target file."""
    if call.arguments.keys() != control.arguments.keys() or call.mode != control.mode:
        return False
    for name, value in call.arguments.items():
        spelling = binding.arguments.get(name)
        bound = (spelling.value, spelling.other) if spelling else ()
        known = [control.arguments[name], *(own for own in bound if own is not None)]
        if not any(same(value, own) for own in known):
            return False
    return True


def _alike(call: Call, operations: Mapping[str, Operation], target: Target) -> Iterator[Operation]:
    """Yield the operations that share method and path with a call, and differ in the body."""

    def address(operation: Operation) -> tuple[str, str]:
        binding = target.operations.get(operation.id, BARE)
        method = (binding.method or operation.method).lower()
        return method, SLOT.sub("{}", binding.path or operation.path)

    own = address(operations[call.operation])
    for operation in operations.values():
        if operation.id == call.operation or (call.alias is None and address(operation) == own):
            yield operation


def _with_tokens(request: HttpRequest, sent: bytes, auth: Auth) -> HttpRequest:
    """Return a changed request with the tokens in the body that was sent: they are not varied."""
    if request.body == sent or not any(at.place is Place.BODY for at in auth.credential_places):
        return request
    try:
        body, original = json.loads(request.body), json.loads(sent)
    except ValueError:
        return request
    put_tokens_back(auth, body, original)
    return replace(request, body=json.dumps(body).encode())


# -- the changed request -----------------------------------------------------------
def changed(request: HttpRequest, step: Resend, template: str) -> HttpRequest:
    """Return a request with the change of a step; `template` is its path in the target file."""
    match Place(step.place):
        case Place.PATH:
            texts = {name: str(value) for name, value in step.values.items()}
            return replace(request, url=_path(request.url, template, texts))
        case Place.QUERY:
            url = urlsplit(request.url)
            known: dict[str, Json] = dict(parse_qsl(url.query, keep_blank_values=True))
            query = urlencode([*_merged(step, known).items()], doseq=True)
            return replace(request, url=urlunsplit(url._replace(query=query)))
        case Place.HEADER:
            return replace(request, headers=_headers(request.headers, step))
        case Place.BODY:
            return replace(request, body=_body(request.body, step))
        case Place.SCOPE | Place.BASE:
            return request  # no part of a request


def _merged(step: Resend, known: Mapping[str, Json]) -> dict[str, Json]:
    kept = {name: value for name, value in known.items() if name not in step.removed}
    return kept | dict(step.values)


def _headers(headers: tuple[tuple[str, str], ...], step: Resend) -> tuple[tuple[str, str], ...]:
    """Return headers under their original names; names are case-insensitive."""
    names = {name.lower(): name for name, _ in headers}
    lowered = replace(
        step,
        values={name.lower(): value for name, value in step.values.items()},
        removed=tuple(name.lower() for name in step.removed),
    )
    merged = _merged(lowered, {name.lower(): value for name, value in headers})
    return tuple((names.get(name, name), str(value)) for name, value in merged.items())


def _body(body: bytes, step: Resend) -> bytes:
    """Return a body with other members; the name "" stands for the whole of it."""
    if "" in step.removed:
        return b""
    if "" in step.values:
        return json.dumps(step.values[""]).encode()
    known = json.loads(body) if body else {}
    return json.dumps(_merged(step, known)).encode()


def _path(url: str, template: str, varied: Mapping[str, str]) -> str:
    """Return a URL with other path parameters."""
    path = urlsplit(url).path
    own, other = template, template
    for name, value in quoted_slots(template, path).items():
        own = own.replace(f"{{{name}}}", value)
        other = other.replace(
            f"{{{name}}}", quote(varied[name], safe="") if name in varied else value
        )
    return urlunsplit(urlsplit(url)._replace(path=path.removesuffix(own) + other))


# -- matching ----------------------------------------------------------------------
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
    # Headers with outputs are those of the control.
    made = RequestValues(outputs=OutputValues(sources=target.outputs))
    auth = target.auth.of(by_tpp=ordered[0].by_tpp)
    access = Access(token=_token_in(control, auth))
    calls = [_read(request, control.call, operation, target, says) for operation in ordered]
    for call, operation in zip(calls, ordered, strict=True):
        if _translated(target.operations.get(operation.id, BARE)):
            continue
        try:
            encoded = encode(call, operation, target, access, made)
        except CannotArrange:
            continue
        if _comparable(_authorised(encoded, control, target)) == _comparable(request):
            return call
    return replace(calls[0], malformed=_malformed(request))


def _translated(binding: OperationBinding) -> bool:
    """Whether values are translated on the wire; such requests are not decoded here."""
    return bool(binding.template) or not all(each.is_literal for each in binding.arguments.values())


def _token_in(control: Exchange, auth: Auth) -> str | None:
    """Return the token of a request, if it is not only in headers."""
    if all(at.place is Place.HEADER for at in auth.token_places):
        return None
    return shown_token(auth, RequestParts.of(control.wire))


def _authorised(request: HttpRequest, control: Exchange, target: Target) -> HttpRequest:
    """Return a request with the credentials of the control."""
    mark = target.presence
    usual = {"accept", "content-type"}
    if mark and mark.place is Place.HEADER:
        usual.add(mark.name.lower())
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
    parts = _BoundParts(request, _template(control, operation, binding))
    arguments = {
        name: value
        for name in binding.taken(operation)
        if (value := parts.at(_spelling(name, binding, parts))) is not MISSING
    }
    # What the target file would add, unless the call says that it is left out.
    added = [name for name, spelling in binding.arguments.items() if spelling.value is not None]
    absent = (name for name in added if name not in arguments and name in operation.arguments)
    # The slot of the path has the plain mode where another one stands elsewhere.
    last = sorted(binding.modes.items(), key=lambda mode: mode[1].place is Place.PATH)
    mode = next((name for name, spelling in last if parts.has_mode(spelling, binding)), None)
    mark = target.presence
    return replace(
        control,
        operation=operation.id,
        arguments=arguments,
        present=mark is None or mark.shows(parts.value_at(mark)),
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


def _spelling(name: str, binding: OperationBinding, parts: _BoundParts) -> Spelling | None:
    """Return where an argument is sent; a path parameter of its own comes first."""
    if name in parts.path:
        return Spelling(place=Place.PATH, name=name)
    return binding.arguments.get(name)


class _BoundParts(RequestParts):
    """A request taken apart, with the parameters of the path that an operation is bound to."""

    def __init__(self, request: HttpRequest, template: str) -> None:
        super().__init__(request.method, request.url, request.headers, request.body)
        self.path = slots_of(template, self.url.path)

    def at(self, spelling: Spelling | None) -> Json:
        """Return the value at a place, or `MISSING`; of several the first."""
        return MISSING if spelling is None else self.value_at(spelling, self.path)

    def has_mode(self, mode: Spelling, binding: OperationBinding) -> bool:
        """Whether a mode is requested; one that is the whole body is compared by members."""
        value = self.at(mode)
        wanted = with_arguments(
            mode.value, binding, lambda name: self.at(_spelling(name, binding, self))
        )
        if mode.place is Place.BODY and not mode.name and isinstance(value, dict):
            members = cast("Mapping[str, Json]", wanted)
            body = cast("Mapping[str, Json]", value)
            return all(body.get(name, MISSING) == member for name, member in members.items())
        if MISSING in (value, wanted):
            return False
        return same(value, wanted if mode.place is Place.BODY else text_of(wanted))
