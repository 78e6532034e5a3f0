"""Checks that what a request says changes the answer: dates, presence, and the next page.

A mock gives the same answer to every request. Dates that are sent must limit the items, the
presence header must keep a call out of the limit for calls without the customer, and a list
known to have more items must name a next page with other items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date

from assay.binding.target import FixtureKind, Turn
from assay.contract.model import Json, Operation
from assay.doctor.context import DoctorContext, Finding, SeenAnswer, Weight, ordinary
from assay.doctor.pointer_probe import PointerProbe, correction, is_link, nearest
from assay.doctor.probes import SINCE, UNTIL
from assay.history import Accepted, Indeterminate

#: A shorter body may be the same by chance.
_DISTINCTIVE = 24
#: The status that limits calls.
_RATE_LIMITED = 429


def static_answers(context: DoctorContext) -> Iterator[Finding]:
    """Compare the bodies of successful answers to different requests."""
    asked: defaultdict[bytes, set[tuple[str, str]]] = defaultdict(set)
    for one in context.answers:
        body, operation = one.exchange.wire.body, one.operation
        # Operations that read, change or end a request may show it alike.
        if one.good and len(body) >= _DISTINCTIVE and operation.available and not operation.request:
            about = str(one.exchange.call.arguments.get(one.operation.about or "", ""))
            asked[body].add((operation.id, about if one.raw_items else ""))
    for requests in asked.values():
        names = sorted({name for name, _ in requests})
        if len(names) > 1:
            found = f"the same body from {', '.join(names)}"
        elif len(requests) > 1:
            found = f"the same body from {names[0]} for every item"
        else:
            continue
        hint = "is it a mock? static answers cannot be judged"
        yield context.finding(("base_url",), "answers that depend on the request", found, hint)
        return


def presence(context: DoctorContext) -> Iterator[Finding]:
    """Examine which calls were served after those without the customer were used up."""
    header = context.target.presence
    answers = context.presences
    if header is None:
        return
    if not answers:
        if context.target.fixtures.kind is FixtureKind.ROLES:
            found = "no calls to see it by: they would use up real customers' accesses"
            place, weight = ("presence", "header"), Weight.UNSEEN
            yield context.finding(place, "a header with an effect", found, weight=weight)
        return
    absent = [one.exchange.accepted for one in answers if not one.exchange.call.present]
    present = [one.exchange.accepted for one in answers if one.exchange.call.present]
    if not absent[0]:
        return  # no call is served; reported by another check
    limited, served = not all(absent), all(present)
    if limited and not served:
        found = "calls with the header refused like those without it"
        hint = "is the name right, and does the bank accept the value?"
        place, expected = ("presence", "header"), "calls with the customer to be served"
        yield context.finding(place, expected, found, hint, weight=Weight.DOUBT)
    elif not limited and not served:
        key = "when" if header.absent else "header"
        found = "calls with the customer limited, and calls without served"
        hint = "the meaning is reversed: " + (
            "remove `when: absent`" if header.absent else "add `when: absent`"
        )
        yield context.finding(
            ("presence", key),
            "calls without the customer to be limited",
            found,
            hint,
        )
    elif not limited:
        found = f"all {len(absent)} served, and those with the customer too"
        hint = "does the bank distinguish calls with and without the customer by this header?"
        yield context.finding(
            ("presence", "header"),
            "calls without the customer to be limited",
            found,
            hint,
            weight=Weight.DOUBT,
        )


def dates(context: DoctorContext) -> Iterator[Finding]:
    """Examine whether the dates of a request limit the items."""
    for operation in context.operations:
        for name, says, beyond in (
            (operation.since, SINCE, _before),
            (operation.until, UNTIL, _after),
        ):
            asked = [one for one in context.of(operation.id) if one.exchange.call.variation == says]
            if name and asked:
                yield from _day(context, operation, name, asked[0], beyond)
            elif name and not context.makes_customers:
                yield from _not_sent(context, operation, name)


def _before(on: date, day: date) -> bool:
    return on < day


def _after(on: date, day: date) -> bool:
    return on > day


def _not_sent(context: DoctorContext, operation: Operation, name: str) -> Iterator[Finding]:
    """Report that no date was sent, where a call would use up a real customer's accesses."""
    first = next(iter(context.plain(operation.id)), None)
    if first is not None and first.exchange.accepted and name in first.binding.arguments:
        place, found = ("operations", operation.id, "arguments", name), "none that was sent"
        yield context.finding(place, "a date with an effect", found, weight=Weight.UNSEEN)


def _day(
    context: DoctorContext,
    operation: Operation,
    name: str,
    asked: SeenAnswer,
    beyond: Callable[[date, date], bool],
) -> Iterator[Finding]:
    """Compare the items of a call with a date to those of one without."""
    place = ("operations", operation.id, "arguments", name)
    plain = [
        one
        for one in context.plain(operation.id)
        if one.exchange.accepted
        and one.exchange.call.arguments.items() <= asked.exchange.call.arguments.items()
    ]
    if not plain or not ordinary(plain[0].exchange):
        return
    if asked.status == _RATE_LIMITED:
        return  # reported by another check
    if not asked.exchange.accepted:
        found = f"{asked.status}: {context.excerpt(asked)}"
        yield context.finding(place, "a date to be accepted", found)
        return
    day = date.fromisoformat(str(asked.exchange.call.arguments[name]))
    control = [item.on for item in plain[0].exchange.items if item.on]
    given = [item.on for item in asked.exchange.items if item.on]
    if not any(beyond(on, day) for on in control):
        return  # the date cannot have an effect
    if any(beyond(on, day) for on in given):
        found = "the same items as without it" if given == control else "items beyond the date"
        sent = asked.exchange.wire.url.partition("?")[2]
        names = [pair.partition("=")[0] for pair in sent.split("&") if pair]
        parameter = asked.binding.arguments[name].name
        hint = f"sent as {parameter}" if nearest(parameter, names) else ""
        weight = Weight.DOUBT
        yield context.finding(place, "a date with an effect", found, hint, weight=weight)


# -- The next page


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
        yield context.finding(
            ("hosts",),
            expected,
            second.exchange.outcome.why,
            "if the other host is the bank's too, add it to hosts",
            weight=Weight.DOUBT,
        )
    elif not _accepted(second):
        yield context.finding(place, expected, f"{second.status} for the second page", hint)
    elif second.raw_items and second.raw_items == first.raw_items:
        counted = binding.next and binding.next.turn in {Turn.PAGE, Turn.OFFSET}
        why = "is the parameter, or `first`, wrong?" if counted else ""
        yield context.finding(place, expected, "the first page again", hint or why)
    elif not second.raw_items and _more(context, operation, first):
        yield context.finding(place, expected, "a page without items", hint)


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
            yield context.finding(place, "another page after the first", what, weight=weight)
        return
    if not _more(context, operation, first):
        return
    hint = _link(context, operation)
    found = f"none after {len(first.exchange.items)} items, although there are more"
    if first.binding.next is None:
        hint, weight = hint or "add `next`", Weight.UNSEEN
    else:
        weight = Weight.FAULT if hint else Weight.DOUBT
    yield context.finding(place, "another page after the first", found, hint, weight=weight)


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

        probe = PointerProbe(feature="next", at=at_, fits=other, names=("next", "nextPage"))
        if hint := correction([first.body], probe):
            return hint
    return ""
