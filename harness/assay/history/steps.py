"""Steps that a probe asks for and the executor performs, as values.

What happened at a step is an event, in `events`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Final, TypeAlias

from assay.contract.model import Json


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


#: The mode of a recorded request that names one which the target file does not define.
UNBOUND_MODE: Final = "a mode that is not spelt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Step: call an operation for a subject.

    `alias` picks another path of the same method; `follow` turns to the page
    that a former answer named; `present` says that the customer is there.
    `without` are arguments that are left out, `varied` those that take the other
    value that the profile has for them. `by` names the provider who calls, where
    there is more than one; `host` picks another of the target's hosts. `variation` says in words what sets this call apart from its accepted
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
    variation: str = ""


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
    variation: str = ""


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
