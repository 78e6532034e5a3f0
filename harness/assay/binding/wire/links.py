"""What a later call takes of an answer: links to follow, the next page, and outputs.

Links may be relative references (RFC 3986). All input is hostile: a link may be no URL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import blake2b
from typing import Final, cast
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit, urlunsplit

from assay.binding.model.forms import as_json
from assay.binding.model.pointer import MISSING, SPELLED_OUT, find, last_segment, read_json
from assay.binding.model.spelling import NextPage, OperationBinding, OutputAt, Turn
from assay.contract.model import Json
from assay.errors import CannotArrange
from assay.history import Accepted, Call, Item, Outcome, Wire

SUCCESSES = range(200, 300)
#: One link of a header (RFC 8288), with its parameters.
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_NEXT = re.compile(r';\s*rel\s*=\s*"?(?:[^";]*\s)?next(?:\s[^";]*)?"?\s*(?:[;,]|$)', re.IGNORECASE)


def links_of(wire: Wire, body: Json, binding: OperationBinding) -> tuple[str, ...]:
    """Return every link that the target file points at, made absolute.

    The `Location` of a successful answer is a link wherever the target file points. The link
    to the screens is none: the customer follows it, and screens may have a host of their own.
    """
    how = binding.next
    pointers = dict.fromkeys([*binding.links, *(how.links if how else ())])
    values = (find(body, pointer) for pointer in pointers)
    links = [absolute(wire.url, link) for link in values if isinstance(link, str) and link]
    if how and how.turn is Turn.HEADER and (link := header_link(wire, how)):
        links.append(link)
    named = {name.lower() for name in (binding.item.key_header or "", *binding.link_headers)}
    if wire.status in SUCCESSES:
        named.add("location")
    for name, value in wire.headers:
        if name.lower() in named:
            # Those in `<>` (RFC 8288), or the value itself.
            several = [link for link, _ in _LINK.findall(value)] or filter(None, [value])
            links += [absolute(wire.url, link) for link in several]
    screens = approval_of(wire, body, binding)
    return tuple(link for link in links if link != screens)


def names_links(binding: OperationBinding) -> bool:
    """Whether a target file points at any link in the answers of an operation."""
    approval = binding.approval is not None or binding.approval_header is not None
    return bool(binding.links or binding.link_headers or binding.next or approval)


def approval_of(wire: Wire, body: Json, binding: OperationBinding) -> str | None:
    """Return the absolute link to the screens where the customer signs, if there is one."""
    link: Json = MISSING
    if binding.approval is not None:
        link = find(body, binding.approval)
    elif binding.approval_header is not None:
        link = wire.header(binding.approval_header)
    return absolute(wire.url, link) if isinstance(link, str) and link else None


def absolute(url: str, link: str) -> str:
    """Return a link as it stands in the answer from a URL, made absolute."""
    try:
        if not SPELLED_OUT.search(link):
            return urljoin(url, link)
    except ValueError:
        pass
    return "invalid://" + link[:200]  # a link that is no URL leads nowhere on this host


def header_link(wire: Wire, how: NextPage) -> str | None:
    """Return the link to the next page that stands in a header, if any."""
    for name, value in wire.headers:
        if name.lower() == how.at.lower():
            for link, parameters in _LINK.findall(value):
                if _NEXT.search(parameters):
                    return absolute(wire.url, link)
    return None


# -- The next page of a list: by link, header, cursor, page number or offset, in a URL or a body
# A page whose request differs from that of the first page in its body alone has a link of our own:
# the URL of the request, with the value in the body as its fragment. All input is hostile.
#: A number that can be a page or an offset.
_NUMBER = re.compile(r"[0-9]{1,9}")
#: The name of the digest of a call in a link of our own; pointers begin with a slash.
_OF = "of"


def next_page(
    wire: Wire, body: Json, items: tuple[Item, ...] | None, how: NextPage | None
) -> str | None:
    """Return the absolute URL of the page after this one, if there is one."""
    if how is None:
        return None
    match how.turn:
        case Turn.LINK:
            found = (find(body, pointer) for pointer in how.links)
            link = next((each for each in found if isinstance(each, str) and each), None)
            return absolute(wire.url, link) if link else None
        case Turn.HEADER:
            return header_link(wire, how)
        case Turn.CURSOR:
            cursor = find(body, how.at)
            usable = isinstance(cursor, str | int) and not isinstance(cursor, bool) and cursor != ""
            return _page(wire, how, cursor) if usable else None
        case Turn.LAST:
            last = items[-1].id or items[-1].key if items else None
            return _page(wire, how, last) if last and not _is_over(body, how) else None
        case Turn.PAGE | Turn.OFFSET:
            return _counted(wire, body, items, how)


def _is_over(body: Json, how: NextPage) -> bool:
    """Whether a page says that no other follows."""
    return how.more is not None and find(body, how.more) in (MISSING, None, False, "", 0)


def _counted(wire: Wire, body: Json, items: tuple[Item, ...] | None, how: NextPage) -> str | None:
    """Return the next page by its number, or by how many items were before it."""
    items = items or ()
    if not items and how.more is None:  # else the page itself says whether another follows
        return None
    here = _here(wire, how)
    now = int(str(here)) if _NUMBER.fullmatch(str(here)) else how.first
    after = now + (len(items) if how.turn is Turn.OFFSET else 1)
    if _is_over(body, how):
        return None
    if how.total is not None:
        total = find(body, how.total)
        if not isinstance(total, int) or after - how.first >= total:
            return None
    return _page(wire, how, str(after) if isinstance(here, str) else after)


def _here(wire: Wire, how: NextPage) -> Json:
    """Return the number of a page, as its request has it."""
    if not how.body:
        return dict(parse_qsl(urlsplit(wire.url).query)).get(how.query, "")
    return find(read_json(as_json(wire.request_headers, wire.request_body)), how.body)


def _page(wire: Wire, how: NextPage, value: Json) -> str:
    """Return the link to the page with a cursor or a number."""
    if not how.body:
        return _with(wire.url, how.query, str(value))
    return f"{wire.url.partition('#')[0]}#{_fragment(how.body, value)}"


def _fragment(pointer: str, value: Json) -> str:
    plain = int(value) if isinstance(value, Decimal) else value
    return f"{quote(pointer)}={quote(json.dumps(plain))}"


def _with(url: str, name: str, value: str) -> str:
    """Return a URL whose query has a parameter once, with this value."""
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != name]
    return urlunsplit(parts._replace(query=urlencode([*query, (name, value)])))


# -- pages by a value in the body --------------------------------------------------
def page_of_call(outcome: Outcome, call: Call, how: NextPage | None) -> Outcome:
    """Return an outcome whose next page is that of this call, where only bodies tell them apart."""
    if how is None or not how.body or not isinstance(outcome, Accepted) or outcome.next is None:
        return outcome
    return replace(outcome, next=f"{outcome.next}&{_OF}={_digest(call, how)}")


def page_link(url: str, body: Json, call: Call, how: NextPage | None) -> str | None:
    """Return the link of our own that a recorded request follows, if it can be one."""
    value = find(body, how.body) if how is not None and how.body else MISSING
    if how is None or not isinstance(value, str | int | Decimal) or isinstance(value, bool):
        return None
    return f"{url}#{_fragment(how.body, value)}&{_OF}={_digest(call, how)}"


def value_in_body(link: str) -> Mapping[str, Json]:
    """Return the value that a link of our own puts into the body, by its pointer."""
    pairs = parse_qsl(link.partition("#")[2])
    values: dict[str, Json] = {}
    for name, text in pairs:
        if name.startswith("/"):
            values[name] = cast("Json", json.loads(text))
    return values


def _digest(call: Call, how: NextPage) -> str:
    """Return a digest of what a call asks for, without the page."""
    asked = sorted(
        (name, repr(value)) for name, value in call.arguments.items() if name != f"?{how.body}"
    )
    return blake2b(repr((asked, call.mode)).encode(), digest_size=6).hexdigest()


# -- Outputs: values of answers that later calls send, such as the id of a consent
# A target file names them at the operation whose answers have them, and uses them in braces in the
# requests of others. A value comes from the target, so it is hostile: one that is long, has several
# lines or cannot stand in a header is not sent anywhere.
#: The longest value that is sent, in characters.
LONGEST: Final = 2048
#: Names that have a meaning in braces already.
RESERVED: Final = ("now", "unique", "alike", "trial", "today")
#: A name in braces.
NAMED: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9._-]*)\}")
#: What a header can have, and a step of a path can be.
_SENDABLE: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_DOTS: Final = frozenset({".", ".."})
#: Whole numbers beyond it are no ids.
_LARGEST: Final = 10**40


def id_of(value: Json) -> str | None:
    """Return the text of an id, which may be a whole number; None where there is none."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
        return str(value)
    return value if isinstance(value, str) and value else None


def usable(value: Json) -> str | None:
    """Return a value of an answer as it is sent later; None for one that is not sent."""
    text = id_of(value)
    if text is None or len(text) > LONGEST or text in _DOTS:
        return None
    return text if _SENDABLE.fullmatch(text) else None


def in_body(body: Json, pointers: tuple[str, ...]) -> Json:
    """Return the value of the first pointer that finds one."""
    values = (find(body, pointer) for pointer in pointers)
    return next((value for value in values if value is not MISSING), MISSING)


def end_of_url(headers: Iterable[tuple[str, str]], wanted: str) -> Json:
    """Return the last segment of the URL in a header."""
    for name, value in headers:
        if name.lower() == wanted.lower():
            return last_segment(value)
    return MISSING


def outputs_of(
    headers: Iterable[tuple[str, str]], body: Json, bound: Mapping[str, OutputAt]
) -> Mapping[str, str]:
    """Return the outputs of an answer that can be sent later."""
    values = {
        name: usable(end_of_url(headers, at.header) if at.header else in_body(body, at.at))
        for name, at in bound.items()
    }
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputValues:
    """The outputs that a request can use.

    `sources` are all that the target file names, each with the operation whose answers have it;
    `values` those that an answer has had. Of an answer without a usable value, the output is in
    `unusable`.
    """

    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    unusable: frozenset[str] = frozenset()

    def left_out(self, text: str) -> bool:
        """Whether a header or a query parameter is left out: no answer has had its output yet."""
        return any(
            name in self.sources and name not in self.values and name not in self.unusable
            for name in NAMED.findall(text)
        )

    def sent(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the headers or query parameters that are sent."""
        return {name: text for name, text in texts.items() if not self.left_out(text)}

    def filled(self, text: str) -> str:
        """Return a text with the value of each output in it.

        Raises:
            CannotArrange: there is no value.

        """
        return NAMED.sub(self._value, text) if "{" in text else text

    def path(self, path: str) -> str:
        """Return a path with the value of each output in it, percent-encoded.

        Raises:
            CannotArrange: there is no value.

        """

        def encoded(match: re.Match[str]) -> str:
            return quote(self._value(match), safe="") if match[1] in self.sources else match[0]

        return NAMED.sub(encoded, path) if "{" in path else path

    def _value(self, match: re.Match[str]) -> str:
        name = match[1]
        if name not in self.sources:
            return match[0]
        if name in self.values:
            return self.values[name]
        key = ("operations", self.sources[name], "outputs", name)
        why = (
            f"the last answer of {self.sources[name]} has no value that can be sent"
            if name in self.unusable
            else f"no answer of {self.sources[name]} has contained it yet"
        )
        raise CannotArrange(f"a value for {{{name}}} ({'.'.join(key)}): {why}", key=key)
