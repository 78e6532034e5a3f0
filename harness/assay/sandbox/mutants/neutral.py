"""Neutral variants of account information: banks that differ where the document is silent.

Status codes, bodies of refusals, further members, order, a shorter history and the effect
of a second consent are not in the document, so no check may depend on them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import count

from assay.sandbox.access import BATCH, CARD_WINDOW, Listing
from assay.sandbox.accounts import Entry, Item
from assay.sandbox.calendar import NINETY_DAYS
from assay.sandbox.messages import OPERATIONS, Answer, Fault, Json, Request, error
from assay.sandbox.mutants.mutant import Change, Neutral, answering, edge_flipped, limited_to
from assay.sandbox.policies import Policies, put

__all__ = ["NEUTRAL"]


def _refused(**codes: int) -> Change:
    return lambda bank: replace(bank, refusals=put(bank.refusals, **codes))


def _not_offered(status: int) -> Change:
    def answer(_consented: bool) -> Answer:
        return error(status, "this operation is not available")

    return lambda bank: replace(
        bank,
        unavailable=put(bank.unavailable, trustedBeneficiaries=answer, endUserIdentity=answer),
    )


def _unreadable_is(status: int) -> Change:
    def found(_fault: Fault) -> int:
        return status

    return lambda bank: replace(
        bank, malformed=put(bank.malformed, **dict.fromkeys(OPERATIONS, found))
    )


def _wider(value: Json) -> Json:
    """Add members to every object except links."""
    if isinstance(value, Mapping):
        grown = {
            name: member if name == "links" else _wider(member) for name, member in value.items()
        }
        return {**grown, "x-note": None, "x-more": {"since": 2026}}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_wider(member) for member in value]
    return value


def _with_more(answer: Answer) -> Answer:
    return answer if isinstance(answer.body, bytes) else replace(answer, body=_wider(answer.body))


def _always(_request: Request, _answer: Answer) -> bool:
    return True


def _is_error(_request: Request, answer: Answer) -> bool:
    return answer.status >= 400  # noqa: PLR2004


def _is_success(_request: Request, answer: Answer) -> bool:
    return answer.status < 300  # noqa: PLR2004


def _is_consent(request: Request, answer: Answer) -> bool:
    return request.operation == "consents" and answer.status == 201  # noqa: PLR2004


def _responds(
    applies: Callable[[Request, Answer], bool], altered: Callable[[Answer], Answer]
) -> Change:
    respond = answering(applies, altered)
    return lambda bank: replace(bank, respond=respond)


def _no_body(answer: Answer) -> Answer:
    return replace(answer, body=b"")


def _as_html(answer: Answer) -> Answer:
    page = b"<!doctype html><title>No</title><p>Something is not right."
    return replace(answer, body=page, media="text/html; charset=utf-8")


def _with_headers(answer: Answer) -> Answer:
    headers = (("X-Request-Id", "0f3c"), ("Cache-Control", "no-store"))
    return replace(answer, headers=(*answer.headers, *headers))


def _as_hal(answer: Answer) -> Answer:
    return replace(answer, media="application/hal+json;charset=utf-8")


def _oldest_first(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return entries[::-1]


def _last_first(listing: Listing) -> Sequence[Item]:
    return listing.items[::-1]


def _never(_now: datetime) -> bool:
    return False


def _relative(_base: str) -> str:
    return ""


def _adds_up(former: frozenset[str] | None, new: frozenset[str]) -> frozenset[str]:
    return new | (former or frozenset())


_EDGE_EXCLUDED = replace(CARD_WINDOW, too_old=edge_flipped(CARD_WINDOW.too_old))


def _first_day_excluded(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first and (first if first == first.max else first + timedelta(days=1)), last


def _last_day_excluded(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    return first, last and (last if last == last.min else last - timedelta(days=1))


def _numbered(bank: Policies) -> Policies:
    numbers = count(1)

    def respond(_request: Request, answer: Answer) -> Answer:
        if isinstance(answer.body, bytes) or not isinstance(answer.body, Mapping):
            return answer
        return replace(answer, body={**answer.body, "x-answer": next(numbers)})

    return replace(bank, respond=respond)


def _turned_around(bank: Policies) -> Policies:
    """Reverse the balances in every second answer."""
    numbers = count(1)

    def respond(request: Request, answer: Answer) -> Answer:
        body = answer.body
        if request.operation != "balances" or not isinstance(body, Mapping) or next(numbers) % 2:
            return answer
        rows = body.get("balances")
        turned = rows[::-1] if isinstance(rows, Sequence) else rows
        return replace(answer, body={**body, "balances": turned})

    return replace(bank, respond=respond)


NEUTRAL = (
    Neutral(
        id="neutral.more-fields",
        says="every object in answers, except links, has further members",
        change=_responds(_always, _with_more),
    ),
    Neutral(
        id="neutral.more-headers",
        says="every answer has further headers",
        change=_responds(_always, _with_headers),
    ),
    Neutral(
        id="neutral.404-outside-consent",
        says="items outside the consent are not found (404)",
        change=_refused(scope=404, ineligible=404),
    ),
    Neutral(
        id="neutral.422-for-the-unreadable",
        says="malformed requests are answered with 422",
        change=_unreadable_is(422),
    ),
    Neutral(
        id="neutral.403-for-the-quota",
        says="the fifth access is answered with 403",
        change=_refused(quota=403),
    ),
    Neutral(
        id="neutral.unknown-is-forbidden",
        says="accounts that do not exist are refused like other customers' accounts",
        change=_refused(unknown=403),
    ),
    Neutral(
        id="neutral.not-offered-404",
        says="operations that are not offered are answered with 404",
        change=_not_offered(404),
    ),
    Neutral(
        id="neutral.not-offered-501",
        says="operations that are not offered are answered with 501",
        change=_not_offered(501),
    ),
    Neutral(
        id="neutral.not-offered-403",
        says="operations that are not offered are answered with 403",
        change=_not_offered(403),
    ),
    Neutral(
        id="neutral.hal",
        says="successful answers have the media type application/hal+json with a charset",
        change=_responds(_is_success, _as_hal),
    ),
    Neutral(
        id="neutral.relative-links",
        says="links are relative",
        change=lambda bank: replace(
            bank,
            links=put(
                bank.links,
                **dict.fromkeys((place.replace("-", "_") for place in bank.links), _relative),
            ),
        ),
    ),
    Neutral(
        id="neutral.45-days",
        says="the history is 45 days long",
        change=lambda bank: replace(
            bank, depth=replace(NINETY_DAYS, too_old=limited_to(45)(NINETY_DAYS.too_old))
        ),
    ),
    Neutral(
        id="neutral.oldest-first",
        says="transactions are listed oldest first",
        change=lambda bank: replace(bank, order=_oldest_first),
    ),
    Neutral(
        id="neutral.last-opened-first",
        says="accounts are listed in reverse order",
        change=lambda bank: replace(bank, listed=_last_first),
    ),
    Neutral(
        id="neutral.consents-add-up",
        says="a consent adds to the former one",
        change=lambda bank: replace(bank, renew=_adds_up),
    ),
    Neutral(
        id="neutral.extended-is-ignored",
        says="the extended history mode is ignored and returns the usual 90 days",
        change=lambda bank: replace(bank, extended=NINETY_DAYS),
    ),
    Neutral(
        id="neutral.no-maintenance",
        says="the bank stays open on Sundays",
        change=lambda bank: replace(bank, closed=_never),
    ),
    Neutral(
        id="neutral.consents-200",
        says="a consent is answered with 200",
        change=_responds(_is_consent, lambda answer: replace(answer, status=200)),
    ),
    Neutral(
        id="neutral.consents-204",
        says="a consent is answered with 204 and no body",
        change=_responds(_is_consent, lambda answer: replace(answer, status=204, body=b"")),
    ),
    Neutral(
        id="neutral.edge-day-excluded",
        says="a card last used exactly two months ago is not listed",
        change=lambda bank: replace(
            bank,
            eligible=put(bank.eligible, card=_EDGE_EXCLUDED),
            grantable=put(bank.grantable, card=_EDGE_EXCLUDED),
        ),
    ),
    Neutral(
        id="neutral.refused-calls-count",
        says="refused accesses count towards the quota",
        change=lambda bank: replace(
            bank,
            quota=put(
                bank.quota,
                **dict.fromkeys(OPERATIONS, (replace(BATCH, charges_refused=True),)),
            ),
        ),
    ),
    Neutral(
        id="neutral.first-day-excluded",
        says="the requested first day is excluded from the range",
        change=lambda bank: replace(bank, period=_first_day_excluded),
    ),
    Neutral(
        id="neutral.last-day-excluded",
        says="the requested last day is excluded from the range",
        change=lambda bank: replace(bank, period=_last_day_excluded),
    ),
    Neutral(
        id="neutral.numbered-answers",
        says="every answer has a unique number",
        change=_numbered,
    ),
    Neutral(
        id="neutral.balances-in-any-order",
        says="every second answer has the balances in reverse order",
        change=_turned_around,
    ),
    Neutral(
        id="neutral.errors-empty",
        says="refusals have no body",
        change=_responds(_is_error, _no_body),
    ),
    Neutral(
        id="neutral.errors-html",
        says="refusals are HTML",
        change=_responds(_is_error, _as_html),
    ),
)
