"""The contract as values: operations, resources, clauses, open points.

Pure data, made by `parse`. Nothing here knows a target, HTTP or a bank: a clause's
parameters stay validated JSON until the rule of its kind reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Protocol, TypeAlias
from zoneinfo import ZoneInfo

#: A value in a contract or an answer; numbers with a point are `Decimal`.
Json: TypeAlias = object


class Level(Enum):
    """How binding a clause is."""

    MUST = "must"
    MAY = "may"


class Party(Enum):
    """The party that a rule binds."""

    BANK = "bank"
    TPP = "tpp"


class Capability(Enum):
    """What a target must offer before a facet can be tested; the value is its name."""

    PSU = "psu"
    TWO_PSU = "two-psu"
    CONSENT = "consent"
    BATCH = "batch"
    CLOCK = "clock"
    ROSTER = "roster"
    ZONE = "zone"
    CREDENTIALS = "credentials"
    ENTRIES = "entries"
    WRITE = "write"
    SCA = "sca"
    SCREENS = "screens"
    SEGMENTS = "segments"
    REGISTRATIONS = "registrations"
    TPPS = "tpps"
    TPP_TOKENS = "tpp-tokens"
    BANKS = "banks"
    EFFECTS = "effects"
    DIRECT_ACCESS = "direct-access"
    RENEWAL = "renewal"
    HOSTS = "hosts"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The place in the document: its section, its line from 1, its words."""

    section: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.section}, line {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRequirement:
    """Lines of a section that need no rule, and the reason."""

    section: str
    lines: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The lines of the document that say something, by section, and those that need no rule."""

    sections: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    not_requirements: tuple[NotRequirement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A thing that operations list; `of` names the resource that it belongs to.

    `key` is the field that identifies one. `traits` are the states in which a
    world may be asked to make one, each with a sentence.
    """

    id: str
    description: str = ""
    key: str | None = None
    of: str | None = None
    fields: tuple[str, ...] = ()
    traits: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The argument that puts a request off to a day, in the modes that do so."""

    argument: str
    modes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of the interface, in the document's own spelling.

    `lists` are the resources it returns, `about` the argument that says whose,
    `grants` the argument that lists what a consent covers, `since` the one that asks
    from a date on, `until` up to a date, `disclosures` values that stand beside the list.

    A request is a resource that somebody makes, and that is executed later: `makes`,
    `shows`, `changes` and `ends` name it. `owned` is the argument that names the thing
    of the customer's that it is about, `returns` the one that says where the customer
    comes back to after signing, `due` when it is to be executed, `amount` how much of it,
    `payee` whom it is for; `signed` is false where the call that makes it is all that it takes.
    `by_tpp` says that the call is authorised as the third party, not as the customer.

    An operation that grants may make the consent, which is then signed like a request. `until` is
    its argument with the last day of the consent. `consent` names the operation that makes the
    consent without which another is refused, and `about_consent` says that the request is a consent.
    `given` says that the consent comes with the customer's token, so that there is no call.
    """

    id: str
    method: str
    path: str
    aliases: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    about: str | None = None
    grants: str | None = None
    since: str | None = None
    until: str | None = None
    disclosures: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    available: bool = True
    by_tpp: bool = False
    makes: str | None = None
    shows: str | None = None
    changes: str | None = None
    ends: str | None = None
    owned: str | None = None
    returns: str | None = None
    due: Due | None = None
    amount: str | None = None
    payee: str | None = None
    signed: bool = True
    consent: str | None = None
    about_consent: bool = False
    given: bool = False

    @property
    def request(self) -> str | None:
        """The request that this makes, shows, changes or ends, if any."""
        return self.makes or self.shows or self.changes or self.ends

    @property
    def writes(self) -> bool:
        """Whether calling it changes a request, or a consent that is made like one."""
        return bool(self.makes or self.changes or self.ends)


class RuleClass(Protocol):
    """The class of a rule kind, which interprets the parameters of its clauses."""

    @property
    def name(self) -> str:
        """The word after `kind:` in a contract."""
        ...

    def parse(self, clause: Clause, contract: Contract) -> object:
        """Return a clause as an instance of the class."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One sentence of the contract: a rule kind with its parameters."""

    id: str
    rule: RuleClass
    statement: str
    sources: tuple[Source, ...]
    level: Level
    params: Mapping[str, Json]
    line: int = 0

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return self.rule.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleAnswer:
    """One answer that a bank can give to an open point.

    `parameters` are those that it gives to clauses of the contract, by their ids, and `clauses`
    are those that it adds.
    """

    id: str
    statement: str
    parameters: Mapping[str, Mapping[str, Json]] = field(
        default_factory=dict[str, Mapping[str, Json]]
    )
    clauses: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPoint:
    """A sentence that cannot be checked: an open question, or a matter of scope.

    `answers` are those that rules can judge, and `opens` names the parameters of rules that the
    bank may state itself. `stands_at` are the keys of a target file that answer it in any case.
    """

    id: str
    statement: str
    sources: tuple[Source, ...]
    line: int = 0
    answers: Mapping[str, PossibleAnswer] = field(default_factory=dict[str, PossibleAnswer])
    opens: tuple[str, ...] = ()
    stands_at: tuple[str, ...] = ()


#: The point of what follows from the bank's own OpenAPI document, and the key that names that.
OPENAPI: Final = "openapi"


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAnswer:
    """How a bank answers an open point: the point, what it says, and where the bank says so.

    What the bank's own OpenAPI document says answers the point `OPENAPI`, which no contract has.
    """

    point: str
    says: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contract:
    """A whole contract file; two are the same only if they are one.

    `zone` is None while the document leaves it open; `outline` is empty where the file has none.
    `not_applicable` are the clauses that need what the bank does not have, and `given` the
    operations whose consent comes with the customer's token there; `data` is the whole file as it
    was read.
    """

    id: str
    title: str
    version: str
    interface: str
    document: str
    zone: ZoneInfo | None
    operations: Mapping[str, Operation]
    resources: Mapping[str, Resource]
    clauses: tuple[Clause, ...]
    open_points: tuple[OpenPoint, ...]
    scope: tuple[OpenPoint, ...] = ()
    hosts: Mapping[str, str] = field(default_factory=dict[str, str])
    outline: Outline = field(default_factory=Outline)
    path: str = ""
    digest: str = ""
    not_applicable: tuple[Clause, ...] = ()
    given: Mapping[str, Operation] = field(default_factory=dict[str, Operation])
    data: Mapping[str, Json] = field(default_factory=dict[str, Json], compare=False, repr=False)

    def children(self, resource: str, operation: str) -> str | None:
        """Return what `operation` lists for an owner `resource` ("slip" for a card)."""
        for name in self.operations[operation].lists:
            if self.resources[name].of == resource:
                return name
        return None
