"""`eligible-for`: only some resources of a customer can be named in a request.

Each trait that excludes a resource is a facet, and ordinary resources have one. One customer
owns them all. The first and the last are ordinary, so that the position of a resource cannot
explain the result. The control is the same request about an ordinary resource. A similar key
belongs to no resource, so a request about it is rejected, too.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.contract.model import Capability, Contract, Operation
from assay.files.document import Finding, Pointer
from assay.history import Exchange, Holding, Owned, Subject
from assay.rules import parameters, steps
from assay.rules.facets import make_facet
from assay.rules.formats import is_iban
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.attempts import AcceptanceRule, Attempt, Case, sign_and_read
from assay.rules.lifecycle.request_queries import similar_key
from assay.rules.parameters import Raw, all_known, maker
from assay.rules.rule import Calls, Facet, Purpose, Scenario, Scope, Script, needs

ORDINARY, UNKNOWN = "serves-ordinary", "refuses-unknown"
#: The length of a country code with its check digits, and the divisor (ISO 13616).
HEAD, DIVISOR = 4, 97


def _refuses(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with traits that the resource of a request cannot have."""
    defined = maker(clause, raw)
    if not defined:
        return
    if "owned" not in defined:
        hint = "add `owned`, the argument that names the resource, to the operation that makes it"
        yield at, f"{clause['request']!r} names no resource that the customer owns", hint
        return
    made = {each.get("makes") for each in raw["operations"].values()}
    roots: Iterator[Raw] = (
        each for name, each in raw["resources"].items() if "of" not in each and name not in made
    )
    owner: Raw = next(roots, {})
    yield from all_known(at, wanted, owner.get("traits", {}), "trait")


def _owned(_contract: Contract, known: Mapping[str, Any]) -> str:
    """Return the argument that names the resource of the request."""
    create: Operation = known["lifecycle"].create
    if create.owned is None:
        raise TypeError(f"{create.id} names no resource that a customer owns")
    return create.owned


def stranger(key: str) -> str:
    """Return a key like this one that does not exist; of an IBAN, one with right check digits."""
    other = similar_key(key)
    if not (key.isalnum() and key.isascii() and is_iban(key)):
        return other
    turned = f"{other[HEAD:]}{other[:2]}00".upper()
    digits = DIVISOR + 1 - int("".join(str(int(letter, 36)) for letter in turned)) % DIVISOR
    return f"{other[:2]}{digits:02}{other[HEAD:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EligibleFor(AcceptanceRule):
    """The argument that names a resource, and the traits that exclude the resource."""

    name = "eligible-for"
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))
    purpose = Purpose.LIMIT
    applies_to = ("makes",)

    refuses: tuple[str, ...] = parameters.names(
        parameters.ref("names"), key="refuses", references=_refuses
    )
    owned: str = parameters.derived(_owned)

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for ordinary resources, and one for each trait."""
        owner = self.lifecycle.owner
        descriptions = {ORDINARY: f"a request about an ordinary {owner} is accepted"}
        descriptions |= {
            f"refuses-{trait}": f"a request is rejected if the {owner} is {trait}"
            for trait in self.refuses
        }
        out = tuple(
            make_facet(
                id_, description, "each", needs(Capability.PSU, Capability.WRITE, Capability.ROSTER)
            )
            for id_, description in descriptions.items()
        )
        unknown = Facet(
            id=UNKNOWN,
            description=f"a request about an unknown {owner} is rejected",
            scenario=Scenario(id=UNKNOWN),
            needs=needs(Capability.PSU, Capability.WRITE),
        )
        return (*out, unknown)

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [UNKNOWN, *(f"refuses-{trait}" for trait in self.refuses)]

    def probe(self, scenario: Scenario) -> Script:
        """Make the same request about each resource of a customer, or about one that does not exist."""
        if scenario.id == UNKNOWN:
            yield from self._probe_unknown()
            return
        traits = (None, *self.refuses, None)
        holdings = (
            Holding(resource=self.lifecycle.owner, traits={trait: True} if trait else {})
            for trait in traits
        )
        psu = yield from steps.arrange("psu", *holdings)
        made: list[Exchange] = []
        for trait, thing in zip(traits, psu.owns, strict=True):
            variation = f"the {thing.resource} is {trait}" if trait else ""
            call = request_steps.request(
                self.lifecycle, psu, arguments={self.owned: thing.key}, variation=variation
            )
            made.append((yield from steps.send(call)))
        yield from sign_and_read(self.lifecycle, made[0], *made[1:-1])

    def _probe_unknown(self) -> Script:
        """Make the same request about a thing of the customer's, and about one that does not exist."""
        psu = yield from request_steps.customer(self.lifecycle)
        control = request_steps.request(self.lifecycle, psu)
        made = yield from steps.send(control)
        key = stranger(psu.owns[0].key)
        if key != psu.owns[0].key:
            sent = {**control.arguments, self.owned: key}
            words = f"there is no such {self.lifecycle.owner}"
            invented = {self.owned: psu.owns[0].key}
            call = replace(control, arguments=sent, invented=invented, variation=words)
            strange = yield from steps.send(call)
            yield from sign_and_read(self.lifecycle, made, strange)

    def case(self, attempt: Attempt) -> Case | None:
        """Return the expected result of an attempt about a resource with known traits."""
        trait, owner = self._trait(attempt.thing), self.lifecycle.owner
        if attempt.thing is None:
            call, owns = attempt.made.call, attempt.subject.owns
            asked = call.arguments.get(self.owned)
            invented = call.invented.get(self.owned) in {thing.key for thing in owns}
            if invented or (isinstance(asked, str) and asked in {stranger(t.key) for t in owns}):
                return Case(facet=UNKNOWN, accepted=False, why=f"there is no such {owner}")
            return None
        if trait == "":
            return Case(facet=ORDINARY, accepted=True, why=f"the {owner} is ordinary")
        if trait in self.refuses:
            return Case(facet=f"refuses-{trait}", accepted=False, why=f"the {owner} is {trait}")
        return None

    def is_control(self, attempt: Attempt) -> bool:
        """Whether an attempt is about an ordinary resource."""
        return self._trait(attempt.thing) == ""

    def common(self, attempt: Attempt) -> Hashable:
        """Return the customer, and the mode."""
        return attempt.subject.name, attempt.request.mode

    def _trait(self, thing: Owned | None) -> str | None:
        """Return the only trait of a resource, "" if it has none, None if that is unknown."""
        if thing is None or thing.resource != self.lifecycle.owner:
            return None
        traits = [name for name, state in thing.traits.items() if state is not False]
        if not traits:
            return ""
        return traits[0] if len(traits) == 1 and thing.traits[traits[0]] is True else None
