"""Checks that dates, presence and paging in a request change the answer.

A mock gives the same answer to every request. Dates that are sent must limit the items, the
presence header must keep a call out of the limit for calls without the customer, and a list
known to have more items must name a next page with other items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from operator import gt, lt
from typing import TypeAlias

from assay.binding.target import FixtureKind, Turn
from assay.contract.model import Json, Operation
from assay.history import Accepted, Indeterminate
from assay.onboarding.doctor.context import DoctorContext, Finding, SeenAnswer, Weight
from assay.onboarding.doctor.pointer_probe import PointerProbe, correction, is_link, nearest
from assay.onboarding.doctor.probes import SINCE, UNTIL
from assay.rules.rule import facts_of

#: A shorter body may be the same by chance.
_DISTINCTIVE = 24
#: The status that limits calls.
_RATE_LIMITED = 429


def static_answers(context: DoctorContext) -> Iterator[Finding]:
    """Compare the bodies of successful answers to different requests."""
    requests: defaultdict[bytes, dict[tuple[str, str, str], str]] = defaultdict(dict)
    for answer in context.answers:
        body, operation = answer.exchange.wire.body, answer.operation
        # Operations that read, change or end a request may show it alike.
        comparable = operation.available and not operation.request
        if answer.good and comparable and len(body) >= _DISTINCTIVE:
            customer, about = asked_for(context, answer) if answer.raw_items else ("", "")
            # So may operations that list the same resources.
            subject = " ".join(operation.lists) or operation.id
            requests[body].setdefault((subject, customer, about), operation.id)
    for several in requests.values():
        names = sorted({*several.values()})
        if len(several) > 1:
            whom = ", ".join(names) if len(names) > 1 else f"{names[0]} {_for_whom(several)}"
            expected, found = "answers that depend on the request", f"the same body from {whom}"
            hint = "is it a mock? static answers cannot be judged"
            yield context.finding(("base_url",), expected, found, hint)
            return


def _for_whom(requests: Iterable[tuple[str, str, str]]) -> str:
    customers = {customer for _, customer, _ in requests}
    return "for every customer" if len(customers) > 1 else "for every item"


def asked_for(context: DoctorContext, answer: SeenAnswer) -> tuple[str, str]:
    """Return whose data a request asks for, and about which item."""
    about = answer.exchange.call.arguments.get(answer.operation.about or "", "")
    return context.role_of.get(answer.subject) or answer.subject, str(about)


# -- Presence


def presence(context: DoctorContext) -> Iterator[Finding]:
    """Examine which calls were served after those without the customer were used up."""
    header, answers = context.target.presence, context.presences
    if header is None:
        yield from _without_header(answers, context)
        return
    absent = [answer.accepted for answer in answers if not answer.exchange.call.present]
    present = [answer.accepted for answer in answers if answer.exchange.call.present]
    if absent and absent[0]:  # else no call is served; reported by another check
        yield from _presence(context, absent, served=all(present), reverse=header.absent)
    elif not answers and context.target.fixtures.kind is FixtureKind.ROLES:
        found = "no call to check it, because it would use up the quota of real customers"
        place, weight = ("presence", "header"), Weight.UNSEEN
        yield context.finding(place, "a header with an effect", found, weight=weight)


def _without_header(answers: Sequence[SeenAnswer], context: DoctorContext) -> Iterator[Finding]:
    """Report a bank that limits ordinary calls, although the file has no header to mark them."""
    refused = next((n for n, answer in enumerate(answers, 1) if not answer.accepted), None)
    if refused is not None and refused > 1:
        expected = "a header that marks calls with the customer present"
        found = f"none, and call {refused} of a customer is refused ({answers[refused - 1].status})"
        hint = "set presence.header and presence.value"
        yield context.finding(("presence",), expected, found, hint)


def _presence(
    context: DoctorContext, absent: list[bool], *, served: bool, reverse: bool
) -> Iterator[Finding]:
    """Report a header that has no effect, or the opposite one.

    `absent` says which calls without the customer were served, `served` whether all calls with
    the customer were, and `reverse` whether the header marks the customer's absence.
    """
    place, limited = ("presence", "header"), not all(absent)
    expected = "a limit on calls without the customer"
    if limited and not served:
        expected = "calls with the customer to be served"
        found = "calls with the header refused like those without it"
        hint = "is the name right, and does the bank accept the value?"
        yield context.finding(place, expected, found, hint)
    elif not limited and served:
        found = f"all {len(absent)} served, as well as those with the customer"
        hint = "does the bank distinguish calls with and without the customer by this header?"
        yield context.finding(place, expected, found, hint)
    elif not limited:
        found = "calls with the customer limited, and calls without served"
        remedy = "remove `when: absent`" if reverse else "add `when: absent`"
        place = ("presence", "when" if reverse else "header")
        yield context.finding(place, expected, found, f"the meaning is reversed: {remedy}")


# -- Dates

#: Whether a day is beyond a limit.
_Beyond: TypeAlias = Callable[[date, date], bool]


def dates(context: DoctorContext) -> Iterator[Finding]:
    """Examine whether the dates of a request limit the items."""
    for operation in context.operations:
        for name, variation, beyond in (
            (operation.since, SINCE, lt),
            (operation.until, UNTIL, gt),
        ):
            answers = context.of(operation.id)
            limited = [answer for answer in answers if answer.exchange.call.variation == variation]
            if name and limited:
                yield from _date(context, name, limited[0], beyond)
            elif name and not context.makes_customers:
                yield from _date_not_sent(context, operation, name)


def _date_not_sent(context: DoctorContext, operation: Operation, name: str) -> Iterator[Finding]:
    """Report that no date was sent, where a call would use up a real customer's accesses."""
    first = context.first(operation.id)
    if first is not None and first.accepted and name in first.binding.arguments:
        place, found = (
            first.place("arguments", name),
            "no call with this date, because it would use up the quota of real customers",
        )
        yield context.finding(place, "a date with an effect", found, weight=Weight.UNSEEN)


def _date(
    context: DoctorContext, name: str, limited: SeenAnswer, beyond: _Beyond
) -> Iterator[Finding]:
    """Compare the items of a call with a date to those of its control without one."""
    control = _control(context, limited)
    if control is None or limited.status == _RATE_LIMITED:
        return  # a limit of calls is reported by another check
    place = limited.place("arguments", name)
    if not limited.accepted:
        found = context.refusal(limited)
        yield context.finding(place, "a date to be accepted", found)
        return
    day = date.fromisoformat(str(limited.exchange.call.arguments[name]))
    without, with_date = _days(control), _days(limited)
    # Where no item is beyond the day anyway, the date cannot have an effect.
    if any(beyond(on, day) for on in without) and any(beyond(on, day) for on in with_date):
        same = with_date == without
        found = "the same items as without it" if same else "items beyond the date"
        hint = _sent_as(limited, name)
        yield context.finding(place, "a date with an effect", found, hint)


def _control(context: DoctorContext, limited: SeenAnswer) -> SeenAnswer | None:
    """Return the accepted call with the same arguments but the date."""
    sent = limited.exchange.call.arguments.items()
    answers = context.plain(limited.operation.id)
    return next(
        (
            answer
            for answer in answers
            if answer.accepted and answer.exchange.call.arguments.items() <= sent
        ),
        None,
    )


def _days(answer: SeenAnswer) -> list[date]:
    return [item.on for item in answer.exchange.items if item.on]


def _sent_as(answer: SeenAnswer, name: str) -> str:
    """Return the hint which parameter an argument was sent as, if it was in the query."""
    query = answer.exchange.wire.url.partition("?")[2]
    names = [pair.partition("=")[0] for pair in query.split("&") if pair]
    parameter = answer.binding.arguments[name].name
    return f"sent as {parameter}" if nearest(parameter, names) else ""


# -- The next page


def pages(context: DoctorContext) -> Iterator[Finding]:
    """Examine for every list how its next page was found, and what it showed."""
    for operation in context.operations:
        if operation.available and operation.lists:
            answers = context.of(operation.id)
            second = next((answer for answer in answers if answer.exchange.call.follow), None)
            if second is not None:
                yield from _second_page(context, second)
            else:
                yield from _one_page(context, operation)


def _second_page(context: DoctorContext, second: SeenAnswer) -> Iterator[Finding]:
    """Compare a second page with the first."""
    operation, outcome = second.operation, second.exchange.outcome
    plain = context.plain(operation.id)
    first = [answer for answer in plain if answer.exchange.n < second.exchange.n][-1]
    place, expected = second.place("next"), "another page after the first"
    if not second.status and isinstance(outcome, Indeterminate):
        hint = "if the other host also belongs to the bank, add it to hosts"
        yield context.finding(("hosts",), expected, outcome.why, hint)
    elif not second.accepted:
        found = f"{second.status} for the second page"
        yield context.finding(place, expected, found, _next_link(context, operation))
    elif second.raw_items and second.raw_items == first.raw_items:
        bound = second.binding.next
        counted = bound is not None and bound.turn in {Turn.PAGE, Turn.OFFSET}
        why = "is the parameter, or `first`, wrong?" if counted else ""
        hint = _next_link(context, operation) or why
        yield context.finding(place, expected, "the first page again", hint)
    elif _mostly(second.raw_items, first.raw_items):
        found, hint = "most items of the first page again", _next_link(context, operation)
        yield context.finding(place, expected, found, hint)
    elif not second.raw_items and _has_more(context, first):
        hint = _next_link(context, operation)
        yield context.finding(place, expected, "a page without items", hint)


def _mostly(items: Sequence[object], others: Sequence[object]) -> bool:
    """Whether more than half of some items are among others."""
    return 2 * sum(item in others for item in items) > len(items)


def _has_more(context: DoctorContext, first: SeenAnswer) -> bool:
    """Whether a customer created for the probe has more items than a page showed."""
    subject, shown = context.subjects.get(first.subject), len(first.exchange.items)
    if not context.makes_customers or not shown or subject is None:
        return False
    if not first.operation.about:
        return shown < len(subject.owns)
    owned = subject.owned(first.exchange.call.arguments.get(first.operation.about))
    return owned is not None and shown < len(owned.entries)


def _one_page(context: DoctorContext, operation: Operation) -> Iterator[Finding]:
    """Report why no second page was read: there is none, or the target file does not find it."""
    first = context.first(operation.id)
    if first is None or not first.accepted or not _pageable(context, operation):
        return
    place, expected = first.place("next"), "another page after the first"
    if not context.makes_customers and first.binding.next:
        found = "a next page that was not read" if _names_next(first) else "a list of one page"
        yield context.finding(place, expected, found, weight=Weight.UNSEEN)
    elif _has_more(context, first):
        hint = _next_link(context, operation)
        if first.binding.next is None:
            hint = hint or "add `next`"
        found = f"none after {len(first.exchange.items)} items, although there are more"
        yield context.finding(place, expected, found, hint)


def _pageable(context: DoctorContext, operation: Operation) -> bool:
    """Whether an operation lists resources, or entries below one, which have pages."""
    sizes = (facts_of(each).page_sizes.get(operation.id) for each in context.contracts_bound)
    return not operation.about or bool(operation.since) or any(size is not None for size in sizes)


def _names_next(answer: SeenAnswer) -> bool:
    return isinstance(answer.exchange.outcome, Accepted) and bool(answer.exchange.outcome.next)


def _next_link(context: DoctorContext, operation: Operation) -> str:
    """Return a hint at what looks like the link to the next page in the first answer."""
    for first in context.plain(operation.id):
        if first.exchange.wire.header("Link") is not None:
            return "did you mean {header: Link}?"
        bound = first.binding.next
        at = (bound.at,) if bound and bound.turn in {Turn.LINK, Turn.CURSOR} else ()

        def leads_on(value: Json, here: str = first.exchange.wire.url) -> bool:
            return is_link(value) and value != here and not here.endswith(str(value))

        probe = PointerProbe(feature="next", at=at, fits=leads_on, names=("next", "nextPage"))
        if hint := correction([first.body], probe):
            return hint
    return ""
