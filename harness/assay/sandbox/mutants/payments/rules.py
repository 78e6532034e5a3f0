"""Faults of the two rules after signing: too strict, too lax, by the wrong measure."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import date, datetime, timedelta

from assay.sandbox.mutants.mutant import breaking_pis
from assay.sandbox.payments.rules import (
    CashRule,
    DuplicateRule,
    Facts,
    all_parameters,
    own_registration,
)
from assay.sandbox.payments.terms import PURPOSES, Factor, Status, Terms

__all__ = ["RULE_FAULTS"]

_CASH = CashRule()
_DUPLICATE = DuplicateRule()
_ORIGINALS = _DUPLICATE.originals


def _hours(count: int) -> timedelta:
    return timedelta(hours=count)


def _older_than(hours: int) -> Callable[[timedelta], bool]:
    return lambda age: age > _hours(hours)


def _other_than_72_hours(age: timedelta) -> bool:
    """Ask whether it is not 72 hours, where it should be whether it is more."""
    return age != _hours(72)


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


def _sms_for_the_unknown(facts: Facts) -> datetime | None:
    """Take a creditor that no customer knows for an old one, if it is signed with SMS."""
    unknown = facts.registered is None and facts.registered_by_others is None
    return _known_from_the_start(facts) if unknown and facts.factor == "sms" else facts.registered


def _never_registered(_facts: Facts) -> None:
    return None


def _exempt(*factors: Factor) -> CashRule:
    return replace(_CASH, exempt=frozenset(factors))


def _purposes(*purposes: str) -> CashRule:
    return replace(_CASH, purposes=frozenset(purposes))


_IGNORED = (
    ("debtor", "debtorAccount"),
    ("creditor", "creditorAccount"),
    ("amount", "amount"),
    ("purpose", "categoryPurpose"),
)


_NOT_EXECUTED: tuple[tuple[Status, str], ...] = (
    ("cancelled", "cancelled"),
    ("refused", "refused"),
    ("received", "unsigned"),
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


#: The rows that must be rejected and are signed with a code by SMS.
_SIGNED_WITH_SMS = (
    "cash/categoryPurpose-CASH cash/creditorAccount-by-another"
    " cash/creditorAccount-just-under-72h cash/creditorAccount-at-72h"
)

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
            f"duplicate/{field}-changed-accepted",
            f"payments that differ in their {parameter} alone are taken for repeats",
            duplicate=_ignoring(parameter),
        )
        for parameter, field in _IGNORED
    ),
    breaking_pis(
        "duplicate.any-type",
        "duplicate/mode-changed-accepted",
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
        f"{_SIGNED_WITH_SMS} cash/factor-cap",
        "CASH is executed like any other payment",
        cash=_purposes(),
    ),
    breaking_pis(
        "cash.sms-is-enough",
        _SIGNED_WITH_SMS,
        "a code by SMS is as good as the soft token",
        cash=_exempt("soft-token", "sms"),
    ),
    breaking_pis(
        "cash.sms-is-enough-for-the-unknown",
        "cash/categoryPurpose-CASH",
        "a code by SMS is enough for a creditor whom no customer registered",
        cash=replace(_CASH, registration=_sms_for_the_unknown),
    ),
    breaking_pis(
        "cash.cap-is-enough",
        "cash/factor-cap",
        "the card reader is as good as the soft token",
        cash=_exempt("soft-token", "cap"),
    ),
    breaking_pis(
        "cash.soft-token-too",
        "cash/factor-soft-token",
        "the soft token makes no difference",
        cash=_exempt(),
    ),
    breaking_pis(
        "cash.usual-payments-too",
        "cash/categoryPurpose-not-CASH",
        "dividends are treated like CASH",
        cash=_purposes("CASH", "DVPM"),
    ),
    breaking_pis(
        "cash.suppliers-too",
        "cash/categoryPurpose-not-CASH-other",
        "payments to suppliers are treated like CASH",
        cash=_purposes("CASH", "SUPP"),
    ),
    breaking_pis(
        "cash.every-purpose",
        "cash/categoryPurpose-not-CASH cash/categoryPurpose-not-CASH-other",
        "every payment is treated like CASH",
        cash=_purposes(*PURPOSES),
    ),
    breaking_pis(
        "cash.unregistered",
        "cash/categoryPurpose-CASH cash/factor-cap cash/creditorAccount-by-another",
        "a creditor whom the customer never registered is good enough",
        cash=replace(_CASH, registration=_known_from_the_start),
    ),
    breaking_pis(
        "cash.anybodys-registration",
        "cash/creditorAccount-by-another",
        "a registration by another customer counts as well",
        cash=replace(_CASH, registration=_anybodys),
    ),
    breaking_pis(
        "cash.registration-ignored",
        "cash/creditorAccount-just-over-72h cash/creditorAccount-long",
        "a registration makes no difference",
        cash=replace(_CASH, registration=_never_registered),
    ),
    breaking_pis(
        "cash.other-than-72-hours",
        "cash/creditorAccount-just-under-72h",
        "a registration of any age but 72 hours is old enough",
        cash=replace(_CASH, trusted=_other_than_72_hours),
    ),
    breaking_pis(
        "cash.at-72-hours",
        "cash/creditorAccount-at-72h",
        "a registration of exactly 72 hours is old enough",
        cash=replace(_CASH, trusted=_72_hours_and_more),
    ),
    *(
        breaking_pis(
            f"cash.{name}",
            "cash/creditorAccount-at-72h cash/creditorAccount-just-under-72h",
            says,
            cash=replace(_CASH, trusted=trusted),
        )
        for name, says, trusted in (
            ("begun-hours", "a begun hour counts as a whole one", _whole_hours),
            ("over-71-hours", "a registration of more than 71 hours will do", _older_than(71)),
            ("any-registration", "a registration of any age is old enough", _any_age),
        )
    ),
    *(
        breaking_pis(
            f"cash.{name}",
            "cash/creditorAccount-just-over-72h",
            says,
            cash=replace(_CASH, trusted=trusted),
        )
        for name, says, trusted in (
            ("over-73-hours", "a registration has to be more than 73 hours old", _older_than(73)),
            ("whole-days", "a registration has to be four whole days old", _whole_days),
        )
    ),
    breaking_pis(
        "cash.within-four-days",
        "cash/creditorAccount-long",
        "a registration of four days or more has lapsed",
        cash=replace(_CASH, trusted=_within_four_days),
    ),
)
