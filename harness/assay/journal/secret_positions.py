"""Secrets by position: values under a secret's name in a URL, form, header, JSON or markup.

Each function returns its text with every such value replaced by what `hide` returns for the value
and its kind; the rest of the text stays as it is, character by character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, unquote_plus

from assay.binding.secret_names import (
    COOKIE_HEADERS,
    ORDINARY_CODE,
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
    "parameters",
]

#: Returns what is written in place of a value of this kind.
Hide = Callable[[str, str], str]

#: Names of members and parameters, in whatever text.
_NAME = re.compile(r"(?<![^\s\"'&?;#=:{},<>\\])([^\s\"'&?;#=:{},<>\\]{2,256}+)\\*+[\"']?\s*[:=]")
_PARAMETER = re.compile(r"(^|[?&#;]\s*)([^=?&#;\s<>\"'{}]{1,256}+)=([^&#;\s<>\"']+)")
_PATH_PARAMETER = re.compile(r"(;)([^=?&#;/\s<>\"'{}]{1,256}+)=([^?&#;/\s<>\"']+)")
_USER = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]{0,30}://)([^/?#\s\"'<>@]*)@")
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
#: How many URLs inside of each other are read.
DEPTH = 3
#: The types of fields whose values are secrets whatever their names.
_SECRET_FIELDS = frozenset({"hidden", "password"})
_PART = re.compile(
    r"(?is)(content-disposition:[^\r\n]*?\bname=\"?([^\";\r\n]+)\"?[^\r\n]*"
    r"(?:\r?\n[^\r\n]+)*\r?\n\r?\n)(.*?)(?=\r?\n--|\Z)"
)


def may_have_secrets(text: str) -> bool:
    """Whether a name of a secret may be in a text."""
    has_user = "@" in text and "://" in text
    return has_user or "\\u00" in text or any(map(secret_kind, set(_NAME.findall(text))))


def parameters(text: str, hide: Hide, depth: int = DEPTH) -> str:
    """Mask a URL, a query or a form: parameters, and the user before the host.

    A URL may be the value of a parameter, and so on, up to a `depth`.
    """

    def parameter(match: re.Match[str]) -> str:
        kind, value = secret_kind(match[2]), unquote_plus(match[3], errors="replace")
        if kind is not None:
            return f"{match[1]}{match[2]}={hide(value, kind)}"
        if "=" not in value or not depth:
            return match[0]
        inner = parameters(value, hide, depth - 1)
        if inner == value:
            return match[0]
        return f"{match[1]}{match[2]}={quote(inner, safe='<>/:?#&=') if '%' in match[3] else inner}"

    def user(match: re.Match[str]) -> str:
        password = match[2].partition(":")[2]
        if password:
            hide(unquote_plus(password, errors="replace"), "password")
        return f"{match[1]}{hide(match[2], 'credentials')}@"

    if "://" in text and "@" in text:
        text = _USER.sub(user, text)
    if "=" not in text:
        return text
    if ";" in text:
        text = _PATH_PARAMETER.sub(parameter, text)
    return _PARAMETER.sub(parameter, text)


def json_members(text: str, hide: Hide, *, answer: bool = False) -> str:
    """Mask JSON, also if it is cut off: members, and parameters of the links in it.

    Of a list or an object under a secret's name, every text and number is masked. In an `answer`,
    `code` is usually that of an error, and then no secret.
    """
    return _JSON.sub(_JsonMembers(hide=hide, answer=answer).masked, text)


@dataclass(slots=True, kw_only=True)
class _JsonMembers:
    """Reads JSON symbol by symbol; `kind` is the kind of secret that the current member holds.

    `within` is the depth of the list or object that is such a member, 0 outside of one.
    """

    hide: Hide
    answer: bool
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
        if self.kind is not None:
            is_code = self.answer and self.kind == "code" and self.name.strip().lower() == "code"
            if not value or (is_code and ORDINARY_CODE.fullmatch(value)):
                return symbol
            return json.dumps(self.hide(value, self.kind))
        if symbol[0] != '"' or not ("=" in value or "@" in value or '"' in value):
            return symbol
        inner = value
        if value[0] in "{[":
            inner = json_members(value, self.hide, answer=self.answer)
        inner = parameters(inner, self.hide)
        return symbol if inner == value else json.dumps(inner)


def json_strings(text: str, mask: Callable[[str], str]) -> str:
    """Mask the texts and numbers of JSON, also of the names; a masked number becomes a text."""

    def symbol(match: re.Match[str]) -> str:
        masked = mask(match[0])
        is_text = match[0].startswith('"') or masked == match[0]
        return masked if is_text else json.dumps(masked)

    return _JSON.sub(symbol, text)


def _text(token: str) -> str:
    """Return the text that a JSON string stands for, also if it is cut off."""
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
    if secret_header(name):
        return hide(value, "key") if value else value
    return parameters(value, hide)


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
    from html import escape, unescape  # noqa: PLC0415 -- only where a recording keeps markup

    def element(match: re.Match[str]) -> str:
        kind = secret_kind(match[2])
        return match[0] if kind is None else match[1] + hide(unescape(match[3].strip()), kind)

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
            link = parameters(value, hide)
            return each[0] if link == value else f'{each[1]}{each[2]}"{escape(link)}"'

        return _ATTRIBUTE.sub(attribute, match[0])

    return _TAG.sub(tag, _ELEMENT.sub(element, text))


def _value(attribute: re.Match[str]) -> str:
    from html import unescape  # noqa: PLC0415 -- as above

    return unescape(attribute[3] or attribute[4] or attribute[5] or "")


def labelled(text: str, hide: Hide) -> str:
    """Mask other text: `name: value`, `name=value`, and the parts of a multipart body."""

    def part(match: re.Match[str]) -> str:
        kind = secret_kind(match[2])
        return match[0] if kind is None or not match[3] else match[1] + hide(match[3], kind)

    def label(match: re.Match[str]) -> str:
        kind = secret_kind(match[2])
        if kind is None or match[4].startswith("<"):
            return match[0]
        return match[1] + match[2] + match[3] + hide(match[4], kind)

    return _LABELLED.sub(label, _PART.sub(part, text))
