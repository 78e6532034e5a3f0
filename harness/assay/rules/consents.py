"""Consents in a history: which are certainly in force at a point of it, and which may be.

A consent is in force from its transmission, or, where the contract says that it is made and
signed like a request, from its signature. One whose answer was a server error may have been
accepted all the same, and where the document is silent, a later consent may or may not have
replaced an earlier one, and a list may show everything or only what is consented to. A check
reports only violations that are certain: not lists that a consent may narrow, nor refusals that a
missing consent may explain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Self

from assay.contract.model import Contract, Json, Operation
from assay.history import (
    Authorised,
    Call,
    Decision,
    Ending,
    Event,
    Exchange,
    History,
    State,
    Subject,
)
from assay.rules.queries import PageWalk, plain
from assay.rules.state.calendar import dates, day_of

NONE: frozenset[str] = frozenset()
#: Why no consent can be narrower, or missing.
GIVEN = "the consent is given with the token, and covers everything that the customer owns"
#: Why a missing consent of a subject with a past is not certain.
EARLIER = "but a consent from before this history may still be in force"


def consented_keys(call: Call, grant: Operation) -> frozenset[str]:
    """Return the keys of the things that a call consents to."""
    listed = call.arguments.get(grant.grants or "")
    return (
        frozenset(map(str, listed))
        if isinstance(listed, list | tuple)
        else frozenset({listed})
        if isinstance(listed, str)
        else NONE
    )


def lists_keys(call: Call, grant: Operation) -> bool:
    """Whether a consent lists keys alone, each once: what else it holds may make it void."""
    listed = call.arguments.get(grant.grants or "")
    if not isinstance(listed, list | tuple) or not listed:
        return False
    return all(isinstance(key, str) for key in listed) and len(set(map(str, listed))) == len(listed)


def names_each_once(call: Call, grant: Operation) -> bool:
    """Whether a consent is a list of keys, each of them once."""
    listed = call.arguments.get(grant.grants or "")
    return isinstance(listed, list | tuple) and len(consented_keys(call, grant)) == len(listed)


def ends_consent(contract: Contract, grant: Operation, call: Call) -> bool:
    """Whether a call ends a consent that is made by an operation."""
    operation = contract.operations.get(call.operation)
    return operation is not None and bool(operation.ends) and operation.ends == grant.makes


def last_day(call: Call, grant: Operation) -> date | None:
    """Return the last day of a consent, if the call that makes it says one."""
    return day_of(call.arguments.get(grant.until or ""))


def confirmed(event: Authorised) -> bool:
    """Whether the customer certainly signed, with everything typed in correctly."""
    step = event.step
    own = step.right and not step.by and step.decision is Decision.CONFIRM
    return own and event.ending is Ending.CONFIRMED


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeConsent:
    """A consent that was made, and is to be signed.

    `sound` says that it lists nothing but keys, `seen` that every signature of its customer is in
    the history. `arguments` are those of the call that made it.
    """

    key: str
    subject: str
    keys: frozenset[str]
    sound: bool
    seen: bool
    until: date | None
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(slots=True, kw_only=True)
class Consents:
    """The state of all consents at a point of a history; `note` advances it.

    Only what the last consent names is certain: it may have replaced earlier ones. One that comes
    with the customer's token covers everything that the customer owns. Of consents
    that are signed, calls name the last one that was made: nothing is certain until that is signed.
    """

    grant: Operation | None
    contract: Contract | None = None
    _certain: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    _possible: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _given: set[str] = field(default_factory=set[str])
    _made: dict[str, MadeConsent] = field(default_factory=dict[str, MadeConsent])
    _last: dict[str, MadeConsent] = field(default_factory=dict[str, MadeConsent])
    _last_by: dict[tuple[str, str], MadeConsent] = field(
        default_factory=dict[tuple[str, str], MadeConsent]
    )
    _opened: dict[str, MadeConsent] = field(default_factory=dict[str, MadeConsent])
    _subjects: set[str] = field(default_factory=set[str])
    _between: Mapping[int, Sequence[Event]] = field(default_factory=dict[int, Sequence[Event]])

    @classmethod
    def of(cls, contract: Contract, grant: Operation | None, history: History) -> Self:
        """Return the state before a history, of which only the exchanges will be noted."""
        if grant is not None and grant.given:
            own = {name: subject.owns for name, subject in history.subjects.items()}
            keys = {name: frozenset(each.key for each in owns) for name, owns in own.items()}
            return cls(grant=None, contract=contract, _certain=keys, _given={*keys})
        between: dict[int, Sequence[Event]] = {}
        if grant is not None and grant.makes:
            waiting: list[Event] = []
            for event in history.events:
                if isinstance(event, Authorised | Subject):
                    waiting.append(event)
                elif isinstance(event, Exchange) and waiting:
                    between[event.n], waiting = waiting, []
        return cls(grant=grant, contract=contract, _between=between)

    def note(self, event: Event) -> bool:
        """Process an event; return whether it may have changed a consent."""
        grant = self.grant
        if grant is None:
            return False
        match event:
            case Exchange():
                earlier = [self.note(each) for each in self._between.get(event.n, ())]
                noted = self._about(event, grant) if grant.makes else self._given_by(event, grant)
                return noted or any(earlier)
            case Authorised():
                return self._signed(event)
            case Subject(name=name):
                self._subjects.add(name)
            case _:
                pass
        return False

    def _given_by(self, exchange: Exchange, grant: Operation) -> bool:
        """Process an exchange where a consent is in force as soon as it is accepted."""
        call = exchange.call
        if call.operation != grant.id or exchange.refused:
            return False
        keys, name = consented_keys(call, grant), call.subject
        sure = self.certain(name)
        taken = exchange.accepted and plain(call) and lists_keys(call, grant)
        self._certain[name] = keys if taken else keys & sure
        self._perhaps(name, keys)
        return True

    def _perhaps(self, name: str, keys: frozenset[str]) -> None:
        self._possible.setdefault(name, set()).update(keys)
        self._given.add(name)

    # -- consents that are made and signed -------------------------------------------
    def _about(self, exchange: Exchange, grant: Operation) -> bool:
        """Process an exchange where a consent is made, signed, shown and ended."""
        call = exchange.call
        if call.operation == grant.id:
            return exchange.accepted and self._make(exchange, grant)
        current = self._last.get(call.subject)
        if current and current.until and self._latest(exchange) > current.until:
            self._certain[current.subject] = NONE
        operation = self.contract.operations.get(call.operation) if self.contract else None
        if operation is None or operation.request != grant.makes:
            return False
        made = self._made.get(str(call.arguments.get(operation.about or "")))
        state = exchange.item.state if exchange.item else None
        if made is None:
            return False
        if state is State.VALID:
            self._authorised(made)
        elif state in {State.ENDED, State.REJECTED} or (operation.ends and not exchange.refused):
            self._over(made, ended=bool(operation.ends) and exchange.accepted)
        return bool(state) or operation.writes

    def _latest(self, exchange: Exchange) -> date:
        return dates(exchange.at, self.contract.zone if self.contract else None)[-1]

    def _make(self, exchange: Exchange, grant: Operation) -> bool:
        """Process an answer that made a consent."""
        call, item = exchange.call, exchange.item
        keys = consented_keys(call, grant)
        self._certain[call.subject] = NONE
        if item is None or item.key is None:
            self._perhaps(call.subject, keys)
            self._last.pop(call.subject, None)
            self._last_by.pop((call.subject, call.by), None)
            return True
        made = MadeConsent(
            key=item.key,
            subject=call.subject,
            keys=keys,
            sound=plain(call) and lists_keys(call, grant),
            seen=call.subject in self._subjects,
            until=last_day(call, grant),
            arguments=call.arguments,
        )
        self._made[made.key] = self._last[call.subject] = made
        self._last_by[call.subject, call.by] = made
        if not made.seen:
            # A recording of the interface does not show who signs.
            self._may_apply(made)
        if item.state is State.VALID:
            self._authorised(made)
        return True

    def _signed(self, event: Authorised) -> bool:
        made = self._made.get(event.step.request)
        if made is None:
            return False
        if confirmed(event):
            self._authorised(made)
            return True
        self._over(made, ended=False)  # a bank may end it after a wrong entry
        if not event.ending.declines:
            self._may_apply(made)
        return True

    def _may_apply(self, made: MadeConsent) -> None:
        """Process that a consent may be in force."""
        self._opened[made.key] = made
        self._given.add(made.subject)

    def _authorised(self, made: MadeConsent) -> None:
        """Process that a consent is in force."""
        name = made.subject
        self._may_apply(made)
        if self._last.get(name) != made:
            # It may have replaced the last one that was made.
            self._certain[name] = NONE
        elif made.sound:
            self._certain[name] = made.keys

    def _over(self, made: MadeConsent, *, ended: bool) -> None:
        """Process that a consent may be over; where the TPP `ended` it, it opens nothing any more."""
        if self._last.get(made.subject) == made:
            self._certain[made.subject] = NONE
        if ended:
            self._opened.pop(made.key, None)

    # -- what is in force ------------------------------------------------------------
    def used(self, call: Call) -> MadeConsent | None:
        """Return the consent that a call uses: the one that it names, or its caller's last.

        A call in the customer's name uses the one that was made last, by whichever TPP.
        """
        if call.consent is not None:
            return self._made.get(call.consent)
        operation = self.contract.operations.get(call.operation) if self.contract else None
        if operation is not None and not operation.by_tpp and not call.by:
            return self._last.get(call.subject)
        return self._last_by.get((call.subject, call.by))

    def perhaps_given(self, subject: str) -> bool:
        """Whether a subject may have given a consent, if only one that names nothing."""
        return subject in self._given

    def certain(self, subject: str) -> frozenset[str]:
        """Return what a subject's consent certainly covers."""
        return self._certain.get(subject, NONE)

    def covers(self, operation: Operation, call: Call) -> bool:
        """Whether the caller certainly consented to what a call is about, where needed."""
        key = str(call.arguments.get(operation.about or ""))
        return not operation.about or not self.grant or key in self.certain(call.subject)

    def possible(self, subject: str) -> AbstractSet[str]:
        """Return what a subject's consent may cover."""
        perhaps = self._possible.get(subject, NONE)
        made = [each.keys for each in self._opened.values() if each.subject == subject]
        return perhaps.union(*made) if made else perhaps


# -- what consents explain ----------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedLists:
    """To what each list of a history may be narrowed by a consent; see `of`."""

    narrowed: Mapping[int, frozenset[str]]

    @classmethod
    def read(cls, contract: Contract, history: History, grant: Operation | None) -> NarrowedLists:
        """Follow the consents of a history; without an operation that consents there are none."""
        narrowed: dict[int, frozenset[str]] = {}
        consents, lasting = Consents(grant=grant, contract=contract), set[str]()
        for event in history.events if grant else ():
            consents.note(event)
            if isinstance(event, Subject):
                lasting |= set[str]() if event.fresh else {event.name}
            elif isinstance(event, Exchange):
                name = event.call.subject
                if name in lasting or consents.perhaps_given(name):
                    narrowed[event.n] = consents.certain(name)
        return cls(narrowed=narrowed)

    def of(self, walk: PageWalk) -> frozenset[str] | None:
        """Return the keys that a list must have in spite of consents; None if none can narrow it.

        After a consent a target may list everything, or what is consented to. A customer who was
        there before the history may have consented to anything.
        """
        seen = [self.narrowed[page.n] for page in walk.pages if page.n in self.narrowed]
        return frozenset[str].intersection(*seen) if seen else None


def without_unconsented(contract: Contract, history: History) -> History:
    """Return a history without the refusals that a missing consent may explain.

    They are refusals of operations that the contract serves under a consent only, to callers who
    may have had none: they show a check nothing that is not about consents.
    """
    return history.once("consented", contract, partial(_without_unconsented, contract, history))


def _without_unconsented(contract: Contract, history: History) -> History:
    makers = {
        operation.id: contract.operations[operation.consent]
        for operation in contract.operations.values()
        if operation.consent
    }
    if not makers:
        return history
    left_out: set[int] = set()
    for maker in {each.id: each for each in makers.values()}.values():
        consents = Consents.of(contract, maker, history)
        for exchange in history.exchanges:
            consents.note(exchange)
            call = exchange.call
            if exchange.refused and makers.get(call.operation) == maker:
                certain = consents.certain(call.subject) and call.consent is None
                left_out |= set() if certain else {exchange.n}
    if not left_out:
        return history
    events = (
        event
        for event in history.events
        if not (isinstance(event, Exchange) and event.n in left_out)
    )
    return History(events=tuple(events))
