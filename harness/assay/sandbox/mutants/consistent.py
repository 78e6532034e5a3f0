"""Mutants that contradict themselves: each answer is valid, but two of them disagree.

Some depend on earlier calls of the customer. They record these in the policy that is
applied last to every answer, since the bank itself does not record calls.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TypeAlias, cast

from assay.sandbox.access import Listing
from assay.sandbox.accounts import Item
from assay.sandbox.messages import Answer, Json, Operation, Request
from assay.sandbox.mutants.mutant import Change, breaking
from assay.sandbox.policies import Policies

__all__ = ["CONSISTENT"]

#: Alters an accepted answer, given the customer's earlier calls.
_Recall: TypeAlias = Callable[[Sequence[Request], Request, Answer], Answer]
_Row: TypeAlias = Mapping[str, Json]
_DAY = timedelta(days=1)


def _recalling(altered: _Recall) -> Change:
    """Alter accepted answers with access to the customer's earlier calls."""

    def change(bank: Policies) -> Policies:
        past: dict[str, list[Request]] = {}

        def respond(request: Request, answer: Answer) -> Answer:
            before = past.setdefault(request.customer, [])
            accepted = answer.status < 300  # noqa: PLR2004
            altered_answer = altered(before, request, answer) if accepted else answer
            if accepted or request.operation != "consents":
                before.append(request)
            return altered_answer

        return replace(bank, respond=respond)

    return change


def _rows(operation: Operation, answer: Answer) -> list[_Row]:
    """Return the list in an answer; its member is named after the operation."""
    body = cast("Mapping[str, Json]", answer.body)
    return list(cast("Sequence[_Row]", body[operation]))


def _showing(operation: Operation, answer: Answer, rows: Sequence[_Row]) -> Answer:
    return replace(answer, body={**cast("Mapping[str, Json]", answer.body), operation: rows})


def _repeats(before: Sequence[Request], request: Request) -> bool:
    """Whether nothing but pages of the same list were requested since the same request."""
    for former in reversed(before):
        if (former.path, _without_page(former.query)) != (
            request.path,
            _without_page(request.query),
        ):
            return False
        if former.query == request.query:
            return True
    return False


def _without_page(query: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in query.items() if name != "page"}


def _again(operation: Operation, altered: Callable[[_Row], _Row | None]) -> Change:
    """Alter the last row if the same request is repeated."""

    def recall(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
        if request.operation != operation or not _repeats(before, request):
            return answer
        rows = _rows(operation, answer)
        if not rows:
            return answer
        *kept, row = rows
        changed = altered(row)
        return _showing(operation, answer, [*kept, changed] if changed else kept)

    return _recalling(recall)


def _gone(_row: _Row) -> None:
    """Omit the row."""


def _with_other_amount(row: _Row) -> _Row:
    return {**row, "amount": "0.00"}


def _named_once(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Omit the customer's name if the list is requested twice in a row."""
    if request.operation != "accounts" or not before or before[-1].operation != "accounts":
        return answer
    body = cast("Mapping[str, Json]", answer.body)
    return replace(answer, body={name: it for name, it in body.items() if name != "PsuIdentity"})


def _read(before: Sequence[Request], operation: Operation) -> int:
    return sum(call.operation == operation for call in before)


def _a_cent_less(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Subtract a cent from the balances for every reading of transactions."""
    cents = _read(before, "transactions")
    if request.operation != "balances" or not cents:
        return answer
    rows = _rows("balances", answer)
    return _showing("balances", answer, [{**row, "amount": f"-0.{cents:02d}"} for row in rows])


def _fee(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Book a fee for every reading of balances."""
    fees = _read(before, "balances")
    if request.operation != "transactions":
        return answer
    rows = _rows("transactions", answer)
    fee_rows = [{**rows[0], "id": f"FEE{n}", "label": "FRAIS"} for n in range(fees if rows else 0)]
    return _showing("transactions", answer, [*fee_rows, *rows])


def _consented(before: Sequence[Request]) -> int:
    """Return the number of accounts in the last consent."""
    bodies = [call.body for call in before if call.operation == "consents"]
    return len(json.loads(bodies[-1])["accounts"]) if bodies else 0


def _one_fewer(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Omit the last transaction while the consent names two accounts or more."""
    if request.operation != "transactions" or _consented(before) < 2:  # noqa: PLR2004
        return answer
    return _showing("transactions", answer, _rows("transactions", answer)[:-1])


def _nameless(before: Sequence[Request], request: Request, answer: Answer) -> Answer:
    """Name the customer only while the consent names a single account."""
    if request.operation != "accounts" or _consented(before) < 2:  # noqa: PLR2004
        return answer
    body = cast("Mapping[str, Json]", answer.body)
    return replace(answer, body={name: it for name, it in body.items() if name != "PsuIdentity"})


def _only_consented_if_several(listing: Listing) -> Sequence[Item]:
    consent = listing.consent or frozenset()
    return [item for item in listing.items if len(consent) < 2 or item.key in consent]  # noqa: PLR2004


def _from_anywhere(_first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return None, last


def _to_anywhere(first: date | None, _last: date | None) -> tuple[date | None, date | None]:
    return first, None


def _two_days_late(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first and first + 2 * _DAY, last


def _two_days_less(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first, last and last - 2 * _DAY


def _between(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first and first + _DAY, last and last - _DAY


def _open_ends(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    """Exclude the last day, and the first day if no last day is given."""
    return (first if last or not first else first + _DAY), last and last - _DAY


def _without_range(query: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in query.items() if name not in ("dateFrom", "dateTo")}


def _first_day_alone(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first, None if first else last


CONSISTENT = (
    breaking(
        "consistent.second-lacks-the-last",
        "consistent/same-twice",
        "a repeated request for transactions lacks the last one",
        _again("transactions", _gone),
    ),
    breaking(
        "consistent.second-has-another-amount",
        "consistent/same-twice",
        "a repeated request for balances ends with another amount",
        _again("balances", _with_other_amount),
    ),
    breaking(
        "consistent.second-does-not-name",
        "consistent/same-twice",
        "a repeated request for the list no longer names the customer",
        _recalling(_named_once),
    ),
    breaking(
        "consistent.reading-takes-a-cent",
        "consistent/unchanged-by-reading",
        "reading transactions changes the balances",
        _recalling(_a_cent_less),
    ),
    breaking(
        "consistent.reading-books-a-fee",
        "consistent/unchanged-by-reading",
        "reading balances books a transaction",
        _recalling(_fee),
    ),
    breaking(
        "consistent.range-from-anywhere",
        "consistent/shorter-range",
        "the first day of a range is ignored",
        period=_from_anywhere,
    ),
    breaking(
        "consistent.range-to-anywhere",
        "consistent/shorter-range",
        "the last day of a range is ignored",
        period=_to_anywhere,
    ),
    breaking(
        "consistent.range-two-days-late",
        "consistent/shorter-range",
        "a range begins two days late",
        period=_two_days_late,
    ),
    breaking(
        "consistent.range-two-days-less",
        "consistent/shorter-range",
        "a range ends two days early",
        period=_two_days_less,
    ),
    breaking(
        "consistent.pages-without-range",
        "consistent/shorter-range",
        "the link to the next page has no range",
        carried=_without_range,
    ),
    breaking(
        "consistent.range-of-one-end",
        "consistent/shorter-range",
        "the last day of a range is ignored beside a first one",
        period=_first_day_alone,
    ),
    breaking(
        "consistent.range-without-its-edges",
        "consistent/meeting-ranges",
        "the first and the last day of a range are excluded",
        period=_between,
    ),
    breaking(
        "consistent.range-without-open-edges",
        "consistent/meeting-ranges",
        "the last day of a range is excluded, and the first day of a range without a last day",
        period=_open_ends,
    ),
    breaking(
        "consistent.list-of-several",
        "consistent/smaller-consent",
        "with a consent to several accounts the others are not listed",
        listed=_only_consented_if_several,
    ),
    breaking(
        "consistent.one-transaction-fewer",
        "consistent/smaller-consent",
        "with a consent to several accounts the last transaction is missing",
        _recalling(_one_fewer),
    ),
    breaking(
        "consistent.named-for-one-account",
        "consistent/smaller-consent",
        "the customer is named only with a consent to a single account",
        _recalling(_nameless),
    ),
)
