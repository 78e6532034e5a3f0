"""How things look in the bank's JSON: rows, amounts, links.

One small decision each, so that a single currency or a single host can be wrong. Not
for choosing what is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote, urlencode

from assay.sandbox.roster import Entry, Item
from assay.sandbox.wire import Json, Request, Route

__all__ = [
    "AliasView",
    "Base",
    "Currency",
    "Cut",
    "Cutter",
    "Identity",
    "LinkPlace",
    "Row",
    "Spot",
    "account_row",
    "as_is",
    "balance_rows",
    "disclosed_after_consent",
    "entry_row",
    "euro",
    "link",
    "pages_of",
    "same_everywhere",
]

#: One account, balance or transaction in JSON.
Row: TypeAlias = Mapping[str, Json]
#: The links that answers have.
LinkPlace: TypeAlias = Literal[
    "accounts-self",
    "accounts-next",
    "balances-self",
    "transactions-self",
    "transactions-next",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where in its whole list (not its page) a thing stands, from 0."""

    index: int
    count: int


#: The currency of the thing at this spot.
Currency: TypeAlias = Callable[[Spot], str]
#: Scheme and host of a link, from those that the request came to.
Base: TypeAlias = Callable[[str], str]
#: What an alias of a path shows of the rows which the main path has.
AliasView: TypeAlias = Callable[[Route, Sequence[Row]], Sequence[Row]]
#: The members that the list of accounts gets, from the name and "was there a consent".
Identity: TypeAlias = Callable[[str, bool], Row]


def euro(_spot: Spot) -> str:
    """Everything is in euro."""
    return "EUR"


def same_everywhere(base: str) -> str:
    """Stay on the host."""
    return base


def as_is(_route: Route, rows: Sequence[Row]) -> Sequence[Row]:
    """Show the same by every path."""
    return rows


def disclosed_after_consent(name: str, consented: bool) -> Row:
    """Name the customer once there is a consent."""
    return {"PsuIdentity": name} if consented else {}


def account_row(item: Item) -> Row:
    """Show one account or card of the list."""
    return {
        "kind": item.resource,
        "iban": item.key,
        "name": item.name,
        "currency": "EUR",
    }


def balance_rows(item: Item, types: Sequence[str | None], currency: Currency) -> Sequence[Row]:
    """Show the balances (or outstandings); a type of None leaves the member out."""
    rows: list[Row] = []
    for index, kind in enumerate(types):
        named: Row = {"iban": item.key}
        if kind is not None:
            named = {**named, "balanceType": kind}
        money: Row = {
            "amount": _amount(item.balance(index)),
            "currency": currency(Spot(index=index, count=len(types))),
        }
        rows.append({**named, **money})
    return rows


def entry_row(item: Item, entry: Entry, currency: str) -> Row:
    """Show one transaction or slip."""
    return {
        "id": entry.id,
        "iban": item.key,
        "bookingDate": entry.date.isoformat(),
        "amount": _amount(entry.cents),
        "currency": currency,
        "label": entry.label,
    }


def link(request: Request, base: str, page: int | None = None) -> str:
    """Link to the request itself, or to another page of what it asked for."""
    query = request.query
    if page is not None:
        query = {**query, "page": str(page)}
    path = base + quote(request.path)
    return f"{path}?{urlencode(query)}" if query else path


def _amount(cents: int) -> str:
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{rest:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One page: which positions of the list it shows, and the next page if any."""

    positions: Sequence[int]
    next: int | None


#: Cuts page ``page`` (from 1) out of a list of ``count``.
Cutter: TypeAlias = Callable[[int, int], Cut]


def pages_of(size: int) -> Cutter:
    """Cut pages of one size; a page after the last is empty."""

    def cut(count: int, page: int) -> Cut:
        end = page * size
        return Cut(
            positions=range(min(end - size, count), min(end, count)),
            next=page + 1 if end < count else None,
        )

    return cut
