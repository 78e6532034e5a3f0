"""Mutants of the screens: wrong timers, wrong statuses and wrong redirections."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

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
from assay.sandbox.payments.records import LAPSES, Lapse, Payment, Return
from assay.sandbox.payments.rules import IDLE, OVERALL, Timer, since_first
from assay.sandbox.payments.terms import Decision, Terms, origin
from assay.sandbox.policies import put

__all__ = ["SCREEN_FAULTS"]

_Returns: TypeAlias = Callable[[Return], str | None]

_SOUND = SOUND_PAYMENTS


def _success(terms: Terms) -> str:
    return terms.success_url


def _home(terms: Terms) -> str:
    return f"{origin(terms.success_url)}/"


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


def _origin_only(leaving: Return) -> str | None:
    target = _SOUND.returns(leaving)
    return f"{origin(target)}/" if target else None


def _no_query(leaving: Return) -> str | None:
    target = _SOUND.returns(leaving)
    return target.partition("?")[0] if target else None


def _own_query(leaving: Return) -> str | None:
    target = _SOUND.returns(leaving)
    return f"{target.partition('?')[0]}?status={leaving.decision}" if target else None


def _first_parameter(leaving: Return) -> str | None:
    target = _SOUND.returns(leaving)
    return target.partition("&")[0] if target else None


def _bank(_leaving: Return) -> str:
    return "https://www.bank.example/thanks"


def _stays(_leaving: Return) -> None:
    return None


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
#: Timer, name, facet, description and operator.
_LIMITS: tuple[tuple[Lapse, str, str, str, Operator[timedelta]], ...] = (
    ("idle", "five-minutes", "dead-after", "is 5 minutes", limited_to(timedelta(minutes=5))),
    ("idle", "two-seconds-late", "dead-after", "expires two seconds after 4 minutes", _TWO_LATE),
    ("idle", "three-minutes", "alive-before", "is 3 minutes", limited_to(timedelta(minutes=3))),
    (
        "idle",
        "two-seconds-early",
        "alive-before",
        "expires two seconds before 4 minutes",
        _TWO_EARLY,
    ),
    ("overall", "31-minutes", "dead-after", "is 31 minutes", limited_to(timedelta(minutes=31))),
    (
        "overall",
        "two-seconds-late",
        "dead-after",
        "expires two seconds after 30 minutes",
        _TWO_LATE,
    ),
    (
        "overall",
        "two-seconds-early",
        "alive-before",
        "expires two seconds before 30 minutes",
        _TWO_EARLY,
    ),
    ("overall", "20-minutes", "alive-before", "is 20 minutes", limited_to(timedelta(minutes=20))),
)


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


#: What an execution violates after a timer expired, beside the clause of the timer.
_TIMED_OUT: Mapping[Lapse, str] = {"idle": " execution/timed-out-undone", "overall": ""}

SCREEN_FAULTS = (
    *_limits("idle"),
    breaking_pis(
        "redirect.idle-not-renewed",
        "redirect.idle/activity-renews",
        "the idle timer starts at the first screen and is never restarted",
        timers=_timer("idle", replace(IDLE, since=since_first)),
    ),
    breaking_pis(
        "redirect.idle-only-looks-renew",
        "redirect.idle/activity-renews",
        "loading a screen restarts the idle timer, but submitting its form does not",
        renews=put(_SOUND.renews, form=False),
    ),
    *_limits("overall"),
    breaking_pis(
        "redirect.overall-never",
        "redirect.overall/dead-after",
        "there is no overall timer",
        timers=_timer("overall", replace(OVERALL, expired=never(OVERALL.expired))),
    ),
    *(_sends(lapse, "successfulReportUrl", _success) for lapse in LAPSES),
    *(_sends(lapse, "home", _home) for lapse in LAPSES),
    *(
        breaking_pis(
            f"redirect.{lapse}-open-and-sent-back",
            f"redirect.{lapse}/no-redirection",
            f"after the {lapse} timer the payment stays open, and the customer is redirected",
            lapsed=put(_SOUND.lapsed, **{lapse: "received"}),
            disconnected=put(_SOUND.disconnected, **{lapse: _success}),
        )
        for lapse in LAPSES
    ),
    *(
        breaking_pis(
            f"redirect.{lapse}-executes",
            f"redirect.{lapse}/nothing-done{_TIMED_OUT[lapse]}",
            f"a payment is executed although the {lapse} timer expired",
            lapsed=put(_SOUND.lapsed, **{lapse: "pending"}),
        )
        for lapse in LAPSES
    ),
    *(
        breaking_pis(
            f"redirect.{lapse}-executes-deferred",
            f"redirect.{lapse}/nothing-done{_TIMED_OUT[lapse]}",
            f"a deferred payment is executed on its day although the {lapse} timer expired",
            executable=allowing(_deferred_and_lapsed(lapse), _SOUND.executable),
        )
        for lapse in LAPSES
    ),
    *(
        breaking_pis(
            f"report-url.{name}",
            "report-url/after-signing",
            says,
            returns=_after("confirm", returns),
        )
        for name, says, returns in (
            (
                "origin-only",
                "after signing, the redirection keeps only the origin of the URL",
                _origin_only,
            ),
            ("no-query", "after signing, the redirection drops the query of the URL", _no_query),
            (
                "own-query",
                "after signing, the redirection replaces the query of the URL",
                _own_query,
            ),
            (
                "first-parameter",
                "after signing, the redirection keeps only the first query parameter",
                _first_parameter,
            ),
            (
                "signed-to-bank",
                "after signing, the customer is redirected to a page of the bank",
                _bank,
            ),
            ("signed-stays", "after signing, the customer is not redirected", _stays),
        )
    ),
    breaking_pis(
        "report-url.same-site",
        "report-url/only-there",
        "the browser can request another URL of the same site",
        returns=_same_site,
    ),
    breaking_pis(
        "report-url.same-beginning",
        "report-url/only-there",
        "the browser can request another URL that starts in the same way",
        returns=_same_beginning,
    ),
    breaking_pis(
        "report-url.wherever",
        "report-url/only-there",
        "the browser can request any other URL",
        returns=_wherever,
    ),
)
