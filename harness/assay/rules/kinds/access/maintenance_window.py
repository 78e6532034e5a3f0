"""`maintenance-window`: the interface answers outside the announced maintenance hours.

During these hours "disturbances are possible", so no failure then is a violation of any
clause: `closed_at` says which hours those are. The window follows the local clock, also on
the night when it skips an hour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Operation
from assay.files.document import Finding, Pointer
from assay.history import Call, Exchange, History, Holding
from assay.rules import parameters, steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_steps
from assay.rules.parameters import Raw
from assay.rules.queries import plain, target_failed
from assay.rules.rule import Calls, Facet, Kind, Purpose, Scenario, Scope, Script, needs
from assay.rules.state.calendar import (
    DAY,
    ORDINARY,
    WEEKDAYS,
    at,
    length,
    never_shorter,
    next_day,
    wall_time,
)
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence, describe_answer

#: How far outside the window the nearest calls are made.
BREATH = timedelta(seconds=30)
HOUR = timedelta(hours=1)


def _after_begin(at: Pointer, value: str, clause: Raw, _raw: Raw) -> Iterator[Finding]:
    """Find fault with a window that ends before it begins."""
    if value <= clause["from"]:
        yield (
            at,
            f"the window ends at {value}, before it begins",
            "split it into two clauses at midnight",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceWindow(Kind):
    """The announced hours of a week (Monday is 0), and the operation that is called."""

    name = "maintenance-window"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.EXCUSE
    whole_interface = True
    limits = ("weekday", "from", "to")

    operation: Operation = parameters.operation()
    weekday: int = parameters.choice(
        *WEEKDAYS,
        key="weekday",
        description="a weekday in English and small letters",
        convert=WEEKDAYS.index,
    )
    begin: time = parameters.parameter(
        parameters.ref("time"), lambda value, _: time.fromisoformat(value), key="from"
    )
    end: time = parameters.parameter(
        parameters.ref("time"),
        lambda value, _: time.fromisoformat(value),
        key="to",
        references=_after_begin,
    )
    owner: str = parameters.derived(lambda contract, _: steps.roots(contract)[0].id)
    zone: ZoneInfo | None = parameters.the_zone()

    @property
    def spans(self) -> timedelta:
        """The length of the window by the local clock; it may go past midnight."""
        begin, end = datetime.combine(date.min, self.begin), datetime.combine(date.min, self.end)
        return end - begin if begin < end else end + DAY - begin

    def latest(self, wall: datetime) -> datetime:
        """Return when the window of this or the last such weekday opens, by the local clock."""
        day = wall.date() - ((wall.weekday() - self.weekday) % 7) * DAY
        return datetime.combine(day, self.begin)

    def covers(self, instant: datetime) -> bool:
        """Whether an instant lies in the announced hours; False if the zone is unknown."""
        return self.phase(instant) == 0

    def facts(self) -> Facts:
        """Return the announced closure."""
        return Facts(closures=(self.phase,))

    def phase(self, instant: datetime) -> int | None:
        """Return -1, 0 or 1 for an instant before, in or after the latest window."""
        if self.zone is None:
            return None
        wall = wall_time(instant, self.zone)
        into = wall - self.latest(wall)
        return -1 if into < timedelta(0) else 0 if into < self.spans else 1

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the customer's absence, which quotas limit, and the day, which it chooses."""
        return {
            "presence": "a call without the customer may be refused for its number",
            "weekday": "the clause itself is about days of the week",
        }

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for just before, just after, other days, and the short night."""
        clock = needs(Capability.PSU, Capability.CLOCK, Capability.ZONE)
        if self.operation.request:
            clock |= needs(Capability.WRITE)
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id=scenario),
                needs=clock,
                not_applicable_because=never_shorter(self.zone, self.weekday)
                if scenario == "night"
                else "",
            )
            for id_, description, scenario in (
                ("before", "the interface answers just before the window", "week"),
                ("after", "the interface answers just after the window", "week"),
                ("other-days", "the interface answers at the same hours of other days", "week"),
                (
                    "short-night",
                    "the window ends by the local clock on the night that skips an hour",
                    "night",
                ),
            )
        )

    def probe(self, scenario: Scenario) -> Script:
        """Call now, and then at the instants around the window."""
        now = yield from steps.clock()
        if self.zone is None:
            return
        # The day before the window is tested too, so it must not be over.
        day = next_day(now + DAY, self.zone, weekday=self.weekday, shorter=scenario.id == "night")
        if day is None:
            return
        if scenario.id == "week" and length(day, self.zone) != ORDINARY:
            day += 7 * DAY
        end = datetime.combine(day, self.begin) + self.spans
        opens, closes = at(day, self.begin, self.zone), at(end.date(), end.time(), self.zone)
        instants = [closes + BREATH]
        if scenario.id == "week":
            middle = opens + HOUR
            instants = [middle - DAY, opens - BREATH, closes + BREATH, middle + DAY]
        call = yield from self._ready()
        if call is None:
            return
        yield from steps.send(call)
        for instant in instants:
            yield from steps.clock(instant)
            yield from steps.send(call)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge calls near the window if the same method has answered before."""
        quiet: set[str] = set()
        for exchange in history.exchanges:
            call = exchange.call
            if call.operation != self.operation.id or not plain(call) or not call.present:
                continue
            facet = self._facet(exchange.at)
            if facet and call.subject in quiet:
                yield _judge(facet, exchange)
            quiet |= {call.subject} if exchange.accepted else set()

    def _ready(self) -> steps.Part[Call | None]:
        if self.operation.request:
            _, ready = yield from request_steps.prepare_call(self.contract, self.operation)
            return ready
        psu = yield from steps.arrange("psu", Holding(resource=self.owner))
        key = psu.owns[0].key
        arguments = steps.arguments(self.operation, key)
        return Call(operation=self.operation.id, subject="psu", arguments=arguments)

    def _facet(self, instant: datetime) -> str | None:
        if self.zone is None or self.covers(instant):
            return None
        wall = wall_time(instant, self.zone)
        opens = self.latest(wall)
        closes = opens + self.spans
        upcoming = opens if wall < opens else opens + 7 * DAY
        if timedelta(0) <= wall - closes < HOUR:
            return "short-night" if length(closes.date(), self.zone) < ORDINARY else "after"
        if upcoming - wall <= HOUR:
            return "before"
        since = (wall - datetime.combine(wall.date(), self.begin)) % DAY
        return "other-days" if since < self.spans else None


def _judge(facet: str, exchange: Exchange) -> Evidence:
    agreement = AGREES if exchange.accepted else DISAGREES if target_failed(exchange) else UNCLEAR
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected="an answer outside the maintenance window",
        seen=describe_answer(exchange),
        exchanges=(exchange.n,),
        variation=f"at {exchange.at.isoformat()}",
    )
