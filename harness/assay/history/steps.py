"""Steps that a probe asks for and the executor performs, as values.

The result of a step is an event, in `events`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from enum import Enum
from typing import Final, TypeAlias

from assay.contract.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A request for `count` things of a resource, in a state, with dated entries.

    `entries` None leaves the choice to the fixture provider; each date makes one entry.
    """

    resource: str
    count: int = 1
    traits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    entries: tuple[date, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrange:
    """Step: set up a subject, called `subject` in this trial.

    `segment` is the kind of customer, in the contract's words; None for any that is served.
    `unregistered` are arguments (of a creditor) whose value in the target file the customer should
    not have on file. Where customers are created they have nothing on file.
    """

    subject: str
    holdings: tuple[Holding, ...]
    segment: str | None = None
    unregistered: tuple[str, ...] = ()


def fixed(moment: datetime) -> datetime:
    """Return the same instant with its offset as a fixed one: see `rules.state.calendar`."""
    return moment.astimezone(timezone(moment.utcoffset() or timedelta(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Step: move the target's clock to an instant (aware); None only reads it."""

    to: datetime | None = None

    def __post_init__(self) -> None:
        """Fix the offset: a kind may name a time of a zone."""
        if self.to is not None and self.to.tzinfo is not None:
            object.__setattr__(self, "to", fixed(self.to))


class Malformed(Enum):
    """Ways to break a request on purpose; the encoder decides what each looks like."""

    BAD_IDENTIFIER = "an identifier of the wrong alphabet"
    LONG_IDENTIFIER = "an identifier of 10,000 characters"
    CONTROL_IDENTIFIER = "an identifier with control characters"
    LOWER_CASE_IDENTIFIER = "an identifier in lower case"
    GROUPED_IDENTIFIER = "an identifier in groups of four characters"
    JUNK_QUERY = "a query that makes no sense"
    BAD_SINCE = "a first day that does not exist"
    BAD_UNTIL = "a last day that is no date"
    NOT_JSON = "a body that is not JSON"
    TRUNCATED = "a body that is cut short"
    WRONG_TYPES = "a body with every type wrong"
    EMPTY = "an empty body"
    DEEP = "a body nested 100 levels deep"
    SCALAR = "a body that is a bare string"
    HUGE = "a body of two million bytes"

    @property
    def respells(self) -> bool:
        """Whether the identifier is the right one, written in another way."""
        return self in (Malformed.LOWER_CASE_IDENTIFIER, Malformed.GROUPED_IDENTIFIER)


class Token(Enum):
    """What a call has in place of the token of its customer or TPP."""

    NONE = "no token"
    INVENTED = "a token that was never issued"
    ENDING = "its token with another ending"
    CONTENT = "its token with another content"


class CredentialPlace(Enum):
    """Where the credentials of a customer are sent: in a call, or for a token before it."""

    BASIC = "HTTP Basic"
    BODY = "the body"
    PARAMETERS = "the query and the headers"
    GRANT = "a password grant at the token endpoint"
    BESIDE = "every place of the target file, beside its token"


#: The mode of a recorded request that names one which the target file does not define.
UNBOUND_MODE: Final = "a mode that the target file does not define"
#: The mode of a recorded request that has what the target file defines for several.
SEVERAL_MODES: Final = "in several modes of the target file at once"
#: The mode of a recorded request that would not show it: it is the scope of the token.
UNSEEN_MODE: Final = "a mode that the request does not show"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Step: call an operation for a subject.

    `alias` selects another path of the same method; `follow` requests the page that
    an earlier response named; `present` says that the customer is present. `spelling` is the number of
    the value that requests the `mode`, where the target file has several. `without`
    are arguments that are left out, `varied` those that take the other value in the
    target file. `credentials` are sent where the target file says, or at `credentials_in`.
    `bearer` takes the place of the caller's own token. `by` names the TPP that calls,
    where there is more than one; `host` selects another of the target's hosts, and `bank` the host
    of another bank of its group. `invented` has the arguments whose value is a key that nothing has, each with the key that it was made
    from: a journal hides them, and what they look like. `consent` is the key of the consent that
    is used in place of the last one of its customer and TPP. `generated` are the arguments with a
    value that the target file makes for every call anew (`{unique}`). Calls with the same number
    `together`, if it is not 0, are sent at one moment: see `Together`. `variation` is the one
    difference from the accepted control, in words; empty for the control itself.
    """

    operation: str
    subject: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    present: bool = True
    alias: int | None = None
    follow: str | None = None
    mode: str | None = None
    spelling: int = 0
    credentials: bool = False
    credentials_in: CredentialPlace | None = None
    bearer: Token | None = None
    malformed: Malformed | None = None
    without: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()
    invented: Mapping[str, str] = field(default_factory=dict[str, str])
    by: str = ""
    host: int | None = None
    bank: int | None = None
    consent: str | None = None
    generated: tuple[str, ...] = ()
    together: int = 0
    variation: str = ""

    @property
    def compared(self) -> Mapping[str, Json]:
        """The arguments in which it may differ from its control: generated ones always do."""
        return {name: value for name, value in self.arguments.items() if name not in self.generated}

    @property
    def own_token(self) -> bool:
        """Whether it has the token of its customer or TPP, and no credentials in its place."""
        return self.bearer is None and not self.credentials


class Code(Enum):
    """What is typed in as the code of a factor, or as the password."""

    RIGHT = "the right code"
    WRONG = "a code that is not right"
    HALF = "the first half of the right code"
    EMPTY = "no code at all"


class Decision(Enum):
    """The customer's decision about a request."""

    CONFIRM = "confirm"
    REFUSE = "refuse"


class Staying(Enum):
    """What a customer does to stay on the screens between two pauses."""

    RELOAD = "load the screen again"
    NO_FACTOR = "send the screen of the factors without one"
    LINK = "open the link again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorise:
    """Step: the customer signs a request, or refuses it, on the target's own screens.

    `request` is its key and `approval` the link in its response. `factor` is one of the
    contract's words, None for any that is offered; `forced` sends it although the screen
    does not offer it. `by` names another customer who signs instead; `code` and `typed`
    say what is typed in as the code and as the password, `tries` times if the screen is shown
    again. `pace` is the pause before each screen is filled in; at the screen that asks for
    `linger_on`, the pauses of `linger` follow, and after all but the last the customer `stays`
    there. `spoof` is a return address that the form submits in a field that the screen does
    not have. Signatures with the same number `together`, if it is not 0, are at one moment. Once it
    is signed, the TPP `submits` the request, where the target takes submissions.
    """

    subject: str
    request: str
    approval: str | None
    decision: Decision = Decision.CONFIRM
    factor: str | None = None
    by: str = ""
    code: Code = Code.RIGHT
    typed: Code = Code.RIGHT
    tries: int = 1
    forced: bool = False
    pace: timedelta = timedelta(0)
    linger: tuple[timedelta, ...] = ()
    linger_on: str = "decision"
    stays: Staying = Staying.RELOAD
    spoof: str = ""
    submits: bool = True
    together: int = 0
    variation: str = ""

    @property
    def right(self) -> bool:
        """Whether everything typed in is right, and nothing is sent that no screen asks for."""
        return self.code is self.typed is Code.RIGHT and not (self.spoof or self.forced)


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Step: make calls, or have requests signed, at one moment, so that the target handles all at once.

    It is no event. The probe then asks for each of them as usual, in this order, and receives the
    result that each had here.
    """

    steps: tuple[Call, ...] | tuple[Authorise, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit:
    """Step: submit a request that is not signed, to see whether the target carries it out.

    A request is submitted by itself once its customer has signed it. Where the target takes no
    submission, or has had that of the request, only the clock is read, which is no event. With a
    `variation` it is submitted again, or with the other value in the target file of what is `varied`.
    """

    subject: str
    request: str
    varied: tuple[str, ...] = ()
    variation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquire:
    """Step: ask the fixture provider, not the API, which requests were executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """Step: make a value of an argument (a creditor) registered since `age`.

    The value None takes the one that the target file has for the argument. A registration that
    exists already will do if its age is in the span `exact`, or, if the moment is not known
    exactly, surely in the span `rough`. Without a span, any age from a week on will do for another
    such age, and else this one alone.
    """

    subject: str
    operation: str
    argument: str
    age: timedelta
    value: Json = None
    exact: tuple[timedelta, timedelta] | None = None
    rough: tuple[timedelta, timedelta] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Step: the customer cancels a request at the bank, without the TPP."""

    subject: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Renew:
    """Step: renew the token with which an operation is called for a subject.

    It is the token of the TPP `by` where calls of the operation are made in its own name.
    """

    subject: str
    operation: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """Step: go on at a bank of the target that does not offer a mode; its customers are new ones.

    It is the `bank` of the target file, if one is named: by its name, or by a scope statement that
    excludes it. It may offer every mode ("").
    """

    mode: str = ""
    bank: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resend:
    """Step: send the request of an earlier exchange again, with one part of it changed.

    `exchange` is its number. At its `place` (path, query, header or body) the `values` are set
    by name, and the names `removed` are left out; in a body, the name "" is the whole of it.
    `forbidden` says that the target's document does not allow the request.
    """

    subject: str
    exchange: int
    place: str
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    removed: tuple[str, ...] = ()
    forbidden: bool = False
    variation: str


Step: TypeAlias = (
    Arrange
    | Advance
    | Call
    | Authorise
    | Submit
    | Inquire
    | Register
    | Resend
    | Withdraw
    | Renew
    | Lack
    | Together
)
