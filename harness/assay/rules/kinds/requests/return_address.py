"""`return-address`: after signing, the customer is redirected to the address in the request.

Scheme, host, port and path are equal by the rules of RFC 3986, and the query keeps what the
request named; a bank may add parameters of its own: any, or those that the target file names. Where a page
leads on by a link or a script is not decided.

Where a customer is redirected who refused is judged only if the contract or the bank says so. A bank may add
other parameters then. Of one who was disconnected, or whose request was rejected, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult

from assay.contract.model import Contract, Operation
from assay.files.document import Finding, Pointer
from assay.history import Authorised, Decision, Ending, Exchange, History, State
from assay.rules import parameters
from assay.rules.facets import make_facet
from assay.rules.lifecycle import request_queries, request_steps, signing, tracker
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.request_queries import leads_to, same_host, split_url
from assay.rules.lifecycle.signing import REFUSALS, Signing
from assay.rules.parameters import Raw, maker
from assay.rules.rule import RETURN, Calls, Facet, Kind, Purpose, Scenario, Scope, Script, bound
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence, Standing

SIGNED, ONLY = "after-signing", "only-there"
SCENARIO = "ways-back"
#: The facets of a customer who refuses, and their scenario.
BACK, NOT_BACK, REFUSAL = "back-after-refusal", "not-back-after-refusal", "refusal"
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
    scope = Scope(calls=Calls.NAMED, needs=(Authorised,))
    purpose = Purpose.PROMISE
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request(also=_returns, signed=True)
    after_refusal: str = parameters.choice(
        "same-address",
        "nowhere",
        "unspecified",
        key="after-refusal",
        description="same-address, nowhere or unspecified",
        hint="where is a customer redirected who refused?",
        required=False,
        default="unspecified",
    )
    argument: str = parameters.derived(_argument)

    def facets(self) -> tuple[Facet, ...]:
        """Where one is sent after signing or refusing, and when the browser asks for more."""
        descriptions = {
            SIGNED: f"the customer is redirected to {self.argument} after signing",
            ONLY: "the browser cannot request a redirect to another address",
        }
        requirements = (
            *signing.requirements(self.lifecycle),
            *bound(self.lifecycle.create, "argument", self.argument),
            *bound(self.lifecycle.create, "approval", RETURN, if_missing=Standing.NOT_APPLICABLE),
        )
        if self.after_refusal == "same-address":
            descriptions[BACK] = f"a customer who refuses is redirected to {self.argument}"
        elif self.after_refusal == "nowhere":
            descriptions[NOT_BACK] = "a customer who refuses is not redirected to the TPP"
        return tuple(
            make_facet(
                id_,
                text,
                SCENARIO if id_ in (SIGNED, ONLY) else REFUSAL,
                signing.NEEDS,
                requirements,
            )
            for id_, text in descriptions.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Sign with the target file's address and with one of its own; ask to be sent astray.

        Or sign, and refuse another request.
        """
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle, count=5)
        made, _ = yield from signing.try_to_sign(lifecycle, psu, 0)
        if scenario.id == REFUSAL:
            words = "the customer refuses it"
            how = replace(request_steps.SIGN, decision=Decision.REFUSE, variation=words)
            yield from signing.try_to_sign(lifecycle, psu, 1, how)
            return
        back = self._address(made)
        parts = split_url(back)
        own = f"{back}{'&' if parts and parts.query else '?'}{OWN}" if parts else back
        yield from signing.try_to_sign(lifecycle, psu, 1, arguments={self.argument: own})
        for n, astray in enumerate(_astray(parts), start=2):
            variation = f"the browser requests a redirect to {astray}"
            spoofed = replace(request_steps.SIGN, spoof=astray, variation=variation)
            yield from signing.try_to_sign(lifecycle, psu, n, spoofed)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge the redirection of every customer who completed the screens, or refused."""
        signings = signing.signings(self.lifecycle, history)
        signings = tuple(attempt for attempt in signings if attempt.alone and not attempt.failed)
        sent: dict[str, Signing] = {}
        for signature in signings:
            if signature.plain and self._where(signature) is Agreement.AGREES:
                sent.setdefault(signature.subject, signature)
        for signature in signings:
            control = sent.get(signature.subject)
            nowhere = signature.event.redirected is None
            if nowhere and not _SCHEME.match(str(self._right(signature))):
                continue  # no address: a bank need not check that it is one
            if signature.confirmed and (signature.done or self._waits(signature)):
                yield from self._signed(signature, control)
            elif self.after_refusal != "unspecified" and _refused(signature):
                yield self._after_refusal(signature, control)

    def _address(self, made: Exchange) -> str:
        """Return the return address that a request was sent with."""
        return str(made.call.arguments.get(self.argument, ""))

    def _waits(self, signing: Signing) -> bool:
        """Whether the request was signed and its day is still to come, as was read afterwards.

        Who pauses may be disconnected instead, which an open request does not show.
        """
        step, request = signing.event.step, signing.request
        read = any(each.n > signing.event.n and each.item for each in request.reads)
        return (
            signing.undone
            and not (step.linger or step.pace)
            and read
            and request.state is State.OPEN
            and self.lifecycle.deferred(signing.request.mode)
        )

    def _where(self, attempt: Signing) -> Agreement:
        """Judge where the browser was sent: to the address, elsewhere, or unknown."""
        right, redirected = self._right(attempt), attempt.event.redirected
        if not isinstance(right, str):
            return UNCLEAR
        if redirected is None:
            return DISAGREES if attempt.event.stuck else UNCLEAR
        return AGREES if leads_to(redirected, right, attempt.event.adds) else DISAGREES

    def _right(self, signing: Signing) -> object:
        return signing.request.arguments.get(self.argument)

    def _signed(self, signing: Signing, control: Signing | None) -> Iterator[Evidence]:
        right, event, agreement = self._right(signing), signing.event, self._where(signing)
        expected = f"a redirect of the customer to {right}"
        if not event.step.spoof:
            if signing.plain:
                yield signing.evidence(SIGNED, agreement, expected)
            return
        if agreement is DISAGREES and not _led(signing, str(right)):
            agreement = UNCLEAR  # a wrong address, but not the one the browser asked for
        controls = control.request.numbers if control else ()
        yield signing.evidence(ONLY, agreement, f"{expected} and to no other address", *controls)

    def _after_refusal(self, signing: Signing, control: Signing | None) -> Evidence:
        """Judge where a customer was sent who refused, beside one who signed and was sent back.

        Nothing more is known of a page that leads on than of an address that is not the TPP's.
        """
        right, redirected = str(self._right(signing)), signing.event.redirected
        there = None if redirected is None else leads_to(redirected, right)
        if self.after_refusal == "same-address":
            facet, expected = BACK, f"a redirect of the customer to {right}"
            strayed = there is False or (there is None and signing.event.stuck)
            agreement = AGREES if there else DISAGREES if strayed and control else UNCLEAR
        else:
            facet, expected = NOT_BACK, "no redirect of the customer to the TPP"
            back = redirected is not None and (there or same_host(redirected, right))
            stays = there is None and signing.event.stuck and control
            agreement = DISAGREES if back else AGREES if stays else UNCLEAR
        controls = control.request.numbers if control else ()
        return signing.evidence(facet, agreement, expected, *controls)


def _refused(signing: Signing) -> bool:
    """Whether the customer of a request refused it at once, on a screen, and the bank took the decision."""
    event, step = signing.event, signing.event.step
    plain = step.right and not (step.linger or step.pace or step.spoof)
    refused = event.ending is Ending.REFUSED and step.decision is Decision.REFUSE
    taken = event.wire.status not in REFUSALS and not signing.done
    return refused and plain and taken and request_queries.by_owner(signing.request, event)


#: What every address begins with, also that of an application.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)


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


def _led(signing: Signing, right: str) -> bool:
    """Whether the browser was sent to the spoofed address, or at least to its host."""
    redirected, spoofed = signing.event.redirected, signing.event.step.spoof
    if redirected is None:
        return False
    there, host, home = (split_url(url) for url in (redirected, spoofed, right))
    if not there or not host or not home:
        return leads_to(redirected, spoofed)
    strange = there.hostname == host.hostname and there.hostname != home.hostname
    return leads_to(redirected, spoofed) or strange
