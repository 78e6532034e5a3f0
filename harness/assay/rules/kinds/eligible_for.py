"""`eligible-for`: requests can be made about some things of a customer's, not about others.

One facet a trait that keeps a thing from being used, and one for ordinary things. One
customer owns them all, an ordinary one first and another one last, so that none is served
for being the first and none is left out for what stands before it. The control is the same
request about an ordinary thing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from assay.contract.model import Capability, Clause, Contract, Party
from assay.history import Exchange, History, Holding, Owned
from assay.judging.verdict import Evidence
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
from assay.rules.rule import Facet, Rule, Script, needs

ORDINARY = "serves-ordinary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The request, the argument that names a thing, and the traits that it must not have."""

    lifecycle: tracker.Lifecycle
    owned: str
    refuses: tuple[str, ...]


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    lifecycle = tracker.of_clause(clause, contract)
    if lifecycle.create.owned is None:
        raise TypeError(f"{clause.id}: {lifecycle.create.id} names nothing that a customer owns")
    return Params(
        lifecycle=lifecycle,
        owned=lifecycle.create.owned,
        refuses=parameters.texts(clause, "refuses"),
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet for ordinary things, and one a trait."""
    owner = p.lifecycle.owner
    asks = {ORDINARY: f"a request about an ordinary {owner} is accepted"}
    asks |= {
        f"refuses-{one}": f"a request about a {owner}, {one}, is rejected" for one in p.refuses
    }
    return tuple(
        Facet(
            id=id_,
            description=words,
            scenario="each",
            needs=needs(Capability.PSU, Capability.WRITE, Capability.ROSTER),
        )
        for id_, words in asks.items()
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: two about ordinary things, and one a trait."""
    return len(p.refuses) + 2


def probe(p: Params, scenario: str) -> Script:
    """Make the same request about each thing that a customer owns, ordinary or not."""
    traits = (None, *p.refuses, None)
    holdings = (
        Holding(resource=p.lifecycle.owner, traits={one: True} if one else {}) for one in traits
    )
    psu = yield from steps.arrange("psu", *holdings)
    made: list[Exchange] = []
    for trait, thing in zip(traits, psu.owns, strict=True):
        words = f"the {thing.resource} is {trait}" if trait else ""
        call = request_steps.request(
            p.lifecycle, psu, arguments={p.owned: thing.key}, variation=words
        )
        made.append((yield from steps.send(call)))
    yield from press(p.lifecycle, made[0], *made[1:-1])


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every attempt about a thing of which it is known what it is."""
    every = attempts(p.lifecycle, history)
    found = controls(every, lambda one: _trait(p, one.thing) == "", _shared)
    for one in every:
        trait, beside = _trait(p, one.thing), found.get(one.made.n, ())
        if trait == "":
            why = f"the {p.lifecycle.owner} is an ordinary one"
            yield from must_be_taken(ORDINARY, one, beside, why)
        elif trait in p.refuses:
            why = f"the {p.lifecycle.owner} is {trait}"
            yield from must_be_turned_down(f"refuses-{trait}", one, beside, why)


def _trait(p: Params, thing: Owned | None) -> str | None:
    """Return the one trait that a thing has, empty if it has none; None if nobody can say."""
    if thing is None or thing.resource != p.lifecycle.owner:
        return None
    told = [name for name, state in thing.traits.items() if state is not False]
    if not told:
        return ""
    return told[0] if len(told) == 1 and thing.traits[told[0]] is True else None


def _shared(one: Attempt) -> Hashable:
    """Return what an attempt has in common with its control: the customer, and the mode."""
    return one.subject.name, one.request.mode


RULE = Rule(
    kind="eligible-for",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
