"""What a run will cost at a real bank: calls, quota, consents, requests and signatures.

The figures come from dry runs (`dry_run`), so each is an upper bound for a conforming
target; of a list whose length is unknown, one page is counted. Customers are named as
in the target file. Of the arguments of a request only numbers are shown: the others may
be personal data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from assay.binding.target import Target
from assay.contract.model import Json
from assay.estimate.feasibility import Feasibility
from assay.execution.guard import Customer
from assay.fixtures.waiting import NONE
from assay.planning.plan import Disposition

__all__ = ["Cost", "QuotaCost", "cost_of", "lines", "record"]

#: The argument that is taken for an amount where `safety.most` names none.
AMOUNT = re.compile(r"[0-9]{1,12}[.][0-9]{1,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaCost:
    """The number of accesses to an operation without the customer present on one day.

    `earlier` were made by earlier runs, and `most` are allowed, None for no limit.
    """

    customer: str
    operation: str
    day: str
    number: int
    earlier: int
    most: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a run costs. `written` counts requests, by operation and amounts."""

    trials: int
    calls: int
    unverified: int
    batch: tuple[QuotaCost, ...]
    consents: Mapping[str, int]
    written: Mapping[tuple[str, str], int]
    signatures: int
    waited: timedelta


def cost_of(feasibility: Feasibility, target: Target) -> Cost:
    """Add up the cost of all trials of a plan that will be run."""
    plan = feasibility.plan
    estimates = [feasibility.trials[trial.id] for trial in plan.all_trials]
    batch = sum((estimate.batch for estimate in estimates), Counter[tuple[Customer, str, date]]())
    consents = sum((estimate.consents for estimate in estimates), Counter[str]())
    written = Counter(
        (operation, _amounts(arguments, target))
        for estimate in estimates
        for operation, arguments in estimate.requests
    )
    return Cost(
        trials=len(plan.all_trials),
        calls=plan.calls,
        unverified=sum(item.disposition is Disposition.UNVERIFIED for item in plan.items),
        batch=tuple(
            QuotaCost(
                customer=customer.name,
                operation=operation,
                day=day.isoformat(),
                number=number,
                earlier=feasibility.used[customer, operation, day],
                most=feasibility.bounds.get(operation),
            )
            for (customer, operation, day), number in batch.items()
        ),
        consents=consents,
        written=written,
        signatures=sum(estimate.signatures for estimate in estimates),
        waited=sum((estimate.waited for estimate in estimates), NONE),
    )


def _amounts(arguments: Mapping[str, Json], target: Target) -> str:
    """Return the numeric arguments of a request, under their names in the contract."""
    amounts = [
        f"{name} {value}"
        for name, value in arguments.items()
        if not isinstance(value, bool)
        and isinstance(value, str | int | Decimal | float)
        and (name in target.safety.most or AMOUNT.fullmatch(str(value)))
    ]
    return ", ".join(amounts)


def lines(cost: Cost) -> Iterator[str]:
    """Yield what a run costs besides calls and waiting, one line each."""
    for use in cost.batch:
        left = "" if use.most is None else f"; {max(use.most - use.earlier, 0)} of {use.most} left"
        yield (
            f"{_some(use.number, 'access', 'accesses')} of {use.operation} without the customer "
            f"({use.customer}, {use.day}); {use.earlier} made earlier{left}"
        )
    for name, number in cost.consents.items():
        yield f"{_some(number, 'consent')} of {name}, which may replace earlier ones"
    for (operation, amounts), number in cost.written.items():
        yield f"{_some(number, 'call')} of {operation}{f' ({amounts})' if amounts else ''}"
    if cost.signatures:
        yield f"up to {_some(cost.signatures, 'signature')}"


def record(cost: Cost) -> dict[str, object]:
    """Return what a run costs as JSON data; waiting is in seconds."""
    return {
        "trials": cost.trials,
        "calls": cost.calls,
        "unverified": cost.unverified,
        "without_customer": [
            {
                "customer": accesses.customer,
                "operation": accesses.operation,
                "day": accesses.day,
                "accesses": accesses.number,
                "earlier": accesses.earlier,
                "most": accesses.most,
            }
            for accesses in cost.batch
        ],
        "consents": dict(cost.consents),
        "writes": [
            {"operation": operation, "amounts": amounts, "calls": number}
            for (operation, amounts), number in cost.written.items()
        ],
        "signatures": cost.signatures,
        "waiting": cost.waited.total_seconds(),
    }


def _some(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
