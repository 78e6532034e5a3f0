"""`return-address`: after signing, the customer is sent to the address that the request named.

Scheme, host, port and path are equal by the rules of RFC 3986, and the query keeps what the
request named; a bank may add parameters of its own. Nothing is said here of a customer who
did not sign. Of a page that leads on by a link or a script nobody can say where it leads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult

from assay.contract.files.document import Finding, Pointer
from assay.contract.model import Contract, Operation
from assay.history import Exchange, History, State
from assay.judging.verdict import Agreement, Evidence
from assay.rules import parameters
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
from assay.rules.lifecycle import request_steps, signing, tracker
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.request_queries import leads_to, split_url
from assay.rules.lifecycle.signing import Signing
from assay.rules.parameters import Raw, maker
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script

SIGNED, ONLY = "after-signing", "only-there"
SCENARIO = "ways-back"
#: What is added to an address to make it this request's own, and a host to make it another's.
OWN, FOREIGN = "visit=2&step=back", ".elsewhere.example"


def _returns(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a request that names no address to return to."""
    if "returns" not in maker(clause, raw):
        hint = "add `returns`, the argument with the address, to what makes it"
        yield at, f"a {name} names no address to return to", hint


def _argument(_contract: Contract, known: Mapping[str, Any]) -> str:
    """Return the argument with the address to return to."""
    create: Operation = known["lifecycle"].create
    if create.returns is None:
        raise TypeError(f"{create.id} names no argument that returns")
    return create.returns


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnAddress(Kind):
    """The argument of a request that holds the return address."""

    name = "return-address"
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request(also=_returns)
    argument: str = parameters.derived(_argument)

    def facets(self) -> tuple[Facet, ...]:
        """Where one is sent after signing, and when the browser asks for more."""
        asks = {
            SIGNED: f"who has signed is sent to {self.argument}",
            ONLY: "the browser cannot ask to be sent anywhere else",
        }
        wants = (
            *signing.requirements(self.lifecycle),
            BindingRequirement(
                operation=self.lifecycle.create.id, feature="argument", name=self.argument
            ),
        )
        return tuple(
            Facet(
                id=id_,
                description=words,
                scenario=Scenario(id=SCENARIO),
                needs=signing.NEEDS,
                requires=wants,
            )
            for id_, words in asks.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Sign with the profile's address and with one of its own; ask to be sent astray."""
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle, count=5)
        made, _ = yield from signing.try_to_sign(lifecycle, psu, 0)
        back = _address(self, made)
        parts = split_url(back)
        own = f"{back}{'&' if parts and parts.query else '?'}{OWN}" if parts else back
        yield from signing.try_to_sign(lifecycle, psu, 1, arguments={self.argument: own})
        for n, astray in enumerate(_astray(parts), start=2):
            words = f"the browser asks to be sent to {astray}"
            spoofed = replace(request_steps.SIGN, spoof=astray, variation=words)
            yield from signing.try_to_sign(lifecycle, psu, n, spoofed)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge where every customer was sent who came to the end of the way."""
        given = signing.signings(self.lifecycle, history)
        given = tuple(one for one in given if one.alone and not one.failed)
        sent: dict[str, Signing] = {}
        for one in given:
            if one.plain and _where(self, one) is Agreement.AGREES:
                sent.setdefault(one.subject, one)
        for one in given:
            control = sent.get(one.subject)
            if one.confirmed and (one.done or _waits(self, one)):
                yield from _signed(self, one, control)


def _address(p: ReturnAddress, made: Exchange) -> str:
    """Return the address of a request: what was really sent, where the history tells it."""
    return str(made.call.arguments.get(p.argument, ""))


def _astray(parts: SplitResult | None) -> tuple[str, ...]:
    """Return addresses that are not the right one, from the most to the least alike."""
    if parts is None:
        return tuple(f"https://{name}{FOREIGN}/" for name in ("one", "two", "three"))
    host = f"{parts.hostname}{FOREIGN}"
    return (
        parts._replace(path="/elsewhere", query="").geturl(),
        parts._replace(netloc=host).geturl(),
        f"https://another{FOREIGN}/",
    )


def _waits(p: ReturnAddress, one: Signing) -> bool:
    """Whether it was signed, and its day is still to come."""
    return one.undone and one.request.state is State.OPEN and p.lifecycle.deferred(one.request.mode)


def _where(p: ReturnAddress, one: Signing) -> Agreement:
    """Judge where the browser was sent: to the address, elsewhere, or nobody knows."""
    right, redirected = _right(p, one), one.event.redirected
    if not isinstance(right, str):
        return UNCLEAR
    if redirected is None:
        return DISAGREES if one.event.stuck else UNCLEAR
    return AGREES if leads_to(redirected, right) else DISAGREES


def _right(p: ReturnAddress, one: Signing) -> object:
    return one.request.arguments.get(p.argument)


def _signed(p: ReturnAddress, one: Signing, control: Signing | None) -> Iterator[Evidence]:
    right, event, agreement = _right(p, one), one.event, _where(p, one)
    expected = f"that the customer is sent to {right}"
    if not event.step.spoof:
        if one.plain:
            yield one.evidence(SIGNED, agreement, expected)
        return
    if agreement is DISAGREES and not _led(one, str(right)):
        agreement = UNCLEAR  # it went wrong, and not because the browser asked
    beside = control.request.numbers if control else ()
    yield one.evidence(ONLY, agreement, f"{expected}, and nowhere else", *beside)


def _led(one: Signing, right: str) -> bool:
    """Whether the browser was sent where it asked to be, or at least to that host."""
    redirected, asked = one.event.redirected, one.event.step.spoof
    if redirected is None:
        return False
    there, host, home = (split_url(url) for url in (redirected, asked, right))
    if not there or not host or not home:
        return leads_to(redirected, asked)
    strange = there.hostname == host.hostname and there.hostname != home.hostname
    return leads_to(redirected, asked) or strange
