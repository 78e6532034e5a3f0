"""The steps of a sequence, as values that are valid for any target on any day.

A step refers to what only a target can name (an account's key, a request, the next
page) by the place in the sequence from which it comes, and to a day or a moment by its
distance. `concretize` resolves the references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import TypeAlias, cast
from zoneinfo import ZoneInfo

from assay.contract.model import Json
from assay.history import Arrange, Authorise, Call, Register, Renew, Resend, Step, Submit, Withdraw
from assay.rules.state.calendar import at, local_day

WEEK = 7


@dataclass(frozen=True, slots=True)
class OwnedRef:
    """The key of the `n`-th thing that a subject owns, from 0."""

    of: str
    n: int


@dataclass(frozen=True, slots=True)
class RequestRef:
    """The key of the request that an earlier step made, by its place from 0."""

    step: int


@dataclass(frozen=True, slots=True)
class RelativeDay:
    """The date this many days from the target's today, in ISO 8601."""

    days: int


@dataclass(frozen=True, slots=True)
class After:
    """The moment this span later."""

    span: timedelta


@dataclass(frozen=True, slots=True)
class At:
    """The moment at which clocks show a time, this many days from today."""

    days: int
    time: time


@dataclass(frozen=True, slots=True)
class On:
    """The next moment at which it is this weekday (Monday is 0) and clocks show a time."""

    weekday: int
    time: time


Moment: TypeAlias = After | At | On


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstractStep:
    """One step of a sequence. Members of `step` that the following replace are ignored.

    `moment` is when to advance to, `request` the place of the step that made the request
    to sign, withdraw or send again, `page` that of the call whose next page is requested.
    `days` are the entries of each holding, as days from today.
    """

    step: Step
    moment: Moment | None = None
    request: int | None = None
    page: int | None = None
    days: tuple[tuple[int, ...] | None, ...] = ()

    @property
    def places(self) -> Iterator[int]:
        """The places of the steps that this one refers to."""
        for place in (self.request, self.page):
            if place is not None:
                yield place
        if isinstance(self.step, Call):
            for value in leaves(self.step.arguments):
                if isinstance(value, RequestRef):
                    yield value.step

    @property
    def names(self) -> frozenset[str]:
        """The subjects that this step refers to, except one that it creates."""
        if isinstance(self.step, Arrange):
            return frozenset()
        step = self.step
        named = {getattr(step, "subject", "")}
        if isinstance(step, Authorise):
            named.add(step.by)
        if isinstance(step, Call):
            named |= {value.of for value in leaves(step.arguments) if isinstance(value, OwnedRef)}
        return frozenset(named - {""})

    def moved(self, place: Callable[[int], int]) -> AbstractStep:
        """Return the same step with references to other places."""

        def move(value: Json) -> Json:
            return RequestRef(place(value.step)) if isinstance(value, RequestRef) else value

        return replace(
            self._with(move),
            request=None if self.request is None else place(self.request),
            page=None if self.page is None else place(self.page),
        )

    def subjects(self, names: Mapping[str, str]) -> AbstractStep:
        """Return the same step for other subjects."""

        def rename(value: Json) -> Json:
            if isinstance(value, OwnedRef):
                return OwnedRef(of=names.get(value.of, value.of), n=value.n)
            return value

        renamed = self._with(rename)
        step = renamed.step
        if isinstance(step, Arrange | Call | Register | Renew | Resend | Submit | Withdraw):
            step = replace(step, subject=names.get(step.subject, step.subject))
        elif isinstance(step, Authorise):
            by = names.get(step.by, step.by)
            step = replace(step, subject=names.get(step.subject, step.subject), by=by)
        return replace(renamed, step=step)

    def _with(self, change: Callable[[Json], Json]) -> AbstractStep:
        if not isinstance(self.step, Call):
            return self
        arguments = cast("Mapping[str, Json]", map_leaves(self.step.arguments, change))
        return replace(self, step=replace(self.step, arguments=arguments))


AbstractSequence: TypeAlias = tuple[AbstractStep, ...]


def map_leaves(value: Json, change: Callable[[Json], Json]) -> Json:
    """Return a value with every leaf of it changed."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Json]", value)
        return {name: map_leaves(member, change) for name, member in members.items()}
    if isinstance(value, list | tuple):
        return [map_leaves(item, change) for item in cast("list[Json]", value)]
    return change(value)


def leaves(value: Json) -> Iterator[Json]:
    """Yield every leaf of a value."""
    if isinstance(value, Mapping):
        for member in cast("Mapping[str, Json]", value).values():
            yield from leaves(member)
    elif isinstance(value, list | tuple):
        for item in cast("list[Json]", value):
            yield from leaves(item)
    else:
        yield value


def moment_of(moment: Moment, now: datetime, zone: ZoneInfo) -> datetime:
    """Return when a moment is, for a clock that shows `now`; days are the zone's."""
    if isinstance(moment, After):
        return now + moment.span
    today = local_day(now, zone)
    if isinstance(moment, At):
        return at(today + timedelta(days=moment.days), moment.time, zone)
    day = today + timedelta(days=(moment.weekday - today.weekday()) % WEEK)
    to = at(day, moment.time, zone)
    return to if to > now else at(day + timedelta(days=WEEK), moment.time, zone)
