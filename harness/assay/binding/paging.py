"""URL of the next page: by link, header, cursor, page number or offset.

All input is hostile: a link may be no URL, a number no number. Nothing is sent here.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from assay.binding.pointer import MISSING, find
from assay.binding.target import NextPage, Turn
from assay.contract.model import Json
from assay.history import Item, Wire

#: One link of a header (RFC 8288), with its parameters.
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_NEXT = re.compile(r';\s*rel\s*=\s*"?(?:[^";]*\s)?next(?:\s[^";]*)?"?\s*(?:[;,]|$)', re.IGNORECASE)
#: A number that can be a page or an offset.
_NUMBER = re.compile(r"[0-9]{1,9}")


def absolute(url: str, link: str) -> str:
    """Return a link as it stands in the answer from a URL, made absolute."""
    try:
        return urljoin(url, link)
    except ValueError:  # a link that is no URL leads nowhere on this host
        return "invalid://" + link[:200]


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
            told = isinstance(cursor, str | int) and not isinstance(cursor, bool) and cursor != ""
            return _with(wire.url, how.query, str(cursor)) if told else None
        case Turn.PAGE | Turn.OFFSET:
            return _counted(wire, body, items, how)


def header_link(wire: Wire, how: NextPage) -> str | None:
    """Return the link to the next page that stands in a header, if any."""
    for name, value in wire.headers:
        if name.lower() == how.at.lower():
            for link, told in _LINK.findall(value):
                if _NEXT.search(told):
                    return absolute(wire.url, link)
    return None


def _counted(wire: Wire, body: Json, items: tuple[Item, ...] | None, how: NextPage) -> str | None:
    """Return the next page by its number, or by how many items were before it."""
    if not items:
        return None
    here = dict(parse_qsl(urlsplit(wire.url).query)).get(how.query, "")
    now = int(here) if _NUMBER.fullmatch(here) else how.first
    after = now + (len(items) if how.turn is Turn.OFFSET else 1)
    if how.more is not None and find(body, how.more) in (MISSING, None, False, "", 0):
        return None
    if how.total is not None:
        total = find(body, how.total)
        if not isinstance(total, int) or after - how.first >= total:
            return None
    return _with(wire.url, how.query, str(after))


def _with(url: str, name: str, value: str) -> str:
    """Return a URL whose query has a parameter once, with this value."""
    parts = urlsplit(url)
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != name]
    return urlunsplit(parts._replace(query=urlencode([*query, (name, value)])))
