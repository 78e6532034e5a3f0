"""The kinds of atom of which conditions are made: one about a value, a registration or a factor.

`{field: F, is: V}`: the argument F of the request equals V: a text, a number, true or false.
A text that is written like V equals it, since a URL has nothing else. The values in the target
file are assumed to differ from V; where they do not, the check uses what was sent. A truth value
is sent as its negation.

`{field: F, above: N}`: the argument F of the request is a number greater than N. Tried
at N, which is not above it, and one step below and above. The step is 1 if N is written
as a whole number, and else 0.01, or finer if N is.

`{registered: ARG, more-than-hours: H}`: the age of a customer's registration. The customer's own
registration counts, another customer's does not. Its age is taken when the request is signed;
where it matters whether it is taken at the request's creation or, if deferred, on its day, the
atom is unknown. A customer who is not fresh may have older registrations than those in the history.

`{factor: F}`: the customer signed the request with the factor F. Tried with F and with each
other factor that a `factors` rule of the contract names. The factor is known where it was chosen
and its right code entered. It is unknown where the screen to choose it never came, or where any
offered factor would do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import TypeAlias

from assay.contract.model import Capability, Json
from assay.contract.scalars import number_of, text_of
from assay.history import Authorise, Call, Code, Register, Registered, Subject
from assay.rules.conditions.table import FAR, Atom, DecidedRequest, Point, Value
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.tracker import Instance, Lifecycle
from assay.rules.rule import BindingRequirement, bound, facts_of, needs
from assay.rules.steps import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value, as text; None for the one in the target file.

    `other` says that it is the second value in the target file.
    """

    text: str | None = None
    other: bool = False


def value_of(seen: DecidedRequest, argument: str) -> Given | None:
    """Return the value sent in an argument; None where it was not sent."""
    value = seen.request.arguments.get(argument)
    if value is None:
        return None
    return Given(text=text_of(value), other=argument in seen.request.made.call.varied)


#: Stands for any number above zero with this number of decimals: these are interchangeable, except
#: where a rule compares them. Another spelling of a number is a value of its own.
A_NUMBER = "a number with {} decimals"
#: A number of JSON: a bank that expects texts may refuse it, or the other way round.
A_JSON_NUMBER = f"{A_NUMBER}, without quotes"
_PLAIN = re.compile(r"[0-9]+(?:\.([0-9]+))?", re.ASCII)


def named_values(atoms: Iterable[Atom]) -> Iterator[tuple[str, str]]:
    """Yield the arguments that atoms look at, with the values that they name there."""
    for atom in atoms:
        for point in atom.points:
            if atom.argument and isinstance(point.value, Given) and point.value.text is not None:
                yield atom.argument, _kind(point.value.text)


def sent_values(atoms: Iterable[Atom], request: Instance) -> set[tuple[str, str]]:
    """Return the values of the arguments that atoms look at.

    The second value of the target file is left out: the file says that it is valid.
    """
    call = request.made.call
    looked = {atom.argument for atom in atoms} - {None, *call.varied}
    return {(name, _kind(value)) for name, value in request.arguments.items() if name in looked}


def _kind(value: Json) -> str:
    text = text_of(value) if isinstance(value, str | int | Decimal | float) else None
    plain = _PLAIN.fullmatch(text) if text is not None else None
    if plain is None or not any(digit in plain[0] for digit in "123456789"):
        return repr(value if text is None else text)
    # A decimal of a probe is sent in the type of the target file's own value.
    kind = A_JSON_NUMBER if isinstance(value, int | float) else A_NUMBER
    return kind.format(len(plain[1] or ""))


def is_above(value: Json, limit: Json) -> bool | None:
    """Return whether a value is above a limit; None where it is no plain number."""
    if value is None:
        return False
    number, most = number_of(value), number_of(limit)
    return number > most if number is not None and most is not None else None


def with_value(argument: str, value: Json) -> Callable[[Call], Call]:
    """Return a function that gives a call this value."""
    return lambda call: replace(call, arguments={**call.arguments, argument: value})


def with_other_value(argument: str) -> Callable[[Call], Call]:
    """Return a function that gives a call the target file's other value."""
    return lambda call: replace(call, varied=(*call.varied, argument))


def require(lifecycle: Lifecycle, feature: str, argument: str) -> tuple[BindingRequirement, ...]:
    """Require the target file to bind an argument, or another value of it."""
    return bound(lifecycle.create, feature, argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAtom:
    """What all atoms about an argument of a request share."""

    argument: str
    lifecycle: Lifecycle = field(compare=False, repr=False)

    @property
    def input(self) -> str:
        """The input that the atom looks at: all atoms about one argument share it."""
        return f"field {self.argument}"

    @property
    def id_prefix(self) -> str:
        """The argument's name."""
        return self.argument

    def look(self, seen: DecidedRequest) -> Value | None:
        """Return what was sent in the argument."""
        return value_of(seen, self.argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldIs(FieldAtom):
    """An atom that holds where an argument has one value."""

    value: Json

    @property
    def label(self) -> str:
        """What it says."""
        return f"{self.argument} is {text_of(self.value)}"

    @property
    def points(self) -> tuple[Point, ...]:
        """The value; the target file's value; and its other value. A truth value has its negation."""
        name, value = self.argument, text_of(self.value)
        if isinstance(self.value, bool):
            return self._point(value, self.value), self._point(f"not-{value}", not self.value)
        return (
            self._point(value, self.value),
            Point(
                name=f"not-{value}",
                description=f"{name} has its usual value",
                value=Given(),
                distance=lambda seen: 1 if isinstance(seen, Given) and seen.other else 0,
            ),
            Point(
                name=f"not-{value}-other",
                description=f"{name} is neither {value} nor its usual value",
                value=Given(other=True),
                distance=lambda seen: 0 if isinstance(seen, Given) and seen.other else 1,
                ask=with_other_value(name),
                requires=require(self.lifecycle, "other", name),
            ),
        )

    def _point(self, id_: str, value: Json) -> Point:
        """Return the point at which the argument has a value that the condition itself gives."""
        text = text_of(value)
        return Point(
            name=id_,
            description=f"{self.argument} is {text}",
            value=Given(text=text),
            distance=lambda seen: 0 if isinstance(seen, Given) and seen.text == text else FAR,
            ask=with_value(self.argument, value),
            requires=require(self.lifecycle, "argument", self.argument),
        )

    def holds(self, value: Value) -> bool | None:
        """Whether a value is this one."""
        return value.text == text_of(self.value) if isinstance(value, Given) else None


def read_is(raw: Mapping[str, Json], lifecycle: Lifecycle) -> FieldIs:
    """Read the atom."""
    return FieldIs(argument=str(raw["field"]), value=raw["is"], lifecycle=lifecycle)


_CENT = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAbove(FieldAtom):
    """An atom that holds where an argument is above a number; `limit` is as the contract has it."""

    limit: str

    @property
    def label(self) -> str:
        """What it says."""
        return f"{self.argument} above {self.limit}"

    @property
    def points(self) -> tuple[Point, ...]:
        """At the limit, and one step to each side, if positive."""
        limit = Decimal(self.limit)
        exponent = limit.as_tuple().exponent
        finest = exponent if isinstance(exponent, int) else 0
        step = Decimal(1).scaleb(min(finest, _CENT)) if "." in self.limit else Decimal(1)
        tried = (("at", limit), ("just-above", limit + step), ("just-below", limit - step))
        return tuple(self._point(word, value) for word, value in tried if value > 0)

    def _point(self, word: str, value: Decimal) -> Point:
        text = text_of(value)

        def near(seen: Value) -> float:
            sent = number_of(seen.text) if isinstance(seen, Given) else None
            return FAR if sent is None else float(abs(sent - value))

        return Point(
            name=f"{word}-{self.limit}",
            description=f"{self.argument} is {text}",
            value=Given(text=text),
            distance=near,
            ask=with_value(self.argument, value),
            requires=require(self.lifecycle, "argument", self.argument),
        )

    def holds(self, value: Value) -> bool | None:
        """Whether a value is greater; unknown for anything but a number."""
        sent = number_of(value.text) if isinstance(value, Given) else None
        return None if sent is None else sent > Decimal(self.limit)


def read_above(raw: Mapping[str, Json], lifecycle: Lifecycle) -> FieldAbove:
    """Read the atom."""
    return FieldAbove(argument=str(raw["field"]), limit=str(raw["above"]), lifecycle=lifecycle)


# -- the age of a customer's registration ----------------------------------------------------
SECOND, LONG = timedelta(seconds=1), timedelta(days=30)
#: The greatest distance from the limit at which a registration still tests the limit.
CLOSE = timedelta(minutes=1)
#: How far below the limit a registration is prepared: on a clock that runs, signing takes time.
EARLY = timedelta(seconds=5)
#: The same where the moment of the registration is not known exactly.
CLOSE_ROUGHLY = timedelta(hours=1)
#: Older than any registration.
EVER = timedelta(days=1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Age:
    """How long a customer has known a value, at the least and at the most; None for never.

    `another` says that another customer has registered it, and `rough` that the moment of the
    registration is not known exactly.
    """

    least: timedelta | None = None
    most: timedelta | None = None
    another: bool = False
    rough: bool = False

    @property
    def remark(self) -> str:
        """The age, where it is only roughly that of the point for which it stands."""
        if not self.rough or self.least is None or self.most is None or self.most == EVER:
            return ""
        return f"registered {_told(self.least)} to {_told(self.most)} earlier"


@dataclass(frozen=True, slots=True, kw_only=True)
class IsRegistered:
    """An atom that holds where the registration is older than the limit."""

    argument: str
    hours: int
    lifecycle: Lifecycle = field(compare=False, repr=False)

    @property
    def input(self) -> str:
        """The registration of the argument's value."""
        return f"registration of {self.argument}"

    @property
    def id_prefix(self) -> str:
        """The argument's name."""
        return self.argument

    @property
    def label(self) -> str:
        """What it says."""
        return f"{self.argument} registered > {self.hours} h"

    @property
    def points(self) -> tuple[Point, ...]:
        """Never; by another customer only; around the limit; and long before."""
        limit, name, hours = timedelta(hours=self.hours), self.argument, f"{self.hours}h"
        under, over, long = limit - SECOND, limit + SECOND, limit + LONG
        early = limit - EARLY
        tried = (
            (f"just-under-{hours}", early, (limit - CLOSE, under), (limit - CLOSE_ROUGHLY, under)),
            (f"at-{hours}", limit, (limit, limit), None),
            (f"just-over-{hours}", over, (over, limit + CLOSE), (over, limit + CLOSE_ROUGHLY)),
            ("long", long, (long, EVER), (long, EVER)),
        )
        return (
            Point(
                name="unregistered",
                description=f"{name} was never registered",
                value=Age(),
                distance=lambda seen: _none(seen, another=False),
            ),
            Point(
                name="by-another",
                description=f"{name} was registered by another customer only",
                value=Age(another=True),
                distance=lambda seen: _none(seen, another=True),
                prepare=_by_another(name, long),
                needs=needs(Capability.REGISTRATIONS, Capability.TWO_PSU),
                requires=require(self.lifecycle, "argument", name),
            ),
            *(
                Point(
                    name=word,
                    description=f"{name} was registered {_told(age)} earlier",
                    value=Age(least=age, most=age),
                    distance=_between(exact, rough or exact),
                    prepare=_by_customer(name, age, exact, rough),
                    needs=needs(Capability.REGISTRATIONS),
                    requires=require(self.lifecycle, "argument", name),
                )
                for word, age, exact, rough in tried
            ),
        )

    def holds(self, value: Value) -> bool | None:
        """Whether the age is greater, whichever it is."""
        if not isinstance(value, Age):
            return None
        if value.least is None or value.most is None:
            return False
        limit = timedelta(hours=self.hours)
        answers = {value.least > limit, value.most > limit}
        return answers.pop() if len(answers) == 1 else None

    def look(self, seen: DecidedRequest) -> Value | None:
        """Return the age of the registration at the decision on the request."""
        request, subject = seen.request, seen.request.subject
        value = request.arguments.get(self.argument)
        if subject is None or value is None:
            return None
        another = seen.registrations.registered_by_another(subject.name, self.argument, value)
        known = seen.registrations.since(subject.name, self.argument, value)
        complete = subject.name in seen.registrations.complete
        if known is None:
            return Age(another=another) if complete else None
        since, latest = known
        signed = request_queries.signature(request)
        moments = [request.made.at, *([signed.at] if signed else [])]
        open_ended = seen.lifecycle.deferred(request.mode) or not complete
        return Age(
            least=min(moments) - latest,
            most=EVER if open_ended else max(moments) - since,
            another=another,
            rough=since != latest,
        )


def _none(seen: Value, *, another: bool) -> float:
    if not isinstance(seen, Age) or seen.least is not None:
        return FAR
    return 0 if seen.another is another else 1


#: The least and the greatest age that will do.
_Span: TypeAlias = tuple[timedelta, timedelta]


def _between(exact: _Span, rough: _Span) -> Callable[[Value], float]:
    """Return how far an age is from a span, taking the end of it that is further off."""

    def far(age: timedelta, span: _Span) -> float:
        return max(span[0] - age, age - span[1], timedelta(0)).total_seconds()

    def near(seen: Value) -> float:
        if not isinstance(seen, Age) or seen.least is None or seen.most is None:
            return FAR
        span = rough if seen.rough else exact
        return max(far(seen.least, span), far(seen.most, span))

    return near


def _by_customer(
    argument: str, age: timedelta, exact: _Span | None = None, rough: _Span | None = None
) -> Callable[[Lifecycle, Subject, Call], Part[Call]]:
    def prepare(lifecycle: Lifecycle, subject: Subject, call: Call) -> Part[Call]:
        reply = yield Register(
            subject=subject.name,
            operation=lifecycle.create.id,
            argument=argument,
            age=age,
            value=call.arguments.get(argument),
            exact=exact,
            rough=rough,
        )
        if subject.registrations is None or not isinstance(reply, Registered):
            return call
        # A customer who existed before has values of its own on file.
        return replace(call, arguments={**call.arguments, argument: reply.value})

    return prepare


def _by_another(argument: str, age: timedelta) -> Callable[[Lifecycle, Subject, Call], Part[Call]]:
    register = _by_customer(argument, age)

    def prepare(lifecycle: Lifecycle, subject: Subject, call: Call) -> Part[Call]:
        another = yield from request_steps.customer(lifecycle, f"{subject.name}-other")
        return (yield from register(lifecycle, another, call))

    return prepare


def _told(age: timedelta) -> str:
    hours, rest = divmod(int(age.total_seconds()), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02} h"


def read_registered(raw: Mapping[str, Json], lifecycle: Lifecycle) -> IsRegistered:
    """Read the atom."""
    hours = raw["more-than-hours"]
    if not isinstance(hours, int):
        raise TypeError("more-than-hours is no whole number")
    return IsRegistered(argument=str(raw["registered"]), hours=hours, lifecycle=lifecycle)


# -- the factor with which the customer signed -----------------------------------------------
#: The kind of screen on which a factor is chosen.
CHOICE = "factor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """An atom that holds where the request was signed with one factor."""

    factor: str
    lifecycle: Lifecycle = field(compare=False, repr=False)

    @property
    def input(self) -> str:
        """The signature of the request."""
        return "factor"

    @property
    def argument(self) -> None:
        """None: it is not about an argument."""

    @property
    def id_prefix(self) -> str:
        """The same for all factors."""
        return "factor"

    @property
    def label(self) -> str:
        """What it says."""
        return f"signed with {self.factor}"

    @property
    def points(self) -> tuple[Point, ...]:
        """Each other factor, and this one; where no other is known, any that is offered."""
        offered = _offered(self.lifecycle)
        others: list[str | None] = [factor for factor in offered if factor != self.factor]
        factors = (*(others or [None]), self.factor)
        return tuple(_factor_point(factor, offered.get(factor or "", ())) for factor in factors)

    def holds(self, value: Value) -> bool | None:
        """Whether it is this factor."""
        return value == self.factor

    def look(self, seen: DecidedRequest) -> Value | None:
        """Return the factor with which the customer signed."""
        signature = request_queries.signature(seen.request)
        if signature is None or signature.step.code is not Code.RIGHT:
            return None
        only = signature.offered[0] if signature.offered and len(signature.offered) == 1 else None
        chosen = CHOICE in signature.screens or not signature.screens
        return (signature.step.factor or only) if chosen else only


def _offered(lifecycle: Lifecycle) -> Mapping[str, tuple[str, ...]]:
    """Return the factors that the contract names, each with the segments that have it."""
    out: dict[str, tuple[str, ...]] = {}
    offered = facts_of(lifecycle.contract).factors_by_segment.get(lifecycle.request.id, {})
    for segment, factors in offered.items():
        for factor in factors:
            out[factor] = (*out.get(factor, ()), segment)
    return out


def _factor_point(factor: str | None, segments: tuple[str, ...]) -> Point:
    def near(seen: Value) -> float:
        return 0 if seen == factor else FAR if factor is None else 1

    return Point(
        name=factor or "other",
        description=f"it is signed with {factor or 'any factor'}",
        value=factor,
        distance=near,
        sign=_with(factor),
        segments=segments,
    )


def _with(factor: str | None) -> Callable[[Authorise], Authorise]:
    return lambda how: replace(how, factor=factor)


def read_factor(raw: Mapping[str, Json], lifecycle: Lifecycle) -> Factor:
    """Read the atom."""
    return Factor(factor=str(raw["factor"]), lifecycle=lifecycle)
