"""What clauses of a kind are for: what a new one asks of the bank, and a removed one no longer."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Purpose(Enum):
    """What clauses of a kind are for."""

    #: The bank serves or returns something.
    PROMISE = "promise"
    #: The bank refuses or withholds something.
    LIMIT = "limit"
    #: The bank prevents what no TPP is entitled to.
    SAFEGUARD = "safeguard"
    #: The bank may fail to serve at times.
    EXCUSE = "excuse"
    #: The kind does not say.
    UNSTATED = "unstated"


PROMISE: Final = Purpose.PROMISE
LIMIT: Final = Purpose.LIMIT
SAFEGUARD: Final = Purpose.SAFEGUARD
EXCUSE: Final = Purpose.EXCUSE
