"""Queries about requests in a history, and comparisons of their values, keys and URLs.

Who made a call, who signed, whether a state was seen, whether the day has come: each query
answers yes only where the history leaves no other possibility. URLs are compared by the rules
that RFC 3986 has for every URL: the case of scheme and host, default ports, escapes of
unreserved characters. Nothing is judged here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from assay.contract import scalars
from assay.contract.model import Json, Operation
from assay.contract.scalars import moment_of, number_of
from assay.history import Authorised, Call, Decision, Effects, Ending, Event, Exchange
from assay.history.events import Masked
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Tracker
from assay.rules.queries import has_value, ordinary
from assay.rules.state.calendar import dates, day_of, is_banking_day
from assay.rules.verdict import FOR_A_WHILE, UNAUTHENTICATED

#: How many characters of a key are changed, or a third of a longer one.
TAIL = 8
#: Each alphabet is reversed; that of hexadecimal digits stays within itself.
_ALPHABETS = ("0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ")
_TURNED = str.maketrans("".join(_ALPHABETS), "".join(alphabet[::-1] for alphabet in _ALPHABETS))
#: The largest difference in length of keys of one format: numbers grow.
GROWTH = 3
#: After this time, an unsigned request may be rejected for that reason: no timer of a bank is
#: shorter.
LAPSES_AFTER = timedelta(minutes=1)
#: The farthest that a local time is from that in UTC.
FARTHEST_OFFSET = timedelta(hours=14)
#: Ends of a flow through the screens after which it is unknown whether a signature was
#: accepted.
_OPEN_ENDS = frozenset({Ending.STOPPED, Ending.DISCONNECTED})


def makes(event: Event, request: Instance) -> bool:
    """Whether an event is the call that made a request."""
    return isinstance(event, Exchange) and event.n == request.made.n


def is_by_requester(request: Instance, call: Call) -> bool:
    """Whether a call is ordinary, and made by the TPP and for the customer of the request."""
    made = request.made.call
    return ordinary(call) and (call.subject, call.by) == (made.subject, made.by)


def by_owner(request: Instance, signing: Authorised) -> bool:
    """Whether the customer of the request went through the screens."""
    return (signing.step.by or signing.step.subject) == request.made.call.subject


def signed(request: Instance) -> bool:
    """Whether the customer of the request has signed it; other customers do not count."""
    return any(
        signing.ending is Ending.CONFIRMED and by_owner(request, signing)
        for signing in request.signings
    )


def signature(request: Instance) -> Authorised | None:
    """Return the signature of the customer of the request, if there is one."""
    every = (signing for signing in request.signings if by_owner(request, signing))
    return next((signing for signing in every if signing.ending is Ending.CONFIRMED), None)


def declined(request: Instance) -> bool:
    """Whether the customer of the request has refused it."""
    return any(
        signing.ending.declines and by_owner(request, signing) for signing in request.signings
    )


def perhaps_signed(request: Instance) -> bool:
    """Whether the customer's signature may have been accepted, although no end was seen.

    Who was to refuse may have signed with an entry where no screen asked for a decision.
    """
    return any(
        signing.ending in _OPEN_ENDS
        and (signing.step.decision is Decision.CONFIRM or signing.screens)
        and by_owner(request, signing)
        for signing in request.signings
    )


def plain(request: Instance, signing: Authorised) -> bool:
    """Whether the customer of the request entered everything right, and confirmed."""
    step = signing.step
    return step.right and step.decision is Decision.CONFIRM and by_owner(request, signing)


def rejected_otherwise(request: Instance) -> bool:
    """Whether its rejection may have another cause than its content.

    It may not have been signed in time, unless the bank itself sent the customer away before that. A
    bank may show a refused or cancelled request as rejected. It may end a request, or lock its customer
    out, after one wrong entry, whoever made it. Of like requests that are signed at one moment, any may
    be the repeat.
    """
    if request.distrusted:
        return True
    if request.made.refused or request.seen_at is None:
        return False
    if request.withdrawn or not all(end.refused for end in request.ends):
        return True
    flows = request.screen_flows
    if any(not plain(request, each) or each.step.linger or each.step.together for each in flows):
        return True
    sent_away = (
        each.at for each in flows if each.ending is Ending.DISCONNECTED and each.redirected
    )
    if signed(request) or any(at - request.made.at < LAPSES_AFTER for at in sent_away):
        return False
    return request.seen_at - request.made.at >= LAPSES_AFTER


def is_known(request: Instance) -> bool:
    """Whether everything that happened to the request is in the history."""
    return request.subject is not None and request.subject.fresh


def requests_shown(tracker: Tracker, event: Event, noted: Instance | None) -> tuple[Instance, ...]:
    """Return the requests whose state an event shows, once the tracker has processed it.

    `noted` is what `Tracker.note` returned for it. A list of executions also shows that the
    requests missing from it were not executed: see `shows_all_executions`.
    """
    if isinstance(event, Effects):
        listed = (tracker.find(effect.request) for effect in event.done or ())
        return tuple(request for request in listed if request is not None)
    if isinstance(event, Exchange) and noted is not None and event.item is not None:
        return (noted,) if event.item.state is not None else ()
    return ()


def shows_all_executions(event: Event) -> bool:
    """Whether an event shows for every request whether it was executed.

    It is not recorded at each request, so that its cost does not grow with their number.
    """
    return isinstance(event, Effects) and event.done is not None


def with_own_key(tracker: Tracker) -> Iterator[Instance]:
    """Return the requests whose key is unique; events with a shared key are ambiguous."""
    keys = Counter(request.key for request in tracker.requests)
    return (
        request
        for request in tracker.requests
        if request.key is not None and keys[request.key] == 1
    )


def key_shown(exchange: Exchange, read: Operation | None) -> str:
    """Return the key of the request that a response shows; without one, the key asked about."""
    if exchange.item is not None and exchange.item.key:
        return exchange.item.key
    shows = read is not None and exchange.call.operation == read.id
    return str(exchange.call.arguments.get(read.about or "", "")) if read and shows else ""


def was_refused(exchange: Exchange) -> bool:
    """Whether a call was refused for its content, and not for its credentials."""
    return exchange.refused and exchange.wire.status != UNAUTHENTICATED


def refused_for_good(exchange: Exchange) -> bool:
    """Whether a call was refused for its content, and neither for a while nor for another version."""
    return was_refused(exchange) and exchange.wire.status not in {*FOR_A_WHILE, 409, 412, 428}


def due_day(lifecycle: Lifecycle, arguments: Mapping[str, Json]) -> date | None:
    """Return the day to which a request is deferred, if it can be parsed."""
    due = lifecycle.create.due
    return day_of(arguments.get(due.argument), whole=True) if due else None


def is_before_due_day(lifecycle: Lifecycle, arguments: Mapping[str, Json], at: datetime) -> bool:
    """Whether the day of a request has certainly not begun, whatever the time zone."""
    then = due_day(lifecycle, arguments)
    return then is not None and dates(at, lifecycle.contract.zone)[-1] < then


def days_ahead(lifecycle: Lifecycle, request: Instance) -> tuple[timedelta, ...]:
    """Return how many days ahead the day of a request was when it was made, by each time zone."""
    then, today = due_day(lifecycle, request.arguments), request.made.at
    return tuple(then - day for day in dates(today, lifecycle.contract.zone)) if then else ()


def shown_for_another_day(lifecycle: Lifecycle, request: Instance) -> bool:
    """Whether an answer showed another day than any that was asked for: it may not be deferred."""
    due = lifecycle.create.due
    if due is None:
        return False
    calls = (request.made, *request.changes)
    asked = {str(exchange.call.arguments.get(due.argument)) for exchange in calls}
    answers = (*calls, *request.reads, *request.ends)
    shown = [exchange.item.fields.get(due.argument) for exchange in answers if exchange.item]
    return any(day not in (None, "") and str(day) not in asked for day in shown)


def same_value(first: Json, second: Json) -> bool:
    """Whether two values mean the same; of masked ones, their pseudonyms tell."""
    if isinstance(first, Masked) and isinstance(second, str):
        return first.means(second)
    if isinstance(second, Masked) and isinstance(first, str):
        return second.means(first)
    return scalars.same_value(first, second)


def shows_value(sent: Json, shown: Json) -> bool | None:
    """Whether an answer shows a value that was sent; None if that is uncertain.

    It is where nothing was sent (a bank may read it as left out), where they differ in case, spaces and signs, where the bank hides a
    part of it, where it shows a moment close to a day, and where one moment lacks its offset.
    """
    same = same_value(sent, shown)
    if same or not has_value(sent):
        return same or None
    if isinstance(sent, bool | int | float | Decimal) and isinstance(shown, str):
        return None if _letters(str(sent)) == _letters(shown) else False
    if not isinstance(sent, str) or not isinstance(shown, str):
        return False
    if same_url(sent, shown):
        return True
    numbers = number_of(sent), number_of(shown)
    alike = _letters(sent) == _letters(shown) != "" and None in numbers
    if isinstance(shown, Masked):
        alike = alike or shown.may_spell(sent)
    if alike or MASK.search(shown) or _may_be_one_moment(sent, shown):
        return None
    return _is_on(shown, sent)


def shows_argument(lifecycle: Lifecycle, name: str, sent: Json, shown: Json) -> bool | None:
    """Whether an answer shows an argument of a request as it was sent; None if that is uncertain.

    A bank may keep a request for a day on which nothing is settled for another day.
    """
    good, due = shows_value(sent, shown), lifecycle.create.due
    if good is False and due is not None and name == due.argument:
        asked, kept = day_of(sent), day_of(shown)
        moved = asked and kept and is_banking_day(kept) and not is_banking_day(asked)
        return None if moved else good
    return good


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _may_be_one_moment(sent: str, shown: str) -> bool:
    """Whether one of two moments lacks its offset, and some offset makes them the same."""
    first, second = moment_of(sent), moment_of(shown)
    if first is None or second is None or (first.tzinfo is None) is (second.tzinfo is None):
        return False
    return abs(first.replace(tzinfo=UTC) - second.replace(tzinfo=UTC)) <= FARTHEST_OFFSET


def _is_on(shown: str, sent: str) -> bool | None:
    """Whether a moment is on a day; None if it may be, in some time zone."""
    try:
        day, moment = date.fromisoformat(sent), datetime.fromisoformat(shown)
    except ValueError:
        return False
    apart = abs((moment.date() - day).days)
    if "T" not in shown or apart > 1:
        return False
    return True if apart == 0 else None


def similar_key(key: str) -> str:
    """Return a different key of the same format."""
    tail = max(TAIL, len(key) // 3)
    return key[:-tail] + key[-tail:].translate(_TURNED)


def same_format(key: str, given: str) -> bool:
    """Whether two keys may have the same format: similar length, same separators."""
    signs = ("".join(sign for sign in each if not sign.isalnum()) for each in (key, given))
    return len(set(signs)) == 1 and abs(len(key) - len(given)) <= GROWTH


#: Signs in place of hidden ones.
MASK = re.compile(r"…|[*#•]{2,}|[xX]{4,}")

# -- URLs ----------------------------------------------------------------------------
PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def same_url(url: str, other: str) -> bool:
    """Whether two URLs are equivalent by the rules of RFC 3986 for every URL."""
    if url == other:
        return True
    first, second = split_url(url), split_url(other)
    return first is not None and second is not None and _normal(first) == _normal(second)


def named_thing(lifecycle: Lifecycle, arguments: Mapping[str, Json]) -> str | None:
    """Return the owned thing that a request names, as text; None if the bank may choose it."""
    named = arguments.get(lifecycle.create.owned or "")
    return None if named is None else repr(named)


def perhaps_same_thing(one: str | None, other: str | None) -> bool:
    """Whether two requests may be about the same thing: a bank fills in what is left out."""
    return one is None or other is None or one == other


def leads_to(url: str, named: str, adds: Collection[str] | None = None) -> bool:
    """Whether a URL is a named one, or that with additions.

    Scheme, host, port and path are equal. Whatever the named URL has in its query is kept,
    in any order and spelling, and so is its fragment; parameters of the target may be added,
    if `adds` is given only those with these names.
    """
    if same_url(url, named):
        return True
    try:
        reached, wanted = urlsplit(url), urlsplit(named)
        same = _place(reached) == _place(wanted)
    except ValueError:
        return False
    kept = wanted.fragment in ("", reached.fragment)
    added = _query(reached) - _query(wanted)
    known = adds is None or all(name in adds for name, _ in added)
    whole = not _query(wanted) - _query(reached)
    return bool(wanted.scheme) and same and kept and whole and known


def split_url(url: str) -> SplitResult | None:
    """Split a URL into its parts; None if it is not an absolute URL."""
    try:
        parts = urlsplit(url)
        whole = bool(parts.scheme and parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if whole else None


def same_host(url: str, other: str) -> bool:
    """Whether two URLs certainly have the same host."""
    first, second = split_url(url), split_url(other)
    return first is not None and second is not None and first.hostname == second.hostname


def _normal(parts: SplitResult) -> tuple[object, ...]:
    rest = (parts.query, parts.fragment)
    return *_place(parts), *(ESCAPE.sub(_escape, part) for part in rest)


def _place(parts: SplitResult) -> tuple[object, ...]:
    """Return the parts of a URL before its query, normalised."""
    port = PORTS.get(parts.scheme) if parts.port is None else parts.port
    user = parts.netloc.rpartition("@")[0]
    return parts.scheme, user, parts.hostname, port, ESCAPE.sub(_escape, parts.path or "/")


def _query(parts: SplitResult) -> Counter[tuple[str, str]]:
    """Return the parameters of a query, and how often each is there."""
    return Counter(parse_qsl(parts.query, keep_blank_values=True))


def _escape(found: re.Match[str]) -> str:
    """Normalise an escape: decoded where it is not needed, in capitals otherwise."""
    sign = chr(int(found[1], 16))
    return sign if sign in UNRESERVED else found[0].upper()
