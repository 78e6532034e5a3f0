"""`unsupported-mode`: asking for a mode gives a refusal, or no more than without it.

Built for history modes: "no more" means nothing older than so many days. The
control is the same question without the mode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
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

FACET = "gives-no-more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The operation and its mode, and how far back answers may go without it."""

    operation: Operation
    mode: str
    days: int
    grant: Operation | None
    owner: str
    zone: ZoneInfo | None


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operation = parameters.operation(clause, contract)
    return Params(
        operation=operation,
        mode=parameters.text(clause, "mode"),
        days=parameters.whole(clause, "days"),
        grant=parameters.granting(clause, contract),
        owner=steps.owners(contract, operation)[0],
        zone=contract.zone,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet."""
    return (
        Facet(
            id=FACET,
            description=f"asking for {p.mode} gives a refusal or nothing older than {p.days} days",
            scenario="asked",
            needs=needs(Capability.PSU, Capability.ROSTER, Capability.ENTRIES) | consent(p.grant),
            requires=(
                BindingRequirement(operation=p.operation.id, feature="mode", name=p.mode),
                BindingRequirement(operation=p.operation.id, feature="on"),
            ),
        ),
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: consent, control, the mode alone, the mode from long ago."""
    return (1 if p.grant else 0) + 2 + (1 if p.operation.since else 0)


def probe(p: Params, scenario: str) -> Script:
    """Ask plainly, then in the mode, then in the mode for what is older."""
    today = (yield from steps.clock()).date()
    old = timedelta(days=p.days + 60)
    entries = steps.days_before(today, 1, p.days + 1, p.days + 30, p.days + 60)
    psu = yield from steps.arrange("psu", Holding(resource=p.owner, entries=entries))
    key = psu.owns[0].key
    yield from steps.grant(p.grant, "psu", key)
    plain = steps.arguments(p.operation, key)
    yield from steps.walk(Call(operation=p.operation.id, subject="psu", arguments=plain))
    asked = [plain]
    if p.operation.since:
        asked.append({**plain, p.operation.since: str(today - old)})
    for arguments in asked:
        yield from steps.walk(
            Call(
                operation=p.operation.id,
                subject="psu",
                arguments=arguments,
                mode=p.mode,
                variation=f"in the mode {p.mode}",
            )
        )


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every walk in the mode about something that was shown without it."""
    subjects = history.subjects
    asked = tuple(walks(history, p.operation.id))
    controlled = {
        _about(p, one)
        for one in asked
        if one.call.mode is None and one.ended and one.items and bare(one.call, p.operation)
    }
    for walk in asked:
        subject, key = _about(p, walk)
        if walk.call.mode == p.mode and (subject, key) in controlled:
            owned = subjects[subject].owned(key) if subject in subjects else None
            limit = earliest(walk.pages[0].at, p.days, p.zone)
            more = owned is not None and any(one.on < limit for one in owned.entries)
            yield from _judge(walk, limit, more=more)


def _about(p: Params, walk: PageWalk) -> tuple[str, str]:
    return walk.call.subject, str(walk.call.arguments.get(p.operation.about or ""))


def _judge(walk: PageWalk, limit: date, *, more: bool) -> Iterator[Evidence]:
    """Judge a walk; `more` tells if there is anything older that it could show."""
    first = walk.pages[0]
    older = [item for item in walk.items if item.on and item.on < limit]
    undated = any(item.on is None for item in walk.items)
    if older:
        agreement = DISAGREES
    elif first.refused or (walk.ended and more and not undated):
        agreement = AGREES
    elif walk.ended and not more:
        return
    else:
        agreement = UNCLEAR
    yield Evidence(
        facet=FACET,
        agreement=agreement,
        expected=f"a refusal, or nothing before {limit}",
        seen=f"{len(older)} items are older" if older else describe(first),
        exchanges=walk.numbers,
        variation=walk.call.variation,
    )


RULE = Rule(
    kind="unsupported-mode",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
