"""Faults of the two rules after signing: too strict, too lax, by the wrong measure."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import date, datetime, timedelta

from assay.sandbox.mutants.payments.change import breaking_pis
from assay.sandbox.payments.reading import PURPOSES
from assay.sandbox.payments.rules import (
    CashRule,
    DuplicateRule,
    Facts,
    all_parameters,
    own_registration,
)
from assay.sandbox.payments.terms import Factor, Status, Terms

__all__ = ["RULE_FAULTS"]

_CASH = CashRule()
_DUPLICATE = DuplicateRule()
_ORIGINALS = _DUPLICATE.originals


def _hours(count: int) -> timedelta:
    return timedelta(hours=count)


def _older_than(hours: int) -> Callable[[timedelta], bool]:
    return lambda age: age > _hours(hours)


def _72_hours_and_more(age: timedelta) -> bool:
    return age >= _hours(72)


def _whole_hours(age: timedelta) -> bool:
    """Count begun hours as done."""
    return -(-age // _hours(1)) >= 72  # noqa: PLR2004


def _within_four_days(age: timedelta) -> bool:
    return _hours(72) < age < _hours(96)


def _whole_days(age: timedelta) -> bool:
    """Count whole days only, and more than three."""
    return age.days > 3  # noqa: PLR2004


def _any_age(_age: timedelta) -> bool:
    return True


def _anybodys(facts: Facts) -> datetime | None:
    return facts.registered or facts.registered_by_others


def _known_from_the_start(facts: Facts) -> datetime | None:
    """Take a creditor that nobody registered for an old one."""
    return own_registration(facts) or facts.signed - _hours(1_000)


def _exempt(*factors: Factor) -> CashRule:
    return replace(_CASH, exempt=frozenset(factors))


def _purposes(*purposes: str) -> CashRule:
    return replace(_CASH, purposes=frozenset(purposes))


_IGNORED = ("debtor", "creditor", "amount", "purpose", "reference")


_NOT_EXECUTED: tuple[tuple[Status, str], ...] = (
    ("cancelled", "cancelled"),
    ("refused", "refused"),
    ("received", "unsigned"),
    ("expired", "expired"),
    ("rejected", "rejected"),
)


def _ignoring(parameter: str) -> DuplicateRule:
    """Leave one parameter out of what makes payments different."""

    def parameters(terms: Terms, day: date) -> Hashable:
        if parameter == "amount":
            return all_parameters(replace(terms, amount="1.00"), day)
        return all_parameters(replace(terms, **{parameter: ""}), day)  # type: ignore[arg-type]

    return replace(_DUPLICATE, parameters=parameters)


def _any_type(terms: Terms, day: date) -> Hashable:
    return all_parameters(replace(terms, type="immediate"), day)


def _any_day(terms: Terms, _day: date) -> Hashable:
    return all_parameters(terms, date.min)


def _same_month(terms: Terms, day: date) -> Hashable:
    return all_parameters(terms, day.replace(day=1))


RULE_FAULTS = (
    breaking_pis(
        "duplicate.never",
        "duplicate/repeat-refused",
        "a repeat is executed like any other payment",
        duplicate=replace(_DUPLICATE, originals=frozenset()),
    ),
    *(
        breaking_pis(
            f"duplicate.any-{parameter}",
            f"duplicate/{parameter}-changed-accepted",
            f"payments that differ in their {parameter} alone are taken for repeats",
            duplicate=_ignoring(parameter),
        )
        for parameter in _IGNORED
    ),
    breaking_pis(
        "duplicate.any-type",
        "duplicate/type-changed-accepted",
        "payments that differ in their type alone are taken for repeats",
        duplicate=replace(_DUPLICATE, parameters=_any_type),
    ),
    breaking_pis(
        "duplicate.any-day",
        "duplicate/next-day-accepted",
        "payments of different days are taken for repeats",
        duplicate=replace(_DUPLICATE, parameters=_any_day),
    ),
    breaking_pis(
        "duplicate.same-month",
        "duplicate/next-day-accepted",
        "payments of one month are taken for repeats",
        duplicate=replace(_DUPLICATE, parameters=_same_month),
    ),
    *(
        breaking_pis(
            f"duplicate.of-{status}",
            f"duplicate/after-{facet}-accepted",
            f"a payment that is {status} can be repeated as little as an executed one",
            duplicate=replace(_DUPLICATE, originals=_ORIGINALS | {status}),
        )
        for status, facet in _NOT_EXECUTED
    ),
    breaking_pis(
        "cash.never",
        "cash/unregistered-rejected cash/cap-rejected cash/just-under-rejected"
        " cash/at-72-hours-rejected cash/registered-by-another-rejected",
        "CASH is executed like any other payment",
        cash=_purposes(),
    ),
    breaking_pis(
        "cash.unregistered",
        "cash/unregistered-rejected cash/cap-rejected cash/registered-by-another-rejected",
        "a creditor whom the customer never registered is good enough",
        cash=replace(_CASH, registration=_known_from_the_start),
    ),
    breaking_pis(
        "cash.at-72-hours",
        "cash/at-72-hours-rejected",
        "a registration of exactly 72 hours is old enough",
        cash=replace(_CASH, trusted=_72_hours_and_more),
    ),
    breaking_pis(
        "cash.begun-hours",
        "cash/at-72-hours-rejected cash/just-under-rejected",
        "a begun hour counts as a whole one",
        cash=replace(_CASH, trusted=_whole_hours),
    ),
    breaking_pis(
        "cash.over-71-hours",
        "cash/at-72-hours-rejected cash/just-under-rejected",
        "a registration of more than 71 hours is old enough",
        cash=replace(_CASH, trusted=_older_than(71)),
    ),
    breaking_pis(
        "cash.any-registration",
        "cash/at-72-hours-rejected cash/just-under-rejected",
        "a registration of any age is old enough",
        cash=replace(_CASH, trusted=_any_age),
    ),
    breaking_pis(
        "cash.over-73-hours",
        "cash/just-over-accepted",
        "a registration has to be more than 73 hours old",
        cash=replace(_CASH, trusted=_older_than(73)),
    ),
    breaking_pis(
        "cash.whole-days",
        "cash/just-over-accepted",
        "a registration has to be four whole days old",
        cash=replace(_CASH, trusted=_whole_days),
    ),
    breaking_pis(
        "cash.within-four-days",
        "cash/long-registered-accepted",
        "a registration of four days or more has lapsed",
        cash=replace(_CASH, trusted=_within_four_days),
    ),
    breaking_pis(
        "cash.anybodys-registration",
        "cash/registered-by-another-rejected",
        "a registration by another customer counts as well",
        cash=replace(_CASH, registration=_anybodys),
    ),
    breaking_pis(
        "cash.sms-is-enough",
        "cash/unregistered-rejected cash/just-under-rejected cash/at-72-hours-rejected"
        " cash/registered-by-another-rejected",
        "a code by SMS is as good as the soft token",
        cash=_exempt("soft-token", "sms"),
    ),
    breaking_pis(
        "cash.soft-token-too",
        "cash/soft-token-accepted",
        "the soft token makes no difference",
        cash=_exempt(),
    ),
    breaking_pis(
        "cash.cap-is-enough",
        "cash/cap-rejected",
        "the card reader is as good as the soft token",
        cash=_exempt("soft-token", "cap"),
    ),
    breaking_pis(
        "cash.salaries-too",
        "cash/other-purposes-accepted",
        "salaries are treated like CASH",
        cash=_purposes("CASH", "SALA"),
    ),
    breaking_pis(
        "cash.every-purpose",
        "cash/other-purposes-accepted",
        "every payment is treated like CASH",
        cash=_purposes(*PURPOSES),
    ),
)
