"""Encoder of journal events: each event as one JSON object, masked. The decoder reads it back.

An event is written field by field, without defaults. Only an exchange, or a signature,
has two parts: what a report shows (`request`, `response`, `outcome`), and `again`, from
which a check can judge it a second time.

A private text is written as its pseudonym. Texts that share a pseudonym stay apart by a
digest whose key is not kept; of a masked text in a response, `forms` names the formats
that it had.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import date, timedelta
from enum import Enum
from functools import cache
from typing import Any, TypeAlias, cast

from assay.binding.submission import SUBMISSION
from assay.contract.model import Json
from assay.history import (
    Accepted,
    Advanced,
    AnsweredCall,
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
    ShownError,
    Subject,
    Submitted,
    Unavailable,
    Withdrawn,
)
from assay.journal.masking import ValueMasker, form_of

Record: TypeAlias = dict[str, object]

#: The name of a signature, in place of an operation.
SIGNING = "signing"
#: The member of the line of a submission with the key of the request.
SUBMITS = "submits"
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
        *("adds", "argument", "by", "factor", "mode", "name", "operation"),
        *("generated", "located", "segment", "subject", "varied", "without"),
    }
)
#: Fields that are links, whose host stays readable.
LINKS = frozenset({"approval", "follow", "next"})
#: Fields that another part of the line has, or that must not be written.
ELSEWHERE: Mapping[type[Any], frozenset[str]] = {
    Call: frozenset({"operation", "subject", "present", "variation"}),
    Authorise: frozenset({"subject", "variation"}),
    Authorised: frozenset({"n", "wire", "why", "ms"}),
    Accepted: frozenset({"outputs"}),
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


@dataclass(slots=True, kw_only=True)
class EventEncoder:
    """Writes events so that they can be compared and judged later, without private texts."""

    mask: ValueMasker

    def line(self, event: Event) -> tuple[str, Record]:
        """Return the kind and the content of the line for an event."""
        if isinstance(event, Submitted):
            line = self._exchange(event)
            operation = f"{event.call.operation}.{SUBMISSION}"
            request = self.mask.text(event.request)
            return "exchange", {**line, "operation": operation, SUBMITS: request}
        if isinstance(event, Exchange):
            return "exchange", self._exchange(event)
        if isinstance(event, Authorised):
            return "exchange", self._authorised(event)
        record = self.record(event)
        if isinstance(event, Registered):
            record["value"] = self.mask.value(event.argument, event.value)
        return type(event).__name__.lower(), record

    def _head(self, event: AnsweredCall | Authorised, step: Call | Authorise) -> Record:
        return {
            "n": event.n,
            "at": event.at.isoformat(),
            "subject": step.subject,
            "variation": self.mask.redactor.text(step.variation),
            "ms": round(event.ms, 2),
        }

    def _exchange(self, exchange: AnsweredCall) -> Record:
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

    def _again(self, exchange: AnsweredCall) -> Record:
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
            "redirected": None
            if event.redirected is None
            else self.mask.redactor.link(event.redirected),
            "moments": [moment.isoformat() for moment in event.moments],
        }
        url, status = self.mask.redactor.link(step.approval or ""), event.wire.status
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
        if kind in {Item, ShownError} and name == "fields":
            return {key: self.mask.shown(key, value) for key, value in content.items()}
        if kind is Item and name in {"digest", "content"}:
            return self.mask.digest(content.encode("utf-8", "surrogatepass"))
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
