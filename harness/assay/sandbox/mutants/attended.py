"""Faults of calls made while the customer is there: limited, or held against batch.

Attended calls also arrange the other trials, so a fault here only shows after more of
them than an arrangement takes.
"""

from collections.abc import Hashable
from dataclasses import replace

from assay.sandbox.mutants.mutant import Change, breaking
from assay.sandbox.policies import put
from assay.sandbox.quota import BATCH, Access, Quota
from assay.sandbox.wire import OPERATIONS, Operation

__all__ = ["ATTENDED"]


def _attended(access: Access) -> bool:
    return access.attended and access.page == 1


def _any(access: Access) -> bool:
    return access.page == 1


def _per_operation(access: Access) -> Hashable:
    return (access.customer, access.operation)


def _limited(operation: Operation, limit: int) -> Change:
    """Limit attended calls as well."""
    rule = Quota(limit=limit, pool=_per_operation, applies=_attended, charged=_attended)
    return lambda bank: replace(bank, quota=put(bank.quota, **{operation: (BATCH, rule)}))


def _every(*rules: Quota) -> Change:
    return lambda bank: replace(bank, quota=put(bank.quota, **dict.fromkeys(OPERATIONS, rules)))


ATTENDED = (
    *(
        breaking(
            f"attended.{operation}-{limit}-a-day",
            f"online-unlimited/{operation}-unlimited",
            f"{operation}: at most {limit} attended calls a day",
            _limited(operation, limit),
        )
        for operation in OPERATIONS
        for limit in (15, 19)
    ),
    breaking(
        "attended.seven-in-all",
        "online-unlimited/not-counted",
        "batch accesses are refused after seven calls of any sort",
        _every(BATCH, replace(BATCH, limit=7, charged=_any)),
    ),
    breaking(
        "attended.eight-in-all",
        "online-unlimited/not-counted",
        "batch accesses are refused after eight calls of any sort",
        _every(BATCH, replace(BATCH, limit=8, charged=_any)),
    ),
    breaking(
        "attended.refused-after-batch",
        "online-unlimited/after-exhausted",
        "attended calls are refused once the batch quota is used up",
        _every(replace(BATCH, applies=_any)),
    ),
)
