"""Redactor of everything that is written: a customer's data become pseudonyms.

Known values (keys, tokens, credentials) get stable pseudonyms; in addition, what looks like an IBAN
or a card number, or stands under a telling name, is masked. That is done before anything reaches a
file, so that no report needs care later.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import quote, quote_plus

from assay.binding.encode import Access
from assay.history import Subject, Wire

#: The most of a body that is kept, in characters.
MOST_BODY = 4096
#: The most headers of a message that are kept.
MOST_HEADERS = 64
#: Texts up to this length come again and again in a trial, and are masked once.
SHORT = 256
#: Pseudonyms that are remembered at most.
MOST_NAMES = 100_000
#: Request and response headers whose values say nothing about a customer.
PLAIN_HEADERS = frozenset(
    [
        "accept",
        "allow",
        "cache-control",
        "content-encoding",
        "content-language",
        "content-length",
        "content-type",
        "date",
        "psu-ip-address",
        "retry-after",
        "server",
        "vary",
        "x-request-id",
    ]
)
#: So many new spellings are looked for by themselves.
MOST_NEW = 64
#: Read beyond what is kept, so that a private value at the end is seen whole.
MARGIN = 4096
#: Shorter values are not searched for: they stand everywhere and tell nothing.
TELLING = 4
#: What looks like an IBAN, and like a card number in clear; in groups, too.
_LOOKS = re.compile(
    r"(?:(?<![A-Z0-9])|(?<=%[0-9A-F]{2}))[A-Z]{2}\d{2}"
    r"(?:[A-Z0-9]{11,30}|(?:[ +-][A-Z0-9]{4}){2,7}(?:[ +-][A-Z0-9]{1,4})?)(?![A-Z0-9])"
    r"|(?<!\d)(?:\d{13,19}|\d{4}(?:[ +-]\d{4}){2,3}(?:[ +-]?\d{1,7})?)(?!\d)",
    re.IGNORECASE,
)
#: A word that may be somebody's, and what it may be a part of: a path, a sentence.
_WORD = re.compile(r"[A-Za-z0-9_+/.%~-]{4,}={0,2}")
_PART = re.compile(r"[^/.]+")
_GROUPED = str.maketrans("", "", " +-")
#: JSON members whose text is somebody's own.
_OWN = re.compile(
    r'("(?:[A-Za-z_-]*(?:name|identity|holder|owner|label|remittance|description|address|'
    r'phone|mail|birth|psu)[A-Za-z_-]*|details)"\s*:\s*)'
    # A text, also one that is cut off; a flat list or object; a number.
    r'(?:"(?:[^"\\]|\\.)*(?:"|\\?\Z)|\[[^\[\]]*\]?|\{[^{}]*\}?|-?\d[\d.eE+-]*)',
    re.IGNORECASE,
)


@dataclass(slots=True)
class Redactor:
    """Replaces private values; the same value always gets the same pseudonym.

    `names` outlives trials and is bounded; `known` is what is looked for in the
    present one, wherever it stands and in every spelling, so that its cost does not
    grow with a run. What earlier trials taught is still found where it stands as a
    word, for a bank may take one customer for another.
    """

    names: dict[str, str] = field(default_factory=dict[str, str])
    known: dict[str, str] = field(default_factory=dict[str, str])
    earlier: dict[str, str] = field(default_factory=dict[str, str])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    _short: dict[str, str] = field(default_factory=dict[str, str])
    _fast: re.Pattern[str] | None = None
    _few: re.Pattern[str] | None = None
    _new: set[str] = field(default_factory=set[str])
    _longest: int = 0

    def learn(self, subject: Subject, access: Access) -> None:
        """Remember what belongs to a subject."""
        for one in subject.owns:
            self.name(one.key, one.resource)
        secrets = {"token": access.token, "login": access.login, "password": access.password}
        secrets |= {f"code-{name}": code for name, code in access.codes.items()}
        if access.login and access.password:
            self._look_for(f"{access.login}:{access.password}", "credentials", packed=True)
        for kind, secret in {**secrets, "customer": access.name}.items():
            if secret:
                self._look_for(secret, kind, packed=True)

    def name(self, value: str, kind: str) -> str:
        """Return the pseudonym of a private value, and look for it from now on."""
        return self._look_for(value, kind, packed=False)

    def _look_for(self, value: str, kind: str, *, packed: bool) -> str:
        pseudonym = self._pseudonym(value, kind)
        if value not in self.known and len(value) >= TELLING:
            spelt = {*_spellings(value), *(_packed(value) if packed else ())}
            self._note(spelt)
            self.known.update(dict.fromkeys(spelt, pseudonym))
            self._short.clear()
        return pseudonym

    def _note(self, spelt: set[str]) -> None:
        """Look for new values along with the known ones, or for a while by themselves.

        A pattern of many values takes long to make, so a few new ones have one of their
        own; unless one is a part of another, for then the longer must be found first.
        """
        parts = any(one in old or old in one for one in spelt for old in self.known)
        if parts or len(self._new) > MOST_NEW:
            self._fast = None
        self._new.update(spelt)
        self._few = None

    def _pseudonym(self, value: str, kind: str) -> str:
        """Return the one pseudonym of a value, making it up at first sight."""
        if value not in self.names:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if len(self.names) >= MOST_NAMES:
                del self.names[next(iter(self.names))]
            self.names[value] = f"<{kind}-{self.counts[kind]}>"
        return self.names[value]

    def _number(self, found: re.Match[str]) -> str:
        # Not looked for from now on: it is found by its looks each time.
        return self._pseudonym(found[0].translate(_GROUPED).upper(), "number")

    def begin(self) -> None:
        """Begin a trial: look for nobody's values everywhere yet, and keep all pseudonyms."""
        self.earlier.update(self.known)
        while len(self.earlier) > MOST_NAMES:
            del self.earlier[next(iter(self.earlier))]
        self.known.clear()
        self._new.clear()
        self._short.clear()
        self._fast = self._few = None

    def text(self, text: str) -> str:
        """Return a text with everything private masked."""
        if len(text) > SHORT:
            return self._masked(text)
        if text not in self._short:
            # Masking may learn a name, which empties the table it is put into.
            masked = self._masked(text)
            self._short[text] = masked
        return self._short[text]

    def _masked(self, text: str) -> str:
        if self._fast is None:
            self._fast, self._longest = _any_of(self.known), TELLING * 16
            self._new.clear()
        if self._few is None:
            self._few = _any_of(self._new)
            self._longest = max(self._longest, *map(len, self.known), 0)
        for pattern in (self._fast, self._few):
            text = pattern.sub(lambda found: self.known[found[0]], text)
        if self.earlier:
            text = _WORD.sub(self._word, text)
        return _LOOKS.sub(self._number, text)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        if word in self.earlier:
            return self.earlier[word]
        if "/" in word or "." in word:
            return _PART.sub(lambda part: self.earlier.get(part[0], part[0]), word)
        return word

    def bounded(self, text: str, most: int) -> str:
        """Return a masked text of bounded length, in which no private value is cut in two.

        Masking may shorten a text, so that what was cut in reading comes into sight.
        """
        part = text[: most + MARGIN]
        masked = self.text(part)
        if len(part) < len(text):
            masked = masked[: -self._longest]
        return masked[:most]

    def body(self, body: bytes) -> tuple[str, bool]:
        """Return a body as bounded, masked text, and whether it was cut."""
        part = body[: 4 * (MOST_BODY + MARGIN)].decode("utf-8", "replace")
        text = self.bounded(_OWN.sub(r'\1"<private>"', part), MOST_BODY)
        return text, len(body) > MOST_BODY

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[list[str]]:
        """Return headers with every value masked that is not known to be plain."""
        return [
            [
                self.bounded(name.lower(), 128),
                self.bounded(value, 256) if name.lower() in PLAIN_HEADERS else "<hidden>",
            ]
            for name, value in islice(headers, MOST_HEADERS)
        ]

    def wire(self, wire: Wire) -> dict[str, object]:
        """Return what went over the wire, fit to be written."""
        request_body, _ = self.body(wire.request_body)
        body, cut = self.body(wire.body)
        return {
            "request": {
                "method": wire.method,
                "url": self.bounded(wire.url, 2048),
                "headers": self.headers(wire.request_headers),
                "body": request_body,
            },
            "response": {
                "status": wire.status,
                "headers": self.headers(wire.headers),
                "body": body,
                "truncated": cut or wire.truncated,
            },
        }


class Careless(Redactor):
    """A redactor that masks nothing: for sandbox runs whose journal is not kept."""

    def learn(self, subject: Subject, access: Access) -> None:
        """Learn nothing."""

    def name(self, value: str, kind: str) -> str:
        """Return the value as it is."""
        return value

    def text(self, text: str) -> str:
        """Return the text as it is."""
        return text

    def bounded(self, text: str, most: int) -> str:
        """Return the beginning of the text."""
        return text[:most]


def _any_of(values: Iterable[str]) -> re.Pattern[str]:
    """Return what finds any of the values, the longest first."""
    longest = sorted(values, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest)) if longest else r"(?!)")


def _spellings(value: str) -> set[str]:
    """Return a value as it may stand in a URL, in JSON, and in groups of four."""
    plain = {value, value.lower()} if _LOOKS.fullmatch(value) else {value}
    quoted = {
        spelt
        for one in plain
        for spelt in (
            quote(one, safe="", errors="replace"),
            quote(one, errors="replace"),
            quote_plus(one, errors="replace"),
        )
    }
    in_json = {json.dumps(value)[1:-1], value.replace("/", "\\/")}
    return plain | quoted | in_json


def _packed(value: str) -> set[str]:
    """Return a secret in base64, as it stands in headers."""
    raw = value.encode("utf-8", "replace")
    both = {b64encode(raw).decode(), urlsafe_b64encode(raw).decode()}
    return both | {quote(one, safe="") for one in both} | {one.rstrip("=") for one in both}
