"""Checks of requests that were made: their states, modes, second values and changes.

A word that the file lists under the wrong state is recognised by the moments at which the
bank shows it: a new request is open, a signed one is done, a refused or cancelled one has
ended. A bank that does the wrong thing shows a word that is right at another moment, and is
not questioned here. Nor are words that no probe has seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias, cast

from assay.binding.model.pointer import MISSING, find
from assay.binding.model.spelling import Place
from assay.contract.model import Json, Operation
from assay.history import Authorised, State
from assay.onboarding.doctor.items import alike
from assay.onboarding.doctor.probes import (
    BARRED,
    CANCELLED,
    CHANGED,
    DENIED,
    IN_MODE,
    LEFT,
    OF_SEGMENT,
    OTHERS,
    RULE,
    SIGNED,
    UNKNOWN,
    WAITING,
)
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, rule_probe
from assay.rules.rule import facts_of
from assay.rules.verdict import Evidence

#: The moment of a request that was only made.
_NEW = "before it was signed"
#: The states that a request can have at each moment.
_STATES: Final[Mapping[str, frozenset[State]]] = {
    _NEW: frozenset({State.OPEN}),
    SIGNED: frozenset({State.DONE, State.OPEN, State.VALID}),
    WAITING: frozenset({State.OPEN}),
    DENIED: frozenset({State.ENDED, State.REJECTED}),
    LEFT: frozenset({State.ENDED, State.REJECTED, State.OPEN}),
    CANCELLED: frozenset({State.ENDED}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownState:
    """A word that an operation showed for the state of a request, at a moment."""

    word: tuple[str, ...]
    state: State | None
    moment: str
    executed: bool | None
    consent: bool

    @property
    def possible(self) -> frozenset[State]:
        """The states that the request can have at the moment."""
        if self.moment == SIGNED and self.executed:
            return frozenset({State.DONE})
        if self.moment == SIGNED and self.consent:
            return frozenset({State.VALID})
        return _STATES[self.moment]

    @property
    def fits(self) -> bool:
        """Whether the state is one of them."""
        return self.state in self.possible


#: The states that an operation showed, by their words.
_Shown: TypeAlias = Mapping[tuple[str, ...], Sequence[_ShownState]]


def states(record: Examined) -> Iterator[Finding]:
    """Examine the words for states of each operation, and the day of deferred requests."""
    about = [each for each in record.operations if each.request and each.available]
    shown = {operation.id: _by_word(record, operation) for operation in about}
    for operation in about:
        yield from _operation(record, operation, shown[operation.id])
        for other in about:
            if other is not operation and other.request == operation.request:
                yield from _unlike(record, operation, other, shown)
    yield from _day(record)
    yield from _rules(record)


def _by_word(record: Examined, operation: Operation) -> _Shown:
    shown: defaultdict[tuple[str, ...], list[_ShownState]] = defaultdict(list)
    for answer in record.of(operation.id):
        for state in _shown(record, answer):
            shown[state.word].append(state)
    return shown


def _operation(record: Examined, operation: Operation, shown: _Shown) -> Iterator[Finding]:
    """Report each word that is shown only at moments of another state than its own."""
    for word, states in shown.items():
        wrong = next((state for state in states if not state.fits), None)
        if wrong and not any(state.fits for state in states):
            yield _wrong_word(record, operation, word, wrong)


def _unlike(
    record: Examined, operation: Operation, other: Operation, shown: Mapping[str, _Shown]
) -> Iterator[Finding]:
    """Report each word that an operation did not show, where another one has it for another state."""
    bound, compared = (
        answers[0].binding.item.state if (answers := record.of(each.id)) else None
        for each in (operation, other)
    )
    if bound is None or compared is None or bound.at != compared.at:
        return
    listed: dict[tuple[str, ...], State] = {}
    for state, words in bound.values.items():
        listed |= {(str(word),): state for word in words}
    for word, states in shown[other.id].items():
        here = None if word in shown[operation.id] else listed.get(word)
        if here and all(each.fits and here not in each.possible for each in states):
            place = ("operations", operation.id, "item", "state", "values", here.value)
            masked = repr(record.redactor.bounded(", ".join(word), 40))
            found = f"{masked}, which {other.id} shows {states[0].moment}"
            yield record.finding(place, f"a word for {here.value}", found)


def _wrong_word(
    record: Examined, operation: Operation, word: tuple[str, ...], wrong: _ShownState
) -> Finding:
    place = ("operations", operation.id, "item", "state", "values")
    masked = repr(record.redactor.bounded(", ".join(word), 40))
    possible = " or ".join(sorted(state.value for state in wrong.possible))
    expected = f"a word for {possible} {wrong.moment}"
    if wrong.state is None:
        return record.finding(place, expected, f"{masked}, which is not listed", f"add {masked}")
    found = f"{masked}, which is listed under {wrong.state.value}"
    return record.finding((*place, wrong.state.value), expected, found)


def _shown(record: Examined, answer: SeenAnswer) -> Iterator[_ShownState]:
    """Yield the words for states in an answer, if the moment of its request is known."""
    moment = None if f" {RULE} " in answer.probe else _moment(answer)
    if moment is None or not (answer.accepted and answer.good):
        return
    about = answer.call.arguments.get(answer.operation.about or "")
    if any(each.refused and each.request == about for each in record.submitted(answer.probe)):
        return  # the bank refused its submission, however its consent is shown
    if moment == _NEW and not record.signed:
        return  # at a bank where nothing is signed, a new request may be done
    executed = _executed(record, answer) if moment == SIGNED else None
    bound = answer.binding.item.state
    consent = bound is not None and State.VALID in bound.values
    for word, state in _words(answer):
        yield _ShownState(word=word, state=state, moment=moment, executed=executed, consent=consent)


def _is_word(value: Json) -> bool:
    return isinstance(value, str | int)


def _moment(answer: SeenAnswer) -> str | None:
    """Return the moment at which an answer shows its request."""
    operation, variation = answer.operation, answer.call.variation
    if operation.makes or operation.changes:
        return _NEW
    if operation.ends:
        return CANCELLED
    return variation if variation in _STATES else {"": _NEW, CHANGED: _NEW}.get(variation)


def _executed(record: Examined, answer: SeenAnswer) -> bool | None:
    """Whether the fixture provider says that the request of an answer was executed by then."""
    reports = [event.done for event in record.effects if event.done is not None]
    if not reports:
        return None
    latest = answer.at.date() + timedelta(days=1)  # the bank's day may be ahead
    executed = (effect for done in reports for effect in done if effect.on <= latest)
    return any(effect.request == answer.about for effect in executed)


# -- Words that only a rule's own requests show


def _rules(record: Examined) -> Iterator[Finding]:
    """Report words that only requests show with which a rule seems to be violated."""
    for contract, clause, kind in record.rules:
        beginning = rule_probe(contract, clause)
        signed: set[str] = set()
        words: list[Finding] = []
        for probe in [probe for probe in record.events if probe.startswith(beginning)]:
            facet = probe.removeprefix(beginning)
            wrong = record.violations(contract, clause, kind, facet)
            signed |= {factor for each in wrong for factor in _factors(record, probe, each)}
            if wrong:
                words += _only_there(record, probe, clause)
        if len(signed) <= 1:
            yield from words
        else:
            expected = f"the result that {clause} requires for {' and '.join(sorted(signed))}"
            place, found = ("sca", "factors"), "the opposite of each"
            hint = "are the bank's words for them swapped?"
            yield record.finding(place, expected, found, hint)


def _factors(record: Examined, probe: str, evidence: Evidence) -> Iterator[str]:
    """Yield the factors with which the request of some evidence was signed."""
    numbers = {*evidence.exchanges} - {*evidence.controls}
    for event in record.events[probe]:
        if isinstance(event, Authorised) and event.n in numbers and event.step.factor:
            yield event.step.factor


def _only_there(record: Examined, probe: str, clause: str) -> Iterator[Finding]:
    """Report the words that one probe of a rule shows, and no moment of an ordinary request.

    At a bank where nothing is signed, an ordinary request may be done as soon as it is made.
    """
    usual = {State.OPEN} if record.signed else {State.OPEN, State.DONE}
    for operation in record.operations:
        answers = [answer for answer in record.of(operation.id) if operation.shows]
        known = {state.word for answer in answers for state in _shown(record, answer) if state.fits}
        for answer in (answer for answer in answers if answer.probe == probe):
            for word, state in _words(answer):
                if state and word not in known and state not in usual:
                    place = ("operations", operation.id, "item", "state", "values", state.value)
                    masked = record.redactor.bounded(", ".join(word), 40)
                    expected = f"a word for {state.value}"
                    found = f"{masked!r}, with which the bank would violate {clause}"
                    yield record.finding(place, expected, found)


def _words(answer: SeenAnswer) -> Iterator[tuple[tuple[str, ...], State | None]]:
    """Yield the words for the states that an answer shows, with what they are listed under."""
    bound = answer.binding.item.state
    pairs = zip(answer.raw_items, answer.items, strict=False) if bound else ()
    for raw, item in pairs:
        found = [find(raw, at) for at in bound.at] if bound else []
        word = tuple(str(value) for value in found if value is not MISSING and _is_word(value))
        if word:
            yield word, item.state


# -- The day of a deferred request


def _day(record: Examined) -> Iterator[Finding]:
    """Report a deferred request that is executed as soon as it is signed."""
    for operation in (each for each in record.operations if each.shows):
        waiting = [each for each in record.varied(WAITING) if each.operation is operation]
        if waiting and all(_done(record, answer) for answer in waiting):
            making = (each for each in record.operations if each.makes == operation.shows)
            create = next(making, None)
            if create and create.due:
                place = ("operations", create.id, "arguments", create.due.argument)
                found = "one that is executed as soon as it is signed"
                hint = "is this where the bank reads the day?"
                yield record.finding(place, "a request for a later day to wait", found, hint)


def _done(record: Examined, answer: SeenAnswer) -> bool:
    shown = any(item.state is State.DONE for item in answer.items)
    return bool(_executed(record, answer)) or shown


# -- Checks of modes, second values and changes: the bank must accept and show each of them --------
# An ordinary request was accepted; one that differs in a mode or a second value was not, or a
# change is shown in another field. Either the file is wrong, or the bank is unusual.


def values(record: Examined) -> Iterator[Finding]:
    """Examine the requests that differ from an accepted one in a mode or a value."""
    for operation in record.operations:
        if operation.makes and any(answer.accepted for answer in record.plain(operation.id)):
            answers = record.of(operation.id)
            yield from _modes(record, answers)
            yield from _second_values(record, answers)
            yield from _unread_modes(record, answers)
        if operation.changes:
            yield from _changes(record, record.of(operation.id))
    yield from _segments(record)


def _modes(record: Examined, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Report each mode in which a request was not accepted."""
    for answer in answers:
        if answer.call.variation == IN_MODE and answer.call.mode and answer.refused:
            yield record.refused_mode(answer, "its rules are then not applicable")


def _unread_modes(record: Examined, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Report each mode at a place that the bank does not seem to read."""
    for answer in answers:
        mode, known = answer.call.mode or "", answer.call.variation
        if not (answer.accepted and answer.good) or known not in {UNKNOWN, BARRED}:
            continue
        if known == UNKNOWN:
            found = f"a request with an invalid mode, accepted ({answer.status})"
        elif not _traces(record, answer):
            found = f"an accepted request ({answer.status}) that does not show the mode"
        else:
            continue
        spelling = answer.binding.modes[mode]
        unnamed = spelling.place in {Place.SCOPE, Place.BASE}
        at = "" if unnamed else f" at {spelling.name or 'the top level'}"
        expected, hint = (
            f"the bank to read the mode {mode}",
            f"is it the {spelling.place.value}{at}?",
        )
        yield record.finding(answer.place("modes", mode), expected, found, hint)


def _traces(record: Examined, answer: SeenAnswer) -> bool:
    """Whether an answer about the request shows what only the mode sends, or that the bank refused it."""
    call, request = answer.call, answer.operation.makes
    plain = record.plain(*(each.id for each in record.operations if each.request == request))
    usual = " ".join(str(each.body) for each in plain)
    words = set(_leaves(answer.binding.modes[call.mode or ""].value))
    about = [
        each
        for each in record.answers
        if each.subject == answer.subject and each.operation.request == request
    ]
    over = any(item.state in {State.REJECTED, State.ENDED} for each in about for item in each.items)
    shown = (word in str(each.body) for each in about for word in words if word not in usual)
    return over or any(shown)


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


def _segments(record: Examined) -> Iterator[Finding]:
    """Report segments that are served and refused the other way round."""
    served: list[str] = []
    refused: list[str] = []
    for answer in record.varied(OF_SEGMENT):
        subject, makes = record.subjects.get(answer.subject), answer.operation.makes or ""
        facts = facts_of(record.contract_of(answer.operation))
        admitted = facts.admits(makes, answer.call, subject)
        name = subject.segment if subject and subject.segment else ""
        if answer.accepted and answer.good and not admitted:
            served.append(name)
        elif admitted and answer.refused:
            refused.append(name)
    if served and refused:
        place = ("fixtures", "segments", refused[0])
        expected = f"requests of {refused[0]} to be accepted, and of {served[0]} refused"
        yield record.finding(place, expected, "the opposite")


def _second_values(record: Examined, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Report each second value with which alone a request was not accepted."""
    for answer in answers:
        call = answer.call
        if call.variation == OTHERS and len(call.varied) == 1 and answer.refused:
            place = answer.place("arguments", call.varied[0], "other")
            expected = "a second value as valid as `value`"
            yield record.finding(place, expected, record.refusal(answer))


# -- Changes


def _changes(record: Examined, answers: tuple[SeenAnswer, ...]) -> Iterator[Finding]:
    """Compare each accepted change with how the request is shown after it."""
    accepted = any(answer.accepted for answer in answers)
    for answer in answers:
        call = answer.call
        if call.variation != CHANGED or len(call.varied) != 1:
            continue
        shown = _shown_after(record, answer) if answer.accepted else None
        if shown is not None:
            yield from _change(record, answer, shown)
        elif accepted and answer.refused:
            place, hint = answer.place("arguments", call.varied[0]), "another change was accepted"
            yield record.finding(place, "a change to be accepted", record.refusal(answer), hint)


def _shown_after(record: Examined, change: SeenAnswer) -> SeenAnswer | None:
    """Return the next answer that shows the changed request."""
    later = (
        answer
        for answer in record.answers
        if answer.n > change.n
        and answer.operation.shows == change.operation.changes
        and answer.subject == change.subject
    )
    return next(later, None)


def _change(record: Examined, change: SeenAnswer, after: SeenAnswer) -> Iterator[Finding]:
    """Report a change that is shown in another field, or in none."""
    (name,) = change.call.varied
    sent = change.call.arguments.get(name)
    fields = after.items[0].fields if after.items else {}
    if name not in fields or alike(fields[name], sent):
        return
    elsewhere = next((field for field, value in fields.items() if alike(value, sent)), "")
    place, expected = change.place("arguments", name), f"the request with another {name}"
    if elsewhere:
        found = f"a request with that value as its {elsewhere}"
        yield record.finding(place, expected, found)
    elif not _is_shown(after.body, sent):
        found, hint = "an unchanged request", "is this where the bank reads it?"
        yield record.finding(place, expected, found, hint)


def _is_shown(body: Json, sent: Json) -> bool:
    return isinstance(sent, str) and sent in str(body)
