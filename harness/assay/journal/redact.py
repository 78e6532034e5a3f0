"""Redactor of everything that is written: a customer's data become pseudonyms.

Known values (keys, tokens, credentials) get stable pseudonyms; in addition, whatever looks like an
IBAN or a card number, or has a name such as `holder`, is masked. This happens before anything
reaches a file, so that reports need no redaction.
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
#: Texts up to this length are repeated often in a trial, and are masked once.
SHORT = 256
#: How many pseudonyms are remembered at most.
MOST_NAMES = 100_000
#: Request and response headers whose values reveal nothing about a customer.
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
#: Further headers of HTTP itself, hidden like all others: their values say nothing that is private.
_PROTOCOL_HEADERS = frozenset(
    [
        *("accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age"),
        *("alt-svc", "connection", "content-disposition", "content-security-policy", "cookie"),
        *("expires", "forwarded", "host", "keep-alive", "last-modified", "link", "location"),
        *("origin", "pragma", "referer", "referrer-policy", "set-cookie", "te", "trailer"),
        *("strict-transport-security", "transfer-encoding", "upgrade", "user-agent", "via"),
        *("www-authenticate", "x-content-type-options", "x-frame-options", "x-xss-protection"),
    ]
)
#: Values of headers that are a word of a protocol, a number or a time, and so no secret.
_ORDINARY = re.compile(
    r"true|false|none|null|close|<[a-z0-9-]+>|\d{1,5}|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?",
    re.IGNORECASE,
)
#: How many new spellings are searched for with a pattern of their own.
MOST_NEW = 64
#: How much is read beyond the bound, so that a private value at the end is complete.
MARGIN = 4096
#: Shorter values are not searched for: they occur everywhere and reveal nothing.
SHORTEST = 4
#: Texts that look like an IBAN or a clear card number, also in groups.
_LOOKS = re.compile(
    r"(?:(?<![A-Z0-9])|(?<=%[0-9A-F]{2}))[A-Z]{2}\d{2}"
    r"(?:[A-Z0-9]{11,30}|(?:[ +-][A-Z0-9]{4}){2,7}(?:[ +-][A-Z0-9]{1,4})?)(?![A-Z0-9])"
    r"|(?<!\d)(?:\d{13,19}|\d{4}(?:[ +-]\d{4}){2,3}(?:[ +-]?\d{1,7})?)(?!\d)",
    re.IGNORECASE,
)
#: A word that may be private, and the parts of a path or a host name.
_WORD = re.compile(r"[A-Za-z0-9_+/.%~-]{4,}={0,2}")
_PART = re.compile(r"[^/.]+")
_GROUPED = str.maketrans("", "", " +-")
#: JSON members whose text is private.
_OWN = re.compile(
    r'("(?:[A-Za-z_-]*(?:name|identity|holder|owner|label|remittance|description|address|'
    r'phone|mail|birth|psu)[A-Za-z_-]*|details)"\s*:\s*)'
    # A string, also one that is cut off; a flat list or object; a number.
    r'(?:"(?:[^"\\]|\\.)*(?:"|\\?\Z)|\[[^\[\]]*\]?|\{[^{}]*\}?|-?\d[\d.eE+-]*)',
    re.IGNORECASE,
)


@dataclass(slots=True)
class Redactor:
    """Replaces private values; the same value always gets the same pseudonym.

    `names` outlives trials and is bounded. `known` is searched for in the current trial,
    anywhere and in every spelling; it is per trial so that the cost does not grow with
    the run. Values of earlier trials are still found as whole words, because a bank may
    mix up customers. `public` are words of the contract and the target file, which no header
    makes private.
    """

    names: dict[str, str] = field(default_factory=dict[str, str])
    public: frozenset[str] = frozenset()
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
        for owned in subject.owns:
            self.name(owned.key, owned.resource)
        secrets = {"token": access.token, "login": access.login, "password": access.password}
        secrets |= {f"code-{name}": code for name, code in access.codes.items()}
        if access.login and access.password:
            self._search_for(f"{access.login}:{access.password}", "credentials", encoded=True)
        for kind, secret in {**secrets, "customer": access.name}.items():
            if secret:
                self._search_for(secret, kind, encoded=True)

    def learn_headers(self, wire: Wire) -> None:
        """Remember the values of headers that are hidden: they may be quoted elsewhere."""
        for name, value in (*wire.request_headers, *wire.headers):
            if name.lower() in PLAIN_HEADERS | _PROTOCOL_HEADERS:
                continue
            secret = (
                value.partition(" ")[2]
                if name.lower() in {"authorization", "proxy-authorization"}
                else value
            )
            ordinary = _ORDINARY.fullmatch(secret) or secret in self.public
            if not ordinary and len(secret) >= SHORTEST and secret not in self.known:
                self.name(secret, "header")

    def name(self, value: str, kind: str) -> str:
        """Return the pseudonym of a private value, and search for it from now on."""
        return self._search_for(value, kind, encoded=False)

    def _search_for(self, value: str, kind: str, *, encoded: bool) -> str:
        pseudonym = self._pseudonym(value, kind)
        if value not in self.known and len(value) >= SHORTEST:
            spellings = {*_spellings(value), *(_base64(value) if encoded else ())}
            self._note(spellings)
            self.known.update(dict.fromkeys(spellings, pseudonym))
            self._short.clear()
        return pseudonym

    def _note(self, spellings: set[str]) -> None:
        """Search for new values with a pattern of their own, until there are many.

        A pattern of many values takes long to compile. But if one value is part of
        another, one pattern must find the longer one first.
        """
        overlap = any(new in old or old in new for new in spellings for old in self.known)
        if overlap or len(self._new) > MOST_NEW:
            self._fast = None
        self._new.update(spellings)
        self._few = None

    def _pseudonym(self, value: str, kind: str) -> str:
        """Return the pseudonym of a value, a new one for a new value."""
        if value not in self.names:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if len(self.names) >= MOST_NAMES:
                del self.names[next(iter(self.names))]
            self.names[value] = f"<{kind}-{self.counts[kind]}>"
        return self.names[value]

    def _number(self, match: re.Match[str]) -> str:
        # Not searched for from now on: its pattern finds it each time.
        return self._pseudonym(match[0].translate(_GROUPED).upper(), "number")

    def begin(self) -> None:
        """Begin a trial: nothing is known yet, but all pseudonyms stay."""
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
            # Masking may learn a name, which empties the table; so it comes first.
            masked = self._masked(text)
            self._short[text] = masked
        return self._short[text]

    def _masked(self, text: str) -> str:
        if self._fast is None:
            self._fast, self._longest = _any_of(self.known), SHORTEST * 16
            self._new.clear()
        if self._few is None:
            self._few = _any_of(self._new)
            self._longest = max(self._longest, *map(len, self.known), 0)
        for pattern in (self._fast, self._few):
            text = pattern.sub(lambda match: self.known[match[0]], text)
        if self.earlier:
            text = _WORD.sub(self._word, text)
        return _LOOKS.sub(self._number, text)

    def _word(self, match: re.Match[str]) -> str:
        word = match[0]
        if word in self.earlier:
            return self.earlier[word]
        if "/" in word or "." in word:
            return _PART.sub(lambda part: self.earlier.get(part[0], part[0]), word)
        return word

    def bounded(self, text: str, most: int) -> str:
        """Return a masked text of bounded length, in which no private value is cut in two.

        Masking may shorten a text, so that the cut end of what was read comes within the bound.
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
        """Return headers with every value hidden that is not in `PLAIN_HEADERS`."""
        return [
            [
                self.bounded(name.lower(), 128),
                self.bounded(value, 256) if name.lower() in PLAIN_HEADERS else "<hidden>",
            ]
            for name, value in islice(headers, MOST_HEADERS)
        ]

    def wire(self, wire: Wire) -> dict[str, object]:
        """Return an exchange, redacted, as the journal has it."""
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

    def learn_headers(self, wire: Wire) -> None:
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
    """Return a pattern that finds any of the values, the longest first."""
    longest = sorted(values, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest)) if longest else r"(?!)")


def _spellings(value: str) -> set[str]:
    """Return a value as it may be written in a URL, in JSON, and in lower case."""
    plain = {value, value.lower()} if _LOOKS.fullmatch(value) else {value}
    quoted = {
        spelling
        for text in plain
        for spelling in (
            quote(text, safe="", errors="replace"),
            quote(text, errors="replace"),
            quote_plus(text, errors="replace"),
        )
    }
    in_json = {json.dumps(value)[1:-1], value.replace("/", "\\/")}
    return plain | quoted | in_json


def _base64(value: str) -> set[str]:
    """Return a secret in base64, as headers have it."""
    raw = value.encode("utf-8", "replace")
    both = {b64encode(raw).decode(), urlsafe_b64encode(raw).decode()}
    return both | {quote(text, safe="") for text in both} | {text.rstrip("=") for text in both}
