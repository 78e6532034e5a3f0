"""`modes`: requests can be made in these modes, and in no others.

Of a mode there are three kinds: one in which a request is accepted everywhere (`served`),
one in which it is accepted where it is offered, and rejected where it is not, and one in
which it is rejected (`refused`). The control is the same request in a plain mode; what
tells a mode that is not served from one that is badly spelt is the target file's matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from assay.contract.model import Capability, Clause, Contract, Party
from assay.history import History
from assay.judging.verdict import Evidence, Standing
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.lifecycle.attempts import (
    Attempt,
    attempts,
    controls,
    must_be_taken,
    must_be_turned_down,
    press,
)
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, needs

SERVED = "served"
#: What the names of facets end with, after the mode.
OFFERED, NOT_OFFERED, REFUSED = "-offered", "-not-offered", "-refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The request, and its modes by what is to become of them."""

    lifecycle: tracker.Lifecycle
    served: tuple[str, ...]
    offered: tuple[str, ...]
    refused: tuple[str, ...]


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        lifecycle=tracker.of_clause(clause, contract),
        served=parameters.texts(clause, "served"),
        offered=parameters.texts(clause, "where-offered"),
        refused=parameters.texts(clause, "refused"),
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet a mode; two for one that is not offered everywhere."""
    plain = needs(Capability.PSU, Capability.WRITE)
    served = tuple(_want(p, mode) for mode in p.served)
    out = [
        Facet(
            id=mode,
            description=f"{mode} requests are accepted",
            scenario=SERVED,
            needs=plain,
            requires=served,
        )
        for mode in p.served
    ]
    for mode in p.offered:
        # Whoever does not spell it does not offer it.
        here = (_want(p, mode, Standing.NOT_APPLICABLE),)
        yes, no = f"{mode}{OFFERED}", f"{mode}{NOT_OFFERED}"
        asks = f"{mode} requests are accepted where they are offered"
        out.append(Facet(id=yes, description=asks, scenario=yes, needs=plain, requires=here))
        asks = f"{mode} requests are rejected where they are not offered"
        elsewhere = plain | needs(Capability.BANKS)
        out.append(
            Facet(id=no, description=asks, scenario=no, needs=elsewhere, requires=(_want(p, mode),))
        )
    for mode in p.refused:
        id_, asks = f"{mode}{REFUSED}", f"{mode} requests are rejected"
        out.append(
            Facet(id=id_, description=asks, scenario=id_, needs=plain, requires=(_want(p, mode),))
        )
    return tuple(out)


def _want(p: Params, mode: str, otherwise: Standing = Standing.UNVERIFIED) -> BindingRequirement:
    return BindingRequirement(
        operation=p.lifecycle.create.id, feature="mode", name=mode, if_missing=otherwise
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: each served mode; or the plain one and the one in question."""
    return len(p.served) if scenario == SERVED else 2


def probe(p: Params, scenario: str) -> Script:
    """Make a request in each served mode; or in a plain one, and then in the one in question."""
    if scenario == SERVED:
        psu = yield from request_steps.customer(p.lifecycle)
        # The plain mode comes last: it must be accepted beside the others, too.
        for mode in sorted(p.served, key=lambda mode: mode == p.lifecycle.mode):
            yield from steps.send(request_steps.request(p.lifecycle, psu, mode))
        return
    word = next(one for one in (NOT_OFFERED, OFFERED, REFUSED) if scenario.endswith(one))
    mode = scenario.removesuffix(word)
    if word == NOT_OFFERED:
        yield from request_steps.lack(mode)
    psu = yield from request_steps.customer(p.lifecycle)
    control = yield from steps.send(request_steps.request(p.lifecycle, psu))
    asked = request_steps.request(p.lifecycle, psu, mode, variation=f"in the mode {mode}")
    made = yield from steps.send(asked)
    if word != OFFERED:
        yield from press(p.lifecycle, control, made)


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every attempt in one of the modes."""
    every = attempts(p.lifecycle, history)
    plain = {p.lifecycle.mode, *p.served}
    found = controls(every, lambda one: one.request.mode in plain, lambda one: _shared(p, one))
    for one in every:
        mode, beside = one.request.mode or "", found.get(one.made.n, ())
        if mode in p.served:
            yield from must_be_taken(mode, one, beside, f"{mode} requests are served")
        elif mode in p.offered and mode not in one.bank:
            why = f"{mode} requests are offered"
            yield from must_be_taken(f"{mode}{OFFERED}", one, beside, why)
        elif mode in p.offered:
            why = f"{mode} requests are not offered here"
            yield from must_be_turned_down(f"{mode}{NOT_OFFERED}", one, beside, why)
        elif mode in p.refused:
            why = f"{mode} requests are not served"
            yield from must_be_turned_down(f"{mode}{REFUSED}", one, beside, why)


def _shared(p: Params, one: Attempt) -> Hashable:
    """Return what an attempt has in common with its control: the customer, and the thing.

    The thing counts whoever owns it, and so does that none was named, which is not null.
    """
    owned, sent = p.lifecycle.create.owned or "", one.made.call.arguments
    return one.subject.name, owned in sent, repr(sent.get(owned))


RULE = Rule(
    kind="modes",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
