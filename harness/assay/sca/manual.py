"""Signing by a person, who is told what to do and comes back when it is done.

That nobody is there is nobody's fault: what needs a signature is then unverified, and
nobody is waited for again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assay.binding.encode import Access
from assay.errors import CannotArrange
from assay.history import Authorise, Decision, Ending, Wire
from assay.sca.callback_server import CANNOT, Arrival, CallbackServer
from assay.sca.prompt import Prompt, legible
from assay.sca.protocol import NOW, ScreenFlowResult, Wait, plain

#: What a person does to a request.
DOES: Mapping[Decision, str] = {
    Decision.CONFIRM: "confirm the request",
    Decision.REFUSE: "refuse the request",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualSigner:
    """Asks a person, in one trial; `addresses` are where each request comes back to."""

    callback_server: CallbackServer
    person: Prompt
    addresses: dict[str, str] = field(default_factory=dict[str, str])

    def return_address(self) -> str | None:
        """Have the browser come back here."""
        return self.callback_server.address()

    def returns(self, request: str, address: str) -> None:
        """Know this request's browser when it comes back."""
        self.addresses[request] = address

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Ask for a signature and wait until the browser is back."""
        plain(step)
        callback_server = self.callback_server
        if callback_server.absent:
            raise CannotArrange(
                f"a person who signs (nobody was back in {callback_server.wait:g} s)"
            )
        link = step.approval or ""
        if not link.lower().startswith(("https://", "http://")):
            raise CannotArrange("a link to the screens that a person can open")
        confirms = step.decision is Decision.CONFIRM
        own = self.addresses.get(step.request)
        address = own or callback_server.address()
        self._ask(step, access, link, address, by_itself=confirms and own is not None)
        match callback_server.expect(address, self.person):
            case Arrival.UNABLE:
                raise CannotArrange("a person who can sign like this (it could not be done)")
            case Arrival.NOBODY:
                # Who has refused may be left at the bank, and be there for the next one.
                callback_server.absent = confirms or not callback_server.seen
                self.person.tell("  nobody came back; what needs this signature stays unverified")
                raise CannotArrange(
                    f"a person who signs (nobody was back in {callback_server.wait:g} s)"
                )
            case Arrival.BACK:
                return ScreenFlowResult(
                    ending=Ending.CONFIRMED if confirms else Ending.REFUSED,
                    wire=Wire(method="SIGN", url=link),
                    moments=[wait(NOW)],
                )

    def _ask(
        self, step: Authorise, access: Access, link: str, address: str, *, by_itself: bool
    ) -> None:
        callback_server = self.callback_server
        if not callback_server.asked:
            self.person.tell(announcement(callback_server.signatures))
        callback_server.asked += 1
        back = "your browser comes back by itself"
        if not by_itself:
            back = f"open {address} if your browser does not come back by itself"
        lines = [
            f"signature {callback_server.asked}: open {legible(link)}",
            f"  log in as {_whom(step, access)}",
            *_factor(step, access),
            f"  {DOES[step.decision]}",
            f"  {back}; the wait ends after {callback_server.wait:g} s",
            f"  if it cannot be done, open {address}{CANNOT}",
        ]
        self.person.tell("\n".join(lines))


def announcement(signatures: int) -> str:
    """Say how much of a person's time a run takes, as far as anybody knows beforehand."""
    count = "1 signature" if signatures == 1 else f"up to {signatures} signatures"
    return f"this run needs {count} by a person: about {signatures} min, at a minute each"


def _whom(step: Authorise, access: Access) -> str:
    """Name the customer; fictive ones come with all that it takes."""
    who = access.login or access.id or step.by or step.subject
    return legible(f"{who}, password {access.password}" if access.password else who)


def _factor(step: Authorise, access: Access) -> Iterator[str]:
    codes = access.codes
    if step.factor is not None:
        code = codes.get(step.factor)
        yield legible(f"  choose {step.factor}" + (f", code {code}" if code else ""))
    elif codes:
        known = ", ".join(f"{name} (code {code})" for name, code in codes.items())
        yield legible(f"  choose any factor: {known}")
