"""Events that steps became, and the history that checks judge.

A run and a recording have the same values. `Masked` is a text that was taken out of a record, with
what is still known of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import Self, TypeAlias

from assay.contract.model import Json
from assay.errors import Shortage
from assay.history.outcomes import (
    Accepted,
    Indeterminate,
    Item,
    Outcome,
    Rejected,
    Unavailable,
    Wire,
)
from assay.history.steps import Authorise, Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A dated thing below an owned one (a transaction), by its key."""

    key: str
    on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """One thing that a subject truly owns, as the world told us."""

    key: str
    resource: str
    traits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A call and what came of it. `at` is the target's clock as far as known.

    `ms` is how long the answer took, in milliseconds of real time.
    """

    n: int
    at: datetime
    call: Call
    outcome: Outcome
    wire: Wire
    ms: float = 0.0

    @property
    def accepted(self) -> bool:
        """Whether the target did what was asked."""
        return isinstance(self.outcome, Accepted)

    @property
    def refused(self) -> bool:
        """Whether the target said no, in either way; a failure is no refusal."""
        return isinstance(self.outcome, Rejected | Unavailable)

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that the answer carried, also those leaked by a refusal."""
        match self.outcome:
            case Accepted(items=items):
                return items or ()
            case Rejected(leaked=items) | Unavailable(leaked=items):
                return items
            case Indeterminate():
                return ()

    @property
    def item(self) -> Item | None:
        """The one thing that an accepted answer shows, if it shows one."""
        return self.items[0] if self.accepted and len(self.items) == 1 else None


class _Once:
    """Room for what is worked out of a value once; it is no part of the value."""

    __slots__ = ("_once",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(_Once):
    """Event: a subject exists, with all it owns. `now` is the target's clock.

    `fresh` says that nothing was ever done for it before this event: no consent
    is left from elsewhere, and no call of today is unknown to the history.
    """

    name: str
    now: datetime
    owns: tuple[Owned, ...]
    fresh: bool = True
    segment: str | None = None

    def of(self, resource: str, **traits: Json) -> tuple[Owned, ...]:
        """Return what is owned of a resource with exactly these traits."""
        return tuple(one for one in self.owns if one.resource == resource and one.traits == traits)

    def owned(self, key: object) -> Owned | None:
        """Return the owned thing with this key, if any."""
        found: Mapping[str, Owned] | None = getattr(self, "_once", None)
        if found is None:
            # Of several with one key the first.
            found = {one.key: one for one in reversed(self.owns)}
            object.__setattr__(self, "_once", found)
        return found.get(key) if isinstance(key, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """Event: the target's clock now stands at `now`."""

    now: datetime


class Ending(Enum):
    """How a customer's way through the screens ended."""

    CONFIRMED = "the request was signed"
    REFUSED = "the request was refused"
    DISCONNECTED = "the customer was disconnected"
    STOPPED = "the screens did not let the customer go on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorised:
    """Event: what became of a signature, numbered along with the exchanges.

    `offered` are the factors in the contract's words, None where nobody saw them, and
    `unspelt` those of them that the profile does not spell: they stand there as on the
    screens. `coded` says that the customer knew the code of the factor that was picked.
    `screens` are the kinds of screens that were filled in, in their order. `moments` are
    those at which the customer did something (opened a page, looked again, sent a form),
    the last being the end; `redirected` is where the browser was sent, off the screens.
    `wire` is the last page, without its body; `stuck` says that it leads nowhere.
    """

    n: int
    step: Authorise
    ending: Ending
    moments: tuple[datetime, ...]
    offered: tuple[str, ...] | None = None
    screens: tuple[str, ...] = ()
    redirected: str | None = None
    unspelt: tuple[str, ...] = ()
    coded: bool = False
    stuck: bool = False
    why: str = ""
    wire: Wire
    ms: float = 0.0

    @property
    def at(self) -> datetime:
        """When it ended."""
        return self.moments[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One request that was carried out, and as what: `fields` by the contract's names."""

    request: str
    on: date
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Event: what was carried out so far; None when the world cannot tell.

    What an event before it has told need not be told again.
    """

    now: datetime
    done: tuple[Effect, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """Event: since when the subject has known a value of an argument."""

    subject: str
    argument: str
    value: Json
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """Event: a customer's own cancellation, and whether it was taken."""

    subject: str
    request: str
    done: bool
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """Event: from now on this is a bank that does not offer a mode."""

    mode: str
    now: datetime


Event: TypeAlias = (
    Exchange | Subject | Advanced | Authorised | Effects | Registered | Withdrawn | Lacking
)
Reply: TypeAlias = Event


@dataclass(frozen=True, slots=True, kw_only=True)
class History(_Once):
    """Events in the order in which they happened."""

    events: tuple[Event, ...] = ()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Only the exchanges."""
        # Every check of a contract asks for them, of one and the same history.
        found: tuple[Exchange, ...] | None = getattr(self, "_once", None)
        if found is None:
            found = tuple(event for event in self.events if isinstance(event, Exchange))
            object.__setattr__(self, "_once", found)
        return found

    @property
    def subjects(self) -> dict[str, Subject]:
        """The subjects by name."""
        return {event.name: event for event in self.events if isinstance(event, Subject)}


class Masked(str):
    """Stands for a private text; `forms` are the formats that the text itself had.

    Equal to another one if the texts were the same. Its own letters mean nothing.
    """

    __slots__ = ("forms",)

    forms: frozenset[str]

    def __new__(cls, text: str, forms: Collection[str] = ()) -> Self:
        """Make one of a pseudonym."""
        made = super().__new__(cls, text)
        made.forms = frozenset(forms)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRun:
    """The history of one probe, and what stopped it before its end, if anything did.

    `shortage` is set if another day would let it go on.
    """

    history: History
    stopped: str = ""
    shortage: Shortage | None = None
