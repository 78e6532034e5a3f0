"""Conversion of recorded entries to a history: who called what, and with which outcome.

Answers are decoded as in a run, and the names in them are learnt for later requests. Requests that
are no call of the contract are counted and named, unreadable ones are counted. The only events are
exchanges: no recording shows who owns what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from assay.binding.decode import body_of, decode, links_of
from assay.binding.encode import BARE, Access
from assay.binding.pointer import MISSING
from assay.binding.target import Target
from assay.contract.model import Json, Operation
from assay.history import (
    Accepted,
    Call,
    Cause,
    Exchange,
    History,
    Indeterminate,
    Malformed,
    Outcome,
    Subject,
    Wire,
)
from assay.journal.redact import Redactor
from assay.traffic.callers import Callers
from assay.traffic.match_request import MatchedRequest, RequestMatcher
from assay.traffic.parse_request import ParsedRequest

#: So many sorts of strange requests are named, the others only counted.
MOST_STRANGERS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEntry:
    """A recorded request with its answer; `ms` are milliseconds.

    `lost` says why the answer is not known, `asked_lost` that the body of the request is not there.
    """

    at: datetime
    wire: Wire
    ms: float = 0.0
    lost: str = ""
    asked_lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedHistory:
    """A recording as a history, with what authorised each exchange, by its number.

    `strangers` counts requests that are none of the contract's, by what they were;
    `unread` counts those whose own body was not recorded.
    """

    history: History
    access: Mapping[int, Access]
    strangers: Mapping[str, int]
    unread: int = 0


@dataclass(slots=True, kw_only=True)
class _Teller:
    target: Target
    recogniser: RequestMatcher
    redactor: Redactor
    lenient: bool
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    access: dict[int, Access] = field(default_factory=dict[int, Access])
    strangers: Counter[str] = field(default_factory=Counter[str])
    unread: int = 0

    def take(self, entry: RecordedEntry) -> None:
        """Take the next entry in."""
        try:
            taken = ParsedRequest(entry.wire)
            read = self.recogniser.read(taken, entry.at)
        except ValueError:  # a URL that is none
            self._stranger(entry)
            return
        if read is None:
            self._stranger(entry)
        elif entry.asked_lost:
            self.unread += 1
        else:
            self._exchange(entry, taken, read)

    def _stranger(self, entry: RecordedEntry) -> None:
        """Count a request that is none of the contract's; it may renew a token."""
        self._keep(self.recogniser.people.learn(entry.wire))
        try:
            parts = urlsplit(entry.wire.url)
            where = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        except ValueError:
            where = "no URL"
        method = self.redactor.bounded(entry.wire.method, 16)
        what = f"{method} {self.redactor.bounded(where, 200)}"
        if what in self.strangers or len(self.strangers) < MOST_STRANGERS:
            self.strangers[what] += 1
        else:
            self.strangers["others"] += 1

    def _keep(self, access: Access) -> None:
        """Keep what authorised a call out of all that is told."""
        self.redactor.learn(Subject(name="", now=_NEVER, owns=()), access)

    def _exchange(self, entry: RecordedEntry, taken: ParsedRequest, read: MatchedRequest) -> None:
        operation, wire = read.operation, entry.wire
        outcome: Outcome
        if entry.lost:
            outcome = Indeterminate(cause=Cause.TRANSPORT, why=entry.lost)
        else:
            body = body_of(wire)
            outcome = decode(wire, body, operation, self.target)
            binding = self.target.operations.get(operation.id, BARE)
            if body is not MISSING and (binding.links or binding.next or binding.approval):
                wire = replace(wire, links=links_of(wire, body, binding))
        call = self._judged(read, outcome)
        n = len(self.exchanges) + 1
        exchange = Exchange(n=n, at=entry.at, call=call, outcome=outcome, wire=wire, ms=entry.ms)
        self.exchanges.append(exchange)
        self.access[n] = read.access
        self._keep(read.access)
        self._learn(exchange, operation, taken)

    def _judged(self, read: MatchedRequest, outcome: Outcome) -> Call:
        """Return the call as a bank may be judged by it.

        Something that no contract speaks of may be why it was refused.
        """
        call = read.call
        harmless = isinstance(outcome, Accepted) and not read.torn
        if not (read.strange or read.torn) or call.malformed or self.lenient or harmless:
            return call
        query = all(not one.startswith("/") for one in read.strange)
        why = Malformed.JUNK_QUERY if query else Malformed.WRONG_TYPES
        return replace(call, malformed=why)

    def _learn(self, exchange: Exchange, operation: Operation, taken: ParsedRequest) -> None:
        """Learn names, pages and requests from an answer, for what is asked later."""
        known, call = self.recogniser.known, exchange.call
        for item in exchange.items:
            if item.key is not None:
                known.resources[item.key] = item.resource or "thing"
                if not operation.about and not operation.request:
                    self._private(item.key)
                if item.id is not None:
                    known.keys[item.id] = item.key
        for name in (operation.about, operation.grants, operation.owned):
            self._arguments(operation, call.arguments.get(name or ""))
        outcome = exchange.outcome
        if isinstance(outcome, Accepted) and outcome.next:
            parts = urlsplit(outcome.next)
            asked = f"{parts.path}?{parts.query}" if parts.query else parts.path
            self.recogniser.links[call.subject, asked] = replace(call, follow=outcome.next)
        made = exchange.item if operation.makes else None
        if made is not None and made.key is not None:
            self.recogniser.payers[made.key] = call.subject

    def _arguments(self, operation: Operation, value: Json) -> None:
        for one in value if isinstance(value, list | tuple) else (value,):
            # Whoever asks about a request names it by a key that tells nothing.
            if isinstance(one, str) and not (operation.request and not operation.makes):
                self._private(one)

    def _private(self, key: str) -> None:
        if len(key) > LONGEST_KEY:
            return
        if len(self.redactor.known) > MOST_KNOWN:
            self.redactor.begin()  # what is looked for everywhere costs with each one more
        self.redactor.name(key, self.recogniser.known.resources.get(key, "thing"))


#: A longer text is no name of anything.
LONGEST_KEY = 256
#: So many private values are looked for in every text; former ones as words.
MOST_KNOWN = 200
_NEVER = datetime(1, 1, 1, tzinfo=UTC)


def to_history(
    entries: Iterable[RecordedEntry],
    operations: Mapping[str, Operation],
    target: Target,
    redactor: Redactor,
    *,
    lenient: bool = False,
) -> RecordedHistory:
    """Read entries, in their order, as a history of calls of these operations.

    `lenient` takes a call for what it is although there is something strange in it: for
    those who judge who asked, not who answered. What is private is told to the redactor.
    """
    recogniser = RequestMatcher(operations=operations, target=target, people=Callers(target=target))
    teller = _Teller(target=target, recogniser=recogniser, redactor=redactor, lenient=lenient)
    for entry in sorted(entries, key=lambda one: one.at):
        teller.take(entry)
    return RecordedHistory(
        history=History(events=tuple(teller.exchanges)),
        access=teller.access,
        strangers=dict(teller.strangers),
        unread=teller.unread,
    )
