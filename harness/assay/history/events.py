"""Events, which are the results of steps, and the history that checks judge.

A run and a recording have the same values. `Masked` is a private text of a record, with what is
still known about it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import Self, TypeAlias, TypeVar

from assay.contract.model import Json
from assay.errors import Shortage
from assay.history.outcomes import (
    Accepted,
    DocumentRemark,
    ErrorBody,
    Indeterminate,
    Item,
    Outcome,
    Rejected,
    Unavailable,
    Wire,
)
from assay.history.steps import Authorise, Call

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A dated thing below an owned one (a transaction), by its key."""

    key: str
    on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """One thing that a subject owns, according to the fixture provider.

    `id` is the target's own name of it, where calls need that and a list may not show it.
    """

    key: str
    resource: str
    traits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    entries: tuple[Entry, ...] = ()
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A value of an argument (a creditor) that a subject registered earlier, and when.

    If the moment is not known exactly, `since` is the first possible one and `latest` the last.
    """

    argument: str
    value: Json
    since: datetime
    latest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of an answer in the words of the contract, or a header.

    `feature` is the binding feature that locates it, `error` or `header`; `name` says which field,
    value, header or link is meant. `place` is that of its item, or error, among those of the answer.
    """

    feature: str
    name: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """A call with its outcome. `at` is the target's clock, as far as it is known.

    `ms` is the duration of the call, in milliseconds of real time. `confounded` says why a
    varied call shows nothing: as sent, it differs from its control in more than the variation.
    `documented` is what the bank's own OpenAPI document says of the answer.
    """

    n: int
    at: datetime
    call: Call
    outcome: Outcome
    wire: Wire
    ms: float = 0.0
    confounded: str = ""
    documented: tuple[DocumentRemark, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the target accepted the call."""
        return isinstance(self.outcome, Accepted)

    @property
    def refused(self) -> bool:
        """Whether the target refused the call, in either way; a failure is not a refusal."""
        return isinstance(self.outcome, Rejected | Unavailable)

    @property
    def early(self) -> bool:
        """Whether a refusal may be of something in front of the application, and so of any form."""
        return isinstance(self.outcome, Rejected | Unavailable) and self.outcome.early

    @property
    def items(self) -> tuple[Item, ...]:
        """The items in the response, also those leaked by a refusal."""
        match self.outcome:
            case Accepted(items=items):
                return items or ()
            case Rejected(leaked=items) | Unavailable(leaked=items):
                return items
            case Indeterminate():
                return ()

    @property
    def error(self) -> ErrorBody | None:
        """The errors in the body of a refusal; None if there is none, or they cannot be located."""
        return self.outcome.error if isinstance(self.outcome, Rejected | Unavailable) else None

    @property
    def item(self) -> Item | None:
        """The single item of an accepted response, if it has one."""
        return self.items[0] if self.accepted and len(self.items) == 1 else None

    def member(self, feature: str, name: str = "") -> Member:
        """Return a member of the answer, or of the first error in it."""
        return Member(feature=feature, name=name)

    def member_of(self, item: object, feature: str, name: str = "") -> Member | None:
        """Return a member of this item or error, not of another one that is equal to it."""
        every = self.error.errors if feature == "error" and self.error else self.items
        places = (n for n, each in enumerate(every) if each is item)
        return next((Member(feature=feature, name=name, place=n) for n in places), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(AnsweredCall):
    """Event: a call of an operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted(AnsweredCall):
    """Event: the submission of a `request`, named by its key; it is no call of an operation.

    `call` is the one that made the request: a submission says the same. If not, `call` has what it says.
    """

    request: str


class Cached:
    """A slot for what is computed from a value once; it is not part of the value."""

    __slots__ = ("_cache",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(Cached):
    """Event: a subject exists, with everything it owns. `now` is the target's clock.

    `fresh` says that nothing happened to it before this event: there is no earlier
    consent, and no call of today that the history does not have. `identity` is the customer's
    own name, empty if the fixture does not have it. `registrations` are all that it registered
    before, None if that is not known.
    """

    name: str
    now: datetime
    owns: tuple[Owned, ...]
    fresh: bool = True
    segment: str | None = None
    identity: str = ""
    registrations: tuple[Registration, ...] | None = None

    def of(self, resource: str, **traits: Json) -> tuple[Owned, ...]:
        """Return what is owned of a resource with exactly these traits."""
        return tuple(
            owned for owned in self.owns if owned.resource == resource and owned.traits == traits
        )

    def owned(self, key: object) -> Owned | None:
        """Return the owned thing with this key, if any."""
        by_key: Mapping[str, Owned] | None = getattr(self, "_cache", None)
        if by_key is None:
            # Of several things with one key, the first counts.
            by_key = {owned.key: owned for owned in reversed(self.owns)}
            object.__setattr__(self, "_cache", by_key)
        return by_key.get(key) if isinstance(key, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """Event: the target's clock was moved to `now`."""

    now: datetime


class Ending(Enum):
    """How the customer's way through the SCA screens ended."""

    CONFIRMED = "the request was signed"
    REFUSED = "the request was refused"
    DISCONNECTED = "the customer was disconnected"
    STOPPED = "the screens did not let the customer go on"
    LEFT = "the customer left the screens, of which the bank may not know"

    @property
    def declines(self) -> bool:
        """Whether the customer surely signed nothing, by refusing or by going away."""
        return self in {Ending.REFUSED, Ending.LEFT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorised:
    """Event: the result of a signature, numbered along with the exchanges.

    `offered` are the factors in the contract's words, None if they were not seen, and
    `unspelt` those that the target file does not spell, as they are on the screens; `anonymous` says
    that they were offered before a login, when the bank need not know to whom.
    `coded` says that the code of the chosen factor is known. `screens` are the kinds of
    screens that were filled in, in order. `moments` are the instants of the customer's
    actions (opened a page, looked again, sent a form), the last one being the end;
    `redirected` is the address to which the browser was sent from the screens. `wire` is
    the last page, without its body; `stuck` says that it leads nowhere. `reopened` says that the link
    was opened once more, where the first screen was loaded again. `adds` are the query
    parameters that the target adds to the address, None where its file does not say.
    """

    n: int
    step: Authorise
    ending: Ending
    moments: tuple[datetime, ...]
    offered: tuple[str, ...] | None = None
    screens: tuple[str, ...] = ()
    redirected: str | None = None
    adds: tuple[str, ...] | None = None
    unspelt: tuple[str, ...] = ()
    anonymous: bool = False
    coded: bool = False
    stuck: bool = False
    reopened: bool = False
    why: str = ""
    wire: Wire
    ms: float = 0.0

    @property
    def at(self) -> datetime:
        """When it ended."""
        return self.moments[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A request that was executed, with its `fields` by the contract's names."""

    request: str
    on: date
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Event: what was executed so far; None if the fixture provider cannot tell.

    Effects that an earlier event has may be left out.
    """

    now: datetime
    done: tuple[Effect, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """Event: since when a value of an argument is registered for the subject.

    If the moment is not known exactly, `since` is the first possible one and `latest` the last.
    """

    subject: str
    argument: str
    value: Json
    since: datetime
    latest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """Event: a customer's own cancellation, and whether it was accepted."""

    subject: str
    request: str
    done: bool
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """Event: whether the token of later calls is a new one.

    It is not (`done`) where a token endpoint gave nothing to renew it with.
    """

    subject: str
    operation: str
    by: str = ""
    done: bool
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """Event: from now on, the target is a bank that does not offer a mode, if one is named.

    `bank` is its name in the target file, if it is there, or the scope statement that excludes it.
    """

    mode: str
    bank: str = ""
    now: datetime


Event: TypeAlias = (
    Exchange
    | Subject
    | Advanced
    | Authorised
    | Submitted
    | Effects
    | Registered
    | Withdrawn
    | Renewed
    | Lacking
)
Reply: TypeAlias = Event


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Cached):
    """Events in the order in which they happened."""

    events: tuple[Event, ...] = ()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Only the exchanges."""
        return self.once("exchanges", None, self._exchanges)

    def _exchanges(self) -> tuple[Exchange, ...]:
        return tuple(event for event in self.events if isinstance(event, Exchange))

    @property
    def answered(self) -> Mapping[int, AnsweredCall]:
        """The exchanges and the submissions, by number."""
        return self.once("answered", None, self._answered)

    def _answered(self) -> Mapping[int, AnsweredCall]:
        return {event.n: event for event in self.events if isinstance(event, AnsweredCall)}

    def once(self, what: str, about: object, compute: Callable[[], T]) -> T:
        """Return what is computed from the history, and from a value that it is `about`, once.

        Every check of a contract asks the same of the same history. `about` is compared by identity.
        """
        known: dict[tuple[str, int], tuple[object, T]] | None = getattr(self, "_cache", None)
        if known is None:
            known = {}
            object.__setattr__(self, "_cache", known)
        key = (what, id(about))
        if key not in known:
            known[key] = about, compute()
        return known[key][1]

    @property
    def subjects(self) -> dict[str, Subject]:
        """The subjects by name."""
        return {event.name: event for event in self.events if isinstance(event, Subject)}


class Masked(str):
    """A pseudonym in place of a private text; `forms` are the formats that the text had.

    Two are equal if the texts were the same. The characters themselves mean nothing.
    """

    __slots__ = ("forms",)

    forms: frozenset[str]

    def __new__(cls, text: str, forms: Collection[str] = ()) -> Self:
        """Return a pseudonym with the formats of the private text."""
        masked = super().__new__(cls, text)
        masked.forms = frozenset(forms)
        return masked

    def means(self, other: str) -> bool:
        """Whether the private texts mean the same, whatever their spelling."""
        return self.partition("~~")[0] == other.partition("~~")[0]

    def may_spell(self, other: str) -> bool:
        """Whether the private texts may be two spellings of one value: they share a pseudonym."""
        return self.partition("~")[0] == other.partition("~")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRun:
    """The history of one probe, and what stopped it before its end, if anything did.

    `shortage` is set if another day would let it go on.
    """

    history: History
    stopped: str = ""
    shortage: Shortage | None = None
