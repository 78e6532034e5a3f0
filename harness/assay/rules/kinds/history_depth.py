"""`history-depth`: answers go back so many local days and no further.

A shorter history is no violation: documents say "up to". Judged by the entries'
dates on every page, asked for or not, and also just after local midnight, when
a bank that counts from the UTC day is one day behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Call, History, Holding
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.queries import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    PageWalk,
    bare,
    describe,
    earliest,
    walks,
)
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, consent, needs
from assay.rules.state.calendar import dates, never_ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The operation, its depth in days, whether the last day is in, and the zone."""

    operation: Operation
    days: int
    edge: str
    grant: Operation | None
    owners: tuple[str, ...]
    zone: ZoneInfo | None


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operation = parameters.operation(clause, contract)
    return Params(
        operation=operation,
        days=parameters.whole(clause, "days"),
        edge=parameters.text(clause, "edge"),
        grant=parameters.granting(clause, contract),
        owners=steps.owners(contract, operation),
        zone=contract.zone,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """Unasked, asked for more, and just after local midnight."""
    base = (Capability.PSU, Capability.ROSTER, Capability.ENTRIES)
    on = BindingRequirement(operation=p.operation.id, feature="on")
    out = [
        Facet(
            id="default",
            description=f"nothing older than {p.days} days is given unasked",
            scenario="default",
            needs=needs(*base) | consent(p.grant),
            requires=(on,),
        )
    ]
    if p.operation.since:
        since = BindingRequirement(
            operation=p.operation.id, feature="argument", name=p.operation.since
        )
        out.append(
            Facet(
                id="asked-older",
                description=f"asking for more than {p.days} days gives nothing older",
                scenario="asked-older",
                needs=needs(*base) | consent(p.grant),
                requires=(on, since),
            )
        )
    out.append(
        Facet(
            id="local-day",
            description="the days are counted from the bank's own calendar day",
            scenario="local-day",
            needs=needs(*base, Capability.CLOCK, Capability.ZONE) | consent(p.grant),
            requires=(on,),
            not_applicable_because=never_ahead(p.zone),
        )
    )
    return tuple(out)


def price(p: Params, scenario: str) -> int:
    """Count the calls: consent, and one walk (two where there is a control) an owner."""
    each = 2 if scenario == "asked-older" else 1
    return (1 if p.grant else 0) + each * len(p.owners)


def probe(p: Params, scenario: str) -> Script:
    """Own entries on both sides of the limit, and read them all."""
    now = yield from steps.clock()
    if scenario == "local-day" and p.zone:
        # Half past midnight: the local day is new, in UTC it is still yesterday
        # for banks east of Greenwich, and already today's for those west of it.
        tomorrow = now.astimezone(p.zone).date() + timedelta(days=1)
        now = yield from steps.clock(datetime.combine(tomorrow, time(0, 30), p.zone))
    today = dates(now, p.zone)[0]
    older = tuple(p.days + n for n in (1, 2, 10, 30, 100))
    entries = steps.days_before(today, 1, 20, p.days - 1, p.days, *older)
    psu = yield from steps.arrange(
        "psu", *(Holding(resource=owner, entries=entries) for owner in p.owners)
    )
    keys = [one.key for one in psu.owns]
    yield from steps.grant(p.grant, "psu", *keys)
    for key in keys:
        plain = steps.arguments(p.operation, key)
        yield from steps.walk(Call(operation=p.operation.id, subject="psu", arguments=plain))
        if scenario == "asked-older" and p.operation.since:
            since = str(today - timedelta(days=p.days + 109))
            yield from steps.walk(
                Call(
                    operation=p.operation.id,
                    subject="psu",
                    arguments={**plain, p.operation.since: since},
                    variation=f"asking from {p.days + 109} days ago",
                )
            )


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge each walk about something that has entries older than the limit, or shows some."""
    subjects = history.subjects
    asked = [one for one in walks(history, p.operation.id) if one.call.mode is None]
    shown = {_about(p, one) for one in asked if bare(one.call, p.operation) and one.items}
    for walk in asked:
        subject, key = _about(p, walk)
        owned = subjects[subject].owned(key) if subject in subjects else None
        facet, limit = _facet(p, walk), _limit(p, walk)
        if facet == "asked-older" and walk.pages[0].refused and (subject, key) not in shown:
            continue
        there = [one.on for one in owned.entries] if owned else []
        there += [item.on for item in walk.items if item.on]
        if facet and any(on < limit for on in there):
            yield _judge(p, walk, facet)


def _about(p: Params, walk: PageWalk) -> tuple[str, str]:
    return walk.call.subject, str(walk.call.arguments.get(p.operation.about or ""))


def _limit(p: Params, walk: PageWalk) -> date:
    """Return the first date that may be shown; whether the edge is in may be open."""
    limit = earliest(walk.pages[0].at, p.days, p.zone)
    return limit + timedelta(days=1) if p.edge == "excluded" else limit


def _facet(p: Params, walk: PageWalk) -> str | None:
    """Return the facet on which a walk bears; None where it asks for less than all."""
    first = walk.pages[0]
    since = first.call.arguments.get(p.operation.since or "")
    if since is not None:
        try:
            older = date.fromisoformat(str(since)) < _limit(p, walk)
        except ValueError:
            return None
        return "asked-older" if older else None
    if not bare(first.call, p.operation):
        return None
    if p.zone and first.at.astimezone(p.zone).date() != first.at.astimezone(UTC).date():
        return "local-day"
    return "default"


def _judge(p: Params, walk: PageWalk, facet: str) -> Evidence:
    first, limit = walk.pages[0], _limit(p, walk)
    older = sum(1 for item in walk.items if item.on and item.on < limit)
    undated = any(item.on is None for item in walk.items)
    proper = walk.ended and bool(walk.items) and not undated
    refused = facet == "asked-older" and first.refused and not first.items
    return Evidence(
        facet=facet,
        agreement=DISAGREES if older else AGREES if proper or refused else UNCLEAR,
        expected=f"nothing before {limit}",
        seen=f"{older} items are older" if older else describe(first),
        exchanges=walk.numbers,
        variation=first.call.variation,
    )


RULE = Rule(
    kind="history-depth",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
