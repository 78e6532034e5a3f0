"""Mutants of the pages of lists.

Each fault breaks one facet of reading three pages (12 accounts, or 40 transactions), or two
that are full (30 transactions), and keeps the others; lists of one page are never changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from assay.sandbox.accounts import Cut, Cutter, pages_of
from assay.sandbox.messages import Answer, Request, error
from assay.sandbox.mutants.mutant import Mutant, answering, breaking
from assay.sandbox.policies import SOUND, put

__all__ = ["PAGING"]

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


def _back_to_first(_size: int, _count: int, _page: int, cut: Cut) -> Cut:
    return replace(cut, next=cut.next or 1)


def _stays(_size: int, _count: int, page: int, cut: Cut) -> Cut:
    return replace(cut, next=cut.next or page)


def _goes_on(_size: int, _count: int, page: int, cut: Cut) -> Cut:
    return replace(cut, next=page + 1)


def _exactly(size: int, count: int, page: int, cut: Cut) -> Cut:
    """Name an empty page after a last one that is full."""
    return replace(cut, next=page + 1) if page * size == count else cut


def _loses_a_full_page(size: int, count: int, page: int, cut: Cut) -> Cut:
    return replace(cut, next=None) if (page + 1) * size == count else cut


_Paged: TypeAlias = Literal["accounts", "transactions"]

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
    (
        "last-repeats-first",
        "no-repeats",
        "the last page repeats the very first item",
        _spoilt(_last_repeats_first),
    ),
    ("last-twice", "no-repeats", "the last item appears twice", _spoilt(_last_twice)),
    ("back-to-first", "ends", "the last page links to the first", _spoilt(_back_to_first)),
    ("stays", "ends", "the last page links to itself", _spoilt(_stays)),
    ("goes-on", "ends", "empty pages follow without end", _spoilt(_goes_on)),
)


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


_FULL = (
    breaking(
        "paging.transactions-full-page-lost",
        "transactions.page-size/exact",
        "transactions: the link to a last page that is full is missing",
        pages=put(SOUND.pages, transactions=_spoilt(_loses_a_full_page)(15)),
    ),
    breaking(
        "paging.transactions-one-page-too-far",
        "transactions.page-size/exact",
        "transactions: a last page that is full links to one that is not found",
        pages=put(SOUND.pages, transactions=_spoilt(_exactly)(15)),
        respond=answering(_empty, _missing(404)),
    ),
)
PAGING = (
    *_table("accounts", 5),
    *_table("transactions", 15),
    *_dead("accounts"),
    *_dead("transactions"),
    *_FULL,
)
