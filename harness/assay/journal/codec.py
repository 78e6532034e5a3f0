"""Codec of journal events: each event as one JSON object, masked, and back.

An event is written field by field, without defaults. Only an exchange, or a signature,
has two parts: what a report shows (`request`, `response`, `outcome`), and `again`, from
which a check can judge it a second time.

A private text is written as its pseudonym. Texts that share a pseudonym stay apart by a
digest whose key is not kept; of a masked text in a response, `forms` names the formats
that it had. A line that is not valid raises `KeyError`, `ValueError`, `TypeError` or
`AttributeError` when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from assay.contract.model import Json
from assay.history import (
    Accepted,
    Advanced,
    Authorise,
    Authorised,
    Call,
    Effects,
    Event,
    Exchange,
    Indeterminate,
    Item,
    Lacking,
    Registered,
    Rejected,
    Renewed,
    Subject,
    Unavailable,
    Wire,
    Withdrawn,
)
from assay.history.events import Masked
from assay.journal.masking import BODIES, ValueMasker, form_of

T = TypeVar("T")
Record: TypeAlias = dict[str, object]
Line: TypeAlias = Mapping[str, Any]

#: The name of a signature, in place of an operation.
SIGNING = "signing"
#: The kinds of lines that are only the fields of an event.
KINDS: Mapping[str, type[Any]] = {
    kind.__name__.lower(): kind
    for kind in (Subject, Advanced, Effects, Registered, Withdrawn, Renewed, Lacking)
}
#: Every kind of line that has an event.
EVENTS = frozenset({"exchange", *KINDS})
OUTCOMES: Mapping[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Accepted, Rejected, Unavailable, Indeterminate)
}

#: Fields with names from the contract or the harness; all other text is masked.
PLAIN = frozenset(
    {
        *("argument", "by", "factor", "mode", "name", "operation"),
        *("resource", "segment", "subject", "varied", "without"),
    }
)
#: Fields that are links, whose host stays readable.
LINKS = frozenset({"approval", "follow", "next"})
#: Fields that another part of the line has, or that must not be written.
ELSEWHERE: Mapping[type[Any], frozenset[str]] = {
    Call: frozenset({"operation", "subject", "present", "variation"}),
    Authorise: frozenset({"subject", "variation"}),
    Authorised: frozenset({"n", "wire", "why", "ms"}),
    Indeterminate: frozenset({"why"}),
    Item: frozenset({"id"}),
}


@cache
def _defaults(kind: Any) -> tuple[tuple[str, object], ...]:
    """Return the written fields of a class, each with its default or `MISSING`."""
    return tuple(
        (item.name, item.default if item.default_factory is MISSING else item.default_factory())
        for item in fields(kind)
        if item.name not in ELSEWHERE.get(kind, ())
    )


# -- writing ---------------------------------------------------------------------
@dataclass(slots=True, kw_only=True)
class EventEncoder:
    """Writes events so that they can be compared and judged later, without private texts."""

    mask: ValueMasker

    def line(self, event: Event) -> tuple[str, Record]:
        """Return the kind and the content of the line for an event."""
        if isinstance(event, Exchange):
            return "exchange", self._exchange(event)
        if isinstance(event, Authorised):
            return "exchange", self._authorised(event)
        record = self.record(event)
        if isinstance(event, Registered):
            record["value"] = self.mask.value(event.argument, event.value)
        return type(event).__name__.lower(), record

    def _head(self, event: Exchange | Authorised, step: Call | Authorise) -> Record:
        return {
            "n": event.n,
            "at": event.at.isoformat(),
            "subject": step.subject,
            "variation": self.mask.redactor.text(step.variation),
            "ms": round(event.ms, 2),
        }

    def _exchange(self, exchange: Exchange) -> Record:
        call, outcome, redactor = exchange.call, exchange.outcome, self.mask.redactor
        why = redactor.bounded(outcome.why, 1000) if isinstance(outcome, Indeterminate) else ""
        return {
            **self._head(exchange, call),
            "operation": call.operation,
            "present": call.present,
            **redactor.wire(exchange.wire),
            "outcome": {"kind": type(outcome).__name__.lower(), "why": why},
            "again": self._again(exchange),
        }

    def _again(self, exchange: Exchange) -> Record:
        self.mask.forms = {}
        wire = exchange.wire
        again: Record = {
            "call": self.record(exchange.call),
            "answer": self.record(exchange.outcome),
        }
        if wire.links:
            again["links"] = [self.mask.link(link) for link in wire.links]
        if wire.body:
            again["body"] = [form_of(wire.body), self.mask.digest(wire.body)]
        if wire.truncated:
            again["cut"] = True
        if exchange.confounded:
            again["confounded"] = self.mask.redactor.text(exchange.confounded)
        if self.mask.forms:
            again["forms"] = self.mask.forms
        return again

    def _authorised(self, event: Authorised) -> Record:
        """Return a signature in the form of an exchange, without the code."""
        step, text = event.step, self.mask.redactor.bounded
        request = {
            "decision": step.decision.value,
            "factor": step.factor,
            "code": step.code.value,
            "request": self.mask.redactor.text(step.request),
        }
        result = {
            "ending": event.ending.value,
            "screens": [text(screen, 64) for screen in event.screens],
            "offered": None
            if event.offered is None
            else [text(factor, 64) for factor in event.offered],
            "redirected": None if event.redirected is None else text(event.redirected, 2048),
            "moments": [moment.isoformat() for moment in event.moments],
        }
        url, status = text(step.approval or "", 2048), event.wire.status
        response = {"status": status, "headers": [], "body": json.dumps(result), "truncated": False}
        return {
            **self._head(event, step),
            "operation": SIGNING,
            "present": True,
            "request": {"method": "SIGN", "url": url, "headers": [], "body": json.dumps(request)},
            "response": response,
            "outcome": {"kind": event.ending.name.lower(), "why": text(event.why, 1000)},
            "again": self.record(event),
        }

    def record(self, value: Any) -> Record:
        """Return the fields of a value that are not at their defaults, masked."""
        kind: Any = type(value)
        record: Record = {}
        for name, default in _defaults(kind):
            content = getattr(value, name)
            if content != default:
                record[name] = self._field(kind, name, content)
        return record

    def _field(self, kind: type[Any], name: str, content: Any) -> object:
        if kind is Item and name == "fields":
            return {key: self.mask.shown(key, value) for key, value in content.items()}
        if kind is Item and name in {"digest", "content"}:
            return self.mask.digest(content.encode())
        if kind is Accepted and name == "values":
            # Checks only read whether there is a value beside a list, and whether two are the same.
            return {key: self.mask.likeness(value) for key, value in content.items()}
        return self._content(name, content)

    def _content(self, name: str, content: Any) -> object:
        if isinstance(content, str):
            write = self.mask.link if name in LINKS else self.mask.text
            return content if name in PLAIN or not content else write(content)
        if isinstance(content, tuple):
            return [self._content(name, item) for item in content]
        if isinstance(content, Mapping):
            named = cast("Mapping[str, Json]", content)
            return {key: self.mask.value(key, value) for key, value in named.items()}
        return self.record(content) if is_dataclass(content) else _scalar(content)


def _scalar(content: Any) -> object:
    match content:
        case Enum():
            return content.name
        case date():
            return content.isoformat()
        case timedelta():
            return content.total_seconds()
        case _:
            return content


# -- reading ---------------------------------------------------------------------
Forms: TypeAlias = Mapping[str, list[str]]
Reader: TypeAlias = Callable[[Any, Forms], Any]


def decode(line: Line) -> Event:
    """Return the event of a line whose `type` is one of `EVENTS`."""
    kind = line["type"]
    if kind != "exchange":
        return cast("Event", _record(KINDS[kind], line, {}))
    again, why = line["again"], {"why": line["outcome"]["why"]}
    shared = {name: line[name] for name in ("n", "at", "subject", "variation")}
    shared |= {"ms": line.get("ms", 0.0), "confounded": again.get("confounded", "")}
    if line["operation"] == SIGNING:
        step = _record(Authorise, shared | again["step"], {})
        wire = Wire(method="SIGN", url=line["request"]["url"], status=line["response"]["status"])
        return _record(Authorised, shared | again | why, {}, step=step, wire=wire)
    call_fields = {"operation": line["operation"], "present": line["present"]}
    call = _record(Call, shared | call_fields | again["call"], {})
    kind_of_outcome = OUTCOMES[line["outcome"]["kind"]]
    outcome = _record(kind_of_outcome, again["answer"] | why, again.get("forms", {}))
    return _record(Exchange, shared, {}, call=call, outcome=outcome, wire=_wire(line, again))


def _wire(line: Line, again: Line) -> Wire:
    request, response = line["request"], line["response"]
    form, mark = again.get("body", ("", ""))
    return Wire(
        method=request["method"],
        url=request["url"],
        request_headers=tuple((name, value) for name, value in request["headers"]),
        request_body=request["body"].encode(),
        status=response["status"],
        headers=tuple((name, value) for name, value in response["headers"]),
        body=BODIES[form].replace(b"%s", mark.encode()) if form else b"",
        truncated=again.get("cut", False),
        links=tuple(again.get("links", ())),
    )


def _record(kind: type[T], raw: Line, forms: Forms, **given: object) -> T:
    """Return a value of a class from its fields; a missing field has its default."""
    known: Any = kind
    read = {
        name: reader(raw[name], forms)
        for name, reader, required in _readers(known, frozenset(given))
        if required or name in raw
    }
    return kind(**read, **given)


@cache
def _readers(kind: Any, given: frozenset[str]) -> tuple[tuple[str, Reader, bool], ...]:
    """Return the fields that are not given, with their readers, and whether each is required."""
    hints = get_type_hints(kind)
    return tuple(
        (item.name, _reader(hints[item.name]), item.default is item.default_factory is MISSING)
        for item in fields(kind)
        if item.name not in given
    )


def _reader(hint: Any) -> Reader:
    """Return the reader of a field of a type."""
    inner = get_args(hint)
    if isinstance(hint, UnionType) or NoneType in inner:
        (kind,) = (each for each in inner if each is not NoneType)
        read = _reader(kind)
        return lambda raw, forms: None if raw is None else read(raw, forms)
    if get_origin(hint) is tuple:
        each = _reader(inner[0])
        return lambda raw, forms: tuple(each(item, forms) for item in _checked(list, raw))
    if inner:
        return lambda raw, forms: {key: _value(value, forms) for key, value in raw.items()}
    if hint is object:
        return _value
    if is_dataclass(hint):
        return partial(_record, cast("type[Any]", hint))
    by_name = hint.__getitem__ if issubclass(hint, Enum) else None
    return partial(_plain, by_name or READERS.get(hint, partial(_checked, hint)))


def _plain(read: Callable[[Any], Any], raw: Any, _: Forms) -> Any:
    return read(raw)


def _checked(kind: type[Any], raw: Any) -> Any:
    if not isinstance(raw, kind):
        raise TypeError(f"{raw!r:.40} is not of type {kind.__name__}")
    return raw


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without an offset")
    return moment


READERS: Mapping[type[Any], Callable[[Any], Any]] = {
    datetime: _moment,
    date: date.fromisoformat,
    timedelta: lambda seconds: timedelta(seconds=seconds),
    float: float,
}


def _value(raw: Any, forms: Forms) -> Json:
    match raw:
        case str():
            return Masked(raw, forms[raw]) if raw in forms else raw
        case list():
            values: list[Any] = raw
            return [_value(value, forms) for value in values]
        case {"decimal": str(text)}:
            return Decimal(text)
        case {"object": list(pairs)}:
            listed = cast("list[list[Any]]", pairs)
            return {str(name): _value(value, forms) for name, value in listed}
        case _:
            return cast("Json", raw)
