"""Mutants of the batch quota and of attended calls.

Quota faults concern the limit, the day, the customers and the operations. Faults of
attended calls limit them, or count them towards the quota. Attended calls also set up
other trials, so these faults appear only after more calls than a set-up makes.
"""

from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.sandbox.access import BATCH, Access, Quota
from assay.sandbox.calendar import PARIS, local, today
from assay.sandbox.messages import OPERATIONS, Operation, Table
from assay.sandbox.mutants.mutant import Operator, breaking, limited_to, never, one_less, one_more
from assay.sandbox.policies import SOUND, put

_Quotas: TypeAlias = Table[Operation, tuple[Quota, ...]]

_HELSINKI = ZoneInfo("Europe/Helsinki")


def _quotas(operations: tuple[Operation, ...], *quotas: Quota) -> _Quotas:
    """Give some operations other quotas."""
    return put(SOUND.quota, **dict.fromkeys(operations, quotas))


def _limit(operation: Operation, operator: Operator[int]) -> _Quotas:
    return _quotas((operation,), replace(BATCH, used_up=operator(BATCH.used_up)))


def _counts(
    operations: tuple[Operation, ...], counts: Callable[[datetime, datetime], bool]
) -> _Quotas:
    return _quotas(operations, replace(BATCH, counts=counts))


def _pool(operations: tuple[Operation, ...], pool: Callable[[Access], Hashable]) -> _Quotas:
    return _quotas(operations, replace(BATCH, pool=pool))


def _same_utc_day(then: datetime, now: datetime) -> bool:
    return then.date() == now.date()


def _past_24_hours(then: datetime, now: datetime) -> bool:
    return now - then < timedelta(hours=24)


def _ever(_then: datetime, _now: datetime) -> bool:
    return True


def _same_helsinki_day(then: datetime, now: datetime) -> bool:
    return then.astimezone(_HELSINKI).date() == now.astimezone(_HELSINKI).date()


def _until_quarter_to_midnight(then: datetime, now: datetime) -> bool:
    """End the day at 23:45."""
    early = timedelta(minutes=15)
    return (local(then) + early).date() == (local(now) + early).date()


def _within_24_hours_of_midnight(then: datetime, now: datetime) -> bool:
    """Assume that every day has 24 hours."""
    midnight = datetime.combine(today(then), time(), PARIS).astimezone(UTC)
    return now < midnight + timedelta(hours=24)


def _one_for_all_methods(access: Access) -> Hashable:
    return access.customer


def _one_for_all_customers(access: Access) -> Hashable:
    return access.operation


_LIMITS: tuple[tuple[str, str, str, Operator[int]], ...] = (
    ("three-a-day", "served", "the fourth access of a day is refused", one_less),
    ("five-a-day", "refused", "the fifth access of a day is served", one_more),
    ("unlimited", "refused", "there is no quota", never),
)
_NEXT_DAY = (
    ("utc-day", "the quota applies to the UTC day", _same_utc_day),
    ("sliding-day", "the quota applies to the past 24 hours", _past_24_hours),
    ("never-resets", "the quota is never reset", _ever),
)

QUOTA = (
    *(
        breaking(
            f"quota.{operation}-{name}",
            f"batch-quota/{operation}-{facet}",
            f"{operation}: {says}",
            quota=_limit(operation, operator),
        )
        for name, facet, says, operator in _LIMITS
        for operation in OPERATIONS
    ),
    *(
        breaking(
            f"quota.{operation}-{name}",
            f"batch-quota/{operation}-next-day",
            f"{operation}: {says}",
            quota=_counts((operation,), counts),
        )
        for operation in OPERATIONS
        for name, says, counts in _NEXT_DAY
    ),
    *(
        breaking(
            f"quota.{operation}-until-quarter-to-midnight",
            "batch-quota/before-midnight",
            f"{operation}: the day ends at 23:45",
            quota=_counts((operation,), _until_quarter_to_midnight),
        )
        for operation in OPERATIONS
    ),
    breaking(
        "quota.helsinki-day",
        "batch-quota/before-midnight batch-quota/long-day",
        "the quota applies to the day in Helsinki",
        quota=_counts(OPERATIONS, _same_helsinki_day),
    ),
    breaking(
        "quota.24-hour-day",
        "batch-quota/long-day",
        "the quota is reset 24 hours after midnight, even on a day of 25 hours",
        quota=_counts(OPERATIONS, _within_24_hours_of_midnight),
    ),
    breaking(
        "quota.one-for-all-methods",
        "batch-quota/per-method",
        "all operations share one quota",
        quota=_pool(OPERATIONS, _one_for_all_methods),
    ),
    breaking(
        "quota.balances-and-transactions-share",
        "batch-quota/per-method",
        "balances and transactions share one quota",
        quota=_pool(("balances", "transactions"), _one_for_all_methods),
    ),
    breaking(
        "quota.accounts-and-consents-share",
        "batch-quota/per-method",
        "accounts and consents share one quota",
        quota=_pool(("accounts", "consents"), _one_for_all_methods),
    ),
    breaking(
        "quota.one-for-all-customers",
        "batch-quota/per-customer",
        "all customers share the quotas",
        quota=_pool(OPERATIONS, _one_for_all_customers),
    ),
)


def _batch_of(limit: int) -> Quota:
    return replace(BATCH, used_up=limited_to(limit)(BATCH.used_up))


def _attended(access: Access) -> bool:
    return access.attended and access.page == 1


def _any(access: Access) -> bool:
    return access.page == 1


def _limited(operation: Operation, limit: int) -> _Quotas:
    """Limit attended calls as well."""
    quota = replace(_batch_of(limit), applies=_attended, charged=_attended)
    return _quotas((operation,), BATCH, quota)


ATTENDED = (
    *(
        breaking(
            f"attended.{operation}-{limit}-a-day",
            f"online-unlimited/{operation}-unlimited",
            f"{operation}: at most {limit} attended calls a day",
            quota=_limited(operation, limit),
        )
        for operation in OPERATIONS
        for limit in (15, 19)
    ),
    breaking(
        "attended.seven-in-all",
        "online-unlimited/not-counted",
        "batch accesses are refused after seven calls of any kind",
        quota=_quotas(OPERATIONS, BATCH, replace(_batch_of(7), charged=_any)),
    ),
    breaking(
        "attended.eight-in-all",
        "online-unlimited/not-counted",
        "batch accesses are refused after eight calls of any kind",
        quota=_quotas(OPERATIONS, BATCH, replace(_batch_of(8), charged=_any)),
    ),
    breaking(
        "attended.refused-after-batch",
        "online-unlimited/after-exhausted",
        "attended calls are refused once the batch quota is used up",
        quota=_quotas(OPERATIONS, replace(BATCH, applies=_any)),
    ),
)
