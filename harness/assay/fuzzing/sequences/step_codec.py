"""JSON codec for the steps of a sequence and the values in them.

In values, an object with one key is a reference: `{"own": 0, "of": "psu-1"}`, `{"made":
2}` and `{"day": -90}`; a number that a target encodes in its own way is `{"number":
"12.30"}`, one that it does not is `{"float": "1.5"}`, and any literal object is
`{"literal": …}`.

A step is one object; `do` is its type. Defaults are left out. Steps are counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from datetime import time, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
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
    Decision,
    Holding,
    Inquire,
    Lack,
    Malformed,
    Register,
    Step,
    Withdraw,
)


def encoded(value: Json) -> Json:
    """Return a value of a story as JSON."""
    match value:
        case OwnedRef(of=of, n=n):
            out: Json = {"own": n, "of": of}
        case RequestRef(step=place):
            out = {"made": place + 1}
        case RelativeDay(days=days):
            out = {"day": days}
        case Decimal():
            out = {"number": str(value)}
        case float():
            out = {"float": repr(value)}
        case Mapping():
            named = cast("Mapping[str, Json]", value)
            out = {"literal": {name: encoded(one) for name, one in named.items()}}
        case list() | tuple():
            out = [encoded(one) for one in cast("list[Json]", value)]
        case _:
            out = value
    return out


def decoded(value: Json) -> Json:
    """Return the value that JSON stands for.

    Raises:
        ValueError: an object that stands for nothing.

    """
    match value:
        case {"own": int(n), "of": str(of)}:
            out: Json = OwnedRef(of=of, n=n)
        case {"made": int(place)} if place > 0:
            out = RequestRef(place - 1)
        case {"day": int(days)}:
            out = RelativeDay(days)
        case {"number": str(text)} | {"float": str(text)}:
            out = _number(text, exact="number" in cast("Mapping[str, Json]", value))
        case {"literal": Mapping() as below}:
            named = cast("Mapping[str, Json]", below)
            out = {name: decoded(one) for name, one in named.items()}
        case Mapping():
            raise ValueError("an object with own and of, made, day, number, float or literal")
        case list():
            out = [decoded(one) for one in cast("list[Json]", value)]
        case _:
            out = value
    return out


def _number(text: str, *, exact: bool) -> Json:
    try:
        return Decimal(text) if exact else float(text)
    except InvalidOperation:
        raise ValueError(f"a number, not {text[:40]!r}") from None


Raw: TypeAlias = Mapping[str, Any]

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
#: What each step is called.
KINDS: Mapping[str, type[Any]] = {
    "arrange": Arrange,
    "call": Call,
    "advance": Advance,
    "authorise": Authorise,
    "inquire": Inquire,
    "register": Register,
    "withdraw": Withdraw,
    "lack": Lack,
}
NAMES = {kind: name for name, kind in KINDS.items()}
#: What stands in a step for something else, in `Told`.
ELSEWHERE = frozenset({"to", "request", "approval", "follow"})
#: What stands there in the meantime.
BLANK: Mapping[type[Any], Raw] = {
    Authorise: {"request": "", "approval": None},
    Withdraw: {"request": ""},
}


class Unreadable(ValueError):  # noqa: N818 -- what it says is what was expected
    """A step that is none: where in it, what was expected, and a hint."""

    def __init__(self, what: str, *where: str, hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what)


# -- writing ---------------------------------------------------------------------
def encode(told: AbstractStep) -> dict[str, Json]:
    """Return a step as JSON."""
    step = told.step
    out: dict[str, Json] = {"do": NAMES[type(step)]}
    for one in fields(step):
        value = getattr(step, one.name)
        if one.name not in ELSEWHERE and value != _default(one):
            out[one.name] = _plain(one.name, value, told)
    for name, place in (("request", told.request), ("page", told.page)):
        if place is not None:
            out[name] = place + 1
    return out | (_moment(told.moment) if told.moment else {})


def _default(one: Field[Any]) -> object:
    if one.default_factory is not MISSING:
        return one.default_factory()
    return one.default


def _plain(name: str, value: Any, told: AbstractStep) -> Json:
    if name == "holdings":
        pairs = zip(cast("tuple[Holding, ...]", value), told.days, strict=True)
        return [_holding(one, days) for one, days in pairs]
    if name in WRITTEN:
        return WRITTEN[name](value)
    if isinstance(value, Enum):
        return _word(value)
    return list(value) if isinstance(value, tuple) else value


#: What is no plain word in a step, by name.
WRITTEN: Mapping[str, Callable[[Any], Json]] = {
    "arguments": lambda value: {key: encoded(one) for key, one in value.items()},
    "value": encoded,
    "linger": lambda value: [one.total_seconds() for one in value],
    "pace": timedelta.total_seconds,
    "age": timedelta.total_seconds,
}


def _word(value: Enum) -> str:
    return value.name.lower().replace("_", "-")


def _holding(one: Holding, days: tuple[int, ...] | None) -> Json:
    out: dict[str, Json] = {"resource": one.resource, "count": one.count}
    if one.traits:
        out["traits"] = {name: encoded(value) for name, value in one.traits.items()}
    if days != ():
        out["days"] = None if days is None else list(days)
    return out


def _moment(moment: Moment) -> dict[str, Json]:
    match moment:
        case After(span=span):
            return {"after": span.total_seconds()}
        case At(days=days, time=at):
            return {"at": at.isoformat(), "days": days}
        case On(weekday=weekday, time=at):
            return {"at": at.isoformat(), "on": WEEKDAYS[weekday]}


# -- reading ---------------------------------------------------------------------
def decode(raw: Raw, place: int) -> AbstractStep:
    """Return the step that JSON of the right shape stands for, at its place from 0.

    Raises:
        Unreadable: something in it means nothing.

    """
    kind = KINDS[raw["do"]]
    known = {one.name: one for one in fields(kind)}
    allowed = known.keys() - {"to", "approval", "follow"} | _more(kind)
    for name in raw:
        if name != "do" and name not in allowed:
            hint = did_you_mean(name, allowed)
            raise Unreadable(f"{raw['do']} has no {name}", name, hint=hint)
    given = {
        name: _value(name, raw[name]) for name in known if name in raw and name not in ELSEWHERE
    }
    lacking = [
        name
        for name, one in known.items()
        if name not in given and name not in ELSEWHERE and _default(one) is MISSING
    ]
    if lacking:
        raise Unreadable(f"{raw['do']} needs {lacking[0]}")
    told = AbstractStep(
        step=cast("Step", kind(**given, **BLANK.get(kind, {}))),
        moment=_moment_of(raw) if kind is Advance else None,
        request=_place(raw, "request", place),
        page=_place(raw, "page", place),
        days=_days(raw) if kind is Arrange else (),
    )
    if kind in {Authorise, Withdraw} and told.request is None:
        raise Unreadable(f"{raw['do']} needs request")
    if any(one >= place for one in told.places):
        raise Unreadable("a step rests on earlier ones only")
    return told


def _more(kind: type[Any]) -> set[str]:
    return {Call: {"page"}, Advance: {"after", "at", "days", "on"}}.get(kind, set())


def _place(raw: Raw, name: str, place: int) -> int | None:
    if name not in raw:
        return None
    if raw[name] > place:
        raise Unreadable("expected the number of an earlier step", name)
    return int(raw[name]) - 1


def _value(name: str, value: Any) -> Any:
    try:
        return READ[name](value) if name in READ else value
    except Unreadable as error:
        raise Unreadable(error.what, name, hint=error.hint) from None
    except ValueError as error:
        raise Unreadable(f"expected {error}", name) from None


def _member(kind: type[Enum], word: str) -> Enum:
    known = {_word(one): one for one in kind}
    if word not in known:
        raise Unreadable(f"expected one of {', '.join(known)}", hint=did_you_mean(word, known))
    return known[word]


def _span(seconds: float | Decimal) -> timedelta:
    return timedelta(seconds=float(seconds))


def _holding_of(raw: Raw) -> Holding:
    traits = {name: decoded(one) for name, one in raw.get("traits", {}).items()}
    return Holding(resource=raw["resource"], count=raw.get("count", 1), traits=traits)


def _days(raw: Raw) -> tuple[tuple[int, ...] | None, ...]:
    days = [one.get("days", ()) for one in raw.get("holdings", ())]
    return tuple(None if one is None else tuple(one) for one in days)


def _moment_of(raw: Raw) -> Moment | None:
    if "after" in raw:
        return After(_span(raw["after"]))
    if "at" not in raw:
        raise Unreadable("advance needs after, or at")
    try:
        at = time.fromisoformat(raw["at"])
    except ValueError:
        raise Unreadable("expected a time such as 00:00:30", "at") from None
    if "on" in raw:
        return On(WEEKDAYS.index(raw["on"]), at)
    return At(raw.get("days", 0), at)


#: What is no plain word in a file, by name.
READ: Mapping[str, Callable[[Any], Any]] = {
    "arguments": lambda value: {name: decoded(one) for name, one in value.items()},
    "value": decoded,
    "holdings": lambda value: tuple(map(_holding_of, value)),
    "linger": lambda value: tuple(map(_span, value)),
    "pace": _span,
    "age": _span,
    "decision": lambda value: _member(Decision, value),
    "code": lambda value: _member(Code, value),
    "malformed": lambda value: _member(Malformed, value),
    "without": tuple,
    "varied": tuple,
}
