"""Scope of a check: the part of a history that can make a difference to its evidence.

A long recording has calls of every operation, and most rules are about a few of them, so the judge
leaves out the others. A kind that sets no scope gets the whole history.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Calls(Enum):
    """The calls that a check looks at.

    `NAMED` are those of the operations that the clause names, of all operations on the same
    requests, and of those that transmit consents or change a request: a list may change with them. `CONTRACT` are those of the contract's operations.
    """

    ALL = "all"
    CONTRACT = "contract"
    NAMED = "named"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The calls that a check looks at, beside all other events.

    `needs` are kinds of events; a history without any of one kind shows the check nothing.
    """

    calls: Calls = Calls.ALL
    needs: tuple[type[object], ...] = ()
