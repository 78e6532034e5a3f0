"""Mutants of what time decides: the depth of the history, maintenance windows and the quota.

General faults of the depth apply in office hours only, when worlds start, so that the
clause on the local day, which is checked just after midnight, stays correct. Maintenance
windows of account information that end late do so on ordinary Sundays only, because the
night of a clock change has an obligation of its own; one mutant breaks both. The clock
never changes on a Monday, so payments have no such obligation.

Quota faults concern the limit, the day, the customers and the operations. Faults of
attended calls limit them, or count them towards the quota. Attended calls also set up
other trials, so these faults appear only after more calls than a set-up makes.
"""

from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.sandbox.access import BATCH, Access, Quota
from assay.sandbox.calendar import (
    MONDAY,
    MONDAY_NIGHT,
    NINETY_DAYS,
    PARIS,
    SUNDAY,
    SUNDAY_NIGHT,
    Closed,
    Closing,
    Depth,
    Span,
    local,
    today,
)
from assay.sandbox.messages import OPERATIONS, Operation, Table
from assay.sandbox.mutants.mutant import (
    Operator,
    breaking,
    breaking_pis,
    limited_to,
    never,
    one_less,
    one_more,
    only_when,
)
from assay.sandbox.policies import SOUND, put

_OFFICE_HOURS = range(8, 20)


def _history(operator: Operator[int]) -> Depth:
    return replace(NINETY_DAYS, too_old=operator(NINETY_DAYS.too_old))


def _in_office_hours(span: Span) -> bool:
    return local(span.now).hour in _OFFICE_HOURS


def _unasked(operator: Operator[int]) -> Depth:
    """Show more days if none were requested, on the day on which the account was opened."""

    def unasked(span: Span) -> bool:
        asked = span.asked is not None or span.until is not None
        return _in_office_hours(span) and not asked and span.opened == local(span.now).date()

    return only_when(unasked, _history(operator), NINETY_DAYS)


def _asked(operator: Operator[int]) -> Depth:
    """Show what was requested, up to another number of days."""
    wider = _history(operator)

    def requested(span: Span) -> date:
        return max(span.asked or NINETY_DAYS(span), wider(span))

    return only_when(_in_office_hours, requested, NINETY_DAYS)


def _before_the_last_day(span: Span) -> date:
    """Count back from the requested last day, if no first day was requested."""
    if span.until is None or span.asked is not None or not _in_office_hours(span):
        return NINETY_DAYS(span)
    return min(NINETY_DAYS(span), span.until - timedelta(days=90))


def _nothing_in_range(span: Span) -> date:
    """Show everything where the requested last day is older than the limit."""
    beyond = span.until is not None and span.until < NINETY_DAYS(span)
    return date.min if beyond and _in_office_hours(span) else NINETY_DAYS(span)


def _both_ends(span: Span) -> date:
    """Show a range as it was requested, if it has both ends."""
    return span.asked if span.asked and span.until else NINETY_DAYS(span)


def _first_page_alone(span: Span) -> date:
    """Count the days on the first page only."""
    recent = span.asked is None and span.until is None and span.opened == local(span.now).date()
    return date.min if span.page > 1 and recent else NINETY_DAYS(span)


def _from_the_opening(span: Span) -> date:
    """Count back from the day on which the history began to be kept."""
    opened = span.opened
    return NINETY_DAYS(span) if opened is None else opened - timedelta(days=90)


def _utc_day(now: datetime) -> date:
    return now.date()


def _day_from_two(now: datetime) -> date:
    """Start the day at 02:00."""
    return (local(now) - timedelta(hours=2)).date()


# fmt: off
DEPTH = (
    breaking("depth.one-day-more", "transactions.depth/default",
        "91 days are shown", depth=_unasked(one_more)),
    breaking("depth.half-a-year", "transactions.depth/default",
        "half a year is shown", depth=_unasked(limited_to(182))),
    breaking("depth.asked-one-day-more", "transactions.depth/asked-older",
        "91 days are shown on request", depth=_asked(one_more)),
    breaking("depth.asked-is-given", "transactions.depth/asked-older",
        "any number of days is shown on request", depth=_asked(limited_to(10_000))),
    breaking("depth.counts-from-the-last-day", "transactions.depth/until-alone",
        "without a first day, 90 days before the requested last day are shown",
        depth=_before_the_last_day),
    breaking("depth.beyond-is-given",
        "transactions.depth/until-alone transactions.depth/asked-older",
        "what lies wholly before the 90 days is shown on request", depth=_nothing_in_range),
    breaking("depth.range-is-given", "transactions.depth/asked-older",
        "a range with a first and a last day is shown, however old", depth=_both_ends),
    breaking("depth.first-page-alone", "transactions.depth/default",
        "further pages show everything", depth=_first_page_alone),
    breaking("depth.stands-still", "transactions.depth/later",
        "the 90 days are counted from the day on which the account was opened",
        depth=_from_the_opening),
    breaking("depth.utc-day", "transactions.depth/local-day",
        "the 90 days are counted from the UTC day", depth=replace(NINETY_DAYS, today=_utc_day)),
    breaking("depth.day-from-two", "transactions.depth/local-day",
        "the bank's day starts at 02:00", depth=replace(NINETY_DAYS, today=_day_from_two)),
    breaking("extended.one-day-more", "no-extended-history/gives-no-more",
        "the extended history mode returns 91 days", extended=_history(one_more)),
    breaking("extended.two-years", "no-extended-history/gives-no-more",
        "the extended history mode returns two years", extended=_history(limited_to(730))),
)
# fmt: on

_EVERY_DAY = frozenset(range(7))
#: Minute of the day.
_SEVEN = 7 * 60


def _begins(closing: Closing, operator: Operator[int]) -> Closing:
    return replace(closing, begun=operator(closing.begun))


def _ends(closing: Closing, operator: Operator[int]) -> Closing:
    return replace(closing, over=operator(closing.over))


def _changes_clock(now: datetime) -> bool:
    """Return whether the clock changes on this local day."""
    midnight = datetime.combine(local(now).date(), time(), PARIS)
    return midnight.utcoffset() != (midnight + timedelta(days=1)).utcoffset()


def _usually(closed: Closed) -> Closed:
    """Decide rightly on the nights of a clock change."""
    return only_when(_changes_clock, SUNDAY_NIGHT, closed)


def _four_hours_from_two(now: datetime) -> bool:
    """Close for four hours from 02:00, whatever the clock does."""
    two = datetime.combine(local(now).date(), time(2), PARIS).astimezone(UTC)
    return local(now).weekday() == SUNDAY and two <= now < two + timedelta(hours=4)


def _hours_after_midnight(now: datetime) -> bool:
    """Close from two to six hours after midnight."""
    midnight = datetime.combine(local(now).date(), time(), PARIS).astimezone(UTC)
    since = now - midnight
    return (
        local(now).weekday() == SUNDAY
        and timedelta(hours=2) <= since < timedelta(hours=6)
        and local(now).hour >= 2  # noqa: PLR2004
    )


def _and_at_three(now: datetime) -> bool:
    wall = local(now)
    return (wall.hour == 3 and wall.minute < 15) or SUNDAY_NIGHT(now)  # noqa: PLR2004


# fmt: off
MAINTENANCE = (
    breaking("maintenance.from-midnight", "maintenance/before",
        "closed from Sunday 00:00", closed=_begins(SUNDAY_NIGHT, limited_to(0))),
    breaking("maintenance.a-minute-early", "maintenance/before",
        "closed from Sunday 01:59", closed=_begins(SUNDAY_NIGHT, one_less)),
    breaking("maintenance.a-minute-late", "maintenance/after",
        "closed until Sunday 06:01, except on the nights of a clock change",
        closed=_usually(_ends(SUNDAY_NIGHT, one_more))),
    breaking("maintenance.until-seven", "maintenance/after",
        "closed until Sunday 07:00, except on the nights of a clock change",
        closed=_usually(_ends(SUNDAY_NIGHT, limited_to(_SEVEN)))),
    breaking("maintenance.always-until-seven", "maintenance/after maintenance/short-night",
        "closed until Sunday 07:00", closed=_ends(SUNDAY_NIGHT, limited_to(_SEVEN))),
    breaking("maintenance.every-night", "maintenance/other-days",
        "closed every night from 02:00 to 06:00", closed=replace(SUNDAY_NIGHT, days=_EVERY_DAY)),
    breaking("maintenance.at-three", "maintenance/other-days",
        "closed for a quarter of an hour at 03:00 every night", closed=_and_at_three),
    breaking("maintenance.four-hours", "maintenance/short-night",
        "closed for four hours from 02:00, even if the clock is set forward",
        closed=_four_hours_from_two),
    breaking("maintenance.hours-after-midnight", "maintenance/short-night",
        "closed until six hours after midnight, even if the clock is set forward",
        closed=_hours_after_midnight),
)

CLOSING_FAULTS = tuple(
    breaking_pis(f"maintenance.{name}", f"maintenance/{facet}", f"closed {says}", closed=closed)
    for name, facet, says, closed in (
        ("from-midnight", "before", "from Monday 00:00", _begins(MONDAY_NIGHT, limited_to(0))),
        ("a-minute-early", "before", "from Monday 01:59", _begins(MONDAY_NIGHT, one_less)),
        ("a-minute-late", "after", "until Monday 06:01", _ends(MONDAY_NIGHT, one_more)),
        ("until-seven", "after", "until Monday 07:00", _ends(MONDAY_NIGHT, limited_to(_SEVEN))),
        ("sunday-too", "other-days", "on Sunday as well",
         replace(MONDAY_NIGHT, days=frozenset({MONDAY, SUNDAY}))),
        ("every-night", "other-days", "every night", replace(MONDAY_NIGHT, days=_EVERY_DAY)),
    )
)
# fmt: on


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


#: What a higher limit breaks, too.
_AT_ONCE = " batch-quota/at-once"
_LIMITS: tuple[tuple[str, str, str, Operator[int]], ...] = (
    ("three-a-day", "served", "the fourth access of a day is refused", one_less),
    ("five-a-day", f"refused{_AT_ONCE}", "the fifth access of a day is served", one_more),
    ("unlimited", f"refused{_AT_ONCE}", "there is no quota", never),
)
_NEXT_DAY = (
    ("utc-day", "the quota applies to the UTC day", _same_utc_day),
    ("sliding-day", "the quota applies to the past 24 hours", _past_24_hours),
    ("never-resets", "the quota is never reset", _ever),
)

# fmt: off
QUOTA = (
    *(breaking(f"quota.{operation}-{name}", f"batch-quota/{operation}-{facet}",
          f"{operation}: {says}", quota=_limit(operation, operator))
      for name, facet, says, operator in _LIMITS for operation in OPERATIONS),
    *(breaking(f"quota.{operation}-{name}", f"batch-quota/{operation}-next-day",
          f"{operation}: {says}", quota=_counts((operation,), counts))
      for operation in OPERATIONS for name, says, counts in _NEXT_DAY),
    *(breaking(f"quota.{operation}-until-quarter-to-midnight", "batch-quota/before-midnight",
          f"{operation}: the day ends at 23:45",
          quota=_counts((operation,), _until_quarter_to_midnight))
      for operation in OPERATIONS),
    breaking("quota.races", "batch-quota/at-once",
        "two accesses at the same time are both checked before either is counted",
        interleaves=bool),
    breaking("quota.helsinki-day", "batch-quota/before-midnight batch-quota/long-day",
        "the quota applies to the day in Helsinki",
        quota=_counts(OPERATIONS,
                  lambda then, now:
                          then.astimezone(_HELSINKI).date() == now.astimezone(_HELSINKI).date())),
    breaking("quota.24-hour-day", "batch-quota/long-day",
        "the quota is reset 24 hours after midnight, even on a day of 25 hours",
        quota=_counts(OPERATIONS, _within_24_hours_of_midnight)),
    breaking("quota.one-for-all-methods", "batch-quota/per-method",
        "all operations share one quota", quota=_pool(OPERATIONS, _one_for_all_methods)),
    breaking("quota.balances-and-transactions-share", "batch-quota/per-method",
        "balances and transactions share one quota",
        quota=_pool(("balances", "transactions"), _one_for_all_methods)),
    breaking("quota.accounts-and-consents-share", "batch-quota/per-method",
        "accounts and consents share one quota",
        quota=_pool(("accounts", "consents"), _one_for_all_methods)),
    breaking("quota.one-for-all-customers", "batch-quota/per-customer",
        "all customers share the quotas", quota=_pool(OPERATIONS, lambda access: access.operation)),
)
# fmt: on


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


# fmt: off
ATTENDED = (
    *(breaking(f"attended.{operation}-{limit}-a-day", f"online-unlimited/{operation}-unlimited",
          f"{operation}: at most {limit} attended calls a day", quota=_limited(operation, limit))
      for operation in OPERATIONS for limit in (15, 19)),
    breaking("attended.seven-in-all", "online-unlimited/not-counted",
        "batch accesses are refused after seven calls of any kind",
        quota=_quotas(OPERATIONS, BATCH, replace(_batch_of(7), charged=_any))),
    breaking("attended.eight-in-all", "online-unlimited/not-counted",
        "batch accesses are refused after eight calls of any kind",
        quota=_quotas(OPERATIONS, BATCH, replace(_batch_of(8), charged=_any))),
    breaking("attended.refused-after-batch", "online-unlimited/after-exhausted",
        "attended calls are refused once the batch quota is used up",
        quota=_quotas(OPERATIONS, replace(BATCH, applies=_any))),
)
# fmt: on
