"""Mutants of the two rules on signed payments: repeats and CASH."""

from collections.abc import Hashable
from dataclasses import replace
from datetime import date, datetime, timedelta

from assay.sandbox.mutants.mutant import (
    always,
    breaking_pis,
    edge_flipped,
    never,
    one_less,
    one_more,
)
from assay.sandbox.payments.rules import (
    MORE_THAN_72_HOURS,
    CashRule,
    DuplicateRule,
    Facts,
    compared_parameters,
    own_registration,
)
from assay.sandbox.payments.terms import PURPOSES, Factor, Status, Terms

__all__ = ["RULE_FAULTS"]

_CASH = CashRule()
_DUPLICATE = DuplicateRule()
_ORIGINALS = _DUPLICATE.originals


def _hours(count: int) -> timedelta:
    return timedelta(hours=count)


def _other_than_72_hours(age: timedelta) -> bool:
    """Compare for inequality with 72 hours instead of for more."""
    return age != _hours(72)


def _whole_hours(age: timedelta) -> bool:
    """Round hours up."""
    return -(-age // _hours(1)) >= 72  # noqa: PLR2004


def _within_four_days(age: timedelta) -> bool:
    return _hours(72) < age < _hours(96)


def _whole_days(age: timedelta) -> bool:
    """Require more than three whole days."""
    return age.days > 3  # noqa: PLR2004


def _anybodys(facts: Facts) -> datetime | None:
    return facts.registered or facts.registered_by_others


def _known_from_the_start(facts: Facts) -> datetime | None:
    """Treat an unregistered creditor as registered long ago."""
    return own_registration(facts) or facts.signed - _hours(1_000)


def _sms_for_the_unknown(facts: Facts) -> datetime | None:
    """Treat a creditor no customer registered as trusted, if signed with an SMS code."""
    unknown = facts.registered is None and facts.registered_by_others is None
    return _known_from_the_start(facts) if unknown and facts.factor == "sms" else facts.registered


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
    """Ignore one parameter in comparing payments."""

    def parameters(terms: Terms, day: date) -> Hashable:
        if parameter == "amount":
            return compared_parameters(replace(terms, amount="1.00"), day)
        return compared_parameters(replace(terms, **{parameter: ""}), day)  # type: ignore[arg-type]

    return replace(_DUPLICATE, parameters=parameters)


def _any_day(terms: Terms, _day: date) -> Hashable:
    return compared_parameters(terms, date.min)


def _same_month(terms: Terms, day: date) -> Hashable:
    return compared_parameters(terms, day.replace(day=1))


#: Rows that must be rejected and are signed with an SMS code.
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
            f"payments that differ only in their {parameter} count as repeats",
            duplicate=_ignoring(parameter),
        )
        for parameter, field in _IGNORED
    ),
    breaking_pis(
        "duplicate.any-day",
        "duplicate/next-day-accepted",
        "payments of different days count as repeats",
        duplicate=replace(_DUPLICATE, parameters=_any_day),
    ),
    breaking_pis(
        "duplicate.same-month",
        "duplicate/next-day-accepted",
        "payments of the same month count as repeats",
        duplicate=replace(_DUPLICATE, parameters=_same_month),
    ),
    *(
        breaking_pis(
            f"duplicate.of-{status}",
            f"duplicate/after-{facet}-accepted",
            f"a payment that is {status} cannot be repeated, like an executed one",
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
        "an SMS code exempts from the rule, like the soft token",
        cash=_exempt("soft-token", "sms"),
    ),
    breaking_pis(
        "cash.sms-is-enough-for-the-unknown",
        "cash/categoryPurpose-CASH",
        "an SMS code exempts payments to creditors that no customer registered",
        cash=replace(_CASH, registration=_sms_for_the_unknown),
    ),
    breaking_pis(
        "cash.cap-is-enough",
        "cash/factor-cap",
        "the card reader exempts from the rule, like the soft token",
        cash=_exempt("soft-token", "cap"),
    ),
    breaking_pis(
        "cash.soft-token-too",
        "cash/factor-soft-token",
        "the soft token does not exempt from the rule",
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
        "creditors that the customer never registered are trusted",
        cash=replace(_CASH, registration=_known_from_the_start),
    ),
    breaking_pis(
        "cash.anybodys-registration",
        "cash/creditorAccount-by-another",
        "a registration by another customer counts",
        cash=replace(_CASH, registration=_anybodys),
    ),
    breaking_pis(
        "cash.registration-ignored",
        "cash/creditorAccount-just-over-72h cash/creditorAccount-long",
        "registrations are ignored",
        cash=replace(_CASH, trusted=never(MORE_THAN_72_HOURS)),
    ),
    breaking_pis(
        "cash.other-than-72-hours",
        "cash/creditorAccount-just-under-72h",
        "a registration of any age except 72 hours is trusted",
        cash=replace(_CASH, trusted=_other_than_72_hours),
    ),
    breaking_pis(
        "cash.at-72-hours",
        "cash/creditorAccount-at-72h",
        "a registration of exactly 72 hours is trusted",
        cash=replace(_CASH, trusted=edge_flipped(MORE_THAN_72_HOURS)),
    ),
    *(
        breaking_pis(
            f"cash.{name}",
            "cash/creditorAccount-at-72h cash/creditorAccount-just-under-72h",
            says,
            cash=replace(_CASH, trusted=trusted),
        )
        for name, says, trusted in (
            ("begun-hours", "the age of a registration is rounded up to whole hours", _whole_hours),
            (
                "over-71-hours",
                "a registration of more than 71 hours is trusted",
                one_less(MORE_THAN_72_HOURS),
            ),
            (
                "any-registration",
                "a registration of any age is trusted",
                always(MORE_THAN_72_HOURS),
            ),
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
            (
                "over-73-hours",
                "a registration must be more than 73 hours old",
                one_more(MORE_THAN_72_HOURS),
            ),
            ("whole-days", "a registration must be four whole days old", _whole_days),
        )
    ),
    breaking_pis(
        "cash.within-four-days",
        "cash/creditorAccount-long",
        "a registration of four days or more has expired",
        cash=replace(_CASH, trusted=_within_four_days),
    ),
)
