"""Codec of journal events and of the ends of trials: JSON objects, masked, read by declared types.

An event is written field by field, without defaults. Only an exchange, or a signature,
has two parts: what a report shows (`request`, `response`, `outcome`), and `again`, from
which a check can judge it a second time.

A private text is written as its pseudonym. Texts that share a pseudonym stay apart by a
digest whose key is not kept; of a masked text in a response, `forms` names the formats
that it had.

A line may be damaged, or written by anybody. Whatever is read has the type that its class
declares, so that a check needs to expect nothing else; everything else is refused with its place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any, TypeAlias, cast

from assay.binding.model.submission import SUBMISSION
from assay.contract.model import Json
from assay.history import (
    Accepted,
    Advanced,
    AnsweredCall,
    Authorise,
    Authorised,
    Call,
    DocumentRemark,
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
    Wire,
    Withdrawn,
)
from assay.journal.lines import Line
from assay.journal.redact.masking import BODIES, ValueMasker, form_of
from assay.journal.typed_values import (
    Forms,
    InvalidValueError,
    changed_fields,
    checked,
    inside,
    read_line,
    read_record,
)
from assay.judging.corrections import AnswersSeen
from assay.rules.verdict import Verdict

Record: TypeAlias = dict[str, object]
Raw: TypeAlias = Mapping[str, object]

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
        if exchange.documented:
            again["documented"] = [self.record(each) for each in exchange.documented]
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
        elsewhere = ELSEWHERE.get(kind, ())
        return {
            name: self._field(kind, name, content)
            for name, content in changed_fields(value)
            if name not in elsewhere
        }

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


# -- reading: the parts of a line that no class of events has --------------------
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
    documented: tuple[DocumentRemark, ...] = ()
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
        documented=known.documented,
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


# -- ends of trials ----------------------------------------------------------------
# Such a line is written when a trial, or a search, has ended, before its preliminary verdicts. It has
# all that a resumed run must know of the trial, as JSON that follows from the fields of the classes.
@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictSource:
    """The trial that shows a violation, with its sequence or the obligation that it settles."""

    trial: str = ""
    replay: str = ""
    settles: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """A verdict before corrections, and what shows it, if that is not the trial of the obligation."""

    verdict: Verdict
    source: VerdictSource = VerdictSource()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accesses:
    """How many accesses without the customer a run has made."""

    customer: str
    operation: str
    accesses: int


def accesses(line: Line) -> tuple[Accesses, ...]:
    """Read the accesses without the customer that a footer names."""
    return tuple(
        Accesses(
            customer=each.text("customer"),
            operation=each.text("operation"),
            accesses=each.count("accesses"),
        )
        for each in line.objects("spent")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnd:
    """What a trial changed. It is not `done` if the target could not be used.

    `shown` counts what agreed by facet, and `hides` says whether that is less than in the base
    context. `answers` are those of the operations that showed something new; `spent` is what the
    run had spent until then.
    """

    trial: str
    done: bool = True
    hides: bool = False
    shown: Mapping[str, int] = field(default_factory=dict[str, int])
    verdicts: tuple[RecordedVerdict, ...] = ()
    answers: AnswersSeen = field(default_factory=AnswersSeen)
    spent: tuple[Accesses, ...] = ()


def trial_end(line: Line) -> TrialEnd:
    """Read the line of a trial that ended.

    Raises:
        JournalError: it is damaged.

    """
    return read_line(line, lambda values: read_record(TrialEnd, values, {}))
