"""Environment of a run: transport, fixture provider, signer and guard, ready for use.

`set_up` looks up the secrets that a target file names and builds the transport; nothing is sent
before the first trial opens.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from assay.binding.encode import Access
from assay.binding.target import FixtureKind, ScaKind, Target, TransportKind
from assay.errors import CannotArrange
from assay.execution.guard import Guard
from assay.fixtures.control import ControlProvider
from assay.fixtures.protocol import Fixture, FixtureProvider, ReadOnlyFixture
from assay.fixtures.roles import RolesProvider
from assay.fixtures.waiting import Waiting, WaitingProvider
from assay.history import Arrange, Authorise, Subject
from assay.sca.control import ControlSigner
from assay.sca.forms import FormsSigner
from assay.sca.protocol import (
    AnyReturnAddress,
    Prompt,
    ScreenFlowResult,
    Signer,
    StderrPrompt,
    Wait,
)
from assay.transport.auth.setup import endpoints, open_channels
from assay.transport.auth.tokens import TokenStore
from assay.transport.embedded import Application
from assay.transport.protocol import Transport
from assay.transport.secrets import look_up

if TYPE_CHECKING:
    from pathlib import Path

    from assay.execution.ledger import Ledger
    from assay.sca.chromium import Chromium
    from assay.sca.manual import CallbackServer

#: Stands for the gates until a profile is there to make them of.
_UNGUARDED = cast("Guard", None)


@dataclass(slots=True, kw_only=True)
class Environment:
    """Everything that a trial uses of the target.

    `client` sends calls, and `screens` the requests of a customer's browser, which are not signed
    (the same, if None). `token_store` has the OAuth tokens. `common` is the access that every
    customer has in common, `party` the third party's own, where the target file has one. What signs
    during a whole run is kept here too: the browser, or the server that a person comes back to.
    `person` prompts that person. `guard` is what every call passes. `waiting` waits in real time,
    where that is allowed.
    """

    target: Target
    client: Transport
    fixtures: FixtureProvider
    common: Access = field(default_factory=Access)
    party: Access | None = None
    screens: Transport | None = None
    token_store: TokenStore | None = None
    chromium: Chromium | None = None
    callback_server: CallbackServer | None = None
    person: Prompt = field(default_factory=StderrPrompt)
    guard: Guard = _UNGUARDED
    waiting: Waiting | None = None

    def __post_init__(self) -> None:
        """Make the guard that the target file asks for, unless one is given."""
        if self.guard is _UNGUARDED:
            self.guard = Guard(target=self.target)

    def signer(self, fixture: Fixture) -> Signer:
        """Return the signer of one trial."""
        sca = self.target.sca
        match sca.kind:
            case ScaKind.FORMS:
                return FormsSigner(sca=sca, transport=self.screens or self.client)
            case ScaKind.CONTROL:
                return ControlSigner(sca=sca, fixture=fixture)
            case ScaKind.BROWSER if self.chromium:
                from assay.sca.browser import BrowserSigner  # noqa: PLC0415 -- seldom used

                return BrowserSigner(sca=sca, chromium=self.chromium)
            case ScaKind.MANUAL if self.callback_server:
                from assay.sca.manual import ManualSigner  # noqa: PLC0415 -- seldom used

                return ManualSigner(callback_server=self.callback_server, prompt=self.person)
            case _:
                return MissingSigner()

    def seeded(self, seed: int) -> Environment:
        """Return the same environment with fixtures from another seed."""
        fixtures = self.fixtures
        return (
            replace(self, fixtures=replace(fixtures, seed=seed))
            if isinstance(fixtures, ControlProvider)
            else self
        )

    def expect_signatures(self, signatures: int) -> None:
        """Announce how many signatures the run may ask a person for."""
        if self.callback_server:
            self.callback_server.signatures = signatures

    def close(self) -> None:
        """Close the connections, the browser, and the server that a person comes back to."""
        for one in (self.client, self.chromium, self.callback_server):
            if one is not None:
                one.close()


@dataclass(frozen=True, slots=True)
class MissingSigner(AnyReturnAddress):
    """The signer of a target file without `sca`: every signature is refused."""

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Refuse."""
        raise CannotArrange("an SCA signer (set `sca` in the target file)")


@dataclass(frozen=True, slots=True)
class MissingFixtures(ReadOnlyFixture):
    """The fixture provider of a target file without `fixtures`: every step fails."""

    def open(self) -> Fixture:
        """Begin a trial in which every arrangement fails."""
        return self

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Refuse."""
        raise CannotArrange("a fixture provider (set `fixtures` in the target file)")

    def clock(self, to: datetime | None) -> datetime:
        """Return the real time."""
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
    target: Target,
    *,
    seed: int = 0,
    bank: Bank = sound_bank,
    ledger: Path | None = None,
    wait: timedelta | None = None,
) -> Environment:
    """Make a target ready for use; `ledger` is where accesses are kept, if not as usual.

    `wait` is how long the run may wait in all, where that helps.

    Raises:
        InputError: the ledger cannot be used; or
            secrets that the profile names are not set, and it tells all of them;
            or who signs is not there: no browser, no port to come back to; or a world
            that is written in Python cannot be made; or certificates and keys cannot
            be used.

    """
    secrets = look_up(target, os.environ)
    waiting = Waiting(span=wait) if wait is not None else None
    embedded = target.transport is TransportKind.EMBEDDED
    channels = open_channels(target, secrets, _spoken(bank, target) if embedded else None)
    return Environment(
        target=target,
        client=channels.client,
        screens=channels.screens,
        token_store=channels.token_store,
        fixtures=_waited_for(_world(target, channels.client, seed), waiting),
        waiting=waiting,
        common=channels.common,
        party=channels.party,
        chromium=_chromium(target),
        callback_server=_reception(target),
        guard=Guard(target=target, book=_ledger(target, ledger)),
    )


def _ledger(target: Target, path: Path | None) -> Ledger | None:
    """Open the ledger of what is spent on real customers."""
    if not target.has_real_customers:
        return None
    from assay.execution.ledger import Ledger, default_path  # noqa: PLC0415 -- SQLite, seldom needed

    return Ledger.at(path or default_path())


def _spoken(bank: Bank, target: Target) -> Application:
    """Open the bank on the host of the base URL, in the dialect that the profile spells."""
    parts = urlsplit(target.base_url)
    app = bank(f"{parts.scheme}://{parts.netloc}")
    if not target.dialect:
        return app
    from assay.sandbox.dialects import DIALECTS  # noqa: PLC0415 -- seldom spoken

    return DIALECTS[target.dialect](app)


def _chromium(target: Target) -> Chromium | None:
    if target.sca.kind is not ScaKind.BROWSER:
        return None
    from assay.sca.chromium import find_chromium, origin  # noqa: PLC0415 -- seldom used

    chromium = find_chromium(target)
    base = origin(target.base_url)
    for url in endpoints(target):
        # Where customers agree that a token is issued, they may be on another host.
        chromium.hosts = {origin(url): base if target.nearby else origin(url), **chromium.hosts}
    return chromium


def _reception(target: Target) -> CallbackServer | None:
    if target.sca.kind is not ScaKind.MANUAL:
        return None
    from assay.sca.manual import open_callback_server  # noqa: PLC0415 -- seldom used

    return open_callback_server(target)


def _world(target: Target, client: Transport, seed: int) -> FixtureProvider:
    match target.fixtures.kind:
        case FixtureKind.CONTROL:
            return ControlProvider(
                send=client.control,
                seed=seed,
                segments=target.fixtures.segments,
                effects=target.fixtures.effects,
            )
        case FixtureKind.ROLES:
            return RolesProvider(roles=target.fixtures.roles, now=lambda: datetime.now(UTC))
        case FixtureKind.PYTHON:
            from assay.fixtures.python import found as found_class  # noqa: PLC0415 -- seldom used

            return found_class(target, seed)
        case FixtureKind.NONE:
            return MissingFixtures()


def _waited_for(fixtures: FixtureProvider, waiting: Waiting | None) -> FixtureProvider:
    return fixtures if waiting is None else WaitingProvider(fixtures=fixtures, waiting=waiting)
