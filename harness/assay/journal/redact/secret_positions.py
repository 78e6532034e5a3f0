"""Secrets by position: values under a secret's name in a URL, form, header, JSON or markup.

Each function returns its text with every such value replaced by what `hide` returns for the value
and its kind; the rest of the text stays as it is, character by character. A value can be a text of
another kind, also an encoded one, and is read in the same way. Some secrets need no name: keys,
tokens after their scheme, passwords of URLs.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from binascii import Error, a2b_base64, unhexlify
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from html import escape, unescape
from quopri import decodestring
from urllib.parse import quote, unquote, unquote_plus

from assay.binding.model.secret_names import (
    COOKIE_HEADERS,
    ERROR_CODE,
    kind_of_value,
    secret_header,
    secret_kind,
)

__all__ = [
    "Hide",
    "headers",
    "json_members",
    "json_strings",
    "labelled",
    "markup",
    "may_have_secrets",
    "nested",
    "parameters",
]

#: Returns what is written in place of a value of this kind.
Hide = Callable[[str, str], str]

#: Names of members and parameters, in whatever text.
_NAME = re.compile(r"(?<![^\s\"'&?;#=:{},<>\\])([^\s\"'&?;#=:{},<>\\]{2,256}+)\\*+[\"']?\s*[:=]")
_PARAMETER = re.compile(r"(^|[?&#;]\s*)([^=?&#;\s<>\"'{}]{1,256}+)=([^&#;\s<>\"']+)")
_PATH_PARAMETER = re.compile(r"(;)([^=?&#;/\s<>\"'{}]{1,256}+)=([^?&#;/\s<>\"']+)")
_USER = re.compile(
    r"(//|\b(?!mailto:|sips?:|acct:)(?=[A-Za-z][\w.+-]{0,63}:[^\s/]))([^/?#\s\"'<>@,;&=]{1,512})@(?=[\w\[])"
)
#: What is a secret without a name: a key in PEM, a token after its scheme, a JWT, and what is
#: random in a path after a word for a link that is sent to a person.
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-(?!----END))*(?:-----END[A-Z -]*)?")
_BEARER = re.compile(
    r"(?i)\b(bearer|basic|dpop|gnap)((?:\s|%20|\+)+)(?=[a-z]*[\d._~+/=-])(?![a-z_]+=[^=\s])([\w.~+/=-]{6,8192})"
)
_JWT = re.compile(r"\bey[JA-Za-z0-9_-]{8,}\.[\w-]{8,}\.[\w-]{8,}")
_LINK = re.compile(
    r"(?i)(/(?:[\w-]*(?:reset|verif\w*|activat\w*|invit\w*|magic|recover\w*|unlock|password|login|otp"
    r"|token|session)[\w-]*|confirm(?:ation)?)/)(?=[a-z_~.%-]*\d)([\w.~%-]{6,})"
)
_PATTERNS = ((_PEM, "key"), (_BEARER, "token"), (_JWT, "token"), (_LINK, "token"))
#: A flat JSON object, whose members may be a name and its value, or the parts of a key.
_FLAT = re.compile(r"\{(?:[^{}\"\[\]]|\"(?:[^\"\\]|\\.)*\"){3,4096}+(?:\}|\Z)", re.DOTALL)
_TWO = re.compile(r"(\[\s*)(\"(?:[^\"\\]|\\.){2,64}\")(\s*,\s*)(\"(?:[^\"\\]|\\.)*\")(?=\s*\])")
_PAIR_NAMES = ("name", "key", "field", "id", "type", "parameter", "label", "param")
_PAIR_VALUES = frozenset({"value", "val", "content", "input", "data", "entry"})
_OF_KEYS = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})
#: The symbols of JSON; a text that is a name comes with its colon.
_JSON = re.compile(r"\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z)(\s*:)?|[{}\[\],]|-?\d[\d.eE+-]*", re.DOTALL)
_LABELLED = re.compile(
    r"(?m)(^|[\s;,{(<\"'])([\w.-]{2,64})([\"']?\s*[:=]\s*[\"']?)([^\s\"';,<>{}]+)"
)
_ELEMENT = re.compile(r"(<(?:[\w-]+:)?([\w.-]+)(?:\s[^<>]*)?>)([^<>]+)(?=</)")
_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_ATTRIBUTE = re.compile(
    r"(?<![\w:.-])([\w:.-]{1,128}+)(\s*=\s*)(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))"
)
#: The longest text that is always read, and what a longer one has that may have secrets.
SMALL = 64 * 1024
_HINT = re.compile(
    r"(?i)@|%[0-9a-f]{2}|\\u00|&(?:quot|#)|bearer |basic |-----BEGIN|ey[JA]|\"(?:name|key|kty)\""
)
#: The longest value, and the longest body, of which it is remembered that nothing is masked in it.
LONGEST_CLEAN_VALUE, LONGEST_CLEAN_BODY = 256, 2048
#: How many texts inside of each other are read, and the shortest one.
DEPTH, SHORTEST_NESTED = 6, 8
#: What was written in place of a secret already.
_PSEUDONYM = re.compile(r"<[a-z-]+(?:-\d+)?>")
#: The types of fields whose values are secrets whatever their names.
_SECRET_FIELDS = frozenset({"hidden", "password"})
_PART = re.compile(
    r"(?is)(content-disposition:[^\r\n]*?\bname=\"?([^\";\r\n]+)\"?[^\r\n]*"
    r"(?:\r?\n[^\r\n]+)*\r?\n\r?\n)(.*?)(?=\r?\n--|\Z)"
)


def may_have_secrets(text: str) -> bool:
    """Whether a name of a secret may be in a text."""
    if len(text) <= SMALL or _HINT.search(text):
        return True
    return any(kind_of_value(name, "?") for name in set(_NAME.findall(text)))


def nested(text: str, hide: Hide, *, answer: bool = False, depth: int = DEPTH) -> str:
    """Mask a value, which can be JSON, a URL, a form or a text, also in another encoding."""
    if len(text) < SHORTEST_NESTED or depth < 0:
        return text
    if len(text) <= LONGEST_CLEAN_VALUE and _is_clean(_nested, text, answer, depth):
        return text
    return _nested(text, hide, answer, depth)


@lru_cache(8192)
def _is_clean(
    mask: Callable[[str, Hide, bool, int], str], text: str, answer: bool, depth: int
) -> bool:
    """Whether a text has nothing to be masked: most texts come again and again."""
    hidden: list[str] = []

    def note(value: str, _: str) -> str:
        hidden.append(value)
        return value

    return mask(text, note, answer, depth) == text and not hidden


def _nested(text: str, hide: Hide, answer: bool, depth: int) -> str:
    if text.lstrip()[:1] in {"{", "["}:
        text = json_members(text, hide, answer=answer, depth=depth - 1)
    text = parameters(text, hide, depth - 1)
    for begins, decode, encode in _ENCODINGS:
        if begins.search(text) is None:
            continue
        try:
            inner = decode(text)
        except (ValueError, Error):
            continue
        # What is encoded twice is decoded again; another order is not tried.
        masked = nested(inner, hide, answer=answer, depth=depth - 1) if inner != text else inner
        return text if masked == inner else encode(masked)
    return text


def patterns(text: str, hide: Hide) -> str:
    """Mask the secrets that are recognised without a name."""
    for pattern, kind in _PATTERNS:
        text = pattern.sub(partial(_last_hidden, kind=kind, hide=hide), text)
    return text


def _last_hidden(match: re.Match[str], kind: str, hide: Hide) -> str:
    *before, secret = match.groups() or (match[0],)
    return "".join(before) + hide(unquote(secret), kind)


def _from_base64(text: str) -> str:
    padded = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    return a2b_base64(padded + "=" * (-len(padded) % 4), strict_mode=True).decode("utf-8")


#: How values are encoded in other texts: what such a value looks like, how it is read and written.
_ENCODINGS: tuple[tuple[re.Pattern[str], Callable[[str], str], Callable[[str], str]], ...] = (
    (re.compile(r"%[0-9A-Fa-f]{2}"), unquote_plus, lambda text: quote(text, safe="<>/:?#&=")),
    (re.compile(r"&(?:quot|#\d+|#x[0-9a-fA-F]+|amp|lt);"), unescape, escape),
    (re.compile(r"=[0-9A-F]{2}"), lambda text: decodestring(text.encode()).decode("utf-8"), str),
    (re.compile(r"\A(?:[0-9A-Fa-f]{2}){8,}\Z"), lambda text: unhexlify(text).decode("utf-8"), lambda text: text.encode().hex()),
    (re.compile(r"\A[A-Za-z0-9+/]{16,}={0,2}\Z"), _from_base64, lambda text: b64encode(text.encode()).decode()),
    (re.compile(r"\A[A-Za-z0-9_-]{16,}={0,2}\Z"), _from_base64, lambda text: urlsafe_b64encode(text.encode()).decode()),
    (re.compile(r"\\u00[0-7]|\\\""), lambda text: json.loads(f'"{text}"', strict=False), lambda text: json.dumps(text)[1:-1]),
)  # fmt: skip


def parameters(text: str, hide: Hide, depth: int = DEPTH) -> str:
    """Mask a URL, a query or a form: parameters, and the user before the host.

    A URL may be the value of a parameter, and so on, up to a `depth`.
    """
    return patterns(_parameters(text, hide, depth), hide)


def _parameters(text: str, hide: Hide, depth: int) -> str:
    def parameter(match: re.Match[str]) -> str:
        value = unquote_plus(match[3], errors="replace")
        kind = kind_of_value(match[2], value)
        if unquote_plus(match[2]).lower() in _PAIR_VALUES and kind is None:
            kind = _named_kind(named, value)
        if kind is not None:
            return f"{match[1]}{match[2]}={hide(value, kind)}"
        inner = nested(value, hide, depth=depth - 1)
        if inner == value:
            return match[0]
        return f"{match[1]}{match[2]}={quote(inner, safe='<>/:?#&=') if '%' in match[3] else inner}"

    def user(match: re.Match[str]) -> str:
        password = match[2].partition(":")[2]
        if password:
            hide(unquote_plus(password, errors="replace"), "password")
        return f"{match[1]}{hide(match[2], 'credentials')}@"

    if "@" in text:
        text = _USER.sub(user, text)
    if "=" not in text or depth < 0:
        return text
    pairs = {each[2].lower(): unquote_plus(each[3]) for each in _PARAMETER.finditer(text)}
    named = [pairs[name] for name in _PAIR_NAMES if name in pairs and len(pairs) > 1]
    if ";" in text:
        text = _PATH_PARAMETER.sub(parameter, text)
    return _PARAMETER.sub(parameter, text)


def json_members(text: str, hide: Hide, *, answer: bool = False, depth: int = DEPTH) -> str:
    """Mask JSON, also if it is cut off: members, and parameters of the links in it.

    Of a list or an object under a secret's name, every text and number is masked. In an `answer`,
    `code` is usually that of an error, and then no secret.
    """
    if depth < 0 or (
        len(text) <= LONGEST_CLEAN_BODY and _is_clean(_json_members, text, answer, depth)
    ):
        return text
    return _json_members(text, hide, answer, depth)


def _json_members(text: str, hide: Hide, answer: bool, depth: int) -> str:
    text = _FLAT.sub(lambda match: _pair_masked(match[0], hide), text)
    text = _TWO.sub(lambda match: _two_masked(match, hide), text)
    return _JSON.sub(_JsonMembers(hide=hide, answer=answer, depth_left=depth).masked, text)


def _two_masked(match: re.Match[str], hide: Hide) -> str:
    value = _text(match[4])
    kind = kind_of_value(_text(match[2]), value)
    return (
        match[0]
        if kind is None
        else f"{match[1]}{match[2]}{match[3]}{json.dumps(hide(value, kind))}"
    )


def _pair_masked(text: str, hide: Hide) -> str:
    """Mask the value of an object that is a name and a value, and the private parts of a key."""
    members = {_text(name).lower(): (name, value) for name, value in _members(text)}
    names = [_text(members[name][1]) for name in _PAIR_NAMES if name in members]
    for name in (_PAIR_VALUES | (_OF_KEYS if "kty" in members else set())) & members.keys():
        written, raw = members[name]
        kind = _named_kind(names, _text(raw)) or ("key" if name in _OF_KEYS else None)
        if kind is not None:
            place = re.search(rf"{re.escape(written)}\s*:\s*(?={re.escape(raw)})", text)
            if place is not None:
                begin = place.end()
                hidden = json.dumps(hide(_text(raw), kind))
                text = text[:begin] + hidden + text[begin + len(raw) :]
    return text


def _named_kind(names: Iterable[str], value: str) -> str | None:
    """Return the kind of secret that a value is by the names that stand beside it."""
    return next(filter(None, (kind_of_value(name, value) for name in names)), None)


_MEMBER = re.compile(r"(\"(?:[^\"\\]|\\.){1,64}\")\s*:\s*(\"(?:[^\"\\]|\\.)*\"|-?\d[\d.eE+-]*)")


def _members(text: str) -> Iterator[tuple[str, str]]:
    return ((each[1], each[2]) for each in _MEMBER.finditer(text))


@dataclass(slots=True, kw_only=True)
class _JsonMembers:
    """Reads JSON symbol by symbol; `kind` is the kind of secret that the current member holds.

    `within` is the depth of the list or object that is such a member, 0 outside of one.
    """

    hide: Hide
    answer: bool
    depth_left: int
    name: str = ""
    kind: str | None = None
    depth: int = 0
    within: int = 0

    def masked(self, match: re.Match[str]) -> str:
        """Return what is written in place of a symbol."""
        symbol = match[0]
        if symbol[0] == '"':
            if match[1] is None:
                return self._value(symbol)
            if not self.within:
                self.name = _text(symbol[: -len(match[1])])
                self.kind = secret_kind(self.name)
        elif symbol in "{[":
            self.depth += 1
            if self.kind is not None and not self.within:
                self.within = self.depth
        elif symbol in "}]":
            if self.depth == self.within:
                self.within, self.kind = 0, None
            self.depth -= 1
        elif symbol == ",":
            self.kind = self.kind if self.within else None
        elif symbol[0] in "-0123456789":
            return self._value(symbol)
        return symbol

    def _value(self, symbol: str) -> str:
        value = _text(symbol) if symbol[0] == '"' else symbol
        kind = self.kind or kind_of_value(self.name, value)
        if kind is not None:
            is_code = self.answer and kind == "code" and self.name.strip().lower() == "code"
            if (
                not value
                or _PSEUDONYM.fullmatch(value)
                or (is_code and ERROR_CODE.fullmatch(value))
            ):
                return symbol
            return json.dumps(self.hide(value, kind))
        inner = nested(value, self.hide, answer=self.answer, depth=self.depth_left - 1)
        return symbol if inner == value else json.dumps(inner)


def json_strings(text: str, mask: Callable[[str], str]) -> str:
    """Mask the texts and numbers of JSON, also of the names; a masked number becomes a text."""

    def symbol(match: re.Match[str]) -> str:
        masked = mask(match[0])
        is_text = match[0].startswith('"') or masked == match[0]
        return masked if is_text else json.dumps(masked)

    return _JSON.sub(symbol, text)


def _text(token: str) -> str:
    """Return the text that a JSON string stands for, also if it is cut off; a number as it is."""
    if token[:1] != '"':
        return token
    if "\\" not in token:
        return token.strip('"')
    try:
        value: str = json.loads(token, strict=False)
    except ValueError:
        return token.strip('"')
    return value


def headers(pairs: tuple[tuple[str, str], ...], hide: Hide) -> tuple[tuple[str, str], ...]:
    """Mask headers: those that hold secrets, cookies, and the links in others."""
    return tuple((name, _header(name.lower(), value, hide)) for name, value in pairs)


def _header(name: str, value: str, hide: Hide) -> str:
    if name in COOKIE_HEADERS:
        pairs = value.split(";")
        first = 1 if name.startswith("set-") else len(pairs)
        return ";".join([*(_cookie(pair, hide) for pair in pairs[:first]), *pairs[first:]])
    if name.endswith("authorization"):
        return _authorization(value.strip(), hide)
    if secret_header(name) or kind_of_value(name, value):
        return hide(value, "key") if value else value
    return nested(value, hide)


def _authorization(value: str, hide: Hide) -> str:
    scheme, _, secret = value.partition(" ")
    if not secret:
        return hide(value, "token") if value else value
    if scheme.lower() == "signature":
        return value  # it covers one request only
    return (
        f"{scheme} {hide(secret.strip(), 'credentials' if scheme.lower() == 'basic' else 'token')}"
    )


def _cookie(pair: str, hide: Hide) -> str:
    name, separator, value = pair.partition("=")
    if not separator:
        blank = pair[: len(pair) - len(pair.lstrip())]
        return blank + hide(pair.strip(), "cookie") if pair.strip() else pair
    return f"{name}={hide(value.strip(), 'cookie')}" if value.strip() else pair


def markup(text: str, hide: Hide) -> str:
    """Mask HTML or XML: elements and attributes by name, and hidden fields of forms."""

    def element(match: re.Match[str]) -> str:
        value = unescape(match[3].strip())
        named = {each[1].lower(): _value(each) for each in _ATTRIBUTE.finditer(match[1])}
        kind = kind_of_value(match[2], value) or kind_of_value(named.get("name", ""), value)
        return match[0] if kind is None else match[1] + hide(value, kind)

    def tag(match: re.Match[str]) -> str:
        found = {each[1].lower(): each for each in _ATTRIBUTE.finditer(match[0])}
        values = {name: _value(each) for name, each in found.items()}
        name = values.get("name") or values.get("id") or ""
        kind = secret_kind(name) if name else None
        if values.get("type", "").lower() in _SECRET_FIELDS:
            kind = kind or "field"

        def attribute(each: re.Match[str]) -> str:
            value = _value(each)
            own = kind if each[1].lower() in {"value", "content"} else secret_kind(each[1])
            if own is not None and value:
                return f'{each[1]}{each[2]}"{hide(value, own)}"'
            link = nested(value, hide)
            return each[0] if link == value else f'{each[1]}{each[2]}"{escape(link)}"'

        return _ATTRIBUTE.sub(attribute, match[0])

    return _TAG.sub(tag, _ELEMENT.sub(element, text))


def _value(attribute: re.Match[str]) -> str:
    return unescape(attribute[3] or attribute[4] or attribute[5] or "")


def labelled(text: str, hide: Hide) -> str:
    """Mask other text: `name: value`, `name=value`, and the parts of a multipart body."""

    def part(match: re.Match[str]) -> str:
        kind = secret_kind(match[2])
        return match[0] if kind is None or not match[3] else match[1] + hide(match[3], kind)

    def label(match: re.Match[str]) -> str:
        kind = kind_of_value(match[2], match[4])
        if kind is None or match[4].startswith("<"):
            return match[0]
        return match[1] + match[2] + match[3] + hide(match[4], kind)

    return _LABELLED.sub(label, _PART.sub(part, text))
