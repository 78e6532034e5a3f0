"""Uses of consents in a history: each access with the consent that it used, and each reading of one.

A consent is a request whose maker also grants. An access uses the consent that it names, or the
last one that was made for its customer. What can be said of a consent at that moment is whether it
was signed, refused or ended before, and whether a later one was signed. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum

from assay.contract.model import Operation
from assay.history import Accepted, Call, Ending, Exchange, History, Owned, State
from assay.rules.consents import confirmed, consented_keys, last_day, lists_keys
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Tracker
from assay.rules.queries import plain
from assay.rules.state.calendar import dates


class ConsentPhase(Enum):
    """What the customer did with a consent, as far as a history shows it."""

    UNSIGNED = "it is not signed"
    DECLINED = "the customer refused it"
    AUTHORISED = "it is signed"
    UNKNOWN = "it may be signed"


#: The phases in which a consent may open something.
_PERHAPS_OPEN = frozenset({ConsentPhase.AUTHORISED, ConsentPhase.UNKNOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentAt:
    """A consent at a moment: its phase, the exchange that ended it, and the consents around it.

    `former` are the consents of the same customer and TPP that were made and signed before it,
    `later` those after it, both without those that the TPP ended. `fresh` says that the customer had none before the history, and `perhaps_over` that
    its last day, `until`, may be over.
    """

    instance: Instance
    phase: ConsentPhase
    ended: Exchange | None
    former: tuple[ConsentPhase, ...]
    later: tuple[ConsentPhase, ...]
    fresh: bool
    until: date | None
    perhaps_over: bool

    @property
    def replaced(self) -> bool:
        """Whether a later consent of the same customer is certainly signed."""
        return ConsentPhase.AUTHORISED in self.later

    @property
    def perhaps_replaced(self) -> bool:
        """Whether a later consent of the same customer may be signed."""
        return self.replaced or ConsentPhase.UNKNOWN in self.later

    @property
    def signed(self) -> bool:
        """Whether it is certainly signed, and not ended."""
        return self.phase is ConsentPhase.AUTHORISED and self.ended is None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the exchanges and signatures that say so."""
        signings = (each.n for each in self.instance.signings)
        ends = (self.ended.n,) if self.ended else ()
        return (self.instance.made.n, *signings, *ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentUse:
    """A read of what a consent covers, or of the consent itself (`shows_consent`).

    `owned` is what a call is about, and None where it is about nothing. `others` are the consents
    that may have opened what was read as well, and `foreign` says that the consent is that of
    another customer, who does not own it.
    """

    exchange: Exchange
    consent: ConsentAt
    owned: Owned | None
    others: tuple[Instance, ...] = ()
    foreign: bool = False
    shows_consent: bool = False

    @property
    def alone(self) -> bool:
        """Whether no other consent can have opened what was read."""
        return not self.others

    @property
    def state(self) -> State | None:
        """The state that is shown."""
        return self.exchange.item.state if self.exchange.item and self.shows_consent else None


def uses(
    lifecycle: Lifecycle, operation: Operation, history: History, *, ranged: bool = False
) -> Iterator[ConsentUse]:
    """Yield each use of a consent, in order; `ranged` adds reads from a day on.

    A call can be refused for its number without the customer: only those with the customer are
    uses, and of several pages the first.
    """
    named = {operation.about, operation.since} if ranged else {operation.about}
    tracker = Tracker(lifecycle=lifecycle)
    for event in history.events:
        noted = tracker.note(event)
        if not isinstance(event, Exchange):
            continue
        if noted is not None and lifecycle.read and event.call.operation == lifecycle.read.id:
            consent = _at(noted, event, tracker)
            yield ConsentUse(exchange=event, consent=consent, owned=None, shows_consent=True)
        elif _is_of(event.call, operation, named) and event.call.present and not event.call.follow:
            yield from _access(event, operation, tracker)


def shown_uses(
    lifecycle: Lifecycle, operation: Operation, history: History
) -> Iterator[ConsentUse]:
    """Yield each use of a consent by an answer with items, in order: all pages, whoever is there.

    A further page is one only under the consent of the page before it.
    """
    named = {operation.about, operation.since, operation.until}
    tracker, pages = Tracker(lifecycle=lifecycle), dict[tuple[str, str], Instance]()
    for event in history.events:
        tracker.note(event)
        outcome = event.outcome if isinstance(event, Exchange) else None
        if not isinstance(event, Exchange) or not isinstance(outcome, Accepted):
            continue
        call = event.call
        if not _is_of(call, operation, named):
            continue
        for use in _access(event, operation, tracker):
            consent = use.consent.instance
            if call.follow and pages.get((call.subject, call.follow)) is not consent:
                continue
            if outcome.next:
                pages[call.subject, outcome.next] = consent
            if event.items:
                yield use


def _is_of(call: Call, operation: Operation, named: Collection[str | None]) -> bool:
    """Whether a call is of an operation, and has none but the named arguments."""
    return call.operation == operation.id and all(name in named for name in call.arguments)


def _access(exchange: Exchange, operation: Operation, tracker: Tracker) -> Iterator[ConsentUse]:
    """Yield the use of a consent by a plain call, about what the customer owns and consented to.

    A call that is about nothing is one about everything that the consent covers.
    """
    call, subject = exchange.call, tracker.subjects.get(exchange.call.subject)
    owned = subject.owned(call.arguments.get(operation.about or "")) if subject else None
    bare = not (call.without or call.malformed or call.mode)
    if subject is None or not (bare and call.own_token) or (operation.about and owned is None):
        return
    about = owned.key if owned else None
    other = tracker.find(call.consent) if call.consent else None
    if other is not None and other.made.call.subject != call.subject:
        theirs = tracker.subjects.get(other.made.call.subject)
        if theirs is not None and (about is None or theirs.owned(about) is None):
            consent = _at(other, exchange, tracker)
            yield ConsentUse(exchange=exchange, consent=consent, owned=owned, foreign=True)
        return
    any_tpp = not operation.by_tpp and not call.by
    mine = [each for each in tracker.requests if _of(each, call, any_tpp=any_tpp)]
    named = [each for each in mine if each.key == call.consent] if call.consent else mine[-1:]
    grant = tracker.lifecycle.create
    for each in named:
        keys = consented_keys(each.made.call, grant)
        if keys if about is None else about in keys:
            others = () if call.consent else (one for one in _in_force(mine) if one is not each)
            opening = tuple(one for one in others if _phase(one, tracker) in _PERHAPS_OPEN)
            yield ConsentUse(
                exchange=exchange,
                consent=_at(each, exchange, tracker),
                owned=owned,
                others=opening,
            )


def _of(instance: Instance, call: Call, *, any_tpp: bool = False) -> bool:
    """Whether a consent was made, and for the customer and the TPP of a call.

    `any_tpp` is true for a call in the customer's name, which uses the consent that was made last.
    """
    own = instance.made.call.subject == call.subject
    own = own and (any_tpp or instance.made.call.by == call.by)
    return own and instance.made.accepted and instance.key is not None


def _in_force(consents: Sequence[Instance]) -> list[Instance]:
    """Return the consents that the TPP did not end."""
    return [each for each in consents if not any(end.accepted for end in each.ends)]


def _is_after(other: Instance, instance: Instance) -> bool:
    """Whether another consent was made, or signed, after one was."""
    first = min((each.n for each in instance.signings), default=None)
    signed_later = first is not None and any(each.n > first for each in other.signings)
    return other.made.n > instance.made.n or signed_later


def _at(instance: Instance, exchange: Exchange, tracker: Tracker) -> ConsentAt:
    """Return a consent at the moment of an exchange."""
    made, subject = instance.made, tracker.subjects.get(instance.made.call.subject)
    mine = [each for each in tracker.requests if _of(each, made.call)]
    others = [each for each in _in_force(mine) if each is not instance]
    after = {id(each) for each in others if _is_after(each, instance)}
    until = last_day(made.call, tracker.lifecycle.create)
    today = dates(exchange.at, tracker.lifecycle.contract.zone)[-1]
    return ConsentAt(
        instance=instance,
        phase=_phase(instance, tracker),
        ended=next((end for end in instance.ends if not end.refused), None),
        former=tuple(_phase(each, tracker) for each in others if id(each) not in after),
        later=tuple(_phase(each, tracker) for each in others if id(each) in after),
        fresh=subject is not None and subject.fresh,
        until=until,
        perhaps_over=until is not None and today > until,
    )


def _phase(instance: Instance, tracker: Tracker) -> ConsentPhase:
    """Return what the customer certainly did with a consent."""
    call, grant = instance.made.call, tracker.lifecycle.create
    if any(map(confirmed, instance.signings[-1:])):  # another entry may have ended it since
        return (
            ConsentPhase.AUTHORISED
            if plain(call) and lists_keys(call, grant)
            else ConsentPhase.UNKNOWN
        )
    if any(each.ending is not Ending.REFUSED for each in instance.signings):
        return ConsentPhase.UNKNOWN
    if instance.signings:
        return ConsentPhase.DECLINED
    # A recording of the interface does not show who signs.
    return ConsentPhase.UNSIGNED if call.subject in tracker.subjects else ConsentPhase.UNKNOWN
