"""Secrets by position: what stands under a secret's name in a URL, form, header, JSON or markup.

Each function returns its text with every such value replaced by what `hide` returns for the value
and its kind; the rest of the text stays as it is, character by character.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from urllib.parse import unquote_plus

from assay.journal.secret_names import (
    COOKIE_HEADERS,
    ORDINARY_CODE,
    secret_header,
    secret_kind,
)

__all__ = ["Hide", "headers", "json_members", "labelled", "markup", "may_have_secrets", "parameters"]

#: Returns what is written in place of a value of this kind.
Hide = Callable[[str, str], str]

#: Names of members and parameters, in whatever text.
_NAME = re.compile(
    r"(?<![^\s\"'&?;#=:{},<>\\])([^\s\"'&?;#=:{},<>\\]{2,256}+)\\?[\"']?\s*[:=]"
)
_PARAMETER = re.compile(r"(^|[?&#;]\s*)([^=?&#;\s<>\"'{}]{1,256}+)=([^&#;\s<>\"']+)")
_PATH_PARAMETER = re.compile(r"(;)([^=?&#;/\s<>\"'{}]{1,256}+)=([^?&#;/\s<>\"']+)")
_USER = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]{0,30}://)([^/?#\s\"'<>@]*)@")
_JSON = re.compile(
    r"\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z)|[{}\[\]:,]|-?\d[\d.eE+-]*|[A-Za-z]+", re.DOTALL
)
_LABELLED = re.compile(r"(?m)(^|[\s;,{(<\"'])([\w.-]{2,64})([\"']?\s*[:=]\s*[\"']?)([^\s\"';,<>{}]+)")
_ELEMENT = re.compile(r"(<(?:[\w-]+:)?([\w.-]+)(?:\s[^<>]*)?>)([^<>]+)(?=</)")
_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_ATTRIBUTE = re.compile(r"(?<![\w:.-])([\w:.-]{1,128}+)(\s*=\s*)(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
#: The types of fields whose values are secrets whatever their names.
_SECRET_FIELDS = frozenset({"hidden", "password"})
_PART = re.compile(
    r"(?is)(content-disposition:[^\r\n]*?\bname=\"?([^\";\r\n]+)\"?[^\r\n]*"
    r"(?:\r?\n[^\r\n]+)*\r?\n\r?\n)(.*?)(?=\r?\n--|\Z)"
)


def may_have_secrets(text: str) -> bool:
    """Whether a name of a secret may be in a text."""
    return "\\u" in text or any(map(secret_kind, set(_NAME.findall(text))))


def parameters(text: str, hide: Hide) -> str:
    """Mask a URL, a query or a form: parameters, and the user before the host."""

    def parameter(match: re.Match[str]) -> str:
        kind = secret_kind(match[2])
        if kind is None:
            return match[0]
        return f"{match[1]}{match[2]}={hide(unquote_plus(match[3], errors='replace'), kind)}"

    if "://" in text and "@" in text:
        text = _USER.sub(lambda match: match[1] + hide(match[2], "credentials") + "@", text)
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
    parts: list[str] = []
    done = 0
    name: str | None = None
    kind: str | None = None
    depth = within = 0
    last: tuple[str, str] | None = None  # a text, and as it was written

    def masked(token: str) -> str:
        value = _text(token) if token.startswith('"') else token
        if kind is not None:
            ordinary = answer and kind == "code" and name and name.strip().lower() == "code"
            if not value or (ordinary and ORDINARY_CODE.fullmatch(value)):
                return token
            return json.dumps(hide(value, kind))
        if not token.startswith('"') or not ("=" in value or "@" in value or '"' in value):
            return token
        inner = json_members(value, hide, answer=answer) if value[0] in "{[" else value
        inner = parameters(inner, hide)
        return token if inner == value else json.dumps(inner)

    for match in _JSON.finditer(text):
        token = match[0]
        if last is not None and token != ":":
            parts.append(masked(last[1]))
            last = None
        elif last is not None:
            parts.append(last[1])
            if not within:
                name, kind = last[0], secret_kind(last[0])
            last = None
        parts.append(text[done : match.start()])
        done = match.end()
        if token.startswith('"'):
            last = _text(token), token
            continue
        if token in "{[":
            depth += 1
            if kind is not None and not within:
                within = depth
        elif token in "}]":
            if depth == within:
                within, kind = 0, None
            depth -= 1
        elif token == "," and not within:
            kind = None
        is_number = token[0] == "-" or token[0].isdigit()
        parts.append(masked(token) if is_number and kind is not None else token)
    if last is not None:
        parts.append(masked(last[1]))
    return "".join(parts) + text[done:]


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
    return f"{scheme} {hide(secret.strip(), 'credentials' if scheme.lower() == 'basic' else 'token')}"


def _cookie(pair: str, hide: Hide) -> str:
    name, separator, value = pair.partition("=")
    if not separator:
        blank = pair[: len(pair) - len(pair.lstrip())]
        return blank + hide(pair.strip(), "cookie") if pair.strip() else pair
    return f"{name}={hide(value.strip(), 'cookie')}" if value.strip() else pair


def markup(text: str, hide: Hide) -> str:
    """Mask HTML or XML: elements and attributes by name, and hidden fields of forms."""

    def element(match: re.Match[str]) -> str:
        kind = secret_kind(match[2])
        return match[0] if kind is None else match[1] + hide(html.unescape(match[3].strip()), kind)

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
            return each[0] if link == value else f'{each[1]}{each[2]}"{html.escape(link)}"'

        return _ATTRIBUTE.sub(attribute, match[0])

    return _TAG.sub(tag, _ELEMENT.sub(element, text))


def _value(attribute: re.Match[str]) -> str:
    return html.unescape(attribute[3] or attribute[4] or attribute[5] or "")


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
