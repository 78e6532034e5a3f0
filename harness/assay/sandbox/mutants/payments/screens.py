"""Mutants of signing: missing signatures, wrong factors and codes, and the screens.

Faults of the screens are wrong timers, wrong statuses and wrong redirections.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Literal, TypeAlias

from assay.sandbox.messages import Table
from assay.sandbox.mutants.mutant import (
    Mutant,
    Operator,
    allowing,
    breaking_pis,
    limited_to,
    never,
    one_less,
    one_more,
    only_when,
)
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.records import LAPSES, Lapse, Payment, Return, Step
from assay.sandbox.payments.rules import IDLE, OVERALL, Timer, since_first
from assay.sandbox.payments.terms import (
    Decision,
    Factor,
    PaymentType,
    Segment,
    Status,
    Terms,
    origin,
)
from assay.sandbox.policies import put

__all__ = ["SCREEN_FAULTS", "SIGNING_FAULTS"]

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


def _offering(segment: Segment, *factors: Factor) -> Table[Segment, tuple[Factor, ...]]:
    return put(_SOUND.factors, **{segment: factors})


def _skipping(step: Step, to: Step, *factors: Factor) -> Callable[[Step, Factor | None], Step]:
    """Skip to a later screen, for these factors only if any is given."""

    def follows(now: Step, factor: Factor | None) -> Step:
        skips = now == step and (not factors or factor in factors)
        return to if skips else _SOUND.follows(now, factor)

    return follows


def _first_two(step: Step) -> Callable[[Step, int], bool]:
    """Check only the first two entries on a screen."""
    return lambda now, wrong: now != step or wrong < 2  # noqa: PLR2004


def _of_type(type: PaymentType) -> Callable[[Payment], bool]:
    return lambda payment: payment.terms.type == type


def _any_factor(_factor: Factor, _offered: tuple[Factor, ...]) -> bool:
    return True


# fmt: off
#: Which codes are accepted.
_CODES: tuple[tuple[str, str, Callable[[Factor, str, str], bool]], ...] = (
    ("any-code", "any code is accepted", lambda _factor, given, _right: bool(given)),
    ("no-code", "any code, or none, is accepted", lambda _factor, _given, _right: True),
    ("empty-code", "the right code, or none, is accepted",
     lambda _factor, given, right: given in ("", right)),
    ("half-a-code", "only the first half of a code is checked",
     lambda _factor, given, right: given[:len(right) // 2] == right[:len(right) // 2]),
    ("any-cap", "the codes of the card reader are not checked",
     lambda factor, given, right: factor == "cap" or given == right),
)
#: Which passwords are accepted.
_PASSWORDS: tuple[tuple[str, str, Callable[[str, str], bool]], ...] = (
    ("any-password", "any password is accepted, but not an empty one",
     lambda given, _right: bool(given)),
    ("login-alone", "the password is not checked", lambda _given, _right: True),
    ("half-a-password", "only the entered part of a password is checked",
     lambda given, right: bool(given) and right.startswith(given)),
)
# fmt: on
_ENTERED: tuple[Literal["password", "code"], ...] = ("password", "code")
_FORBIDDEN: tuple[tuple[PaymentType, str], ...] = (
    ("immediate", "execution/main-flow"),
    ("instant", "payment-types/instant-offered"),
)
_OFFERS: tuple[tuple[str, Segment, tuple[Factor, ...]], ...] = (
    ("pro-soft-token", "PRO", ("sms", "cap", "soft-token")),
    ("pro-soft-token-only", "PRO", ("soft-token",)),
    ("part-email", "PART", ("sms", "cap", "soft-token", "email")),
)

# fmt: off
SIGNING_FAULTS = (
    breaking_pis("sca.immediate-unsigned",
        "sca.required/nothing-before-signing sca.required/even-amount execution/unsigned-undone",
        "an immediate payment is executed as soon as it is created",
        executable=_executes(_at("received", "immediate"))),
    breaking_pis("sca.deferred-unsigned",
        "sca.required/nothing-before-signing execution/unsigned-undone",
        "a deferred payment is executed on its day without a signature",
        executable=_executes(_at("received", "deferred"))),
    breaking_pis("sca.small-unsigned",
        "sca.required/nothing-before-signing sca.required/even-amount execution/unsigned-undone",
        "payments up to 30 euro are executed without a signature",
        executable=_executes(_unsigned_up_to(_SMALL))),
    breaking_pis("sca.tiny-unsigned", "sca.required/even-amount execution/unsigned-undone",
        "payments up to 1 euro are executed without a signature",
        executable=_executes(_unsigned_up_to(_TINY))),
    breaking_pis("sca.refused-is-signed",
        "sca.required/nothing-after-refusal execution/denied-undone",
        "a refusal on the screen counts as a signature",
        decisions=put(_SOUND.decisions, refuse="pending")),
    breaking_pis("sca.refused-executed",
        "sca.required/nothing-after-refusal execution/denied-undone",
        "a payment that the customer refused is executed", executable=_executes(_at("refused"))),
    breaking_pis("sca.refused-executed-on-its-day",
        "sca.required/nothing-after-refusal execution/denied-undone",
        "a deferred payment that the customer refused is executed on its day",
        executable=_executes(_at("refused", "deferred"))),
    breaking_pis("sca.anybody-signs", "sca.required/only-the-owner",
        "any customer of the bank can sign", signs=_anybody),
    *(breaking_pis(f"factors.{name}", f"sca.factors/{segment}-offered",
          f"{segment} customers are offered {', '.join(factors)}",
          factors=_offering(segment, *factors))
      for name, segment, factors in _OFFERS),
    breaking_pis("factors.password-alone", "sca.factors/password-alone",
        "the password suffices for signing", follows=_skipping("password", "confirm")),
    breaking_pis("factors.code-not-asked-for", "sca.factors/password-alone",
        "a factor is chosen, but its code is not requested",
        follows=_skipping("factor", "confirm")),
    breaking_pis("factors.soft-token-not-asked-for", "sca.factors/password-alone",
        "the code of the soft token is not requested",
        follows=_skipping("factor", "confirm", "soft-token")),
    breaking_pis("factors.no-password", "sca.factors/factor-alone",
        "the link leads directly to the factors, without a password", begins="factor"),
    *(breaking_pis(f"factors.{name}", "sca.factors/code-checked", says, code=code)
      for name, says, code in _CODES),
    *(breaking_pis(f"factors.{name}", "sca.factors/password-checked", says, password=password)
      for name, says, password in _PASSWORDS),
    *(breaking_pis(f"factors.third-{step}-unchecked", f"sca.factors/{step}-checked",
          f"after two wrong entries the {step} is not checked", checks=_first_two(step))
      for step in _ENTERED),
    *(breaking_pis(f"sca.{kind}-forbidden", facet,
          f"the decision on an {kind} payment is answered with 403, and the payment rejected",
          forbids=_of_type(kind))
      for kind, facet in _FORBIDDEN),
    breaking_pis("factors.takes-what-is-not-offered", "sca.factors/PRO-not-with-soft-token",
        "a customer who sends a factor that the screen does not offer can sign with it",
        takes=_any_factor),
)
# fmt: on


_Returns: TypeAlias = Callable[[Return], str | None]


def _success(terms: Terms) -> str:
    return terms.success_url


def _deferred_and_lapsed(lapse: Lapse) -> Callable[[Payment], bool]:
    """Return whether a deferred payment expired by this timer."""

    def lapsed(payment: Payment) -> bool:
        signing = payment.signing
        by_timer = payment.status == "expired" and signing is not None and signing.lapse == lapse
        return by_timer and payment.terms.type == "deferred"

    return lapsed


def _timer(lapse: Lapse, timer: Timer) -> Table[Lapse, Timer]:
    return put(_SOUND.timers, **{lapse: timer})


def _sends(lapse: Lapse, name: str, target: Callable[[Terms], str | None]) -> Mutant:
    return breaking_pis(
        f"redirect.{lapse}-sent-to-{name}",
        f"redirect.{lapse}/no-redirection",
        f"after the {lapse} timer the customer is redirected to {name}",
        disconnected=put(_SOUND.disconnected, **{lapse: target}),
    )


def _altered(altered: Callable[[str], str]) -> _Returns:
    """Redirect to another address than the right one."""

    def returns(leaving: Return) -> str | None:
        target = _SOUND.returns(leaving)
        return altered(target) if target else None

    return returns


def _same_beginning(leaving: Return) -> str | None:
    """Redirect to the requested URL if it starts like the right one."""
    target = _SOUND.returns(leaving)
    begins = target is not None and leaving.asked.startswith(origin(target))
    return leaving.asked if begins else target


def _same_site(leaving: Return) -> str | None:
    """Redirect to the requested URL if it is on the same site."""
    target = _SOUND.returns(leaving)
    same = target is not None and origin(leaving.asked) == origin(target)
    return leaving.asked if same else target


def _wherever(leaving: Return) -> str | None:
    return leaving.asked or _SOUND.returns(leaving)


def _after(decision: Decision, wrong: _Returns) -> _Returns:
    """Redirect wrongly after one decision only."""
    return only_when(lambda leaving: leaving.decision == decision, wrong, _SOUND.returns)


def _twice(operator: Operator[timedelta]) -> Operator[timedelta]:
    return lambda threshold: operator(operator(threshold))


#: A timer that knows whole seconds only is up to one second early or late, and right.
_TWO_LATE, _TWO_EARLY = _twice(one_more), _twice(one_less)
# fmt: off
#: Timer, name, facet, description and operator.
_LIMITS: tuple[tuple[Lapse, str, str, str, Operator[timedelta]], ...] = (
    ("idle", "five-minutes", "dead-after", "is 5 minutes", limited_to(timedelta(minutes=5))),
    ("idle", "two-seconds-late", "dead-after", "expires two seconds after 4 minutes", _TWO_LATE),
    ("idle", "three-minutes", "alive-before", "is 3 minutes", limited_to(timedelta(minutes=3))),
    ("idle", "two-seconds-early", "alive-before", "expires two seconds before 4 minutes",
     _TWO_EARLY),
    ("overall", "31-minutes", "dead-after", "is 31 minutes", limited_to(timedelta(minutes=31))),
    ("overall", "two-seconds-late", "dead-after", "expires two seconds after 30 minutes",
     _TWO_LATE),
    ("overall", "two-seconds-early", "alive-before", "expires two seconds before 30 minutes",
     _TWO_EARLY),
    ("overall", "20-minutes", "alive-before", "is 20 minutes", limited_to(timedelta(minutes=20))),
)
# fmt: on


def _limits(lapse: Lapse) -> Iterator[Mutant]:
    """Yield the mutants of a timer's limit."""
    sound = _SOUND.timers[lapse]
    for timer, name, facet, says, operator in _LIMITS:
        if timer == lapse:
            yield breaking_pis(
                f"redirect.{lapse}-{name}",
                f"redirect.{lapse}/{facet}",
                f"the {lapse} timer {says}",
                timers=_timer(lapse, replace(sound, expired=operator(sound.expired))),
            )


# fmt: off
#: Where a customer who has signed is sent.
_RETURNS: tuple[tuple[str, str, _Returns], ...] = (
    ("origin-only", "after signing, the redirection keeps only the origin of the URL",
     _altered(lambda target: f"{origin(target)}/")),
    ("no-query", "after signing, the redirection drops the query of the URL",
     _altered(lambda target: target.partition("?")[0])),
    ("own-query", "after signing, the redirection replaces the query of the URL",
     _altered(lambda target: f"{target.partition('?')[0]}?status=confirm")),
    ("first-parameter", "after signing, the redirection keeps only the first query parameter",
     _altered(lambda target: target.partition("&")[0])),
    ("signed-to-bank", "after signing, the customer is redirected to a page of the bank",
     lambda _leaving: "https://www.bank.example/thanks"),
    ("signed-stays", "after signing, the customer is not redirected", lambda _leaving: None),
)
# fmt: on
#: What an execution violates after a timer expired, beside the clause of the timer.
_TIMED_OUT: Mapping[Lapse, str] = {"idle": " execution/timed-out-undone", "overall": ""}

# fmt: off
SCREEN_FAULTS = (
    *_limits("idle"),
    breaking_pis("redirect.idle-not-renewed", "redirect.idle/activity-renews",
        "the idle timer starts at the first screen and is never restarted",
        timers=_timer("idle", replace(IDLE, since=since_first))),
    breaking_pis("redirect.idle-only-looks-renew", "redirect.idle/activity-renews",
        "loading a screen restarts the idle timer, but submitting its form does not",
        renews=put(_SOUND.renews, form=False)),
    *_limits("overall"),
    *(breaking_pis(f"redirect.overall-never{name}", "redirect.overall/dead-after",
          f"there is no overall timer{says}", reloads=not name,
          timers=_timer("overall", replace(OVERALL, expired=never(OVERALL.expired))))
      for name, says in (("", ""), ("-load-once", ", and no screen loads again"))),
    *(_sends(lapse, "successfulReportUrl", _success) for lapse in LAPSES),
    *(_sends(lapse, "home", lambda terms: f"{origin(terms.success_url)}/") for lapse in LAPSES),
    *(breaking_pis(f"redirect.{lapse}-open-and-sent-back", f"redirect.{lapse}/no-redirection",
          f"after the {lapse} timer the payment stays open, and the customer is redirected",
          lapsed=put(_SOUND.lapsed, **{lapse: "received"}),
          disconnected=put(_SOUND.disconnected, **{lapse: _success}))
      for lapse in LAPSES),
    *(breaking_pis(f"redirect.{lapse}-executes",
          f"redirect.{lapse}/nothing-done{_TIMED_OUT[lapse]}",
          f"a payment is executed although the {lapse} timer expired",
          lapsed=put(_SOUND.lapsed, **{lapse: "pending"}))
      for lapse in LAPSES),
    *(breaking_pis(f"redirect.{lapse}-executes-deferred",
          f"redirect.{lapse}/nothing-done{_TIMED_OUT[lapse]}",
          f"a deferred payment is executed on its day although the {lapse} timer expired",
          executable=allowing(_deferred_and_lapsed(lapse), _SOUND.executable))
      for lapse in LAPSES),
    *(breaking_pis(f"report-url.{name}", "report-url/after-signing",
          says, returns=_after("confirm", returns))
      for name, says, returns in _RETURNS),
    breaking_pis("report-url.same-site", "report-url/only-there",
        "the browser can request another URL of the same site", returns=_same_site),
    breaking_pis("report-url.same-beginning", "report-url/only-there",
        "the browser can request another URL that starts in the same way", returns=_same_beginning),
    breaking_pis("report-url.wherever", "report-url/only-there",
        "the browser can request any other URL", returns=_wherever),
)
# fmt: on
