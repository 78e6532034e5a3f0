"""`listing`: a list shows everything that a customer owns, with or without consent.

The test data says what "everything" is. It is judged only on a page walk that reached the
last page and in which every item has a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.contract.model import Capability, Operation
from assay.history import Call, History, Holding, Subject
from assay.judging.verdict import Evidence
from assay.rules import clauses, parameters, steps
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
from assay.rules.queries import Consents, PageWalk, bare, page_walks
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, needs

WITHOUT, WITH = "all-without-consent", "all-with-consent"
#: How many of each resource the probe's customer owns.
EACH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Kind):
    """An operation that lists the resources of a customer, and how consent is given."""

    name = "listing"

    operation: Operation = parameters.operation()
    grant: Operation | None = parameters.grant()

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet before any consent, and one after, if the contract has consents."""
        requirements = (BindingRequirement(operation=self.operation.id, feature="key"),)
        roster = (Capability.PSU, Capability.ROSTER)
        out = [
            Facet(
                id=WITHOUT,
                description="everything the customer owns is listed before any consent is given",
                scenario=Scenario(id="without"),
                needs=needs(*roster),
                requires=requirements,
            )
        ]
        if self.grant:
            out.append(
                Facet(
                    id=WITH,
                    description="everything is still listed once consent is given for a part of it",
                    scenario=Scenario(id="with"),
                    needs=needs(*roster, Capability.CONSENT),
                    requires=requirements,
                )
            )
        return tuple(out)

    def probe(self, scenario: Scenario) -> Script:
        """List everything; in the second scenario after consent for the first resource only."""
        psu = yield from steps.arrange(
            "psu", *(Holding(resource=resource, count=EACH) for resource in self.operation.lists)
        )
        if scenario.id == "with":
            yield from steps.grant(self.grant, "psu", psu.owns[0].key)
        yield from steps.walk(Call(operation=self.operation.id, subject="psu"))

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare each complete walk with the resources of its customer."""
        subjects = history.subjects
        begun = {walk.pages[0].n: walk for walk in page_walks(history, self.operation.id)}
        consents = Consents(grant=self.grant)
        for exchange in history.exchanges:
            consents.note(exchange)
            walk = begun.get(exchange.n)
            subject = subjects.get(exchange.call.subject)
            if walk and subject and walk.ended and bare(walk.call, self.operation):
                yield from _judge(self, walk, subject, consents)


def _judge(
    clause: Listing, walk: PageWalk, subject: Subject, consents: Consents
) -> Iterator[Evidence]:
    sure, perhaps = consents.certain(subject.name), consents.possible(subject.name)
    at = walk.pages[0].at
    owned = {
        thing.key: thing.resource
        for thing in subject.owns
        if thing.resource in clause.operation.lists
        and clauses.surely_listed(clause.contract, thing, at)
    }
    missing = sorted(owned[key] for key in owned.keys() - walk.keys)
    # A consent to everything cannot show what a partial consent hides.
    telling = missing or owned.keys() - (perhaps if sure else frozenset())
    if not owned or not telling or (perhaps and not sure):
        return
    unclear = missing and walk.has_unnamed_items
    yield Evidence(
        facet=WITH if sure else WITHOUT,
        agreement=UNCLEAR if unclear else DISAGREES if missing else AGREES,
        expected=f"all {len(owned)} resources of the customer",
        seen=f"missing: {', '.join(missing)}" if missing else "all of them",
        exchanges=walk.numbers,
    )
