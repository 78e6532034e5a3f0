"""`eligible-for`: only some of the things that a customer owns can be named in a request.

One facet a trait that keeps a thing from being used, and one for ordinary things. One
customer owns them all, an ordinary one first and another one last, so that none is served
for being the first and none is left out for what stands before it. The control is the same
request about an ordinary thing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.contract.files.document import Finding, Pointer
from assay.contract.model import Capability, Contract, Operation
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
from assay.rules.lifecycle.parameters import the_request
from assay.rules.parameters import Raw, all_known, maker
from assay.rules.rule import Facet, Kind, Scenario, Script, needs

ORDINARY = "serves-ordinary"


def _refuses(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with traits that what a request is about cannot have."""
    defined = maker(clause, raw)
    if not defined:
        return
    if "owned" not in defined:
        hint = "add `owned`, the argument that names a thing of the customer's, to what makes it"
        yield at, f"{clause['request']!r} is about nothing that the customer owns", hint
        return
    made = {each.get("makes") for each in raw["operations"].values()}
    roots: Iterator[Raw] = (
        each for name, each in raw["resources"].items() if "of" not in each and name not in made
    )
    owner: Raw = next(roots, {})
    yield from all_known(at, wanted, owner.get("traits", {}), "trait")


def _owned(_contract: Contract, known: Mapping[str, Any]) -> str:
    """Return the argument that names what the request is about."""
    create: Operation = known["lifecycle"].create
    if create.owned is None:
        raise TypeError(f"{create.id} names nothing that a customer owns")
    return create.owned


@dataclass(frozen=True, slots=True, kw_only=True)
class EligibleFor(Kind):
    """The argument that names a thing, and the traits that the thing must not have."""

    name = "eligible-for"
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request()
    refuses: tuple[str, ...] = parameters.names(
        parameters.ref("names"), key="refuses", references=_refuses
    )
    owned: str = parameters.derived(_owned)

    def facets(self) -> tuple[Facet, ...]:
        """One facet for ordinary things, and one a trait."""
        owner = self.lifecycle.owner
        asks = {ORDINARY: f"a request about an ordinary {owner} is accepted"}
        asks |= {
            f"refuses-{one}": f"a request about a {owner}, {one}, is rejected"
            for one in self.refuses
        }
        return tuple(
            Facet(
                id=id_,
                description=words,
                scenario=Scenario(id="each"),
                needs=needs(Capability.PSU, Capability.WRITE, Capability.ROSTER),
            )
            for id_, words in asks.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make the same request about each thing that a customer owns, ordinary or not."""
        traits = (None, *self.refuses, None)
        holdings = (
            Holding(resource=self.lifecycle.owner, traits={one: True} if one else {})
            for one in traits
        )
        psu = yield from steps.arrange("psu", *holdings)
        made: list[Exchange] = []
        for trait, thing in zip(traits, psu.owns, strict=True):
            words = f"the {thing.resource} is {trait}" if trait else ""
            call = request_steps.request(
                self.lifecycle, psu, arguments={self.owned: thing.key}, variation=words
            )
            made.append((yield from steps.send(call)))
        yield from press(self.lifecycle, made[0], *made[1:-1])

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every attempt about a thing of which it is known what it is."""
        every = attempts(self.lifecycle, history)
        found = controls(every, lambda one: _trait(self, one.thing) == "", _shared)
        for one in every:
            trait, beside = _trait(self, one.thing), found.get(one.made.n, ())
            if trait == "":
                why = f"the {self.lifecycle.owner} is an ordinary one"
                yield from must_be_taken(ORDINARY, one, beside, why)
            elif trait in self.refuses:
                why = f"the {self.lifecycle.owner} is {trait}"
                yield from must_be_turned_down(f"refuses-{trait}", one, beside, why)


def _trait(p: EligibleFor, thing: Owned | None) -> str | None:
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
