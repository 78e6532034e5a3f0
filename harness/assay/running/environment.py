"""Environment of a run: transport, fixture provider, signer and guard, ready for use.

`set_up` looks up the secrets that a target file names and builds the transport; nothing is sent
before the first trial opens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from assay.binding.model.origin import origin
from assay.binding.model.target import FixtureKind, RoleChoice, ScaKind, Target, TransportKind
from assay.binding.wire.encode import Access
from assay.contract.model import Capability, Contract
from assay.errors import CannotArrange
from assay.fixtures.control import Send, learning
from assay.fixtures.protocol import Fixture, FixtureProvider
from assay.fixtures.providers import Customers, customers_of, has_real_customers, open_provider
from assay.fixtures.roles import RolesFixture
from assay.fixtures.waiting import Waiting, waiting_of
from assay.history import Authorise
from assay.rules.rule import facts_of
from assay.running.guard import Guard
from assay.sca.protocol import (
    AnyReturnAddress,
    ControlSigner,
    Prompt,
    ScreenFlowResult,
    Signer,
    StderrPrompt,
    Wait,
)
from assay.sca.screen_flow import CodeSource, FormsSigner
from assay.transport.auth.setup import endpoints, open_channels
from assay.transport.auth.tokens import TokenStore
from assay.transport.protocol import Application, Transport
from assay.transport.secrets import KnownSecrets, known_secrets, look_up

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.ledger import Ledger
    from assay.sca.browser import Chromium
    from assay.sca.manual import CallbackServer

#: A closure that lasts longer is left to the trial.
LONGEST_CLOSURE = timedelta(days=1)
#: Stands for the guard until it is made from the target.
_UNGUARDED = cast("Guard", None)


@dataclass(slots=True, kw_only=True)
class Environment:
    """Everything that a trial uses of the target.

    `client` sends calls. `screens` sends the requests of a customer's browser, which are not
    signed; None if `client` does. `token_store` has the OAuth tokens. `common` is the access that
    all customers share, `party` that of the TPP, if the target file has one. `chromium` or
    `callback_server` serve the signer for a whole run, and `person` prompts who signs. Every call
    passes `guard`. `waiting` waits in real time, where a run may. `secrets` are all that the run
    knows of, and writes nowhere; `variables` has those of the target file by their names. `ids` are the
    target's own ids of what real customers own, by key. `closures` say when an interface is announced
    to be closed: no trial begins then, if the clock can be moved.
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
    secrets: KnownSecrets = field(default_factory=KnownSecrets)
    variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    ids: dict[str, str] = field(default_factory=dict[str, str])
    closures: tuple[Callable[[datetime], bool], ...] = ()

    def __post_init__(self) -> None:
        """Make the guard for the target, unless one is given."""
        if self.guard is _UNGUARDED:
            self.guard = Guard(target=self.target)

    def expect_closures(self, contracts: Iterable[Contract]) -> None:
        """Learn the maintenance hours of contracts."""
        known = map(facts_of, contracts)
        self.closures = tuple(facts.closed_at for facts in known if facts.closures)

    def leave_closure(self, fixture: Fixture) -> bool:
        """Move a clock that shows maintenance hours to the end of them; return whether it was moved."""
        fixtures = self.target.fixtures
        if not self.closures or Capability.CLOCK not in fixtures.offers:
            return False
        with suppress(CannotArrange):
            now = begun = fixture.clock(None)
            while any(closed(now) for closed in self.closures) and now - begun < LONGEST_CLOSURE:
                now = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
            if now != begun:
                fixture.clock(now)
                return True
            if fixtures.kind is FixtureKind.CONTROL:
                self.closures = ()  # each trial begins at the same time
        return False

    def signer(self, fixture: Fixture) -> Signer:
        """Return the signer of one trial."""
        sca = self.target.sca
        match sca.kind:
            case ScaKind.FORMS:
                hosts = (self.target.base_url, *self.target.hosts, *endpoints(self.target))
                return FormsSigner(
                    sca=sca,
                    transport=self.screens or self.client,
                    hosts=frozenset(map(origin, hosts)),
                    sent_code=self._sent_code(fixture),
                )
            case ScaKind.CONTROL:
                return ControlSigner(sca=sca, fixture=fixture)
            case ScaKind.BROWSER if self.chromium:
                from assay.sca.browser import BrowserSigner  # noqa: PLC0415 -- seldom used

                return BrowserSigner(
                    sca=sca, chromium=self.chromium, sent_code=self._sent_code(fixture)
                )
            case ScaKind.MANUAL if self.callback_server:
                from assay.sca.manual import ManualSigner  # noqa: PLC0415 -- seldom used

                return ManualSigner(callback_server=self.callback_server, prompt=self.person)
            case _:
                return MissingSigner()

    def _sent_code(self, fixture: Fixture) -> CodeSource:
        """Return the function that asks a fixture for a code, which no record has."""

        def sent(step: Authorise, access: Access, factor: str) -> str | None:
            code = fixture.code(step, access, factor)
            self.secrets.add(code, "code")
            return code

        return sent

    def for_trial(self, choice: RoleChoice | None) -> Environment:
        """Return the same environment for a trial that takes these listed customers first."""
        if choice is None or not isinstance(self.fixtures, RolesFixture):
            return self
        return replace(self, fixtures=replace(self.fixtures, choice=choice))

    def seeded(self, seed: int) -> Environment:
        """Return the same environment with fixtures from another seed."""
        if customers_of(self.target) is not Customers.CREATED:
            return self
        return replace(self, fixtures=open_provider(self.target, self._control, seed))

    @property
    def _control(self) -> Send:
        return learning(self.client.control, self.secrets)

    def expect_signatures(self, signatures: int) -> None:
        """Announce how many signatures the run may ask a person for."""
        if self.callback_server:
            self.callback_server.signatures = signatures

    def close(self) -> None:
        """Close the connections, the browser and the callback server."""
        for resource in (self.client, self.chromium, self.callback_server):
            if resource is not None:
                resource.close()


@dataclass(frozen=True, slots=True)
class MissingSigner(AnyReturnAddress):
    """The signer of a target file without `sca`: every signature is refused."""

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Refuse."""
        raise CannotArrange("an SCA signer (set `sca` in the target file)")


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
    """Make a target ready for use.

    `ledger` is the file of the ledger, if not the usual one. `wait` is how long the run may
    wait in all, where waiting helps.

    Raises:
        InputError: secrets that the target file names are not set (it lists all of them);
            the ledger, a certificate or a key cannot be used; there is no browser, or no
            free port, for the signer; a fixture provider in Python cannot be created.

    """
    secrets = look_up(target, os.environ)
    embedded = target.transport is TransportKind.EMBEDDED
    known = known_secrets(target, secrets)
    channels = open_channels(target, secrets, _embedded(bank, target) if embedded else None, known)
    control = learning(channels.client.control, known)
    return Environment(
        target=target,
        client=channels.client,
        screens=channels.screens,
        token_store=channels.token_store,
        fixtures=open_provider(target, control, seed),
        waiting=waiting_of(target, wait),
        secrets=known,
        variables=secrets,
        common=channels.common,
        party=channels.party,
        chromium=_chromium(target),
        callback_server=_callback_server(target),
        guard=Guard(target=target, book=_ledger(target, ledger)),
    )


def _ledger(target: Target, path: Path | None) -> Ledger | None:
    """Open the ledger of the quota used for real customers, if there are any."""
    if not has_real_customers(target):
        return None
    from assay.running.ledger import Ledger, default_path  # noqa: PLC0415 -- SQLite, seldom needed

    return Ledger.at(path or default_path())


def _embedded(bank: Bank, target: Target) -> Application:
    """Return the bank on the host of the base URL, in the dialect of the target file."""
    parts = urlsplit(target.base_url)
    app = bank(f"{parts.scheme}://{parts.netloc}")
    if not target.dialect:
        return app
    from assay.sandbox.dialects import DIALECTS  # noqa: PLC0415 -- seldom used

    return DIALECTS[target.dialect](app)


def _chromium(target: Target) -> Chromium | None:
    if target.sca.kind is not ScaKind.BROWSER:
        return None
    from assay.sca.browser import find_chromium  # noqa: PLC0415 -- seldom used

    chromium = find_chromium(target)
    base = origin(target.base_url)
    for url in endpoints(target):
        # The authorisation server may be on another host.
        chromium.hosts = {origin(url): base if target.nearby else origin(url), **chromium.hosts}
    return chromium


def _callback_server(target: Target) -> CallbackServer | None:
    if target.sca.kind is not ScaKind.MANUAL:
        return None
    from assay.sca.manual import open_callback_server  # noqa: PLC0415 -- seldom used

    return open_callback_server(target)
