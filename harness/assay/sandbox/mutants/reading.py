"""Mutants and neutral variants of reading: other names of a method, and later pages."""

from collections.abc import Sequence

from assay.sandbox.accounts import AliasView, Row
from assay.sandbox.messages import Route
from assay.sandbox.mutants.mutant import breaking, neutral
from assay.sandbox.policies import SOUND, put


def _with(name: str, value: str, route: Route) -> AliasView:
    """Show another value of one member under another name of the method."""

    def view(called: Route, rows: Sequence[Row]) -> Sequence[Row]:
        return [{**row, name: value} if called == route else row for row in rows]

    return view


def _own_links(route: Route, rows: Sequence[Row]) -> Sequence[Row]:
    """Give each row a link with the name that was called."""
    return [{**row, "links": {"report": f"/reports/{route}/{row['iban']}"}} for row in rows]


READING = (
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
