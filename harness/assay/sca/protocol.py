"""What signs a request, however it does that: the bargain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from assay.binding.encode import Access
from assay.binding.target import Sca
from assay.errors import CannotArrange
from assay.history import Authorise, Code, Ending, Wire

#: Lets so much time pass at the target (none: only looks at its clock); returns the clock.
Wait: TypeAlias = Callable[[timedelta], datetime]
#: No time at all.
NOW = timedelta(0)
#: Codes that are wrong for sure, for one of them is not the right one.
WRONG = ("000000", "111111")
#: Names under which a browser may claim to know where it is to be sent.
SPOOFED = ("returnUrl", "return_url", "redirect_uri", "successfulReportUrl", "next", "url")


@dataclass(slots=True, kw_only=True)
class ScreenFlowResult:
    """What became of a way through the screens; see `history.Authorised`."""

    ending: Ending
    wire: Wire
    moments: list[datetime] = field(default_factory=list[datetime])
    offered: tuple[str, ...] | None = None
    screens: list[str] = field(default_factory=list[str])
    redirected: str | None = None
    unspelt: tuple[str, ...] = ()
    coded: bool = False
    stuck: bool = False
    why: str = ""


class Signer(Protocol):
    """Signs a request, or refuses it, for the customer whose access this is."""

    def return_address(self) -> str | None:
        """Make up where a customer is to come back to; None when it is all one."""
        ...

    def returns(self, request: str, address: str) -> None:
        """Learn that this request was made with that address to come back to."""
        ...

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Do what the step says.

        Raises:
            CannotArrange: nobody can do so here.

        """
        ...


class AnyReturnAddress:
    """What a signer says to whom it is all one where a customer comes back to."""

    __slots__ = ()

    def return_address(self) -> str | None:
        """Leave it to the profile."""
        return None

    def returns(self, request: str, address: str) -> None:
        """Forget it."""


def plain(step: Authorise) -> None:
    """Refuse what takes a program on the screens.

    Raises:
        CannotArrange: it is no plain signature.

    """
    if step.code is not Code.RIGHT or step.spoof or step.linger or step.pace:
        raise CannotArrange("a program that walks the screens (sca: forms, or browser)")


def word_of(sca: Sca, value: str) -> str:
    """Return the contract's word for a factor as the screens spell it; or it itself."""
    return next((word for word, spelt in sca.factors.items() if spelt == value), value)


def typed(kind: Code, word: str, codes: Mapping[str, str]) -> str:
    """Return what is typed in as the code of a factor."""
    right = codes.get(word, "")
    match kind:
        case Code.RIGHT:
            return right
        case Code.HALF:
            return right[: len(right) // 2]
        case Code.EMPTY:
            return ""
        case Code.WRONG:
            return next(one for one in WRONG if one != right)
