"""Who arranges what a probe needs: the two ends of that bargain.

A `World` opens a `Scene` for each trial, in which subjects come into being and
time passes. Adapters: `control` (the HTTP API `assay-control/1`), `roles`
(customers that the profile lists), `python` (a class of somebody else's, see
`assay.worlds`), and `nobody`. This file has what they share.

A scene raises `CannotArrange` for what it cannot do here and may do elsewhere; its
text says what would be needed. `TargetError` says that the world itself failed.
Moments are aware of their offset. They are the target's, wherever its clock differs.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from assay.errors import CannotArrange
from assay.history import Arrange, Authorise, Effect, Lack, Register, Subject, Withdraw
from assay.model import Json
from assay.target.encode import Access


class Scene(Protocol):
    """The state of one trial at the target."""

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Bring a subject into being, called as the step says.

        What was asked for comes first among the things it owns, in the order asked for.

        Raises:
            CannotArrange: there is no such customer, and none can be made.

        """
        ...

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock, or only read it (None); return what it shows.

        Raises:
            CannotArrange: it cannot be moved there.

        """
        ...

    def close(self) -> None:
        """Give back what the trial used."""
        ...

    def provider(self) -> Access:
        """Bring another third party into being, or raise `CannotArrange`."""
        ...

    def lack(self, step: Lack) -> datetime:
        """Go to a bank that does not offer something; return its clock."""
        ...

    def register(self, step: Register, access: Access, value: Json) -> datetime:
        """Let a customer have known a value for so long; return since when."""
        ...

    def withdraw(self, step: Withdraw) -> bool:
        """Cancel a request as the customer; tell whether that was taken."""
        ...

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        """Sign or refuse with no screens; tell whether that was taken."""
        ...

    def effects(self) -> tuple[Effect, ...] | None:
        """Tell what was carried out so far; None when nobody can."""
        ...


class NoRequests:
    """What a scene answers in which no requests can be arranged: it cannot."""

    def provider(self) -> Access:
        """Refuse."""
        raise CannotArrange("providers of the world's making (world: control)")

    def lack(self, step: Lack) -> datetime:
        """Refuse."""
        raise CannotArrange(f"a bank without {step.mode} (world: control)")

    def register(self, step: Register, access: Access, value: Json) -> datetime:
        """Refuse."""
        raise CannotArrange(f"a {step.argument} that is registered (world: control)")

    def withdraw(self, step: Withdraw) -> bool:
        """Refuse."""
        raise CannotArrange("a customer who acts through direct access (world: control)")

    def sign(self, step: Authorise, access: Access, factor: str) -> bool:
        """Refuse."""
        raise CannotArrange("a control API that signs (world: control)")

    def effects(self) -> tuple[Effect, ...] | None:
        """Tell that nobody knows."""
        return None


class World(Protocol):
    """Opens scenes, one a trial, so that nothing leaks from one to the next."""

    def open(self) -> Scene:
        """Begin a trial."""
        ...
