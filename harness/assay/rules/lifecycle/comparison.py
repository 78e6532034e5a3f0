"""Comparison of requests with earlier ones that they repeat, or differ from in one thing.

A rejection may have reasons outside a rule. So a request is judged beside one that is
like it in everything else, and was executed: the same sort of customer, thing and
request.

For `duplicate`, a request is compared when it is decided on, at its creation and again
at the customer's signature, with the requests known by then to have been executed. The
cost of each event is constant. Nothing is judged here.

The rejection of a request that repeats nothing is a violation only if nothing else can be the
reason: nothing before the history, no identical request with unknown outcome, no other rule. That no
other rule applies is shown by a request that is like it in all that matters, and was accepted and
signed without being rejected.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, TypeAlias

from assay.contract.model import Json
from assay.history import Authorised, Effects, Ending, Event, Exchange, Registered
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.tracker import Instance, InstanceOutcome, Lifecycle, Tracker
from assay.rules.state.calendar import DAY, dates, within_a_day

#: A URL of characters that one may have (RFC 3986), and of a length that every bank takes.
ORDINARY_URL: Final = re.compile(
    r"(?:[\w.~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}){1,500}", re.ASCII
)
#: What two requests have in common: equal values for equal requests.
Likeness: TypeAlias = Hashable


def comparable(tracker: Tracker) -> Iterator[Instance]:
    """Return the requests whose content and outcome are known.

    They are not known of a request that was changed, or that shares its key with another.
    """
    keys = Counter(request.key for request in tracker.requests)
    for request in tracker.requests:
        if unchanged(request) and (request.key is None or keys[request.key] == 1):
            yield request


def unchanged(request: Instance) -> bool:
    """Whether no change of the request can have been accepted, but to what it said already."""
    return all(change.refused or _repeats(request, change) for change in request.changes)


def _repeats(request: Instance, change: Exchange) -> bool:
    """Whether a change asks for nothing but what the request was made with."""
    made = request.made.call.arguments
    return all(
        name in made and value == made[name] for name, value in change.call.arguments.items()
    )


def is_decided_by(event: Event, request: Instance) -> bool:
    """Whether an event is a decision point of a request: its creation, or its signature."""
    if isinstance(event, Authorised):
        return event.ending is Ending.CONFIRMED and event is request_queries.signature(request)
    return request_queries.makes(event, request)


def arguments(request: Instance, *, but: Collection[str | None] = ()) -> Likeness:
    """Return the content of the arguments except some: equal for equal requests."""
    return _as_text(request.arguments, but)


def sent(request: Instance, *, but: Collection[str | None] = ()) -> Likeness:
    """Return the mode and the content of the arguments except some."""
    return request.mode, arguments(request, but=but)


def sort_of(
    lifecycle: Lifecycle, request: Instance, *, but: Collection[str | None] = ()
) -> Likeness:
    """Return the sort of a request: its content, and the sort of its customer and its thing.

    The values of some arguments and the return address, if it is a URL, are left out. A request
    whose day may have begun when it was made or signed is of another sort than the same request
    before: it may be refused because it is late.
    """
    create = lifecycle.create
    rest = _as_text(request.arguments, {create.owned, create.returns, *but})
    back = return_scheme(lifecycle, request)
    return (
        request.mode,
        tuple(sorted(request.arguments)),
        rest,
        back,
        _sort_of_owner(lifecycle, request),
        _before_its_day(lifecycle, request),
    )


def _before_its_day(lifecycle: Lifecycle, request: Instance) -> bool:
    """Whether the day to which a request is deferred had not begun when it was decided on."""
    last = request_queries.signature(request) or request.made
    return request_queries.is_before_due_day(lifecycle, request.arguments, last.at)


def return_scheme(lifecycle: Lifecycle, request: Instance) -> Likeness:
    """Return the scheme of the return address, or the whole value where it is no ordinary URL."""
    address = request.arguments.get(lifecycle.create.returns or "")
    ordinary = isinstance(address, str) and ORDINARY_URL.fullmatch(address)
    parts = request_queries.split_url(ordinary[0]) if ordinary else None
    return parts.scheme if parts else repr(address)


def _as_text(arguments: Mapping[str, Json], but: Collection[str | None]) -> Likeness:
    return tuple(
        (name, repr(value)) for name, value in sorted(arguments.items()) if name not in but
    )


def _sort_of_owner(lifecycle: Lifecycle, request: Instance) -> Likeness:
    """Return the sort of customer and of thing; where that is unknown, the customer and thing."""
    subject, key = request.subject, request.arguments.get(lifecycle.create.owned or "")
    owned = subject.owned(key) if subject else None
    if subject is None or (owned is None and lifecycle.create.owned):
        return request.made.call.subject, repr(key)
    if owned is None:
        return (subject.segment,)
    traits = tuple((name, repr(value)) for name, value in sorted(owned.traits.items()) if value)
    return subject.segment, owned.resource, traits


REPEAT: Final = "repeat-refused"
NEXT_DAY: Final = "next-day-accepted"
CANCELLED: Final = "after-cancelled-accepted"
REFUSED: Final = "after-refused-accepted"
UNSIGNED: Final = "after-unsigned-accepted"


def changed_facet(parameter: str) -> str:
    """Return the facet of a parameter."""
    return f"{parameter}-changed-accepted"


#: A registered value of an argument, and since when.
Registration: TypeAlias = tuple[str, str, datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """The relation of a request to a former one; `n` is the exchange at which they were compared."""

    facet: str
    former: Instance
    n: int


@dataclass(slots=True, kw_only=True)
class ComparisonTracker:
    """All requests of a history, each with its relations to former ones.

    `last_executed` has the last executed request for each facet and content, without the one
    thing that the facet is about; `last_made` has the last one made for each content.
    `registrations` has what each customer has registered, `registered` what the customer of a
    request had when it was made.
    """

    lifecycle: Lifecycle
    parameters: tuple[str, ...]
    modes: tuple[str | None, ...]
    tracker: Tracker
    last_executed: dict[tuple[str, Likeness], Instance] = field(
        default_factory=dict[tuple[str, Likeness], Instance]
    )
    last_made: dict[Likeness, Instance] = field(default_factory=dict[Likeness, Instance])
    former: dict[int, Instance | None] = field(default_factory=dict[int, Instance | None])
    relations: dict[int, list[Relation]] = field(default_factory=dict[int, list[Relation]])
    registrations: dict[str, frozenset[Registration]] = field(
        default_factory=dict[str, frozenset[Registration]]
    )
    registered: dict[int, frozenset[Registration]] = field(
        default_factory=dict[int, frozenset[Registration]]
    )
    seen_done: set[int] = field(default_factory=set[int])

    def note(self, event: Event) -> None:
        """Process an event."""
        noted = self.tracker.note(event)
        if isinstance(event, Registered):
            before = self.registrations.get(event.subject, frozenset())
            self.registrations[event.subject] = before | {
                (event.argument, repr(event.value), event.since)
            }
        if noted is not None and request_queries.makes(event, noted):
            key, name = sent(noted), noted.made.call.subject
            self.registered[id(noted)] = self.registrations.get(name, frozenset())
            self.former[id(noted)], self.last_made[key] = self.last_made.get(key), noted
        if noted is not None and is_decided_by(event, noted):
            self._compare(noted)
        about = (
            request_queries.requests_shown(self.tracker, event, noted)
            if isinstance(event, Effects)
            else (noted,)
        )
        new = [
            request
            for request in about
            if request and request.done and id(request) not in self.seen_done
        ]
        # Of several that the fixture lists at once, the one that was made last counts.
        for request in sorted(new, key=lambda request: request.made.n):
            self.seen_done.add(id(request))
            self._index(request)

    def same_registrations(self, request: Instance, other: Instance) -> bool:
        """Whether the customers of two requests had the same registrations, before and after."""
        every = (
            known
            for each in (request, other)
            for known in (
                self.registered.get(id(each), frozenset()),
                self.registrations.get(each.made.call.subject, frozenset()),
            )
        )
        return len(set(every)) == 1

    def _index(self, request: Instance) -> None:
        if self._plain(request) and unchanged(request):
            for what, key in self._keys(request):
                self.last_executed[what, key] = request

    def _plain(self, request: Instance) -> bool:
        """Whether it is of a judged mode, and executed when it is signed."""
        return request.mode in self.modes and not self.lifecycle.deferred(request.mode)

    def _keys(self, request: Instance) -> Iterator[tuple[str, Likeness]]:
        yield REPEAT, sent(request)
        for parameter in self.parameters:
            yield changed_facet(parameter), sent(request, but=(parameter,))

    def _respelled(self, what: str, request: Instance, former: Instance) -> bool:
        """Whether two requests differ in the spelling of one value only: they may be the same."""
        return any(
            what == changed_facet(name)
            and request_queries.same_value(request.arguments.get(name), former.arguments.get(name))
            for name in self.parameters
        )

    def _compare(self, request: Instance) -> None:
        """Find the relations of a request: a repeat of a former one, or different in one thing."""
        n = (request_queries.signature(request) or request.made).n
        near: dict[str, Instance] = {}
        if self._plain(request):
            near = {
                what: former
                for what, key in self._keys(request)
                if (former := self.last_executed.get((what, key))) is not None
                and former is not request
                and not self._respelled(what, request, former)
            }
        same = near.get(REPEAT)
        if same is not None:
            # A request that differs in one thing may be this same request: inconclusive.
            near = {
                what: former
                for what, former in near.items()
                if what == REPEAT or former is not same
            }
        last = self.former[id(request)]
        if last is not None and (why := _undone(last)):
            near[why] = last
        self.relations[id(request)] = [
            Relation(facet=what, former=former, n=n) for what, former in near.items()
        ]


def _undone(former: Instance) -> str:
    """Return why a request was not executed; empty if it was, or that is unknown."""
    if former.done or not former.made.accepted or not unchanged(former):
        return ""
    if any(event.accepted for event in former.ends) or any(
        event.done for event in former.withdrawn
    ):
        return CANCELLED
    if request_queries.declined(former):
        return REFUSED
    return "" if former.signings or former.ends else UNSIGNED


# -- days ------------------------------------------------------------------------
def possible_decision_times(request: Instance) -> tuple[datetime, ...]:
    """Return the moments at which the request may have been decided on."""
    signed = request_queries.signature(request)
    seen = request.seen_at if request.done else None
    return tuple(
        moment
        for moment in (request.made.at, signed.at if signed else None, seen)
        if moment is not None
    )


def same_day(lifecycle: Lifecycle, first: Instance, second: Instance) -> bool:
    """Whether two requests are certainly of one local day."""
    every = (*possible_decision_times(first), *possible_decision_times(second))
    return len({within_a_day(moment, lifecycle.contract.zone) for moment in every}) == 1


def later_day(lifecycle: Lifecycle, former: Instance, request: Instance) -> bool:
    """Whether a request is certainly of a later local day than a former one."""
    zone = lifecycle.contract.zone
    ended = max(dates(moment, zone)[-1] for moment in possible_decision_times(former))
    return ended < min(dates(moment, zone)[0] for moment in possible_decision_times(request))


# -- other causes of a rejection -------------------------------------------------------------
#: A day on which a request may have been executed; None for any day.
_Day: TypeAlias = date | None
#: The most possible days of an execution that are compared; with more, any day is possible.
FEW = 7
#: The outcomes of a request that has not been executed.
UNDONE = frozenset({InstanceOutcome.OPEN, InstanceOutcome.ENDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanations:
    """The possible causes of a rejection, each with the number of its first exchange.

    `perhaps_executed` has the requests that may have been executed, by content and day,
    `unknown_customers` the customers with a request whose content is unknown, and `accepted`
    the accepted requests by their sort.
    """

    compared: ComparisonTracker
    perhaps_executed: Mapping[tuple[Likeness, _Day], int]
    unknown_customers: Mapping[str, int]
    accepted: Mapping[Likeness, Instance]

    @staticmethod
    def of(compared: ComparisonTracker) -> Explanations:
        """Collect them from a history."""
        perhaps: dict[tuple[Likeness, _Day], int] = {}
        loose: dict[str, int] = {}
        alike: dict[Likeness, Instance] = {}
        for request in compared.tracker.requests:
            number = (request_queries.signature(request) or request.made).n
            days = [*_days(compared, request)]
            if _is_unclear(request):
                name = request.made.call.subject
                loose[name] = min(request.made.n, loose.get(name, request.made.n))
            for content in _contents(compared, request) if days else ():
                for day in days:
                    perhaps[content, day] = min(number, perhaps.get((content, day), number))
            if _accepted(compared, request):
                alike.setdefault(sort_of(compared.lifecycle, request), request)
        return Explanations(
            compared=compared, perhaps_executed=perhaps, unknown_customers=loose, accepted=alike
        )

    def control(self, request: Instance) -> Instance | None:
        """Return a request of the same sort that was accepted, if there is one."""
        return self.accepted.get(sort_of(self.compared.lifecycle, request))

    def explanation(self, request: Instance, relation: Relation) -> str:
        """Return another possible cause of the rejection of a request; empty if there is none."""
        if not request_queries.is_known(request):
            return "it may repeat a request from before this history"
        if self._repeats(request, relation.n):
            return "it may repeat a request whose outcome is unknown"
        former = relation.former
        about_undone = relation.facet in (CANCELLED, REFUSED, UNSIGNED)
        looked = former.seen_in is not None and former.seen_in > relation.n
        if about_undone and not (looked and former.outcome in UNDONE):
            return "the state of the earlier request at that time is unknown"
        control = self.control(request)
        if control is None:
            return "no comparable request was accepted"
        if self._unlike(request, control):
            return "the comparable request was signed or prepared in another way"
        return ""

    def _repeats(self, request: Instance, n: int) -> bool:
        zone, key = self.compared.lifecycle.contract.zone, _sent(self.compared, request)
        days: set[_Day] = {
            day for moment in possible_decision_times(request) for day in dates(moment, zone)
        }
        numbers = [self.perhaps_executed.get((key, day), n) for day in (*days, None)]
        return min(*numbers, self.unknown_customers.get(request.made.call.subject, n)) < n

    def _unlike(self, request: Instance, control: Instance) -> bool:
        mine, its = request_queries.signature(request), request_queries.signature(control)
        signed = mine is not None and (its is None or mine.step.factor != its.step.factor)
        return signed or not self.compared.same_registrations(request, control)


def _accepted(compared: ComparisonTracker, request: Instance) -> bool:
    """Whether it was executed or, if deferred, still open after its signature."""
    signed = request_queries.signature(request)
    open_ = (
        signed is not None
        and request.outcome is InstanceOutcome.OPEN
        and (request.seen_in or 0) > signed.n
    )
    put_off = compared.lifecycle.deferred(request.mode) and open_
    return unchanged(request) and (request.done or put_off)


def _sent(compared: ComparisonTracker, request: Instance) -> Likeness:
    """Return the content of a request without its return address.

    Nor its mode: whether a request in another mode is a repeat may be open.
    """
    return arguments(request, but=(compared.lifecycle.create.returns,))


def _is_unclear(request: Instance) -> bool:
    """Whether it is unknown if a change of the request was accepted."""
    return not all(change.accepted or change.refused for change in request.changes)


def _contents(compared: ComparisonTracker, request: Instance) -> Iterator[Likeness]:
    """Yield the content of a request as it was made, and after each change that was accepted."""
    but = (compared.lifecycle.create.returns,)
    values = request.made.call.arguments
    yield _as_text(values, but)
    for each in request.changes:
        if each.accepted:
            values = {**values, **each.call.arguments}
            yield _as_text(values, but)


def _days(compared: ComparisonTracker, request: Instance) -> Iterator[_Day]:
    """Yield the days on which a request may have been executed."""
    signed = request_queries.signature(request) is not None
    if request.outcome is InstanceOutcome.UNKNOWN or (
        signed and request.outcome is InstanceOutcome.OPEN
    ):
        yield None
    elif request.done:
        zone = compared.lifecycle.contract.zone
        every = [day for moment in possible_decision_times(request) for day in dates(moment, zone)]
        first, last = min(every), max(every)
        few = (last - first).days < FEW
        yield from (first + n * DAY for n in range((last - first).days + 1)) if few else (None,)
