"""Masking of the texts, links and bodies that an event is written with.

A private text becomes its pseudonym. Texts that share a pseudonym stay apart by a digest
whose key is not kept, so that a check of a journal compares what the run compared. Of a
body only its form is written.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast
from urllib.parse import urlsplit

from assay.binding.model.secret_names import secret_kind
from assay.contract.model import Json
from assay.contract.scalars import canonical
from assay.history.events import Masked
from assay.journal.redact import Redactor
from assay.rules.formats import FORMS
from assay.rules.queries import has_value

#: Longer texts are written as a digest only.
LONGEST = 2048
#: How many masked texts are remembered, to distinguish those that look alike.
MOST = 100_000
#: Replaces a value that belongs to a person.
PRIVATE = "<private>"
#: A body of each form, in place of one of which only the form is known.
BODIES: Mapping[str, bytes] = {"json": b'"%s"', "broken": b'{"%s', "deep": b"[" * 100_000 + b"%s"}


@dataclass(slots=True, kw_only=True)
class ValueMasker:
    """Masks values so that they can still be compared.

    `forms` has the formats of the texts that were masked in the current response.
    """

    redactor: Redactor
    forms: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _first: dict[str, str] = field(default_factory=dict[str, str])
    _own: dict[str, bool] = field(default_factory=dict[str, bool])

    def digest(self, text: bytes) -> str:
        """Return a digest that two texts share only if they are equal; valid for this run only."""
        return hashlib.blake2b(text, digest_size=9, key=self._key).hexdigest()

    def likeness(self, value: Json) -> Json:
        """Return a mark in place of a value that says anything, the same for equal values."""
        if not value or not has_value(value):
            return None if value else value
        text = json.dumps(value, sort_keys=True, default=str)
        return f"{PRIVATE} {self.digest(text.encode())}"

    def text(self, text: str) -> str:
        """Return a text with everything private masked; different texts stay different."""
        if len(text) > LONGEST:
            return f"<text {self.digest(text.encode('utf-8', 'replace'))}>"
        masked = self.redactor.text(text)
        if masked == text:
            return text
        masked = self._marked(masked, str(canonical(text)), "~")
        return self._marked(masked, text, "~~")

    def _marked(self, masked: str, text: str, sign: str) -> str:
        """Return a masked text, with a mark if another text was masked like that before."""
        mark = self.digest(text.encode("utf-8", "replace"))
        if len(self._first) >= MOST:
            self._first.clear()
        first = self._first.setdefault(f"{masked}{sign}", mark)
        return masked if first == mark else f"{masked}{sign}{mark}"

    def value(self, name: str, value: Json) -> object:
        """Return the value of a named field, masked; numbers stay exact."""
        match value:
            case str():
                if value and self._is_private(name):
                    return f"<private {self.digest(value.encode('utf-8', 'replace'))}>"
                return self.text(value)
            case Decimal():
                return {"decimal": str(value)}
            case list() | tuple():
                return [self.value(name, item) for item in cast("list[Json]", value)]
            case Mapping():
                named = cast("Mapping[str, Json]", value)
                pairs = [[self.text(str(k)), self.value(str(k), v)] for k, v in named.items()]
                return {"object": pairs}
            case _:
                return value

    def _is_private(self, name: str) -> bool:
        """Whether a field of this name is a secret or belongs to a person, as in bodies."""
        if name not in self._own:
            if len(self._own) >= MOST:
                self._own.clear()
            part = json.dumps({name[:256]: ""}).encode()
            is_secret = secret_kind(name) is not None
            self._own[name] = is_secret or PRIVATE in self.redactor.body(part)[0]
        return self._own[name]

    def link(self, link: str) -> str:
        """Return a masked link whose host can still be read."""
        masked = self.text(link)
        try:
            parts = urlsplit(link)
            origin = self.redactor.text(f"{parts.scheme}://{parts.netloc}")
        except ValueError:
            return masked
        if not parts.netloc or masked.startswith(origin):
            return masked
        return f"{origin}/{masked}"

    def shown(self, name: str, value: Json) -> object:
        """Return the value of a field in a response, masked; note its formats."""
        written = self.value(name, value)
        masked = isinstance(value, Masked) or written != value
        if isinstance(written, str) and masked and written not in self.forms:
            self.forms[written] = [form for form, fits in FORMS.items() if fits(value)]
        return written


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


#: Created once, because every response is checked; numbers of any length are JSON, too.
_QUICK = json.JSONDecoder(parse_constant=_refuse)
_PATIENT = json.JSONDecoder(parse_constant=_refuse, parse_int=str, parse_float=str)


def form_of(body: bytes) -> str:
    """Return whether a body is JSON (RFC 8259), broken, or too deeply nested to decide."""
    for decoder in (_QUICK, _PATIENT):
        try:
            decoder.decode(body.decode("utf-8"))
        except ValueError:
            continue
        except RecursionError:
            return "deep"
        return "json"
    return "broken"
