"""Validity of a call about a request, as far as contract and history show.

A call is valid if nothing known speaks against it: the values that the contract fixes,
who is served, what a request can be about, who made it. Where the history leaves a
doubt, the call is doubtful, and its refusal is no violation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from operator import itemgetter
from typing import cast

from assay.contract.model import Json, Operation
from assay.contract.scalars import number_of
from assay.history import Authorised, Call, Event, Exchange, State, Subject
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.execution_record import is_usual
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Tracker
from assay.rules.rule import facts_of
from assay.rules.state.calendar import is_banking_day, local_day

#: Types of values that are expected to be valid before any value was accepted.
PLAIN = frozenset({str})
#: Types of values that are as valid once the bank has accepted the request with them.
PLAIN_ONCE_ACCEPTED = PLAIN | {int, float, Decimal, bool}
#: The days for which any bank shows a request on which nothing is due any more.
KEPT = timedelta(days=1)
#: The amounts that any bank accepts; beyond them it may have limits.
USUAL = (1, 1000)
#: The seconds after its creation within which a deferred request is not executed.
HOUR = 3600


@dataclass(slots=True, kw_only=True)
class PastRequests:
    """The past of a call, as far as its validity depends on it; `note` advances it.

    `accepted_values` has the values of each argument with which a request was accepted, `changed_values`
    those to which one was changed, `days_ahead` the largest number of
    days after its call for which a request was accepted, `on_any_day` that one was for a day on which
    banks settle nothing, `perhaps_executed` the contents that may
    have been executed, each with its requests by the owned thing that they named.
    """

    lifecycle: Lifecycle
    tracker: Tracker
    accepted_values: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    changed_values: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    days_ahead: int = 0
    on_any_day: bool = False
    perhaps_executed: dict[Hashable, dict[str | None, set[int]]] = field(
        default_factory=dict[Hashable, "dict[str | None, set[int]]"]
    )
    _asked: dict[int, tuple[Hashable, str | None]] = field(
        default_factory=dict[int, "tuple[Hashable, str | None]"]
    )

    def note(self, event: Event) -> None:
        """Process an event."""
        noted = self.tracker.note(event)
        if noted is not None and request_queries.makes(event, noted):
            self._asked[id(noted)] = _asked(noted.made.call, self.lifecycle)
        if noted is not None and isinstance(event, Exchange) and _taken(event, noted):
            made = request_queries.makes(event, noted)
            values = self.accepted_values if made else self.changed_values
            for name, value in event.call.arguments.items():
                values.setdefault(name, set()).add(repr(value))
            self.days_ahead = max(self.days_ahead, _days_ahead(self.lifecycle, event) or 0)
            due = request_queries.due_day(self.lifecycle, event.call.arguments)
            self.on_any_day |= due is not None and not is_banking_day(due)
        for request in (
            request_queries.requests_shown(self.tracker, event, noted)
            if noted is None
            else (noted,)
        ):
            content, thing = self._asked[id(request)]
            if request.done or request.signings:
                things = self.perhaps_executed.setdefault(content, {})
                things.setdefault(thing, set()).add(id(request))
            elif content in self.perhaps_executed:
                self.perhaps_executed[content].get(thing, set()).discard(id(request))

    def was_accepted(self, exchange: Exchange, name: str, value: Json) -> bool:
        """Whether the bank accepted a value in such a call: one to change it to may not do to make one."""
        makes = exchange.call.operation == self.lifecycle.create.id
        known = self.accepted_values.get(name, set())
        return repr(value) in (known if makes else known | self.changed_values.get(name, set()))

    def alike(self, call: Call) -> Iterator[set[int]]:
        """Yield the requests, thing by thing, that may have been executed and ask for the same."""
        content, thing = _asked(call, self.lifecycle)
        for other, requests in self.perhaps_executed.get(content, {}).items():
            if request_queries.perhaps_same_thing(thing, other):
                yield requests


def _taken(exchange: Exchange, request: Instance) -> bool:
    """Whether the values of a call were accepted, and the request not rejected later."""
    return exchange.accepted and request.state is not State.REJECTED


def is_valid(operation: Operation, exchange: Exchange, past: PastRequests) -> bool:
    """Whether a call must certainly be accepted.

    `past` has processed the history up to this exchange, and perhaps this exchange, too.
    """
    lifecycle, tracker = past.lifecycle, past.tracker
    if operation.makes:
        if tracker.reuses_id(exchange) or exchange.call.subject in tracker.wrong_entries:
            return (
                False  # the bank may take it for the earlier call, or have locked the customer out
            )
        made = _made(lifecycle, exchange, tracker.subjects.get(exchange.call.subject))
        return (
            made
            and _values_known_good(exchange, past)
            and _day_known_good(exchange, past)
            and not _decided(lifecycle, exchange)
            and not _repeats(exchange, past)
        )
    key = str(exchange.call.arguments.get(operation.about or ""))
    request = tracker.find(key)
    if request is None or request.made.call.by != exchange.call.by:
        return False
    if not operation.by_tpp and request.made.call.subject != exchange.call.subject:
        return False  # a request that a customer makes is that customer's
    if operation.shows:
        return _readable(past, request) and not _long_over(lifecycle, request, exchange.at)
    return _untouched(request) and _changeable(past, exchange, request)


def beyond_usual_amounts(exchange: Exchange, past: PastRequests) -> bool:
    """Whether a bank may refuse the amount of a request: it may have limits of its own."""
    name = past.lifecycle.create.amount
    if name is None or name not in exchange.call.arguments:
        return False
    amount = exchange.call.arguments[name]
    if number_of(amount) is None:
        return False
    return not is_usual(amount) and not past.was_accepted(exchange, name, amount)


def _readable(past: PastRequests, request: Instance) -> bool:
    """Whether a request must be readable: a bank may forget one that has ended or was rejected."""
    over = any(not end.refused for end in request.ends)
    over = over or any(withdrawal.done for withdrawal in request.withdrawn)
    if over or request.state in (State.ENDED, State.REJECTED):
        return False
    if request.done or not request.signings:
        return True
    lifecycle, call = past.lifecycle, request.made.call
    alike = any(requests - {id(request)} for requests in past.alike(call))
    decided = facts_of(lifecycle.contract).may_reject(lifecycle.request.id, call.arguments)
    plain = all(request_queries.plain(request, each) for each in request.screen_flows)
    return request_queries.signed(request) and plain and not alike and not decided


def _long_over(lifecycle: Lifecycle, request: Instance, at: datetime) -> bool:
    """Whether nothing was due on a request for some days: a bank may have archived it since."""
    if lifecycle.create.grants:
        return False  # a consent stays in force
    zone = lifecycle.contract.zone
    changed = [each for each in request.changes if each.accepted]
    # Nothing is due on an unsigned request.
    signed = request_queries.signed(request) or not lifecycle.signed
    due = request_queries.due_day(lifecycle, request.arguments) if signed else None
    events: tuple[Exchange | Authorised, ...] = (request.made, *request.signings, *changed)
    last = max(due or date.min, *(local_day(each.at, zone) for each in events))
    return local_day(at, zone) - last > KEPT


def _made(lifecycle: Lifecycle, exchange: Exchange, subject: Subject | None) -> bool:
    call, create = exchange.call, lifecycle.create
    named = set(create.arguments)
    if create.due and not lifecycle.deferred(call.mode):
        named.discard(create.due.argument)
    # A bank need not accept an argument that has no meaning in this mode.
    lean = call.arguments.keys() <= named
    whole = all(call.arguments.get(name) not in (None, "") for name in named)
    admitted = facts_of(lifecycle.contract).admits(lifecycle.request.id, call, subject)
    plain = lean and whole and call.mode == lifecycle.mode
    return plain and admitted and _owned(lifecycle, exchange, subject)


def _values_known_good(exchange: Exchange, past: PastRequests) -> bool:
    """Whether its values are certainly valid: accepted before, or from the target file.

    The first request has the values of the target file, unless it has a variation. The
    owned thing and the day are judged by themselves.
    """
    call, create = exchange.call, past.lifecycle.create
    if not any(name in past.accepted_values for name in create.arguments):
        plain = PLAIN_ONCE_ACCEPTED if exchange.accepted else PLAIN
        return not call.variation and all(type(value) in plain for value in call.arguments.values())
    bare = facts_of(past.lifecycle.contract).without_call_ids(exchange).call.arguments
    apart = {create.owned, *call.varied, create.due.argument if create.due else None}
    apart |= {*call.generated}
    if not call.variation:
        # Any id is as good as another; but a variation may be of the id itself, such as a long one.
        apart |= call.arguments.keys() - bare.keys()
    return all(
        name in apart or past.was_accepted(exchange, name, value)
        for name, value in call.arguments.items()
    )


def _day_known_good(exchange: Exchange, past: PastRequests) -> bool:
    """Whether a request is for no day, or for one in the future as near as one that was accepted.

    A request with a variation is for no such day before any was accepted.
    """
    due, call = past.lifecycle.create.due, exchange.call
    if due is None or due.argument not in call.arguments:
        return True
    ahead = _days_ahead(past.lifecycle, exchange)
    if ahead is None or ahead < 1:
        return False
    day = date.fromisoformat(str(call.arguments[due.argument]))
    if not (past.on_any_day or is_banking_day(day)):
        return False  # a bank may take no orders for a day on which it settles nothing
    return ahead <= past.days_ahead or not (past.days_ahead or call.variation)


def _days_ahead(lifecycle: Lifecycle, exchange: Exchange) -> int | None:
    """Return how many days after its call a request is due; None if its day is none."""
    due = lifecycle.create.due
    sent = exchange.call.arguments.get(due.argument) if due else None
    if not isinstance(sent, str) or len(sent) != len("YYYY-MM-DD"):
        return None
    try:
        day = date.fromisoformat(sent)
    except ValueError:
        return None
    zone = lifecycle.contract.zone
    today = local_day(exchange.at, zone)
    return (day - today).days


def _decided(lifecycle: Lifecycle, exchange: Exchange) -> bool:
    """Whether a clause may reject a request for one of its values."""
    request = lifecycle.request.id
    return facts_of(lifecycle.contract).may_reject(request, exchange.call.arguments)


def _repeats(exchange: Exchange, past: PastRequests) -> bool:
    """Whether a request with the same content may have been executed, where a clause forbids it."""
    lifecycle = past.lifecycle
    matters = lifecycle.request.id in facts_of(lifecycle.contract).unrepeatable
    return matters and any(past.alike(exchange.call))


def _asked(call: Call, lifecycle: Lifecycle) -> tuple[Hashable, str | None]:
    """Return the content of a request, and the owned thing that it names.

    Its mode is no part of the content, since a repeat in another may be one. Null asks for nothing.
    A long history has many contents, so all but numbers is digested.
    """
    numbers: list[Json] = []
    asked = {
        name: value
        for name, value in call.arguments.items()
        if value is not None and name != lifecycle.create.owned
    }
    text = _text(asked, numbers).encode()
    digest = hashlib.blake2b(text, digest_size=16).digest()
    content = (digest, *numbers) if numbers else digest
    return content, request_queries.named_thing(lifecycle, call.arguments)


def _text(value: Json, numbers: list[Json]) -> str:
    """Return a JSON value as text, without its numbers: equal ones may be written differently."""
    match value:
        case str() | None:
            return ascii(value)
        case Mapping():
            members = sorted(cast("Mapping[str, Json]", value).items(), key=itemgetter(0))
            each = (f"{name!a}:{_text(member, numbers)}" for name, member in members)
            return f"{{{','.join(each)}}}"
        case list() | tuple():
            items = (_text(item, numbers) for item in cast("list[Json]", value))
            return f"[{','.join(items)}]"
        case _:
            numbers.append(value)
            return "#"


def _owned(lifecycle: Lifecycle, exchange: Exchange, subject: Subject | None) -> bool:
    """Whether it is about a thing without special traits that the customer owns.

    A request is about things of one resource, whatever else customers own.
    """
    if not lifecycle.create.owned:
        return True
    thing = subject.owned(exchange.call.arguments.get(lifecycle.create.owned)) if subject else None
    if thing is None or thing.resource != lifecycle.owner:
        return False
    return not any(thing.traits.values())


def _untouched(request: Instance) -> bool:
    """Whether nothing happened to a request that may prevent a change."""
    refused = [change for change in request.changes if not change.accepted]
    over = request.screen_flows or request.ends or request.withdrawn or refused[:-1]
    return not over and request.state in (None, State.OPEN)


def _changeable(past: PastRequests, exchange: Exchange, request: Instance) -> bool:
    """Whether a change is of a changeable mode, before its day, and to valid values."""
    lifecycle, call = past.lifecycle, exchange.call
    only = facts_of(lifecycle.contract).changeable_modes.get(lifecycle.request.id, ())
    soon = (exchange.at - request.made.at).total_seconds() < HOUR
    new = lifecycle.new_values(exchange)
    good = all(
        name in call.varied or past.was_accepted(exchange, name, value)
        for name, value in new.items()
    )
    # The contract leaves open which arguments can be changed; a plain change must be possible.
    plain = bool(new) and new.keys() <= set(lifecycle.changeable_arguments)
    plain = plain and not any(
        request_queries.same_value(new[name], request.arguments.get(name)) for name in new
    )
    sure = soon and not request_queries.shown_for_another_day(lifecycle, request)
    return plain and good and sure and all(request.mode in modes for modes in only)
