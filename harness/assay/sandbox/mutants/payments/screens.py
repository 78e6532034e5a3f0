"""Mutants of the screens: wrong timers, wrong statuses and wrong redirections."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from assay.sandbox.mutants.mutant import Mutant, breaking_pis
from assay.sandbox.payments.policies import SOUND_PAYMENTS, Return
from assay.sandbox.payments.records import LAPSES, Lapse, Payment
from assay.sandbox.payments.rules import Times, Until, after_first, after_last
from assay.sandbox.payments.terms import Terms, origin
from assay.sandbox.policies import put

__all__ = ["SCREEN_FAULTS"]

_SOUND = SOUND_PAYMENTS
_LATEST = datetime.max.replace(tzinfo=UTC)


def _never(_times: Times) -> datetime:
    return _LATEST


def _success(terms: Terms) -> str:
    return terms.success_url


def _home(terms: Terms) -> str:
    return f"{origin(terms.success_url)}/"


def _put_off_all_the_same(lapse: Lapse) -> Callable[[Payment], bool]:
    """Execute a deferred payment although its customer was disconnected."""

    def executable(payment: Payment) -> bool:
        signing = payment.signing
        lapsed = payment.status == "expired" and signing is not None and signing.lapse == lapse
        return (lapsed and payment.terms.type == "deferred") or _SOUND.executable(payment)

    return executable


def _timer(lapse: Lapse, name: str, facet: str, says: str, until: Until) -> Mutant:
    return breaking_pis(
        f"redirect.{lapse}-{name}",
        f"redirect.{lapse}/{facet}",
        says,
        timers=put(_SOUND.timers, **{lapse: until}),
    )


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


def _with_status(leaving: Return) -> str | None:
    target = _SOUND.returns(leaving)
    if target is None:
        return None
    return f"{target}{'&' if '?' in target else '?'}status={leaving.decision}"


def _first_parameter(leaving: Return) -> str | None:
    target = _SOUND.returns(leaving)
    return target.partition("&")[0] if target else None


def _bank(_leaving: Return) -> str:
    return "https://www.bank.example/thanks"


def _always_success(leaving: Return) -> str | None:
    return leaving.terms.success_url


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _On:
    """Redirect wrongly after one decision only."""

    decision: str
    wrong: Callable[[Return], str | None]

    def __call__(self, leaving: Return) -> str | None:
        """Return the wrong target, or the right one."""
        return (self.wrong if leaving.decision == self.decision else _SOUND.returns)(leaving)


SCREEN_FAULTS = (
    _timer(
        "idle", "five-minutes", "dead-after", "the idle timer is 5 minutes", after_last(minutes=5)
    ),
    _timer(
        "idle",
        "a-second-late",
        "dead-after",
        "the idle timer does not expire at exactly 4 minutes",
        after_last(minutes=4, seconds=1),
    ),
    _timer(
        "idle",
        "three-minutes",
        "alive-before",
        "the idle timer is 3 minutes",
        after_last(minutes=3),
    ),
    _timer(
        "idle",
        "a-second-early",
        "alive-before",
        "the idle timer expires a second before 4 minutes",
        after_last(minutes=3, seconds=59),
    ),
    _timer(
        "idle",
        "not-renewed",
        "activity-renews",
        "the idle timer starts at the first screen and is never restarted",
        after_first(minutes=4),
    ),
    breaking_pis(
        "redirect.idle-only-looks-renew",
        "redirect.idle/activity-renews",
        "loading a screen restarts the idle timer, but submitting its form does not",
        renews=put(_SOUND.renews, form=False),
    ),
    _timer(
        "overall",
        "31-minutes",
        "dead-after",
        "the overall timer is 31 minutes",
        after_first(minutes=31),
    ),
    _timer(
        "overall",
        "a-second-late",
        "dead-after",
        "the overall timer does not expire at exactly 30 minutes",
        after_first(minutes=30, seconds=1),
    ),
    _timer(
        "overall",
        "a-second-early",
        "alive-before",
        "the overall timer expires a second before 30 minutes",
        after_first(minutes=29, seconds=59),
    ),
    _timer(
        "overall",
        "20-minutes",
        "alive-before",
        "the overall timer is 20 minutes",
        after_first(minutes=20),
    ),
    _timer("overall", "never", "dead-after", "there is no overall timer", _never),
    *(_sends(lapse, "successfulReportUrl", _success) for lapse in LAPSES),
    *(_sends(lapse, "home", _home) for lapse in LAPSES),
    *(
        breaking_pis(
            f"redirect.{lapse}-executes",
            f"redirect.{lapse}/nothing-done",
            f"a payment is executed although the {lapse} timer expired",
            lapsed=put(_SOUND.lapsed, **{lapse: "pending"}),
        )
        for lapse in LAPSES
    ),
    *(
        breaking_pis(
            f"redirect.{lapse}-executes-deferred",
            f"redirect.{lapse}/nothing-done",
            f"a deferred payment is executed on its day although the {lapse} timer expired",
            executable=_put_off_all_the_same(lapse),
        )
        for lapse in LAPSES
    ),
    *(
        breaking_pis(
            f"report-url.{name}",
            "report-url/after-signing",
            says,
            returns=_On(decision="confirm", wrong=returns),
        )
        for name, says, returns in (
            (
                "origin-only",
                "after signing, the redirection keeps only the origin of the URL",
                _origin_only,
            ),
            ("no-query", "after signing, the redirection drops the query of the URL", _no_query),
            ("with-status", "after signing, the redirection adds a query to the URL", _with_status),
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
        "report-url.refused-to-success",
        "report-url/not-after-refusal",
        "after a refusal, the customer is redirected as after signing",
        returns=_On(decision="refuse", wrong=_always_success),
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
