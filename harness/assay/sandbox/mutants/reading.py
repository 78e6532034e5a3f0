"""Mutants and neutral variants of reading: other names of a method, and later pages."""

from collections.abc import Sequence

from assay.sandbox.access import AccessRequest, Decision, Listing, consented_only, list_all
from assay.sandbox.accounts import AliasView, Item, Row
from assay.sandbox.messages import Kind, Route
from assay.sandbox.mutants.mutant import breaking, neutral, only_when
from assay.sandbox.policies import SOUND, put

#: Accounts and cards on a page.
_PAGE = 5
_ENTRIES: tuple[Kind, ...] = ("transaction",)


def _with(name: str, value: str, route: Route) -> AliasView:
    """Show another value of one member under another name of the method."""

    def view(called: Route, rows: Sequence[Row]) -> Sequence[Row]:
        return [{**row, name: value} if called == route else row for row in rows]

    return view


def _served(request: AccessRequest) -> Decision:
    return Decision.SERVED


def _own_links(route: Route, rows: Sequence[Row]) -> Sequence[Row]:
    """Give each row a link with the name that was called."""
    return [{**row, "links": {"report": f"/reports/{route}/{row['iban']}"}} for row in rows]


def _any_later_page(request: AccessRequest) -> bool:
    return request.page > 1


def _others_later_page(listing: Listing) -> bool:
    return listing.page > 1 and len(listing.items) <= _PAGE


def _others_accounts(listing: Listing) -> Sequence[Item]:
    return [item for item in listing.foreign if item.resource == "account"]


READING = (
    *(
        breaking(
            f"own.{kind}-on-anyones-page",
            f"own-data/{kind}",
            f"the link to the next page of a {kind} list serves any customer",
            scope=put(SOUND.scope, **{kind: only_when(_any_later_page, _served, consented_only)}),
        )
        for kind in _ENTRIES
    ),
    breaking(
        "own.account-on-anyones-page",
        "own-data/account",
        "the link to the next page of the list of accounts serves any customer",
        listed=only_when(_others_later_page, _others_accounts, list_all),
    ),
    breaking(
        "available.balances-alias-amount",
        "balances.available/aliases-agree",
        "/balances shows every balance with the amount 0.00",
        aliases=put(SOUND.aliases, balances=_with("amount", "0.00", "short")),
    ),
    breaking(
        "available.transactions-alias-label",
        "transactions.available/aliases-agree",
        "/transactions shows every transaction with another label",
        aliases=put(SOUND.aliases, transactions=_with("label", "VIR", "short")),
    ),
    breaking(
        "available.transactions-path-amount",
        "transactions.available/aliases-agree",
        "/accounts/{}/transactions shows every transaction with the amount 1.00",
        aliases=put(SOUND.aliases, transactions=_with("amount", "1.00", "path")),
    ),
)

NEUTRAL_READING = (
    neutral(
        "links-of-each-name",
        "every balance and transaction has a link with the name of the method that was called",
        aliases=put(SOUND.aliases, balances=_own_links, transactions=_own_links),
    ),
)
