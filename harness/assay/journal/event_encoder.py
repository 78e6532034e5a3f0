"""What a journal tells besides, so that a run can be judged again from its record.

The abstract call, what its answer meant, who owns what: in the words of the contract,
and masked. A private text becomes the pseudonym that it has everywhere; two texts that
share one are told apart by a digest under a key that nobody keeps. Of a masked text in an
answer it is said which formats it had. `recorded.journal` reads it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast
from urllib.parse import urlsplit

from assay.contract.model import Json
from assay.history import (
    Accepted,
    Authorised,
    Call,
    Effect,
    Exchange,
    Indeterminate,
    Item,
    Registered,
    Rejected,
    Subject,
    Unavailable,
    Withdrawn,
)
from assay.history.events import Masked
from assay.journal.redact import Redactor
from assay.rules.formats import FORMATS

#: Longer texts are told by their digest alone.
LONGEST = 2048
#: So many masked texts are remembered, to tell those apart that look alike.
MOST = 100_000
#: What stands for a value that is somebody's own.
PRIVATE = "<private>"

Told = dict[str, object]


@dataclass(slots=True, kw_only=True)
class EventEncoder:
    """Writes values down so that they can be compared later, and tell nothing.

    `forms` gathers what masked texts of the present line were.
    """

    redactor: Redactor
    forms: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _first: dict[str, str] = field(default_factory=dict[str, str])
    _own: dict[str, bool] = field(default_factory=dict[str, bool])

    def digest(self, text: bytes) -> str:
        """Return what two texts share only if they are the same; good for this run alone."""
        return hashlib.blake2b(text, digest_size=9, key=self._key).hexdigest()

    def text(self, text: str) -> str:
        """Return a text with everything private masked, and as different as it was."""
        if len(text) > LONGEST:
            return f"<text {self.digest(text.encode('utf-8', 'replace'))}>"
        masked = self.redactor.text(text)
        if masked == text:
            return text
        mark = self.digest(text.encode("utf-8", "replace"))
        if len(self._first) >= MOST:
            self._first.clear()
        first = self._first.setdefault(masked, mark)
        return masked if first == mark else f"{masked}~{mark}"

    def value(self, name: str, value: Json) -> object:
        """Return a value that stands under a name, masked; numbers stay exact."""
        match value:
            case str():
                if value and self._telling(name):
                    return f"<private {self.digest(value.encode('utf-8', 'replace'))}>"
                return self.text(value)
            case Decimal():
                return {"decimal": str(value)}
            case list() | tuple():
                return [self.value(name, one) for one in cast("list[Json]", value)]
            case Mapping():
                named = cast("Mapping[str, Json]", value)
                pairs = [[self.text(str(k)), self.value(str(k), v)] for k, v in named.items()]
                return {"object": pairs}
            case _:
                return value

    def _telling(self, name: str) -> bool:
        """Whether what stands under a name is somebody's own, as bodies are redacted."""
        if name not in self._own:
            if len(self._own) >= MOST:
                self._own.clear()
            part = json.dumps({name[:256]: ""}).encode()
            self._own[name] = PRIVATE in self.redactor.body(part)[0]
        return self._own[name]

    def values(self, given: Mapping[str, Json]) -> Told:
        """Return named values, masked."""
        return {name: self.value(name, one) for name, one in given.items()}

    def link(self, link: str) -> str:
        """Return a link of which at least its host can still be told."""
        masked = self.text(link)
        try:
            parts = urlsplit(link)
            origin = self.redactor.text(f"{parts.scheme}://{parts.netloc}")
        except ValueError:
            return masked
        if not parts.netloc or masked.startswith(origin):
            return masked
        return f"{origin}/{masked}"

    # -- events ------------------------------------------------------------------
    def exchange(self, exchange: Exchange) -> Told:
        """Return the call, what its answer meant, and what its body was."""
        self.forms = {}
        outcome = exchange.outcome
        told: Told = {"call": self._call(exchange.call)}
        match outcome:
            case Accepted():
                given = {
                    "items": None if outcome.items is None else self._items(outcome.items),
                    "values": {k: _bare(v) for k, v in outcome.values.items()},
                    "next": self.link(outcome.next) if outcome.next else None,
                    "approval": self.link(outcome.approval) if outcome.approval else None,
                }
                told["answer"] = {name: one for name, one in given.items() if one not in (None, {})}
            case Rejected(leaked=leaked) | Unavailable(leaked=leaked):
                told["answer"] = {"items": self._items(leaked)} if leaked else {}
            case Indeterminate(cause=cause):
                told["answer"] = {"cause": cause.name}
        wire = exchange.wire
        if wire.links:
            told["links"] = [self.link(one) for one in wire.links]
        if wire.body:
            told["body"] = [_form(wire.body), self.digest(wire.body)]
        if wire.truncated:
            told["cut"] = True
        if self.forms:
            told["forms"] = self.forms
        return told

    def _call(self, call: Call) -> Told:
        every: Told = {
            "arguments": self.values(call.arguments),
            "alias": call.alias,
            "follow": self.link(call.follow) if call.follow else None,
            "mode": call.mode,
            "credentials": call.credentials,
            "malformed": call.malformed.name if call.malformed else None,
            "without": list(call.without),
            "varied": list(call.varied),
            "by": call.by,
            "host": call.host,
        }
        # What is as in a plain call need not be said; the first host has no number.
        return {k: v for k, v in every.items() if v not in (None, "", [], {}) and v is not False}

    def _items(self, items: Iterable[Item]) -> list[Told]:
        return [self._item(one) for one in items]

    def _item(self, item: Item) -> Told:
        told: Told = {}
        if item.resource is not None:
            told["resource"] = item.resource
        if item.key is not None:
            told["key"] = self.text(item.key)
        if item.on is not None:
            told["on"] = item.on.isoformat()
        if item.state is not None:
            told["state"] = item.state.value
        if item.fields:
            told["fields"] = {name: self._field(name, one) for name, one in item.fields.items()}
        if item.digest:
            told["digest"] = self.digest(item.digest.encode())
        return told

    def _field(self, name: str, value: Json) -> object:
        told = self.value(name, value)
        masked = isinstance(value, Masked) or told != value
        if isinstance(told, str) and masked and told not in self.forms:
            self.forms[told] = [form for form, fits in FORMATS.items() if fits(value)]
        return told

    def subject(self, subject: Subject) -> Told:
        """Return what a subject owns, with the entries below it."""
        return {
            "fresh": subject.fresh,
            "segment": subject.segment,
            "owns": [
                {
                    "key": self.text(one.key),
                    "traits": self.values(one.traits),
                    "entries": [[each.on.isoformat(), self.text(each.key)] for each in one.entries],
                }
                for one in subject.owns
            ],
        }

    def authorised(self, event: Authorised) -> Told:
        """Return how somebody signed, without what was typed in."""
        step = event.step
        return {
            "step": {
                "request": self.text(step.request),
                "approval": self.link(step.approval) if step.approval else None,
                "decision": step.decision.name,
                "factor": step.factor,
                "by": step.by,
                "code": step.code.name,
                "pace": step.pace.total_seconds(),
                "linger": [one.total_seconds() for one in step.linger],
                "spoof": self.text(step.spoof),
            },
            "ending": event.ending.name,
            "moments": [one.isoformat() for one in event.moments],
            "offered": None if event.offered is None else list(map(self.text, event.offered)),
            "screens": list(map(self.text, event.screens)),
            "redirected": None if event.redirected is None else self.text(event.redirected),
            "unspelt": list(map(self.text, event.unspelt)),
            "coded": event.coded,
            "stuck": event.stuck,
        }

    def registered(self, event: Registered) -> Told:
        """Return what a subject has known, masked."""
        return {"value": self.value(event.argument, event.value)}

    def withdrawn(self, event: Withdrawn) -> Told:
        """Return which request was cancelled elsewhere, and when."""
        return {"request": self.text(event.request), "now": event.now.isoformat()}

    def effect(self, effect: Effect) -> Told:
        """Return as what a request was carried out."""
        return {"request": self.text(effect.request), "fields": self.values(effect.fields)}


def _bare(value: Json) -> object:
    """Return a value that stands beside a list: whether there is one, and no more."""
    return value if value in (None, "", [], {}, False, 0) else PRIVATE


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


#: Made once, as they are asked about every answer; numbers of any length are JSON, too.
_QUICK = json.JSONDecoder(parse_constant=_refuse)
_PATIENT = json.JSONDecoder(parse_constant=_refuse, parse_int=str, parse_float=str)


def _form(body: bytes) -> str:
    """Say whether a body is JSON (RFC 8259), without a word of it."""
    for decoder in (_QUICK, _PATIENT):
        try:
            decoder.decode(body.decode("utf-8"))
        except ValueError:
            continue
        except RecursionError:
            return "deep"
        return "json"
    return "broken"
