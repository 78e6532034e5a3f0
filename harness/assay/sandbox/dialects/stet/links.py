"""Links: the bank's, turned into those of the dialect, and those that follow from them.

Scheme and host stay as the bank wrote them, right or wrong. The bank names this page and
the next one; the first and the one before follow from the number of this page, and the
last is only known when one is on it. Not for fetching: nothing is followed here.
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from assay.sandbox.dialects import BASE_PATHS
from assay.sandbox.dialects.stet.dates import TO, shifted
from assay.sandbox.dialects.stet.ids import Ids
from assay.sandbox.dialects.stet.trees import Content, members

__all__ = ["PAYMENTS", "ROOT", "beside", "hal", "translated", "turning"]

ROOT = BASE_PATHS["stet"]
#: Both interfaces have payments below the same path.
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


def translated(link: object, ids: Ids) -> object:
    """Turn a link of the bank's into one of the dialect; what it does not know stays."""
    found = _LINK.fullmatch(link) if isinstance(link, str) else None
    if found is None:
        return link
    origin, path, query = found["origin"], found["path"], found["query"] or ""
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


def hal(links: Mapping[str, object], ids: Ids) -> Content:
    """Turn all links of an answer, each into an object of its own."""
    return {name: {"href": translated(link, ids)} for name, link in links.items()}


def turning(links: Content) -> Content:
    """Add the links by which a long list is turned over: first, prev and last."""
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
    more = {"first": turned(1)}
    if page > 1:
        more["prev"] = turned(page - 1)
    if "next" not in links:
        more["last"] = turned(page)
    return {**links, **more}


def beside(links: Content, **tails: str) -> Content:
    """Add links to what is beside this list: a tail each, below the list of accounts."""
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
