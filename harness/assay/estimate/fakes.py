"""Fakes for a dry run: transport, fixtures, signer and ledger.

Only the fixture of listed customers is the real one, because it contacts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from assay.binding.encode import Access, HttpRequest
from assay.binding.target import RoleChoice, ScaKind, Target
from assay.errors import CannotArrange
from assay.execution.environment import Environment
from assay.fixtures.protocol import Fixture, ReadOnlyFixture
from assay.fixtures.providers import Customers, MissingFixtures, customers_of
from assay.fixtures.roles import UNUSED, RolesFixture
from assay.history import Arrange, Authorise, Ending, Subject, Wire
from assay.rules.dry_run import DryTarget
from assay.sca.protocol import AnyReturnAddress, ScreenFlowResult, Signer, Wait
from assay.transport.protocol import Delivery, unanswered

__all__ = ["ANYTHING", "NullTransport", "fixture_of", "signer_of"]

#: Stands for every secret of a fake customer.
ANYTHING = "-"


@dataclass(slots=True)
class NullTransport:
    """A transport that sends nothing."""

    base_url: str
    reached: bool = False

    def send(self, request: HttpRequest) -> Delivery:
        """Return a delivery without an answer."""
        return unanswered(request, "nothing is sent")

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Raise `CannotArrange`: there is no control API."""
        raise CannotArrange("a control API")

    def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class FakeFixture(ReadOnlyFixture):
    """A fixture whose clock moves, and which signs and renews whatever it is asked to."""

    dry_target: DryTarget

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Raise `CannotArrange`: customers come from the dry target."""
        raise CannotArrange("a fixture provider")

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock, or only read it."""
        self.dry_target.now = to or self.dry_target.now
        return self.dry_target.now

    def tpp(self) -> Access:
        """Return fake credentials of a TPP."""
        return Access(token=ANYTHING)

    def renew(self, access: Access, *, by_tpp: bool) -> Access:
        """Return fake credentials."""
        return Access(token=ANYTHING)

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        """Accept the signature."""
        return True

    def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class FakeClock(RolesFixture):
    """The fixture of real customers, with a clock that moves."""

    dry_target: DryTarget = field(kw_only=True)

    def clock(self, to: datetime | None) -> datetime:
        """Let time pass until then; the clock never runs backwards."""
        self.dry_target.now = max(to or self.dry_target.now, self.dry_target.now)
        return self.dry_target.now


@dataclass(frozen=True, slots=True)
class FakeSigner(AnyReturnAddress):
    """A signer in place of a person or a browser, which confirms every request."""

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Confirm the request."""
        return ScreenFlowResult(
            ending=Ending.CONFIRMED, wire=Wire(method="SIGN", url="dry-run:", status=200)
        )


def fixture_of(
    target: Target, dry_target: DryTarget, *, waits: bool, choice: RoleChoice = UNUSED
) -> Fixture:
    """Return a trial's fixture; `waits` says that a clock which cannot move is waited for.

    `choice` says which listed customers are taken first.
    """
    roles, tpps = target.fixtures.roles, target.fixtures.tpps
    environ = {tpp.token_env: ANYTHING for tpp in tpps}
    match customers_of(target):
        case Customers.LISTED:
            waiting = partial(FakeClock, dry_target=dry_target)
            return (waiting if waits else RolesFixture)(
                roles=roles,
                tpps=tpps,
                operations=target.operations,
                standing=target.fixtures.now is not None,
                choice=choice,
                environ=environ,
                now=lambda: dry_target.now,
            )
        case Customers.CREATED | Customers.CHOSEN:
            return FakeFixture(dry_target)
        case Customers.NONE:
            return MissingFixtures().open()


def signer_of(environment: Environment, fixture: Fixture) -> Signer:
    """Return the signer: the real one where it needs no person and no browser."""
    if environment.target.sca.kind in {ScaKind.BROWSER, ScaKind.MANUAL}:
        return FakeSigner()
    return environment.signer(fixture)
