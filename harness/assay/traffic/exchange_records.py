"""Exchanges of a recording encoded as bytes, so that its history can be kept in a file.

A record has everything but the message, whose place in its own store is noted. It is read many
times, so objects are made without their constructors. What cannot be packed stays an object.
"""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from sys import intern
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from assay.history import (
    Accepted,
    Call,
    Cause,
    CredentialPlace,
    Detail,
    ErrorBody,
    Exchange,
    Indeterminate,
    Item,
    Malformed,
    Outcome,
    Rejected,
    ShownError,
    State,
    Token,
    Unavailable,
)
from assay.traffic.stored_wire import WireRecord, setters

#: The parts of a record: instant, duration, call, outcome, message.
Record: TypeAlias = tuple[Any, ...]
#: The first byte of a record that only `pickle` can pack; none of `marshal` begins like that.
_PICKLED = b"\x80"
_new = object.__new__
_FREQUENT = ("operation", "subject", "arguments", "present", "alias", "follow", "mode", "malformed")
#: The other fields of a call, with their defaults.
_RARE: Mapping[str, object] = {
    "credentials": False,
    "credentials_in": None,
    "bearer": None,
    "without": (),
    "varied": (),
    "invented": {},
    "by": "",
    "host": None,
    "consent": None,
    "generated": (),
    "variation": "",
}
_ENUMERATED: Mapping[str, type[Token | CredentialPlace]] = {
    "bearer": Token,
    "credentials_in": CredentialPlace,
}
_NONE_INVENTED: Mapping[str, str] = MappingProxyType({})
(_operation, _subject, _arguments, _present, _alias, _follow, _mode, _malformed) = setters(
    Call, _FREQUENT
)
_credentials, _credentials_in, _bearer, _without, _varied, *_last = setters(Call, _RARE)
_invented, _by, _host, _consent, _generated, _variation = _last
(_resource, _key, _on, _state, _accepted, _fields, _id, _digest, _content) = setters(
    Item, ("resource", "key", "on", "state", "accepted", "fields", "id", "digest", "content")
)
_STATES = {state.value: state for state in State}
_CAUSES = {cause.value: cause for cause in Cause}
_DETAILS = {detail.value: detail for detail in Detail}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_REJECTED, _UNAVAILABLE = Rejected(), Unavailable()


def pack(record: Record) -> bytes | None:
    """Return a record as bytes; None if it has a value that would not come back as it is."""
    try:
        return marshal.dumps(record)
    except ValueError:
        pass
    try:
        packed = pickle.dumps(record)
        return packed if pickle.loads(packed) == record else None  # noqa: S301 -- packed above
    except (pickle.PickleError, TypeError, AttributeError, RecursionError):
        return None


def unpack(packed: bytes) -> Record:
    """Return the record that was packed."""
    if packed[:1] == _PICKLED:
        return cast("Record", pickle.loads(packed))  # noqa: S301 -- written by this process
    return cast("Record", marshal.loads(packed))  # noqa: S302 -- written by this process


# -- calls -----------------------------------------------------------------------
def record_of(exchange: Exchange, message: WireRecord) -> Record:
    """Return the record of an exchange; `message` says where its message is."""
    at = (exchange.at - _EPOCH) // _MICROSECOND
    call, outcome = _call_record(exchange.call), _outcome_record(exchange.outcome)
    return at, exchange.ms, call, outcome, message


def instant_of(record: Record) -> datetime:
    """Return when the exchange began, in UTC."""
    return _EPOCH + timedelta(microseconds=record[0])


def message_of(record: Record) -> WireRecord:
    """Return where its message is."""
    return cast("WireRecord", record[4])


def _call_record(call: Call) -> Record:
    """Return the parts that calls of a recording have, and other parts that are not the default."""
    others: list[tuple[str, object]] = []
    for name, default in _RARE.items():
        value: object = getattr(call, name)
        if value != default:
            others.append((name, value.name if isinstance(value, Enum) else value))
    return (
        intern(call.operation),
        intern(call.subject),
        {intern(name): value for name, value in call.arguments.items()},
        call.present,
        call.alias,
        call.follow,
        call.mode,
        call.malformed.name if call.malformed else None,
        tuple(others),
    )


def call_of(record: Record) -> Call:
    """Return the call of a record."""
    operation, subject, arguments, present, alias, follow, mode, malformed, others = record[2]
    call = _new(Call)
    _operation(call, operation)
    _subject(call, subject)
    _arguments(call, arguments)
    _present(call, present)
    _alias(call, alias)
    _follow(call, follow)
    _mode(call, mode)
    _malformed(call, Malformed[malformed] if malformed else None)
    _credentials(call, False)
    _credentials_in(call, None)
    _bearer(call, None)
    _without(call, ())
    _varied(call, ())
    _invented(call, _NONE_INVENTED)
    _by(call, "")
    _host(call, None)
    _consent(call, None)
    _generated(call, ())
    _variation(call, "")
    for name, value in others:
        enumerated = _ENUMERATED.get(name)
        object.__setattr__(call, name, enumerated[value] if enumerated else value)
    return call


# -- outcomes --------------------------------------------------------------------
def _outcome_record(outcome: Outcome) -> Record:
    match outcome:
        case Accepted(items=items, values=values):
            return 0, _item_records(items), values, outcome.next, outcome.approval
        case Rejected(leaked=items, error=error):
            return 1, _item_records(items), _error_record(error)
        case Unavailable(leaked=items, error=error):
            return 2, _item_records(items), _error_record(error)
        case Indeterminate(cause=cause, why=why, detail=detail):
            return 3, cause.value, why, detail.value if detail else None


def outcome_of(record: Record) -> Outcome:
    """Return the outcome of a record."""
    parts = record[3]
    match parts[0]:
        case 0:
            _, items, values, following, approval = parts
            return Accepted(items=_items(items), values=values, next=following, approval=approval)
        case 1 | 2:
            kind, plain = (Rejected, _REJECTED) if parts[0] == 1 else (Unavailable, _UNAVAILABLE)
            _, items, error = parts
            bare = not items and error is None
            return plain if bare else kind(leaked=_items(items) or (), error=_error(error))
        case _:
            _, cause, why, detail = parts
            return Indeterminate(
                cause=_CAUSES[cause], why=why, detail=_DETAILS[detail] if detail else None
            )


def _error_record(error: ErrorBody | None) -> Record | None:
    if error is None:
        return None
    return error.located, tuple((each.fields, each.codes) for each in error.errors)


def _error(record: Record | None) -> ErrorBody | None:
    if record is None:
        return None
    located, errors = record
    shown = tuple(ShownError(fields=fields, codes=codes) for fields, codes in errors)
    return ErrorBody(located=located, errors=shown)


def _item_records(items: Iterable[Item] | None) -> Record | None:
    if items is None:
        return None
    return tuple(
        (
            item.resource,
            item.key,
            (item.on.year, item.on.month, item.on.day) if item.on else None,
            item.state.value if item.state else None,
            item.accepted,
            item.fields,
            item.id,
            item.digest,
            item.content,
        )
        for item in items
    )


def _items(records: Iterable[Record] | None) -> tuple[Item, ...] | None:
    return None if records is None else tuple(map(_item, records))


def _item(parts: Record) -> Item:
    resource, key, on, state, accepted, shown, own, digest, content = parts
    item = _new(Item)
    _resource(item, resource)
    _key(item, key)
    _on(item, date(*on) if on else None)
    _state(item, _STATES[state] if state else None)
    _accepted(item, accepted)
    _fields(item, shown)
    _id(item, own)
    _digest(item, digest)
    _content(item, content)
    return item
