"""Redactor of everything that is written: private values become pseudonyms.

Known values (keys, tokens, credentials, names) are found in every encoding and get stable
pseudonyms. In addition, whatever looks like an IBAN or a card number, or stands under a name such
as `holder` or `access_token`, is masked. This happens before anything reaches a file, so that
reports need no redaction.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from assay.binding.model.secret_names import PERSONAL_NAMES, PERSONAL_WORD
from assay.binding.wire.encode import Access
from assay.history import Item, Subject, Wire
from assay.journal.redact.known_values import (
    MOST_VALUES,
    SHORTEST,
    UNDER_WAY,
    KnownValues,
    replaced,
)
from assay.journal.redact.secret_positions import headers as masked_headers
from assay.journal.redact.secret_positions import json_members, may_have_secrets, parameters
from assay.rules.formats import NETWORKS
from assay.transport.secrets import KnownSecrets

#: The most of a body that is kept, in characters.
MOST_BODY = 4096
#: The most headers of a message that are kept.
MOST_HEADERS = 64
#: The most keys of lists that are remembered at a time: each makes every search slower.
MOST_KEYS = 200
#: What stands between the groups of a number, in a text or in a URL.
_BETWEEN = "(?:[ +-]|%20)"
#: Numbers in groups, as account numbers without a check digit are written.
_GROUPS = re.compile(
    rf"(?<![\w-])(?=(?:\d{_BETWEEN}?){{9}})\d+(?:{_BETWEEN}\d+){{1,8}}(?![\w-])", re.ASCII
)
#: Nine digits in groups have at least this length, and other numbers are longer.
SHORTEST_GROUPED = 10
_DIGIT = re.compile("[0-9]")
#: Texts up to this length are repeated often in a trial, and are masked once.
SHORT = 256
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
#: Values of headers that are a word of a protocol, a number or a time, and so no secret; nor is
#: the name that probes send where a header must have another form: it stands in commands, too.
_ORDINARY = re.compile(
    r"assay|true|false|none|null|close|<[a-z0-9-]+>|\d{1,5}|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?",
    re.IGNORECASE,
)
#: How much is read beyond the bound, so that a private value at the end is complete.
MARGIN = 4096
#: JSON members whose text is private.
_OWN = re.compile(
    rf'("(?:[A-Za-z_-]*(?:{"|".join(PERSONAL_NAMES)})[A-Za-z_-]*|{PERSONAL_WORD})"\s*:\s*)'
    # A string, also one that is cut off; a flat list or object; a number.
    r'(?:"(?:[^"\\]|\\.)*(?:"|\\?\Z)|\[[^\[\]]*\]?|\{[^{}]*\}?|-?\d[\d.eE+-]*)',
    re.IGNORECASE,
)


@dataclass(slots=True)
class Redactor:
    """Replaces private values; the same value always gets the same pseudonym.

    `names` outlives trials and is bounded. `values` are searched for. `public` are words of the
    contract and the target file, which no header makes private. `secrets` are those that the
    run knows of; it may learn more at any time.
    """

    names: dict[str, str] = field(default_factory=dict[str, str])
    public: frozenset[str] = frozenset()
    values: KnownValues = field(default_factory=KnownValues)
    counts: dict[str, int] = field(default_factory=dict[str, int])
    secrets: KnownSecrets = field(default_factory=KnownSecrets)
    _secrets_seen: int = 0
    _short: dict[str, str] = field(default_factory=dict[str, str])
    _access: Access | None = None
    _under_way: bool = False

    @property
    def known(self) -> Mapping[str, str]:
        """The values of the current trial and of the whole run, with their pseudonyms."""
        return self.values.current

    def learn(self, subject: Subject, access: Access) -> None:
        """Remember what belongs to a subject."""
        for owned in subject.owns:
            self.name(owned.key, owned.resource)
            if owned.id and len(owned.id) >= SHORTEST:
                self.name(owned.id, f"{owned.resource} id")
        self.learn_access(access)

    def learn_keys(self, items: Iterable[Item]) -> None:
        """Remember the keys of what a list shows: a customer may own more than the fixture says."""
        for item in items:
            key = item.key or ""
            if key not in self.public and len(key) <= SHORT and len(self.known) < MOST_KEYS:
                self.name(key, item.resource or "thing")

    def learn_access(self, access: Access) -> None:
        """Remember the credentials of a customer or a TPP, and the customer's name."""
        if access is self._access:
            return
        self._access = access
        secrets = {
            "token": access.token,
            "login": access.login,
            "password": access.password,
            "customer": access.name,
            "secret": access.client_secret,
        }
        secrets |= {f"code-{name}": code for name, code in access.codes.items()}
        secrets |= {f"token-{name}": token for name, token in access.tokens.items()}
        secrets |= {f"secret-{name}": secret for name, secret in access.secrets.items()}
        for login, password in (
            (access.login, access.password),
            (access.client_id, access.client_secret),
        ):
            if login and password:
                self.name(f"{login}:{password}", "credentials")
        for kind, secret in secrets.items():
            if secret:
                self.name(secret, kind)

    def learn_headers(self, wire: Wire) -> None:
        """Remember the values of headers that are hidden: they may be quoted elsewhere."""
        for name, value in (*wire.request_headers, *wire.headers):
            lower = name.lower()
            if lower in {"cookie", "set-cookie"}:
                masked_headers(((name, value),), self._cookie)
            if lower in PLAIN_HEADERS or lower in _PROTOCOL_HEADERS:
                continue
            authorization = lower in {"authorization", "proxy-authorization"}
            secret = value.partition(" ")[2] if authorization else value
            if authorization and value[:6].lower() == "basic ":
                self._learn_pair(secret)
            ordinary = _ORDINARY.fullmatch(secret) or secret in self.public
            if not ordinary and len(secret) >= SHORTEST and secret not in self.known:
                self.name(secret, "header")

    def _cookie(self, value: str, kind: str) -> str:
        # Shorter ones are rather settings than sessions.
        return self.name(value, kind) if len(value) >= 2 * SHORTEST else value

    def _learn_pair(self, packed: str) -> None:
        """Remember the password in a Basic header, and the pair."""
        try:
            pair = a2b_base64(packed.encode("ascii", "replace")).decode("utf-8", "replace")
        except Error:
            return
        password = pair.partition(":")[2]
        if password:
            self.name(pair, "credentials")
            self.name(password, "password")

    def name(self, value: str, kind: str, *, lasting: bool = False) -> str:
        """Return the pseudonym of a private value, and search for it from now on."""
        if self._under_way:
            if len(value) >= SHORTEST:
                self.values.expect(value)
            return UNDER_WAY
        pseudonym = self._pseudonym(value, kind)
        if len(value) >= SHORTEST and (value not in self.known or lasting):
            self.values.add(value, pseudonym, lasting=lasting)
            self._short.clear()
        return pseudonym

    def _pseudonym(self, value: str, kind: str) -> str:
        """Return the pseudonym of a value, a new one for a new value."""
        if value not in self.names:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if len(self.names) >= MOST_VALUES:
                del self.names[next(iter(self.names))]
            self.names[value] = f"<{kind}-{self.counts[kind]}>"
        return self.names[value]

    def _number(self, match: re.Match[str]) -> str:
        number = squeezed(match[0])
        if not is_account_or_card(number, grouped=number != match[0]):
            return match[0]
        # Not searched for from now on: its pattern finds it each time.
        return self._pseudonym(number.upper(), "number")

    @contextmanager
    def side_by_side(self) -> Generator[None]:
        """Learn, meanwhile, of trials that run side by side with the one that is written.

        Their values are searched for, and get their pseudonyms when their turn comes.
        """
        access, self._access, self._under_way = self._access, None, True
        try:
            yield
        finally:
            self._access, self._under_way = access, False
            self._short.clear()

    def begin(self) -> None:
        """Begin a trial: nothing of it is known yet, but all pseudonyms stay."""
        self._learn_secrets()
        self.values.begin()
        self._short.clear()
        self._access = None

    def _learn_secrets(self) -> None:
        """Search for the secrets that the run learned in the meantime."""
        for secret in self.secrets.after(self._secrets_seen):
            self.name(secret.value, secret.kind, lasting=secret.lasting)
        self._secrets_seen = self.secrets.count

    def text(self, text: str) -> str:
        """Return a text with everything private masked."""
        if self.secrets.count != self._secrets_seen:
            self._learn_secrets()
        if len(text) > SHORT:
            return self._masked(text)
        if text not in self._short:
            self._short[text] = self._masked(text)
        return self._short[text]

    def _masked(self, text: str) -> str:
        spans = self.values.spans(text)
        masked = replaced(text, spans) if spans else text
        if len(masked) < SHORTEST_GROUPED or _DIGIT.search(masked) is None:
            return masked
        return LIKE_A_NUMBER.sub(self._number, _GROUPS.sub(self._grouped, masked))

    def _grouped(self, match: re.Match[str]) -> str:
        """Return the pseudonym of a known number that is written in groups."""
        number = squeezed(match[0])
        return self.values.current.get(number) or self.values.earlier.get(number) or match[0]

    def bounded(self, text: str, most: int) -> str:
        """Return a masked text of bounded length, in which no private value is cut in two.

        Masking may shorten a text, so that the cut end of what was read comes within the bound.
        """
        part = text[: most + MARGIN]
        masked = self.text(part)
        if len(part) < len(text):
            # In base64 or percent-escapes a value is longer than it is.
            masked = masked[: -max(SHORTEST * 16, 3 * max(map(len, self.known), default=0))]
        return masked[:most]

    def link(self, link: str, most: int = 2048) -> str:
        """Return a URL, or a text with URLs, with its parameters masked by name as well."""
        if ("=" in link or "@" in link) and len(link) <= most + MARGIN:
            link = parameters(link, self.name)
        return self.bounded(link, most)

    def body(self, body: bytes, *, answer: bool = True) -> tuple[str, bool]:
        """Return a body as bounded, masked text, and whether it was cut."""
        part = body[: 4 * (MOST_BODY + MARGIN)].decode("utf-8", "replace")
        part = _OWN.sub(r'\1"<private>"', part)
        if may_have_secrets(part):
            part = self._hide_by_name(part, answer=answer)
        return self.bounded(part, MOST_BODY), len(body) > MOST_BODY

    def learn_wire(self, wire: Wire) -> None:
        """Remember what stands under the name of a secret in a message that is not written."""
        if "=" in wire.url or "@" in wire.url:
            parameters(wire.url, self.name)
        for body, answer in ((wire.request_body, False), (wire.body, True)):
            part = body[: 4 * (MOST_BODY + MARGIN)].decode("utf-8", "replace")
            if may_have_secrets(part):
                self._hide_by_name(part, answer=answer)

    def _hide_by_name(self, part: str, *, answer: bool) -> str:
        if part.lstrip()[:1] in {"{", "[", '"'}:
            return json_members(part, self.name, answer=answer)
        return parameters(part, self.name)

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
        request_body, _ = self.body(wire.request_body, answer=False)
        body, cut = self.body(wire.body)
        return {
            "request": {
                "method": self.bounded(wire.method, 16),
                "url": self.link(wire.url),
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

    def learn_access(self, access: Access) -> None:
        """Learn nothing."""

    def learn_headers(self, wire: Wire) -> None:
        """Learn nothing."""

    def name(self, value: str, kind: str, *, lasting: bool = False) -> str:
        """Return the value as it is."""
        return value

    def text(self, text: str) -> str:
        """Return the text as it is."""
        return text

    def bounded(self, text: str, most: int) -> str:
        """Return the beginning of the text."""
        return text[:most]


# -- Account and card numbers, recognised by what they look like ---------------------------------
# They are masked without being known. But an id or a digest that only has as many characters
# must stay readable, so the country, the length or the network count as well.
#: Texts that look like an IBAN or a clear card number, also in groups.
LIKE_A_NUMBER = re.compile(
    r"(?:(?<![A-Z0-9])|(?<=%[0-9A-F]{2}))[A-Z]{2}\d{2}"
    rf"(?:[A-Z0-9]{{11,30}}|(?:{_BETWEEN}[A-Z0-9]{{4}}){{2,7}}(?:{_BETWEEN}[A-Z0-9]{{1,4}})?)"
    r"(?![A-Z0-9])"
    # Not a part of a UUID, whose groups may be digits only.
    r"|(?:(?<![A-Z0-9-])|(?<=%[0-9A-F]{2}))"
    rf"(?:\d{{13,19}}|\d{{4}}(?:{_BETWEEN}\d{{4}}){{2,3}}(?:{_BETWEEN}?\d{{1,7}})?)(?!-?[A-Z0-9])",
    re.IGNORECASE | re.ASCII,
)
_GROUPED = str.maketrans("", "", " +-")
#: The lengths of an IBAN, and how many characters a mistaken one may have more or less.
_IBAN_LENGTHS, _TOLERANCE = range(15, 35), 2
#: Countries with IBANs, by their lengths (ISO 13616).
_COUNTRIES: Mapping[int, str] = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTH_OF = {country: length for length, names in _COUNTRIES.items() for country in names.split()}


def squeezed(number: str) -> str:
    """Return a number without the spaces or signs between its groups."""
    return number.replace("%20", "").translate(_GROUPED)


@lru_cache(8192)
def is_account_or_card(number: str, *, grouped: bool) -> bool:
    """Whether a text is an IBAN, perhaps a mistaken one, or has the beginning of a card number.

    Ids and digests may look like one: by their case, their beginning and their length they do not.
    """
    if number.isdigit():
        return NETWORKS.match(number) is not None
    if not (number.isupper() or number.islower()) or len(number) not in _IBAN_LENGTHS:
        return False
    upper = number.upper()
    if int("".join(str(int(char, 36)) for char in upper[4:] + upper[:4])) % 97 == 1:
        return True
    length = _LENGTH_OF.get(number[:2])
    return length is not None and (grouped or abs(len(number) - length) <= _TOLERANCE)
