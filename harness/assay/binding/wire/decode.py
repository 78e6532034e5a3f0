"""Decoder of answers: from the wire to an abstract outcome, by the matchers of the target file.

All input is hostile: bodies may be invalid JSON, nested, huge, or wrong. An answer that no
matcher knows, or that lacks what the target file points at, is indeterminate because
of the binding; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, tzinfo
from decimal import Decimal
from itertools import islice
from typing import Any, Final, cast

from assay.binding.model.pointer import (
    MISSING,
    digests,
    find,
    in_body_of,
    is_too_deep,
    lists,
    read_json,
    steps,
)
from assay.binding.model.spelling import ErrorAt
from assay.binding.model.target import FieldAt, ItemBinding, Matcher, OperationBinding, Target
from assay.binding.wire.date_formats import read
from assay.binding.wire.encode import BARE
from assay.binding.wire.links import approval_of, end_of_url, id_of, in_body, next_page, outputs_of
from assay.binding.wire.values import from_units
from assay.contract.model import Json, Operation
from assay.contract.scalars import is_word, one_word, same, text_of, word_of
from assay.history import (
    Accepted,
    Cause,
    Detail,
    DocumentRemark,
    ErrorBody,
    Indeterminate,
    Item,
    Outcome,
    Rejected,
    ShownError,
    State,
    Unavailable,
    Wire,
)
from assay.rules.state.calendar import local_day

SERVER_ERRORS = range(500, 600)
NO_CONTENT = 204
#: Statuses that only a proxy between the target and this machine has (RFC 9110, RFC 6585).
OF_PROXIES = frozenset({407, 511})
#: Statuses that servers, load balancers and gateways have before an application, or without one.
OF_SERVERS = frozenset({414, 421, 431, 494, 502, 503, 504})
#: What some usual server or firewall refuses by itself: the size of a URL, a header, all of them and a
#: body, in bytes. IIS and AWS WAF have 2,048 for a query; Tomcat 8,192 for all headers; AWS WAF 8,192 for a body.
LONGEST_URL, LONGEST_HEADER, LONGEST_HEADERS, LONGEST_BODY = 2_000, 4_000, 8_000, 8_000
#: Texts that firewalls take for an attack.
_LIKE_AN_ATTACK = re.compile(rb"\0|%00|\\u0000|;--|<script", re.IGNORECASE)
#: The methods of operations that change or end what exists already.
CHANGES = frozenset({"PUT", "PATCH", "DELETE"})


def body_of(wire: Wire) -> Json:
    """Return a body as JSON with exact numbers, or `MISSING`."""
    return MISSING if wire.truncated else read_json(wire.body)


#: The members of a problem document (RFC 9457), and of the usual other errors.
ERROR_MEMBERS = frozenset(
    f"/{name}"
    for name in ("type", "title", "status", "detail", "instance", "code", "message", "error")
)


def decode(
    wire: Wire, body: Json, operation: Operation, target: Target, zone: tzinfo | None = None
) -> Outcome:
    """Return what an answer means for a target.

    An answer that is too large, or nested too deeply, to be read is indeterminate. `zone` is that
    of the contract's calendar days, if it is not the target's.
    """
    if unread := _unread(wire, body):
        return unread
    early = may_be_early(wire)
    binding = target.operations.get(operation.id, BARE)
    items = _all(wire, body, binding, zone or target.zone)
    if binding.item.resource is None and len(operation.lists) == 1:
        # A list of one resource need not say what its items are.
        items = items and tuple(replace(item, resource=operation.lists[0]) for item in items)
    outcomes = binding.outcomes or target.outcomes
    if _any(outcomes.unavailable, wire, body, items):
        error = errors_of(body, target.error)
        return Unavailable(leaked=_leaked(items, binding), error=error, early=early)
    # To show or to end a request is no refusal because the request is rejected then.
    of_states = not (operation.shows or operation.ends)
    refusals = [each for each in outcomes.rejected if of_states or not each.states]
    if _any(refusals, wire, body, items):
        error = errors_of(body, target.error)
        return Rejected(leaked=_leaked(items, binding), error=error, early=early)
    if _any(outcomes.accepted, wire, body, items):
        return _with_approval(_accepted(wire, body, items, operation, binding), binding, target)
    if wire.status in SERVER_ERRORS:
        return Indeterminate(cause=Cause.SERVER, why=f"the target failed ({wire.status})")
    return Indeterminate(
        cause=Cause.BINDING,
        why=f"no outcome of the target file matches status {wire.status}",
        detail=Detail.UNKNOWN_STATUS,
    )


def _unread(wire: Wire, body: Json) -> Indeterminate | None:
    """Return the outcome of an answer that cannot be read, or is not the target's at all."""
    deep = body is MISSING and is_too_deep(wire.body)
    if wire.truncated or deep:
        server = wire.status in SERVER_ERRORS
        what = "nested too deeply to be read" if deep else "too large to be read whole"
        why = f"the answer ({wire.status}) is {what}"
        return Indeterminate(cause=Cause.SERVER if server else Cause.TRANSPORT, why=why)
    if wire.status in OF_PROXIES:
        why = f"a proxy in front of the target answered ({wire.status})"
        return Indeterminate(cause=Cause.TRANSPORT, why=why)
    return None


def documented(target: Target, wire: Wire) -> tuple[DocumentRemark, ...]:
    """Return what the bank's own document says of an answer; nothing without one."""
    if target.document_of_bank is None or wire.status in OF_PROXIES:
        return ()
    from assay.binding.wire.document_remarks import remarks  # noqa: PLC0415 -- few targets have one

    return tuple(remarks(target.document_of_bank, wire, body_of(wire)))


def may_be_early(wire: Wire) -> bool:
    """Whether an answer may come from before the application: by its status, or by what was sent."""
    headers = [len(name) + len(value) for name, value in wire.request_headers]
    sent = "".join((wire.url, *(value for _, value in wire.request_headers)))
    return (
        wire.status in OF_SERVERS
        or len(wire.url) > LONGEST_URL
        or max(headers, default=0) > LONGEST_HEADER
        or sum(headers) > LONGEST_HEADERS
        or len(wire.request_body) > LONGEST_BODY
        or _LIKE_AN_ATTACK.search(sent.encode("utf-8", "replace") + wire.request_body) is not None
    )


def _accepted(
    wire: Wire,
    body: Json,
    items: tuple[Item, ...] | None,
    operation: Operation,
    binding: OperationBinding,
) -> Outcome:
    if binding.list and items is None:
        if wire.status == NO_CONTENT:
            return Accepted(items=())
        where = " or ".join(map(repr, binding.list))
        what = "no JSON" if body is MISSING else f"no list at {where}"
        why = f"{what} in an accepted answer ({wire.status})"
        return Indeterminate(cause=Cause.BINDING, why=why)
    # A change need not be answered by what was changed.
    done = wire.status == NO_CONTENT and operation.method in CHANGES
    if binding.one is not None and items is None and not done:
        why = f"nothing at {binding.one!r} in an accepted answer ({wire.status})"
        return Indeterminate(cause=Cause.BINDING, why=why)
    values = {name: find(body, pointer) for name, pointer in binding.values.items()}
    return Accepted(
        items=items,
        values={name: value for name, value in values.items() if value is not MISSING},
        next=next_page(wire, body, items, binding.next),
        approval=approval_of(wire, body, binding),
        outputs=outputs_of(wire.headers, body, binding.outputs),
    )


def _with_approval(outcome: Outcome, binding: OperationBinding, target: Target) -> Outcome:
    """Return an outcome with the address where the customer authorises it, if no answer has it."""
    oauth = target.auth.oauth
    if binding.authorize is None or oauth is None or not isinstance(outcome, Accepted):
        return outcome
    return replace(outcome, approval=oauth.authorize_url)


def _any(
    matchers: Iterable[Matcher], wire: Wire, body: Json, items: tuple[Item, ...] | None
) -> bool:
    return any(_matches(matcher, wire, body, items) for matcher in matchers)


def _matches(matcher: Matcher, wire: Wire, body: Json, items: tuple[Item, ...] | None) -> bool:
    status = str(wire.status)
    if matcher.statuses and not any(
        status == code or (code.endswith("xx") and status[0] == code[0])
        for code in matcher.statuses
    ):
        return False
    if matcher.empty is not None and (items == ()) is not matcher.empty:
        return False
    if matcher.states and not (items and len(items) == 1 and items[0].state in matcher.states):
        return False
    if matcher.media_type and wire.media_type != matcher.media_type:
        return False
    return all(same(find(body, pointer), value) for pointer, value in matcher.body.items())


def _leaked(items: tuple[Item, ...] | None, binding: OperationBinding) -> tuple[Item, ...]:
    """Return the items that a refusal shows nevertheless; an error object is none.

    Neither is an object whose fields are all null, or members that errors have themselves.
    """
    if binding.one is None:
        return items or ()
    telling = {
        name
        for name, where in binding.item.fields.items()
        if not all(f"/{'/'.join(steps(each))}".lower() in ERROR_MEMBERS for each in where.at)
    }
    return tuple(
        item
        for item in items or ()
        if item.key or item.state or any(item.fields.get(n) not in (None, "") for n in telling)
    )


def _all(
    wire: Wire, body: Json, binding: OperationBinding, zone: tzinfo | None
) -> tuple[Item, ...] | None:
    """Return the items of an answer: those of its lists, or the single one."""
    if binding.one is not None:
        shown = find(body, binding.one)
        # An answer may be the bare id of what was made, which the pointer "" finds.
        bare = "" in binding.item.key and id_of(shown) is not None
        shows = bare or isinstance(shown, dict)
        return (_item(in_body_of(body, shown), wire, binding.item, zone),) if shows else None
    item_lists = [lists(body, pointer) for pointer in binding.list]
    if all(items is None for items in item_lists):
        left_out = all(find(body, pointer) in (MISSING, None) for pointer in binding.list)
        return () if binding.optional_list and left_out and isinstance(body, dict) else None
    return tuple(
        _item(in_body_of(body, item), wire, binding.item, zone)
        for items in item_lists
        for item in items or ()
    )


def _item(shown: Json, wire: Wire, binding: ItemBinding, zone: tzinfo | None) -> Item:
    fields: dict[str, Json] = {}
    for name, where in binding.fields.items():
        value = field_of(shown, where, zone)
        if value is not MISSING:
            fields[name] = value
    key = (
        end_of_url(wire.headers, binding.key_header)
        if binding.key_header
        else in_body(shown, binding.key)
    )
    own = find(shown, binding.id) if binding.id is not None else None
    volatile, state = binding.volatile, binding.state
    # An open request may be one that the bank no longer rejects.
    accepted = _state(shown, state.at, {State.OPEN: state.accepted}) if state else None
    whole, content = digests(shown, volatile) if volatile is not None else ("", "")
    return Item(
        resource=_resource(shown, binding),
        key=one_word(text) if (text := id_of(key)) else None,
        id=id_of(own),
        on=_on(shown, binding, zone) if binding.on else None,
        state=_state(shown, state.at, state.values) if state else None,
        accepted=accepted is State.OPEN,
        fields=fields,
        digest=whole,
        content=content,
    )


def _on(shown: Json, binding: ItemBinding, zone: tzinfo | None) -> date | None:
    value = in_body(shown, binding.on)
    return day_of(read(value, binding.on_format, zone) if binding.on_format else value, zone)


def _resource(shown: Json, binding: ItemBinding) -> str | None:
    if binding.resource is None:
        return None
    value = find(shown, binding.resource.at)
    values: Mapping[str, Any] = binding.resource.values
    return next((name for name, known in values.items() if same(known, value)), None)


def _state(
    element: Json, at: Sequence[str], values: Mapping[State, Sequence[Json]]
) -> State | None:
    """Return the state of a request; None for a word that the target file does not map.

    A combination of values takes precedence over a single one.
    """
    shown = tuple(find(element, pointer) for pointer in at)
    single: State | None = None
    for state, known in values.items():
        for word in known:
            if isinstance(word, tuple):
                parts = cast("tuple[Json, ...]", word)
                if len(parts) <= len(shown) and all(map(_stands, parts, shown)):
                    return state
            elif single is None and same(word, shown[0]):
                single = state
    return single


def _stands(word: Json, value: Json) -> bool:
    """Whether a value is the expected one; null also matches a missing value."""
    return value in (None, MISSING) if word is None else same(word, value)


# -- Values of fields in the contract's words, and calendar days, from an answer of a target -------

#: The number of characters of an ISO date.
_DATE: Final = 10


def field_of(shown: Json, where: FieldAt, zone: tzinfo | None = None) -> Json:
    """Return a field in the contract's word, as far as the target file maps it.

    The date of a time with an offset is that in `zone`.
    """
    value = in_body(shown, where.at)
    if where.format:
        value = read(value, where.format, zone)
    if where.first is not None and isinstance(value, str):
        day = day_of(value, zone) if zone and where.first == _DATE and "T" in value else None
        value = day.isoformat() if day else value[: where.first]
    if where.unit is not None:
        value = from_units(value, where.unit)
    return next((word_of(key) for key, sent in where.words.items() if same(sent, value)), value)


def day_of(value: object, zone: tzinfo | None) -> date | None:
    """Return the calendar day of an ISO date or time; of a time with an offset, that in `zone`.

    Midnight in UTC, and the second before, are how gateways write a day without a time: they are
    of that day in any zone.
    """
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return _date(value[:_DATE])
    if zone is None or not moment.tzinfo or _is_written_for_a_day(moment):
        return moment.date()
    try:
        return local_day(moment, zone)
    except OverflowError:  # at the begin or the end of the calendar
        return moment.date()


def _is_written_for_a_day(moment: datetime) -> bool:
    ends = time.min, time(23, 59, 59)
    return not moment.utcoffset() and moment.time().replace(microsecond=0) in ends


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


# -- Errors in the body of a refusal, as the target file says where they stand and what they mean

#: How many errors of one answer are read.
MOST_ERRORS: Final = 100


def errors_of(body: Json, where: ErrorAt | None) -> ErrorBody | None:
    """Return the errors in the body of a refusal, as far as the target file says where they are."""
    if where is None:
        return None
    errors = error_elements(body, where)
    return ErrorBody(
        located=where.located, errors=tuple(shown_error(error, where) for error in errors)
    )


def error_elements(body: Json, where: ErrorAt) -> Sequence[Json]:
    """Return the errors in the body of a refusal, as they were sent."""
    if not where.list:
        error = find(body, where.one)
        return [in_body_of(body, error)] if isinstance(error, dict) else []
    errors = (error for pointer in where.list for error in lists(body, pointer) or ())
    return [in_body_of(body, error) for error in islice(errors, MOST_ERRORS)]


def shown_error(error: Json, where: ErrorAt) -> ShownError:
    """Return an error in the contract's words."""
    fields = {name: field_of(error, place) for name, place in where.fields.items()}
    code = in_body(error, where.code)
    return ShownError(
        fields={name: value for name, value in fields.items() if value is not MISSING},
        codes=tuple(_codes(code, where.codes)),
    )


def _codes(code: Json, words: Mapping[str, tuple[Json, ...]]) -> Iterator[str]:
    """Yield the contract's codes that the target spells so; its own code where there is none."""
    if not isinstance(code, str | int | Decimal) or code == "":
        return
    own = [word for word, known in words.items() if any(is_word(each, code) for each in known)]
    text = text_of(code)
    # A code that is spelled otherwise does not stand for itself.
    yield from own or [f"{text} (not in `codes`)" if text in words else text]
