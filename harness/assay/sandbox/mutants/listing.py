"""Mutants of the account list: missing items, and items that should not be listed.

Faults of the list as a whole apply only if it has two accounts and two cards and no third page,
so that eligibility and pagination, which have clauses of their own, stay correct.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from assay.sandbox.access import CARD_WINDOW, Eligible, Listed, Listing
from assay.sandbox.accounts import Item
from assay.sandbox.calendar import months_before
from assay.sandbox.messages import Resource, Table
from assay.sandbox.mutants.mutant import Operator, breaking, limited_to, never, one_more
from assay.sandbox.policies import SOUND, put

__all__ = ["LISTING"]

#: Items on two pages.
_TWO_PAGES = 10


def _is_mixed(items: Sequence[Item]) -> bool:
    """Return whether there are at least two accounts and two cards, on two pages at most."""
    cards = sum(item.resource == "card" for item in items)
    return len(items) <= _TWO_PAGES and cards > 1 and len(items) - cards > 1


def _loses(at: int, consented: bool) -> Listed:
    """Omit one item of a mixed list, with or without a consent."""

    def listed(listing: Listing) -> Sequence[Item]:
        items = list(listing.items)
        if _is_mixed(items) and (listing.consent is not None) is consented:
            del items[at]
        return items

    return listed


def _loses_consented(listing: Listing) -> Sequence[Item]:
    """Omit the first consented item of a mixed list."""
    items, consent = list(listing.items), listing.consent or frozenset()
    named = [item for item in items if item.key in consent]
    if named and _is_mixed(items):
        items.remove(named[0])
    return items


def _all_but_consented(listing: Listing) -> Sequence[Item]:
    """List what is not consented to yet, if the list is mixed."""
    consent = listing.consent or frozenset()
    if not _is_mixed(listing.items):
        return listing.items
    return [item for item in listing.items if item.key not in consent]


def _with_foreign(listing: Listing) -> Sequence[Item]:
    return [*listing.items, *listing.foreign[:1]]


def _with_foreign_consented(listing: Listing) -> Sequence[Item]:
    return [*listing.items, *listing.foreign_consented[:1]]


def _no_lone_recent_card(listing: Listing) -> Sequence[Item]:
    """Hide a card used in the past week if it is the only such card."""
    week_ago = listing.today - timedelta(days=7)
    recent = [
        item for item in listing.items if item.last_used is not None and item.last_used >= week_ago
    ]
    return [item for item in listing.items if len(recent) > 1 or item not in recent]


def _savings_too(item: Item, _today: date) -> bool:
    return item.active and item.online


def _inactive_too(item: Item, _today: date) -> bool:
    return item.online and not item.savings


def _offline_too(item: Item, _today: date) -> bool:
    return item.active and not item.savings


def _inactive_card_too(item: Item, today: date) -> bool:
    return CARD_WINDOW(replace(item, active=True), today)


def _unused_card_too(item: Item, today: date) -> bool:
    return item.active and (item.last_used is None or CARD_WINDOW(item, today))


def _cards(eligible: Eligible) -> Table[Resource, Eligible]:
    return put(SOUND.eligible, card=eligible)


def _window_from(begins: Callable[[date], date]) -> Table[Resource, Eligible]:
    return _cards(replace(CARD_WINDOW, begins=begins))


def _window(operator: Operator[int]) -> Table[Resource, Eligible]:
    return _cards(replace(CARD_WINDOW, too_old=operator(CARD_WINDOW.too_old)))


def _days(count: int) -> Callable[[date], date]:
    return lambda today: today - timedelta(days=count)


def _months(count: int) -> Callable[[date], date]:
    return lambda today: months_before(today, count)


LISTING = (
    breaking(
        "listing.first-account-lost",
        "accounts.listing/all-without-consent",
        "without a consent the first account is missing",
        listed=_loses(0, consented=False),
    ),
    breaking(
        "listing.last-item-lost",
        "accounts.listing/all-without-consent",
        "without a consent the last item is missing",
        listed=_loses(-1, consented=False),
    ),
    breaking(
        "listing.consented-item-lost",
        "accounts.listing/consented-with-consent",
        "the first thing that a consent names is missing",
        listed=_loses_consented,
    ),
    breaking(
        "listing.consented-left-out",
        "accounts.listing/consented-with-consent",
        "only what a consent does not name is listed",
        listed=_all_but_consented,
    ),
    breaking(
        "listing.last-item-lost-with-consent",
        "accounts.listing/consented-with-consent",
        "with a consent the last item is missing",
        listed=_loses(-1, consented=True),
    ),
    breaking(
        "listing.foreign-item",
        "accounts.listing/only-own own-data/account",
        "another customer's account is listed, too",
        listed=_with_foreign,
    ),
    breaking(
        "listing.foreign-consented-item",
        "accounts.listing/only-own",
        "an account to which another customer consented is listed, too",
        listed=_with_foreign_consented,
    ),
    breaking(
        "eligible.savings-listed",
        "accounts.eligible/hides-savings",
        "savings accounts are listed",
        eligible=put(SOUND.eligible, account=_savings_too),
    ),
    breaking(
        "eligible.inactive-listed",
        "accounts.eligible/hides-inactive",
        "inactive accounts are listed",
        eligible=put(SOUND.eligible, account=_inactive_too),
    ),
    breaking(
        "eligible.offline-listed",
        "accounts.eligible/hides-offline",
        "accounts that are not accessible online are listed",
        eligible=put(SOUND.eligible, account=_offline_too),
    ),
    *(
        breaking(
            f"eligible.{state}-served",
            f"accounts.eligible/withholds-{state}",
            f"{says} are not listed, but a consent can name them, and then their data are served",
            grantable=put(SOUND.grantable, account=eligible),
        )
        for state, says, eligible in (
            ("savings", "savings accounts", _savings_too),
            ("inactive", "inactive accounts", _inactive_too),
            ("offline", "accounts that are not accessible online", _offline_too),
        )
    ),
    breaking(
        "cards.lone-recent-card-hidden",
        "cards.eligible/lists-recent",
        "a customer's only recently used card is not listed",
        listed=_no_lone_recent_card,
    ),
    breaking(
        "cards.sixty-days",
        "cards.eligible/lists-just-inside",
        "sixty days instead of two months (differs if the two months have 62 days)",
        eligible=_window_from(_days(60)),
    ),
    breaking(
        "cards.eight-weeks",
        "cards.eligible/lists-just-inside",
        "eight weeks instead of two months",
        eligible=_window_from(_days(56)),
    ),
    breaking(
        "cards.one-month",
        "cards.eligible/lists-just-inside",
        "one month instead of two",
        eligible=_window_from(_months(1)),
    ),
    breaking(
        "cards.edge-two-days-early",
        "cards.eligible/lists-just-inside",
        "the window is two days too short",
        eligible=_window(limited_to(-2)),
    ),
    breaking(
        "cards.edge-one-day-late",
        "cards.eligible/hides-just-outside",
        "the window is one day too long",
        eligible=_window(one_more),
    ),
    breaking(
        "cards.nine-weeks",
        "cards.eligible/hides-just-outside",
        "nine weeks instead of two months",
        eligible=_window_from(_days(63)),
    ),
    breaking(
        "cards.three-months",
        "cards.eligible/hides-just-outside",
        "three months instead of two",
        eligible=_window_from(_months(3)),
    ),
    breaking(
        "cards.any-use",
        "cards.eligible/hides-just-outside",
        "a card that was ever used is listed",
        eligible=_window(never),
    ),
    breaking(
        "cards.inactive-listed",
        "cards.eligible/hides-inactive",
        "inactive cards are listed",
        eligible=_cards(_inactive_card_too),
    ),
    breaking(
        "cards.never-used-listed",
        "cards.eligible/hides-never-used",
        "cards that were never used are listed",
        eligible=_cards(_unused_card_too),
    ),
)
