"""`eligibility`: what is in a certain state is listed, or never is.

Each hidden state is a facet; recent use has three: listed when recent, still
listed just inside the edge, hidden just outside. Months are calendar months of
the bank's zone. The edge day itself is judged only where the contract says so.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from assay.history import Call, History, Holding, Owned
from assay.model import Capability, Clause, Contract, Operation, Party
from assay.rules import params, script
from assay.rules.folds import AGREES, DISAGREES, UNCLEAR, Walk, walks
from assay.rules.rule import Facet, Rule, Script, Want, needs
from assay.verdict import Evidence

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """The trait that holds the date of last use, and how far back it may lie."""

    trait: str
    months: int
    edge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Where it is listed, which resource, what hides it."""

    operation: Operation
    resource: str
    hides: tuple[str, ...]
    recent: Recent | None
    zone: ZoneInfo | None


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    recent = params.mapping(clause, "recent")
    return Params(
        operation=params.operation(clause, contract),
        resource=params.text(clause, "resource"),
        hides=params.texts(clause, "hides"),
        recent=Recent(
            trait=str(recent["trait"]),
            months=int(str(recent["months"])),
            edge=str(recent["edge"]),
        )
        if recent
        else None,
        zone=contract.zone,
    )


def states(contract: Contract) -> tuple[Params, ...]:
    """Return what all eligibility clauses of a contract say."""
    return tuple(parse(one, contract) for one in contract.clauses if one.kind == "eligibility")


def surely_listed(clauses: Sequence[Params], one: Owned, today: date) -> bool:
    """Whether nothing that is known of an owned thing speaks against listing it."""
    speaking = [p for p in clauses if p.resource == one.resource]
    known = {name for p in speaking for name in (*p.hides, p.recent.trait if p.recent else "")}
    if any(value and name not in known for name, value in one.traits.items()):
        return False
    return all(
        _bears(p, one, today) in (None, "lists-recent", "lists-just-inside") for p in speaking
    )


def _bears(p: Params, one: Owned, today: date) -> str | None:
    """Return the facet on which an owned thing bears; "edge" where it is left open."""
    found = _facet(p, one, today)
    if found is not None:
        return found[0]
    return "edge" if p.recent and p.recent.trait in one.traits else None


def facets(p: Params) -> tuple[Facet, ...]:
    """Three facets for recent use, one for each state that hides."""
    roster = needs(Capability.PSU, Capability.ROSTER)
    wants = (Want(operation=p.operation.id, feature="key"),)
    asked = [(f"hides-{trait}", f"one that is {trait} is not listed") for trait in p.hides]
    if p.recent:
        span = f"{p.recent.months} months"
        asked += [
            ("lists-recent", "one used yesterday is listed"),
            ("lists-just-inside", f"one last used {span} ago less a day is listed"),
            ("hides-just-outside", f"one last used {span} and a day ago is not listed"),
        ]
    return tuple(
        Facet(id=id_, asks=asks, scenario="states", needs=roster, wants=wants)
        for id_, asks in asked
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: what a sound bank lists fits one page."""
    return 1


def months_before(day: date, months: int) -> date:
    """Return the same day of an earlier month, or that month's last day."""
    index = day.year * 12 + day.month - 1 - months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def probe(p: Params, scenario: str) -> Script:
    """Own one of each state, and list."""
    now = yield from script.clock()
    today = now.astimezone(p.zone).date() if p.zone else now.date()
    holdings = [Holding(resource=p.resource, traits={trait: True}) for trait in p.hides]
    if p.recent:
        edge = months_before(today, p.recent.months)
        holdings += [
            Holding(resource=p.resource, traits={p.recent.trait: str(day)})
            for day in (today - DAY, edge + DAY, edge, edge - DAY)
        ]
    else:
        holdings.append(Holding(resource=p.resource))
    yield from script.arrange("psu", *holdings)
    yield from script.walk(Call(operation=p.operation.id, subject="psu"))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge each whole walk of a customer of whom everything is known."""
    subjects = history.subjects
    for walk in walks(history, p.operation.id):
        subject = subjects.get(walk.call.subject)
        if subject is None or not walk.ended:
            continue
        today = walk.pages[0].at.astimezone(p.zone).date()
        owned = [one for one in subject.owns if one.resource == p.resource]
        control = any(one.key in walk.keys for one in owned if _plain(p, one, today))
        for one in owned:
            yield from _judge(p, one, walk, today, control=control)


def _plain(p: Params, one: Owned, today: date) -> bool:
    """Whether nothing at all speaks against listing this one."""
    return not one.traits or _facet(p, one, today) == ("lists-recent", True)


def _facet(p: Params, one: Owned, today: date) -> tuple[str, bool] | None:
    """Return the facet on which an owned thing bears, and whether it must be listed."""
    for trait in p.hides:
        if one.traits.get(trait) is True:
            return f"hides-{trait}", False
    if p.recent is None or p.recent.trait not in one.traits:
        return None
    used = date.fromisoformat(str(one.traits[p.recent.trait]))
    edge = months_before(today, p.recent.months)
    if used == edge:
        return {
            "included": ("lists-just-inside", True),
            "excluded": ("hides-just-outside", False),
        }.get(p.recent.edge)
    if used < edge:
        return "hides-just-outside", False
    return ("lists-recent" if today - used <= DAY else "lists-just-inside"), True


def _judge(p: Params, one: Owned, walk: Walk, today: date, *, control: bool) -> Iterator[Evidence]:
    found = _facet(p, one, today)
    if found is None:
        return
    facet, listed = found
    if not control and facet != "lists-recent":
        return
    seen = one.key in walk.keys
    state = ", ".join(f"{name}: {value}" for name, value in one.traits.items())
    unclear = walk.nameless and not seen
    yield Evidence(
        facet=facet,
        agreement=UNCLEAR if unclear else AGREES if seen is listed else DISAGREES,
        expected=f"the {p.resource} ({state}) to be {'listed' if listed else 'left out'}",
        seen="it is listed" if seen else "it is not listed",
        exchanges=walk.numbers,
        deviation=state,
    )


RULE = Rule(
    kind="eligibility",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
