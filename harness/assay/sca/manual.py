"""Signer that asks a person to sign in their own browser.

If nobody signs, the obligations that need the signature stay unverified, and the run
does not wait for a person again.
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

#: Instruction for each decision.
DOES: Mapping[Decision, str] = {
    Decision.CONFIRM: "confirm the request",
    Decision.REFUSE: "refuse the request",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualSigner:
    """Asks a person during one trial; `addresses` are the return addresses of its requests."""

    callback_server: CallbackServer
    person: Prompt
    addresses: dict[str, str] = field(default_factory=dict[str, str])

    def return_address(self) -> str | None:
        """Return an address of the callback server."""
        return self.callback_server.address()

    def returns(self, request: str, address: str) -> None:
        """Remember the return address of this request."""
        self.addresses[request] = address

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Ask for a signature and wait until the browser returns."""
        plain(step)
        callback_server = self.callback_server
        if callback_server.absent:
            raise CannotArrange(
                f"a person who signs (no response within {callback_server.wait:g} s)"
            )
        link = step.approval or ""
        if not link.lower().startswith(("https://", "http://")):
            raise CannotArrange("a link to the signing screens that a person can open")
        confirms = step.decision is Decision.CONFIRM
        own = self.addresses.get(step.request)
        address = own or callback_server.address()
        self._ask(step, access, link, address, by_itself=confirms and own is not None)
        match callback_server.expect(address, self.person):
            case Arrival.UNABLE:
                raise CannotArrange("a person who can sign in this way (reported as not possible)")
            case Arrival.NOBODY:
                # After a refusal the browser may stay at the bank; the person may be
                # there for the next one.
                callback_server.absent = confirms or not callback_server.seen
                self.person.tell(
                    "  no response; obligations that need this signature stay unverified"
                )
                raise CannotArrange(
                    f"a person who signs (no response within {callback_server.wait:g} s)"
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
        back = "your browser returns automatically"
        if not by_itself:
            back = f"open {address} if your browser does not return automatically"
        lines = [
            f"signature {callback_server.asked}: open {legible(link)}",
            f"  log in as {_whom(step, access)}",
            *_factor(step, access),
            f"  {DOES[step.decision]}",
            f"  {back}; the run waits {callback_server.wait:g} s",
            f"  if signing is not possible, open {address}{CANNOT}",
        ]
        self.person.tell("\n".join(lines))


def announcement(signatures: int) -> str:
    """Return the sentence that says how many signatures a run needs, at most."""
    count = "1 signature" if signatures == 1 else f"up to {signatures} signatures"
    return f"this run needs {count} by a person (about {signatures} min, one minute each)"


def _whom(step: Authorise, access: Access) -> str:
    """Return the customer's login; fictitious customers are shown with their password."""
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
