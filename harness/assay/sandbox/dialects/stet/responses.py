"""STET response bodies: links, refusals with four-letter codes, and translated members.

Links keep the scheme and host that the bank wrote, right or wrong. The bank links to
this page and the next; the first and previous page follow from the page number, and the
last is known on the last page only.

The reason of a refusal is derived from its status and from the API, since nothing else
in the bank's refusals is meant for programs. The optional `timestamp` is omitted, since
the bank does not disclose its clock.

Answers are translated member by member. Missing members stay missing, and unknown
members are passed on: translation must not hide a fault of the bank.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode

from assay.sandbox.dialects.base_paths import BASE_PATHS
from assay.sandbox.dialects.stet.values import TO, Content, OpaqueIds, members, shifted

ROOT = BASE_PATHS["stet"]
#: Path of payments, which is the same in both interfaces.
PAYMENTS = "/payment-requests"

_LINK = re.compile(
    r"(?P<origin>(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)?)(?P<path>/[^?#]*)(?:\?(?P<query>[^#]*))?",
    re.DOTALL,
)
_PATHS: Mapping[str, str] = {
    "/accounts": "/accounts",
    "/accounts/balances": "/accounts/{}/balances",
    "/accounts/transactions": "/accounts/{}/transactions",
}


def to_stet_link(link: object, ids: OpaqueIds) -> object:
    """Translate a link; an unknown one is returned unchanged."""
    match = _LINK.fullmatch(link) if isinstance(link, str) else None
    if match is None:
        return link
    origin, path, query = match["origin"], match["path"], match["query"] or ""
    if path.startswith(PAYMENTS):
        return f"{origin}{ROOT}{path}"
    if path not in _PATHS:
        return link
    pairs = parse_qsl(query, keep_blank_values=True)
    opaque = next((ids.issue(value) for name, value in pairs if name == "iban"), "")
    kept = [
        (name, shifted(value, 1) if name == TO else value)
        for name, value in pairs
        if name != "iban"
    ]
    return _with_query(f"{origin}{ROOT}{_PATHS[path].format(opaque)}", kept)


def _with_query(path: str, pairs: list[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(pairs)}" if pairs else path


def hal(links: Mapping[str, object], ids: OpaqueIds) -> Content:
    """Translate all links of an answer into HAL."""
    return {name: {"href": to_stet_link(link, ids)} for name, link in links.items()}


def with_page_links(links: Content) -> Content:
    """Add the links to the first, previous and last page."""
    here = members(links.get("self")).get("href")
    if not isinstance(here, str):
        return links
    path, _, query = here.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    asked = next((value for name, value in pairs if name == "page"), "1")
    page = int(asked) if asked.isdecimal() and asked.isascii() else 1

    def turned(to: int) -> Content:
        others = [(name, value) for name, value in pairs if name != "page"]
        return {"href": _with_query(path, [*others, ("page", str(to))])}

    if page == 1 and "next" not in links:
        return links
    page_links = {"first": turned(1)}
    if page > 1:
        page_links["prev"] = turned(page - 1)
    if "next" not in links:
        page_links["last"] = turned(page)
    return {**links, **page_links}


def with_related_links(links: Content, **tails: str) -> Content:
    """Add links to related lists, given their paths below the account."""
    here = members(links.get("self")).get("href")
    if not isinstance(here, str):
        return links
    path = here.partition("?")[0]
    account = path.rpartition("/")[0]
    accounts = account.rpartition("/")[0]
    return {
        **links,
        **{
            name.replace("_", "-"): {"href": f"{account}/{tail}" if tail else accounts}
            for name, tail in tails.items()
        },
    }


_LONGEST = 140
_BOTH: Mapping[int, str] = {
    400: "FF01",
    422: "FF01",
    405: "NIMP",
    500: "INTE",
    501: "NIMP",
}
_INFORMATION: Mapping[int, str] = {**_BOTH, 403: "NGAC", 404: "NAAC"}
_PAYMENTS: Mapping[int, str] = {**_BOTH, 403: "AG01"}


def status_of(status: int, *, offered: bool) -> int:
    """Return the status of a refusal in the dialect.

    An exhausted quota becomes 403, and an operation that is not offered 501.
    """
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return HTTPStatus.FORBIDDEN
    if status == HTTPStatus.METHOD_NOT_ALLOWED and not offered:
        return HTTPStatus.NOT_IMPLEMENTED
    return status


def refusal(
    content: Content, bank_answer: int, status: int, path: str, *, payments: bool
) -> Content:
    """Translate a refusal; `bank_answer` is the bank's status, and its message becomes `error`."""
    codes = _PAYMENTS if payments else _INFORMATION
    code = "TMRQ" if bank_answer == HTTPStatus.TOO_MANY_REQUESTS else codes.get(status)
    error = content.get("message")
    return {
        "status": status,
        **({"error": error[:_LONGEST]} if isinstance(error, str) else {}),
        "message": code or _phrase(status),
        "path": path[:_LONGEST],
        **unknown_members(content, ("status", "message")),
    }


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class StetAnswer:
    """A translated answer; without a body the status is 204."""

    body: Content | None
    headers: tuple[tuple[str, str], ...] = ()


#: Translates an accepted answer of the bank.
ToStet: TypeAlias = Callable[[Content], StetAnswer]


def unknown_members(content: Content, known: Collection[str]) -> Content:
    """Return the members that the dialect does not translate."""
    return {name: value for name, value in content.items() if name not in known}


def renamed(content: Content, **names: str) -> Content:
    """Return members under other names; missing ones stay missing."""
    return {to: content[name] for to, name in names.items() if name in content}
