"""Taking out of everything that is written what belongs to a customer.

Known values (keys, tokens, credentials) become stable pseudonyms; besides, what
looks like an IBAN, a card number, or stands under a telling name is masked. Done
before anything reaches a file, so that no report needs care later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus

from assay.history import Subject, Wire
from assay.target.encode import Access

#: The most of a body that is kept, in characters.
MOST_BODY = 4096
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
#: What looks like an IBAN, and like a card number in clear.
_LOOKS = re.compile(r"\b[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b|\b\d{13,19}\b")
#: JSON members whose text is somebody's own.
_OWN = re.compile(
    r'("(?:[A-Za-z_-]*(?:name|identity|holder|owner|label|remittance|description|address|'
    r'phone|mail|birth|psu)[A-Za-z_-]*|details)"\s*:\s*)"(?:[^"\\]|\\.)*"',
    re.IGNORECASE,
)


@dataclass(slots=True)
class Redactor:
    """Replaces private values; the same value always gets the same pseudonym.

    `names` outlives trials and is bounded; `known` is what is looked for in the
    present one, in every spelling, so that its cost does not grow with a run.
    """

    names: dict[str, str] = field(default_factory=dict[str, str])
    known: dict[str, str] = field(default_factory=dict[str, str])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    _short: dict[str, str] = field(default_factory=dict[str, str])
    _fast: re.Pattern[str] | None = None

    def learn(self, subject: Subject, access: Access) -> None:
        """Remember what belongs to a subject."""
        for one in subject.owns:
            self.name(one.key, one.resource)
        secrets = {"token": access.token, "login": access.login, "password": access.password}
        for kind, secret in secrets.items():
            if secret:
                self.name(secret, kind)

    def name(self, value: str, kind: str) -> str:
        """Return the pseudonym of a private value, making one up at first sight."""
        if value not in self.names:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if len(self.names) >= MOST_NAMES:
                del self.names[next(iter(self.names))]
            self.names[value] = f"<{kind}-{self.counts[kind]}>"
        if value not in self.known:
            for spelt in (value, quote(value, safe=""), quote_plus(value), quote(value)):
                self.known[spelt] = self.names[value]
            self._fast = None
            self._short.clear()
        return self.names[value]

    def begin(self) -> None:
        """Begin a trial: look for nobody's values yet, and keep all pseudonyms."""
        self.known.clear()
        self._short.clear()
        self._fast = None

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
            longest = sorted(self.known, key=len, reverse=True)
            self._fast = re.compile("|".join(map(re.escape, longest)) if longest else r"(?!)")
        text = self._fast.sub(lambda found: self.known[found[0]], text)
        return _LOOKS.sub(lambda found: self.name(found[0], "number"), text)

    def body(self, body: bytes) -> tuple[str, bool]:
        """Return a body as bounded, masked text, and whether it was cut."""
        cut = len(body) > MOST_BODY
        # Cut a little later than shown, so that no private value is cut in two.
        text = self.text(body[: MOST_BODY + 512].decode("utf-8", "replace"))
        return _OWN.sub(r'\1"<private>"', text)[:MOST_BODY], cut

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[list[str]]:
        """Return headers with every value masked that is not known to be plain."""
        return [
            [name.lower(), self.text(value[:256]) if name.lower() in PLAIN_HEADERS else "<hidden>"]
            for name, value in headers
        ][:64]

    def wire(self, wire: Wire) -> dict[str, object]:
        """Return what went over the wire, fit to be written."""
        request_body, _ = self.body(wire.request_body)
        body, cut = self.body(wire.body)
        return {
            "request": {
                "method": wire.method,
                "url": self.text(wire.url[:2048]),
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
