"""`listing`: a list shows everything that a customer owns, and after a consent what it covers.

"Everything" is known from the world's roster, and judged only on a page walk
that came to its end and in which every item says which one it is. After a consent a bank
may go on to list everything, or only what was consented to: that is open, unless the clause
says `only-consented`, or `everything`. What another customer owns is never listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from assay.contract.model import Capability, Operation
from assay.history import Call, History, Holding, Subject
from assay.rules import parameters, steps
from assay.rules.consents import EARLIER, Consents, NarrowedLists
from assay.rules.queries import PageWalk, bare, page_walks
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    all_pages,
    bound,
    facts_of,
    needs,
)
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, doubt

WITHOUT, WITH, FOREIGN = "all-without-consent", "consented-with-consent", "only-own"
ONLY, EVERYTHING = "nothing-else", "all-with-consent"
#: Why nothing is listed before a consent.
NEEDS_CONSENT = "the contract says that the operation cannot be called without a consent"
#: How many of each resource the probe's customer owns.
EACH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Kind):
    """An operation that lists the resources of a customer, and how consent is given."""

    name = "listing"
    # There may have been a consent.
    hiding = ((WITHOUT, "past"),)
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))
    purpose = Purpose.PROMISE

    operation: Operation = parameters.operation(lists=True)
    grant: Operation | None = parameters.grant()
    only_consented: bool = parameters.flag(key="only-consented")
    everything: bool = parameters.flag(key="everything")

    def facets(self) -> tuple[Facet, ...]:
        """One facet before any consent, one after, where there is such a thing, one for others."""
        roster = needs(Capability.PSU, Capability.ROSTER)
        two = needs(Capability.TWO_PSU)
        asked = [
            (WITHOUT, "everything that the customer owns is listed before any consent", roster)
        ]
        if self.grant:
            asks = "everything that the customer consented to is listed"
            asked.append((WITH, asks, roster | needs(Capability.CONSENT)))
            two |= needs(Capability.CONSENT)
        if self.grant and self.only_consented:
            asks = "nothing that the customer did not consent to is listed"
            asked.append((ONLY, asks, roster | needs(Capability.CONSENT)))
        if self.grant and self.everything:
            asks = "everything that the customer owns is listed, also after a consent to a part"
            asked.append((EVERYTHING, asks, roster | needs(Capability.CONSENT)))
        asked.append((FOREIGN, "nothing that belongs to another customer is listed", roster | two))
        whole = {WITHOUT, WITH, EVERYTHING}
        return tuple(
            Facet(
                id=id_,
                description=asks,
                scenario=Scenario(id=id_),
                needs=needed,
                requires=(
                    *bound(self.operation, "key"),
                    *(all_pages(self.contract, self.operation) if id_ in whole else ()),
                ),
                not_applicable_because=NEEDS_CONSENT
                if id_ == WITHOUT and self.operation.consent
                else "",
            )
            for id_, asks, needed in asked
        )

    def probe(self, scenario: Scenario) -> Script:
        """List all, after consent for a part only, or beside another customer."""
        holdings = [Holding(resource=resource, count=EACH) for resource in self.operation.lists]
        psu = yield from steps.arrange("psu", *holdings)
        read = Call(operation=self.operation.id, subject="psu")
        if scenario.id == FOREIGN:
            stranger = yield from steps.arrange("other", *holdings)
            yield from steps.walk(read)
            if self.grant is None:
                return
            yield from steps.grant(self.grant, "other", *(thing.key for thing in stranger.owns))
        if scenario.id != WITHOUT:
            last = () if scenario.id in {ONLY, EVERYTHING} else (psu.owns[-1].key,)
            yield from steps.grant(self.grant, "psu", psu.owns[0].key, *last)
        yield from steps.walk(read)

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare each complete walk with the resources of its customer."""
        subjects = history.subjects
        everybodys = frozenset(thing.key for subject in subjects.values() for thing in subject.owns)
        begun = {
            walk.pages[0].n: walk for walk in page_walks(history, self.operation.id, self.contract)
        }
        narrowed = NarrowedLists.read(self.contract, history, self.grant)
        consents = Consents.of(self.contract, self.grant, history)
        for exchange in history.exchanges:
            consents.note(exchange)
            walk = begun.get(exchange.n)
            subject = subjects.get(exchange.call.subject)
            if walk and subject and walk.ended and bare(walk.call, self.operation):
                before = not consents.perhaps_given(subject.name)
                yield from self._owned(walk, subject, narrowed.of(walk), before=before)
                yield from _foreign(walk, subject, everybodys)
                if self.only_consented and subject.fresh and not before:
                    yield from _others(walk, subject, consents.possible(subject.name))

    def _owned(
        self, walk: PageWalk, subject: Subject, consented: frozenset[str] | None, *, before: bool
    ) -> Iterator[Evidence]:
        """Judge whether everything is listed, and what was consented to."""
        at = walk.pages[0].at
        owned = {
            thing.key: thing.resource
            for thing in subject.owns
            if thing.resource in self.operation.lists
            and facts_of(self.contract).surely_listed(thing, at, subject.now)
        }
        if self.everything and not before and owned:
            yield _all(EVERYTHING, walk, owned, "all {} things that the customer owns")
        if before and owned:
            everything = _all(WITHOUT, walk, owned, "all {} things that the customer owns")
            # A customer who was there before may have consented to a part of it.
            wrong = consented is not None and everything.agreement is DISAGREES
            yield doubt(everything, EARLIER) if wrong else everything
        covered = {key: what for key, what in owned.items() if key in (consented or ())}
        if covered:
            yield _all(WITH, walk, covered, "all {} things that the customer consented to")


def _all(facet: str, walk: PageWalk, owed: Mapping[str, str], expected: str) -> Evidence:
    """Judge whether all of these keys, each with its resource, are listed."""
    missing = sorted(owed[key] for key in owed.keys() - walk.keys)
    unclear = missing and walk.has_unnamed_items
    return Evidence(
        facet=facet,
        agreement=UNCLEAR if unclear else DISAGREES if missing else AGREES,
        expected=expected.format(len(owed)),
        seen=f"missing: {', '.join(missing)}" if missing else "all of them",
        exchanges=walk.numbers,
    )


def _others(walk: PageWalk, subject: Subject, consented: AbstractSet[str]) -> Iterator[Evidence]:
    """Judge whether something of the customer is listed that no consent names."""
    others = {thing.key for thing in subject.owns} - consented
    if others and walk.keys & consented:
        shown = walk.keys & others
        evidence = Evidence(
            facet=ONLY,
            agreement=DISAGREES if shown else UNCLEAR if walk.has_unnamed_items else AGREES,
            expected="nothing that the customer did not consent to",
            seen=f"{len(shown)} other things of the customer" if shown else "none of it",
            exchanges=walk.numbers,
        )
        yield walk.showing(evidence, lambda item: item.key in shown, "key")


def _foreign(walk: PageWalk, subject: Subject, everybodys: frozenset[str]) -> Iterator[Evidence]:
    """Judge whether something is listed that is known to be another customer's."""
    own = {thing.key for thing in subject.owns}
    shown = (walk.keys & everybodys) - own
    if shown or (len(everybodys) > len(own) and own & walk.keys):
        evidence = Evidence(
            facet=FOREIGN,
            agreement=DISAGREES if shown else UNCLEAR if walk.has_unnamed_items else AGREES,
            expected="nothing that belongs to another customer",
            seen=f"{len(shown)} things of another customer" if shown else "none of it",
            exchanges=walk.numbers,
        )
        yield walk.showing(evidence, lambda item: item.key in shown, "key")
