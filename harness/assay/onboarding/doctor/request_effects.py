"""Checks that dates, presence and paging in a request change the answer.

A mock gives the same answer to every request. Dates that are sent must limit the items, the
mark of the customer's presence must keep a call out of the limit for calls without the
customer, and a list known to have more items must name a next page with other items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from operator import gt, lt
from typing import TypeAlias

from assay.binding.model.target import FixtureKind, Target, Turn
from assay.contract.model import Json, Operation
from assay.files.edits import Edit
from assay.history import Accepted, Indeterminate
from assay.onboarding.doctor.pointer_probe import (
    PointerProbe,
    correction,
    is_link,
    meant,
    nearest,
)
from assay.onboarding.doctor.probes import SINCE, UNTIL
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight
from assay.rules.rule import facts_of
from assay.rules.verdict import UNAVAILABLE

#: A shorter body may be the same by chance.
_DISTINCTIVE = 24
#: The status that limits calls.
_RATE_LIMITED = 429


def static_answers(record: Examined) -> Iterator[Finding]:
    """Compare the bodies of successful answers to different requests."""
    requests: defaultdict[bytes, dict[tuple[str, str, str], str]] = defaultdict(dict)
    for answer in record.answers:
        body, operation = answer.wire.body, answer.operation
        # Operations that read, change or end a request may show it alike.
        comparable = operation.available and not operation.request
        if answer.good and comparable and len(body) >= _DISTINCTIVE:
            customer, about = asked_for(record, answer) if answer.raw_items else ("", "")
            # So may operations that list the same resources.
            subject = " ".join(operation.lists) or operation.id
            requests[body].setdefault((subject, customer, about), operation.id)
    for several in requests.values():
        names = sorted({*several.values()})
        if len(several) > 1:
            whom = ", ".join(names) if len(names) > 1 else f"{names[0]} {_for_whom(several)}"
            expected, found = "answers that depend on the request", f"the same body from {whom}"
            hint = "is it a mock? static answers cannot be judged"
            yield record.finding(("base_url",), expected, found, hint)
            return


def _for_whom(requests: Iterable[tuple[str, str, str]]) -> str:
    customers = {customer for _, customer, _ in requests}
    return "for every customer" if len(customers) > 1 else "for every item"


def asked_for(record: Examined, answer: SeenAnswer) -> tuple[str, str]:
    """Return whose data a request asks for, and about which item."""
    return record.role_of.get(answer.subject) or answer.subject, answer.about


# -- Presence


def presence(record: Examined) -> Iterator[Finding]:
    """Examine which calls were served after those without the customer were used up."""
    mark, answers = record.target.presence, record.presences
    if mark is None:
        yield from _without_mark(answers, record)
        return
    absent = [answer.accepted for answer in answers if not answer.call.present]
    present = [answer.accepted for answer in answers if answer.call.present]
    if absent and absent[0]:  # else no call is served; reported by another check
        yield from _presence(record, absent, served=all(present), reverse=mark.absent)
    elif not answers and record.target.fixtures.kind is FixtureKind.ROLES:
        found = "no call to check it, because it would use up the quota of real customers"
        place, weight = place_of_mark(record.target), Weight.UNSEEN
        yield record.finding(place, "a mark with an effect", found, weight=weight)


def place_of_mark(target: Target) -> tuple[str, ...]:
    """Return the key that says where the mark of the customer's presence stands."""
    return ("presence", target.presence.place.value) if target.presence else ("presence",)


def _without_mark(answers: Sequence[SeenAnswer], record: Examined) -> Iterator[Finding]:
    """Report a bank that limits ordinary calls, although the file has nothing that marks them."""
    refused = next((n for n, answer in enumerate(answers, 1) if not answer.accepted), None)
    if refused is not None and refused > 1:
        expected = "a mark of calls with the customer present"
        found = f"none, and call {refused} of a customer is refused ({answers[refused - 1].status})"
        hint = "set `presence`: the header, query parameter or member of the body, and its value"
        yield record.finding(("presence",), expected, found, hint)


def _presence(
    record: Examined, absent: list[bool], *, served: bool, reverse: bool
) -> Iterator[Finding]:
    """Report a mark that has no effect, or the opposite one.

    `absent` says which calls without the customer were served, `served` whether all calls with
    the customer were, and `reverse` whether it marks the customer's absence.
    """
    place, limited = place_of_mark(record.target), not all(absent)
    expected = "a limit on calls without the customer"
    if limited and not served:
        expected = "calls with the customer to be served"
        found = "calls with the mark refused like those without it"
        hint = "is the name right, and does the bank accept the value?"
        yield record.finding(place, expected, found, hint)
    elif not limited and served:
        found = f"all {len(absent)} served, as well as those with the customer"
        hint = "does the bank distinguish calls with and without the customer by this mark?"
        yield record.finding(place, expected, found, hint)
    elif not limited:
        found = "calls with the customer limited, and calls without served"
        remedy = "remove `when: absent`" if reverse else "add `when: absent`"
        place = ("presence", "when") if reverse else place
        yield record.finding(place, expected, found, f"the meaning is reversed: {remedy}")


# -- Dates

#: Whether a day is beyond a limit.
_Beyond: TypeAlias = Callable[[date, date], bool]


def dates(record: Examined) -> Iterator[Finding]:
    """Examine whether the dates of a request limit the items."""
    for operation in record.operations:
        for name, variation, beyond in (
            (operation.since, SINCE, lt),
            (operation.until, UNTIL, gt),
        ):
            answers = record.of(operation.id)
            limited = [answer for answer in answers if answer.call.variation == variation]
            if name and limited:
                yield from _date(record, name, limited[0], beyond)
            elif name and not record.makes_customers:
                yield from _date_not_sent(record, operation, name)


def _date_not_sent(record: Examined, operation: Operation, name: str) -> Iterator[Finding]:
    """Report that no date was sent, where a call would use up a real customer's accesses."""
    first = record.first(operation.id)
    if first is not None and first.accepted and name in first.binding.arguments:
        place = first.place("arguments", name)
        found = "no call with this date, because it would use up the quota of real customers"
        yield record.finding(place, "a date with an effect", found, weight=Weight.UNSEEN)


def _date(record: Examined, name: str, limited: SeenAnswer, beyond: _Beyond) -> Iterator[Finding]:
    """Compare the items of a call with a date to those of its control without one."""
    control = _control(record, limited)
    if control is None or limited.status == _RATE_LIMITED:
        return  # a limit of calls is reported by another check
    place = limited.place("arguments", name)
    if not limited.accepted:
        yield record.finding(place, "a date to be accepted", record.refusal(limited))
        return
    day = date.fromisoformat(str(limited.call.arguments[name]))
    without, with_date = _days(control), _days(limited)
    spelling = limited.binding.arguments.get(name)
    inside = any(beyond(day, on) for on in without)
    if spelling and spelling.format and inside and not with_date:
        expected, found = "the items on this side of the date", "none of them"
        yield record.finding(
            (*place, "format"), expected, found, "is it the order of day and month?"
        )
    # Where no item is beyond the day anyway, the date cannot have an effect.
    if any(beyond(on, day) for on in without) and any(beyond(on, day) for on in with_date):
        same = with_date == without
        found = "the same items as without it" if same else "items beyond the date"
        hint = _sent_as(limited, name)
        yield record.finding(place, "a date with an effect", found, hint)


def _control(record: Examined, limited: SeenAnswer) -> SeenAnswer | None:
    """Return the accepted call with the same arguments but the date."""
    sent = limited.call.arguments.items()
    accepted = (each for each in record.plain(limited.operation.id) if each.accepted)
    return next((each for each in accepted if each.call.arguments.items() <= sent), None)


def _days(answer: SeenAnswer) -> list[date]:
    return [item.on for item in answer.items if item.on]


def _sent_as(answer: SeenAnswer, name: str) -> str:
    """Return the hint which parameter an argument was sent as, if it was in the query."""
    query = answer.wire.url.partition("?")[2]
    names = [pair.partition("=")[0] for pair in query.split("&") if pair]
    parameter = answer.binding.arguments[name].name
    return f"sent as {parameter}" if nearest(parameter, names) else ""


# -- The next page


def pages(record: Examined) -> Iterator[Finding]:
    """Examine for every list how its next page was found, and what it showed."""
    for operation in record.operations:
        if operation.available and operation.lists:
            answers = record.of(operation.id)
            second = next((answer for answer in answers if answer.call.follow), None)
            if second is not None:
                yield from _second_page(record, second)
            else:
                yield from _one_page(record, operation)


def _second_page(record: Examined, second: SeenAnswer) -> Iterator[Finding]:
    """Compare a second page with the first."""
    operation, outcome = second.operation, second.outcome
    plain = record.plain(operation.id)
    first = [answer for answer in plain if answer.n < second.n][-1]
    place, expected = second.place("next"), "another page after the first"
    if not second.status and isinstance(outcome, Indeterminate):
        hint = "if the other host also belongs to the bank, add it to hosts"
        yield record.finding(("hosts",), expected, outcome.why, hint)
    elif second.status == UNAVAILABLE:
        yield record.unavailable(place, expected)
    elif not second.accepted:
        found = f"{second.status} for the second page"
        hint, edit = _next_link(record, operation)
        yield record.finding(place, expected, found, hint, edit=edit)
    elif second.raw_items and second.raw_items == first.raw_items:
        bound = second.binding.next
        counted = bound is not None and bound.turn in {Turn.PAGE, Turn.OFFSET, Turn.LAST}
        why = "is the parameter, or `first`, wrong?" if counted else ""
        hint, edit = _next_link(record, operation)
        yield record.finding(place, expected, "the first page again", hint or why, edit=edit)
    elif _mostly(second.raw_items, first.raw_items):
        found, (hint, edit) = "most items of the first page again", _next_link(record, operation)
        yield record.finding(place, expected, found, hint, edit=edit)
    elif not second.raw_items and _has_more(record, first):
        hint, edit = _next_link(record, operation)
        yield record.finding(place, expected, "a page without items", hint, edit=edit)


def _mostly(items: Sequence[object], others: Sequence[object]) -> bool:
    """Whether more than half of some items are among others."""
    return 2 * sum(item in others for item in items) > len(items)


def _has_more(record: Examined, first: SeenAnswer) -> bool:
    """Whether a customer created for the probe has more items than a page showed."""
    subject, shown = record.subjects.get(first.subject), len(first.items)
    if not record.makes_customers or not shown or subject is None:
        return False
    if not first.operation.about:
        return shown < sum(owned.resource in first.operation.lists for owned in subject.owns)
    owned = subject.owned(first.call.arguments.get(first.operation.about))
    return owned is not None and shown < len(owned.entries)


def _one_page(record: Examined, operation: Operation) -> Iterator[Finding]:
    """Report why no second page was read: there is none, or the target file does not find it."""
    first = record.first(operation.id)
    if first is None or not first.accepted or not _pageable(record, operation):
        return
    place, expected = first.place("next"), "another page after the first"
    if not record.makes_customers and first.binding.next:
        found = "a next page that was not read" if _names_next(first) else "a list of one page"
        yield record.finding(place, expected, found, weight=Weight.UNSEEN)
    elif _has_more(record, first):
        hint, edit = _next_link(record, operation)
        if first.binding.next is None:
            hint = hint or "add `next`"
        found = f"none after {len(first.items)} items, although there are more"
        yield record.finding(place, expected, found, hint, edit=edit)


def _pageable(record: Examined, operation: Operation) -> bool:
    """Whether an operation lists resources, or entries below one, which have pages."""
    sizes = (facts_of(each).page_sizes.get(operation.id) for each in record.contracts_bound)
    return not operation.about or bool(operation.since) or any(size is not None for size in sizes)


def _names_next(answer: SeenAnswer) -> bool:
    return isinstance(answer.outcome, Accepted) and bool(answer.outcome.next)


def _next_link(record: Examined, operation: Operation) -> tuple[str, Edit | None]:
    """Return a hint at what looks like the link to the next page in the first answer, and the edit."""
    for first in record.plain(operation.id):
        if first.wire.header("Link") is not None:
            return "did you mean {header: Link}?", None
        at = first.binding.next.pointers if first.binding.next else ()

        def leads_on(value: Json, here: str = first.wire.url) -> bool:
            return is_link(value) and value != here and not here.endswith(str(value))

        probe = PointerProbe(feature="next", at=at, fits=leads_on, names=("next", "nextPage"))
        if instead := correction([first.body], probe):
            edit = Edit(at=first.place("next"), old=instead.of, new=instead.value)
            return meant(instead.value), edit
    return "", None
