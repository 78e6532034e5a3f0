"""Checks of pagination: whether the target file says how to read the next page.

A list known to have more items must name a next page, and that page must show other items.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.binding.target import Turn
from assay.contract.model import Json, Operation
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import PointerProbe, correction, is_link
from assay.history import Accepted, Indeterminate

__all__ = ["pages"]


def pages(context: DoctorContext) -> Iterator[Finding]:
    """Examine for every list how its next page was found, and what it showed."""
    for operation in context.operations:
        if not operation.available or not operation.lists:
            continue
        followed = [one for one in context.of(operation.id) if one.exchange.call.follow]
        if followed:
            yield from _second(context, operation, followed[0])
        else:
            yield from _not_followed(context, operation)


def _accepted(answer: SeenAnswer) -> bool:
    return isinstance(answer.exchange.outcome, Accepted)


def _second(context: DoctorContext, operation: Operation, second: SeenAnswer) -> Iterator[Finding]:
    """Compare a second page with the first."""
    place, binding = ("operations", operation.id, "next"), second.binding
    before = [one for one in context.plain(operation.id) if one.exchange.n < second.exchange.n]
    first = before[-1]
    expected = "another page after the first"
    hint = _link(context, operation)
    if not second.status and isinstance(second.exchange.outcome, Indeterminate):
        yield at(
            context.target,
            ("hosts",),
            expected,
            second.exchange.outcome.why,
            "if the other host is the bank's too, add it to hosts",
            weight=Weight.DOUBT,
        )
    elif not _accepted(second):
        yield at(context.target, place, expected, f"{second.status} for the second page", hint)
    elif second.raw_items and second.raw_items == first.raw_items:
        counted = binding.next and binding.next.turn in {Turn.PAGE, Turn.OFFSET}
        why = "is the parameter, or `first`, wrong?" if counted else ""
        yield at(context.target, place, expected, "the first page again", hint or why)
    elif not second.raw_items and _more(context, operation, first):
        yield at(context.target, place, expected, "a page without items", hint)


def _more(context: DoctorContext, operation: Operation, first: SeenAnswer) -> bool:
    """Whether a customer created for the probe has more items than a page showed."""
    if not context.makes_customers or not first.exchange.items:
        return False
    subject = context.subjects.get(f"{first.probe} {first.exchange.call.subject}")
    if subject is None:
        return False
    if not operation.about:
        return len(first.exchange.items) < len(subject.owns)
    owned = subject.owned(first.exchange.call.arguments.get(operation.about))
    return owned is not None and len(first.exchange.items) < len(owned.entries)


def _not_followed(context: DoctorContext, operation: Operation) -> Iterator[Finding]:
    """Report why no second page was read: there is none, or the target file does not find it."""
    first = next(iter(context.plain(operation.id)), None)
    if first is None or not _accepted(first) or (operation.about and not operation.since):
        return
    place = ("operations", operation.id, "next")
    if not context.makes_customers:
        if first.binding.next:
            what = "one that was not read" if _next(first) else "a list of one page"
            weight = Weight.UNSEEN
            yield at(context.target, place, "another page after the first", what, weight=weight)
        return
    if not _more(context, operation, first):
        return
    hint = _link(context, operation)
    found = f"none after {len(first.exchange.items)} items, although there are more"
    if first.binding.next is None:
        hint, weight = hint or "add `next`", Weight.UNSEEN
    else:
        weight = Weight.FAULT if hint else Weight.DOUBT
    yield at(context.target, place, "another page after the first", found, hint, weight=weight)


def _next(answer: SeenAnswer) -> bool:
    return isinstance(answer.exchange.outcome, Accepted) and bool(answer.exchange.outcome.next)


def _link(context: DoctorContext, operation: Operation) -> str:
    """Return a hint at what looks like the link to the next page in the first answer."""
    for first in context.plain(operation.id):
        if any(name.lower() == "link" for name, _ in first.exchange.wire.headers):
            return "did you mean {header: Link}?"
        how = first.binding.next
        at_ = (how.at,) if how and how.turn in {Turn.LINK, Turn.CURSOR} else ()

        def other(value: Json, here: str = first.exchange.wire.url) -> bool:
            return is_link(value) and value != here and not here.endswith(str(value))

        probe = PointerProbe(key=(), at=at_, what="", fits=other, names=("next", "nextPage"))
        if hint := correction([first.body], probe):
            return hint
    return ""
