"""The interface to the person in front of a run: messages, and a countdown.

A progress bar and pytest's capturing both control the terminal, so the caller of a run
can supply a `Prompt` of its own.
"""

from __future__ import annotations

import sys
from typing import Protocol


class Prompt(Protocol):
    """Shows messages of a run to a person who may act on them."""

    def tell(self, text: str) -> None:
        """Show a message on lines of its own."""
        ...

    def left(self, seconds: float) -> None:
        """Show how many seconds of waiting are left; 0 ends the countdown."""
        ...


class StderrPrompt:
    """Writes messages to standard error, without a countdown, which would clutter a log."""

    __slots__ = ()

    def tell(self, text: str) -> None:
        """Write the message immediately: the run waits for the person."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def left(self, seconds: float) -> None:
        """Write nothing."""


def legible(text: str, most: int = 2000) -> str:
    """Return untrusted text as one line without terminal control sequences."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text[:most])
