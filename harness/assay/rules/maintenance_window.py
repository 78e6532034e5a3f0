"""`maintenance-window`: outside the announced hours the interface answers.

Inside them "disturbances are possible", so nothing that happens there can be a
violation of anything: `windows` tells the judge which hours those are. Hours are
read off the wall clock, also on the night when it skips one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from assay.history import Call, Exchange, History, Holding
from assay.model import Capability, Clause, Contract, Operation, Party
from assay.rules import params, script
from assay.rules.calendar import DAY, ORDINARY, WEEKDAYS, at, length, next_day
from assay.rules.folds import AGREES, DISAGREES, UNCLEAR, describe, failed, plain
from assay.rules.rule import Facet, Rule, Script, needs
from assay.verdict import Evidence

#: How far outside the window, in seconds, the nearest questions are asked.
BREATH = timedelta(seconds=30)
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The day of the week (Monday is 0), the hours, whose, and what is called."""

    weekday: int
    begin: time
    end: time
    operation: Operation
    owner: str
    zone: ZoneInfo | None

    def covers(self, instant: datetime) -> bool:
        """Whether an instant lies in the announced hours; never, with no zone."""
        if self.zone is None:
            return False
        local = instant.astimezone(self.zone)
        return local.weekday() == self.weekday and self.begin <= local.time() < self.end


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        weekday=WEEKDAYS.index(params.text(clause, "weekday")),
        begin=time.fromisoformat(params.text(clause, "from")),
        end=time.fromisoformat(params.text(clause, "to")),
        operation=params.operation(clause, contract),
        owner=script.roots(contract)[0].id,
        zone=contract.zone,
    )


def windows(contract: Contract) -> tuple[Params, ...]:
    """Return every maintenance window that a contract announces."""
    return tuple(
        parse(clause, contract)
        for clause in contract.clauses
        if clause.kind == "maintenance-window"
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """Just before, just after, on other days, and after the short night."""
    clock = needs(Capability.PSU, Capability.CLOCK, Capability.ZONE)
    return tuple(
        Facet(id=id_, asks=asks, scenario=scenario, needs=clock)
        for id_, asks, scenario in (
            ("before", "just before the window it answers", "week"),
            ("after", "just after the window it answers", "week"),
            ("other-days", "at the same hours of other days it answers", "week"),
            ("short-night", "the window ends by the wall clock when an hour is skipped", "night"),
        )
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: the control, and one at each instant."""
    return 5 if scenario == "week" else 2


def probe(p: Params, scenario: str) -> Script:
    """Call now, and then at the instants around the window."""
    now = yield from script.clock()
    if p.zone is None:
        return
    day = next_day(now, p.zone, weekday=p.weekday, shorter=scenario == "night")
    if day is None:
        return
    opens, closes = at(day, p.begin, p.zone), at(day, p.end, p.zone)
    instants = [closes + BREATH]
    if scenario == "week":
        if length(day, p.zone) != ORDINARY:
            opens, closes, day = opens + 7 * DAY, closes + 7 * DAY, day + 7 * DAY
        middle = opens + HOUR
        instants = [middle - DAY, opens - BREATH, closes + BREATH, middle + DAY]
    psu = yield from script.arrange("psu", Holding(resource=p.owner))
    call = Call(
        operation=p.operation.id,
        subject="psu",
        arguments=script.arguments(p.operation, psu.owns[0].key),
    )
    yield from script.send(call)
    for instant in instants:
        if instant > now:
            yield from script.clock(instant)
            yield from script.send(call)


def _facet(p: Params, instant: datetime) -> str | None:
    if p.zone is None or p.covers(instant):
        return None
    local = instant.astimezone(p.zone)
    day = local.date()
    if local.weekday() != p.weekday:
        return "other-days" if p.begin <= local.time() < p.end else None
    since = local.replace(tzinfo=None) - datetime.combine(day, p.end)
    until = datetime.combine(day, p.begin) - local.replace(tzinfo=None)
    if timedelta(0) <= since < HOUR:
        return "short-night" if length(day, p.zone) < ORDINARY else "after"
    return "before" if timedelta(0) < until <= HOUR else None


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge calls near the window whose method was seen to answer at a quiet time."""
    quiet: set[str] = set()
    for exchange in history.exchanges:
        call = exchange.call
        if call.operation != p.operation.id or not plain(call) or not call.present:
            continue
        facet = _facet(p, exchange.at)
        if facet is None:
            quiet |= {call.subject} if exchange.accepted else set()
        elif call.subject in quiet:
            yield _judge(facet, exchange)


def _judge(facet: str, exchange: Exchange) -> Evidence:
    agreement = AGREES if exchange.accepted else DISAGREES if failed(exchange) else UNCLEAR
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected="an answer outside the maintenance window",
        seen=describe(exchange),
        exchanges=(exchange.n,),
        deviation=f"at {exchange.at.isoformat()}",
    )


RULE = Rule(
    kind="maintenance-window",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
