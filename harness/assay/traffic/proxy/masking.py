"""Masking of the exchanges that the proxy records: secrets by position and by value.

What stands under a secret's name becomes a pseudonym, such as `<token-1>`, always the same one; so
callers can be distinguished, and an issued token is recognised where it is used. The same values
are then masked wherever else they occur, in any encoding. JSON and forms can be read for names;
a body of another kind is withheld, unless the user keeps it: then it is masked as well as its
text allows. Other private data stay: without them nothing could be judged.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from base64 import b64encode
from binascii import Error, a2b_base64
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from assay.journal.known_values import SHORTEST, KnownValues, replaced
from assay.journal.secret_positions import headers as masked_headers
from assay.journal.secret_positions import (
    json_members,
    json_strings,
    labelled,
    markup,
    may_have_secrets,
    parameters,
)
from assay.traffic.proxy.messages import Headers

__all__ = ["FORM", "HarMasker", "MaskedBody", "MaskedMessages"]

FORM = "application/x-www-form-urlencoded"
#: How many values are searched for anywhere; earlier ones only as whole words.
MAX_CURRENT = 200
#: The kinds of values that are often no secrets, and how long one is that surely is one.
OFTEN_SETTINGS = {"cookie": 8, "field": 16, "session": 8, "key": 6}
#: Words and numbers that are searched for nowhere, though they stand under a secret's name.
_ORDINARY = re.compile(r"true|false|none|null|\d{1,3}|<[a-z-]+-\d+>", re.IGNORECASE)
_CHARSET = re.compile(r"charset=\"?([\w-]{1,32})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedBody:
    """A body as it is recorded; `packed` says that the text is base64, `note` what is missing."""

    text: str = ""
    packed: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedMessages:
    """The parts of an exchange, masked."""

    url: str
    reason: str
    failure: str
    request_headers: Headers
    response_headers: Headers
    request_body: MaskedBody
    response_body: MaskedBody


@dataclass(slots=True, kw_only=True)
class HarMasker:
    """Replaces secrets by pseudonyms; used by several threads."""

    keep_bodies: bool = False
    values: KnownValues = field(default_factory=KnownValues)
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _lock: Lock = field(default_factory=Lock)

    def mask(
        self,
        *,
        url: str,
        reason: str,
        failure: str,
        request_headers: Headers,
        response_headers: Headers,
        request_body: tuple[bytes, bool],
        response_body: tuple[bytes, bool],
    ) -> MaskedMessages:
        """Mask an exchange: all of it by position first, so that no value is still unknown.

        With a body comes whether it was cut off.
        """
        with self._lock:
            if len(self.values.current) > MAX_CURRENT:
                self.values.begin()
            url = parameters(url, self.pseudonym)
            sent = masked_headers(request_headers, self._header_value)
            received = masked_headers(response_headers, self._header_value)
            body, cut = request_body
            sent_body = self._body(body, request_headers, answer=False, cut=cut)
            body, cut = response_body
            received_body = self._body(body, response_headers, answer=True, cut=cut)
            return MaskedMessages(
                url=self.text(url),
                reason=self.text(reason),
                failure=self.text(failure),
                request_headers=tuple((self.text(name), self.text(value)) for name, value in sent),
                response_headers=tuple(
                    (self.text(name), self.text(value)) for name, value in received
                ),
                request_body=sent_body(),
                response_body=received_body(),
            )

    def pseudonym(self, value: str, kind: str) -> str:
        """Return the pseudonym of a secret, and search for it from now on."""
        if value not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[value] = f"<{kind}-{self._counts[kind]}>"
        shortest = OFTEN_SETTINGS.get(kind, SHORTEST)
        if len(value) >= shortest and not _ORDINARY.fullmatch(value):
            self.values.add(value, self._names[value])
        return self._names[value]

    def _header_value(self, value: str, kind: str) -> str:
        """Return the pseudonym of a secret in a header; a Basic header has two more."""
        pseudonym = self.pseudonym(value, kind)
        if kind == "credentials":
            try:
                pair = a2b_base64(value.encode("ascii", "replace")).decode("utf-8", "replace")
            except Error:
                pair = ""
            if pair.partition(":")[2]:
                self.pseudonym(pair, kind)
                self.pseudonym(pair.partition(":")[2], "basic-secret")
        return pseudonym

    def text(self, text: str) -> str:
        """Return a text with every known secret masked."""
        return replaced(text, self.values.spans(text)) if text else text

    def _json(self, text: str) -> str:
        """Return JSON with every known secret masked; a number becomes a text."""
        return json_strings(text, self.text) if self.values.spans(text) else text

    def _body(
        self, data: bytes, headers: Headers, *, answer: bool, cut: bool
    ) -> Callable[[], MaskedBody]:
        """Mask a body by position; return what masks it by value."""
        if not data:
            return MaskedBody
        declared = next((value for name, value in headers if name.lower() == "content-type"), "")
        media_type = declared.partition(";")[0].strip().lower()
        text, encoding = _decoded(data, declared, cut=cut)
        if text is not None and _is_json(text, cut=cut):
            masked = text
            if may_have_secrets(text):
                masked = json_members(text, self.pseudonym, answer=answer)
            return lambda: _recorded(self._json(masked), encoding)
        if text is not None and media_type == FORM:
            form = parameters(text, self.pseudonym)
            return lambda: _recorded(self.text(form), encoding)
        if not self.keep_bodies:
            kind = media_type[:60] if declared else "a body without a Content-Type"
            mark = hashlib.blake2b(data, digest_size=9, key=self._key).hexdigest()
            note = f"withheld: {kind}, digest {mark} (see assay proxy --keep-bodies)"
            return lambda: MaskedBody(note=self.text(note))
        kept = text if text is not None else data.decode("latin-1")
        if "<" in kept:
            kept = markup(kept, self.pseudonym)
        kept = labelled(parameters(kept, self.pseudonym), self.pseudonym)
        return lambda: _recorded(self.text(kept), encoding)


def _recorded(text: str, encoding: str) -> MaskedBody:
    """Return a masked body; one that was not UTF-8 keeps its bytes."""
    if encoding == "utf-8":
        return MaskedBody(text=text)
    packed = b64encode(text.encode(encoding, "replace")).decode()
    return MaskedBody(text=packed, packed=True)


def _decoded(data: bytes, declared: str, *, cut: bool) -> tuple[str | None, str]:
    """Return a body as text, None if it is none, and its encoding."""
    charset = _CHARSET.search(declared)
    named = charset[1].lower() if charset else "utf-8"
    for encoding in (json.detect_encoding(data), named):
        try:
            # A body that was cut off may end within a character.
            text = data.decode(encoding, "ignore" if cut else "strict")
        except (UnicodeDecodeError, LookupError):
            continue
        return text, encoding
    return None, "latin-1"


def _is_json(text: str, *, cut: bool) -> bool:
    """Whether a text is JSON, or the beginning of an object or a list."""
    begun = text.lstrip()[:1] in {"{", "["}
    if cut:
        return begun
    try:
        json.loads(text)
    except RecursionError:
        return begun
    except ValueError:
        return False
    return True
