"""What a target file says, as values: how *this* bank spells the contract.

A profile is read without any contract (`target.read`), and joined to one by
`target.join`. Secrets are names of environment variables and are looked up
only when the run begins. No I/O here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from zoneinfo import ZoneInfo

from assay.model import Capability, Json


class Transport(Enum):
    """How calls reach the target."""

    EMBEDDED = "embedded"
    HTTP = "http"


class Place(Enum):
    """Where an argument stands in a request."""

    QUERY = "query"
    HEADER = "header"
    BODY = "body"
    PATH = "path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Where an abstract argument goes: a place and its name or body pointer there.

    `value` is a fixed text for things that are only there or not (a mode).
    """

    place: Place
    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAt:
    """How an item says what it is: a pointer, and the values per resource."""

    at: str
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBinding:
    """Pointers into one item of a list; None where the target has no such thing."""

    key: str | None = None
    on: str | None = None
    resource: ResourceAt | None = None
    fields: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """How customer credentials would be spelt, if the target took them (it must not)."""

    basic: bool = False
    body: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBinding:
    """How one operation is spelt; None leaves the contract's own spelling."""

    method: str | None = None
    path: str | None = None
    aliases: tuple[str, ...] | None = None
    arguments: Mapping[str, Spelling] = field(default_factory=dict[str, Spelling])
    modes: Mapping[str, Spelling] = field(default_factory=dict[str, Spelling])
    credentials: Credentials | None = None
    list: str | None = None
    next: str | None = None
    links: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    item: ItemBinding = field(default_factory=ItemBinding)
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """One way to recognise an outcome; every part that is given must match.

    `statuses` are exact codes or classes like "4xx"; `empty` asks for a list
    without items; `body` maps pointers to values that must stand there.
    """

    statuses: tuple[str, ...] = ()
    empty: bool | None = None
    media_type: str | None = None
    body: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Matchers by outcome, tried in the order unavailable, rejected, accepted.

    The defaults are the loosest honest reading of HTTP.
    """

    unavailable: tuple[Matcher, ...] = (Matcher(statuses=("404", "405", "501")),)
    rejected: tuple[Matcher, ...] = (Matcher(statuses=("4xx",)),)
    accepted: tuple[Matcher, ...] = (Matcher(statuses=("2xx",)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """The header that says that the customer is there."""

    header: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How calls are authenticated: `none`, or `bearer` with the subject's token.

    A token comes from the world with its subject, or from the environment
    variable `token_env` for all subjects.
    """

    kind: str = "none"
    token_env: str | None = None


class WorldKind(Enum):
    """Who arranges what a probe needs."""

    CONTROL = "control"
    ROLES = "roles"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHolding:
    """One thing that a listed customer owns, as the target's operator states it.

    `entries` is None when nobody knows what is below it.
    """

    resource: str
    key: str
    traits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    entries: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A test customer that exists at the target: name, token variable, holdings."""

    name: str
    token_env: str | None
    owns: tuple[RoleHolding, ...]
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How states are arranged. `key_env` names the control API's secret, if any."""

    kind: WorldKind = WorldKind.NONE
    url: str | None = None
    key_env: str | None = None
    offers: frozenset[Capability] = frozenset()
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A known deviation: which obligation, who owns it, why, and until when."""

    obligation: str
    owner: str
    reason: str
    expires: str
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A whole target file. `outside` names scope statements that exclude this bank.

    `not_offered` maps clause ids to the reason why this bank need not offer them.
    Times are in seconds.
    """

    name: str
    transport: Transport
    base_url: str
    environment: str = "sandbox"
    zone: ZoneInfo | None = None
    auth: Auth = field(default_factory=Auth)
    presence: Presence | None = None
    world: World = field(default_factory=World)
    operations: Mapping[str, OperationBinding] = field(default_factory=dict[str, OperationBinding])
    outcomes: Outcomes = field(default_factory=Outcomes)
    outside: tuple[str, ...] = ()
    not_offered: Mapping[str, str] = field(default_factory=dict[str, str])
    waivers: tuple[Waiver, ...] = ()
    timeout: float = 10.0
    path: str = ""
    digest: str = ""
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
