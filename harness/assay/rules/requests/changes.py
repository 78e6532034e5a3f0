"""Changes that were asked for, each with how its request stood just before.

What `modification` judges, with `held`. A change is one only if it gives some argument another value
than the one in force; a call that repeats what holds asks for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from assay.history import Event, Exchange, State
from assay.model import Json
from assay.rules.requests import Book, Life, Request, trail


class Phase(Enum):
    """How far a request had come when a change was asked for."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"
    DONE = "done"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change that was asked for by those who made the request.

    `new` are the arguments that were to change. `untouched` says that nothing had ended
    it before, `ahead` that its day, the former as the new one, had surely not come.
    """

    request: Request
    exchange: Exchange
    new: Mapping[str, Json]
    phase: Phase
    untouched: bool
    ahead: bool

    @property
    def lost(self) -> bool:
        """Whether nobody knows if it was taken."""
        return not self.exchange.accepted and not self.exchange.refused

    @property
    def like(self) -> tuple[str, str, str]:
        """Return who asked for what, so that the same change can be recognised."""
        call = self.exchange.call
        return call.subject, call.by, repr(sorted(self.new.items()))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The exchanges and signatures that it rests on: those up to it."""
        told = [self.request.made.n, *(one.n for one in self.request.signings), self.exchange.n]
        return tuple(n for n in sorted(told) if n <= self.exchange.n)


def asked(life: Life, book: Book, event: Event) -> Change | None:
    """Return the change that an event asks for, while the book has not yet taken it in."""
    change = life.change
    if not isinstance(event, Exchange) or change is None or event.call.operation != change.id:
        return None
    request = book.known(str(event.call.arguments.get(change.about or "")))
    if request is None or not trail.ours(request, event.call):
        return None
    force = request.arguments
    new = {
        name: value
        for name, value in event.call.arguments.items()
        if name != change.about and not (name in force and trail.alike(value, force[name]))
    }
    if not new:
        return None
    then = {**force, **new}
    return Change(
        request=request,
        exchange=event,
        new=new,
        phase=_phase(request),
        untouched=_untouched(request),
        ahead=all(trail.ahead(life, one, event.at) for one in (force, then)),
    )


def _phase(request: Request) -> Phase:
    if request.done:
        return Phase.DONE
    if not request.signings:
        return Phase.UNSIGNED
    return Phase.SIGNED if trail.signed(request) else Phase.UNKNOWN


def _untouched(request: Request) -> bool:
    over = [one for one in request.ends if not one.refused]
    over_elsewhere = [one for one in request.withdrawn if one.done]
    return request.state in (None, State.OPEN) and not over and not over_elsewhere
