"""A target made ready: its client, its world, and who plays whom.

`set_up` looks up the secrets that a profile names and builds the transport;
nothing is sent before the first trial opens.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from assay.binding.encode import Access
from assay.binding.target import Profile, ScaKind, Transport, WorldKind
from assay.errors import CannotArrange
from assay.execution.guard import Guard
from assay.fixtures.control import ControlWorld
from assay.fixtures.protocol import NoRequests, Scene, World
from assay.fixtures.roles import RolesWorld
from assay.fixtures.waiting import Waiting, WaitingWorld
from assay.history import Arrange, Authorise, Subject
from assay.sca.control import ControlSigner
from assay.sca.forms import FormsSigner
from assay.sca.prompt import Person, Plain
from assay.sca.protocol import Anywhere, Signer, Wait, Walked
from assay.transport.auth.setup import endpoints
from assay.transport.auth.setup import opened as opened_ways
from assay.transport.auth.tokens import Desk
from assay.transport.embedded import Application
from assay.transport.protocol import Carrier
from assay.transport.secrets import look_up

if TYPE_CHECKING:
    from pathlib import Path

    from assay.execution.ledger import Ledger
    from assay.sca.callback_server import Reception
    from assay.sca.chromium import Chromium

#: Stands for the gates until a profile is there to make them of.
_UNGUARDED = cast("Guard", None)


@dataclass(slots=True, kw_only=True)
class Stage:
    """Everything that driving a trial touches.

    `client` carries calls, `screens` what a customer looks at, who signs nothing (the
    same, if None). `desk` has the tokens of OAuth. `common` is what authorises every
    customer's calls, `party` the third party's own, where the profile has that.
    Who signs in a whole run is kept here too: the browser, or where a person comes back
    to. `person` is how that person is spoken to. `guard` is what every call passes.
    `waiting` is what waits, where that is allowed.
    """

    profile: Profile
    client: Carrier
    world: World
    common: Access = field(default_factory=Access)
    party: Access | None = None
    screens: Carrier | None = None
    desk: Desk | None = None
    chromium: Chromium | None = None
    reception: Reception | None = None
    person: Person = field(default_factory=Plain)
    guard: Guard = _UNGUARDED
    waiting: Waiting | None = None

    def __post_init__(self) -> None:
        """Put the gates up that the profile asks for, if nobody has."""
        if self.guard is _UNGUARDED:
            self.guard = Guard(profile=self.profile)

    def signer(self, scene: Scene) -> Signer:
        """Return who signs in a trial."""
        sca = self.profile.sca
        match sca.kind:
            case ScaKind.FORMS:
                return FormsSigner(sca=sca, carrier=self.screens or self.client)
            case ScaKind.CONTROL:
                return ControlSigner(sca=sca, scene=scene)
            case ScaKind.BROWSER if self.chromium:
                from assay.sca.browser import BrowserSigner  # noqa: PLC0415 -- seldom used

                return BrowserSigner(sca=sca, chromium=self.chromium)
            case ScaKind.MANUAL if self.reception:
                from assay.sca.manual import ManualSigner  # noqa: PLC0415 -- seldom used

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
    ledger: Path | None = None,
    wait: timedelta | None = None,
) -> Stage:
    """Make a target ready for use; `ledger` is where accesses are kept, if not as usual.

    `wait` is how long the run may wait in all, where that helps.

    Raises:
        InputError: the ledger cannot be used; or
            secrets that the profile names are not set, and it tells all of them;
            or who signs is not there: no browser, no port to come back to; or a world
            that is written in Python cannot be made; or certificates and keys cannot
            be used.

    """
    secrets = look_up(profile, os.environ)
    waiting = Waiting(span=wait) if wait is not None else None
    embedded = profile.transport is Transport.EMBEDDED
    ways = opened_ways(profile, secrets, _spoken(bank, profile) if embedded else None)
    return Stage(
        profile=profile,
        client=ways.client,
        screens=ways.screens,
        desk=ways.desk,
        world=_waited_for(_world(profile, ways.client, seed), waiting),
        waiting=waiting,
        common=ways.common,
        party=ways.party,
        chromium=_chromium(profile),
        reception=_reception(profile),
        guard=Guard(profile=profile, book=_ledger(profile, ledger)),
    )


def _ledger(profile: Profile, path: Path | None) -> Ledger | None:
    """Open the ledger of what is spent on real customers."""
    if not profile.has_real_customers:
        return None
    from assay.execution.ledger import Ledger, default_path  # noqa: PLC0415 -- SQLite, seldom needed

    return Ledger.at(path or default_path())


def _spoken(bank: Bank, profile: Profile) -> Application:
    """Open the bank on the host of the base URL, in the dialect that the profile spells."""
    parts = urlsplit(profile.base_url)
    app = bank(f"{parts.scheme}://{parts.netloc}")
    if not profile.dialect:
        return app
    from assay.sandbox.dialects import DIALECTS  # noqa: PLC0415 -- seldom spoken

    return DIALECTS[profile.dialect](app)


def _chromium(profile: Profile) -> Chromium | None:
    if profile.sca.kind is not ScaKind.BROWSER:
        return None
    from assay.sca.chromium import found, origin  # noqa: PLC0415 -- seldom used

    chromium = found(profile)
    base = origin(profile.base_url)
    for url in endpoints(profile):
        # Where customers agree that a token is issued, they may be on another host.
        chromium.hosts = {origin(url): base if profile.nearby else origin(url), **chromium.hosts}
    return chromium


def _reception(profile: Profile) -> Reception | None:
    if profile.sca.kind is not ScaKind.MANUAL:
        return None
    from assay.sca.callback_server import opened  # noqa: PLC0415 -- seldom used

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
        case WorldKind.PYTHON:
            from assay.fixtures.python import found as found_class  # noqa: PLC0415 -- seldom used

            return found_class(profile, seed)
        case WorldKind.NONE:
            return Nobody()


def _waited_for(world: World, waiting: Waiting | None) -> World:
    return world if waiting is None else WaitingWorld(world=world, waiting=waiting)
