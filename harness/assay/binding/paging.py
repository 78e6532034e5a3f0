"""The next page of a list: by link, header, cursor, page number or offset, in a URL or a body.

A page whose request differs from that of the first page in its body alone has a link of our own:
the URL of the request, with the value in the body as its fragment. All input is hostile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from hashlib import blake2b
from typing import cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from assay.binding.json_parser import parse_json
from assay.binding.links import absolute, header_link
from assay.binding.pointer import MISSING, find
from assay.binding.spelling import NextPage, Turn
from assay.contract.model import Json
from assay.history import Accepted, Call, Item, Outcome, Wire

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
            link = find(body, how.at)
            return absolute(wire.url, link) if isinstance(link, str) and link else None
        case Turn.HEADER:
            return header_link(wire, how)
        case Turn.CURSOR:
            cursor = find(body, how.at)
            usable = isinstance(cursor, str | int) and not isinstance(cursor, bool) and cursor != ""
            return _page(wire, how, cursor) if usable else None
        case Turn.PAGE | Turn.OFFSET:
            return _counted(wire, body, items, how)


def _counted(wire: Wire, body: Json, items: tuple[Item, ...] | None, how: NextPage) -> str | None:
    """Return the next page by its number, or by how many items were before it."""
    if not items:
        return None
    here = _here(wire, how)
    now = int(str(here)) if _NUMBER.fullmatch(str(here)) else how.first
    after = now + (len(items) if how.turn is Turn.OFFSET else 1)
    if how.more is not None and find(body, how.more) in (MISSING, None, False, "", 0):
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
    try:
        return find(parse_json(wire.request_body), how.body)
    except (ValueError, RecursionError):
        return MISSING


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
