"""The signer interface: sign or refuse a request as the customer; and messages to a person.

`ControlSigner` needs no screens, and shows nothing of them: which factors they offer, how long they
wait, where they redirect.

A progress bar and pytest's capturing both control the terminal, so the caller of a run can
supply a `Prompt` of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Protocol, TypeAlias

from assay.binding.model.target import Sca
from assay.binding.wire.encode import Access
from assay.errors import CannotArrange
from assay.fixtures.protocol import Fixture
from assay.history import Authorise, Code, Decision, Ending, Wire

#: Lets this much time pass at the target, and returns its clock.
Wait: TypeAlias = Callable[[timedelta], datetime]
#: No time at all: only the clock is read.
NOW = timedelta(0)
#: Two codes of which at least one is wrong, because only one code is right.
WRONG = ("000000", "111111")
#: Parameters by which a browser may claim where it is to be redirected.
SPOOFED = ("returnUrl", "return_url", "redirect_uri", "successfulReportUrl", "next", "url")


@dataclass(slots=True, kw_only=True)
class ScreenFlowResult:
    """The result of one flow through the screens; see `history.Authorised`."""

    ending: Ending
    wire: Wire
    moments: list[datetime] = field(default_factory=list[datetime])
    offered: tuple[str, ...] | None = None
    screens: list[str] = field(default_factory=list[str])
    redirected: str | None = None
    unspelt: tuple[str, ...] = ()
    anonymous: bool = False
    coded: bool = False
    stuck: bool = False
    reopened: bool = False
    why: str = ""


class Signer(Protocol):
    """Signs a request, or refuses it, as the customer with this access."""

    #: Whether it signs several requests at one moment.
    signs_together: ClassVar[bool]

    def return_address(self) -> str | None:
        """Return an address for the customer to return to; None to use that of the target file."""
        ...

    def returns(self, request: str, address: str) -> None:
        """Record that this request was made with this return address."""
        ...

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Sign or refuse, as the step says.

        Raises:
            CannotArrange: this signer cannot perform the step.

        """
        ...


class AnyReturnAddress:
    """Mixin of signers that need no return address of their own, and sign one after the other."""

    __slots__ = ()
    signs_together: ClassVar[bool] = False

    def return_address(self) -> str | None:
        """Return None: the target file's address is used."""
        return None

    def returns(self, request: str, address: str) -> None:
        """Ignore the address."""


def require_plain(step: Authorise) -> None:
    """Reject a step that needs the screens to be operated by a program.

    Raises:
        CannotArrange: the step is not a plain signature.

    """
    if not step.right or step.linger or step.pace:
        raise CannotArrange(
            "an SCA signer that fills in the bank's screens"
            " (set `sca.kind` to `forms` or `browser` in the target file)"
        )


def factor_name(sca: Sca, value: str) -> str:
    """Return the contract's name of a factor on the screens; its own name if there is none."""
    return next((name for name, spelling in sca.factors.items() if spelling == value), value)


def codes_by_factor(factors: Mapping[str, str], codes: Mapping[str, str]) -> dict[str, str]:
    """Return codes, which are by the target's words of the factors, by the contract's names.

    A word that is the target's for no factor stays, unless it is the contract's name of one: the
    target has another word for that.
    """
    named = {name: codes[word] for name, word in factors.items() if word in codes}
    known = {*factors, *factors.values()}
    return {**{word: code for word, code in codes.items() if word not in known}, **named}


def text_to_enter(kind: Code, right: str) -> str:
    """Return the text that is entered where this one is right."""
    match kind:
        case Code.RIGHT:
            return right
        case Code.HALF:
            return right[: len(right) // 2]
        case Code.EMPTY:
            return ""
        case Code.WRONG:
            return next(code for code in WRONG if code != right)


class Prompt(Protocol):
    """Shows messages of a run to a person who may act on them."""

    def show(self, text: str) -> None:
        """Show a message on lines of its own."""
        ...

    def countdown(self, seconds: float) -> None:
        """Show how many seconds of waiting are left; 0 ends the countdown."""
        ...


class StderrPrompt:
    """Writes messages to standard error, without a countdown, which would clutter a log."""

    __slots__ = ()

    def show(self, text: str) -> None:
        """Write the message immediately: the run waits for the person."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def countdown(self, seconds: float) -> None:
        """Write nothing."""


def legible(text: str, limit: int = 2000) -> str:
    """Return untrusted text as one line without terminal control sequences."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text[:limit])


# -- The signer that uses the control API --------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSigner(AnyReturnAddress):
    """Asks the fixture of a trial to sign."""

    sca: Sca
    fixture: Fixture

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Sign or refuse at once."""
        require_plain(step)
        factor = step.factor or next(iter([*self.sca.factors, *access.codes]), None)
        if factor is None:
            what = "a factor to sign with (set `sca.factors` in the target file)"
            raise CannotArrange(what, key=("sca", "factors"))
        accepted = self.fixture.sign(step, access, self.sca.factors.get(factor, factor))
        confirmed = step.decision is Decision.CONFIRM
        signed = Ending.CONFIRMED if confirmed else Ending.REFUSED
        return ScreenFlowResult(
            ending=signed if accepted else Ending.STOPPED,
            wire=Wire(method="SIGN", url=step.approval or ""),
            moments=[wait(NOW)],
            why="" if accepted else "the control API did not accept the signature",
        )
