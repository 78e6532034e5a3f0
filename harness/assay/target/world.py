"""Who arranges what a probe needs: the two ends of that bargain.

A `World` opens a `Scene` for each trial, in which subjects come into being and
time passes. Adapters: `control` (the HTTP API `assay-control/1`), `roles`
(customers that the profile lists), and `nobody`. This file has what they share.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from assay.history import Arrange, Subject
from assay.target.encode import Access


class Scene(Protocol):
    """The state of one trial at the target."""

    def arrange(self, step: Arrange) -> tuple[Subject, Access]:
        """Bring a subject into being, or raise `CannotArrange`."""
        ...

    def clock(self, to: datetime | None) -> datetime:
        """Move the clock, or only read it; return what it shows."""
        ...

    def close(self) -> None:
        """Give back what the trial used."""
        ...


class World(Protocol):
    """Opens scenes, one a trial, so that nothing leaks from one to the next."""

    def open(self) -> Scene:
        """Begin a trial."""
        ...
