"""The token of a call in its request: written into every place that the target file names, and read.

A body has a token only where the method has a body. A request shows its caller only if every such
place has the same token.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from assay.binding.json_parser import parse_json
from assay.binding.pointer import MISSING, find, put
from assay.binding.security import Auth, TokenPlace
from assay.binding.spelling import Place
from assay.contract.model import Json
from assay.history import Token

__all__ = [
    "WITH_BODY",
    "SentToken",
    "forged",
    "places_for",
    "put_tokens_back",
    "shown_token",
    "token_of_parts",
    "without_parameters",
]

Headers: TypeAlias = tuple[tuple[str, str], ...]
#: The methods of requests with a body.
WITH_BODY: Final = frozenset({"PUT", "POST", "PATCH"})


def places_for(auth: Auth, method: str) -> Iterator[TokenPlace]:
    """Yield the places of the token in requests with a method."""
    for at in auth.token_places:
        if at.place is not Place.BODY or method.upper() in WITH_BODY:
            yield at


@dataclass(frozen=True, slots=True)
class SentToken:
    """The token of a request with this method, empty without one, and how it is sent."""

    auth: Auth
    text: str
    method: str

    def headers(self) -> Iterator[tuple[str, str]]:
        """Yield the headers with the token."""
        return self._at(Place.HEADER)

    def parameters(self) -> Iterator[tuple[str, str]]:
        """Yield the query parameters with the token."""
        return self._at(Place.QUERY)

    def put(self, body: dict[str, Any]) -> dict[str, Any]:
        """Put the token into a body, and return it."""
        for pointer, value in self._at(Place.BODY):
            put(body, pointer, value)
        return body

    def put_in_url(self, url: str) -> str:
        """Return a URL with the token in its query, in place of another one there."""
        own = dict(self.parameters())
        url = without_parameters(url, own)
        return f"{url}{'&' if '?' in url else '?'}{urlencode(own)}" if own else url

    def _at(self, place: Place) -> Iterator[tuple[str, str]]:
        for at in places_for(self.auth, self.method) if self.text else ():
            if at.place is place:
                yield at.name, at.text.replace("{}", self.text)


def shown_token(auth: Auth, method: str, url: str, headers: Headers, body: bytes) -> str | None:
    """Return the token of a request; None without one, or if its places do not have the same."""
    return token_of_parts(
        auth,
        method,
        headers={name.lower(): value for name, value in headers},
        query=parse_qsl(urlsplit(url).query, keep_blank_values=True),
        body=lambda: _json(body),
    )


def _json(body: bytes) -> Json:
    try:
        return parse_json(body)
    except (ValueError, RecursionError):
        return MISSING


def token_of_parts(
    auth: Auth,
    method: str,
    *,
    headers: Mapping[str, str],
    query: Iterable[tuple[str, str]],
    body: Callable[[], Json],
) -> str | None:
    """Return the token of a request that was taken apart, with the names of headers in lower case."""
    parameters = dict(query)
    tokens: set[str | None] = set()
    for at in places_for(auth, method):
        match at.place:
            case Place.HEADER:
                sent: Json = headers.get(at.name.lower(), MISSING)
            case Place.BODY:
                sent = find(body(), at.name)
            case _:
                sent = parameters.get(at.name, MISSING)
        tokens.add(_inside(at.text, sent))
    return tokens.pop() if len(tokens) == 1 else None


def _inside(text: str, sent: Json) -> str | None:
    """Return the token in what stands at a place; a scheme before it in any case."""
    before, _, after = text.partition("{}")
    if not isinstance(sent, str):
        return None
    fits = sent[: len(before)].lower() == before.lower() and sent.endswith(after)
    token = sent[len(before) : len(sent) - len(after)].strip() if fits else ""
    return token or None


def without_parameters(url: str, names: Iterable[str]) -> str:
    """Return a URL, or the end of one, without some query parameters."""
    left_out = frozenset(names)
    parts = urlsplit(url)
    if not left_out or not parts.query:
        return url
    kept = [
        pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in left_out
    ]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def put_tokens_back(auth: Auth, body: Json, sent: Json) -> None:
    """Give a changed body the tokens of the one that was sent, unless it is no object any more."""
    if isinstance(body, dict):
        for at in auth.token_places:
            token = find(sent, at.name) if at.place is Place.BODY else MISSING
            if token is not MISSING:
                put(cast("dict[str, object]", body), at.name, token)


def forged(token: str, how: Token | None) -> str:
    """Return what is sent in place of a token, of the same shape; the token itself for None.

    With another ending, the last two letters or digits are others: the last character of a
    signature may have bits that nobody reads, the one before it has none. With another content,
    the signed claims of a JWT have one more, under the old signature, and any other token has
    another character in its middle. So a bank that reads claims without the signature, or
    compares a part of a token, is seen to do so.
    """
    signs = [n for n, sign in enumerate(token) if sign.isalnum()]
    if how is Token.CONTENT and (claimed := _with_another_claim(token)):
        return claimed
    changed = {
        Token.INVENTED: signs,
        Token.ENDING: signs[-2:],
        Token.CONTENT: signs[len(signs) // 2 :][:1],
    }.get(how or Token.NONE, [])
    # "0" also differs from every letter where capitals do not matter.
    other = {n: "1" if token[n] == "0" else "0" for n in changed}
    return "".join(other.get(n, sign) for n, sign in enumerate(token))


def _with_another_claim(token: str) -> str:
    """Return a JWT with one more claim and its old signature; nothing for another token."""
    head, _, rest = token.partition(".")
    payload, _, signature = rest.partition(".")
    try:
        claims = parse_json(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except ValueError:
        return ""
    if not isinstance(claims, dict) or not signature:
        return ""
    more = json.dumps({**claims, "changed": True}, separators=(",", ":")).encode()
    return f"{head}.{base64.urlsafe_b64encode(more).decode().rstrip('=')}.{signature}"
