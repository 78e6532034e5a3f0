"""Conversion of recorded entries to a history: the caller and outcome of each call.

Responses are decoded as in a run, and the names in them are learnt for later requests. Requests that
match no call of the contract are counted by kind, and so are those without their body. The only
events are exchanges: no recording shows who owns what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from assay.binding.model.pointer import MISSING
from assay.binding.model.spelling import slots_of
from assay.binding.model.target import Target
from assay.binding.wire.decode import body_of, decode, documented
from assay.binding.wire.encode import BARE, Access
from assay.binding.wire.links import links_of, names_links, page_of_call
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
    Submitted,
    Wire,
)
from assay.journal.redact import Redactor
from assay.judging.assembly import Numbered
from assay.traffic.callers import Callers
from assay.traffic.har import RecordedEntry, StoredWire
from assay.traffic.match_request import MatchedRequest, RequestMatcher
from assay.traffic.parse_request import ParsedRequest

#: How many kinds of unmatched requests are named; the others are only counted.
MAX_UNMATCHED = 1000
#: The longest text that can be the name of something.
MAX_KEY = 256
#: How many private values are searched for in every text; earlier ones only as whole words.
MAX_KNOWN = 200
#: How many credentials are compared with further ones.
MAX_SHARED = 10_000
#: The clock of a subject that exists only to be redacted.
_NEVER = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedHistory:
    """A recording as a history, with what authorised each exchange, by its number.

    `unmatched` counts the requests that match no call of the contract, by kind; `unread` counts
    the calls whose body was not recorded.
    """

    history: History
    access: Mapping[int, Access] = field(default_factory=dict[int, Access])
    unmatched: Mapping[str, int] = field(default_factory=dict[str, int])
    unread: int = 0


@dataclass(slots=True, kw_only=True)
class _HistoryBuilder:
    target: Target
    matcher: RequestMatcher
    redactor: Redactor
    lenient: bool
    events: list[Exchange | Submitted] = field(default_factory=list["Exchange | Submitted"])
    access: Numbered[Access] = field(default_factory=Numbered[Access])
    unmatched: Counter[str] = field(default_factory=Counter[str])
    unread: int = 0
    consents: UsedConsents = field(init=False)
    _known: dict[tuple[str | None, ...], Access] = field(
        default_factory=dict[tuple[str | None, ...], Access]
    )

    def __post_init__(self) -> None:
        """Begin without any consent."""
        self.consents = UsedConsents(target=self.target)

    def add(self, entry: RecordedEntry) -> None:
        """Add the next entry."""
        try:
            request = ParsedRequest(entry.wire)
            matched = self.matcher.read(request, entry.at)
        except ValueError:  # not a URL
            self._count_unmatched(entry)
            return
        if matched is None:
            self._count_unmatched(entry)
        elif entry.body_lost:
            self.unread += 1
        else:
            self._add_exchange(entry, request, matched)

    def _count_unmatched(self, entry: RecordedEntry) -> None:
        """Count a request that matches no call of the contract; it may refresh a token."""
        self._redact(self.matcher.callers.learn(entry.wire))
        try:
            parts = urlsplit(entry.wire.url)
            url = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        except ValueError:
            url = "not a URL"
        method = self.redactor.bounded(entry.wire.method, 16)
        kind = f"{method} {self.redactor.bounded(url, 200)}"
        if kind in self.unmatched or len(self.unmatched) < MAX_UNMATCHED:
            self.unmatched[kind] += 1
        else:
            self.unmatched["others"] += 1

    def _redact(self, access: Access) -> None:
        """Keep what authorised a call out of all records."""
        self.redactor.learn(Subject(name="", now=_NEVER, owns=()), access)

    def _add_exchange(
        self, entry: RecordedEntry, request: ParsedRequest, matched: MatchedRequest
    ) -> None:
        operation, wire, submissions = matched.operation, entry.wire, self.matcher.submissions
        binding = matched.target.operations.get(operation.id, BARE)
        outcome: Outcome
        if entry.lost:
            outcome = Indeterminate(cause=Cause.TRANSPORT, why=entry.lost)
        else:
            body = body_of(wire)
            outcome = decode(wire, body, operation, matched.target)
            if binding.link_headers or (body is not MISSING and names_links(binding)):
                wire = _with_links(wire, links_of(wire, body, binding))
        call = self._judged_call(matched, outcome)
        if self.target.outputs:
            call = replace(call, consent=self.consents.named(call, request))
        outcome = page_of_call(outcome, call, binding.next)
        n = len(self.events) + 1
        exchange = Exchange(n=n, at=entry.at, call=call, outcome=outcome, wire=wire, ms=entry.ms)
        if not entry.lost:
            exchange = replace(exchange, documented=documented(matched.target, wire))
        self.access[n] = access = self._same(matched.access)
        self._redact(access)
        if matched.submits:
            self.events.append(submissions.submitted(exchange, matched.submits))
            return
        submissions.learn(exchange)
        exchange = replace(exchange, outcome=submissions.outcome(outcome))
        self.events.append(exchange)
        self._learn(exchange, operation)

    def _same(self, access: Access) -> Access:
        """Return the equal credentials of an earlier call, if there are any: most are used often."""
        same = access.token, access.login, access.password
        if len(self._known) > MAX_SHARED:
            self._known.clear()
        return self._known.setdefault(same, access)

    def _judged_call(self, matched: MatchedRequest, outcome: Outcome) -> Call:
        """Return the call by which a bank may be judged.

        A part that no contract describes may be the reason for a refusal.
        """
        call = matched.call
        odd = matched.unexplained or matched.inconsistent
        harmless = isinstance(outcome, Accepted) and not matched.inconsistent
        if not odd or call.malformed or self.lenient or harmless:
            return call
        only_query = all(not name.startswith("/") for name in matched.unexplained)
        malformed = Malformed.JUNK_QUERY if only_query else Malformed.WRONG_TYPES
        return replace(call, malformed=malformed)

    def _learn(self, exchange: Exchange, operation: Operation) -> None:
        """Learn names, pages and requested resources from a response, for later requests."""
        for output, value in self.consents.learn(exchange):
            self.redactor.name(value, output)
        ids, call = self.matcher.ids, exchange.call
        for item in exchange.items:
            if item.key is not None:
                if item.resource:
                    ids.resources[item.key] = item.resource
                else:
                    ids.resources.pop(item.key, None)
                if not operation.about and not operation.request:
                    self._redact_key(item.key)
                if item.id is not None:
                    ids.keys[item.id] = item.key
        for name in (operation.about, operation.grants, operation.owned):
            self._redact_arguments(operation, call.arguments.get(name or ""))
        outcome = exchange.outcome
        if isinstance(outcome, Accepted) and outcome.next:
            parts = urlsplit(outcome.next)
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            target += f"#{parts.fragment}" if parts.fragment else ""
            target = self.matcher.without_token(target, operation)
            self.matcher.links[call.subject, target] = replace(call, follow=outcome.next)
        created = exchange.item if operation.makes else None
        if created is not None and created.key is not None:
            self.matcher.payers[created.key] = call.subject
            binding = self.target.operations.get(operation.id, BARE)
            template = binding.path or operation.path
            slots = slots_of(template, urlsplit(exchange.wire.url).path)
            given = {name: str(value) for name, value in call.arguments.items()}
            self.matcher.made_slots[created.key] = {**given, **slots}

    def _redact_arguments(self, operation: Operation, value: Json) -> None:
        for key in value if isinstance(value, list | tuple) else (value,):
            # The key of a requested resource reveals nothing about a customer.
            if isinstance(key, str) and not (operation.request and not operation.makes):
                self._redact_key(key)

    def _redact_key(self, key: str) -> None:
        if len(key) > MAX_KEY:
            return
        if len(self.redactor.known) > MAX_KNOWN:
            self.redactor.begin()  # each further value makes every search slower
        self.redactor.name(key, self.matcher.ids.resources.get(key, "thing"))


def _with_links(wire: Wire, links: tuple[str, ...]) -> Wire:
    return wire.with_links(links) if isinstance(wire, StoredWire) else replace(wire, links=links)


def to_history(
    entries: Iterable[RecordedEntry],
    operations: Mapping[str, Operation],
    target: Target,
    redactor: Redactor,
    *,
    lenient: bool = False,
) -> RecordedHistory:
    """Read entries, ordered by time, as a history of calls of these operations.

    `lenient` ignores unexplained parts of a request: it is for judging the caller, not the bank.
    The redactor learns what is private.
    """
    matcher = RequestMatcher(operations=operations, target=target, callers=Callers(target=target))
    builder = _HistoryBuilder(
        target=target,
        matcher=matcher,
        redactor=redactor,
        lenient=lenient,
    )
    for entry in sorted(entries, key=lambda entry: entry.at):
        builder.add(entry)
    return RecordedHistory(
        history=History(events=tuple(builder.events)),
        access=builder.access,
        unmatched=dict(builder.unmatched),
        unread=builder.unread,
    )


# -- Consents that the requests of a recording name, by the values of earlier answers ------------
# A call uses the last consent that was made for its customer, unless its request has the value of
# another one: then the call says which, or that it is unknown.
#: How many values are remembered at most.
_MOST = 100_000
#: What stands for the key of a consent from before the recording.
UNKNOWN = "unknown"


@dataclass(slots=True, kw_only=True)
class UsedConsents:
    """The values of outputs so far: the key of the consent of each, and the last of each caller."""

    target: Target
    _keys: dict[str, str] = field(default_factory=dict[str, str])
    _names: set[str] = field(default_factory=set[str])
    _last: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def learn(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        """Remember the outputs of an answer; yield each with its name."""
        outcome, call, item = exchange.outcome, exchange.call, exchange.item
        if not isinstance(outcome, Accepted) or not outcome.outputs:
            return
        yield from outcome.outputs.items()
        if item is not None and item.key is not None:
            if len(self._keys) >= _MOST:
                self._keys.clear()
            self._keys |= dict.fromkeys(outcome.outputs.values(), item.key)
            self._names |= outcome.outputs.keys()
            self._last[call.subject, call.by] = item.key

    def named(self, call: Call, request: ParsedRequest) -> str | None:
        """Return the key of the consent that a request names, if it is not its caller's last.

        One from before the recording is `UNKNOWN`, where its caller also made one in it.
        """
        for value in self._values(call, request):
            key, last = self._keys.get(value), self._last.get((call.subject, call.by))
            if key is not None and key != last:
                return key
            if key is None and last is not None:
                return UNKNOWN
        return None

    def _values(self, call: Call, request: ParsedRequest) -> Iterator[str]:
        """Yield the values in the places of a request that have nothing but an output."""
        binding = self.target.operations.get(call.operation, BARE)
        outputs = {f"{{{name}}}" for name in self._names}
        for name, text in (*self.target.headers.items(), *binding.headers.items()):
            if text in outputs and (value := request.headers.get(name.lower())):
                yield value
        named = {name for name, text in binding.queries.items() if text in outputs}
        yield from (value for name, value in request.query if name in named)
