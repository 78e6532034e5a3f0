"""Checks of what the fixture provider reports as executed: its requests, days and fields.

A request of the doctor's own is compared with what was sent. A bank may execute something
else, and that is for the run to judge; reported here is what looks like a pointer to another
value, another unit of an amount, or a report of another day. Requests are new in each probe.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.binding.target import FixtureKind
from assay.contract.model import Json
from assay.errors import did_you_mean
from assay.files.document import Pointer, found
from assay.history import Effect, State
from assay.onboarding.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.onboarding.doctor.item_fields import alike, unit_of
from assay.rules.state.calendar import local_day


def effects(context: DoctorContext) -> Iterator[Finding]:
    """Examine the fields, the ids and the days of executed requests."""
    done = [effect for event in context.effects for effect in event.done or ()]
    if not done:
        yield from _unreported(context)
        return
    made = _made(context)
    for field in _fields(context, done):
        yield from _field(context, field, done, made)
    if context.target.fixtures.kind is FixtureKind.PYTHON:
        yield from _ids(context, done, made)
    yield from _days(context, done, made)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """A field of executed requests: its key in the target file, and where its value comes from."""

    name: str
    place: Pointer
    source: str


def _fields(context: DoctorContext, done: Sequence[Effect]) -> Iterator[_Field]:
    """Yield the fields that the target file points at, or that the class in Python returns."""
    fixtures = context.target.fixtures
    if fixtures.kind is FixtureKind.PYTHON:
        for name in dict.fromkeys(name for effect in done for name in effect.fields):
            source = f"in effects() of {fixtures.adapter}"
            yield _Field(name=name, place=_place(context), source=source)
        return
    for name, pointer in fixtures.effects.items():
        yield _Field(name=name, place=("fixtures", "effects", name), source=f"at {pointer}")


def _place(context: DoctorContext) -> Pointer:
    """Return the key of the target file that says who reports executed requests."""
    python = context.target.fixtures.kind is FixtureKind.PYTHON
    return ("fixtures", "adapter" if python else "effects")


def _field(
    context: DoctorContext,
    field: _Field,
    done: Sequence[Effect],
    made: Mapping[str, Sequence[SeenAnswer]],
) -> Iterator[Finding]:
    known = [
        argument
        for contract in context.contracts_bound
        for operation in contract.operations.values()
        if operation.makes
        for argument in operation.arguments
    ]
    if field.place[-1] == "adapter" and field.name not in known:
        expected, hint = "an argument of the request", did_you_mean(field.name, known)
        what = f"a field {found(field.name)} {field.source}"
        yield context.finding(field.place, expected, what, hint, weight=Weight.FAULT)
        return
    values = [
        (effect.request, effect.fields[field.name])
        for effect in done
        if field.name in effect.fields
    ]
    expected = f"{field.name} of an executed payment"
    if not values:
        yield context.finding(field.place, expected, f"nothing {field.source}")
    for request, value in values:
        sent = [answer.exchange.call.arguments for answer in made.get(request, ())]
        if what := _mistaken(field.name, value, sent):
            wanted, seen = f"{expected}, as it was sent", f"{what} {field.source}"
            yield context.finding(field.place, wanted, seen)
            return


def _mistaken(name: str, value: Json, sent: Sequence[Mapping[str, Json]]) -> str:
    """Return what a value seems to be that is not the one that was sent."""
    named = [arguments for arguments in sent if name in arguments]
    if not named or any(alike(value, arguments[name]) for arguments in named):
        return ""
    for arguments in named:
        for each, other in arguments.items():
            if each != name and alike(value, other):
                return f"the value of {each}"
        if unit_of(value, arguments[name]):
            return "the amount in another unit"
    return ""


def _unreported(context: DoctorContext) -> Iterator[Finding]:
    """Report a class that reports nothing, although the bank shows a request as done."""
    asked = any(event.done is not None for event in context.effects)
    python = context.target.fixtures.kind is FixtureKind.PYTHON
    items = (item for answer in context.answers for item in answer.exchange.items)
    if asked and python and any(item.state is State.DONE for item in items):
        expected = "executed requests, because the bank shows one as done"
        seen = f"none in effects() of {context.target.fixtures.adapter}"
        hint = "return `None` if executed requests are unknown"
        yield context.finding(_place(context), expected, seen, hint)


def _ids(
    context: DoctorContext, done: Sequence[Effect], made: Mapping[str, Sequence[SeenAnswer]]
) -> Iterator[Finding]:
    """Report a class whose ids are none that the bank's own answers have."""
    if not any(effect.request in made for effect in done):
        expected = "the bank's id of a request that was made, in `Effect.request`"
        seen = f"ids of no request in effects() of {context.target.fixtures.adapter}"
        yield context.finding(_place(context), expected, seen)


def _days(
    context: DoctorContext, done: Sequence[Effect], made: Mapping[str, Sequence[SeenAnswer]]
) -> Iterator[Finding]:
    """Report a request that is said to be executed on a day before it was made."""
    zones = [contract.zone for contract in context.contracts_bound if contract.zone]
    for effect in done:
        answers = made.get(effect.request, ())
        days = [local_day(answer.exchange.at, zone) for answer in answers for zone in zones]
        if days and effect.on < min(days):
            expected = "the day on which a request was executed"
            seen = "a day before the request was made"
            yield context.finding(_place(context), expected, seen)
            return


def _made(context: DoctorContext) -> Mapping[str, Sequence[SeenAnswer]]:
    """Return the answers in which each request was made, by its key."""
    made: defaultdict[str, list[SeenAnswer]] = defaultdict(list)
    for answer in context.answers:
        if answer.operation.makes and answer.accepted:
            for item in answer.exchange.items:
                if item.key:
                    made[item.key].append(answer)
    return made
