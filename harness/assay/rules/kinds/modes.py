"""`modes`: requests can be made in these modes, and in no others.

Of a mode there are three kinds: one in which a request is accepted everywhere (`served`),
one in which it is accepted where it is offered, and rejected where it is not, and one in
which it is rejected (`refused`). The control is the same request in a plain mode; what
tells a mode that is not served from one that is badly spelt is the target file's matter.

The TPP: requests are made only in modes that are served.
Whoever does not spell a mode in the target file does not offer it: a word that is not
spelt, and that the bank refuses, is such a mode. One that the bank takes is the file's
omission.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from assay.contract.model import Capability
from assay.history import Exchange, History, Lacking
from assay.history.steps import UNBOUND_MODE
from assay.judging.verdict import Agreement, Evidence, Standing
from assay.rules import steps
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.lifecycle.attempts import (
    Attempt,
    attempts,
    controls,
    must_be_taken,
    must_be_turned_down,
    press,
)
from assay.rules.lifecycle.parameters import modes, the_request
from assay.rules.lifecycle.request_queries import said_no
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, TppFacet, needs
from assay.rules.schema_pieces import BarredMode, SchemaPiece
from assay.rules.tpp_evidence import BROKEN, KEPT, OPEN, say

SERVED = "served"
#: What the names of facets end with, after the mode.
OFFERED, NOT_OFFERED, REFUSED = "-offered", "-not-offered", "-refused"


#: The TPP's obligation.
TPP_FACET = "served-modes-only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes(Kind):
    """The request, and its modes by what is to become of them."""

    name = "modes"
    applies_to = ("makes",)
    at_least_one_of = ("served", "where-offered", "refused")

    lifecycle: tracker.Lifecycle = the_request()
    served: tuple[str, ...] = modes(key="served")
    offered: tuple[str, ...] = modes(key="where-offered")
    refused: tuple[str, ...] = modes(key="refused")

    def schema_pieces(self) -> Iterator[SchemaPiece]:
        """Yield what the clause says of the shape of a request."""
        for mode in self.refused:
            yield BarredMode(operation=self.lifecycle.create.id, mode=mode, word="refused")

    def facets(self) -> tuple[Facet, ...]:
        """One facet a mode; two for one that is not offered everywhere."""
        plain = needs(Capability.PSU, Capability.WRITE)
        served = tuple(_want(self, mode) for mode in self.served)
        out = [
            Facet(
                id=mode,
                description=f"{mode} requests are accepted",
                scenario=Scenario(id=SERVED),
                needs=plain,
                requires=served,
            )
            for mode in self.served
        ]
        for mode in self.offered:
            # Whoever does not spell it does not offer it.
            here = (_want(self, mode, Standing.NOT_APPLICABLE),)
            yes, no = f"{mode}{OFFERED}", f"{mode}{NOT_OFFERED}"
            asks = f"{mode} requests are accepted where they are offered"
            out.append(
                Facet(
                    id=yes, description=asks, scenario=Scenario(id=yes), needs=plain, requires=here
                )
            )
            asks = f"{mode} requests are rejected where they are not offered"
            elsewhere = plain | needs(Capability.BANKS)
            out.append(
                Facet(
                    id=no,
                    description=asks,
                    scenario=Scenario(id=no),
                    needs=elsewhere,
                    requires=(_want(self, mode),),
                )
            )
        for mode in self.refused:
            id_, asks = f"{mode}{REFUSED}", f"{mode} requests are rejected"
            out.append(
                Facet(
                    id=id_,
                    description=asks,
                    scenario=Scenario(id=id_),
                    needs=plain,
                    requires=(_want(self, mode),),
                )
            )
        return tuple(out)

    def price(self, scenario: Scenario) -> int:
        """Count the calls: each served mode; or the plain one and the one in question."""
        return len(self.served) if scenario.id == SERVED else 2

    def probe(self, scenario: Scenario) -> Script:
        """Make a request in each served mode; or in a plain one, and then in the one in question."""
        if scenario.id == SERVED:
            psu = yield from request_steps.customer(self.lifecycle)
            # The plain mode comes last: it must be accepted beside the others, too.
            for mode in sorted(self.served, key=lambda mode: mode == self.lifecycle.mode):
                yield from steps.send(request_steps.request(self.lifecycle, psu, mode))
            return
        word = next(one for one in (NOT_OFFERED, OFFERED, REFUSED) if scenario.id.endswith(one))
        mode = scenario.id.removesuffix(word)
        if word == NOT_OFFERED:
            yield from request_steps.lack(mode)
        psu = yield from request_steps.customer(self.lifecycle)
        control = yield from steps.send(request_steps.request(self.lifecycle, psu))
        asked = request_steps.request(self.lifecycle, psu, mode, variation=f"in the mode {mode}")
        made = yield from steps.send(asked)
        if word != OFFERED:
            yield from press(self.lifecycle, control, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every attempt in one of the modes."""
        every = attempts(self.lifecycle, history)
        plain = {self.lifecycle.mode, *self.served}
        found = controls(
            every, lambda one: one.request.mode in plain, lambda one: _shared(self, one)
        )
        for one in every:
            mode, beside = one.request.mode or "", found.get(one.made.n, ())
            if mode in self.served:
                yield from must_be_taken(mode, one, beside, f"{mode} requests are served")
            elif mode in self.offered and mode not in one.bank:
                why = f"{mode} requests are offered"
                yield from must_be_taken(f"{mode}{OFFERED}", one, beside, why)
            elif mode in self.offered:
                why = f"{mode} requests are not offered here"
                yield from must_be_turned_down(f"{mode}{NOT_OFFERED}", one, beside, why)
            elif mode in self.refused:
                why = f"{mode} requests are not served"
                yield from must_be_turned_down(f"{mode}{REFUSED}", one, beside, why)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description="requests are made only in modes that are served",
            requires=tuple(
                BindingRequirement(operation=self.lifecycle.create.id, feature="mode", name=one)
                for one in (*self.served, *self.refused)
            ),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every request that is made in a mode."""
        lacking: set[str] = set()
        for event in history.events:
            if isinstance(event, Lacking):
                lacking.add(event.mode)
            if not isinstance(event, Exchange) or event.call.operation != self.lifecycle.create.id:
                continue
            mode = event.call.mode
            judged = None if mode is None else _judge(self, mode, event, lacking)
            if judged is not None and not event.call.malformed:
                yield say(TPP_FACET, judged, event, "a mode that is served", f"it is {mode}")


def _want(p: Modes, mode: str, otherwise: Standing = Standing.UNVERIFIED) -> BindingRequirement:
    return BindingRequirement(
        operation=p.lifecycle.create.id, feature="mode", name=mode, if_missing=otherwise
    )


def _shared(p: Modes, one: Attempt) -> Hashable:
    """Return what an attempt has in common with its control: the customer, and the thing.

    The thing counts whoever owns it, and so does that none was named, which is not null.
    """
    owned, sent = p.lifecycle.create.owned or "", one.made.call.arguments
    return one.subject.name, owned in sent, repr(sent.get(owned))


def _judge(p: Modes, mode: str, exchange: Exchange, lacking: set[str]) -> Agreement | None:
    """Judge a mode; None where the clause does not speak of it."""
    served = {*p.served, *p.offered}
    if mode in p.refused or (mode in p.offered and mode in lacking):
        return BROKEN
    if mode == UNBOUND_MODE:
        return None if not served else BROKEN if said_no(exchange) else OPEN
    return KEPT if mode in served or not served else None
