"""`return-address`: after signing, the customer is sent to the address that the request named.

Addresses are compared by the equivalence rules of RFC 3986. A customer who refuses may be
sent anywhere but to this address. A page that leads on by a link or a script is not
followed, so it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult

from assay.contract.files.document import Finding, Pointer
from assay.contract.model import Contract, Operation
from assay.history import Decision, Ending, Exchange, History, State
from assay.judging.verdict import Agreement, Evidence
from assay.rules import parameters
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
from assay.rules.lifecycle import request_queries, request_steps, signing, tracker
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.request_queries import same_url, split_url
from assay.rules.lifecycle.signing import Signing
from assay.rules.parameters import Raw, maker
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script

SIGNED, REFUSED, ONLY = "after-signing", "not-after-refusal", "only-there"
SCENARIO = "ways-back"
#: The query added to make an address unique, and the suffix of a foreign host.
OWN, FOREIGN = "visit=2&step=back", ".elsewhere.example"


def _returns(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a request that has no return address."""
    if "returns" not in maker(clause, raw):
        hint = "add `returns`, the argument with the address, to the operation that makes it"
        yield at, f"{name!r} has no return address", hint


def _argument(_contract: Contract, known: Mapping[str, Any]) -> str:
    """Return the argument with the return address."""
    create: Operation = known["lifecycle"].create
    if create.returns is None:
        raise TypeError(f"{create.id} has no argument with the return address")
    return create.returns


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnAddress(Kind):
    """The argument of a request that holds the return address."""

    name = "return-address"
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request(also=_returns)
    argument: str = parameters.derived(_argument)

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for after signing, after a refusal, and for a spoofed address."""
        descriptions = {
            SIGNED: f"a customer who signs is sent exactly to {self.argument}",
            REFUSED: f"a customer who refuses is not sent to {self.argument}",
            ONLY: "the browser cannot choose another address",
        }
        requirements = (
            *signing.requirements(self.lifecycle),
            BindingRequirement(
                operation=self.lifecycle.create.id, feature="argument", name=self.argument
            ),
        )
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id=SCENARIO),
                needs=signing.NEEDS,
                requires=requirements,
            )
            for id_, description in descriptions.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Sign with the usual and with a unique address; refuse; spoof other addresses."""
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle, count=6)
        made, _ = yield from signing.try_to_sign(lifecycle, psu, 0)
        back = _address(self, made)
        parts = split_url(back)
        own = f"{back}{'&' if parts and parts.query else '?'}{OWN}" if parts else back
        yield from signing.try_to_sign(lifecycle, psu, 1, arguments={self.argument: own})
        refuse = replace(
            request_steps.SIGN, decision=Decision.REFUSE, variation="the customer refuses"
        )
        yield from signing.try_to_sign(lifecycle, psu, 2, refuse)
        for n, astray in enumerate(_astray(parts), start=3):
            variation = f"the browser asks for {astray}"
            spoofed = replace(request_steps.SIGN, spoof=astray, variation=variation)
            yield from signing.try_to_sign(lifecycle, psu, n, spoofed)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge the redirection of every customer who completed the screens."""
        signings = signing.signings(self.lifecycle, history)
        signings = tuple(attempt for attempt in signings if attempt.alone and not attempt.failed)
        sent: dict[str, Signing] = {}
        for attempt in signings:
            if attempt.plain and _where(self, attempt) is Agreement.AGREES:
                sent.setdefault(attempt.subject, attempt)
        for attempt in signings:
            control = sent.get(attempt.subject)
            if attempt.event.ending is Ending.REFUSED:
                yield from _refused(self, attempt, control)
            elif attempt.confirmed and (attempt.done or _waits(self, attempt)):
                yield from _signed(self, attempt, control)


def _address(clause: ReturnAddress, made: Exchange) -> str:
    """Return the return address that a request was sent with."""
    return str(made.call.arguments.get(clause.argument, ""))


def _astray(parts: SplitResult | None) -> tuple[str, ...]:
    """Return wrong addresses, from the most to the least similar one."""
    if parts is None:
        return tuple(f"https://{name}{FOREIGN}/" for name in ("one", "two", "three"))
    host = f"{parts.hostname}{FOREIGN}"
    return (
        parts._replace(path="/elsewhere", query="").geturl(),
        parts._replace(netloc=host).geturl(),
        f"https://another{FOREIGN}/",
    )


def _waits(clause: ReturnAddress, signing: Signing) -> bool:
    """Whether the request was signed and its day is still to come."""
    return (
        signing.undone
        and signing.request.state is State.OPEN
        and clause.lifecycle.deferred(signing.request.mode)
    )


def _where(clause: ReturnAddress, signing: Signing) -> Agreement:
    """Judge the redirection: to the exact address, elsewhere, or unknown."""
    right, redirected = _right(clause, signing), signing.event.redirected
    if not isinstance(right, str):
        return UNCLEAR
    if redirected is None:
        return DISAGREES if signing.event.stuck else UNCLEAR
    return AGREES if same_url(redirected, right) else DISAGREES


def _right(clause: ReturnAddress, signing: Signing) -> object:
    return signing.request.arguments.get(clause.argument)


def _signed(clause: ReturnAddress, signing: Signing, control: Signing | None) -> Iterator[Evidence]:
    right, event, agreement = _right(clause, signing), signing.event, _where(clause, signing)
    expected = f"the customer to be sent to {right}"
    if not event.step.spoof:
        if signing.plain:
            yield signing.evidence(SIGNED, agreement, expected)
        return
    if agreement is DISAGREES and not _led(signing, str(right)):
        agreement = UNCLEAR  # a wrong address, but not the one the browser asked for
    controls = control.request.numbers if control else ()
    yield signing.evidence(ONLY, agreement, f"{expected}, and nowhere else", *controls)


def _led(signing: Signing, right: str) -> bool:
    """Whether the browser was sent to the spoofed address, or at least to its host."""
    redirected, spoofed = signing.event.redirected, signing.event.step.spoof
    if redirected is None:
        return False
    there, host, home = (split_url(url) for url in (redirected, spoofed, right))
    if not there or not host or not home:
        return same_url(redirected, spoofed)
    strange = there.hostname == host.hostname and there.hostname != home.hostname
    return same_url(redirected, spoofed) or strange


def _refused(
    clause: ReturnAddress, signing: Signing, control: Signing | None
) -> Iterator[Evidence]:
    right, redirected = _right(clause, signing), signing.event.redirected
    if (
        not isinstance(right, str)
        or signing.done
        or not request_queries.by_owner(signing.request, signing.event)
    ):
        return
    there = redirected is not None and same_url(redirected, right)
    agreement = DISAGREES if there else AGREES if control else UNCLEAR
    controls = control.request.numbers if control else ()
    yield signing.evidence(REFUSED, agreement, f"the customer not to be sent to {right}", *controls)
