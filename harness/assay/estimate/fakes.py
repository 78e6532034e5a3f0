"""What stands in for a target while a trial is rehearsed (`run.rehearse`): nobody does.

The way to it, its scenes, who signs, and where accesses are written down. Only the scene
of listed customers is the real one, for it asks nobody anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assay.binding.encode import Access, Request
from assay.binding.target import Profile, ScaKind, WorldKind
from assay.errors import CannotArrange
from assay.execution.environment import Nobody as NoWorld
from assay.execution.environment import Stage
from assay.fixtures.protocol import NoRequests, Scene
from assay.fixtures.roles import RolesScene, RolesWorld
from assay.history import Arrange, Authorise, Ending, Subject, Wire
from assay.planning.dry_target import Nobody
from assay.sca.protocol import Anywhere, Signer, Wait, Walked
from assay.transport.protocol import Sent, nothing

if TYPE_CHECKING:
    from assay.execution.ledger import Use

__all__ = ["ANYTHING", "Anyone", "Silence", "scene_of", "signer_of"]

#: What a customer of nobody's has in place of every secret.
ANYTHING = "-"


@dataclass(slots=True)
class Silence:
    """The way to nowhere: nothing is sent."""

    base_url: str
    reached: bool = False

    def send(self, request: Request) -> Sent:
        """Send nothing."""
        return nothing(request, "nothing is sent")

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Arrange nothing."""
        raise CannotArrange("a world that is asked")

    def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class Granting(NoRequests):
    """A scene that only has a clock, which moves: all else there nobody answers."""

    nobody: Nobody

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Refuse; a rehearsal asks nobody."""
        raise CannotArrange("a world")

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock, or only read it."""
        self.nobody.now = to or self.nobody.now
        return self.nobody.now

    def provider(self) -> Access:
        """Give one of nobody's."""
        return Access(token=ANYTHING)

    def close(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class Passing(RolesScene):
    """The scene of real customers, where time is let pass."""

    nobody: Nobody = field(kw_only=True)

    def clock(self, to: datetime | None) -> datetime:
        """Let time pass until then; it never turns back."""
        self.nobody.now = max(to or self.nobody.now, self.nobody.now)
        return self.nobody.now


@dataclass(frozen=True, slots=True)
class Willing(Anywhere):
    """In place of a person or a browser: signs whatever there is to sign."""

    def sign(self, step: Authorise, access: Access, wait: Wait) -> Walked:
        """Sign."""
        return Walked(ending=Ending.CONFIRMED, wire=Wire(method="SIGN", url="nobody:", status=200))


class Anyone:
    """A book in which there is always room."""

    def gone(self, use: Use) -> int:
        """Return that none are."""
        return 0

    def spend(self, use: Use, *, most: int | None, run: str, at: datetime) -> bool:
        """Let it be spent."""
        return True


def scene_of(profile: Profile, nobody: Nobody, *, waits: bool) -> Scene:
    """Return a trial's scene; `waits` says that a clock which stands is waited for."""
    roles = profile.world.roles
    match profile.world.kind:
        case WorldKind.ROLES if waits:
            return Passing(roles=roles, now=lambda: nobody.now, nobody=nobody)
        case WorldKind.ROLES:
            return RolesWorld(roles=roles, now=lambda: nobody.now).open()
        case WorldKind.CONTROL | WorldKind.PYTHON:
            return Granting(nobody)
        case WorldKind.NONE:
            return NoWorld().open()


def signer_of(stage: Stage, scene: Scene) -> Signer:
    """Return who signs; a real signer, where it needs no person and no browser."""
    if stage.profile.sca.kind in {ScaKind.BROWSER, ScaKind.MANUAL}:
        return Willing()
    return stage.signer(scene)
