"""Mutants of lists: what they show, what is missing in them or too much, and their pages.

A missing identifier is shown on an extra row of a one-page list: if it were removed from a
real account, that account would be missing from the list too. Faults of the list of accounts as a
whole apply only if it has two accounts and two cards and no third page, so that eligibility and
pagination, which have clauses of their own, stay correct. Each fault of the pages breaks one facet
of reading three pages (12 accounts, or 40 transactions), or two that are full (30 transactions),
and keeps the others; lists of one page are never changed.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from http import HTTPStatus
from typing import Literal, TypeAlias, cast

from assay.sandbox.access import CARD_WINDOW, Eligible, Listed, Listing
from assay.sandbox.accounts import Currency, Cut, Cutter, IdSeed, Item, iban, pages_of
from assay.sandbox.calendar import months_before
from assay.sandbox.messages import KINDS, Answer, Json, Request, Resource, Table, error
from assay.sandbox.mutants.mutant import (
    Mutant,
    Operator,
    answering,
    breaking,
    limited_to,
    never,
    one_more,
)
from assay.sandbox.policies import SOUND, put

__all__ = ["FIELDS", "LISTING", "PAGING", "check_digit"]

_PAGE = 5


# fmt: off
_CURRENCIES: tuple[tuple[str, str, Currency], ...] = (
    ("first-in-dollars", "the first entry is in dollars",
     lambda position: "EUR" if position.index else "USD"),
    ("last-in-francs", "the very last entry is in francs",
     lambda position: "CHF" if position.index == position.count - 1 else "EUR"),
    ("lower-case", "the currency code is in lower case", lambda _spot: "eur"),
)
# fmt: on


_READ: tuple[tuple[Resource, str], ...] = (("account", "balance"), ("card", "outstanding"))
_TYPES: tuple[tuple[str, str, str, tuple[str | None, ...]], ...] = (
    ("other-type", "", "the last has the type ITAV", ("CLBD", "VALU", "ITAV")),
    ("type-lower-case", "", "a type is in lower case", ("CLBD", "valu", "OTHR")),
    ("fourth-type", "", "there is a fourth with the type XPCD", ("CLBD", "VALU", "OTHR", "XPCD")),
)
#: Faults of balances only: the document does not say that an outstanding has a type.
_UNTYPED: tuple[tuple[str, str, str, tuple[str | None, ...]], ...] = (
    ("last-untyped", "-present", "the last has no type", ("CLBD", "VALU", None)),
    ("first-untyped", "-present", "the first has no type", (None, "VALU", "OTHR")),
)


def _wrong_check_digits(id_seed: IdSeed) -> str:
    right = iban(id_seed)
    return f"FR{(int(right[2:4]) + 1) % 100:02d}{right[4:]}"


def _wrong_last_digit(id_seed: IdSeed) -> str:
    right = iban(id_seed)
    return f"{right[:-1]}{(int(right[-1]) + 1) % 10}"


def check_digit(digits: str) -> int:
    """Return the last digit that lets 15 digits and itself pass Luhn's test, as a PAN does."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[::2])
    return -(doubled + sum(map(int, digits[1::2]))) % 10


def _clear_pan(prefix: int) -> Callable[[IdSeed], str]:
    def pan(id_seed: IdSeed) -> str:
        digits = f"{prefix:06d}{(id_seed.seed + id_seed.serial * 7919) % 10**9:09d}"
        return f"{digits}{check_digit(digits)}"

    return pan


def _altered_pan(alter: Callable[[str], str]) -> Callable[[IdSeed], str]:
    return lambda id_seed: alter(_clear_pan(497_010)(id_seed))


# fmt: off
_PANS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("masked", "of which six digits are blotted out", lambda pan: f"{pan[:6]}XXXXXX{pan[12:]}"),
    ("shortened", "of which six digits are left out", lambda pan: f"{pan[:6]}__{pan[12:]}"),
    ("encoded", "in base64, which encrypts nothing",
     lambda pan: urlsafe_b64encode(pan.encode()).decode()),
    ("named", "after the word card", lambda pan: f"card-{pan}"),
)
# fmt: on


def _with_room(request: Request, answer: Answer) -> bool:
    """Return whether the answer is a last page with room for one more row."""
    if request.operation != "accounts" or answer.status != HTTPStatus.OK:
        return False
    body = cast("Mapping[str, Mapping[str, Json]]", answer.body)
    return "next" not in body["links"] and len(body["accounts"]) < _PAGE


def _nameless(resource: Resource) -> Callable[[Request, Answer], Answer]:
    row: Mapping[str, Json] = {"kind": resource, "name": "En cours d'ouverture", "currency": "EUR"}

    def altered(answer: Answer) -> Answer:
        body = cast("dict[str, list[Json]]", answer.body)
        body = {**body, "accounts": [*body["accounts"], row]}
        return replace(answer, body=cast("Json", body))

    return answering(_with_room, altered)


# fmt: off
FIELDS = (
    *(breaking(f"euro.{kind}-{name}", f"euro/{kind}",
          f"{kind}: {says}", currency=put(SOUND.currency, **{kind: currency}))
      for kind in KINDS.values() for name, says, currency in _CURRENCIES),
    *(breaking(f"{read}-type.{read}-{name}", f"{read}-type/{read}{facet}",
          f"{read}: {says}", balance_types=put(SOUND.balance_types, **{resource: types}))
      for resource, read in _READ
      for name, facet, says, types in (*_TYPES, *(_UNTYPED if read == "balance" else ()))),
    breaking("iban.wrong-check-digits", "iban/account",
        "the check digits of IBANs are one too high",
        mint=put(SOUND.mint, account=_wrong_check_digits)),
    breaking("iban.wrong-last-digit", "iban/account",
        "the last digit of IBANs is wrong", mint=put(SOUND.mint, account=_wrong_last_digit)),
    breaking("iban.domestic", "iban/account",
        "the domestic account number is shown instead of the IBAN",
        mint=put(SOUND.mint, account=lambda id_seed: iban(id_seed)[4:])),
    breaking("iban.clear-visa", "iban/card",
        "cards are identified by their clear PAN", mint=put(SOUND.mint, card=_clear_pan(497_010))),
    breaking("iban.clear-mastercard", "iban/card",
        "cards are identified by their clear PAN of another scheme",
        mint=put(SOUND.mint, card=_clear_pan(513_200))),
    *(breaking(f"iban.{name}-pan", "iban/card", f"cards are identified by a PAN {says}",
          mint=put(SOUND.mint, card=_altered_pan(alter)))
      for name, says, alter in _PANS),
    breaking("iban.account-nameless", "iban/account-present",
        "an account is listed without its IBAN", respond=_nameless("account")),
    breaking("iban.card-nameless", "iban/card-present",
        "a card is listed without its encrypted PAN", respond=_nameless("card")),
)
# fmt: on


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


def _immediate_debit_too(item: Item, today: date) -> bool:
    return CARD_WINDOW(replace(item, immediate_debit=False), today)


def _consented_stays(listing: Listing) -> Sequence[Item]:
    kept = (item for item in listing.others if item.key in (listing.consent or ()))
    return [*listing.items, *(item for item in kept if item.resource == "card" and item.active)]


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


# fmt: off
LISTING = (
    breaking("listing.first-account-lost", "accounts.listing/all-without-consent",
        "without a consent the first account is missing", listed=_loses(0, consented=False)),
    breaking("listing.last-item-lost", "accounts.listing/all-without-consent",
        "without a consent the last item is missing", listed=_loses(-1, consented=False)),
    breaking("listing.consented-item-lost", "accounts.listing/consented-with-consent",
        "the first thing that a consent names is missing", listed=_loses_consented),
    breaking("listing.consented-left-out", "accounts.listing/consented-with-consent",
        "only what a consent does not name is listed", listed=_all_but_consented),
    breaking("listing.last-item-lost-with-consent", "accounts.listing/consented-with-consent",
        "with a consent the last item is missing", listed=_loses(-1, consented=True)),
    breaking("listing.foreign-item", "accounts.listing/only-own own-data/account",
        "another customer's account is listed, too", listed=_with_foreign),
    breaking("listing.foreign-consented-item", "accounts.listing/only-own",
        "an account to which another customer consented is listed, too",
        listed=_with_foreign_consented),
    breaking("eligible.savings-listed", "accounts.eligible/hides-savings",
        "savings accounts are listed", eligible=put(SOUND.eligible, account=_savings_too)),
    breaking("eligible.consented-stays", "cards.eligible/hides-outdated",
        "a card that the consent names is listed, however long ago it was used",
        listed=_consented_stays),
    breaking("eligible.inactive-listed", "accounts.eligible/hides-inactive",
        "inactive accounts are listed", eligible=put(SOUND.eligible, account=_inactive_too)),
    breaking("eligible.offline-listed", "accounts.eligible/hides-offline",
        "accounts that are not accessible online are listed",
        eligible=put(SOUND.eligible, account=_offline_too)),
    *(breaking(f"eligible.{state}-served", f"accounts.eligible/withholds-{state}",
          f"{says} are not listed, but a consent can name them, and then their data are served",
          grantable=put(SOUND.grantable, account=eligible))
      for state, says, eligible in (
          ("savings", "savings accounts", _savings_too),
          ("inactive", "inactive accounts", _inactive_too),
          ("offline", "accounts that are not accessible online", _offline_too),
      )),
    breaking("cards.lone-recent-card-hidden", "cards.eligible/lists-recent",
        "a customer's only recently used card is not listed", listed=_no_lone_recent_card),
    breaking("cards.sixty-days", "cards.eligible/lists-just-inside",
        "sixty days instead of two months (differs if the two months have 62 days)",
        eligible=_window_from(_days(60))),
    breaking("cards.eight-weeks", "cards.eligible/lists-just-inside",
        "eight weeks instead of two months", eligible=_window_from(_days(56))),
    breaking("cards.one-month", "cards.eligible/lists-just-inside",
        "one month instead of two", eligible=_window_from(_months(1))),
    breaking("cards.edge-two-days-early", "cards.eligible/lists-just-inside",
        "the window is two days too short", eligible=_window(limited_to(-2))),
    breaking("cards.edge-one-day-late", "cards.eligible/hides-just-outside",
        "the window is one day too long", eligible=_window(one_more)),
    breaking("cards.nine-weeks", "cards.eligible/hides-just-outside",
        "nine weeks instead of two months", eligible=_window_from(_days(63))),
    breaking("cards.three-months", "cards.eligible/hides-just-outside cards.eligible/hides-outdated",
        "three months instead of two", eligible=_window_from(_months(3))),
    breaking("cards.any-use", "cards.eligible/hides-just-outside cards.eligible/hides-outdated",
        "a card that was ever used is listed", eligible=_window(never)),
    breaking("cards.inactive-listed", "cards.eligible/hides-inactive",
        "inactive cards are listed",
        eligible=_cards(lambda item, today: CARD_WINDOW(replace(item, active=True), today))),
    breaking("cards.never-used-listed", "cards.eligible/hides-never-used",
        "cards that were never used are listed",
        eligible=_cards(lambda item, today: item.active
                        and not item.immediate_debit
                        and (item.last_used is None or CARD_WINDOW(item, today)))),
    breaking("cards.immediate-debit-listed", "cards.delayed-debit/hides-immediate-debit",
        "immediate debit cards are listed", eligible=_cards(_immediate_debit_too)),
    breaking("cards.immediate-debit-served", "cards.delayed-debit/withholds-immediate-debit",
        "immediate debit cards are not listed, but a consent can name them, and then their data"
        " are served", grantable=put(SOUND.grantable, card=_immediate_debit_too)),
)
# fmt: on


#: Returns a wrong cutter, given the right page size.
_Wrong: TypeAlias = Callable[[int], Cutter]
#: Alters a right page, given size, count, page number and the page itself.
_Spoil: TypeAlias = Callable[[int, int, int, Cut], Cut]


def _bounds(edge: Callable[[int, int], int]) -> Cutter:
    """Cut where ``edge(count, page)`` says that a page ends."""

    def cut(count: int, page: int) -> Cut:
        start, end = min(edge(count, page - 1), count), min(edge(count, page), count)
        return Cut(positions=range(start, end), next=page + 1 if end < count else None)

    return cut


def _first_page(extra: int) -> _Wrong:
    """Change the size of the first page of several; the others follow on."""

    def wrong(size: int) -> Cutter:
        def edge(count: int, page: int) -> int:
            return page * size + (extra if page and count > size else 0)

        return _bounds(edge)

    return wrong


def _second_page(extra: int) -> _Wrong:
    """Change the size of the second page; the others follow on."""

    def wrong(size: int) -> Cutter:
        return _bounds(lambda _, page: page * size + (extra if page > 1 else 0))

    return wrong


def _starts(shift: int) -> _Wrong:
    """Shift the start of every page after the first."""

    def wrong(size: int) -> Cutter:
        def cut(count: int, page: int) -> Cut:
            moved = shift if page > 1 else 0
            start, end = (page - 1) * size + moved, page * size + moved
            return Cut(
                positions=range(min(start, count), min(end, count)),
                next=page + 1 if end < count else None,
            )

        return cut

    return wrong


def _spoilt(spoil: _Spoil) -> _Wrong:
    """Cut correctly, then alter the pages of lists with several pages."""

    def wrong(size: int) -> Cutter:
        right = pages_of(size)

        def cut(count: int, page: int) -> Cut:
            page_cut = right(count, page)
            return spoil(size, count, page, page_cut) if count > size else page_cut

        return cut

    return wrong


def _last_loses(_size: int, _count: int, _page: int, cut: Cut) -> Cut:
    if cut.next is not None:
        return cut
    return replace(cut, positions=cut.positions[:-1])


def _stops_early(size: int, count: int, page: int, cut: Cut) -> Cut:
    return replace(cut, next=None) if (page + 1) * size > count else cut


def _last_repeats_first(_size: int, _count: int, page: int, cut: Cut) -> Cut:
    if cut.next is not None or not cut.positions:
        return cut
    return replace(cut, positions=[*cut.positions, 0])


def _last_twice(_size: int, count: int, _page: int, cut: Cut) -> Cut:
    if cut.next is not None or not cut.positions:
        return cut
    return replace(cut, positions=[*cut.positions, count - 1])


def _exactly(size: int, count: int, page: int, cut: Cut) -> Cut:
    """Name an empty page after a last one that is full."""
    return replace(cut, next=page + 1) if page * size == count else cut


def _loses_a_full_page(size: int, count: int, page: int, cut: Cut) -> Cut:
    return replace(cut, next=None) if (page + 1) * size == count else cut


_Paged: TypeAlias = Literal["accounts", "transactions"]

# fmt: off
_WRONG: tuple[tuple[str, str, str, _Wrong], ...] = (
    ("first-page-short", "first-page", "page 1 has one item too few", _first_page(-1)),
    ("first-page-long", "first-page", "page 1 has one item too many", _first_page(1)),
    ("first-page-longer", "first-page", "page 1 has three items too many", _first_page(3)),
    ("second-page-short", "full-pages", "page 2 has one item too few", _second_page(-1)),
    ("second-page-long", "full-pages", "page 2 has one item too many", _second_page(1)),
    ("gap", "complete", "an item is missing between pages 1 and 2", _starts(1)),
    ("last-lost", "complete", "the last page lacks its last item", _spoilt(_last_loses)),
    ("stops-early", "complete", "the link to the last page is missing", _spoilt(_stops_early)),
    ("overlap", "no-repeats", "page 2 starts with the last item of page 1", _starts(-1)),
    ("last-repeats-first", "no-repeats", "the last page repeats the very first item",
     _spoilt(_last_repeats_first)),
    ("last-twice", "no-repeats", "the last item appears twice", _spoilt(_last_twice)),
    ("back-to-first", "ends", "the last page links to the first",
     _spoilt(lambda _size, _count, _page, cut: replace(cut, next=cut.next or 1))),
    ("stays", "ends", "the last page links to itself",
     _spoilt(lambda _size, _count, page, cut: replace(cut, next=cut.next or page))),
    ("goes-on", "ends", "empty pages follow without end",
     _spoilt(lambda _size, _count, page, cut: replace(cut, next=page + 1))),
)
# fmt: on


#: What else shows a fault: in a list and in a range, other items are missing.
_ALSO = {("transactions", "gap"): " consistent/shorter-range"}


def _table(what: _Paged, size: int) -> tuple[Mutant, ...]:
    return tuple(
        breaking(
            f"paging.{what}-{name}",
            f"{what}.page-size/{facet}{_ALSO.get((what, name), '')}",
            f"{what}: {says}",
            pages=put(SOUND.pages, **{what: wrong(size)}),
        )
        for name, facet, says, wrong in _WRONG
    )


def _empty(request: Request, answer: Answer) -> bool:
    """Return whether an answer is a later page without anything."""
    body = answer.body
    if not isinstance(body, Mapping) or "page" not in request.query or not request.operation:
        return False
    return request.query["page"] != "1" and body.get(request.operation) == []


def _missing(status: int) -> Callable[[Answer], Answer]:
    return lambda _: error(status, "no such page")


def _dead(what: _Paged) -> tuple[Mutant, ...]:
    """Return banks in which a link leads to a page that there is not."""

    def third(request: Request, _answer: Answer) -> bool:
        return request.operation == what and request.query.get("page") == "3"

    return (
        *(
            breaking(
                f"paging.{what}-third-page-{status}",
                f"{what}.page-size/ends",
                f"{what}: the third page is answered with {status}",
                respond=answering(third, _missing(status)),
            )
            for status in (404, 500)
        ),
    )


# fmt: off
_FULL = (
    breaking("paging.transactions-full-page-lost", "transactions.page-size/exact",
        "transactions: the link to a last page that is full is missing",
        pages=put(SOUND.pages, transactions=_spoilt(_loses_a_full_page)(15))),
    breaking("paging.transactions-one-page-too-far", "transactions.page-size/exact",
        "transactions: a last page that is full links to one that is not found",
        pages=put(SOUND.pages, transactions=_spoilt(_exactly)(15)),
        respond=answering(_empty, _missing(404))),
)
# fmt: on
PAGING = (
    *_table("accounts", 5),
    *_table("transactions", 15),
    *_dead("accounts"),
    *_dead("transactions"),
    *_FULL,
)
