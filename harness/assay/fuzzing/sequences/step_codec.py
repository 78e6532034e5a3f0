"""JSON codec for the steps of a sequence and the values in them.

A step is one object; `do` is its type, and fields at their defaults are left out. Steps are counted
from 1. In values, an object with one key is a reference: `{"own": 0, "of": "psu-1"}`, `{"made": 2}`
and `{"day": -90}`; a number that a target encodes in its own way is `{"number": "12.30"}`, one that it
does not `{"float": "1.5"}`, any literal object `{"literal": …}`, and what no text file can have
(a control character) `{"json": "…"}`: escaped JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING
from datetime import time, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import partial
from typing import Any, TypeAlias, cast

from assay.contract.model import Json
from assay.errors import did_you_mean
from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    After,
    At,
    Moment,
    On,
    OwnedRef,
    RelativeDay,
    RequestRef,
)
from assay.history import (
    Advance,
    Arrange,
    Authorise,
    Call,
    Code,
    CredentialPlace,
    Decision,
    Holding,
    Inquire,
    Lack,
    Malformed,
    Register,
    Renew,
    Resend,
    Staying,
    Step,
    Submit,
    Token,
    Withdraw,
)
from assay.journal.typed_values import changed_fields, field_defaults

Raw: TypeAlias = Mapping[str, Any]

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
#: The types of steps, by the value of `do`.
STEPS: Mapping[str, type[Any]] = {
    "arrange": Arrange,
    "call": Call,
    "advance": Advance,
    "authorise": Authorise,
    "inquire": Inquire,
    "register": Register,
    "resend": Resend,
    "withdraw": Withdraw,
    "submit": Submit,
    "renew": Renew,
    "lack": Lack,
}
NAMES = {kind: name for name, kind in STEPS.items()}
#: Fields of a step that members of `AbstractStep` replace, with their value meanwhile.
REPLACED: Raw = {"to": None, "request": "", "exchange": 0, "approval": None, "follow": None}
KEYS: Mapping[type[Any], frozenset[str]] = {
    Call: frozenset({"page"}),
    **dict.fromkeys((Authorise, Withdraw, Submit, Resend), frozenset({"request"})),
    Advance: frozenset({"after", "at", "days", "on"}),
}
#: Fields with any value; in others, an object has one value for each name.
VALUES = frozenset({"value"})
#: Fields whose names are not the contract's, but any text.
ANY_NAMES = frozenset({"values"})
#: What a text file cannot contain.
_UNWRITABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")


class UnreadableStep(ValueError):  # noqa: N818 -- the message is what was expected
    """An invalid step: where in it, what was expected, and a hint."""

    def __init__(self, what: str, *where: str, hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what)


# -- steps -----------------------------------------------------------------------
def encode_step(abstract_step: AbstractStep) -> dict[str, Json]:
    """Return a step as JSON."""
    step = abstract_step.step
    kind: Any = type(step)
    record: dict[str, Json] = {"do": NAMES[kind]}
    for name, content in changed_fields(step):
        if name == "holdings":
            pairs = zip(content, abstract_step.days, strict=True)
            record[name] = [_write_holding(holding, days) for holding, days in pairs]
        elif name not in REPLACED:
            record[name] = _write_field(name, content)
    places = {"request": abstract_step.request, "page": abstract_step.page}
    record |= {name: place + 1 for name, place in places.items() if place is not None}
    return record | (_write_moment(abstract_step.moment) if abstract_step.moment else {})


def decode_step(raw: Raw, place: int) -> AbstractStep:
    """Return the step that JSON of the right shape stands for, at its place from 0.

    Raises:
        UnreadableStep: it is invalid.

    """
    do: str = raw["do"]
    kind: Any = STEPS[do]
    fields, keys = field_defaults(kind), KEYS.get(kind, frozenset())
    known = {name: default for name, default in fields.items() if name not in REPLACED}
    for name in raw.keys() - {"do", *known, *keys}:
        hint = did_you_mean(name, {*known, *keys})
        raise UnreadableStep(f"{do} has no {name}", name, hint=hint)
    for name, default in known.items():
        if default is MISSING and name not in raw:
            raise UnreadableStep(f"{do} needs {name}")
    content = {name: _read(name, raw[name]) for name in known if name in raw}
    blank = {name: value for name, value in REPLACED.items() if name in fields}
    abstract_step = AbstractStep(
        step=cast("Step", kind(**content, **blank)),
        moment=_read_moment(raw) if kind is Advance else None,
        request=_read_place(raw, "request", place),
        page=_read_place(raw, "page", place),
        days=tuple(
            None if (days := holding.get("days", ())) is None else tuple(days)
            for holding in (raw["holdings"] if kind is Arrange else ())
        ),
    )
    if "request" in keys and abstract_step.request is None:
        raise UnreadableStep(f"{do} needs request")
    if any(used >= place for used in abstract_step.places):
        raise UnreadableStep("a step refers only to earlier ones")
    return abstract_step


def _read(name: str, raw: Any) -> Any:
    try:
        return READERS[name](raw) if name in READERS else raw
    except UnreadableStep as error:
        raise UnreadableStep(error.what, name, hint=error.hint) from None
    except ValueError as error:
        raise UnreadableStep(f"expected {error}", name) from None


def _read_place(raw: Raw, name: str, place: int) -> int | None:
    if name not in raw:
        return None
    if raw[name] > place:
        raise UnreadableStep("expected the number of an earlier step", name)
    return int(raw[name]) - 1


def _write_moment(moment: Moment) -> dict[str, Json]:
    match moment:
        case After(span=span):
            return {"after": span.total_seconds()}
        case At(days=days, time=at):
            return {"at": at.isoformat(), "days": days}
        case On(weekday=weekday, time=at):
            return {"at": at.isoformat(), "on": WEEKDAYS[weekday]}


def _read_moment(raw: Raw) -> Moment:
    if "after" in raw:
        return After(timedelta(seconds=float(raw["after"])))
    if "at" not in raw:
        raise UnreadableStep("advance needs after, or at")
    try:
        at = time.fromisoformat(raw["at"])
    except ValueError:
        raise UnreadableStep("expected a time such as 00:00:30", "at") from None
    return On(WEEKDAYS.index(raw["on"]), at) if "on" in raw else At(raw.get("days", 0), at)


def _write_holding(holding: Holding, days: tuple[int, ...] | None) -> Json:
    record: dict[str, Json] = {"resource": holding.resource, "count": holding.count}
    if holding.traits:
        record["traits"] = _write_named(holding.traits)
    if days != ():
        record["days"] = None if days is None else list(days)
    return record


def _read_holding(raw: Raw) -> Holding:
    traits = _read_named(raw.get("traits", {}))
    return Holding(resource=raw["resource"], count=raw.get("count", 1), traits=traits)


# -- fields ----------------------------------------------------------------------
def _write_field(name: str, content: Any) -> Json:
    match content:
        case Enum():
            return _word(content)
        case timedelta():
            return content.total_seconds()
        case tuple():
            return [_write_field(name, item) for item in content]
        case Mapping() if name in ANY_NAMES and not _is_plain(
            [*cast("Mapping[str, Json]", content)]
        ):
            return {"json": json.dumps(dict(cast("Mapping[str, Json]", content)))}
        case Mapping() if name not in VALUES:
            return _write_named(cast("Mapping[str, Json]", content))
        case _:
            return encode_value(content)


def _word(member: Enum) -> str:
    return member.name.lower().replace("_", "-")


def _member(kind: type[Enum], word: str) -> Enum:
    members = {_word(member): member for member in kind}
    if word not in members:
        hint = did_you_mean(word, members)
        raise UnreadableStep(f"expected one of {', '.join(members)}", hint=hint)
    return members[word]


# -- values ----------------------------------------------------------------------
def encode_value(value: Json) -> Json:
    """Return a value of a sequence as JSON."""
    match value:
        case str() if not _is_plain([value]):
            record: Json = {"json": json.dumps(value)}
        case OwnedRef(of=of, n=n):
            record = {"own": n, "of": of}
        case RequestRef(step=place):
            record = {"made": place + 1}
        case RelativeDay(days=days):
            record = {"day": days}
        case Decimal():
            record = {"number": str(value)}
        case float():
            record = {"float": repr(value)}
        case Mapping():
            record = {"literal": _write_named(cast("Mapping[str, Json]", value))}
            if not _is_plain(cast("Mapping[str, Json]", value)):
                with suppress(TypeError):  # a reference stays one
                    record = {"json": json.dumps(value)}
        case list() | tuple():
            record = [encode_value(item) for item in cast("list[Json]", value)]
        case _:
            record = value
    return record


def decode_value(raw: Json) -> Json:
    """Return the value that JSON stands for.

    Raises:
        ValueError: an object that stands for nothing.

    """
    match raw:
        case {"own": int(n), "of": str(of)}:
            value: Json = OwnedRef(of=of, n=n)
        case {"made": int(place)} if place > 0:
            value = RequestRef(place - 1)
        case {"day": int(days)}:
            value = RelativeDay(days)
        case {"number": str(text)}:
            value = _parsed(Decimal, text)
        case {"float": str(text)}:
            value = _parsed(float, text)
        case {"literal": Mapping() as literal}:
            value = _read_named(cast("Mapping[str, Json]", literal))
        case {"json": str(text)}:
            value = _parsed(json.loads, text, "JSON")
        case Mapping():
            raise ValueError("an object with own and of, made, day, number, float, literal or json")
        case list():
            value = [decode_value(item) for item in cast("list[Json]", raw)]
        case _:
            value = raw
    return value


def _parsed(kind: Callable[[str], Json], text: str, what: str = "a number") -> Json:
    try:
        return kind(text)
    except (InvalidOperation, ValueError):
        raise ValueError(f"{what}, not {text[:40]!r}") from None


def _is_plain(texts: Iterable[str]) -> bool:
    """Whether texts can stand in a file as they are."""
    return not any(map(_UNWRITABLE.search, texts))


def _read_any(raw: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return values with any names; `json` alone has them all."""
    text = raw.get("json")
    if len(raw) == 1 and isinstance(text, str):
        return cast("Mapping[str, Json]", _parsed(json.loads, text, "JSON"))
    return _read_named(raw)


def _write_named(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: encode_value(value) for name, value in values.items()}


def _read_span(raw: float | str) -> timedelta:
    return timedelta(seconds=float(raw))


def _read_named(raw: Mapping[str, Json]) -> dict[str, Json]:
    return {name: decode_value(value) for name, value in raw.items()}


#: What reads the fields that are not plain JSON.
READERS: Mapping[str, Callable[[Any], Any]] = {
    "arguments": _read_named,
    "value": decode_value,
    "values": _read_any,
    "holdings": lambda raw: tuple(map(_read_holding, raw)),
    **dict.fromkeys(("linger", "exact", "rough"), lambda raw: tuple(map(_read_span, raw))),
    **dict.fromkeys(("pace", "age"), _read_span),
    "decision": partial(_member, Decision),
    "code": partial(_member, Code),
    "typed": partial(_member, Code),
    "stays": partial(_member, Staying),
    "malformed": partial(_member, Malformed),
    "bearer": partial(_member, Token),
    "credentials_in": partial(_member, CredentialPlace),
    **dict.fromkeys(("without", "varied", "unregistered", "removed"), tuple),
}
