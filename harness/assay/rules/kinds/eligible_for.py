"""`eligible-for`: only some of the things that a customer owns can be named in a request.

One facet a trait that keeps a thing from being used, and one for ordinary things. One
customer owns them all, an ordinary one first and another one last, so that none is served
for being the first and none is left out for what stands before it. The control is the same
request about an ordinary thing. Nobody owns the thing of another key, so a request about it
is rejected, too: the key is like one of the customer's own, with other letters and digits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.contract.files.document import Finding, Pointer
from assay.contract.model import Capability, Contract, Operation
from assay.history import Exchange, Holding, Owned
from assay.rules import parameters, steps
from assay.rules.formats import is_iban
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.attempts import AcceptanceRule, Attempt, Case, sign_and_read
from assay.rules.lifecycle.request_queries import similar_key
from assay.rules.parameters import Raw, all_known, maker
from assay.rules.rule import Facet, Scenario, Script, needs

ORDINARY, UNKNOWN = "serves-ordinary", "refuses-unknown"
#: The length of a country code with its check digits, and the divisor (ISO 13616).
HEAD, DIVISOR = 4, 97


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


def stranger(key: str) -> str:
    """Return a key like this one that nobody has; of an IBAN, one with right check digits."""
    other = similar_key(key)
    if not (is_iban(key) and key.isalnum() and key.isascii()):
        return other
    turned = f"{other[HEAD:]}{other[:2]}00".upper()
    digits = DIVISOR + 1 - int("".join(str(int(letter, 36)) for letter in turned)) % DIVISOR
    return f"{other[:2]}{digits:02}{other[HEAD:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EligibleFor(AcceptanceRule):
    """The argument that names a thing, and the traits that the thing must not have."""

    name = "eligible-for"
    applies_to = ("makes",)

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
        out = tuple(
            Facet(
                id=id_,
                description=words,
                scenario=Scenario(id="each"),
                needs=needs(Capability.PSU, Capability.WRITE, Capability.ROSTER),
            )
            for id_, words in asks.items()
        )
        unknown = Facet(
            id=UNKNOWN,
            description=f"a request about a {owner} that there is not is rejected",
            scenario=Scenario(id=UNKNOWN),
            needs=needs(Capability.PSU, Capability.WRITE),
        )
        return (*out, unknown)

    def probe(self, scenario: Scenario) -> Script:
        """Make the same request about each thing that a customer owns, ordinary or not."""
        if scenario.id == UNKNOWN:
            yield from self._probe_unknown()
            return
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
        yield from sign_and_read(self.lifecycle, made[0], *made[1:-1])

    def _probe_unknown(self) -> Script:
        """Make the same request about a thing of the customer's, and about one of nobody's."""
        psu = yield from request_steps.customer(self.lifecycle)
        control = request_steps.request(self.lifecycle, psu)
        made = yield from steps.send(control)
        key = stranger(psu.owns[0].key)
        if key != psu.owns[0].key:
            sent = {**control.arguments, self.owned: key}
            words = f"there is no such {self.lifecycle.owner}"
            strange = yield from steps.send(replace(control, arguments=sent, variation=words))
            yield from sign_and_read(self.lifecycle, made, strange)

    def case(self, attempt: Attempt) -> Case | None:
        """Return what is expected of an attempt about a thing whose traits are known."""
        trait, owner = self._trait(attempt.thing), self.lifecycle.owner
        if attempt.thing is None:
            asked = attempt.made.call.arguments.get(self.owned)
            strangers = {stranger(one.key) for one in attempt.subject.owns}
            if isinstance(asked, str) and asked in strangers:
                return Case(facet=UNKNOWN, accepted=False, why=f"there is no such {owner}")
            return None
        if trait == "":
            return Case(facet=ORDINARY, accepted=True, why=f"the {owner} is an ordinary one")
        if trait in self.refuses:
            return Case(facet=f"refuses-{trait}", accepted=False, why=f"the {owner} is {trait}")
        return None

    def is_control(self, attempt: Attempt) -> bool:
        """Whether an attempt is about an ordinary thing."""
        return self._trait(attempt.thing) == ""

    def common(self, attempt: Attempt) -> Hashable:
        """Return the customer, and the mode."""
        return attempt.subject.name, attempt.request.mode

    def _trait(self, thing: Owned | None) -> str | None:
        """Return the one trait that a thing has, empty if it has none; None if not known."""
        if thing is None or thing.resource != self.lifecycle.owner:
            return None
        traits = [name for name, state in thing.traits.items() if state is not False]
        if not traits:
            return ""
        return traits[0] if len(traits) == 1 and thing.traits[traits[0]] is True else None
