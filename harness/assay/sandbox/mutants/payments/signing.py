"""Faults of strong authentication: payments without it, and factors that are not there."""

from collections.abc import Callable, Mapping

from assay.sandbox.mutants.payments.change import breaking_pis
from assay.sandbox.payments.book import Payment, Step
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.terms import Factor, PaymentType, Segment, Status
from assay.sandbox.policies import put
from assay.sandbox.wire import Table

__all__ = ["SIGNING_FAULTS"]

_SOUND = SOUND_PAYMENTS
_SMALL = 30_00


def _unsigned(type: PaymentType) -> Callable[[Payment], bool]:
    def executable(payment: Payment) -> bool:
        unsigned = payment.status == "received" and payment.terms.type == type
        return unsigned or _SOUND.executable(payment)

    return executable


def _unsigned_small(payment: Payment) -> bool:
    small = payment.status == "received" and payment.terms.cents <= _SMALL
    return small or _SOUND.executable(payment)


def _at(status: Status) -> Callable[[Payment], bool]:
    return lambda payment: payment.status == status or _SOUND.executable(payment)


def _anybody(_own: bool) -> bool:
    return True


def _any_code(given: str, _right: str) -> bool:
    return bool(given)


def _no_code(_given: str, _right: str) -> bool:
    return True


def _first_digits(given: str, right: str) -> bool:
    return bool(given) and given[:4] == right[:4]


def _offering(segment: Segment, *factors: Factor) -> Table[Segment, tuple[Factor, ...]]:
    return put(_SOUND.factors, **{segment: factors})


def _skipping(step: Step, to: Step) -> Mapping[Step, Step]:
    return {**_SOUND.follows, step: to}


_OFFERS: tuple[tuple[str, Segment, tuple[Factor, ...]], ...] = (
    ("pro-soft-token", "PRO", ("sms", "cap", "soft-token")),
    ("pro-without-cap", "PRO", ("sms",)),
    ("part-without-soft-token", "PART", ("sms", "cap")),
    ("part-without-sms", "PART", ("cap", "soft-token")),
)

SIGNING_FAULTS = (
    breaking_pis(
        "sca.immediate-unsigned",
        "sca.required/nothing-before-signing sca.required/small-amounts",
        "an immediate payment is executed as soon as it is created",
        executable=_unsigned("immediate"),
    ),
    breaking_pis(
        "sca.deferred-unsigned",
        "sca.required/nothing-before-signing",
        "a deferred payment is executed on its day though nobody signed it",
        executable=_unsigned("deferred"),
    ),
    breaking_pis(
        "sca.small-unsigned",
        "sca.required/small-amounts",
        "up to 30 euro are executed with no signature",
        executable=_unsigned_small,
    ),
    breaking_pis(
        "sca.refused-is-signed",
        "sca.required/nothing-after-refusal",
        "a refusal on the screen counts as a signature",
        decisions=put(_SOUND.decisions, refuse="pending"),
    ),
    breaking_pis(
        "sca.refused-executed",
        "sca.required/nothing-after-refusal",
        "what the customer refused is executed all the same",
        executable=_at("refused"),
    ),
    breaking_pis(
        "sca.anybody-signs",
        "sca.required/only-the-owner",
        "any customer of the bank can sign",
        signs=_anybody,
    ),
    *(
        breaking_pis(
            f"factors.{name}",
            f"sca.factors/{segment}-offered",
            f"{segment} customers are offered {', '.join(factors)}",
            factors=_offering(segment, *factors),
        )
        for name, segment, factors in _OFFERS
    ),
    breaking_pis(
        "factors.password-alone",
        "sca.factors/password-alone",
        "the password is enough to sign",
        follows=_skipping("password", "confirm"),
    ),
    breaking_pis(
        "factors.code-not-asked-for",
        "sca.factors/password-alone",
        "a factor is chosen, and its code never asked for",
        follows=_skipping("factor", "confirm"),
    ),
    breaking_pis(
        "factors.any-code",
        "sca.factors/code-checked",
        "any code will do",
        code=_any_code,
    ),
    breaking_pis(
        "factors.no-code",
        "sca.factors/code-checked",
        "any code will do, and none as well",
        code=_no_code,
    ),
    breaking_pis(
        "factors.half-a-code",
        "sca.factors/code-checked",
        "only the first four digits of a code are looked at",
        code=_first_digits,
    ),
)
