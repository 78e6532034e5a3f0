"""Atom `{registered: ARG, more-than-hours: H}`: the age of a customer's registration.

The customer's own registration counts, another customer's does not. Its age is taken
when the request is signed; where it matters whether it is taken at the request's
creation or, if deferred, on its day, the atom is unknown. A customer who is not fresh
may have older registrations than those in the history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeAlias

from assay.contract.model import Capability, Json
from assay.history import Call, Register, Registered, Subject
from assay.rules.conditions import fields
from assay.rules.conditions.expression import FAR, DecidedRequest, Point, Value
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.rule import needs
from assay.rules.steps import Part

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
                requires=fields.require(self.lifecycle, "argument", name),
            ),
            *(
                Point(
                    name=word,
                    description=f"{name} was registered {_told(age)} earlier",
                    value=Age(least=age, most=age),
                    distance=_between(exact, rough or exact),
                    prepare=_by_customer(name, age, exact, rough),
                    needs=needs(Capability.REGISTRATIONS),
                    requires=fields.require(self.lifecycle, "argument", name),
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


def read(raw: Mapping[str, Json], lifecycle: Lifecycle) -> IsRegistered:
    """Read the atom."""
    hours = raw["more-than-hours"]
    if not isinstance(hours, int):
        raise TypeError("more-than-hours is no whole number")
    return IsRegistered(argument=str(raw["registered"]), hours=hours, lifecycle=lifecycle)
