"""One request from its making to its reading, for probes that look at what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from assay.history import Authorise, Authorised, Call, Ending, Exchange, Item, State
from assay.rules.requests import Life, making
from assay.rules.script import Part, send

#: The numbered events of one request: making, signing, reading it.
EACH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """What came of a request that a probe made."""

    made: Exchange
    signed: Authorised | None
    item: Item | None

    @property
    def lacking(self) -> bool:
        """Whether the customer was not offered the factor that was asked for."""
        one = self.signed
        return (
            one is not None
            and one.ending is Ending.STOPPED
            and one.offered is not None
            and one.step.factor not in (None, *one.offered)
        )

    @property
    def rejected(self) -> bool:
        """Whether it was refused at once, or is rejected."""
        return self.made.refused or (self.item is not None and self.item.state is State.REJECTED)


def through(life: Life, call: Call, how: Authorise = making.SIGN) -> Part[Came]:
    """Make a request, have it signed, and read it."""
    made = yield from send(call)
    signed = yield from making.sign(made, how)
    read = yield from making.read(life, made)
    return Came(made=made, signed=signed, item=read.item if read else None)
