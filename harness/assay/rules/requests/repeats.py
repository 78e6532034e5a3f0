"""Requests beside earlier ones that they repeat, or differ from in one thing.

What `duplicate` judges. A request is compared when it is decided on, at its making and
again at its customer's signature, with what was known by then to have been carried out.
A fold: taking one more event in costs the same however long the history is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from assay.history import Effects, Event, Registered
from assay.rules.calendar import dates, within_a_day
from assay.rules.requests import Book, Life, Request, likeness, trail
from assay.rules.requests.likeness import Likeness

REPEAT: Final = "repeat-refused"
MODE: Final = "mode-changed-accepted"
NEXT_DAY: Final = "next-day-accepted"
CANCELLED: Final = "after-cancelled-accepted"
REFUSED: Final = "after-refused-accepted"
UNSIGNED: Final = "after-unsigned-accepted"


def changed(parameter: str) -> str:
    """Return the facet of a parameter."""
    return f"{parameter}-changed-accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What a request is to a former one; `n` is the number at which they were compared."""

    facet: str
    former: Request
    n: int


@dataclass(slots=True, kw_only=True)
class Compared:
    """All requests of a history, each with its relations to former ones.

    `done` has what was carried out last, by all that was sent but the one thing that a
    facet is about, and `last` what was made last, by all that was sent.
    """

    life: Life
    parameters: tuple[str, ...]
    modes: tuple[str | None, ...]
    book: Book
    done: dict[tuple[str, Likeness], Request] = field(
        default_factory=dict[tuple[str, Likeness], Request]
    )
    last: dict[Likeness, Request] = field(default_factory=dict[Likeness, Request])
    former: dict[int, Request | None] = field(default_factory=dict[int, Request | None])
    relations: dict[int, list[Relation]] = field(default_factory=dict[int, list[Relation]])
    registering: set[str] = field(default_factory=set[str])
    seen_done: set[int] = field(default_factory=set[int])

    def note(self, event: Event) -> None:
        """Take an event in."""
        found = self.book.note(event)
        if isinstance(event, Registered):
            self.registering.add(event.subject)
        if found is not None and event is found.made:
            key = likeness.sent(found)
            self.former[id(found)], self.last[key] = self.last.get(key), found
        if found is not None and likeness.decides(event, found):
            self._compare(found)
        about = trail.told(self.book, event, found) if isinstance(event, Effects) else (found,)
        new = [one for one in about if one and one.done and id(one) not in self.seen_done]
        # Of several that the world lists at once, the one that was made last counts.
        for one in sorted(new, key=lambda one: one.made.n):
            self.seen_done.add(id(one))
            self._index(one)

    def _index(self, request: Request) -> None:
        if self._plain(request) and likeness.unchanged(request):
            for what, key in self._keys(request):
                self.done[what, key] = request

    def _plain(self, request: Request) -> bool:
        """Whether it is of a mode that is asked, and carried out when it is signed."""
        return request.mode in self.modes and not self.life.due(request.mode)

    def _keys(self, request: Request) -> Iterator[tuple[str, Likeness]]:
        yield REPEAT, likeness.sent(request)
        yield MODE, likeness.arguments(request)
        for one in self.parameters:
            yield changed(one), likeness.sent(request, but=(one,))

    def _compare(self, request: Request) -> None:
        """Find what a request is to former ones: a repeat of one, or else other in one thing."""
        n = (trail.signature(request) or request.made).n
        near: dict[str, Request] = {}
        if self._plain(request):
            near = {
                what: former
                for what, key in self._keys(request)
                if (former := self.done.get((what, key))) is not None and former is not request
            }
        same = near.get(REPEAT)
        if same is not None:
            # What has the same but one thing may be this same one: it tells nothing.
            near = {what: one for what, one in near.items() if what == REPEAT or one is not same}
        last = self.former[id(request)]
        if last is not None and (why := _undone(last)):
            near[why] = last
        self.relations[id(request)] = [
            Relation(facet=what, former=one, n=n) for what, one in near.items()
        ]


def _undone(former: Request) -> str:
    """Say why a request was not carried out; empty if it was, or nobody knows."""
    if former.done or not former.made.accepted or not likeness.unchanged(former):
        return ""
    if any(one.accepted for one in former.ends) or any(one.done for one in former.withdrawn):
        return CANCELLED
    if trail.declined(former):
        return REFUSED
    return "" if former.signings or former.ends else UNSIGNED


# -- days ------------------------------------------------------------------------
def moments(request: Request) -> tuple[datetime, ...]:
    """Return the moments that may tell the day of a request."""
    signed = trail.signature(request)
    seen = request.seen if request.done else None
    return tuple(
        one for one in (request.made.at, signed.at if signed else None, seen) if one is not None
    )


def same_day(life: Life, one: Request, other: Request) -> bool:
    """Whether two requests surely are of one local day."""
    every = (*moments(one), *moments(other))
    return len({within_a_day(moment, life.contract.zone) for moment in every}) == 1


def later_day(life: Life, former: Request, request: Request) -> bool:
    """Whether a request surely is of a later local day than a former one."""
    zone = life.contract.zone
    ended = max(dates(one, zone)[-1] for one in moments(former))
    return ended < min(dates(one, zone)[0] for one in moments(request))
