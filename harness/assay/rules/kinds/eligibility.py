"""`eligibility`: what is in a certain state is listed, or never is.

Each hidden state is a facet; recent use has three: listed when recent, still
listed just inside the edge, hidden just outside. Months are calendar months of
the bank's zone. The edge day itself is judged only where the contract says so.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Call, History, Holding, Owned
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.queries import AGREES, DISAGREES, UNCLEAR, PageWalk, bare, walks
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, needs
from assay.rules.state.calendar import dates

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
    recent = parameters.mapping(clause, "recent")
    return Params(
        operation=parameters.operation(clause, contract),
        resource=parameters.text(clause, "resource"),
        hides=parameters.texts(clause, "hides"),
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


def surely_listed(clauses: Sequence[Params], one: Owned, at: datetime) -> bool:
    """Whether nothing that is known of an owned thing speaks against listing it."""
    speaking = [p for p in clauses if p.resource == one.resource]
    recents = {p.recent.trait for p in speaking if p.recent}
    if any(value and name not in recents for name, value in one.traits.items()):
        return False
    return all(
        (found := _recent(p, one, at)) is not None and found[1]
        for p in speaking
        if p.recent and p.recent.trait in one.traits
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """Three facets for recent use, one for each state that hides."""
    roster = needs(Capability.PSU, Capability.ROSTER)
    dated = roster | needs(Capability.ZONE)
    wants = (BindingRequirement(operation=p.operation.id, feature="key"),)
    asked = [(f"hides-{trait}", f"one that is {trait} is not listed", roster) for trait in p.hides]
    if p.recent:
        span = f"{p.recent.months} months"
        asked += [
            ("lists-recent", "one used yesterday is listed", roster),
            ("lists-just-inside", f"one last used {span} ago less a day is listed", dated),
            ("hides-just-outside", f"one last used {span} and a day ago is not listed", dated),
        ]
    return tuple(
        Facet(id=id_, description=asks, scenario="states", needs=needed, requires=wants)
        for id_, asks, needed in asked
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
    now = yield from steps.clock()
    today = dates(now, p.zone)[-1]
    holdings = [Holding(resource=p.resource, traits={trait: True}) for trait in p.hides]
    if p.recent:
        edge = months_before(today, p.recent.months)
        holdings += [
            Holding(resource=p.resource, traits={p.recent.trait: str(day)})
            for day in (today - DAY, edge + DAY, edge, edge - DAY)
        ]
    else:
        holdings.append(Holding(resource=p.resource))
    yield from steps.arrange("psu", *holdings)
    yield from steps.walk(Call(operation=p.operation.id, subject="psu"))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge each whole walk of a customer of whom everything is known."""
    subjects = history.subjects
    for walk in walks(history, p.operation.id):
        subject = subjects.get(walk.call.subject)
        if subject is None or not walk.ended or not bare(walk.call, p.operation):
            continue
        at = walk.pages[0].at
        owned = [one for one in subject.owns if one.resource == p.resource]
        keys = walk.keys
        control = any(one.key in keys for one in owned if _plain(p, one, at))
        for one in owned:
            yield from _judge(p, one, walk, seen=one.key in keys, control=control)


def _plain(p: Params, one: Owned, at: datetime) -> bool:
    """Whether nothing at all speaks against listing this one."""
    found = _facet(p, one, at)
    return found[1] if found else not any(one.traits.values())


def _facet(p: Params, one: Owned, at: datetime) -> tuple[str, bool] | None:
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


def _recent(p: Params, one: Owned, at: datetime) -> tuple[str, bool] | None:
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


def _judge(
    p: Params, one: Owned, walk: PageWalk, *, seen: bool, control: bool
) -> Iterator[Evidence]:
    found = _facet(p, one, walk.pages[0].at)
    if found is None:
        return
    facet, listed = found
    if not control and facet != "lists-recent":
        return
    state = ", ".join(f"{name}: {value}" for name, value in one.traits.items())
    unclear = walk.nameless and not seen
    yield Evidence(
        facet=facet,
        agreement=UNCLEAR if unclear else AGREES if seen is listed else DISAGREES,
        expected=f"the {p.resource} ({state}) to be {'listed' if listed else 'left out'}",
        seen="it is listed" if seen else "it is not listed",
        exchanges=walk.numbers,
        variation=state,
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
