"""Links in answers: those that the TPP follows, and that to the screens.

Links may be relative references (RFC 3986). All input is hostile: a link may be no URL.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from assay.binding.json_parser import SPELLED_OUT
from assay.binding.pointer import MISSING, find
from assay.binding.spelling import NextPage, OperationBinding, Turn
from assay.contract.model import Json
from assay.history import Wire

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
    pointers = dict.fromkeys([*binding.links, how.at if how and how.turn is Turn.LINK else ""])
    values = (find(body, pointer) for pointer in pointers if pointer)
    links = [absolute(wire.url, link) for link in values if isinstance(link, str) and link]
    if how and how.turn is Turn.HEADER and (link := header_link(wire, how)):
        links.append(link)
    named = {name.lower() for name in (binding.item.key_header or "", *binding.link_headers)}
    if wire.status in SUCCESSES:
        named.add("location")
    for name, value in wire.headers:
        if name.lower() in named:
            links += [absolute(wire.url, link) for link in _header_links(value)]
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


def _header_links(value: str) -> list[str]:
    """Return the links in the value of a header: those in `<>` (RFC 8288), or the value itself."""
    return [link for link, _ in _LINK.findall(value)] or ([value] if value else [])


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
