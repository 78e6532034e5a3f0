"""Mutants that mix up whose data they show: rows of an earlier answer come into a later one.

Such a bank remembers the last row of each kind. The first time that a list or a report is
read to its end, on a page with room for one more row, a remembered row of somebody or
something else is added to it, then and ever after: the answers of the bank stay consistent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Literal, TypeAlias, cast

from assay.sandbox.accounts import Row
from assay.sandbox.messages import Answer, Json, Kind, Request
from assay.sandbox.mutants.mutant import Change, Mutant, breaking

__all__ = ["MIXED"]

_What: TypeAlias = Literal["accounts", "balances", "transactions"]
_ROOM: Mapping[_What, int] = {"accounts": 5, "balances": 100, "transactions": 15}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mixed:
    """A bank's memory of the rows of one kind, and the row that it adds to each answer."""

    what: _What
    mine: Callable[[Row], bool]
    last: dict[str, Row] = field(default_factory=dict[str, Row])
    added: dict[str, Row | None] = field(default_factory=dict[str, "Row | None"])

    def __call__(self, request: Request, answer: Answer) -> Answer:
        """Add a row to an answer that ends here, and remember one of its own."""
        if request.operation != self.what or answer.status != HTTPStatus.OK:
            return answer
        body = cast("dict[str, list[Row]]", answer.body)
        rows, links = body[self.what], cast("Row", body["links"])
        whose = self._whose(request)
        if "next" in links or len(rows) >= _ROOM[self.what]:
            return answer
        if whose not in self.added:
            world = whose.partition("-")[0]
            others = [
                row
                for name, row in self.last.items()
                if name != whose and name.partition("-")[0] == world
            ]
            mine = not rows or self.what == "accounts" or self.mine(rows[0])
            self.added[whose] = others[-1] if others and mine else None
        for row in filter(self.mine, rows):
            self.last.pop(whose, None)
            self.last[whose] = row
        extra = self.added[whose]
        shown = [*rows, extra] if extra and _in_range(extra, request.query) else rows
        return replace(answer, body=cast("Json", {**body, self.what: shown}))

    def _whose(self, request: Request) -> str:
        """Return the customer of a list, or the item of a report; both after their world."""
        if self.what == "accounts":
            return request.customer
        world = request.customer.partition("-")[0]
        return f"{world}-{request.identifier or request.query.get('iban', '')}"


def _in_range(row: Row, query: Mapping[str, str]) -> bool:
    """Whether a row is of a day that was asked for; dates are written in the order of time."""
    day = row.get("bookingDate")
    if not isinstance(day, str):
        return True
    return query.get("dateFrom", day) <= day <= query.get("dateTo", day)


def _mixing(what: _What, mine: Callable[[Row], bool]) -> Change:
    return lambda bank: replace(bank, respond=_Mixed(what=what, mine=mine))


def _of(resource: str) -> Callable[[Row], bool]:
    return lambda row: row["kind"] == resource


def _of_account(row: Row) -> bool:
    return str(row["iban"]).startswith("FR")


def _of_card(row: Row) -> bool:
    return not _of_account(row)


_REPORTS: tuple[tuple[Kind, _What, Callable[[Row], bool]], ...] = (
    ("balance", "balances", _of_account),
    ("outstanding", "balances", _of_card),
    ("transaction", "transactions", _of_account),
    ("slip", "transactions", _of_card),
)

MIXED: tuple[Mutant, ...] = (
    *(
        breaking(
            f"own.{resource}-of-another-customer",
            f"own-data/{resource}",
            f"the list shows one {resource} of the customer who asked before",
            _mixing("accounts", _of(resource)),
        )
        for resource in ("account", "card")
    ),
    *(
        breaking(
            f"own.{kind}-of-another-item",
            f"own-data/{kind}",
            f"a report shows one {kind} of what was asked about before",
            _mixing(what, mine),
        )
        for kind, what, mine in _REPORTS
    ),
)
