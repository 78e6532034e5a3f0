"""How a person in front of a run is spoken to, wherever the run is started from.

A progress bar and pytest's capturing both have a say in what reaches a terminal, so
whoever starts a run may bring a `Person` of its own.
"""

from __future__ import annotations

import sys
from typing import Protocol


class Prompt(Protocol):
    """Somebody who reads what a run says, and may act on it."""

    def tell(self, text: str) -> None:
        """Say something, on lines of its own."""
        ...

    def left(self, seconds: float) -> None:
        """Say for how long it is still waited; 0 when it is not, or not any more."""
        ...


class StderrPrompt:
    """Lines on the standard error stream, and no countdown: a log is no clock."""

    __slots__ = ()

    def tell(self, text: str) -> None:
        """Write it now, for somebody is waited for."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def left(self, seconds: float) -> None:
        """Write nothing."""


def legible(text: str, most: int = 2000) -> str:
    """Return a stranger's text in one line that no terminal takes for a command."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text[:most])
