"""`eligibility`: which of the things that a customer owns are listed, by their state.

Each hidden state is a facet; recent use has three: listed when recent, still
listed just inside the edge, hidden just outside. Months are calendar months of
the bank's zone. The edge day itself is judged only where the contract says so. After a
consent a list may show only what is consented to: that something is not there says nothing then.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from assay.contract.files.document import Finding, Pointer
from assay.contract.model import Capability, Contract, Json, Operation
from assay.history import Call, History, Holding, Owned
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
from assay.rules.parameters import Raw, all_known, known, ref
from assay.rules.queries import EARLIER, NarrowedLists, PageWalk, bare, page_walks
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, needs
from assay.rules.state.calendar import dates

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """The trait with the date of last use, and how far back it may lie."""

    trait: str
    months: int
    edge: str


_TRAITS: Mapping[str, Json] = {
    "description": "a list of traits",
    "type": "array",
    "uniqueItems": True,
    "items": {"description": "the name of a trait", "type": "string"},
}
_RECENT: Mapping[str, Json] = {
    "description": "how recently one must have been used: trait, months and edge",
    "type": "object",
    "additionalProperties": False,
    "required": ["trait", "months", "edge"],
    "properties": {
        "trait": {"description": "the name of a trait", "type": "string"},
        "months": ref("whole"),
        "edge": ref("edge"),
    },
}


def _traits(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with traits that the clause's resource does not have."""
    defined = raw["resources"].get(clause["resource"])
    if defined:
        yield from all_known(at, wanted, defined.get("traits", {}), "trait")


def _recent_trait(at: Pointer, value: Raw, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a trait that the clause's resource does not have."""
    defined = raw["resources"].get(clause["resource"])
    if defined:
        yield from known((*at, "trait"), value["trait"], defined.get("traits", {}), "trait")


def _read_recent(value: Mapping[str, Json], _contract: Contract) -> Recent:
    return Recent(
        trait=str(value["trait"]), months=int(str(value["months"])), edge=str(value["edge"])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility(Kind):
    """The states in which a resource is listed by an operation, or is not."""

    name = "eligibility"
    limits = ("recent",)
    at_least_one_of = ("hides", "recent")

    operation: Operation = parameters.operation()
    resource: str = parameters.resource()
    hides: tuple[str, ...] = parameters.names(
        _TRAITS, key="hides", references=_traits, required=False
    )
    recent: Recent | None = parameters.parameter(
        _RECENT, _read_recent, key="recent", references=_recent_trait, required=False
    )
    zone: ZoneInfo | None = parameters.the_zone()
    granting: Operation | None = parameters.the_grant()

    def facets(self) -> tuple[Facet, ...]:
        """Three facets for recent use, one for each state that hides."""
        roster = needs(Capability.PSU, Capability.ROSTER)
        dated = roster | needs(Capability.ZONE)
        wants = (BindingRequirement(operation=self.operation.id, feature="key"),)
        asked = [
            (f"hides-{trait}", f"one that is {trait} is not listed", roster) for trait in self.hides
        ]
        if self.recent:
            span = f"{self.recent.months} months"
            asked += [
                ("lists-recent", "one used yesterday is listed", roster),
                ("lists-just-inside", f"one last used {span} ago less a day is listed", dated),
                ("hides-just-outside", f"one last used {span} and a day ago is not listed", dated),
            ]
        return tuple(
            Facet(
                id=id_,
                description=asks,
                scenario=Scenario(id="states"),
                needs=needed,
                requires=wants,
            )
            for id_, asks, needed in asked
        )

    def listed_by_trait(self, thing: Owned, at: datetime) -> Mapping[str, bool]:
        """Return whether the date of a thing's last use lets it be listed."""
        if (
            self.recent is None
            or thing.resource != self.resource
            or self.recent.trait not in thing.traits
        ):
            return {}
        judged = _recent(self, thing, at)
        return {self.recent.trait: judged is not None and judged[1]}

    def probe(self, scenario: Scenario) -> Script:
        """Own one of each state, and list."""
        now = yield from steps.clock()
        today = dates(now, self.zone)[-1]
        holdings = [Holding(resource=self.resource, traits={trait: True}) for trait in self.hides]
        if self.recent:
            edge = months_before(today, self.recent.months)
            holdings += [
                Holding(resource=self.resource, traits={self.recent.trait: str(day)})
                for day in (today - DAY, edge + DAY, edge, edge - DAY)
            ]
        else:
            holdings.append(Holding(resource=self.resource))
        psu = yield from steps.arrange("psu", *holdings)
        plain = [one.key for one in psu.owns if _plain(self, one, psu.now)]
        call = Call(operation=self.operation.id, subject="psu")
        yield from steps.walk_whole(call, psu, plain, self.granting, steps.MOST_PAGES)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each whole walk of a customer of whom everything is known."""
        subjects = history.subjects
        narrowed = NarrowedLists.read(history, self.granting)
        for walk in page_walks(history, self.operation.id):
            subject = subjects.get(walk.call.subject)
            if subject is None or not walk.ended or not bare(walk.call, self.operation):
                continue
            if not walk.on_one_day(self.zone):
                continue
            at, consented = walk.pages[0].at, narrowed.of(walk)
            owned = [one for one in subject.owns if one.resource == self.resource]
            keys = walk.keys
            plain = {one.key for one in owned if _plain(self, one, at)}
            # A list that has everything it may have is narrowed by no consent.
            whole = consented is None or plain <= keys
            for one in owned:
                found = _facet(self, one, at)
                if one.key in keys or whole or one.key in (consented or ()):
                    control = not plain.isdisjoint(keys)
                    yield from _judge(self, one, walk, seen=one.key in keys, control=control)
                elif found is not None and not found[1] and not subject.fresh:
                    yield _narrowed_out(self, one, walk, found[0])


def months_before(day: date, months: int) -> date:
    """Return the same day of an earlier month, or that month's last day."""
    index = day.year * 12 + day.month - 1 - months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _plain(p: Eligibility, one: Owned, at: datetime) -> bool:
    """Whether nothing at all speaks against listing this one."""
    found = _facet(p, one, at)
    return found[1] if found else not any(one.traits.values())


def _facet(p: Eligibility, one: Owned, at: datetime) -> tuple[str, bool] | None:
    """Return the facet on which an owned thing bears, and whether it must be listed.

    None where it bears on none, or is left out for two reasons at once.
    """
    states = [name for name, value in one.traits.items() if value]
    hiding = [trait for trait in p.hides if one.traits.get(trait) is True]
    recent = _recent(p, one, at)
    if p.recent and p.recent.trait in states:
        states.remove(p.recent.trait)
        if recent is None or (hiding and not recent[1]):
            return None
    if not states:
        return recent
    return (f"hides-{hiding[0]}", False) if len(states) == 1 and hiding == states else None


def _recent(p: Eligibility, one: Owned, at: datetime) -> tuple[str, bool] | None:
    """Return what the date of last use asks for; None where nobody can tell.

    With no zone known it is told only where all dates of today agree.
    """
    if p.recent is None:
        return None
    try:
        used = date.fromisoformat(str(one.traits.get(p.recent.trait)))
    except ValueError:
        return None
    found = [_on(p.recent, used, today) for today in dates(at, p.zone)]
    asked = {None if one is None else one[1] for one in found}
    return found[-1] if len(asked) == 1 else None


def _on(recent: Recent, used: date, today: date) -> tuple[str, bool] | None:
    edge = months_before(today, recent.months)
    if used == edge:
        return {
            "included": ("lists-just-inside", True),
            "excluded": ("hides-just-outside", False),
        }.get(recent.edge)
    if used < edge:
        return "hides-just-outside", False
    return ("lists-recent" if today - used <= DAY else "lists-just-inside"), True


def _narrowed_out(p: Eligibility, one: Owned, walk: PageWalk, facet: str) -> Evidence:
    """Return that one is not listed, by a list that may show consented things only."""
    state = ", ".join(f"{name}: {value}" for name, value in one.traits.items())
    return Evidence(
        facet=facet,
        agreement=UNCLEAR,
        expected=f"the {p.resource} ({state}) to be left out",
        seen=f"it is not listed, {EARLIER}",
        exchanges=walk.numbers,
        variation=state,
    )


def _judge(
    p: Eligibility, one: Owned, walk: PageWalk, *, seen: bool, control: bool
) -> Iterator[Evidence]:
    found = _facet(p, one, walk.pages[0].at)
    if found is None:
        return
    facet, listed = found
    if not control and facet != "lists-recent":
        return
    state = ", ".join(f"{name}: {value}" for name, value in one.traits.items())
    unclear = walk.has_unnamed_items and not seen
    yield Evidence(
        facet=facet,
        agreement=UNCLEAR if unclear else AGREES if seen is listed else DISAGREES,
        expected=f"the {p.resource} ({state}) to be {'listed' if listed else 'left out'}",
        seen="it is listed" if seen else "it is not listed",
        exchanges=walk.numbers,
        variation=state,
    )
