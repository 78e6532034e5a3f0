"""The `fixtures` of a target file as values: the provider, what it offers, listed customers.

Secrets are names of environment variables. What a kind of fixture provider needs of these keys is
checked in `fixtures.providers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from assay.contract.model import Capability, Json
from assay.history import Entry

__all__ = [
    "CustomerSource",
    "FixtureKind",
    "Fixtures",
    "FurtherTpp",
    "Role",
    "RoleChoice",
    "RoleHolding",
    "RoleRegistration",
]


class FixtureKind(Enum):
    """The kind of fixture provider."""

    CONTROL = "control"
    ROLES = "roles"
    PYTHON = "python"
    NONE = "none"


class CustomerSource(Enum):
    """Where a fixture provider of the user's has its customers from."""

    CREATED = "created"
    EXISTING = "existing"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHolding:
    """One item that a listed customer owns, as stated in the target file.

    `entries` is None when the entries below it are not known.
    """

    resource: str
    key: str
    traits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    entries: tuple[Entry, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRegistration:
    """A value of an argument (a creditor) that a listed customer has on file, and since when."""

    argument: str
    value: Json
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherTpp:
    """A TPP besides that of `auth.tpp`, with the variable of its token."""

    name: str
    token_env: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A test customer that exists at the target: name, variables of secrets, holdings.

    `login_env`, `password_env` and `code_envs` (by factor, in the target's words) name the
    variables of what the customer types in, `token_env` that of its token, and `token_envs` those of
    its tokens for further TPPs, by the TPP. `segment` is in the contract's words.
    `registrations` are all that it has on file, None if that is not known.
    """

    name: str
    owns: tuple[RoleHolding, ...]
    token_env: str | None = None
    segment: str | None = None
    login_env: str | None = None
    password_env: str | None = None
    code_envs: Mapping[str, str] = field(default_factory=dict[str, str])
    token_envs: Mapping[str, str] = field(default_factory=dict[str, str])
    registrations: tuple[RoleRegistration, ...] | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChoice:
    """Which of the listed customers a trial takes: of those that suit it equally well, the first.

    `roles` has their order; `preferred` come before all others that suit at all. `uses` says how
    often each item was used before, by its key: the least used suitable item is taken. `taken` are
    the customers that the trial takes, if a dry run has shown it.
    """

    roles: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    uses: Mapping[str, int] = field(default_factory=dict[str, int])
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixtures:
    """The fixture provider. `key_env` names the control API's secret, if any.

    `adapter` is the `module:Class` of a fixture provider written in Python, which gets `options`;
    `customers` says whether it creates its customers for each trial.
    `segments` maps the contract's customer segments to the target's words; `effects` points
    into the fixture provider's report of an executed request, by the contract's field names.
    `tpps` are TPPs besides that of `auth.tpp`, for listed customers, and `now` is the time at which
    the clock of their bank stands still, None if it is the real time.
    """

    kind: FixtureKind = FixtureKind.NONE
    url: str | None = None
    key_env: str | None = None
    adapter: str = ""
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    customers: CustomerSource = CustomerSource.EXISTING
    offers: frozenset[Capability] = frozenset()
    roles: tuple[Role, ...] = ()
    tpps: tuple[FurtherTpp, ...] = ()
    now: datetime | None = None
    segments: Mapping[str, str] = field(default_factory=dict[str, str])
    effects: Mapping[str, str] = field(default_factory=dict[str, str])
