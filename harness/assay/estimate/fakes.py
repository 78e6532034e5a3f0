"""What stands in for a target while a trial is rehearsed (`run.rehearse`): nobody does.

The way to it, its scenes, who signs, and where accesses are written down. Only the scene
of listed customers is the real one, for it asks nobody anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assay.binding.encode import Access, HttpRequest
from assay.binding.target import FixtureKind, ScaKind, Target
from assay.errors import CannotArrange
from assay.execution.environment import Environment
from assay.execution.environment import MissingFixtures as NoWorld
from assay.fixtures.protocol import Fixture, ReadOnlyFixture
from assay.fixtures.roles import RolesFixture, RolesProvider
from assay.history import Arrange, Authorise, Ending, Subject, Wire
from assay.rules.dry_run import DryTarget
from assay.sca.protocol import AnyReturnAddress, ScreenFlowResult, Signer, Wait
from assay.transport.protocol import Delivery, nothing

if TYPE_CHECKING:
    from assay.execution.ledger import QuotaUse

__all__ = ["ANYTHING", "NullLedger", "NullTransport", "scene_of", "signer_of"]

#: What a customer of nobody's has in place of every secret.
ANYTHING = "-"


@dataclass(slots=True)
class NullTransport:
    """The way to nowhere: nothing is sent."""

    base_url: str
    reached: bool = False

    def send(self, request: HttpRequest) -> Delivery:
        """Send nothing."""
        return nothing(request, "nothing is sent")

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Arrange nothing."""
        raise CannotArrange("a world that is asked")

    def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class FakeFixture(ReadOnlyFixture):
    """A scene that only has a clock, which moves: all else there nobody answers."""

    dry_target: DryTarget

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Refuse; a rehearsal asks nobody."""
        raise CannotArrange("a world")

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock, or only read it."""
        self.dry_target.now = to or self.dry_target.now
        return self.dry_target.now

    def provider(self) -> Access:
        """Give one of nobody's."""
        return Access(token=ANYTHING)

    def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class FakeClock(RolesFixture):
    """The scene of real customers, where time is let pass."""

    dry_target: DryTarget = field(kw_only=True)

    def clock(self, to: datetime | None) -> datetime:
        """Let time pass until then; it never turns back."""
        self.dry_target.now = max(to or self.dry_target.now, self.dry_target.now)
        return self.dry_target.now


@dataclass(frozen=True, slots=True)
class FakeSigner(AnyReturnAddress):
    """In place of a person or a browser: signs whatever there is to sign."""

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Sign."""
        return ScreenFlowResult(
            ending=Ending.CONFIRMED, wire=Wire(method="SIGN", url="nobody:", status=200)
        )


class NullLedger:
    """A book in which there is always room."""

    def gone(self, use: QuotaUse) -> int:
        """Return that none are."""
        return 0

    def spend(self, use: QuotaUse, *, most: int | None, run: str, at: datetime) -> bool:
        """Let it be spent."""
        return True


def scene_of(target: Target, dry_target: DryTarget, *, waits: bool) -> Fixture:
    """Return a trial's scene; `waits` says that a clock which stands is waited for."""
    roles = target.fixtures.roles
    match target.fixtures.kind:
        case FixtureKind.ROLES if waits:
            return FakeClock(roles=roles, now=lambda: dry_target.now, dry_target=dry_target)
        case FixtureKind.ROLES:
            return RolesProvider(roles=roles, now=lambda: dry_target.now).open()
        case FixtureKind.CONTROL | FixtureKind.PYTHON:
            return FakeFixture(dry_target)
        case FixtureKind.NONE:
            return NoWorld().open()


def signer_of(environment: Environment, fixture: Fixture) -> Signer:
    """Return who signs; a real signer, where it needs no person and no browser."""
    if environment.target.sca.kind in {ScaKind.BROWSER, ScaKind.MANUAL}:
        return FakeSigner()
    return environment.signer(fixture)
