"""A target made ready: its client, its world, and who plays whom.

`set_up` looks up the secrets that a profile names and builds the transport;
nothing is sent before the first trial opens.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.errors import CannotArrange
from assay.history import Arrange, Authorise, Subject
from assay.run.carrier import Carrier
from assay.run.embedded import Application, Embedded
from assay.run.environ import look_up
from assay.run.sca.control import ControlSigner
from assay.run.sca.forms import FormsSigner
from assay.run.sca.person import Person, Plain
from assay.run.sca.signer import Anywhere, Signer, Wait, Walked
from assay.target.control import ControlWorld
from assay.target.encode import Access
from assay.target.profile import Profile, ScaKind, Transport, WorldKind
from assay.target.roles import RolesWorld
from assay.target.world import NoRequests, Scene, World

if TYPE_CHECKING:
    from assay.run.sca.chromium import Chromium
    from assay.run.sca.reception import Reception


@dataclass(slots=True, kw_only=True)
class Stage:
    """Everything that driving a trial touches.

    Who signs in a whole run is kept here too: the browser, or where a person comes back
    to. `person` is how that person is spoken to.
    """

    profile: Profile
    client: Carrier
    world: World
    common: Access = field(default_factory=Access)
    chromium: Chromium | None = None
    reception: Reception | None = None
    person: Person = field(default_factory=Plain)

    def signer(self, scene: Scene) -> Signer:
        """Return who signs in a trial."""
        sca = self.profile.sca
        match sca.kind:
            case ScaKind.FORMS:
                return FormsSigner(sca=sca, carrier=self.client)
            case ScaKind.CONTROL:
                return ControlSigner(sca=sca, scene=scene)
            case ScaKind.BROWSER if self.chromium:
                from assay.run.sca.browser import BrowserSigner  # noqa: PLC0415 -- seldom used

                return BrowserSigner(sca=sca, chromium=self.chromium)
            case ScaKind.MANUAL if self.reception:
                from assay.run.sca.manual import ManualSigner  # noqa: PLC0415 -- seldom used

                return ManualSigner(reception=self.reception, person=self.person)
            case _:
                return NobodySigns()

    def seeded(self, seed: int) -> Stage:
        """Return the same target, whose world is made from another seed."""
        world = self.world
        return (
            replace(self, world=replace(world, seed=seed))
            if isinstance(world, ControlWorld)
            else self
        )

    def foretell(self, signatures: int) -> None:
        """Say how many signatures the run may ask a person for."""
        if self.reception:
            self.reception.signatures = signatures

    def close(self) -> None:
        """Close the connections, the browser, and where a person would come back to."""
        for one in (self.client, self.chromium, self.reception):
            if one is not None:
                one.close()


@dataclass(frozen=True, slots=True)
class NobodySigns(Anywhere):
    """Where the profile names nobody who signs."""

    def sign(self, step: Authorise, access: Access, wait: Wait) -> Walked:
        """Refuse."""
        raise CannotArrange("somebody who signs (sca)")


@dataclass(frozen=True, slots=True)
class Nobody(NoRequests):
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


#: Makes the embedded bank: a WSGI application for a base URL.
Bank = Callable[[str], Application]


def sound_bank(base_url: str) -> Application:
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
        InputError: secrets that the profile names are not set, and it tells all of them;
            or who signs is not there: no browser, no port to come back to.

    """
    secrets = look_up(profile, os.environ)
    world = profile.world
    client: Carrier
    if profile.transport is Transport.EMBEDDED:
        client = Embedded(bank(profile.base_url), profile.base_url, profile.hosts)
    else:
        from assay.run.client import Client  # noqa: PLC0415 -- httpx only for a network

        client = Client(
            base_url=profile.base_url,
            timeout=profile.timeout,
            control_url=world.url,
            control_key=secrets[world.key_env] if world.key_env else None,
            hosts=profile.hosts,
            nearby=profile.nearby,
        )
    token_env = profile.auth.token_env
    return Stage(
        profile=profile,
        client=client,
        world=_world(profile, client, seed),
        common=Access(token=secrets[token_env]) if token_env else Access(),
        chromium=_chromium(profile),
        reception=_reception(profile),
    )


def _chromium(profile: Profile) -> Chromium | None:
    if profile.sca.kind is not ScaKind.BROWSER:
        return None
    from assay.run.sca.chromium import found  # noqa: PLC0415 -- seldom used

    return found(profile)


def _reception(profile: Profile) -> Reception | None:
    if profile.sca.kind is not ScaKind.MANUAL:
        return None
    from assay.run.sca.reception import opened  # noqa: PLC0415 -- seldom used

    return opened(profile)


def _world(profile: Profile, client: Carrier, seed: int) -> World:
    match profile.world.kind:
        case WorldKind.CONTROL:
            return ControlWorld(
                send=client.control,
                seed=seed,
                segments=profile.world.segments,
                effects=profile.world.effects,
            )
        case WorldKind.ROLES:
            return RolesWorld(roles=profile.world.roles, now=lambda: datetime.now(UTC))
        case WorldKind.NONE:
            return Nobody()
