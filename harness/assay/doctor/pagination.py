"""Whether the profile knows how pages are turned, and how a span of days is asked for.

A list of which we know that it has more must name a next page, and that page must show
something else. Days that were asked for must make a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from assay.binding.target import Turn
from assay.contract.model import Json, Operation
from assay.doctor.context import DoctorContext, SeenAnswer, ordinary
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import PointerProbe, is_link, mean, nearest
from assay.doctor.probes import SINCE, UNTIL
from assay.history import Accepted, Indeterminate

__all__ = ["dates", "pages"]

_SLOWER = 429


def pages(patient: DoctorContext) -> Iterator[Finding]:
    """Judge for every list how its next page was found, and what it showed."""
    for operation in patient.operations:
        if not operation.available or not operation.lists:
            continue
        turned = [one for one in patient.of(operation.id) if one.exchange.call.follow]
        if turned:
            yield from _second(patient, operation, turned[0])
        else:
            yield from _unturned(patient, operation)


def _accepted(answer: SeenAnswer) -> bool:
    return isinstance(answer.exchange.outcome, Accepted)


def _second(patient: DoctorContext, operation: Operation, second: SeenAnswer) -> Iterator[Finding]:
    """Judge a second page against the first."""
    place, binding = ("operations", operation.id, "next"), second.binding
    before = [one for one in patient.plain(operation.id) if one.exchange.n < second.exchange.n]
    first = before[-1]
    expected = "another page after the first"
    hint = _link(patient, operation)
    if not second.status and isinstance(second.exchange.outcome, Indeterminate):
        yield at(
            patient.target,
            ("hosts",),
            expected,
            second.exchange.outcome.why,
            "is the other host the bank's, too? then add it to hosts",
            weight=Weight.DOUBT,
        )
    elif not _accepted(second):
        yield at(patient.target, place, expected, f"{second.status} when it is turned to", hint)
    elif second.things and second.things == first.things:
        counted = binding.next and binding.next.turn in {Turn.PAGE, Turn.OFFSET}
        why = "is the parameter, or `first`, another?" if counted else ""
        yield at(patient.target, place, expected, "the first page once more", hint or why)
    elif not second.things and _more(patient, operation, first):
        yield at(patient.target, place, expected, "a page without items", hint)


def _more(patient: DoctorContext, operation: Operation, first: SeenAnswer) -> bool:
    """Whether the customer surely has more than a page showed; where a world was made."""
    if not patient.whole or not first.exchange.items:
        return False
    subject = patient.subjects.get(f"{first.story} {first.exchange.call.subject}")
    if subject is None:
        return False
    if not operation.about:
        return len(first.exchange.items) < len(subject.owns)
    owned = subject.owned(first.exchange.call.arguments.get(operation.about))
    return owned is not None and len(first.exchange.items) < len(owned.entries)


def _unturned(patient: DoctorContext, operation: Operation) -> Iterator[Finding]:
    """Say why no page was turned: there is none, or the profile does not find it."""
    first = next(iter(patient.plain(operation.id)), None)
    if first is None or not _accepted(first) or (operation.about and not operation.since):
        return
    place = ("operations", operation.id, "next")
    if not patient.whole:
        if first.binding.next:
            what = "one that was not turned to" if _next(first) else "a list of one page"
            weight = Weight.UNSEEN
            yield at(patient.target, place, "another page after the first", what, weight=weight)
        return
    if not _more(patient, operation, first):
        return
    hint = _link(patient, operation)
    found = f"none after {len(first.exchange.items)} items, and there are more"
    if first.binding.next is None:
        hint, weight = hint or "say how pages are turned", Weight.UNSEEN
    else:
        weight = Weight.FAULT if hint else Weight.DOUBT
    yield at(patient.target, place, "another page after the first", found, hint, weight=weight)


def _next(answer: SeenAnswer) -> bool:
    return isinstance(answer.exchange.outcome, Accepted) and bool(answer.exchange.outcome.next)


def _link(patient: DoctorContext, operation: Operation) -> str:
    """Return the hint at what looks like the way to the next page in the first answer."""
    for first in patient.plain(operation.id):
        if any(name.lower() == "link" for name, _ in first.exchange.wire.headers):
            return "did you mean {header: Link}?"
        how = first.binding.next
        at_ = (how.at,) if how and how.turn in {Turn.LINK, Turn.CURSOR} else ()

        def other(value: Json, here: str = first.exchange.wire.url) -> bool:
            return is_link(value) and value != here and not here.endswith(str(value))

        one = PointerProbe(key=(), at=at_, what="", fits=other, names=("next", "nextPage"))
        if hint := mean([first.body], one):
            return hint
    return ""


def dates(patient: DoctorContext) -> Iterator[Finding]:
    """Judge whether days that are asked for make a difference."""
    for operation in patient.operations:
        for name, says, beyond in (
            (operation.since, SINCE, _before),
            (operation.until, UNTIL, _after),
        ):
            asked = [one for one in patient.of(operation.id) if one.exchange.call.variation == says]
            if name and asked:
                yield from _day(patient, operation, name, asked[0], beyond)
            elif name and not patient.whole:
                yield from _unasked(patient, operation, name)


def _before(on: date, day: date) -> bool:
    return on < day


def _after(on: date, day: date) -> bool:
    return on > day


def _unasked(patient: DoctorContext, operation: Operation, name: str) -> Iterator[Finding]:
    """Say that a day was not asked for, where a call would have been spent on it."""
    first = next(iter(patient.plain(operation.id)), None)
    if first is not None and _accepted(first) and name in first.binding.arguments:
        place, what = ("operations", operation.id, "arguments", name), "none that was asked for"
        yield at(patient.target, place, "a day to make a difference", what, weight=Weight.UNSEEN)


def _day(
    patient: DoctorContext,
    operation: Operation,
    name: str,
    asked: SeenAnswer,
    beyond: Callable[[date, date], bool],
) -> Iterator[Finding]:
    place = ("operations", operation.id, "arguments", name)
    plain = [
        one
        for one in patient.plain(operation.id)
        if _accepted(one)
        and one.exchange.call.arguments.items() <= asked.exchange.call.arguments.items()
    ]
    if not plain or not ordinary(plain[0].exchange):
        return
    if asked.status == _SLOWER:
        return  # said elsewhere
    if not _accepted(asked):
        found = f"{asked.status}: {patient.said(asked)}"
        yield at(patient.target, place, "a day to be understood", found)
        return
    day = date.fromisoformat(str(asked.exchange.call.arguments[name]))
    control = [item.on for item in plain[0].exchange.items if item.on]
    given = [item.on for item in asked.exchange.items if item.on]
    if not any(beyond(on, day) for on in control):
        return  # it could make no difference
    if any(beyond(on, day) for on in given):
        found = "the same items as without it" if given == control else "items beyond the day"
        sent = asked.exchange.wire.url.partition("?")[2]
        names = [pair.partition("=")[0] for pair in sent.split("&") if pair]
        spelt = asked.binding.arguments[name].name
        hint = f"it was sent as {spelt}" if nearest(spelt, names) else ""
        weight = Weight.DOUBT
        yield at(patient.target, place, "a day to make a difference", found, hint, weight=weight)
