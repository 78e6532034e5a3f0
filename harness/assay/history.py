"""What happened: steps a probe asks for, and the events they became.

A probe yields `Step`s; the driver performs them and records `Event`s; a check
sees a `History` and nothing else. The same values come from a sandbox run, a
live run and a recorded file. No I/O, no clock and no judgement here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import Enum
from typing import TypeAlias

from assay.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A request for `count` things of a resource, in a state, with dated entries.

    `entries` None leaves the choice to the world; each date makes one entry.
    """

    resource: str
    count: int = 1
    traits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    entries: tuple[date, ...] | None = ()


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
class Arrange:
    """Step: bring a subject into being, called `subject` in this script.

    `segment` is the kind of customer, in the contract's words; None for any that is served.
    """

    subject: str
    holdings: tuple[Holding, ...]
    segment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Step: move the target's clock to an instant (aware); None only reads it."""

    to: datetime | None = None


class Malformed(Enum):
    """Ways to break a request on purpose; how each looks is the encoder's matter."""

    BAD_IDENTIFIER = "an identifier of the wrong alphabet"
    LONG_IDENTIFIER = "an identifier of 10,000 characters"
    CONTROL_IDENTIFIER = "an identifier with control characters"
    JUNK_QUERY = "a query that makes no sense"
    NOT_JSON = "a body that is not JSON"
    TRUNCATED = "a body that is cut short"
    WRONG_TYPES = "a body with every type wrong"
    EMPTY = "an empty body"
    DEEP = "a body nested 100 levels deep"
    SCALAR = "a body that is a bare string"
    HUGE = "a body of two million bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Step: call an operation for a subject.

    `alias` picks another path of the same method; `follow` turns to the page
    that a former answer named; `present` says that the customer is there.
    `without` are arguments that are left out, `varied` those that take the other
    value that the profile has for them. `by` names the provider who calls, where
    there is more than one; `host` picks another of the target's hosts. `deviation` says in words what sets this call apart from its accepted
    control; empty for the control itself.
    """

    operation: str
    subject: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    present: bool = True
    alias: int | None = None
    follow: str | None = None
    mode: str | None = None
    credentials: bool = False
    malformed: Malformed | None = None
    without: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()
    by: str = ""
    host: int | None = None
    deviation: str = ""


class Code(Enum):
    """What is typed in where a factor's code is asked for."""

    RIGHT = "the right code"
    WRONG = "a code that is not right"
    HALF = "the first half of the right code"
    EMPTY = "no code at all"


class Decision(Enum):
    """What a customer says to a request, having seen it."""

    CONFIRM = "confirm"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorise:
    """Step: the customer signs a request, or refuses it, on the target's own screens.

    `request` is its key and `approval` the link that its answer gave. `factor` is one
    of the contract's words, None for any that is offered. `by` names another customer
    who signs instead, and `code` says what is typed in as the code. `pace` is waited
    before each screen is filled in; at the screen of the decision each of `linger` is
    waited, with a look at the screen after all but the last. `spoof` is an address that
    the form asks to be sent to, in a field that the screen does not have.
    """

    subject: str
    request: str
    approval: str | None
    decision: Decision = Decision.CONFIRM
    factor: str | None = None
    by: str = ""
    code: Code = Code.RIGHT
    pace: timedelta = timedelta(0)
    linger: tuple[timedelta, ...] = ()
    spoof: str = ""
    deviation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquire:
    """Step: ask the world, not the interface, which requests were carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """Step: the subject has known `value` of `argument` (a creditor) for so long.

    None for the value takes the one that the profile gives for the argument.
    """

    subject: str
    operation: str
    argument: str
    age: timedelta
    value: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Step: the customer cancels a request by himself, elsewhere than at the provider."""

    subject: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """Step, before all others: go to a bank of the target that does not offer a mode."""

    mode: str


Step: TypeAlias = Arrange | Advance | Call | Authorise | Inquire | Register | Withdraw | Lack


class State(Enum):
    """Where a request stands, in the four words that rules know."""

    OPEN = "open"
    DONE = "done"
    REJECTED = "rejected"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One element of an answer's list, or the one thing that the answer shows.

    `fields` are by the contract's names; `on` is its date and `state` where it stands,
    where the target says so and the profile knows where and how.
    """

    resource: str | None = None
    key: str | None = None
    on: date | None = None
    state: State | None = None
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The target did what was asked. `items` is None when nothing is listed.

    `approval` is the link to the screens where the customer signs.
    """

    items: tuple[Item, ...] | None = None
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    next: str | None = None
    approval: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The target refused; `leaked` are items found in the refusal all the same."""

    leaked: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """The target says that it does not offer this at all."""

    leaked: tuple[Item, ...] = ()


class Cause(Enum):
    """Why an answer says nothing of the contract, and so whom to ask."""

    SERVER = "the target failed"
    TRANSPORT = "no answer came"
    BINDING = "the profile does not know this answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Indeterminate:
    """Nobody can tell what the target did."""

    cause: Cause
    why: str


Outcome: TypeAlias = Accepted | Rejected | Unavailable | Indeterminate


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What went over the wire, for the record and for judging well-formedness.

    Bodies are bytes as sent and received (bounded by the client); `status` 0
    means that no answer came.
    """

    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...] = ()
    request_body: bytes = b""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    truncated: bool = False
    links: tuple[str, ...] = ()

    @property
    def media_type(self) -> str:
        """The declared media type in lower case without parameters, or ''."""
        for name, value in self.headers:
            if name.lower() == "content-type":
                return value.partition(";")[0].strip().lower()
        return ""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
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
        return next((one for one in self.owns if one.key == key), None)


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

    `offered` are the factors in the contract's words, None where nobody saw them;
    `screens` the kinds of screens that were filled in, in their order. `moments` are
    those at which the customer did something, the last being the end; `redirected` is
    where the browser was sent, off the screens. `wire` is the last page, without its body.
    """

    n: int
    step: Authorise
    ending: Ending
    moments: tuple[datetime, ...]
    offered: tuple[str, ...] | None = None
    screens: tuple[str, ...] = ()
    redirected: str | None = None
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
    """Event: everything that was carried out so far; None when the world cannot tell."""

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
class History:
    """Events in the order in which they happened."""

    events: tuple[Event, ...] = ()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Only the exchanges."""
        return tuple(event for event in self.events if isinstance(event, Exchange))

    @property
    def subjects(self) -> dict[str, Subject]:
        """The subjects by name."""
        return {event.name: event for event in self.events if isinstance(event, Subject)}
