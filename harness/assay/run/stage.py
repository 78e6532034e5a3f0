"""A target made ready: its client, its world, and who plays whom.

`set_up` looks up the secrets that a profile names and builds the transport;
nothing is sent before the first trial opens.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from assay.errors import CannotArrange, InputError
from assay.history import Arrange, Subject
from assay.run.client import Client
from assay.target.control import ControlWorld
from assay.target.encode import Access
from assay.target.profile import Profile, Transport, WorldKind
from assay.target.roles import RolesWorld
from assay.target.world import Scene, World


@dataclass(slots=True, kw_only=True)
class Stage:
    """Everything that driving a trial touches."""

    profile: Profile
    client: Client
    world: World
    common: Access = field(default_factory=Access)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


@dataclass(frozen=True, slots=True)
class Nobody:
    """The world of a profile that names none: nothing can be arranged."""

    def open(self) -> Scene:
        """Begin a trial in which every arrangement fails."""
        return self

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Refuse."""
        raise CannotArrange("a world (the profile names none)")

    def clock(self, to: datetime | None) -> datetime:
        """Tell the real time."""
        if to is not None:
            raise CannotArrange("a clock that can be moved")
        return datetime.now(UTC)

    def close(self) -> None:
        """Do nothing."""


def secret(profile: Profile, at: str, name: str) -> str:
    """Return the secret in an environment variable that the profile names.

    Raises:
        InputError: it is not set, or empty.

    """
    value = os.environ.get(name)
    if not value:
        raise InputError.one(
            profile.path,
            f"{at}: the environment variable {name} is not set",
            line=profile.lines.get(at, 0),
            hint=f"export {name}=… before the run; secrets never stand in the file",
        )
    return value


#: Makes the embedded bank: a WSGI application for a base URL.
Bank = Callable[[str], object]


def sound_bank(base_url: str) -> object:
    """Return the sandbox without any fault."""
    from assay.sandbox.app import make_app  # noqa: PLC0415 -- only where it is embedded

    return make_app(base_url=base_url)


def set_up(
    profile: Profile,
    *,
    seed: int = 0,
    bank: Bank = sound_bank,
) -> Stage:
    """Make a target ready for use.

    Raises:
        InputError: a secret that the profile names is not set.

    """
    transport: httpx.BaseTransport | None = None
    if profile.transport is Transport.EMBEDDED:
        transport = httpx.WSGITransport(app=bank(profile.base_url))  # type: ignore[arg-type]
    world = profile.world
    client = Client(
        base_url=profile.base_url,
        timeout=profile.timeout,
        transport=transport,
        control_url=world.url,
        control_key=secret(profile, "world", world.key_env) if world.key_env else None,
    )
    common = Access()
    if profile.auth.token_env:
        common = Access(token=secret(profile, "auth", profile.auth.token_env))
    for role in world.roles:
        if role.token_env:
            secret(profile, f"world.roles.{role.name}", role.token_env)
    return Stage(profile=profile, client=client, world=_world(profile, client, seed), common=common)


def _world(profile: Profile, client: Client, seed: int) -> World:
    match profile.world.kind:
        case WorldKind.CONTROL:
            return ControlWorld(send=client.control, seed=seed)
        case WorldKind.ROLES:
            return RolesWorld(roles=profile.world.roles, now=lambda: datetime.now(UTC))
        case WorldKind.NONE:
            return Nobody()
