"""Checks of modes, second values and changes: the bank must accept and show each of them.

An ordinary request was accepted; one that differs in a mode or a second value was not, or a
change is shown in another field. Either the file is wrong, or the bank is unusual.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from assay.binding.spelling import Place
from assay.contract.model import Json
from assay.onboarding.doctor.context import DoctorContext, Finding, SeenAnswer
from assay.onboarding.doctor.item_fields import alike
from assay.onboarding.doctor.request_probes import (
    BARRED,
    CHANGED,
    IN_MODE,
    OTHERS,
    SEGMENT,
    UNKNOWN,
)
from assay.rules.rule import facts_of


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Examine the requests that differ from an accepted one in a mode or a value."""
    for operation in context.operations:
        if operation.makes and any(answer.accepted for answer in context.plain(operation.id)):
            answers = context.of(operation.id)
            yield from _modes(context, answers)
            yield from _second_values(context, answers)
            yield from _unread_modes(context, answers)
        if operation.changes:
            yield from _changes(context, context.of(operation.id))
    yield from _segments(context)


def _modes(context: DoctorContext, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Report each mode in which a request was not accepted."""
    for answer in answers:
        mode = answer.exchange.call.mode
        if answer.exchange.call.variation == IN_MODE and mode and answer.refused:
            expected = f"a request in the mode {mode} to be accepted, as without it"
            hint = (
                "if the bank does not offer the mode, remove it; its rules are then not applicable"
            )
            place = answer.place("modes", mode)
            found = f"{answer.status}: {context.excerpt(answer)}"
            yield context.finding(place, expected, found, hint)


def _unread_modes(context: DoctorContext, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Report each mode at a place that the bank does not seem to read."""
    for answer in answers:
        mode = answer.exchange.call.mode or ""
        known = answer.exchange.call.variation
        if not (answer.accepted and answer.good) or known not in {UNKNOWN, BARRED}:
            continue
        spelling = answer.binding.modes[mode]
        if known == UNKNOWN:
            found = f"a request with an invalid mode, accepted ({answer.status})"
        elif not _traces(context, answer):
            found = f"an accepted request ({answer.status}) that does not show the mode"
        else:
            continue
        expected = f"the bank to read the mode {mode}"
        at = f" at {spelling.name or 'the top level'}"
        unnamed = spelling.place in {Place.SCOPE, Place.BASE}
        hint = f"is it the {spelling.place.value}{'' if unnamed else at}?"
        place = answer.place("modes", mode)
        yield context.finding(place, expected, found, hint)


def _traces(context: DoctorContext, answer: SeenAnswer) -> bool:
    """Whether anything that only the mode sends is shown in an answer about the request."""
    call, request = answer.exchange.call, answer.operation.makes
    plain = context.plain(*(each.id for each in context.operations if each.request == request))
    usual = " ".join(str(each.body) for each in plain)
    words = set(_leaves(answer.binding.modes[call.mode or ""].value))
    about = [
        each
        for each in context.answers
        if each.subject == answer.subject and each.operation.request == request
    ]
    return any(word in str(each.body) for each in about for word in words if word not in usual)


def _leaves(value: Json) -> Iterator[str]:
    """Yield the texts in a value."""
    if isinstance(value, str) and len(value) > 1:
        yield value
    elif isinstance(value, dict):
        for member in cast("dict[str, Json]", value).values():
            yield from _leaves(member)
    elif isinstance(value, list):
        for element in cast("list[Json]", value):
            yield from _leaves(element)


def _segments(context: DoctorContext) -> Iterator[Finding]:
    """Report segments that are served and refused the other way round."""
    served: list[str] = []
    refused: list[str] = []
    for answer in context.answers:
        if answer.exchange.call.variation != SEGMENT:
            continue
        subject = context.subjects.get(answer.subject)
        contract = context.contract_of(answer.operation)
        name = subject.segment if subject and subject.segment else ""
        admitted = facts_of(contract).admits(
            answer.operation.makes or "", answer.exchange.call, subject
        )
        if answer.accepted and answer.good and not admitted:
            served.append(name)
        elif admitted and answer.refused:
            refused.append(name)
    if served and refused:
        place = ("fixtures", "segments", refused[0])
        expected = f"requests of {refused[0]} to be accepted, and of {served[0]} refused"
        yield context.finding(place, expected, "the opposite")


def _second_values(context: DoctorContext, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Report each second value with which alone a request was not accepted."""
    for answer in answers:
        call = answer.exchange.call
        if call.variation == OTHERS and len(call.varied) == 1 and answer.refused:
            expected = "a second value as valid as `value`"
            found = f"{answer.status}: {context.excerpt(answer)}"
            place = answer.place("arguments", call.varied[0], "other")
            yield context.finding(place, expected, found)


# -- Changes


def _changes(context: DoctorContext, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Compare each accepted change with how the request is shown after it."""
    accepted = any(answer.accepted for answer in answers)
    for answer in answers:
        call = answer.exchange.call
        if call.variation != CHANGED or len(call.varied) != 1:
            continue
        shown = _shown_after(context, answer) if answer.accepted else None
        if shown is not None:
            yield from _change(context, answer, shown)
        elif accepted and answer.refused:
            place, expected = answer.place("arguments", call.varied[0]), "a change to be accepted"
            found = f"{answer.status}: {context.excerpt(answer)}"
            hint = "another change was accepted"
            yield context.finding(place, expected, found, hint)


def _shown_after(context: DoctorContext, change: SeenAnswer) -> SeenAnswer | None:
    """Return the next answer that shows the changed request."""
    return next(
        (
            answer
            for answer in context.answers
            if answer.exchange.n > change.exchange.n
            and answer.operation.shows == change.operation.changes
            and answer.subject == change.subject
        ),
        None,
    )


def _change(context: DoctorContext, change: SeenAnswer, after: SeenAnswer) -> Iterator[Finding]:
    """Report a change that is shown in another field, or in none."""
    (name,) = change.exchange.call.varied
    sent = change.exchange.call.arguments.get(name)
    fields = after.exchange.items[0].fields if after.exchange.items else {}
    if name not in fields or alike(fields[name], sent):
        return
    elsewhere = next((field for field, value in fields.items() if alike(value, sent)), "")
    place, expected = change.place("arguments", name), f"the request with another {name}"
    if elsewhere:
        found = f"a request with that value as its {elsewhere}"
        yield context.finding(place, expected, found)
    elif not _is_shown(after.body, sent):
        found, hint = "an unchanged request", "is this where the bank reads it?"
        yield context.finding(place, expected, found, hint)


def _is_shown(body: Json, sent: Json) -> bool:
    return isinstance(sent, str) and sent in str(body)
