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

from assay.history import State
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

    `value` is fixed for things that are only there or not (a mode), and for an
    argument what stands there when a probe has no wish of its own; `other` is another
    value that is as good.
    """

    place: Place
    name: str
    value: Json = None
    other: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAt:
    """How an item says what it is: a pointer, and the values per resource."""

    at: str
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAt:
    """How an item says where it stands: a pointer, and the values of each state."""

    at: str
    values: Mapping[State, tuple[Json, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBinding:
    """Pointers into one item; None where the target has no such thing.

    `volatile` points at what changes by itself from one answer to the next; where it is
    given, even empty, all else in an item may be compared.
    """

    key: str | None = None
    on: str | None = None
    state: StateAt | None = None
    resource: ResourceAt | None = None
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    volatile: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """How customer credentials would be spelt, if the target took them (it must not)."""

    basic: bool = False
    body: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBinding:
    """How one operation is spelt; None leaves the contract's own spelling.

    `list` points at the items of an answer, `one` at the single thing that it shows,
    `approval` at the link to the screens where the customer signs.
    """

    method: str | None = None
    path: str | None = None
    aliases: tuple[str, ...] | None = None
    arguments: Mapping[str, Spelling] = field(default_factory=dict[str, Spelling])
    modes: Mapping[str, Spelling] = field(default_factory=dict[str, Spelling])
    credentials: Credentials | None = None
    list: str | None = None
    one: str | None = None
    approval: str | None = None
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
    """How calls are authenticated: `none`, `bearer` with the subject's token, or `key`.

    A `key` is the token as it is, in a `header` of its own. A token comes from the world
    with its subject, or from the environment variable `token_env` for all subjects.
    """

    kind: str = "none"
    header: str = ""
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
    """How states are arranged. `key_env` names the control API's secret, if any.

    `segments` spells the contract's kinds of customers, `effects` points into what the
    world tells of a request that was carried out, by the contract's field names.
    """

    kind: WorldKind = WorldKind.NONE
    url: str | None = None
    key_env: str | None = None
    offers: frozenset[Capability] = frozenset()
    roles: tuple[Role, ...] = ()
    segments: Mapping[str, str] = field(default_factory=dict[str, str])
    effects: Mapping[str, str] = field(default_factory=dict[str, str])


class ScaKind(Enum):
    """Who signs: nobody, a program on the screens, the control API, or a person."""

    NONE = "none"
    FORMS = "forms"
    BROWSER = "browser"
    CONTROL = "control"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sca:
    """How a request is signed.

    A screen is known by the names of its form's fields: each of `screens` maps names to
    what is filled in: login, password, factor, code or decision. `factors` and
    `decisions` spell the contract's words. `callback` is the loopback address to which
    a person's browser comes back, `wait` for how many seconds that is waited for.
    """

    kind: ScaKind = ScaKind.NONE
    screens: tuple[Mapping[str, str], ...] = ()
    factors: Mapping[str, str] = field(default_factory=dict[str, str])
    decisions: Mapping[str, str] = field(default_factory=dict[str, str])
    callback: str = ""
    wait: float = 300.0


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
    """A whole target file, which spells the operations of `contracts`. `outside` names scope statements that exclude this bank.

    `not_offered` maps clause ids to the reason why this bank need not offer them.
    `hosts` are further base URLs under which it answers; `nearby` says that they are
    found at the address of the base URL. Times are in seconds.
    """

    name: str
    transport: Transport
    base_url: str
    contracts: frozenset[str] = frozenset()
    environment: str = "sandbox"
    zone: ZoneInfo | None = None
    auth: Auth = field(default_factory=Auth)
    presence: Presence | None = None
    world: World = field(default_factory=World)
    sca: Sca = field(default_factory=Sca)
    hosts: tuple[str, ...] = ()
    nearby: bool = False
    operations: Mapping[str, OperationBinding] = field(default_factory=dict[str, OperationBinding])
    outcomes: Outcomes = field(default_factory=Outcomes)
    outside: tuple[str, ...] = ()
    not_offered: Mapping[str, str] = field(default_factory=dict[str, str])
    waivers: tuple[Waiver, ...] = ()
    timeout: float = 10.0
    path: str = ""
    digest: str = ""
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
