"""Mutants of strong customer authentication: missing signatures, wrong factors and codes."""

from collections.abc import Callable

from assay.sandbox.messages import Table
from assay.sandbox.mutants.mutant import allowing, breaking_pis
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.records import Payment, Step
from assay.sandbox.payments.terms import Factor, PaymentType, Segment, Status
from assay.sandbox.policies import put

__all__ = ["SIGNING_FAULTS"]

_SOUND = SOUND_PAYMENTS
_SMALL, _TINY = 30_00, 1_00


def _executes(when: Callable[[Payment], bool]) -> Callable[[Payment], bool]:
    """Also execute some payments that are not signed."""
    return allowing(when, _SOUND.executable)


def _at(status: Status, *types: PaymentType) -> Callable[[Payment], bool]:
    """Return whether a payment has this status, and one of these types if any is given."""
    return lambda payment: payment.status == status and (not types or payment.terms.type in types)


def _unsigned_up_to(cents: int) -> Callable[[Payment], bool]:
    return lambda payment: payment.status == "received" and payment.terms.cents <= cents


def _anybody(_own: bool) -> bool:
    return True


def _any_code(_factor: Factor, given: str, _right: str) -> bool:
    return bool(given)


def _no_code(_factor: Factor, _given: str, _right: str) -> bool:
    return True


def _empty_code(_factor: Factor, given: str, right: str) -> bool:
    return given in ("", right)


def _first_half(_factor: Factor, given: str, right: str) -> bool:
    half = len(right) // 2
    return given[:half] == right[:half]


def _looked_at_but_for(unchecked: Factor) -> Callable[[Factor, str, str], bool]:
    return lambda factor, given, right: factor == unchecked or given == right


def _offering(segment: Segment, *factors: Factor) -> Table[Segment, tuple[Factor, ...]]:
    return put(_SOUND.factors, **{segment: factors})


def _skipping(step: Step, to: Step, *factors: Factor) -> Callable[[Step, Factor | None], Step]:
    """Skip to a later screen, for these factors only if any is given."""

    def follows(now: Step, factor: Factor | None) -> Step:
        skips = now == step and (not factors or factor in factors)
        return to if skips else _SOUND.follows(now, factor)

    return follows


def _any_password(given: str, _right: str) -> bool:
    return bool(given)


def _no_password(_given: str, _right: str) -> bool:
    return True


def _first_letters(given: str, right: str) -> bool:
    """Compare as many characters as were entered, at least some."""
    return bool(given) and right.startswith(given)


def _any_factor(_factor: Factor, _offered: tuple[Factor, ...]) -> bool:
    return True


_OFFERS: tuple[tuple[str, Segment, tuple[Factor, ...]], ...] = (
    ("pro-soft-token", "PRO", ("sms", "cap", "soft-token")),
    ("pro-soft-token-only", "PRO", ("soft-token",)),
    ("part-email", "PART", ("sms", "cap", "soft-token", "email")),
)

SIGNING_FAULTS = (
    breaking_pis(
        "sca.immediate-unsigned",
        "sca.required/nothing-before-signing sca.required/even-amount execution/unsigned-undone",
        "an immediate payment is executed as soon as it is created",
        executable=_executes(_at("received", "immediate")),
    ),
    breaking_pis(
        "sca.deferred-unsigned",
        "sca.required/nothing-before-signing execution/unsigned-undone",
        "a deferred payment is executed on its day without a signature",
        executable=_executes(_at("received", "deferred")),
    ),
    breaking_pis(
        "sca.small-unsigned",
        "sca.required/nothing-before-signing sca.required/even-amount execution/unsigned-undone",
        "payments up to 30 euro are executed without a signature",
        executable=_executes(_unsigned_up_to(_SMALL)),
    ),
    breaking_pis(
        "sca.tiny-unsigned",
        "sca.required/even-amount execution/unsigned-undone",
        "payments up to 1 euro are executed without a signature",
        executable=_executes(_unsigned_up_to(_TINY)),
    ),
    breaking_pis(
        "sca.refused-is-signed",
        "sca.required/nothing-after-refusal execution/denied-undone",
        "a refusal on the screen counts as a signature",
        decisions=put(_SOUND.decisions, refuse="pending"),
    ),
    breaking_pis(
        "sca.refused-executed",
        "sca.required/nothing-after-refusal execution/denied-undone",
        "a payment that the customer refused is executed",
        executable=_executes(_at("refused")),
    ),
    breaking_pis(
        "sca.refused-executed-on-its-day",
        "sca.required/nothing-after-refusal execution/denied-undone",
        "a deferred payment that the customer refused is executed on its day",
        executable=_executes(_at("refused", "deferred")),
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
        "the password suffices for signing",
        follows=_skipping("password", "confirm"),
    ),
    breaking_pis(
        "factors.code-not-asked-for",
        "sca.factors/password-alone",
        "a factor is chosen, but its code is not requested",
        follows=_skipping("factor", "confirm"),
    ),
    breaking_pis(
        "factors.soft-token-not-asked-for",
        "sca.factors/password-alone",
        "the code of the soft token is not requested",
        follows=_skipping("factor", "confirm", "soft-token"),
    ),
    breaking_pis(
        "factors.no-password",
        "sca.factors/factor-alone",
        "the link leads directly to the factors, without a password",
        begins="factor",
    ),
    *(
        breaking_pis(f"factors.{name}", "sca.factors/code-checked", says, code=code)
        for name, says, code in (
            ("any-code", "any code is accepted", _any_code),
            ("no-code", "any code, or none, is accepted", _no_code),
            ("empty-code", "the right code, or none, is accepted", _empty_code),
            ("half-a-code", "only the first half of a code is checked", _first_half),
            ("any-cap", "the codes of the card reader are not checked", _looked_at_but_for("cap")),
        )
    ),
    *(
        breaking_pis(f"factors.{name}", "sca.factors/password-checked", says, password=password)
        for name, says, password in (
            ("any-password", "any password is accepted, but not an empty one", _any_password),
            ("login-alone", "the password is not checked", _no_password),
            ("half-a-password", "only the entered part of a password is checked", _first_letters),
        )
    ),
    breaking_pis(
        "factors.takes-what-is-not-offered",
        "sca.factors/PRO-not-with-soft-token",
        "a customer who sends a factor that the screen does not offer can sign with it",
        takes=_any_factor,
    ),
)
