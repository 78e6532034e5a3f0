"""How alike two requests are, for rules that judge one beside another.

A request that was rejected may have been so for reasons that are no matter of a rule. It
is judged beside one that is like it in everything that the rule does not speak of, and
was carried out: the same sort of customer, of thing, and of request. No judgement here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import TypeAlias

from assay.history import Authorised, Ending, Event
from assay.model import Json
from assay.rules.requests import Book, Life, Request, addresses, trail

#: What two requests have in common; equal if they do.
Likeness: TypeAlias = Hashable


def sure(book: Book) -> Iterator[Request]:
    """Return the requests of which it is known what was asked for, and what became of it.

    Of one that was changed, or that shares its key with another, it is not.
    """
    keys = Counter(one.key for one in book.requests)
    for one in book.requests:
        if unchanged(one) and (one.key is None or keys[one.key] == 1):
            yield one


def unchanged(request: Request) -> bool:
    """Whether it surely is as it was made."""
    return all(one.refused for one in request.changes)


def decides(event: Event, request: Request) -> bool:
    """Whether a request is decided on now: it was made, or its customer signed it."""
    if isinstance(event, Authorised):
        return event.ending is Ending.CONFIRMED and event is trail.signature(request)
    return event is request.made


def arguments(request: Request, *, but: Collection[str | None] = ()) -> Likeness:
    """Return what was sent in the arguments, but for some: equal if all else is."""
    return _spelt(request.arguments, but)


def sent(request: Request, *, but: Collection[str | None] = ()) -> Likeness:
    """Return what was asked for, the mode with it, but for some arguments."""
    return request.mode, arguments(request, but=but)


def sort(life: Life, request: Request, *, but: Collection[str | None] = ()) -> Likeness:
    """Return what sort of request it is, whoever of a sort made it about one of a sort.

    Left out are the values of some arguments, and the address to return to, if it is one.
    """
    create = life.create
    rest = _spelt(request.arguments, {create.owned, create.returns, *but})
    back = returning(life, request)
    return request.mode, tuple(sorted(request.arguments)), rest, back, _whose(life, request)


def returning(life: Life, request: Request) -> Likeness:
    """Return what the address to return to is, whoever it leads to."""
    address = request.arguments.get(life.create.returns or "")
    parts = addresses.split(address) if isinstance(address, str) else None
    return parts.scheme if parts else repr(address)


def _spelt(arguments: Mapping[str, Json], but: Collection[str | None]) -> Likeness:
    return tuple(
        (name, repr(value)) for name, value in sorted(arguments.items()) if name not in but
    )


def _whose(life: Life, request: Request) -> Likeness:
    """Return the sort of customer and of thing; where nobody knows that, who and which."""
    subject, key = request.subject, request.arguments.get(life.create.owned or "")
    owned = subject.owned(key) if subject else None
    if subject is None or (owned is None and life.create.owned):
        return request.made.call.subject, repr(key)
    if owned is None:
        return (subject.segment,)
    traits = tuple((name, repr(value)) for name, value in sorted(owned.traits.items()) if value)
    return subject.segment, owned.resource, traits
