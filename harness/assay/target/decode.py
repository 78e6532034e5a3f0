"""From what came over the wire to an abstract outcome, by the profile's matchers.

Everything here is hostile: bodies may be no JSON, nested, huge, or lie. What no
matcher knows, or does not hold what the profile points at, is a binding matter
and said so; nothing is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, cast
from urllib.parse import urljoin

from assay.history import (
    Accepted,
    Cause,
    Indeterminate,
    Item,
    Outcome,
    Rejected,
    State,
    Unavailable,
    Wire,
)
from assay.model import Json, Operation
from assay.target.digest import digest
from assay.target.encode import BARE
from assay.target.pointer import MISSING, find
from assay.target.profile import ItemBinding, Matcher, OperationBinding, Profile, StateAt

SERVER_ERRORS = range(500, 600)
NO_CONTENT = 204


def body_of(wire: Wire) -> Json:
    """Return a body as JSON with decimal numbers, or `MISSING`."""
    if not wire.body or wire.truncated:
        return MISSING
    try:
        return cast("Json", json.loads(wire.body, parse_float=Decimal))
    except (ValueError, RecursionError):
        return MISSING


def links_of(body: Json, url: str, binding: OperationBinding) -> tuple[str, ...]:
    """Return every link that the profile points at, made absolute."""
    pointers = dict.fromkeys([*binding.links, binding.next or "", binding.approval or ""])
    found = (find(body, pointer) for pointer in pointers if pointer)
    return tuple(_absolute(url, one) for one in found if isinstance(one, str) and one)


def _absolute(url: str, link: str) -> str:
    try:
        return urljoin(url, link)
    except ValueError:  # a link that is no URL leads nowhere on this host
        return "invalid://" + link[:200]


def decode(wire: Wire, body: Json, operation: Operation, profile: Profile) -> Outcome:
    """Say what an answer means under a profile.

    An answer that was too large to be read whole means nothing, for what it may
    hold further down nobody knows.
    """
    if wire.truncated:
        server = wire.status in SERVER_ERRORS
        why = f"the answer ({wire.status}) is too large to be read whole"
        return Indeterminate(cause=Cause.SERVER if server else Cause.TRANSPORT, why=why)
    binding = profile.operations.get(operation.id, BARE)
    items = _all(body, binding)
    outcomes = profile.outcomes
    if _any(outcomes.unavailable, wire, body, items):
        return Unavailable(leaked=_leaked(items, binding))
    if _any(outcomes.rejected, wire, body, items):
        return Rejected(leaked=_leaked(items, binding))
    if _any(outcomes.accepted, wire, body, items):
        return _accepted(wire, body, items, binding)
    if wire.status in SERVER_ERRORS:
        return Indeterminate(cause=Cause.SERVER, why=f"the target failed ({wire.status})")
    return Indeterminate(
        cause=Cause.BINDING, why=f"the profile's outcomes do not know status {wire.status}"
    )


def _accepted(
    wire: Wire, body: Json, items: tuple[Item, ...] | None, binding: OperationBinding
) -> Outcome:
    if binding.list is not None and items is None:
        if wire.status == NO_CONTENT:
            return Accepted(items=())
        what = "no JSON" if body is MISSING else f"no list at {binding.list!r}"
        why = f"{what} in an accepted answer ({wire.status})"
        return Indeterminate(cause=Cause.BINDING, why=why)
    if binding.one is not None and items is None:
        why = f"nothing at {binding.one!r} in an accepted answer ({wire.status})"
        return Indeterminate(cause=Cause.BINDING, why=why)
    next_ = find(body, binding.next) if binding.next is not None else MISSING
    approval = find(body, binding.approval) if binding.approval is not None else MISSING
    values = {name: find(body, pointer) for name, pointer in binding.values.items()}
    return Accepted(
        items=items,
        values={name: value for name, value in values.items() if value is not MISSING},
        next=_absolute(wire.url, next_) if isinstance(next_, str) and next_ else None,
        approval=_absolute(wire.url, approval) if isinstance(approval, str) else None,
    )


def _any(
    matchers: Iterable[Matcher], wire: Wire, body: Json, items: tuple[Item, ...] | None
) -> bool:
    return any(_matches(one, wire, body, items) for one in matchers)


def _matches(matcher: Matcher, wire: Wire, body: Json, items: tuple[Item, ...] | None) -> bool:
    status = str(wire.status)
    if matcher.statuses and not any(
        status == one or (one.endswith("xx") and status[0] == one[0]) for one in matcher.statuses
    ):
        return False
    if matcher.empty is not None and (items == ()) is not matcher.empty:
        return False
    if matcher.media_type and wire.media_type != matcher.media_type:
        return False
    return all(same(find(body, pointer), value) for pointer, value in matcher.body.items())


def same(one: Json, other: Json) -> bool:
    """Whether two JSON values are the same; `true` is not 1, as it is in Python."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _leaked(items: tuple[Item, ...] | None, binding: OperationBinding) -> tuple[Item, ...]:
    """Return what a refusal shows all the same; an error's own words are no request."""
    if binding.one is None:
        return items or ()
    return tuple(one for one in items or () if one.key or one.state or one.fields)


def _all(body: Json, binding: OperationBinding) -> tuple[Item, ...] | None:
    """Return what an answer holds: a list of items, or the single thing that it shows."""
    if binding.one is not None:
        shown = find(body, binding.one)
        return (_item(shown, binding.item),) if isinstance(shown, dict) else None
    return _items(find(body, binding.list) if binding.list is not None else MISSING, binding.item)


def _items(listed: object, binding: ItemBinding) -> tuple[Item, ...] | None:
    if not isinstance(listed, list):
        return None
    return tuple(_item(one, binding) for one in cast("list[Json]", listed))


def _item(one: Json, binding: ItemBinding) -> Item:
    key = find(one, binding.key) if binding.key is not None else MISSING
    fields: dict[str, Json] = {}
    for name, pointer in binding.fields.items():
        value = find(one, pointer)
        if value is not MISSING:
            fields[name] = value
    return Item(
        resource=_resource(one, binding),
        key=key if isinstance(key, str) and key else None,
        on=_date(find(one, binding.on)) if binding.on is not None else None,
        state=_state(one, binding.state) if binding.state is not None else None,
        fields=fields,
        digest="" if binding.volatile is None else digest(one, binding.volatile),
    )


def _resource(one: Json, binding: ItemBinding) -> str | None:
    if binding.resource is None:
        return None
    value = find(one, binding.resource.at)
    values: Mapping[str, Any] = binding.resource.values
    return next((name for name, known in values.items() if same(known, value)), None)


def _state(one: Json, where: StateAt) -> State | None:
    """Say where a request stands; None for a word that the profile does not know."""
    value = find(one, where.at)
    for state, known in where.values.items():
        if any(same(word, value) for word in known):
            return state
    return None


def _date(value: object) -> date | None:
    """Read the date off an ISO date or timestamp."""
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None
