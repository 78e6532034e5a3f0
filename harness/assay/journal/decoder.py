"""Decoder of journal events: each line with an event, read by the declared types of its fields.

A line may be damaged, or written by anybody. Whatever is read has the type that its class
declares, so that a check needs to expect nothing else; everything else is refused with its place
in the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias, cast

from assay.binding.submission import SUBMISSION
from assay.contract.model import Json
from assay.history import Authorise, Authorised, Call, Event, Exchange, Submitted, Wire
from assay.journal.codec import KINDS, OUTCOMES, SIGNING, SUBMITS
from assay.journal.masking import BODIES
from assay.journal.typed_values import Forms, InvalidValueError, checked, inside, read_record

Raw: TypeAlias = Mapping[str, object]


# -- the parts of a line that no class of events has -------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Response:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: str
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    kind: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchanged:
    """What a report shows of an exchange or a signature."""

    n: int
    at: datetime
    subject: str
    variation: str
    operation: str
    present: bool
    request: _Request
    response: _Response
    outcome: _Outcome
    ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Again:
    """What else is known of an answer."""

    body: tuple[str, ...] = ()
    cut: bool = False
    links: tuple[str, ...] = ()
    confounded: str = ""
    forms: Mapping[str, Json] = field(default_factory=dict[str, Json])


# -- events ------------------------------------------------------------------------
def decode(line: Raw) -> Event:
    """Return the event of a line whose `type` is one of `EVENTS`.

    Raises:
        InvalidValueError: the line is damaged.

    """
    if line["type"] != "exchange":
        return cast("Event", read_record(KINDS[cast("str", line["type"])], line, {}))
    shown = read_record(_Exchanged, line, {})
    again = _member(line, "again")
    shared: Raw = {
        name: line[name] for name in ("n", "at", "subject", "variation", "ms") if name in line
    }
    if shown.operation == SIGNING:
        return _signature(shown, shared, again)
    known = inside("again", read_record, _Again, again, {})
    forms = inside("again.forms", _forms, known.forms)
    operation = shown.operation
    if SUBMITS in line:
        operation = operation.removesuffix(f".{SUBMISSION}")
    call = {**shared, "operation": operation, "present": shown.present}
    kind_of_outcome = OUTCOMES.get(shown.outcome.kind)
    if kind_of_outcome is None:
        raise InvalidValueError("is no outcome", ("outcome", "kind"))
    answer = {**_member(again, "answer", "again"), "why": shown.outcome.why}
    submits = {"request": line[SUBMITS]} if SUBMITS in line else {}
    kind: type[Exchange | Submitted] = Submitted if submits else Exchange
    return read_record(
        kind,
        {**shared, **submits},
        {},
        call=inside(
            "again.call", read_record, Call, {**call, **_member(again, "call", "again")}, {}
        ),
        outcome=inside("again.answer", read_record, kind_of_outcome, answer, forms),
        wire=_wire(shown, known),
        confounded=known.confounded,
    )


def _signature(shown: _Exchanged, shared: Raw, again: Raw) -> Authorised:
    step = inside(
        "again.step", read_record, Authorise, {**shared, **_member(again, "step", "again")}, {}
    )
    wire = Wire(method="SIGN", url=shown.request.url, status=shown.response.status)
    given: Raw = {**shared, **again, "why": shown.outcome.why}
    signed: Authorised = inside("again", read_record, Authorised, given, {}, step=step, wire=wire)
    if not signed.moments:
        raise InvalidValueError("is empty", ("again", "moments"))
    return signed


def _wire(shown: _Exchanged, known: _Again) -> Wire:
    request, response = shown.request, shown.response
    return Wire(
        method=request.method,
        url=request.url,
        request_headers=request.headers,
        request_body=request.body.encode("utf-8", "surrogatepass"),
        status=response.status,
        headers=response.headers,
        body=inside("again.body", _body, known.body),
        truncated=known.cut,
        links=known.links,
    )


def _body(parts: tuple[str, ...]) -> bytes:
    """Return a body of the form of the one that was received."""
    match parts:
        case ():
            return b""
        case (form, mark) if form in BODIES:
            return BODIES[form].replace(b"%s", mark.encode("utf-8", "surrogatepass"))
        case _:
            raise InvalidValueError("is not the form and the digest of a body")


def _forms(raw: Mapping[str, Json]) -> Forms:
    return {name: inside(name, _texts, names) for name, names in raw.items()}


def _texts(raw: Json) -> list[str]:
    return [checked(str, text) for text in checked(list, raw)]


def _member(raw: Raw, name: str, *place: str) -> Raw:
    """Return an object that is required in another one."""
    if name not in raw:
        raise InvalidValueError("is missing", (*place, name))
    return cast("Raw", inside(".".join((*place, name)), checked, dict, raw[name]))
