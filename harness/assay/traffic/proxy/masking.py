"""Masking of secrets in a record: each one becomes a stable pseudonym.

The same secret always gets the same pseudonym, so that callers can be told apart, and a token that
a bank issued is recognised where it is used. Secrets are found by the names under which they are
sent. Other private data stay, for nothing could be judged without them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import unquote_plus

__all__ = ["Headers", "SecretMasker"]

#: Headers in their order, as text.
Headers = tuple[tuple[str, str], ...]

#: Members and parameters that hold a secret, with what it is called.
_NAMES = {
    "access_token": "token",
    "refresh_token": "token",
    "id_token": "token",
    "client_secret": "secret",
    "client_assertion": "secret",
    "code_verifier": "secret",
    "code": "code",
    "password": "password",
    "passwd": "password",
    "pin": "password",
    "otp": "code",
    "api_key": "key",
    "apikey": "key",
}
#: `code` is a secret in a form and a URL; in JSON it is what errors are called by.
_MEMBER = re.compile(
    rf'("({"|".join(name for name in _NAMES if name != "code")})"\s*:\s*)("(?:[^"\\]|\\.)*")',
    re.IGNORECASE,
)
_PARAMETER = re.compile(rf"((?:^|[?&#])({'|'.join(_NAMES)})=)([^&#\s>;\"]+)", re.IGNORECASE)
#: Headers that hold a secret by their name.
_TELLING = re.compile(r"api[-_]?key|secret|token|passw", re.IGNORECASE)
#: Headers in which a URL may stand.
_WITH_URLS = frozenset({"location", "referer", "link", "content-location"})
#: A signature covers one request, and opens nothing.
_NO_SECRET = frozenset({"signature"})
FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class SecretMasker:
    """Gives secrets their pseudonyms; may be used by several threads."""

    _known: dict[str, str] = field(default_factory=dict[str, str])
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _lock: Lock = field(default_factory=Lock)

    def pseudonym(self, value: str, kind: str) -> str:
        """Return what stands for a secret, such as `<token-1>`."""
        with self._lock:
            if value not in self._known:
                self._counts[kind] = self._counts.get(kind, 0) + 1
                self._known[value] = f"<{kind}-{self._counts[kind]}>"
            return self._known[value]

    def headers(self, headers: Headers) -> Headers:
        """Return headers without what is secret in them."""
        return tuple((name, self._header(name.lower(), value)) for name, value in headers)

    def _header(self, name: str, value: str) -> str:
        if name == "authorization":
            return self._authorization(value)
        if name == "cookie":
            return "; ".join(self._cookie(pair.strip()) for pair in value.split(";"))
        if name == "set-cookie":
            pair, rest, others = value.partition(";")
            return self._cookie(pair.strip()) + rest + others
        if _TELLING.search(name):
            return self.pseudonym(value, "key")
        return self.parameters(value) if name in _WITH_URLS else value

    def _authorization(self, value: str) -> str:
        scheme, _, rest = value.strip().partition(" ")
        if not rest:
            return self.pseudonym(value, "token")
        if scheme.lower() in _NO_SECRET:
            return value
        kind = "credentials" if scheme.lower() == "basic" else "token"
        return f"{scheme} {self.pseudonym(rest.strip(), kind)}"

    def _cookie(self, pair: str) -> str:
        name, is_one, value = pair.partition("=")
        return f"{name}={self.pseudonym(value, 'cookie')}" if is_one else pair

    def parameters(self, text: str) -> str:
        """Return a URL, a query or a form without what is secret in it."""

        def hide(found: re.Match[str]) -> str:
            return found[1] + self.pseudonym(unquote_plus(found[3]), _NAMES[found[2].lower()])

        return _PARAMETER.sub(hide, text)

    def body(self, text: str, media_type: str) -> str:
        """Return a body without what is secret in it: of a form, or of anything like JSON."""
        if media_type.partition(";")[0].strip().lower() == FORM:
            return self.parameters(text)

        def hide(found: re.Match[str]) -> str:
            try:
                value = json.loads(found[3], strict=False)
            except ValueError:
                value = found[3]
            return found[1] + json.dumps(self.pseudonym(value, _NAMES[found[2].lower()]))

        return _MEMBER.sub(hide, text)
